/*
 * books.h - the inside of the accounts: a process's private data about its box.
 *
 * Records (instruments, threads, accounts, users, hosts, cells) belong to containers of the policy
 * exact, whose pages lie in the box. They are allocated and freed under one lock, the desk. That is
 * rare: a thread begins or ends, uses an instrument for the first time, or the last block of an
 * ended life is freed. Counting takes no lock.
 *
 * A party is an account, a user, a host, or global, of which there is one. Threads and parties have
 * cells.
 *
 * Ordering:  [J4] moves: fetch-add, acq_rel  <->  [J4] moves: fetch-add, acq_rel
 *            odd while sums move; a reader loads it before (acquire) and after it reads sums
 *            [J6] finished: CAS, release  <->  [J7] finished: exchange, seq
 *            carries: next of each cell; [J3] of the last freer carries the sums
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

/* A region's container, and the desk's handle to it. */
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
	PFS_SHELF_STACKS, /* this and the next two, in this order; only with a profile */
	PFS_SHELF_CONTEXTS,
	PFS_SHELF_SAMPLES,
	PFS_SHELF_NUMBERS, /* of threads; not in the box; only if the rule needs it */
	PFS_SHELVES
};

/* What a limit compares with: upper bound of the bytes in use; reserved bytes. Limits' lock. */
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

/* An account, a user, a host, or global, with its cells by instrument. Desk. */
struct pfs_party {
	uint32_t level;                 /* enum pfs_cell_level; the key, with the names */
	const char *user, *host;        /* in the record; NULL: none */
	struct pfs_box_account *record; /* NULL: global */
	uint32_t reference;
	uint32_t lives;                            /* live threads, and cells of ended ones */
	struct pfs_party *above_user, *above_host; /* for an account */
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
	uint64_t random;                           /* state for sampling; 0: not seeded */
	struct pfs_profile_thread *profile;        /* since its first sample; or NULL */
	bool is_limited;                           /* its own, as the next three: see limits.c */
	uint32_t limits_seen;                      /* control.generation then; 0: never */
	uint32_t limits[PFS_LIMITED];              /* a limit's number plus 1; 0: none */
	uint64_t reserved; /* bytes already granted to the next allocation */
	struct pfs_limit_room room;
	void *numbered;  /* its record of the shelf of numbers; NULL: none */
	uint32_t number; /* of that record, or the reference; in notes of the rule global */
	struct pfs_cell **all_cells; /* [instruments_max + 1], by key; NULL: not used yet */
	struct pfs_cell *cells[];    /* the same, but NULL while not counted */
};

struct pfs_rule;
struct pfs_profile;

struct pfs_books {
	struct pfs_box box;
	const struct pfs_rule *rule;
	struct pfs_box_control *control; /* of the box */
	struct pfs_box_switch *switches; /* of the box */
	uint32_t switch_count;
	uint32_t instruments_max;
	_Atomic(uint32_t) instrument_count;
	char *cells_base;    /* one line before the first cell, so line 0 is no cell */
	uint32_t cell_lines; /* lines of all cells */
	struct pfs_party *global;
	_Atomic(uint32_t) finished;   /* line of the first cell to fold; 0: none */
	struct pfs_profile *profile;  /* NULL: none */
	struct pfs_mutex limits_lock; /* taken before the desk */
	struct pfs_box_limit *limits; /* of the box, PFS_BOX_LIMITS_MAX */

