/*
 * ranges.h - a bounded, sorted table of disjoint address ranges, each with an owner; it can
 * keep each owner's sums. Adjacent ranges of the same owner are merged.
 */
#ifndef PFS_PRELOAD_RANGES_H
#define PFS_PRELOAD_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_range {
	uintptr_t begin, end;
	uint32_t whose;
};

struct pfs_range_sum {
	uint64_t ranges, bytes;
};

struct pfs_ranges {
	struct pfs_range *range;    /* [max] */
	struct pfs_range_sum *sums; /* by owner; NULL: none are kept */
	uint32_t count, max;
	uint64_t lost; /* ranges that did not fit, in whole or in part */
};

/* The index of the first range that ends above an address; count: none. */
uint32_t pfs_ranges_find(const struct pfs_ranges *self, uintptr_t address);

/* Removes an address range from the table. */
void pfs_ranges_cut(struct pfs_ranges *self, uintptr_t begin, uintptr_t end);

/* Adds an address range, or changes its owner. */
void pfs_ranges_add(struct pfs_ranges *self, uintptr_t begin, uintptr_t end, uint32_t whose);

#endif
