/*
 * books.h - the inside of the accounts: what a process keeps of its own beside the box.
 *
 * Records (instruments, threads, accounts, users, hosts, cells) are a container's of the policy
 * exact, in pages of the box. They come and go at the desk: under one lock, for that is rare (a
 * thread begins or ends, uses an instrument for the first time, the last block of an ended life is
 * freed). Counting takes no lock.
 *
 * A holder is whoever has cells: a thread, an account, a user, a host, and the one of all, global.
 *
 * Ordering:  [J4] moves: fetch-add, acq_rel  <->  [J4] moves: fetch-add, acq_rel
 *            odd while sums move; a reader loads it before, by acquire, and after
 *            [J6] finished: CAS, release  <->  [J7] finished: exchange, seq
 *            carries: next of each cell; the sums come by [J3], which the last freer had
 */
#ifndef PFS_BOOKS_H
#define PFS_BOOKS_H

#include <pthread.h>

#include <pfslab/container.h>
#include <pfslab/memory.h>

#include "cell.h"
#include "containers/mutex.h"
#include "memory/box/box.h"

#define PFS_PARTY_KINDS 3u /* accounts, users, hosts */
#define PFS_CELL_PAGE_RECORDS 64u

/* A region's container, and the desk's handle of it. */
struct pfs_shelf {
	struct pfs_container *container;
	struct pfs_thread *handle; /* desk */
	struct pfs_box_region *region;
	struct pfs_memory_source source;
};

enum pfs_shelves {
	PFS_SHELF_INSTRUMENTS,
	PFS_SHELF_THREADS,
	PFS_SHELF_ACCOUNTS, /* these three in the order of enum pfs_cell_level */
	PFS_SHELF_USERS,
	PFS_SHELF_HOSTS,
	PFS_SHELF_CELLS,
	PFS_SHELF_OWNERS, /* of a memory trace */
	PFS_SHELF_STACKS, /* this and the next two, in this order: where there is a profile */
	PFS_SHELF_CONTEXTS,
	PFS_SHELF_SAMPLES,
	PFS_SHELVES
};

/* What a limit is kept of: no less than what is in use, and what is on its way. Limits' lock. */
struct pfs_limit_room {
	bool is_known;
	uint64_t most, pending;
};

enum pfs_limited {
	PFS_LIMITED_PROGRAM,
	PFS_LIMITED_THREAD,
	PFS_LIMITED_ACCOUNT,
	PFS_LIMITED_USER,
	PFS_LIMITED
};

/* Who has cells, but threads: by instrument. Desk. */
struct pfs_party {
	uint32_t level;                 /* enum pfs_cell_level; first, with the names: the key */
	const char *user, *host;        /* NULL: none; else of the record */
	struct pfs_box_account *record; /* NULL: global */
	uint32_t reference;
	uint32_t lives; /* threads that are there, and cells of ended ones */
	struct pfs_party *above_user, *above_host; /* of an account */
	struct pfs_party *next;                    /* of all of its level */
	struct pfs_limit_room room;
	struct pfs_cell *cells[]; /* [instruments_max] */
};

struct pfs_memory_thread {
	struct pfs_books *memory;
	struct pfs_box_thread *record;
	uint32_t reference;
	bool is_instrumented;
	struct pfs_party *account, *user, *host;   /* NULL: none */
	struct pfs_memory_thread *previous, *next; /* desk */
	uint64_t random;                           /* of its samples; 0: not begun */
	struct pfs_profile_thread *profile;        /* from its first sample on */
	bool is_limited;                           /* its own, and the next three: limits.c */
	uint32_t limits_seen;                      /* control.generation then; 0: never */
	uint32_t limits[PFS_LIMITED];              /* a limit's number plus 1; 0: none */
	uint64_t reserved; /* bytes that the next allocation has been granted */
	struct pfs_limit_room room;
	struct pfs_cell **all_cells; /* [instruments_max + 1], by key; NULL: not used yet */
	struct pfs_cell *cells[];    /* the same, but NULL where it is not to be counted now */
};

struct pfs_rule;
struct pfs_profile;

