/*
 * counter.h - the inside of the library that counts: a thread's counter, and what it asks for.
 */
#ifndef PFS_PRELOAD_COUNTER_H
#define PFS_PRELOAD_COUNTER_H

#include <stdio.h>

#include "counted.h"
#include "memory/accounts/books.h"

/* Of the process, beside struct pfs_counting. */
struct pfs_program {
	struct pfs_books *books;
	bool by_site;
	uint32_t tick_ms; /* 0: none */
	bool is_exact;    /* the rule */
	char name[64];    /* of the program's file */
};
extern struct pfs_program pfs_program;

/* pfs_program_start - open the books, once. False: nothing is counted (now, if *later). */
bool pfs_program_start(bool *later);

/* The process ends: its box goes, once, and stays mapped. */
void pfs_program_leave(void);

/* The box, if there is one. */
const struct pfs_box *pfs_program_box(void);

/*
 * pfs_counter_enter - the calling thread goes into the accounts; it begins a life at first.
 *
 * Returns   its counter; NULL: it does not count (it is inside already, has ended, or there are no
 *           books), and has nothing to leave.
 */
struct pfs_counter *pfs_counter_enter(void);
void pfs_counter_leave(struct pfs_counter *counter);

/* Of the calling thread. volatile: the compiler knows that malloc reads no variable of its
 * caller's. */
enum pfs_counter_state {
	PFS_COUNTER_NEW,
	PFS_COUNTER_RUNNING,
	PFS_COUNTER_INSIDE,
	PFS_COUNTER_ENDED
};
extern _Thread_local volatile uint8_t pfs_counter_state
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A thread of the library's own: it never counts. */
void pfs_counter_never(void);

/* Now and then, inside: another name of the thread, a tick. */
void pfs_counter_look(struct pfs_counter *counter);

/* A report of a walk: begun (false: another one goes on); the walk itself, inside, or by a thread
 * that never counts, so that nothing that is done there is counted: how many blocks; and its end,
 * written to a file outside of the accounts, or not (NULL). */
bool pfs_report_begin(void);
uint64_t pfs_report_walk(void);
void pfs_report_end(FILE *to);

/* By the thread that ticks: a report of a walk, if one is asked for from outside. */
void pfs_walk_if_asked(void);

/* A forked child: whoever walked is not in it. */
void pfs_walk_child(void);

/* pfs_site_key - the instrument of a caller; 0: none. Inside. */
pfs_memory_key pfs_site_key(const void *caller);
void pfs_sites_start(void);

/* The name of a library, from its path: its soname without the version. */
void pfs_site_module(char *name, size_t name_bytes, const char *path);

/* Ticks: by a thread from the program's second one on; before that when a slow call meets them.
 * Inside; start: not with a lock of the program's that a new thread may need. */
void pfs_ticker_wish(void);
void pfs_ticker_if_time(void);
void pfs_ticker_last_life(void);
void pfs_ticker_child(void);

#endif
