/*
 * slots.c - the slots of rings: arrays that grow by doubling. The front comes first, then the place
 * of [CR3], then the back.
 */
#include <string.h>

#include "arena.h"
#include "conf.h"
#include "rings.h"
#include "slot_memory.h"

#define SHARE_LEAST 64u
#define FRONT_BYTES ((uint32_t)16 << 10) /* of blocks */

/* Sizes of slots: for a back of 8 to 1024, and its front. */
static uint32_t size_of(uint32_t capacity)
{
	uint32_t size = 0;
	while ((PFS_RING_CAPACITY_LEAST << size) < capacity)
		size++;
	return size;
}

static uint32_t slot_bytes_of(uint32_t capacity)
{
	uint32_t back = PFS_RING_CAPACITY_LEAST << size_of(capacity);
	uint32_t front = back < PFS_FRONT_MOST ? back : PFS_FRONT_MOST;
	return (front + 1 + back) * (uint32_t)sizeof(void *);
}

/* For front and back together. */
static uint32_t entries_most(uint32_t class)
{
	uint32_t by_bytes = pfs_conf.ring_bytes_max / pfs_classes[class].size_bytes;
	return by_bytes < pfs_conf.ring_entries_max ? by_bytes : pfs_conf.ring_entries_max;
}

static uint32_t front_most(uint32_t class)
{
	uint32_t most = FRONT_BYTES / pfs_classes[class].size_bytes;
	uint32_t half = entries_most(class) / 2;
	most = most < 2 ? 2 : most < PFS_FRONT_MOST ? most : PFS_FRONT_MOST;
	most = most < half ? most : half;
	most -= most > PFS_SLOTS_TOGETHER ? most % PFS_SLOTS_TOGETHER : 0;
	return most != 0 ? most : 1;
}

uint32_t pfs_ring_capacity_most(const struct pfs_cache *cache, uint32_t class)
{
	uint32_t most = entries_most(class);
	uint32_t front = front_most(class);
	uint32_t slots_most = PFS_RING_CAPACITY_LEAST << (PFS_SLOT_SIZES - 1);
	uint32_t threads = pfs_load_relaxed(&cache->arena->threads); /* relaxed: a guess */
	uint32_t share = pfs_classes[class].regions / (threads != 0 ? threads : 1);
	share = share > SHARE_LEAST ? share : SHARE_LEAST;
	most = most > front ? most - front : 1;
	most = most < share ? most : share;
	return most < slots_most ? most : slots_most;
}

static void count_slots(struct pfs_cache *cache, uint32_t more)
{
	/* relaxed: under the registry; its owner reads it without. */
	(void)pfs_fetch_add_relaxed(&cache->slot_bytes, more);
}

static void free_slots(struct pfs_cache *cache, struct pfs_cache_ring *ring)
{
	uint32_t bytes = slot_bytes_of(ring->capacity);
	pfs_slot_memory_free(ring->slots, size_of(ring->capacity), bytes);
	count_slots(cache, -bytes);
}

bool pfs_ring_resize(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t capacity)
{
	uint32_t bytes = slot_bytes_of(capacity);
	void **slots = pfs_slot_memory_new(size_of(capacity), bytes);
	if (slots == NULL)
		return false;
	uint32_t most = front_most((uint32_t)(ring - cache->rings));
	uint32_t front_capacity = most < capacity ? most : capacity;
	uint32_t front = ring->slots != NULL ? pfs_ring_front_count(ring) : 0;
	uint32_t back = ring->slots != NULL ? pfs_ring_back_count(ring) : 0;
	slots[front_capacity] = NULL; /* [CR3] */
	if (ring->slots != NULL) {
		memcpy(slots, ring->slots, front * sizeof(*slots));
		memcpy(slots + front_capacity + 1, pfs_ring_back_slots(ring),
		       back * sizeof(*slots));
		free_slots(cache, ring);
	}
	ring->slots = slots;
	ring->capacity = (uint16_t)capacity;
	ring->front_capacity = (uint8_t)front_capacity;
	count_slots(cache, bytes);
	pfs_ring_set_front(ring, front);
	pfs_ring_set_back(ring, back);
	pfs_ring_set_limits(ring);
	return true;
}

void pfs_ring_drop_slots(struct pfs_cache *cache, struct pfs_cache_ring *ring)
{
	if (ring->slots == NULL)
		return;
	free_slots(cache, ring);
	ring->slots = NULL;
	ring->capacity = 0;
	ring->front_capacity = 0;
}
