/*
 * rack_calls.c - the calls that virtual threads make: a letter for each. Owners write their blocks
 * and read them back without atomics, so that a missing order is a data race.
 */
#include <string.h>

#include "memory/malloc/choose.h"
#include "memory/malloc/die.h"
#include "memory/malloc/large.h"
#include "memory/malloc/system.h"
#include "memory/search/rack_world.h"

#define SMALLER ((size_t)128 << 10)
#define LARGER ((size_t)256 << 10)
#define STAMP_PUT UINT64_C(0xF4EE)
#define ASIDE PFS_SIM_UNSEEN __attribute__((noinline)) static

/* ---- the oracle, which the search does not see ---- */

ASIDE uint32_t number_of(const struct pfs_extent *extent)
{
	return (uint32_t)(extent - pfs_rack_world.extents);
}

ASIDE void move(const struct pfs_extent *extent, uint32_t from, uint32_t to)
{
	uint32_t *at = &pfs_rack_world.oracle.at[number_of(extent)];
	PFS_MACHINE_CHECK(*at == from, "block %u: moved from %u to %u, but is at %u",
			  number_of(extent), from, to, *at);
	*at = to;
}

/* The first block that is there; NULL: none. bytes 0: of any size. */
ASIDE struct pfs_extent *find(uint32_t where, const struct pfs_arena *arena, size_t bytes)
{
	struct pfs_rack_world *self = &pfs_rack_world;
	for (uint32_t at = 0; at < PFS_RACK_BLOCKS_ALL; at++) {
		struct pfs_extent *extent = &self->extents[at];
		bool fits = bytes == 0 ||
			    (extent->request_bytes == bytes && pfs_extent_arena(extent) == arena);
		if (extent->request_bytes != 0 && self->oracle.at[at] == where && fits)
			return extent;
	}
	return NULL;
}

ASIDE void count(uint64_t *number)
{
	(*number)++;
}

ASIDE uint32_t rack_bytes_most(void)
{
	uint32_t bytes = pfs_rack_world.scene->rack_bytes;
	return bytes != 0 ? bytes : (uint32_t)LARGER;
}

/* Numbers that only grow, or only fall, would make endless histories of few states. */
ASIDE void forget_numbers(struct pfs_cache *cache)
{
	cache->until_guarded = PFS_CHOOSE_NEVER;
	cache->rack_bytes_most = rack_bytes_most();
	memset((void *)&cache->rack_takes, 0, sizeof(cache->rack_takes));
	memset((void *)&cache->past_bytes, 0, sizeof(cache->past_bytes));
	memset((void *)&cache->past_freed_bytes, 0, sizeof(cache->past_freed_bytes));
}

/* ---- what racks need of the allocator ---- */

struct pfs_cache **pfs_cache_own_place(void)
{
	const struct pfs_machine *machine = pfs_rack_world.machine;
	bool is_inside = machine != NULL && machine->run.running != NULL;
	return &pfs_rack_world.own[is_inside ? machine->run.running->id : pfs_rack_world.aside];
}

void pfs_extents_give(struct pfs_extents *self, struct pfs_extent *extent,
		      enum pfs_extent_kind kind)
{
	pfs_mutex_lock(&self->lock);
	uint64_t *stamp = &pfs_rack_world.stamps[number_of(extent)];
	PFS_MACHINE_CHECK(*stamp == STAMP_PUT, "a block comes back without its last bytes");
	*stamp = 0;
	pfs_extent_set_kind(extent, kind);
	move(extent, PFS_RACK_PUT, PFS_RACK_FREE);
	count(&pfs_rack_world.ended);
	pfs_mutex_unlock(&self->lock);
}

size_t pfs_extents_purge(struct pfs_extents *self, enum pfs_extent_kind kind, size_t pages_left,
			 bool lazily)
{
	(void)self, (void)kind, (void)pages_left, (void)lazily;
	pfs_machine_fail("a purge although pages may stay");
	return 0;
}

void pfs_base_free(struct pfs_base_pool *pool, void *piece)
{
	(void)pool;
	memset(piece, 0xFF, sizeof(uint64_t)); /* the link of the pool */
}

void *pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes)
{
	(void)pool, (void)size_bytes;
	return &pfs_rack_world.racks[pfs_cache_own - pfs_rack_world.caches];
}

void pfs_die(const char *call, const void *pointer, const char *what)
{
	pfs_machine_fail("%s(%p): %s", call, pointer, what);
	__builtin_abort();
}

bool pfs_system_purge(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
	return false;
}

/* ---- calls ---- */

/* As pfs_large_new: the extent is one of the arena's, or NULL. */
static struct pfs_extent *new_block(struct pfs_arena *arena, size_t bytes)
{
	pfs_racks_take_back(arena, false);
	pfs_mutex_lock(&arena->extents.lock);
	struct pfs_extent *extent = find(PFS_RACK_FREE, arena, bytes);
	if (extent != NULL) {
		move(extent, PFS_RACK_FREE, PFS_RACK_PUT);
		pfs_rack_world.stamps[number_of(extent)] = STAMP_PUT;
		(void)pfs_large_again(extent);
		count(&pfs_rack_world.new);
	}
	pfs_mutex_unlock(&arena->extents.lock);
	return extent;
}

