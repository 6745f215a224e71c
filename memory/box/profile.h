/*
 * profile.h - the sampling heap profile in the box: the sampled blocks in use, the stacks that
 * allocated them, and everything that was sampled since the start.
 *
 * Every counted byte is equally likely to be sampled: the gaps between sampled bytes are
 * exponentially distributed with the mean `interval`. So a block of Z bytes is sampled with the
 * probability
 *	p = 1 - exp(-Z / interval)
 * and stands for 1 / p blocks and Z / p bytes. Each sample is weighted before it is added up:
 * weighting the sums afterwards would be wrong for mixed sizes.
 *
 *	stack    the calling functions, interned: equal stacks share a record
 *	context  a stack, an instrument and one life of a thread, interned; sums of its samples, all
 *	         since the start, those in use, and those in use at the peak
 *	sample   one block in use: its context, and the cell that counts it
 *
 * A sampled block's tag names its sample instead of a cell, and the sample names the cell: a free
 * finds the sample without a look-up. To the freeing thread a sample looks like a cell of another
 * thread (its owner is 0), so the free takes the slow path. Therefore the region of the samples
 * follows that of the cells, and both have `owner` at the same offset.
 *
 * Each sample has its own interval: the fewer records are free, the longer the intervals of new
 * samples are, so that the samples of a program of any size fit.
 *
 * The peak is when the samples in use stood for the most bytes (head.peak). memory/profile/peak.h
 * says how it is kept. The history of stacks is what they held at earlier moments: struct
 * pfs_box_moment.
 *
 * Stacks and contexts stay until the program ends; those that do not fit are counted as lost. All
 * are read by the optimistic protocol (layout.h).
 */
#ifndef PFS_BOX_PROFILE_H
#define PFS_BOX_PROFILE_H

#include "memory/box/layout.h"

#define PFS_PROFILE_RECORDS_MOST (1u << 24) /* of each kind */
#define PFS_STACK_FRAMES 126u
#define PFS_CELL_IS_SAMPLE UINT32_MAX /* the level of a sample; see struct pfs_cell */

/* Return addresses: frames[0] is where the program called the allocator, then its callers. The
 * files are those mapped at made_realtime_ns, see PFS_BOX_MODULES: loaded by then and not yet gone.
 * Two records with the same addresses belong to different files. */
struct pfs_box_stack {
	uint64_t made_realtime_ns;
	uint32_t depth;
	uint32_t is_cut; /* there were more callers than fit, or than could be found */
	uint64_t frames[PFS_STACK_FRAMES];
};
_Static_assert(sizeof(struct pfs_box_stack) == 1024, "whole lines");

struct pfs_box_context {
	uint32_t stack;      /* reference; 0: it found no record */
	uint32_t instrument; /* reference */
	uint64_t thread_id;  /* as in struct pfs_box_thread; 0: all threads without a record */
	uint32_t os_tid;
	/* Since the start, the next three weighted; by the thread alone, or by any if thread_id is
	 * 0. */
	_Atomic(uint32_t) unwound; /* samples whose stack was not walked (memory/profile/stack.h) */
	_Atomic(uint64_t) samples;
	_Atomic(uint64_t) objects_256ths;
	_Atomic(uint64_t) bytes;
	char thread_name[16]; /* ended by 0, as the next two; cut */
	char user_name[32];
	char host_name[32];
	/* Of its samples that were freed, weighted; by any thread. bytes - freed_bytes are in use.
	 */
	_Atomic(uint64_t) freed_bytes;
	_Atomic(uint64_t) freed_objects_256ths;
	/* The mark << PFS_SAVED_BITS | what was in use at that mark. Another mark than the last:
	 * the sums have not changed since. */
	_Atomic(uint64_t) peak_bytes;
	_Atomic(uint64_t) peak_objects_256ths;
	uint64_t more[4];
};
_Static_assert(sizeof(struct pfs_box_context) == 192, "whole lines");
#define PFS_SAVED_BITS 48u
#define PFS_SAVED_MOST ((UINT64_C(1) << PFS_SAVED_BITS) - 1)
#define PFS_MARK_MOST UINT64_C(0xFFFF) /* of head.peak.marks, modulo 1 more */