	struct pfs_mutex desk; /* protects all below */
	struct pfs_shelf shelves[PFS_SHELVES];
	void *parties[PFS_PARTY_KINDS]; /* trees (tsearch) by names */
	struct pfs_party *lists[PFS_PARTY_KINDS];
	struct pfs_party **by_reference[PFS_PARTY_KINDS]; /* [accounts_max + 1] */
	uint32_t party_count;                             /* of all kinds */
	void *instruments;                                /* a tree of struct pfs_named */
	struct pfs_owner *owners; /* all owners of a memory trace, newest first */
	struct pfs_memory_thread *threads;
	uint64_t last_thread_id;
	uint64_t private_bytes;
	uint32_t cells_at_tick, ended_since_tick; /* cells of threads; lives. For marks */
	struct pfs_config_of_books {
		uint32_t tick_ms;
		bool keep;
	} config;
	void (*describe)(struct pfs_box_tick *tick); /* adds the allocator's numbers; or NULL */
	void (*settle)(struct pfs_books *self);      /* set in a forked child without a box */
	/* The program's account has two names for limits: what it calls itself, and its file's; or
	 * NULL. */
	const char *program_name, *program_file;
	bool has_waited;   /* in such a child: it could not get a box yet */
	bool is_uncounted; /* a forked child without memory for its copy: nothing is counted */
	void (*complain)(const char *text); /* a line for whoever started the process; or NULL */
	/* In a forked child without memory for its copy: leaves a note instead of a box; or NULL.
	 */
	void (*note)(struct pfs_books *self, const char *why);
	uint32_t fork_finished;      /* `finished` when the child's copy was made */
	uint32_t fork_tid, fork_pid; /* the forking thread, in parent and child */
	pthread_t ticker;
	bool has_ticker;
	bool is_ending; /* ticks */
	pthread_cond_t end_tick;
	pthread_mutex_t tick_lock;
	struct pfs_books *next; /* of all books of the process */
};

/* A forked child without memory for its copy, or a box whose file was truncated: nothing is
 * counted, and no call reads or writes the box. */
static inline bool pfs_books_are_shut(struct pfs_books *self)
{
	return self->is_uncounted || pfs_box_is_cut(&self->box);
}

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
 * How a free is credited. reference: what a block's note stores about its allocation; credit:
 * counts a free, given that note; instrument: the instrument in a note; end: where an ended life's
 * sums go. See the table in rules.c.
 */
struct pfs_rule {
	const char *name;
	uint32_t (*reference)(const struct pfs_memory_thread *thread, const struct pfs_cell *cell);
	void (*credit)(struct pfs_books *memory, struct pfs_memory_thread *thread,
		       uint32_t reference, uint64_t bytes);
	uint32_t (*instrument)(const struct pfs_books *memory, uint32_t reference);
	void (*end)(struct pfs_books *memory, struct pfs_memory_thread *thread,
		    struct pfs_cell *cell); /* under the desk */
	const char *numbers; /* policy of the shelf of numbers; NULL: references are the numbers */
};
extern const struct pfs_rule pfs_rule_exact;
extern const struct pfs_rule pfs_rule_none;             /* of a child that does not count */
const struct pfs_rule *pfs_rule_find(const char *name); /* NULL: unknown name */
#define PFS_RULE_NAMES "exact, freer, global, global_at_once"

/* ---- the desk ---- */

/* pfs_desk_open - lock the desk. Then give a forked child its box, and fold finished cells. */
void pfs_desk_open(struct pfs_books *self);
void pfs_desk_close(struct pfs_books *self);

/* In a forked child: gives it its box, if it has none and can have one. */
PFS_COLD void pfs_books_settle(struct pfs_books *self);

/* Allocates a record of a shelf, to be published later; NULL: none left (counted as lost). */
struct pfs_claim pfs_shelf_take(struct pfs_books *self, enum pfs_shelves shelf,
				enum pfs_box_lost lost, uint32_t *reference);
void pfs_shelf_publish(struct pfs_books *self, enum pfs_shelves shelf, struct pfs_claim claim);
void pfs_shelf_give(struct pfs_books *self, enum pfs_shelves shelf, void *record);

/* The party of these names, created if missing; NULL: no memory (counted as lost). */
struct pfs_party *pfs_party_of(struct pfs_books *self, enum pfs_cell_level level, const char *user,
			       const char *host);

/* Removes the parties that have no lives; their sums move up. Returns how many. */
uint32_t pfs_parties_purge(struct pfs_books *self);

/* A cell of a party, created if missing; NULL: no memory. */
struct pfs_cell *pfs_party_cell(struct pfs_books *self, struct pfs_party *party,
				uint32_t instrument);

/*
 * A thread's cell of an instrument. Called by the thread, without the desk; NULL: no memory.
 * to_count is for an allocation. It returns NULL also if the allocation is not counted: the thread
 * is not instrumented, the instrument is not ENABLED, or the key is 0.
 */
PFS_COLD struct pfs_cell *pfs_thread_cell(struct pfs_memory_thread *thread, pfs_memory_key key);
PFS_COLD struct pfs_cell *pfs_thread_cell_to_count(struct pfs_memory_thread *thread,
						   pfs_memory_key key);

