/*
 * news.h - what a thread that yields waits for: news of something that it read.
 *
 * A loop that looks, and yields when it found nothing, finds nothing again until another thread
 * has changed something that it looked at. So a yield is an operation that waits: until since
 * the thread's yield before
 *	sc     a value other than the one that it read was written there; so also between the
 *	       read and the yield
 *	tso    such a value has reached memory; the thread's own stores are no news to it, and
 *	       what it read from its own buffer can't change before that store is in memory
 *	views  there is such a value behind the one that it read, in modification order: it may
 *	       read that, and after the yield it no longer reads the older one
 * or memory that it looked at was given back. Who has read nothing waits for nothing.
 *
 * A loop that counts its looks would do something else in the end. So those that yield all go on
 * when nobody else can, without news: PFS_NEWS_TRIES_MAX times in a row. If then there still are
 * none, the execution ends: they would yield for ever. A loop that has more tries than that is
 * reported, too; and a look without news while others can go on is never tried.
 *
 * Steps are recorded, and what was read is found out when a thread yields: nobody else pays.
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
#define PFS_NEWS_LATER UINT32_MAX

/* Of a thread that yields: a location that it read. */
struct pfs_news_read {
	void *address;
	uint64_t value; /* as it was read first, or as the thread has written it since */
	uint32_t size_bytes;
	uint32_t since;   /* that step; what was written before is no news with sc and tso. Of a
			   * store in the buffer: PFS_NEWS_LATER */
	uint32_t message; /* views: that message */
};

/* What a thread waits for that stands at a yield. */
struct pfs_looks {
	struct pfs_news_read *reads; /* until the machine is reset */
	uint32_t count;
	uint32_t from;  /* step: the first since the thread's yield before */
	uint32_t alone; /* woken when nobody else could go on: not before this step; 0: by news */
	bool news;      /* it may go on */
	bool early;     /* there were news which `reads` no longer shows, or it waits for nothing */
};

struct pfs_news_step; /* one that was recorded */

struct pfs_news {
	struct pfs_news_step *steps;
	uint32_t room;
	uint32_t waiting;            /* threads that stand at a yield without news */
	uint32_t tries;              /* how often in a row they all went on without */
	struct pfs_news_read *found; /* while one thread's reads are looked for */
	uint32_t found_room;
	struct pfs_scratch arena;
};

void pfs_news_fini(struct pfs_news *self);
void pfs_news_reset(struct pfs_news *self);
struct pfs_snapshot;
void pfs_news_keep(struct pfs_machine *machine, struct pfs_snapshot *snapshot);

/* The thread has come to a yield. */
void pfs_news_arrive(struct pfs_machine *machine, struct pfs_vthread *thread);

/* A step was executed, and is the last one. false: no memory. */
bool pfs_news_step(struct pfs_machine *machine, const struct pfs_step *step);

/* Nobody can go on: those that yield shall. */
void pfs_news_nobody(struct pfs_machine *machine);

/* Something was written there: is it other than what was read? */
bool pfs_news_is(const struct pfs_news_read *read, const void *address, uint32_t size_bytes,
		 uint64_t written);

#endif
