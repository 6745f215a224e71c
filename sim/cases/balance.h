/*
 * balance.h - checks at rest that each free record is in one place, for policies with occupancy
 * words.
 */
#ifndef PFS_SIM_BALANCE_H
#define PFS_SIM_BALANCE_H

#include <stdint.h>

struct pfs_container;

/*
 * pfs_balance_check - check at rest that a record is FREE if and only if it is in exactly one
 * place: a set bit, a ring or a block [M1]. A word with room must be announced in its page, and the
 * page in one of the sets of pages with room [O4]. For other policies it checks nothing.
 *
 * The set need not be the page's own. A free reads the page's node and mark, then sets its bit; a
 * pass that changes the mark in between leaves the page in the old set, which searches also use. An
 * announced place need not have room either: searches clear it.
 *
 * If records have no words, owners gives each record's owner by index; 0: none. Otherwise it may be
 * NULL.
 *
 * Returns   nothing; a fault ends the execution by pfs_machine_fail.
 * Errors    none.
 * Progress  wait-free; call it between runs, or aside.
 * Order     none: no thread runs.
 */
void pfs_balance_check(struct pfs_container *container, const uint32_t *owners);

#endif
