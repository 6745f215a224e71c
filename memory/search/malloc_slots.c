/*
 * malloc_slots.c - slot_memory.h on the simulated machine: slots stay mapped.
 */
#include "memory/malloc/base.h"
#include "memory/malloc/slot_memory.h"

static struct pfs_base_pool pools[PFS_SLOT_SIZES];

void *pfs_slot_memory_new(uint32_t size, uint32_t bytes)
{
	return pfs_base_new(&pools[size], bytes);
}

void pfs_slot_memory_free(void *piece, uint32_t size, uint32_t bytes)
{
	(void)bytes;
	pfs_base_free(&pools[size], piece);
}

bool pfs_slot_memory_purge(void)
{
	return false;
}
