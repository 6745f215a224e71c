/*
 * tick_round.h - what a tick does, in bounded steps: rings, then each arena's bins, its dirty
 * pages, its muzzy ones, its idle descriptors. Any thread may make the next step; tick.h has when.
 *
 * A step takes less than a millisecond: a batch of rings, a bin, or PFS_EXTENTS_PAY_PAGES of pages,
 * which are purged without a lock. So no thread waits long for another's tick, and fork, which
 * ignores the lock of ticks, waits for none. A child abandons the tick.
 */
#ifndef PFS_MALLOC_TICK_ROUND_H
#define PFS_MALLOC_TICK_ROUND_H

#include <stdbool.h>
#include <stddef.h>

enum pfs_round_end {
	PFS_ROUND_GOES_ON,
	PFS_ROUND_BUSY, /* over, and the next tick will find something to do */
	PFS_ROUND_QUIET /* over; as long as nothing is allocated or freed, the next finds nothing */
};

/* Make the next step; the first one begins a tick. try: do nothing if another thread is at it. */
enum pfs_round_end pfs_round_step(void);
void pfs_round_try_some(void);

/* Has a tick begun and not ended? A hint. */
bool pfs_round_is_on(void);

/* In a child of fork. */
void pfs_round_child(void);

#endif
