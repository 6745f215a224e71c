/*
 * intern.h - equal values share one record: a hash table of references that only grows.
 *
 * Invariant: a slot goes from 0 to a reference once. A thread that adds a record walks from the
 * hash's slot past all taken ones and takes the first free one by a CAS. So two threads that add
 * equal records meet at the same slot; the later one finds the other's record and drops its own.
 * Ordering:  [PI1] add: CAS, release  <->  [PI2] look: load, acquire
 *            carries: the record's bytes, to threads that find its reference
 * Progress   lock-free: a failed CAS means that another thread added a record. There are at least
 *            twice as many slots as records, so one is free.
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

/* `context` has the value that is looked for. make: a complete record of it, or 0 if there is no
 * room; drop: frees a record that no other thread has seen. */
struct pfs_intern_ops {
	bool (*is_equal)(void *context, uint32_t reference);
	uint32_t (*make)(void *context);
	void (*drop)(void *context, uint32_t reference);
};

#define PFS_INTERN_HALF 32u

/*
 * pfs_intern_with - the reference of the record equal to the context; made if there is none.
 *
 * Returns   the same reference for all equal values; 0: there was none, and none could be made.
 * Progress  see above.
 * Order     acquire [PI2]: the caller may read the record.
 */
PFS_SKELETON uint32_t pfs_intern_with(struct pfs_intern *self, uint64_t hash,
				      const struct pfs_intern_ops *ops, void *context)
{
	uint32_t made = 0, at = (uint32_t)hash & self->mask;
	for (uint32_t tried = 0; tried <= self->mask; tried++, at = (at + 1) & self->mask) {
		/* [PI2] acquire, pairs with [PI1]: without it a record is compared, or returned,
		 * before its bytes have arrived. */
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
			/* [PI2] acquire, pairs with [PI1]: the thread that came first may have
			 * added an equal record. */
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
