/*
 * accounts_world.h - the accounts of memory/accounts on the simulated machine: one account, one
 * instrument, a few cells, and an oracle that keeps its own books by brute force.
 *
 * The library's sources are compiled with PFS_SIM: they count, end lives, fold, keep marks, begin
 * and end threads. Their containers are accounts_shelves.c: records with pfs_lock words, allocated
 * and freed under the desk's lock. There is no box file. A reader is another thread, which sees
 * only what the box would hold.
 */
#ifndef PFS_SIM_ACCOUNTS_WORLD_H
#define PFS_SIM_ACCOUNTS_WORLD_H

#include "containers/pfs_lock.h"
#include "memory/accounts/books.h"
#include "memory/search/scene_command.h"

#define PFS_ACCOUNTS_THREADS_MAX 4u /* virtual threads, and records of threads */
#define PFS_ACCOUNTS_CELLS_MAX 5u
#define PFS_ACCOUNTS_BLOCKS_EACH 5u /* allocated by a virtual thread */
#define PFS_ACCOUNTS_BLOCKS_MAX (PFS_ACCOUNTS_THREADS_MAX * PFS_ACCOUNTS_BLOCKS_EACH)
#define PFS_ACCOUNTS_LIVES_MAX 12u
#define PFS_ACCOUNTS_PRIVATE_BYTES 6144u
#define PFS_ACCOUNTS_NONE UINT32_MAX
#define PFS_ACCOUNTS_KEY 1u

/* A scenario: threads with a few calls each. */
struct pfs_accounts_scene {
	struct pfs_scene scene; /* the letters are in accounts_calls.c */
	const char *before;     /* calls of each thread in the set-up, one thread after the other */
	uint32_t cells;         /* records of cells */
	uint64_t limit;         /* bytes that the account may have in use; 0: none */
};

/* What a program stores with a block, without atomics. */
struct pfs_accounts_block {
	struct pfs_memory_note note;
	uint64_t bytes;
};

struct pfs_accounts_thread {
	uint32_t id;
	char calls[PFS_SCENE_CALLS_MAX + 1];
	struct pfs_memory_thread *life;          /* NULL: none */
	uint32_t owned[PFS_ACCOUNTS_BLOCKS_MAX]; /* oldest first */
	uint32_t owned_count, made, posted;
	bool knows_disabled;
	struct pfs_cell_sums read; /* the account's row, when it was last read */
};

/* Everything that happened in one life of a thread's cell. */
struct pfs_accounts_life {
	struct pfs_cell_sums sums;
	uint64_t own_frees;
	uint64_t in_use, in_use_bytes;
	uint64_t high_least, high_most; /* bounds of the high mark of counts */
	uint32_t cell;                  /* number */
	uint32_t word;                  /* of its record */
	bool ended;
	uint32_t folds;
};

/* The container of a shelf: of threads, of cells, or of accounts. */
struct pfs_accounts_shelf {
	struct pfs_lock *locks;
	char *records;
	uint32_t stride, count;
};

/* What changes in an execution, except the machine. */
struct pfs_accounts_world {
	struct pfs_books books;
	struct pfs_box_head head;
	struct pfs_box_control control;
	struct pfs_box_limit limits[PFS_SCOPE_ACCOUNT]; /* the last one is empty */
	struct pfs_accounts_shelf shelves[PFS_SHELVES];
	alignas(PFS_LINE) char no_cell[PFS_LINE]; /* line 0 */
	struct pfs_cell cells[PFS_ACCOUNTS_CELLS_MAX];
	struct pfs_lock cell_locks[PFS_ACCOUNTS_CELLS_MAX];
	struct pfs_box_thread threads[PFS_ACCOUNTS_THREADS_MAX];
	struct pfs_lock thread_locks[PFS_ACCOUNTS_THREADS_MAX];
	struct pfs_box_account parties[PFS_PARTY_KINDS];
	struct pfs_lock party_locks[PFS_PARTY_KINDS];
	struct pfs_party *by_reference[PFS_PARTY_KINDS][2];
	/* Blocks on their way from a thread: 1 + number. */
	_Atomic(uint32_t) mail[PFS_ACCOUNTS_THREADS_MAX][PFS_ACCOUNTS_BLOCKS_EACH];
	struct pfs_accounts_block blocks[PFS_ACCOUNTS_BLOCKS_MAX];

	/* The process's memory outside of the box. */
	alignas(PFS_LINE) char private[PFS_ACCOUNTS_PRIVATE_BYTES];
	uint32_t private_used;

	/* The oracle's: not checked for races. */
	struct pfs_accounts_oracle {
		struct pfs_accounts_thread threads[PFS_ACCOUNTS_THREADS_MAX];
		struct pfs_accounts_life lives[PFS_ACCOUNTS_LIVES_MAX];
		uint32_t life_count;
		uint32_t life_of_cell[PFS_ACCOUNTS_CELLS_MAX];
		uint32_t life_of_block[PFS_ACCOUNTS_BLOCKS_MAX];
		struct pfs_cell_sums at_first; /* of the account's row, after the set-up */
		bool mail_knows_disabled[PFS_ACCOUNTS_BLOCKS_EACH];
		uint64_t most, most_peak; /* bytes in use or requested */
		bool frozen;              /* no call changes a current value */
	} oracle;

	/* Of all executions. */
	const struct pfs_accounts_scene *scene;
	const char *calls;
	struct pfs_machine *machine;
	uint64_t folds, rows, rows_missed, refused;
};
extern struct pfs_accounts_world pfs_accounts_world;

/* calloc and free of the accounts' code. */
void *pfs_accounts_calloc(size_t count, size_t size);
void pfs_accounts_release(void *block);

/* accounts_made.c. Before the first execution: makes the account, its user and its host. reset:
 * back to that state. */
void pfs_accounts_world_make(struct pfs_accounts_world *self);
void pfs_accounts_world_reset(struct pfs_accounts_world *self);
/* accounts_world.c */
bool pfs_accounts_world_name(void *context, const void *address, char *name, size_t name_bytes);

/* accounts_shelves.c: makes empty ones. */
void pfs_accounts_shelves_make(struct pfs_accounts_world *self);

/* accounts_calls.c: the body of a virtual thread; and calls made outside of virtual threads. */
void pfs_accounts_calls_body(void *thread);
void pfs_accounts_calls_make(struct pfs_accounts_thread *thread, const char *calls);

/* accounts_read.c: reads the account's row in one try; as_box: by the box's reader. */
void pfs_accounts_read(struct pfs_accounts_thread *thread, bool as_box);
struct pfs_cell_sums pfs_accounts_lives(const struct pfs_accounts_world *self);

/* accounts_check.c: fails the execution unless, at rest, all sums are right. */
void pfs_accounts_check(struct pfs_accounts_world *self);

static inline struct pfs_accounts_life *pfs_accounts_life_of_cell(const struct pfs_cell *cell)
{
	struct pfs_accounts_world *self = &pfs_accounts_world;
	return &self->oracle.lives[self->oracle.life_of_cell[cell - self->cells]];
}

#endif
