/*
 * slots.c - where the blocks of a ring stand: arrays that grow by doubling, with one place below
 * the lowest [R3].
 */
#include <string.h>

#include "conf.h"
#include "rings.h"

#define SLOTS_LEAST (PFS_RING_CAPACITY_LEAST + 1u)
#define SLOT_POOLS 8u /* 8 .. 1024 */

static struct pfs_pool slot_pools[SLOT_POOLS]; /* under the registry */

static uint32_t pool_of(uint32_t capacity)
{
	uint32_t pool = 0;
	while ((SLOTS_LEAST << pool) <= capacity)
		pool++;
	return pool;
}

static uint32_t slot_bytes_of(uint32_t capacity)
{
	return (SLOTS_LEAST << pool_of(capacity)) * (uint32_t)sizeof(void *);
}

uint32_t pfs_ring_capacity_most(uint32_t class)
{
	uint32_t by_bytes = pfs_conf.ring_bytes_max / pfs_classes[class].size_bytes;
	uint32_t most = by_bytes < pfs_conf.ring_entries_max ? by_bytes
							     : pfs_conf.ring_entries_max;
	uint32_t pools_most = (SLOTS_LEAST << (SLOT_POOLS - 1)) - 1;
	if (most > pools_most)
		most = pools_most;
	return most != 0 ? most : 1;
}

static void count_slots(struct pfs_cache *cache, uint32_t more)
{
	/* relaxed: under the registry; its owner looks at it without. */
	(void)pfs_fetch_add_relaxed(&cache->slot_bytes, more);
}

bool pfs_ring_resize(struct pfs_cache *cache, struct pfs_ring *ring, uint32_t capacity,
		   uint32_t held)
{
	uint32_t bytes = slot_bytes_of(capacity);
	void **slots = pfs_base_new(&slot_pools[pool_of(capacity)], bytes);
	if (slots == NULL)
		return false;
	slots[0] = NULL; /* [R3] */
	if (held != 0)
		memcpy(slots + 1, ring->slots, held * sizeof(*slots));
	if (ring->slots != NULL) {
		pfs_base_free(&slot_pools[pool_of(ring->capacity)], ring->slots - 1);
		count_slots(cache, -slot_bytes_of(ring->capacity));
	}
	ring->slots = slots + 1;
	ring->capacity = (uint16_t)capacity;
	count_slots(cache, bytes);
	pfs_ring_set_top(ring, held);
	pfs_ring_set_limits(ring);
	return true;
}

void pfs_ring_drop_slots(struct pfs_cache *cache, struct pfs_ring *ring)
{
	if (ring->slots == NULL)
		return;
	pfs_base_free(&slot_pools[pool_of(ring->capacity)], ring->slots - 1);
	count_slots(cache, -slot_bytes_of(ring->capacity));
	ring->slots = NULL;
	ring->capacity = 0;
}
