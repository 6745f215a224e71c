/*
 * pools.c - give each pool of threads an arena of its own, created when its first thread begins. So
 * the arena has only what the pool allocated, and the pool shares no page. The main thread uses the
 * first arena. Threads of pools that do not fit use the allocator's default arenas.
 *
 * Ordering:  [PL9] pool_count: store, release  <->  [PL10] pool_count: load, acquire
 *            carries: the pool's name and arena
 */
#include "pools.h"

#include <string.h>

#include <pfslab/malloc.h>

#include "containers/mutex.h"
#include "memory/malloc/cache.h"
#include "memory/malloc/stats.h"

#define POOLS_MOST (PFS_BOX_TICK_ARENAS - 2) /* not the first arena, and the sum of others */

static struct pool {
	char name[PFS_BOX_POOL_BYTES];
	struct pfs_arena *arena;
} pools[POOLS_MOST]; /* written once each, under lock */
static _Atomic(uint32_t) pool_count;
static struct pfs_mutex lock; /* initialized by pfs_pools_start */
static bool is_on;            /* written once */
static char program[PFS_BOX_POOL_BYTES];

bool pfs_pools_start(const char *option, const char *name)
{
	pfs_mutex_init(&lock);
	strncpy(program, name, sizeof(program) - 1);
	if (option == NULL || option[0] == '\0')
		return true;
	is_on = strcmp(option, "pool") == 0;
	return is_on;
}

void pfs_pools_lock(void)
{
	pfs_mutex_lock(&lock);
}

void pfs_pools_unlock(void)
{
	pfs_mutex_unlock(&lock);
}

/* ---- a pool's arena ---- */

/* Among the first count pools. */
static struct pool *find(const char *name, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(pools[i].name, name) == 0)
			return &pools[i];
	return NULL;
}

static void make(const char *name)
{
	pfs_mutex_lock(&lock);
	uint32_t count = pfs_load_relaxed(&pool_count); /* relaxed: written under lock */
	if (count < POOLS_MOST && find(name, count) == NULL) {
		struct pfs_arena *arena = pfs_arena_create();
		if (arena != NULL) {
			strncpy(pools[count].name, name, sizeof(pools[count].name) - 1);
			pools[count].arena = arena;
			/* [PL9] release, pairs with [PL10]: without it another thread of the pool
			 * could find a name and no arena. */
			pfs_store_release(&pool_count, count + 1);
		}
	}
	pfs_mutex_unlock(&lock);
}

void pfs_pools_join(const char *name)
{
	if (!is_on)
		return;
	/* [PL10] acquire, pairs with [PL9] */
	const struct pool *pool = find(name, pfs_load_acquire(&pool_count));
	if (pool == NULL) {
		make(name);
		/* [PL10] acquire, pairs with [PL9] */
		pool = find(name, pfs_load_acquire(&pool_count));
	}
	if (pool != NULL)
		pfs_cache_bind(pool->arena);
}

/* Returns PFS_BOX_POOL_BYTES; NULL: no pool. */
static const char *pool_of(uint32_t arena)
{
	uint32_t count = pfs_load_acquire(&pool_count); /* [PL10] acquire, pairs with [PL9] */
	for (uint32_t i = 0; i < count; i++)
		if (pools[i].arena->number == arena)
			return pools[i].name;
	return is_on && arena == 0 ? program : NULL;
}

/* ---- the arenas' numbers ---- */

static const char others[PFS_BOX_POOL_BYTES] = "(others)";
static struct pfs_box_arena *into; /* under the desk: PFS_BOX_TICK_ARENAS of them */

/* Called under the allocator's lock of ticks: it must not allocate. */
static void note(uint32_t number, const struct pfs_arena_counts *counts)
{
	uint32_t at = 0;
	if (counts->mapped == 0 && counts->threads == 0)
		return;
	while (at < PFS_BOX_TICK_ARENAS - 1 && into[at].reference != 0)
		at++;
	struct pfs_box_arena *one = &into[at];
	bool is_one_of_many = at == PFS_BOX_TICK_ARENAS - 1;
	const char *pool = is_one_of_many ? others : pool_of(number);
	one->reference = is_one_of_many ? PFS_BOX_ARENA_OTHERS : number + 1;
	if (pool != NULL)
		memcpy(one->pool, pool, sizeof(one->pool));
	one->threads += counts->threads;
	one->allocated += counts->small + counts->large;
	one->cached += counts->held;
	one->active += counts->active;
	one->resident += counts->resident;
	one->mapped += counts->mapped;
	one->retained += counts->retained;
}

void pfs_pools_count(struct pfs_malloc_counts *counts, struct pfs_box_arena *arenas)
{
	into = arenas;
	pfs_count_all(counts, note);
}
