/*
 * guard.c - the pool of guarded blocks.
 */
#include "guard.h"

#include <pthread.h>
#include <string.h>

#include "apart.h"
#include "base/random.h"
#include "conf.h"
#include "map.h"
#include "system.h"

#define PITCH (PFS_GUARD_BYTES_MOST + PFS_OS_PAGE)
#define SLOTS_MOST 16384u /* a living block is a mapping more, of at most 65530 by default */
#define AT_BEGIN_OF 4u    /* one of that many blocks is at its slot's beginning */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	_Atomic(uintptr_t)
		base; /* 0: not reserved. Its bytes and slots are written before; [GU5] */
	size_t bytes;
	struct pfs_guard_slot *slots;
	uint32_t count;
	_Atomic(uint32_t) used; /* slots that were ever used, the first ones; under lock */
	struct pfs_guard_slot *oldest, *newest; /* freed; under lock */
	uint64_t random;                        /* under lock */
	bool is_refused;                        /* no memory for it; under lock */
	_Atomic(uint32_t) is_stopped;
} pool;

char *pfs_guard_begin(const struct pfs_guard_slot *slot)
{
	/* relaxed: the slot exists, so the pool does. NOLINTNEXTLINE: addresses are numbers here */
	char *base = (char *)pfs_load_relaxed(&pool.base);
	return base + PFS_OS_PAGE + (size_t)(slot - pool.slots) * PITCH;
}

/* ---- slots ---- */

static uint32_t slot_count(void)
{
	uint64_t most = pfs_apart_part_bytes() / PITCH;
	if (most > SLOTS_MOST)
		most = SLOTS_MOST;
	return pfs_conf.guard_slots < most ? pfs_conf.guard_slots : (uint32_t)most;
}

/* Under lock. */
static bool reserve(void)
{
	uint32_t count = slot_count();
	size_t bytes = PFS_OS_PAGE + count * PITCH;
	if (pool.is_refused || count == 0)
		return false;
	char *pages = pfs_system_reserve_closed(bytes);
	size_t slots_bytes = count * sizeof(*pool.slots);
	pool.slots = pages != NULL ? pfs_apart_new(slots_bytes + PFS_GUARD_SCRATCH_BYTES) : NULL;
	pool.is_refused = pool.slots == NULL || !pfs_map_reserve(pages, bytes);
	if (pool.is_refused && pages != NULL)
		pfs_system_unmap(pages, bytes);
	if (pool.is_refused)
		return false;
	pool.count = count;
	pool.bytes = bytes;
	pool.random = pfs_random_seed((uintptr_t)pages, pfs_system_now());
	pfs_store_release(&pool.base, (uintptr_t)pages); /* [GU5] release, pairs with [GU4] */
	return true;
}

struct pfs_guard_slot *pfs_guard_take(bool *is_first, bool *is_at_begin)
{
	struct pfs_guard_slot *slot = NULL;
	(void)pthread_mutex_lock(&lock);
	/* relaxed, like all below: under lock, except is_stopped, which may be seen late. */
	*is_first = pfs_load_relaxed(&pool.base) == 0;
	if ((*is_first && !reserve()) || pfs_load_relaxed(&pool.is_stopped) != 0) {
		*is_first = false;
	} else if (pfs_load_relaxed(&pool.used) < pool.count) {   /* relaxed: so */
		slot = &pool.slots[pfs_load_relaxed(&pool.used)]; /* relaxed: so */
		pfs_map_set_all((uintptr_t)pfs_guard_begin(slot), PFS_GUARD_BYTES_MOST,
				&slot->extent, 0);
		(void)pfs_fetch_add_relaxed(&pool.used, 1); /* relaxed: so */
	} else if (pool.oldest != NULL) {
		slot = pool.oldest;
		pool.oldest = slot->next;
	}
	*is_at_begin = pfs_random_below(&pool.random, AT_BEGIN_OF) == 0;
	(void)pthread_mutex_unlock(&lock);
	return slot;
}

void pfs_guard_give(struct pfs_guard_slot *slot)
{
	(void)pthread_mutex_lock(&lock);
	slot->next = NULL;
	if (pool.oldest != NULL)
		pool.newest->next = slot;
	else
		pool.oldest = slot;
	pool.newest = slot;
	(void)pthread_mutex_unlock(&lock);
}

/* ---- what others ask ---- */

struct pfs_extent *pfs_guard_next(struct pfs_extent *before)
{
	uint32_t used =
		pfs_load_relaxed(&pool.used); /* relaxed: a slot that is new may be missed */
	struct pfs_guard_slot *next = before != NULL ? pfs_guard_slot_of(before) + 1 : pool.slots;
	return used != 0 && next < pool.slots + used ? &next->extent : NULL;
}

/* How far an address is from the last block of a slot. */
static size_t distance(const struct pfs_guard_slot *slot, uintptr_t address)
{
	uintptr_t block = slot->extent.base, end = block + slot->extent.request_bytes;
	if (address < block)
		return block - address;
	return address >= end ? address - end + 1 : 0;
}

bool pfs_guard_find(uintptr_t address, struct pfs_guard_found *found)
{
	/* [GU4] acquire, pairs with [GU5]. */
	uintptr_t base = pfs_load_acquire(&pool.base);
	uint32_t used = pfs_load_relaxed(&pool.used); /* relaxed: as in next */
	if (base == 0 || used == 0 || address - base >= pool.bytes)
		return false;
	size_t number = address - base < PFS_OS_PAGE ? 0 : (address - base - PFS_OS_PAGE) / PITCH;
	bool is_between = address >=
			  (uintptr_t)pfs_guard_begin(&pool.slots[number]) + PFS_GUARD_BYTES_MOST;
	struct pfs_guard_slot *slot = number < used ? &pool.slots[number] : NULL;
	struct pfs_guard_slot *next = is_between && number + 1 < used ? &pool.slots[number + 1]
								      : NULL;
	if (slot == NULL || (next != NULL && distance(next, address) < distance(slot, address)))
		slot = next;
	if (slot == NULL || slot->extent.base == 0)
		return false;
	/* [GU4] acquire, pairs with [GU5]. */
	bool is_freed = pfs_load_acquire(&slot->is_freed) != 0;
	*found = (struct pfs_guard_found){ slot->extent.base, slot->extent.request_bytes, is_freed,
					   &slot->allocated, &slot->freed };
	return true;
}

bool pfs_guard_was(uintptr_t address)
{
	struct pfs_guard_found found;
	return pfs_guard_find(address, &found) && found.block == address && found.is_freed;
}

char *pfs_guard_scratch(void)
{
	return (char *)(pool.slots + pool.count);
}

void pfs_guard_stop(void)
{
	pfs_store_relaxed(&pool.is_stopped, 1); /* relaxed: may be seen late */
}

void pfs_guard_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void pfs_guard_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}
