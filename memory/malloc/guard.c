/*
 * guard.c - the pool of guarded blocks.
 */
#include "guard.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "arena.h"
#include "base/random.h"
#include "cache.h"
#include "catch.h"
#include "corruption.h"
#include "die.h"
#include "map.h"
#include "start.h"
#include "system.h"

#define PITCH (PFS_GUARD_BYTES_MOST + PFS_OS_PAGE)
#define SLOTS_MOST 16384u /* a living block is a mapping more, of at most 65530 by default */
#define LIMIT_PART 64u    /* the pool's part of a limited address space */
#define PATTERN 0xB7
#define AT_BEGIN_OF 4u /* one of that many blocks is at its slot's beginning */

struct slot {
	struct pfs_extent extent; /* first; [GU1] */
	uint32_t tag;
	_Atomic(uint32_t) is_freed; /* the block; [GU4] [GU5] */
	struct slot *next;          /* in the list of freed ones; under lock */
	char *pages;                /* of the block; [GU2], like all below */
	size_t page_bytes;
	struct pfs_trace allocated, freed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	_Atomic(uintptr_t)
		base; /* 0: not reserved. Its bytes and slots are written before; [GU5] */
	size_t bytes;
	struct slot *slots;
	uint32_t count;
	_Atomic(uint32_t) used;       /* slots that were ever used, the first ones; under lock */
	struct slot *oldest, *newest; /* freed; under lock */
	uint64_t random;              /* under lock */
	bool is_refused;              /* no memory for it; under lock */
	_Atomic(uint32_t) is_stopped;
} pool;

static struct slot *slot_of(struct pfs_extent *extent)
{
	return (struct slot *)(void *)extent;
}

static char *begin_of(const struct slot *slot)
{
	/* relaxed: the slot exists, so the pool does. NOLINTNEXTLINE: addresses are numbers here */
	char *base = (char *)pfs_load_relaxed(&pool.base);
	return base + PFS_OS_PAGE + (size_t)(slot - pool.slots) * PITCH;
}

/* ---- slots ---- */

static uint32_t slot_count(void)
{
	struct rlimit limit;
	uint64_t most = SLOTS_MOST;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / LIMIT_PART / PITCH < most)
		most = limit.rlim_cur / LIMIT_PART / PITCH;
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
	pool.slots = pages != NULL ? pfs_system_reserve(slots_bytes + PFS_GUARD_SCRATCH_BYTES)
				   : NULL;
	pool.is_refused = pool.slots == NULL || !pfs_map_reserve(pages, bytes);
	if (pool.is_refused)
		return false;
	pool.count = count;
	pool.bytes = bytes;
	pool.random = pfs_random_seed((uintptr_t)pages, pfs_system_now());
	pfs_store_release(&pool.base, (uintptr_t)pages); /* [GU5] release, pairs with [GU4] */
	return true;
}

/* A slot that no block uses, the one that was freed first; NULL: there is none. */
static struct slot *take(bool *is_first, bool *is_at_begin)
{
	struct slot *slot = NULL;
	(void)pthread_mutex_lock(&lock);
	/* relaxed, like all below: under lock, except is_stopped, which may be seen late. */
	*is_first = pfs_load_relaxed(&pool.base) == 0;
	if ((*is_first && !reserve()) || pfs_load_relaxed(&pool.is_stopped) != 0) {
		*is_first = false;
	} else if (pfs_load_relaxed(&pool.used) < pool.count) {   /* relaxed: so */
		slot = &pool.slots[pfs_load_relaxed(&pool.used)]; /* relaxed: so */
		pfs_map_set_all((uintptr_t)begin_of(slot), PFS_GUARD_BYTES_MOST, &slot->extent, 0);
		(void)pfs_fetch_add_relaxed(&pool.used, 1); /* relaxed: so */
	} else if (pool.oldest != NULL) {
		slot = pool.oldest;
		pool.oldest = slot->next;
	}
	*is_at_begin = pfs_random_below(&pool.random, AT_BEGIN_OF) == 0;
	(void)pthread_mutex_unlock(&lock);
	return slot;
}

static void give(struct slot *slot)
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

/* ---- blocks ---- */

static void place(struct slot *slot, size_t size_bytes, size_t align_bytes, bool is_at_begin)
{
	size_t least = size_bytes <= 8 ? 8 : 16, align = align_bytes > least ? align_bytes : least;
	size_t rounded = (size_bytes + align - 1) & ~(align - 1);
	char *begin = begin_of(slot);
	slot->page_bytes = (rounded + PFS_OS_PAGE - 1) & ~(size_t)(PFS_OS_PAGE - 1);
	slot->pages = is_at_begin ? begin : begin + PFS_GUARD_BYTES_MOST - slot->page_bytes;
	slot->extent.base = (uintptr_t)(is_at_begin ? begin
						    : begin + PFS_GUARD_BYTES_MOST - rounded);
	slot->extent.request_bytes = size_bytes;
	slot->extent.tags = pfs_conf.tags ? &slot->tag : NULL;
	slot->tag = 0;
}

