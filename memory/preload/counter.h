/*
 * counter.h - the inside of libpfsmem: state and functions of the program and of threads.
 */
#ifndef PFS_PRELOAD_COUNTER_H
#define PFS_PRELOAD_COUNTER_H

#include <stdio.h>

#include "counted.h"
#include "memory/accounts/books.h"

/* Per process, in addition to struct pfs_counting. */
struct pfs_program {
	struct pfs_books *books;
	bool by_site;
	uint32_t tick_ms; /* 0: none */
	bool is_exact;    /* the rule */
	char name[64];    /* what the program calls itself: the main thread's account */
	char file[64];    /* name of its file: in its instruments */
};
extern struct pfs_program pfs_program;

/* pfs_program_start - open the books, once. False: nothing is counted; if *later, only for now. */
bool pfs_program_start(bool *later);

/* ---- in a forked child (child.c) ---- */

/* Before the first block is counted: sets the guard. */
void pfs_child_start(void);

/* A counter with what the fast paths of its thread read [TG5], all zeroes; NULL: no memory. Inside
 * the accounts. drop: its thread ends. */
struct pfs_counter *pfs_child_counter(void);
void pfs_child_drop(struct pfs_counter *counter);

/* Around a fork, in the forking thread; lock and unlock unless it is alone. */
void pfs_child_lock(void);
void pfs_child_unlock(void);
void pfs_child_prepare(void);
void pfs_child_in_parent(void);
void pfs_child_in_child(void);

/* The guard is 0: may this process count? Sets the guard if so. enter does it by entering the
 * accounts for a moment, which gives a child its box. */
PFS_COLD bool pfs_child_decide(void);
PFS_COLD bool pfs_child_enter(void);

/* For pfs_counter_enter. */
static inline bool pfs_child_may_count(void)
{
	return pfs_likely(pfs_nobodys.guard != 0) || pfs_child_decide();
}

/* For what counts without entering the accounts. */
static inline bool pfs_child_counts(void)
{
	return pfs_likely(pfs_nobodys.guard != 0) || pfs_child_enter();
}

/* The process does not count: leaves a note for readers instead of a box. */
void pfs_child_note(struct pfs_books *books, const char *why);

/* At the end of the process: removes the note. False: there is none, because it counts. */
bool pfs_child_leave(void);

/* A line on stderr: what is wrong, and what follows. */
void pfs_program_complain(const char *what, const char *more);

/* Is counting on? [PL2] */
extern _Atomic(uint32_t) pfs_program_on;
static inline bool pfs_program_is_on(void)
{
	return pfs_load_acquire(&pfs_program_on) != 0; /* [PL2] acquire, pairs with [PL1] */
}

/* Before an exec: marks the box, or removes the note of a child that does not count; after one that
 * failed (will: false): takes the mark back. True: marked, because the process counts. */
bool pfs_program_exec(bool will);

/* At the end of the process: removes the box, once; it stays mapped. */
void pfs_program_leave(void);

/* The box, if there is one. */
const struct pfs_box *pfs_program_box(void);

/*
 * pfs_counter_enter - the calling thread enters the accounts; the first time it begins a life.
 *
 * Returns   its counter; NULL: it does not count (it is inside already, has ended, or there are no
 *           books), and must not call pfs_counter_leave.
 */
struct pfs_counter *pfs_counter_enter(void);
void pfs_counter_leave(struct pfs_counter *counter);

/* The calling thread's state. volatile: compilers assume that malloc reads no variable. */
enum pfs_counter_state {
	PFS_COUNTER_NEW,
	PFS_COUNTER_RUNNING,
	PFS_COUNTER_INSIDE,
	PFS_COUNTER_ENDED,
	PFS_COUNTER_LOST /* it never counts, because the box had no room for its life */
};
extern _Thread_local volatile uint8_t pfs_counter_state
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Adds to the bytes that are not counted, if the calling thread's life has no room in the box. */
void pfs_counter_lose(uint64_t bytes);

/* For threads of the library itself: the calling thread never counts. */
void pfs_counter_never(void);

/* In slow calls, inside the accounts: checks for a new name of the thread, and for a tick. */
void pfs_counter_look(struct pfs_counter *counter);

/* A walk report, in three steps. begin: false if another report is in progress. walk: returns the
 * number of blocks; call it inside the accounts, or in a thread that never counts, so that its own
 * allocations are not counted. end: outside the accounts; writes the report; or not (NULL). */
bool pfs_report_begin(void);
uint64_t pfs_report_walk(void);
void pfs_report_end(FILE *to);

/* prof.dump of mallctl; 0 or an error number. Only with a profile. */
int pfs_profile_dump(const char *path);

/* prof.reset: dumps omit what was sampled so far; from now on the mean gap is 2^lg bytes. */
int pfs_profile_restart(uint32_t lg);

/* Called by the ticker: writes a walk report if a reader asked for one. */
void pfs_walk_if_asked(void);

/* In a forked child: a walking thread of the parent does not exist here. */
void pfs_walk_child(void);

/* pfs_site_key - the instrument of a caller; 0: none. Call it inside the accounts. */
pfs_memory_key pfs_site_key(const void *caller);
void pfs_sites_start(void);

/* The name of a library from its path: the file name up to ".so". */
void pfs_site_module(char *name, size_t name_bytes, const char *path);

/* Ticks: made by a thread once the program has a second one, before that by slow calls. Call these
 * inside the accounts; wish without any lock that a new thread may need. */
void pfs_ticker_wish(void);
void pfs_ticker_if_time(void);
void pfs_ticker_life_ended(void); /* waits for the end of a tick, outside the accounts */
void pfs_ticker_child(void);

/* Around calls that are refused to a process with two threads. pause: waits until the thread is
 * gone. Outside the accounts. */
bool pfs_ticker_pause(void);
void pfs_ticker_resume(bool was_there);

#endif
