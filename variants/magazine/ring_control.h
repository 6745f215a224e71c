/*
 * ring_control.h - the control word of a ring: {state, from, to}; see magazine.h.
 *
 * Invariant: none of its own.
 * Ordering:  none of its own.
 * Source:    our own.
 */
#ifndef PFS_RING_CONTROL_H
#define PFS_RING_CONTROL_H

#include "magazine.h"

/* {state, from, to} in one word; positions by their low 31 bits, far more than a ring needs. */
#define PFS_POSITION_BITS 31u
#define PFS_POSITION_MASK ((UINT64_C(1) << PFS_POSITION_BITS) - 1)

static inline uint64_t pfs_control_of(enum pfs_control state, uint64_t from, uint64_t to)
{
	return (uint64_t)state | (from & PFS_POSITION_MASK) << 2 |
	       (to & PFS_POSITION_MASK) << (2 + PFS_POSITION_BITS);
}

static inline enum pfs_control pfs_control_state(uint64_t control)
{
	return (enum pfs_control)(control & PFS_CONTROL_STATE_MASK);
}

/* The position with these low bits that is nearest to `near`, which is at most a ring away. */
static inline uint64_t pfs_position_near(uint64_t near, uint64_t low_bits)
{
	uint64_t distance = (low_bits - near) & PFS_POSITION_MASK;
	if (distance > PFS_POSITION_MASK / 2)
		return near - (PFS_POSITION_MASK + 1 - distance);
	return near + distance;
}

static inline uint64_t pfs_control_from(uint64_t control, uint64_t near)
{
	return pfs_position_near(near, control >> 2);
}

static inline uint64_t pfs_control_to(uint64_t control, uint64_t near)
{
	return pfs_position_near(near, control >> (2 + PFS_POSITION_BITS));
}

#endif