struct pfs_books {
	struct pfs_box box;
	const struct pfs_rule *rule;
	struct pfs_box_control *control; /* of the box */
	uint32_t instruments_max;
	_Atomic(uint32_t) instrument_count;
	char *cells_base;    /* a line before the first cell: 0 is none's */
	uint32_t cell_lines; /* of all of them */
	struct pfs_party *global;
	_Atomic(uint32_t) finished;   /* line of a cell that waits to be folded; 0: none */
	struct pfs_profile *profile;  /* NULL: none */
	struct pfs_mutex limits_lock; /* ahead of the desk */
	struct pfs_box_limit *limits; /* of the box, PFS_BOX_LIMITS_MAX */

	struct pfs_mutex desk; /* all below */
	struct pfs_shelf shelves[PFS_SHELVES];
	void *parties[PFS_PARTY_KINDS]; /* trees (tsearch) by names */
	struct pfs_party *lists[PFS_PARTY_KINDS];
	struct pfs_party **by_reference[PFS_PARTY_KINDS]; /* [accounts_max + 1] */
	void *instruments;                                /* a tree of struct pfs_named */
	struct pfs_owner *owners; /* of a memory trace, all; the newest first */
	struct pfs_memory_thread *threads;
	uint64_t last_thread_id;
	uint64_t private_bytes;
	struct pfs_config_of_books {
		uint32_t tick_ms;
		bool keep;
	} config;
	void (*describe)(struct pfs_box_tick *tick); /* the allocator, at a tick; or NULL */
	void (*settle)(struct pfs_books *self); /* a forked child's, which has no box yet; NULL */
	uint32_t fork_finished;                 /* when the child's copy was made */
	uint32_t fork_tid, fork_pid;            /* of who forked, in the parent and in the child */
	pthread_t ticker;
	bool has_ticker;
	bool is_ending; /* ticks */
	pthread_cond_t end_tick;
	pthread_mutex_t tick_lock;
	struct pfs_books *next; /* of all books of the process */
};

/* ---- blocks name cells by their line: (address - cells_base) / PFS_LINE ---- */

static inline struct pfs_cell *pfs_cell_at(const struct pfs_books *self, uint32_t line)
{
	/* NOLINTNEXTLINE: a record of the box */
	return (struct pfs_cell *)(void *)(self->cells_base + (uint64_t)line * PFS_LINE);
}

static inline uint32_t pfs_cell_line(const struct pfs_books *self, const void *cell)
{
	return (uint32_t)((uint64_t)((const char *)cell - self->cells_base) / PFS_LINE);
}

/* ---- the rules ---- */

/*
 * How a block that is freed is credited. count: what a block's note says of who allocated it;
 * credit: by whom it is freed, with that; end: what a life hands on. rules.c has the table.
 */
struct pfs_rule {
	const char *name;
	uint32_t (*reference)(const struct pfs_memory_thread *thread, const struct pfs_cell *cell);
	void (*credit)(struct pfs_books *memory, struct pfs_memory_thread *thread,
		       uint32_t reference, uint64_t bytes);
	uint32_t (*instrument)(const struct pfs_books *memory, uint32_t reference);
	void (*end)(struct pfs_books *memory, struct pfs_memory_thread *thread,
		    struct pfs_cell *cell); /* under the desk */
};
extern const struct pfs_rule pfs_rule_exact;
const struct pfs_rule *pfs_rule_find(const char *name); /* NULL: there is none */
#define PFS_RULE_NAMES "exact, freer, global"

/* ---- the desk ---- */

/* pfs_desk_open - lock the desk; a forked child gets its box, and what is finished is folded. */
void pfs_desk_open(struct pfs_books *self);
void pfs_desk_close(struct pfs_books *self);

/* A record of a shelf, to be published; NULL: none is to be had (counted as lost). */
struct pfs_claim pfs_shelf_take(struct pfs_books *self, enum pfs_shelves shelf,
				enum pfs_box_lost lost, uint32_t *reference);
void pfs_shelf_publish(struct pfs_books *self, enum pfs_shelves shelf, struct pfs_claim claim);
void pfs_shelf_give(struct pfs_books *self, enum pfs_shelves shelf, void *record);

/* The party of these names; made if it is not there; NULL: it cannot be (counted as lost). */
struct pfs_party *pfs_party_of(struct pfs_books *self, enum pfs_cell_level level, const char *user,
			       const char *host);