/* What is left of the pages, before and behind the block. */
struct rests {
	unsigned char *before, *behind;
	size_t before_bytes, behind_bytes;
};
static struct rests rests_of(const struct slot *slot)
{
	unsigned char *pages = (unsigned char *)slot->pages;
	unsigned char *block = (unsigned char *)slot->extent.base; /* NOLINT: as above */
	unsigned char *end = block + slot->extent.request_bytes;
	return (struct rests){ pages, end, (size_t)(block - pages),
			       (size_t)(pages + slot->page_bytes - end) };
}

/* The first byte behind the block that was written, or the last before it; else NULL. */
static const unsigned char *written(const struct rests *rests)
{
	for (size_t i = 0; i < rests->behind_bytes; i++)
		if (rests->behind[i] != PATTERN)
			return &rests->behind[i];
	for (size_t i = rests->before_bytes; i-- > 0;)
		if (rests->before[i] != PATTERN)
			return &rests->before[i];
	return NULL;
}

void *pfs_guard_new(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes)
{
	bool is_first, is_at_begin;
	if (size_bytes > PFS_GUARD_BYTES_MOST || align_bytes > PFS_OS_PAGE)
		return NULL;
	struct slot *slot = take(&is_first, &is_at_begin);
	if (slot == NULL)
		return NULL;
	if (is_first) {
		pfs_start_handlers();
		pfs_catch_begin();
	}
	/* relaxed: the slot is this thread's [GU2], and [GU5] carries it. */
	pfs_store_relaxed(&slot->extent.kind, PFS_EXTENT_HELD);
	pfs_store_relaxed(&slot->extent.arena, arena); /* relaxed: as above */
	place(slot, size_bytes != 0 ? size_bytes : 1, align_bytes, is_at_begin);
	if (!pfs_system_open(slot->pages, slot->page_bytes)) {
		give(slot);
		return NULL;
	}
	struct rests rests = rests_of(slot);
	memset(rests.before, PATTERN, rests.before_bytes);
	memset(rests.behind, PATTERN, rests.behind_bytes);
	slot->freed.thread_id = 0;
	pfs_store_relaxed(&slot->is_freed, 0); /* relaxed: as above */
	pfs_trace_take(&slot->allocated, 0);
	pfs_extents_count_guarded(&arena->extents, 0, slot->extent.request_bytes);
	pfs_cache_note_new(pfs_cache_own, slot->extent.request_bytes);
	/* [GU5] release, pairs with [GU4]: without it the thread that frees the block could see an
	 * old record of the slot. */
	pfs_store_release(&slot->extent.kind, PFS_EXTENT_GUARDED);
	return (void *)slot->extent.base; /* NOLINT: addresses are numbers here */
}

void pfs_guard_free(struct pfs_extent *extent, const char *call)
{
	struct slot *slot = slot_of(extent);
	uint32_t kind = PFS_EXTENT_GUARDED;
	/* [GU4] acq_rel, pairs with [GU5]: without it see there. */
	if (!pfs_cas_acq_rel(&extent->kind, &kind, PFS_EXTENT_HELD))
		pfs_die(call, (void *)extent->base, PFS_IS_FREE); /* NOLINT: as above */
	struct rests rests = rests_of(slot);
	const unsigned char *at = written(&rests);
	if (at != NULL)
		pfs_corruption_written((uintptr_t)at, call);
	size_t bytes = extent->request_bytes;
	pfs_trace_take(&slot->freed, 0);
	/* [GU5] release, pairs with [GU4]: for a handler that finds the slot freed. */
	pfs_store_release(&slot->is_freed, 1);
	pfs_system_close(slot->pages, slot->page_bytes);
	pfs_extents_count_guarded(&pfs_extent_arena(extent)->extents, bytes, 0);
	pfs_cache_note_freed(pfs_cache_attached(), bytes);
	give(slot);
}

/* ---- what others ask ---- */

struct pfs_extent *pfs_guard_next(struct pfs_extent *before)
{
	uint32_t used =
		pfs_load_relaxed(&pool.used); /* relaxed: a slot that is new may be missed */
	struct slot *next = before != NULL ? slot_of(before) + 1 : pool.slots;
	return used != 0 && next < pool.slots + used ? &next->extent : NULL;
}

/* How far an address is from the last block of a slot. */
static size_t distance(const struct slot *slot, uintptr_t address)
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
			  (uintptr_t)begin_of(&pool.slots[number]) + PFS_GUARD_BYTES_MOST;
	const struct slot *slot = number < used ? &pool.slots[number] : NULL;
	const struct slot *next = is_between && number + 1 < used ? &pool.slots[number + 1] : NULL;
	if (slot == NULL || (next != NULL && distance(next, address) < distance(slot, address)))
		slot = next;
	if (slot == NULL || slot->extent.base == 0)
		return false;
	/* [GU4] acquire, pairs with [GU5]. */
	bool is_freed = pfs_load_acquire(&((struct slot *)(uintptr_t)slot)->is_freed) != 0;
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