static void malloc_one(const struct pfs_rack_actor *actor, size_t bytes)
{
	struct pfs_rack_world *world = &pfs_rack_world;
	struct pfs_extent *extent = NULL;
	const void *block = pfs_rack_take(bytes, true);
	if (block != NULL) {
		extent = &world->extents[(uintptr_t)block / LARGER - 1];
		count(&world->takes);
	} else {
		extent = new_block(&world->arenas[actor->arena], bytes);
	}
	if (extent == NULL) /* others have them all */
		return;
	uint64_t *stamp = &world->stamps[number_of(extent)];
	PFS_MACHINE_CHECK(extent->request_bytes == bytes, "a block of another size");
	PFS_MACHINE_CHECK(*stamp == STAMP_PUT, "a block is not as its last owner left it");
	*stamp = actor->id + 1;
	move(extent, PFS_RACK_PUT, 1 + actor->id);
}

static void free_one(const struct pfs_rack_actor *actor)
{
	struct pfs_extent *extent = find(1 + actor->id, NULL, 0);
	if (extent == NULL)
		return;
	uint64_t *stamp = &pfs_rack_world.stamps[number_of(extent)];
	PFS_MACHINE_CHECK(*stamp == actor->id + 1, "another thread wrote to a block of thread %u",
			  actor->id);
	*stamp = STAMP_PUT;
	move(extent, 1 + actor->id, PFS_RACK_PUT);
	if (pfs_rack_put(extent))
		return;
	pfs_extent_set_kind(extent, PFS_EXTENT_CACHED); /* as pfs_large_free */
	pfs_large_end(extent);
}

/* As pfs_cache_attached: a thread has a cache from its first call on. */
static void attach(const struct pfs_rack_actor *actor)
{
	struct pfs_rack_world *world = &pfs_rack_world;
	struct pfs_cache *cache = &world->caches[1 + actor->id];
	cache->arena = &world->arenas[actor->arena];
	cache->is_enabled = true;
	cache->until_guarded = PFS_CHOOSE_NEVER;
	cache->rack_bytes_most = rack_bytes_most();
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_arena_add_cache(cache);
	pfs_mutex_unlock(&pfs_registry.lock);
	world->own[actor->id] = cache;
}

/* As pfs_cache_end: the rack is emptied, and the cache's memory is used again. The thread's next
 * call is one of a new thread that gets the same memory, perhaps in another arena. */
static void end(struct pfs_rack_actor *actor)
{
	struct pfs_cache *cache = pfs_cache_own;
	(void)pfs_rack_empty(cache);
	pfs_rack_world.own[actor->id] = &pfs_rack_world.caches[0];
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_arena_remove_cache(cache);
	pfs_mutex_unlock(&pfs_registry.lock);
	struct pfs_rack *rack = pfs_load_relaxed(&cache->rack); /* relaxed: its own */
	for (uint32_t i = 0; rack != NULL && i < PFS_RACK_SLOTS; i++)
		PFS_MACHINE_CHECK(pfs_load_relaxed(&rack->slots[i]) == 0,
				  "a thread ends and leaves a block on its rack");
	pfs_rack_end(cache);
	memset((void *)&cache->arena, 0, sizeof(*cache) - offsetof(struct pfs_cache, arena));
}

/* Under the registry's lock, as ticks and burials are: the rack of thread 0. */
static void tick(bool all)
{
	pfs_mutex_lock(&pfs_registry.lock);
	const struct pfs_arena *arenas = pfs_rack_world.arenas;
	for (uint32_t at = 0; at < PFS_RACK_ARENAS; at++) {
		struct pfs_cache *cache = arenas[at].caches;
		for (uint32_t i = 0; i < arenas[at].cache_count; i++, cache = cache->next_here)
			if (cache == &pfs_rack_world.caches[1] && all)
				(void)pfs_rack_empty(cache);
			else if (cache == &pfs_rack_world.caches[1])
				(void)pfs_rack_tick(cache);
	}
	pfs_mutex_unlock(&pfs_registry.lock);
}

static void call(struct pfs_rack_actor *actor, char letter)
{
	struct pfs_rack_world *world = &pfs_rack_world;
	if (strchr("mMflxa", letter) != NULL && pfs_cache_own == &world->caches[0])
		attach(actor);
	switch (letter) {
	case 'm': malloc_one(actor, SMALLER); break;
	case 'M': malloc_one(actor, LARGER); break;
	case 'f': free_one(actor); break;
	case 'l': /* a flush */ (void)pfs_rack_empty(pfs_cache_own); break;
	case 'k': /* a tick */ tick(false); break;
	case 'K': /* a tick of all, or a burial */ tick(true); break;
	case 'b': /* an arena takes new memory */
		pfs_racks_take_back(&world->arenas[0], false);
		break;
	case 'a': /* bound to the other arena */
		end(actor);
		actor->arena = 1 - actor->arena;
		break;
	case 'x': /* the thread ends */ end(actor); break;
	default: pfs_machine_fail("'%c' is not a call", letter);
	}
	if (pfs_cache_own != &world->caches[0])
		forget_numbers(pfs_cache_own);
}

void pfs_rack_calls_make(struct pfs_rack_actor *actor, const char *calls)
{
	for (; *calls != '\0'; calls++)
		call(actor, *calls);
}

static __attribute__((noinline)) void turn(struct pfs_rack_actor *actor, char letter)
{
	actor->in_call = 1;
	call(actor, letter);
	actor->in_call = 0;
}

void pfs_rack_calls_body(void *opaque)
{
	struct pfs_rack_actor *actor = opaque;
	if (!pfs_rack_world.scene->loops) {
		for (const char *at = actor->calls; *at != '\0'; at++)
			turn(actor, *at);
		return;
	}
	for (;;)
		turn(actor, actor->calls[pfs_machine_choose((uint32_t)strlen(actor->calls))]);
}
