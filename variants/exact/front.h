/*
 * front.h - what a policy puts in front of the occupancy words: other places of free records.
 *
 * exact has none. magazine has rings, from which only their owners take, and blocks, from which
 * anybody does (variants/magazine/front.c).
 */
#ifndef PFS_FRONT_H
#define PFS_FRONT_H

#include "containers/container.h"
#include "room.h"

/* What one look at all roots saw: is there no room, was no page on its way, and the sum of all
 * versions. */
struct pfs_look {
	bool is_empty;
	bool is_still;
	uint64_t versions;
};

static inline void pfs_look_at_root(struct pfs_look *self, const struct pfs_room *room)
{
	/* [T7] acquire, pairs with [T6]: what one root shows is seen of the others. */
	uint64_t states = pfs_load_acquire(pfs_room_root(room));
	self->is_empty = self->is_empty && pfs_room_is_empty(states);
	self->versions += states >> 32;
}

struct pfs_front {
	/* Look at the roots over what anybody takes from; at those over the rest. Wait-free. */
	void (*look_at_shared)(struct pfs_container *self, struct pfs_look *look);
	void (*look_at_owned)(struct pfs_container *self, struct pfs_look *look);
	/* Under `growth`, where these roots show room: was no record free at a moment? */
	bool (*prove)(struct pfs_container *self);
	/* Under `growth`: to the words with all that can be had; how many. */
	uint32_t (*take_back)(struct pfs_container *self);
	/* A record that a search of the words did not find. Lock-free. */
	struct pfs_claim (*last_resort)(struct pfs_thread *thread);
	/* For needless.c: look; does something still lie there that the last look met? */
	void (*watch)(struct pfs_container *self);
	bool (*is_free_since_watch)(struct pfs_container *self);
	uint64_t (*bytes)(struct pfs_container *self);
	void (*stop)(struct pfs_container *self); /* runs alone */
};

#endif
