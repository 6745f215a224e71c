/*
 * moments.h - keeps what each stack holds at moments of the past, which thin out with age:
 * memory/box/profile.h says which are kept, and where.
 *
 * A moment is made by a tick, under the desk, from the sums of all contexts. Allocating and freeing
 * threads do nothing for it. A program that makes no tick keeps no moment; the times of moments say
 * how far apart they are.
 *
 * Ordering:  [PM1] head.moments: store, release  <->  [PM2] a reader: load, acquire
 *            carries: the bytes of the moment
 */
#ifndef PFS_PROFILE_MOMENTS_H
#define PFS_PROFILE_MOMENTS_H

#include "profile.h"

/* Keeps a moment, if one is due. Under the desk. One that finds no memory is left out. */
void pfs_moments_tick(struct pfs_profile *self);

#endif
