/*
 * front.h - the front of a policy: places of free records other than the occupancy words.
 *
 * exact has none. magazine has rings, from which only their owners take, and blocks, from which any
 * thread does (variants/magazine/front.c).
 */
#ifndef PFS_FRONT_H
#define PFS_FRONT_H

#include "containers/container.h"
#include "room.h"

/* The result of one look at all roots: is there no room, was no page on its way, and the sum of all
 * versions. */
struct pfs_look {
	bool is_empty;
	bool is_still;
	uint64_t versions;
};

static inline void pfs_look_at_root(struct pfs_look *self, const struct pfs_room *room)
{
	/* [T7] acquire, pairs with [T6]: what one root shows is seen in the others. */
	uint64_t states = pfs_load_acquire(pfs_room_root(room));
	self->is_empty = self->is_empty && pfs_room_is_empty(states);
	self->versions += states >> 32;
}

struct pfs_front {
	/* Look at the roots over what any thread may take from; at the other roots. Wait-free. */
	void (*look_at_shared)(struct pfs_container *self, struct pfs_look *look);
	void (*look_at_owned)(struct pfs_container *self, struct pfs_look *look);
	/* Under `growth`, if these roots show room: was no record free at some moment? */
	bool (*prove)(struct pfs_container *self);
	/* Under `growth`: give all records that can be taken back to the words; returns how
	 * many. */
	uint32_t (*take_back)(struct pfs_container *self);
	/* A record that a search of the words cannot find. Lock-free. */
	struct pfs_claim (*last_resort)(struct pfs_thread *thread);
	/* For needless.c. watch: note what the front holds. is_free_since_watch: is one of these
	 * records still there? */
	void (*watch)(struct pfs_container *self);
	bool (*is_free_since_watch)(struct pfs_container *self);
	uint64_t (*bytes)(struct pfs_container *self);
	void (*stop)(struct pfs_container *self); /* runs alone */
};

#endif