/* Called by the thread, without the desk, when the control area has changed: INSTRUMENTED may have
 * been set from outside. */
PFS_COLD void pfs_thread_look(struct pfs_memory_thread *thread);

/* Creates a cell like the given one; NULL: no memory (counted as lost). */
struct pfs_cell *pfs_cell_new(struct pfs_books *self, const struct pfs_cell *like);

/* Adds sums, and the high marks of `from`, to the party's cell of the same instrument. */
void pfs_party_add(struct pfs_books *self, struct pfs_party *party, struct pfs_cell *from,
		   struct pfs_cell_sums sums);

/* The parties that get a thread's cell's sums: its account; or its user, its host, and global. */
struct pfs_parents {
	struct pfs_party *of[3];
	uint32_t count;
};
struct pfs_parents pfs_parents_of(struct pfs_books *self, struct pfs_cell *cell);

/* Between these, sums or marks move into or out of a party's cells, and readers retry. */
void pfs_moves_begin(struct pfs_books *self, struct pfs_party *party);
void pfs_moves_end(struct pfs_books *self, struct pfs_party *party);

/* Ends a thread's cell: adds its sums to its parents, and frees its record. */
void pfs_cell_fold(struct pfs_books *self, struct pfs_cell *cell);

/* Folds the finished cells; called by pfs_desk_open. */
void pfs_cells_fold_finished(struct pfs_books *self);

/* Queues an ended life's cell, whose last block was freed, for the next pfs_desk_open to fold. */
void pfs_cell_finish(struct pfs_books *self, struct pfs_cell *cell);

/* ---- marks ---- */

/* Called by the owner when the cell exceeds a trap, or the control area has changed. */
PFS_COLD void pfs_marks_look(struct pfs_books *self, struct pfs_cell *cell, uint64_t bytes);

/* At a tick: updates the estimates of all parties. Under the desk. */
void pfs_marks_tick(struct pfs_books *self);

/* A life has ended: a tick of the estimates, if many have since the last one. Under the desk. */
void pfs_marks_life_ended(struct pfs_books *self);

/* ---- limits ---- */

/* Creates the limits that always exist, none of them set. False: no memory. */
bool pfs_limits_open(struct pfs_books *self);

/* Called by the owner when the generation has changed: finds the limits that apply to it. */
PFS_COLD void pfs_limits_look(struct pfs_memory_thread *thread, uint32_t generation);

/* Counts an allocation of an owner with a limit; false: refused. */
PFS_COLD bool pfs_limits_debit(struct pfs_memory_thread *thread, struct pfs_cell *cell,
			       uint64_t bytes);

/*
 * Before a thread resizes a block: reserves bytes for the next allocation that it counts, while a
 * block of old_bytes in the cell old is about to be freed (NULL: not counted). False: refused.
 * drop: gives the reservation back if there was no such allocation.
 */
bool pfs_limits_reserve(struct pfs_memory_thread *thread, pfs_memory_key key, uint64_t bytes,
			const struct pfs_cell *old, uint64_t old_bytes);
void pfs_limits_drop(struct pfs_memory_thread *thread);

/* Reserves bytes for the next allocation, whatever the limits. */
void pfs_limits_force(struct pfs_memory_thread *thread, uint64_t bytes);

/* What a life has in use has moved to other rooms, whatever their limits. Under the lock. */
void pfs_limits_moved(struct pfs_books *self);

/* The next named limit, from number *at on, that no thread was ever subject to, as text; false:
 * none. Takes no lock, for the end of a process. */
#define PFS_LIMIT_TEXT_BYTES (PFS_BOX_USER_BYTES + PFS_BOX_HOST_BYTES + 32u)
bool pfs_limits_idle(const struct pfs_books *self, uint32_t *at, char *text, size_t text_bytes);

/* In a forked child: drops the reservations of the parent's other threads. */
void pfs_limits_child(struct pfs_books *self);

/* May a thread have limits? If not, none of the calls above is needed. */
static inline bool pfs_may_be_limited(const struct pfs_memory_thread *thread)
{
	return thread != NULL &&
	       (thread->is_limited || /* relaxed: a switch; this call or the next. */
		thread->limits_seen != pfs_load_relaxed(&thread->memory->control->generation));
}

#endif
