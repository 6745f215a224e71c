/*
 * profile.h - the sampling heap profile in the box: which blocks were sampled and are in use, from
 * where they were allocated, and what was sampled since the beginning.
 *
 * Every byte that is counted is equally likely to be sampled: the gaps between sampled bytes are
 * exponential with the mean `interval`, so a block of Z bytes is sampled with the probability
 *	p = 1 - exp(-Z / interval)
 * and stands for 1 / p blocks and Z / p bytes. Each sample is so weighted, and then they are added
 * up: sums that are weighted afterwards are wrong where sizes are mixed.
 *
 *	stack    from where, interned: two that are equal are one
 *	context  a stack, an instrument, and one life of a thread, interned; what was sampled in it
 *	sample   one block in use: its context and the cell that it is counted in
 *
 * A sampled block's tag names its sample in the place of a cell, and the sample the cell: so its
 * free meets it without a look-up. To whoever frees it a sample looks like a cell that is another's
 * (its owner is 0), which is the slow way. For that the region of the samples lies behind the
 * cells', and the owner of both at one offset.
 *
 * Stacks and contexts stay until the program ends; what finds no room is counted as lost. All are
 * read by the optimistic protocol (layout.h).
 */
#ifndef PFS_BOX_PROFILE_H
#define PFS_BOX_PROFILE_H

#include "memory/box/layout.h"

#define PFS_STACK_FRAMES 62u
#define PFS_CELL_IS_SAMPLE UINT32_MAX /* level of a sample; see struct pfs_cell */

/* frames[0] is where the program called the allocator; return addresses, the caller's caller next.
 * Addresses are as they were mapped then: PFS_BOX_MODULES says by which file, which was loaded by
 * made_realtime_ns, and had not gone. Two stacks of the same addresses are of other files. */
struct pfs_box_stack {
	uint64_t made_realtime_ns;
	uint32_t depth;
	uint32_t is_cut; /* more callers than there is room for, or than could be found */
	uint64_t frames[PFS_STACK_FRAMES];
};
_Static_assert(sizeof(struct pfs_box_stack) == 512, "whole lines");

struct pfs_box_context {
	uint32_t stack;      /* reference; 0: it found no record */
	uint32_t instrument; /* reference */
	uint64_t thread_id;  /* as in struct pfs_box_thread; 0: of all that found no record */
	uint32_t os_tid;
	uint32_t spare;
	/* Since the beginning; weighted. Anybody's of thread_id 0, else the thread's own. */
	_Atomic(uint64_t) samples;
	_Atomic(uint64_t) objects_256ths;
	_Atomic(uint64_t) bytes;
	char thread_name[16]; /* ended by 0, as the next two; cut */
	char user_name[32];
	char host_name[32];
};
_Static_assert(sizeof(struct pfs_box_context) == 128, "whole lines");

struct pfs_box_sample {
	uint64_t bytes;             /* asked for */
	uint64_t interval;          /* mean bytes between samples, then */
	uint64_t taken_realtime_ns; /* by the coarse clock */
	uint64_t address;
	uint32_t context; /* reference; 0: it found no record */
	uint32_t cell;    /* reference */
	char spare[offsetof(struct pfs_cell, owner) - 5 * sizeof(uint64_t)];
	_Atomic(uint32_t) owner; /* 0, always */
	uint32_t level;          /* PFS_CELL_IS_SAMPLE */
	uint32_t reference;      /* its own */
	_Atomic(uint32_t) next;  /* of those whose block is free, and that wait to be given back */
	char rest[256 - offsetof(struct pfs_cell, owner) - 4 * sizeof(uint32_t)];
};
_Static_assert(sizeof(struct pfs_box_sample) == 256, "a place is a multiple of 128 bytes");
_Static_assert(offsetof(struct pfs_box_sample, owner) == offsetof(struct pfs_cell, owner) &&
		       offsetof(struct pfs_box_sample, level) == offsetof(struct pfs_cell, level),
	       "a sample looks like a cell of another");

#endif
