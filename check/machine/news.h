/*
 * news.h - what a thread that yields waits for: news of something that it read.
 *
 * A loop that reads, and yields when it found nothing, finds nothing again until another thread has
 * changed something that it read. So a yield is an operation that waits. It waits until one of
 * these has happened since the thread's previous yield:
 *	sc     a value other than the one that it read was written there; so also between the
 *	       read and the yield
 *	tso    such a value has reached memory; the thread's own stores are no news to it, and
 *	       what it read from its own buffer cannot change before that store is in memory
 *	views  there is such a value after the one that it read, in modification order: it may
 *	       read that, and after the yield it no longer reads the older one
 * or memory that it read was given back. A thread that has read nothing does not wait.
 *
 * A loop that counts its tries would do something else in the end. So if no other thread can go on,
 * all threads that yield go on without news, PFS_NEWS_TRIES_MAX times in a row. If there is still
 * no news then, the execution ends: they would yield forever. A loop with more tries than that is
 * reported too; and a read without news while other threads can go on is never tried.
 *
 * Steps are recorded, and what was read is determined when a thread yields: other threads pay
 * nothing.
 */
#ifndef PFS_SIM_NEWS_H
#define PFS_SIM_NEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/machine/table.h"

struct pfs_machine;
struct pfs_vthread;
struct pfs_step;

#define PFS_NEWS_TRIES_MAX 256u

/* The operand of a yield, whose `expected` is then the step from which reads count. LOOP: the
 * thread is in the state in which it was before that step, and has changed nothing since: it never
 * goes on without news, and in a search of all classes (setup.loops_end) not even with it. AGAIN:
 * the same, but it has read plain memory, and races are not looked for: others may change that
 * without news, so it also goes on when nobody else can. COUNTED: it reads the same again and
 * again, but its state differs. SPENT: so often that it is given up; it never goes on without
 * news. */
enum { PFS_YIELD_LOOP = 1, PFS_YIELD_AGAIN, PFS_YIELD_COUNTED, PFS_YIELD_SPENT };
#define PFS_NEWS_LATER UINT32_MAX

/* A location that a yielding thread has read. */
struct pfs_news_read {
	void *address;
	uint64_t value; /* as first read, or as the thread has written it since */
	uint32_t size_bytes;
	uint32_t since;   /* that step; earlier writes are no news with sc and tso. For a store in
			   * the buffer: PFS_NEWS_LATER */
	uint32_t message; /* views: that message */
};

/* What a thread at a yield waits for. */
struct pfs_looks {
	struct pfs_news_read *reads; /* until the machine is reset */
	uint32_t count;
	uint32_t from;  /* step: the first since the thread's previous yield */
	uint32_t alone; /* woken because no other could go on: not before this step; 0: by news */
	bool news;      /* it may go on */
	bool early;     /* there was news which `reads` no longer shows, or it waits for nothing */
};

struct pfs_news_step; /* one that was recorded */

struct pfs_news {
	struct pfs_news_step *steps;
	uint32_t room;
	uint32_t waiting;            /* threads at a yield without news */
	uint32_t tries;              /* how often in a row they all went on without */
	struct pfs_news_read *found; /* while one thread's reads are determined */
	uint32_t found_room;
	struct pfs_scratch arena;
};

void pfs_news_fini(struct pfs_news *self);
void pfs_news_reset(struct pfs_news *self);
struct pfs_machine_snapshot;
void pfs_news_keep(struct pfs_machine *machine, struct pfs_machine_snapshot *snapshot);

/* The thread has reached a yield. */
void pfs_news_arrive(struct pfs_machine *machine, struct pfs_vthread *thread);

/* A step was executed, and is the last one. false: no memory. */
bool pfs_news_step(struct pfs_machine *machine, const struct pfs_step *step);

/* No thread can go on: let those that yield go on. */
void pfs_news_nobody(struct pfs_machine *machine);

/* Something was written there: does it differ from what was read? */
bool pfs_news_is(const struct pfs_news_read *read, const void *address, uint32_t size_bytes,
		 uint64_t written);

#endif