/* Parties that nobody needs any more hand their sums on and go. How many. */
uint32_t pfs_parties_purge(struct pfs_books *self);

/* A cell of a party, made if it is not there; NULL: no memory. */
struct pfs_cell *pfs_party_cell(struct pfs_books *self, struct pfs_party *party,
				uint32_t instrument);

/*
 * A thread's cell of an instrument, by the thread, not under the desk; NULL: no memory.
 * to_count: of an allocation; NULL also where it is not counted, for the thread is not
 * instrumented, or the instrument not ENABLED, or none.
 */
PFS_COLD struct pfs_cell *pfs_thread_cell(struct pfs_memory_thread *thread, pfs_memory_key key);
PFS_COLD struct pfs_cell *pfs_thread_cell_to_count(struct pfs_memory_thread *thread,
						   pfs_memory_key key);

/* A cell like that one; NULL: no memory (counted as lost). */
struct pfs_cell *pfs_cell_new(struct pfs_books *self, const struct pfs_cell *like);

/* Add so much to a party's cell of an instrument, with the high marks of where it comes from. */
void pfs_party_add(struct pfs_books *self, struct pfs_party *party, struct pfs_cell *from,
		   struct pfs_cell_sums sums);

/* Whose a thread's cell is beside the thread: account, or user and host, or global. */
struct pfs_parents {
	struct pfs_party *of[3];
	uint32_t count;
};
struct pfs_parents pfs_parents_of(struct pfs_books *self, struct pfs_cell *cell);

/* While sums or marks move into or out of a party's cells, its readers try again. */
void pfs_moves_begin(struct pfs_books *self, struct pfs_party *party);
void pfs_moves_end(struct pfs_books *self, struct pfs_party *party);

/* A cell of a thread ends: its sums go to its parents, its record back. */
void pfs_cell_fold(struct pfs_books *self, struct pfs_cell *cell);

/* Those that wait for it; by who opens the desk. */
void pfs_cells_fold_finished(struct pfs_books *self);

/* A thread freed the last block of an ended life, outside the desk: to be folded by who comes. */
void pfs_cell_finish(struct pfs_books *self, struct pfs_cell *cell);

/* ---- marks ---- */

/* The owner allocated more than the cell's traps allow, or something changed in control. */
PFS_COLD void pfs_marks_look(struct pfs_books *self, struct pfs_cell *cell, uint64_t bytes);

/* A tick: estimates of all parties until now. Under the desk. */
void pfs_marks_tick(struct pfs_books *self);

/* ---- limits ---- */

/* The limits that are always there, none of them set. False: no memory. */
bool pfs_limits_open(struct pfs_books *self);

/* By the owner, when the generation has changed: which limits are its own now? */
PFS_COLD void pfs_limits_look(struct pfs_memory_thread *thread, uint32_t generation);

/* The owner, who is limited, allocates a block: it is counted, or refused. */
PFS_COLD bool pfs_limits_debit(struct pfs_memory_thread *thread, struct pfs_cell *cell,
			       uint64_t bytes);

/*
 * Ahead of a resize by a thread: so many bytes for the next allocation that it counts, with old of
 * so many bytes about to go (NULL: nobody's). False: refused. drop: there was no such allocation.
 */
bool pfs_limits_reserve(struct pfs_memory_thread *thread, pfs_memory_key key, uint64_t bytes,
			const struct pfs_cell *old, uint64_t old_bytes);
void pfs_limits_drop(struct pfs_memory_thread *thread);

/* The next allocation of so many bytes is counted, whatever its limits. */
void pfs_limits_force(struct pfs_memory_thread *thread, uint64_t bytes);

/* A forked child: resizes of other threads are not in it. */
void pfs_limits_child(struct pfs_books *self);

/* May limits be in the way of a thread? Else none of the calls above is needed. */
static inline bool pfs_may_be_limited(const struct pfs_memory_thread *thread)
{
	return thread != NULL &&
	       (thread->is_limited || /* relaxed: a switch; this call or the next. */
		thread->limits_seen != pfs_load_relaxed(&thread->memory->control->generation));
}

#endif
