/*
 * seen.h - a set of states, as hashes of 64 bits that are not 0.
 *
 * A table with open addressing, at most two thirds full. Two states with one hash count as one
 * state.
 */
#ifndef PFS_SEEN_H
#define PFS_SEEN_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_seen {
	uint64_t *states; /* 0: free */
	uint64_t room, count;
};

void pfs_seen_fini(struct pfs_seen *self);

/* Forget all of them. */
void pfs_seen_clear(struct pfs_seen *self);

/* Before one more is added. False: no memory. */
bool pfs_seen_make_room(struct pfs_seen *self);

/* False: it was there. */
bool pfs_seen_add(struct pfs_seen *self, uint64_t state);

#endif
