/*
 * intern.h - equal things have one record: a table of references by hash, that only grows.
 *
 * Invariant: a slot goes from 0 to a reference once. Who would add a record walks from the hash's
 * slot on, past all that are taken, and takes the first free one by a CAS; so two who add equal
 * ones meet at the same slot, and the one who comes late finds the other's and drops its own.
 * Ordering:  [PI1] add: CAS, release  <->  [PI2] look: load, acquire
 *            carries: the record's bytes, to who finds its reference
 * Progress   lock-free: a failed CAS means that another added one. Slots are at least twice as
 *            many as records, so there is a free one.
 * Source:    our own.
 */
#ifndef PFS_PROFILE_INTERN_H
#define PFS_PROFILE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/atomic.h"
#include "containers/compiler.h"

struct pfs_intern {
	_Atomic(uint64_t) *slots; /* upper half of the hash << 32 | reference; 0: free */
	uint32_t mask;            /* slots - 1; create only */
};

/* What is looked for stands in context. make: a record of it that is complete, 0 if none is to be
 * had; drop: that record again, which nobody has seen. */
struct pfs_intern_ops {
	bool (*is_equal)(void *context, uint32_t reference);
	uint32_t (*make)(void *context);
	void (*drop)(void *context, uint32_t reference);
};

#define PFS_INTERN_HALF 32u

/*
 * pfs_intern_with - the reference of what is equal; made, if there is none.
 *
 * Returns   the same for all that are equal; 0: there was none, and none could be made.
 * Progress  see above.
 * Order     acquire [PI2]: the caller may read the record.
 */
PFS_SKELETON uint32_t pfs_intern_with(struct pfs_intern *self, uint64_t hash,
				      const struct pfs_intern_ops *ops, void *context)
{
	uint32_t made = 0, at = (uint32_t)hash & self->mask;
	for (uint32_t tried = 0; tried <= self->mask; tried++, at = (at + 1) & self->mask) {
		/* [PI2] acquire, pairs with [PI1]: without it a record is compared, or handed out,
		 * whose bytes have not come. */
		uint64_t seen = pfs_load_acquire(&self->slots[at]);
		if (seen == 0) {
			if (made == 0)
				made = ops->make(context);
			if (made == 0)
				return 0;
			uint64_t own = hash >> PFS_INTERN_HALF << PFS_INTERN_HALF | made;
			/* [PI1] release, pairs with [PI2]: the record before its reference. */
			if (pfs_cas_release(&self->slots[at], &seen, own))
				return made;
			/* [PI2] acquire, pairs with [PI1]: who came first may have the same. */
			seen = pfs_load_acquire(&self->slots[at]);
		}
		if (seen >> PFS_INTERN_HALF != hash >> PFS_INTERN_HALF ||
		    !ops->is_equal(context, (uint32_t)seen))
			continue;
		if (made != 0)
			ops->drop(context, made);
		return (uint32_t)seen;
	}
	if (made != 0)
		ops->drop(context, made);
	return 0;
}

#endif