struct pfs_box_sample {
	uint64_t bytes;             /* asked for */
	uint64_t interval;          /* mean bytes between samples at that time */
	uint64_t taken_realtime_ns; /* by the coarse clock */
	uint64_t address;
	uint32_t context;                             /* reference; 0: it found no record */
	uint32_t cell;                                /* reference */
	uint64_t weight_bytes, weight_objects_256ths; /* that it stands for */
	char spare[offsetof(struct pfs_cell, owner) - 7 * sizeof(uint64_t)];
	_Atomic(uint32_t) owner; /* 0, always */
	uint32_t level;          /* PFS_CELL_IS_SAMPLE */
	uint32_t reference;      /* its own */
	_Atomic(uint32_t) next;  /* in the list of samples whose block is free, to be given back */
	_Atomic(uint32_t) is_free; /* 1: its block is free */
	char rest[256 - offsetof(struct pfs_cell, owner) - 5 * sizeof(uint32_t)];
};
_Static_assert(sizeof(struct pfs_box_sample) == 256, "a place is a multiple of 128 bytes");
_Static_assert(offsetof(struct pfs_box_sample, owner) == offsetof(struct pfs_cell, owner) &&
		       offsetof(struct pfs_box_sample, level) == offsetof(struct pfs_cell, level),
	       "a sample looks like a cell of another");

/*
 * A moment of the history of stacks: what the samples in use stood for, by stack. One is kept with
 * the first tick, and then with the first tick that is PFS_MOMENT_TICKS ticks' time or more after
 * the last moment.
 *
 * Moments thin out with age. Moment n, counted from 0, is of level l if 2^l is the largest power of
 * two that divides n; all levels from the last on are one, which moment 0 is of. A level has a ring
 * of PFS_MOMENTS_EACH. So the places of moments follow from their numbers, and nothing is ever
 * moved. For any age of m moments, one is kept that is at most m / 16 + 1 moments off, up to an age
 * of PFS_MOMENTS_OLD: 10 days, if they are a minute apart.
 *
 * head.moments is the last moment that is whole. The next one's place may be torn, and a reader
 * leaves it out, as it does the places that were written while it read.
 */
#define PFS_MOMENT_TICKS 60u
#define PFS_MOMENT_LEVELS 12u
#define PFS_MOMENTS_EACH 8u
#define PFS_MOMENTS_KEPT (PFS_MOMENT_LEVELS * PFS_MOMENTS_EACH)
#define PFS_MOMENTS_OLD ((PFS_MOMENTS_EACH - 1) << (PFS_MOMENT_LEVELS - 1))
#define PFS_MOMENT_STACKS 1020u

struct pfs_box_held {
	uint32_t stack; /* reference */
	uint32_t blocks;
	uint64_t bytes;
};

struct pfs_box_moment {
	uint64_t number; /* from 1 on; 0: none */
	uint64_t realtime_ns;
	uint64_t no_stack_bytes; /* of samples whose stack found no record */
	uint64_t others_bytes;   /* of the stacks that did not fit */
	uint64_t others_most;    /* bytes of the largest of them */
	uint32_t others;         /* how many */
	uint32_t count;          /* of stacks; those with the most bytes, in no order */
	uint64_t spare[2];
	struct pfs_box_held stacks[PFS_MOMENT_STACKS];
};
_Static_assert(sizeof(struct pfs_box_moment) == 4 * PFS_BOX_PAGE, "whole pages");

/* The place of a moment in PFS_BOX_MOMENTS, by its number. */
static inline uint32_t pfs_moment_place(uint64_t number)
{
	uint64_t n = number - 1;
	uint32_t level = n != 0 ? (uint32_t)__builtin_ctzll(n) : PFS_MOMENT_LEVELS;
	if (level >= PFS_MOMENT_LEVELS - 1) /* the last level has each multiple of its power */
		return (PFS_MOMENT_LEVELS - 1) * PFS_MOMENTS_EACH +
		       (uint32_t)(n >> (PFS_MOMENT_LEVELS - 1)) % PFS_MOMENTS_EACH;
	return level * PFS_MOMENTS_EACH + (uint32_t)(n >> (level + 1)) % PFS_MOMENTS_EACH;
}

#endif
