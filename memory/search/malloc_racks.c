/*
 * malloc_racks.c - rack.h on the simulated machine: no large block is freed there.
 */
#include "memory/malloc/rack.h"

bool pfs_rack_tick(struct pfs_cache *cache)
{
	(void)cache;
	return false;
}

uint64_t pfs_rack_empty(struct pfs_cache *cache)
{
	(void)cache;
	return 0;
}

void pfs_rack_settle(struct pfs_cache *cache)
{
	(void)cache;
}

void pfs_rack_end(struct pfs_cache *cache)
{
	(void)cache;
}

void pfs_rack_count(struct pfs_cache_counts *counts, struct pfs_cache *cache)
{
	(void)counts, (void)cache;
}

void pfs_racks_take_back(struct pfs_arena *arena, bool spares)
{
	(void)arena, (void)spares;
}
