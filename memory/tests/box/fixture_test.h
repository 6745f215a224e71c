/*
 * fixture_test.h - boxes made by hand from layout.h alone: what a program would write.
 */
#ifndef PFS_BOX_FIXTURE_TEST_H
#define PFS_BOX_FIXTURE_TEST_H

#include "memory/box/profile.h"

struct pfs_made_sizes {
	uint32_t instruments, threads, accounts, cells; /* at most; users, hosts as accounts */
	uint32_t page_records;
	uint32_t stacks, contexts, samples; /* at most; 0: no profile */
	uint32_t profile_lg;                /* else 0 */
};

struct pfs_made_box {
	char path[512];
	char *base;
	uint64_t bytes;
	struct pfs_box_head *head;
	struct pfs_box_control *control;
	uint32_t made[PFS_BOX_KINDS]; /* records of each kind */
	uint64_t thread_id;
	uint32_t modules;
};

/* A live box: this process holds its lock until pfs_made_leave. */
void pfs_made_begin(struct pfs_made_box *self, const char *path,
		    const struct pfs_made_sizes *sizes);
/* As if killed: the file stays as it is. */
void pfs_made_leave(struct pfs_made_box *self);

struct pfs_box_region *pfs_made_region(struct pfs_made_box *self, enum pfs_box_kind kind);
/* A record's bytes and its word. */
void *pfs_made_at(struct pfs_made_box *self, enum pfs_box_kind kind, uint32_t reference);
_Atomic(uint32_t) *pfs_made_word(struct pfs_made_box *self, enum pfs_box_kind kind,
				 uint32_t reference);

/* The reference of a new record, which is all zeroes; publish makes it visible. */
uint32_t pfs_made_record(struct pfs_made_box *self, enum pfs_box_kind kind);
uint32_t pfs_made_publish(struct pfs_made_box *self, enum pfs_box_kind kind, uint32_t reference);

/* New records, published; their references. */
uint32_t pfs_made_instrument(struct pfs_made_box *self, const char *name);
uint32_t pfs_made_user(struct pfs_made_box *self, const char *name);
uint32_t pfs_made_host(struct pfs_made_box *self, const char *name);
uint32_t pfs_made_account(struct pfs_made_box *self, uint32_t user, uint32_t host);
/* Of an account; or without one, with a user, a host, both, or neither. */
uint32_t pfs_made_thread(struct pfs_made_box *self, const char *name, uint32_t account,
			 uint32_t user, uint32_t host);
/* A cell of a thread: its account, user, host. */
struct pfs_cell *pfs_made_cell(struct pfs_made_box *self, uint32_t thread, uint32_t instrument);
/* A cell of another level; who: reference of the account, user or host; 0 for global. */
struct pfs_cell *pfs_made_cell_of(struct pfs_made_box *self, enum pfs_cell_level level,
				  uint32_t who, uint32_t instrument);

/* The owner allocates and frees; marks change as in a program. */
void pfs_made_alloc(struct pfs_made_box *self, struct pfs_cell *cell, uint64_t bytes);
void pfs_made_free(struct pfs_made_box *self, struct pfs_cell *cell, uint64_t bytes);
/* Another thread frees; the life ends. */
void pfs_made_foreign(struct pfs_cell *cell, uint64_t bytes);
void pfs_made_end_cell(struct pfs_cell *cell);

/* The next tick, with shares of the first instrument. */
void pfs_made_tick(struct pfs_made_box *self, uint64_t bytes);

/* A file that is mapped; gone_ns 0: still. */
void pfs_made_module(struct pfs_made_box *self, uint64_t begin, uint64_t end, uint64_t file_offset,
		     const char *path, uint64_t loaded_ns, uint64_t gone_ns);
/* A stack, leaf first; a context with it, an instrument and a thread; a sampled block in use in a
 * context. The caller sets the context's sums. */
uint32_t pfs_made_stack(struct pfs_made_box *self, const uint64_t *frames, uint32_t depth);
struct pfs_box_context *pfs_made_context(struct pfs_made_box *self, uint32_t stack,
					 uint32_t instrument, uint32_t thread, uint32_t *reference);
struct pfs_box_sample *pfs_made_block(struct pfs_made_box *self, uint32_t context, uint32_t cell,
				      uint64_t bytes);

/* The next moment of the history of stacks, with these stacks; the caller sets what others have. */
struct pfs_box_moment *pfs_made_moment(struct pfs_made_box *self, uint64_t realtime_ns,
				       const struct pfs_box_held *stacks, uint32_t count);

/* Two stacks, four samples, and three moments. */
void pfs_made_profile(struct pfs_made_box *self, uint32_t thread, uint32_t instrument);

/* A double free ended the program. */
void pfs_made_corruption(struct pfs_made_box *self);

/* A small box with records of every kind, for tests that damage it. */
void pfs_made_sample(struct pfs_made_box *self, const char *path);

#endif
