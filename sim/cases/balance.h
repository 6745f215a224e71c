/*
 * balance.h - what must add up when no thread runs, for policies with occupancy words.
 */
#ifndef PFS_SIM_BALANCE_H
#define PFS_SIM_BALANCE_H

#include <stdint.h>

struct pfs_container;

/*
 * pfs_balance_check - at rest: a record is FREE if and only if it is in exactly one place, a set
 * bit or a ring [M1]; a word with room is announced in its page, and the page in one of the sets of
 * pages with room [O4]. For other policies it checks nothing.
 *
 * Not required: that the set is the page's own. A free reads the page's node and mark, then sets
 * its bit; a pass that changes the mark in between leaves the page in the old set, which searches
 * also use. Nor that what is announced has room: searches clear that.
 *
 * If records have no words, owners says by index whose record is in use; 0: nobody's. Otherwise it
 * may be NULL.
 *
 * Returns   nothing; a fault ends the execution by pfs_machine_fail.
 * Errors    none.
 * Progress  wait-free; call it between runs, or aside.
 * Order     none: no thread runs.
 */
void pfs_balance_check(struct pfs_container *container, const uint32_t *owners);

#endif
