/*
 * ranges.h - a bounded table of address ranges that do not overlap, in order, each with whose it
 * is. Neighbours of the same owner are one.
 */
#ifndef PFS_PRELOAD_RANGES_H
#define PFS_PRELOAD_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_range {
	uintptr_t begin, end;
	uint32_t whose;
};

struct pfs_ranges {
	struct pfs_range *range; /* [max] */
	uint32_t count, max;
	uint64_t lost; /* ranges that found no room, in whole or in part */
};

/* The first range that ends above an address; count: none. */
uint32_t pfs_ranges_find(const struct pfs_ranges *self, uintptr_t address);

/* Nobody's from now on. */
void pfs_ranges_cut(struct pfs_ranges *self, uintptr_t begin, uintptr_t end);

/* Somebody's from now on. */
void pfs_ranges_add(struct pfs_ranges *self, uintptr_t begin, uintptr_t end, uint32_t whose);

#endif
