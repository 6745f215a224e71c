/*
 * hidden.h - free memory that forked children do not get, so that fork does not copy the page
 * tables of memory that nobody uses.
 *
 * Just before a fork, under the locks of all arenas, the long free extents that may have memory
 * become HIDDEN (MADV_WIPEONFORK). They stay hidden in parent and child while they are free, so the
 * next fork asks the system for nothing. The first call that uses a part of one shows all of it
 * again; so does a purge, after which a fork has nothing to copy. So a long extent that changed
 * since the last fork costs at most one system call to hide it, in the fork, and one to show it,
 * in the call that uses it.
 *
 * A GAP, a short retained extent beside a long one, has no memory but is hidden with it. Otherwise
 * it would divide two hidden mappings: a fork takes 1 us for each mapping, and 1 us for the page
 * table between them. It is shown with an extent beside it, or when it is joined with pages that
 * are shown.
 *
 * In a child, hidden extents are dirty or gaps, as in its parent, and have no memory. Nothing
 * depends on that: a child that ran no fork handlers (_Fork, the system call clone) gets what was
 * hidden before, and the bytes of a free extent are arbitrary.
 *
 * Invariants
 * 	[HD1] every page that is hidden is in an extent that says so [EX4], and no block is in it.
 * 	     hide: under the locks of all arenas, of free extents. show: before the lock is released
 * 	     under which an extent leaves its lists, or in flight. So whenever a process is forked,
 * 	     its blocks have their bytes in the child.
 * 	[HD2] a fork hides no further extent when the arenas' hidden_parts together are
 * 	     PFS_HIDDEN_MOST, and no gaps beyond half of that. A split counts a run twice until
 * 	     the part is purged or joined.
 *
 * Where the system refuses
 * 	to hide    the child gets a copy. If the system knows no hiding, there is nothing to show.
 * 	to show    the extent is given up (lists.h).
 *
 * Progress   wait-free: at most PFS_HIDDEN_MOST system calls, and three times as many extents
 *            looked at.
 * Source:    our own.
 */
#ifndef PFS_MALLOC_HIDDEN_H
#define PFS_MALLOC_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

/* Each may add two mappings to the 65530 that a process may have by default. */
#define PFS_HIDDEN_MOST 4096u

struct pfs_extents;
struct pfs_hiding {
	uint32_t parts; /* hidden_parts of all arenas */
	uint32_t looks; /* extents looked at */
};

/* Under the locks of all arenas, in fork's prepare handler; and for the extents of one. False: no
 * more may be hidden. */
void pfs_hidden_hide(void);
bool pfs_hidden_hide_in(struct pfs_hiding *hiding, struct pfs_extents *self);

#endif
