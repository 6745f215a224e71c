/*
 * holes.h - which places of a directory have no page: a tree of bits that finds the lowest one.
 *
 * Level 0 has a bit for each place, set while a page is there. A bit of a higher level is set while
 * the 64 bits below it are all set. So the lowest hole takes one word a level to find, however many
 * pages there are: 4 levels for PFS_PAGE_MAX places.
 *
 * Writers hold the growth lock. find may run without it while no page is added: it may then miss a
 * hole that is just being made, and what it returns is a hole.
 *
 * Ordering:  [H1] clear: store, release  <->  [H2] find: load, acquire
 *            carries: the word below a bit that was cleared. Without it a reader could follow the
 *            bit to a word that still looks full, and answer that there is no hole
 * Source:    a bitmap with summary levels; our own.
 */
#ifndef PFS_HOLES_H
#define PFS_HOLES_H

#include <stddef.h>

#include "atomic.h"

#define PFS_HOLES_LEVELS 4u /* 64^4 places, more than PFS_PAGE_MAX */

struct pfs_holes {
	_Atomic(uint64_t) *words;                   /* of all levels; under `growth` */
	_Atomic(uint64_t) *level[PFS_HOLES_LEVELS]; /* init only, as all below; level 0 is the
						     * places */
	uint32_t depth;
	uint32_t places;
};

/* All places are holes. False: no memory. fini may follow a failed init, or zeroed bytes. */
bool pfs_holes_init(struct pfs_holes *self, uint32_t places);
void pfs_holes_fini(struct pfs_holes *self);

/* The lowest hole; `places` if there is none. Wait-free: one load a level. */
uint32_t pfs_holes_find(const struct pfs_holes *self);

/* Under `growth`: a page has come to a place, or has left it. */
void pfs_holes_fill(struct pfs_holes *self, uint32_t place);
void pfs_holes_open(struct pfs_holes *self, uint32_t place);

#endif
