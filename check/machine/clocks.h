/*
 * clocks.h - happens-before of one execution: a vector clock for each thread.
 *
 * A release attaches a copy of its thread's clock to the value; an acquire that reads the value
 * joins the copy. The orders are those that the source declares, in every memory mode: a relaxed
 * load learns nothing, although the machine runs one step after another.
 *
 * Release sequences are those of C++20: they continue through read-modify-writes of any thread and
 * order, and end at a store, also at a relaxed one of the same thread. A mutex carries its clock
 * from unlock to lock. The barrier of all threads carries none (containers/barrier.h).
 */
#ifndef PFS_SIM_CLOCKS_H
#define PFS_SIM_CLOCKS_H

#include "check/machine/operation.h"
#include "check/machine/table.h"

struct pfs_clocks {
	uint32_t threads;
	uint32_t *now; /* [threads][threads] */
	uint32_t room; /* of now */
	struct pfs_scratch arena;
	/* With one value at a time (sc, tso): the clock that the value in memory carries. */
	struct pfs_hash_table locations;
	const uint32_t **carried; /* by location; NULL: none */
	uint32_t carried_room;
};

void pfs_clocks_fini(struct pfs_clocks *self);

/* Keep all that an execution changes. */
struct pfs_machine_snapshot;
void pfs_clocks_keep(struct pfs_clocks *self, struct pfs_machine_snapshot *snapshot);

/* Start with this many threads; everything before happens before all that follows. */
void pfs_clocks_begin(struct pfs_clocks *self, uint32_t threads);

static inline uint32_t *pfs_clock_of(const struct pfs_clocks *self, uint32_t thread)
{
	return self->now + (size_t)thread * self->threads;
}

/* The thread's clock for a value that it releases; its time advances. */
const uint32_t *pfs_clock_release(struct pfs_clocks *self, uint32_t thread);
/* carried NULL: the value carries none. */
void pfs_clock_acquire(struct pfs_clocks *self, uint32_t thread, const uint32_t *carried);
/* The join of both; either may be NULL. */
const uint32_t *pfs_clock_join(struct pfs_clocks *self, const uint32_t *a, const uint32_t *b);

/* The clock that the value at an address carries. */
const uint32_t *pfs_clock_carried(const struct pfs_clocks *self, const void *address);
void pfs_clock_carry(struct pfs_clocks *self, const void *address, const uint32_t *clock);

static inline bool pfs_order_acquires(uint8_t order)
{
	return order == PFS_SIM_ACQUIRE || order == PFS_SIM_ACQ_REL || order == PFS_SIM_SEQ;
}

static inline bool pfs_order_releases(uint8_t order)
{
	return order == PFS_SIM_RELEASE || order == PFS_SIM_ACQ_REL || order == PFS_SIM_SEQ;
}

/* Does the operation read the value that it replaces? */
static inline bool pfs_kind_is_rmw(uint8_t kind)
{
	return kind == PFS_SIM_CAS || kind == PFS_SIM_EXCHANGE || kind == PFS_SIM_ADD ||
	       kind == PFS_SIM_OR || kind == PFS_SIM_XOR || kind == PFS_SIM_NAND ||
	       kind == PFS_SIM_AND || kind == PFS_SIM_LOCK || kind == PFS_SIM_TRY_LOCK;
}

/* The order of an executed operation. A compare-and-swap that failed is a load with its failure
 * order, a failed try-lock a relaxed load. A mutex acquires and releases, no more; with relaxed
 * operations it only excludes, and orders nothing. */
static inline uint8_t pfs_order_of(const struct pfs_sim_operation *operation, bool wrote)
{
	if (!wrote && pfs_kind_is_rmw(operation->kind))
		return operation->failure;
	if (operation->order == PFS_SIM_RELAXED)
		return PFS_SIM_RELAXED;
	if (operation->kind == PFS_SIM_LOCK || operation->kind == PFS_SIM_TRY_LOCK)
		return PFS_SIM_ACQUIRE;
	return operation->kind == PFS_SIM_UNLOCK ? (uint8_t)PFS_SIM_RELEASE : operation->order;
}

#endif
