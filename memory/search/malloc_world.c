#include "memory/search/malloc_world.h"

#include <stdio.h>
#include <string.h>

#include "memory/malloc/apart.h"
#include "memory/malloc/conf.h"
#include "memory/malloc/die.h"
#include "memory/malloc/map.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"
#include "memory/malloc/tick.h"
#include "sim/seams/seams.h"
#include "check/search/states.h"

#define PAGES_BYTES ((size_t)1 << 20) /* the size of the extents' requests */

struct pfs_malloc_world pfs_malloc_world;
struct pfs_conf pfs_conf;

static alignas(PFS_OS_PAGE) char pages[PFS_MALLOC_ARENAS_MAX * PAGES_BYTES];
static uint32_t pages_mapped; /* by this many arenas */
static struct pfs_map_leaf leaf;
static struct pfs_cache none_at_first;

/* ---- base.h ---- */

/* Pools are static: a reset must find them. */
static void know_pool(struct pfs_malloc_world *self, struct pfs_base_pool *pool)
{
	for (uint32_t at = 0; at < self->pool_count; at++)
		if (self->pools[at] == pool)
			return;
	PFS_MACHINE_CHECK(self->pool_count < PFS_MALLOC_POOLS_MAX, "too many pools");
	self->pools[self->pool_count++] = pool;
}

void *pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes)
{
	struct pfs_malloc_world *self = &pfs_malloc_world;
	size_t bytes = (size_bytes + PFS_LINE - 1) / PFS_LINE * PFS_LINE;
	pfs_mutex_lock(&self->base_lock);
	void *piece = pool->first;
	if (piece != NULL) {
		pool->first = pfs_load_relaxed((_Atomic(void *) *)piece); /* relaxed: base.c */
	} else {
		PFS_MACHINE_CHECK(self->base_used + bytes <= sizeof(self->base),
				  "too much metadata");
		piece = self->base + self->base_used;
		self->base_used += bytes;
		memset(piece, 0, bytes); /* a search by states may have used it */
	}
	pfs_mutex_unlock(&self->base_lock);
	return piece;
}

void pfs_base_free(struct pfs_base_pool *pool, void *piece)
{
	know_pool(&pfs_malloc_world, pool);
	pfs_mutex_lock(&pfs_malloc_world.base_lock);
	pfs_store_relaxed((_Atomic(void *) *)piece, pool->first); /* relaxed: as in base.c */
	pool->first = piece;
	pfs_mutex_unlock(&pfs_malloc_world.base_lock);
}

/* ---- system.h, and what else bins, rings and extents need ---- */

void *pfs_system_map(size_t size_bytes)
{
	bool can = pages_mapped < pfs_arena_count() && size_bytes == PAGES_BYTES;
	return can ? pages + pages_mapped++ * PAGES_BYTES : NULL;
}

void *pfs_system_map_ahead(size_t size_bytes)
{
	return pfs_system_map(size_bytes);
}

void *pfs_apart_new(size_t size_bytes)
{
	static bool is_next; /* the first leaf is that of the pages */
	bool is_first = !is_next;
	is_next = true;
	(void)size_bytes;
	return is_first ? &leaf : pfs_malloc_map_leaf();
}

void pfs_apart_free(void *at, size_t size_bytes)
{
	(void)pfs_system_unmap(at, size_bytes);
}

bool pfs_system_unmap(void *at, size_t size_bytes)
{
	(void)size_bytes;
	pfs_malloc_map_unleaf(at);
	return true;
}

bool pfs_system_purge(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
	return true;
}

/* Of descriptors. What threads read without a lock changes in steps that the machine sees. */
bool pfs_system_wipe(void *at, size_t size_bytes)
{
	struct pfs_extent *first = at;
	for (size_t i = 0; i < size_bytes / sizeof(*first); i++) {
		pfs_store_relaxed(&first[i].arena, NULL); /* relaxed: no order is certain */
		pfs_store_relaxed(&first[i].kind, 0);     /* relaxed: as above */
		pfs_store_relaxed(&first[i].summary, 0);  /* relaxed: as above */
	}
	memset(at, 0, size_bytes);
	return true;
}

bool pfs_system_purge_lazily(void *at, size_t size_bytes)
{
	return pfs_system_purge(at, size_bytes);
}

bool pfs_system_show(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
	return true;
}

void pfs_system_read_only(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
}

void pfs_system_small_pages(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
}

void pfs_die(const char *call, const void *pointer, const char *what)
{
	pfs_machine_fail("%s(block %u): %s", call, pfs_malloc_block_id(pointer), what);
	(void)fprintf(stderr, "pfslab: %s outside of an execution\n", what);
	__builtin_abort();
}

static uint32_t calling_thread(void)
{
	const struct pfs_machine *machine = pfs_malloc_world.machine;
	return machine != NULL && machine->run.running != NULL ? machine->run.running->id
							       : pfs_malloc_world.oracle.aside;
}

struct pfs_cache **pfs_cache_own_place(void)
{
	return &pfs_malloc_world.own[calling_thread()];
}

struct pfs_arena *pfs_arena_choose(bool is_first)
{
	(void)is_first;
	return pfs_malloc_thread_bin(&pfs_malloc_world, calling_thread())->arena;
}

uint32_t pfs_arena_count(void)
{
	return pfs_malloc_world.arena_count;
}

struct pfs_arena *pfs_arena_if_any(uint32_t number)
{
	return pfs_arena_at(number);
}

struct pfs_arena *pfs_arena_at(uint32_t number)
{
	return &pfs_malloc_world.arenas[number];
}

void pfs_start(void) {}

void pfs_start_handlers(void) {}

void pfs_start_first(void) {}

void pfs_start_thread(struct pfs_cache *cache, pfs_start_ended *ended)
{
	(void)cache;
	(void)ended;
}

void pfs_tick_end(void) {}

void pfs_tick_after_malloc(struct pfs_arena *arena, size_t bytes, uint32_t *slow_calls)
{
	(void)arena, (void)bytes, (void)slow_calls;
}

void pfs_tick_after_free(uint32_t *slow_calls)
{
	(void)slow_calls;
}

/* ---- executions ---- */

void pfs_malloc_world_reset(struct pfs_malloc_world *self)
{
	if (none_at_first.unusable.low == 0) { /* before the first execution */
		memcpy((void *)&none_at_first, (const void *)&pfs_cache_none,
		       sizeof(none_at_first));
		(void)pfs_map_reserve(pages, sizeof(pages));
	}
	memcpy((void *)&pfs_cache_none, (const void *)&none_at_first, sizeof(none_at_first));
	for (uint32_t at = 0; at < self->pool_count; at++)
		self->pools[at]->first = NULL;
	size_t first = ((uintptr_t)pages & UINT32_MAX) / PFS_OS_PAGE;
	memset((void *)&leaf.entries[first], 0, sizeof(pages) / PFS_OS_PAGE * sizeof(uint64_t));
	pages_mapped = 0;
	memset(self->base, 0, self->base_used);
	self->base_used = 0;
	memset(self->stamps, 0, sizeof(self->stamps));
	memset(&self->oracle, 0, sizeof(self->oracle));
	pfs_malloc_map_reset();
	pfs_mutex_init(&self->base_lock);
	memset((void *)&pfs_registry, 0, sizeof(pfs_registry));
	pfs_caches_start();
	pfs_conf = (struct pfs_conf){ .tcache = true,
				      .ring_bytes_max = UINT32_MAX,
				      .ring_entries_max = self->scene->ring_entries,
				      .strict = self->scene->strict };
	memset((void *)self->arenas, 0, sizeof(self->arenas));
	for (uint32_t number = 0; number < pfs_arena_count(); number++) {
		struct pfs_arena *arena = &self->arenas[number];
		arena->number = number;
		pfs_extents_init(&arena->extents, arena);
		pfs_bin_init(pfs_malloc_world_bin_of(self, number), arena, self->scene->class);
	}
	for (uint32_t id = 0; id < PFS_MALLOC_THREADS_MAX; id++)
		self->own[id] = &pfs_cache_none;
}

uint64_t pfs_malloc_world_known(struct pfs_machine *machine, void *context)
{
	const struct pfs_malloc_world *self = context;
	(void)machine;
	/* A search by states does not see the memmove that moves the slots of rings. */
	uint64_t sum = pfs_states_mix_words(1, self->base, self->base_used);
	sum = pfs_states_mix(sum, pfs_seams_barriers);
	return pfs_states_mix_words(sum, &self->oracle, sizeof(self->oracle));
}

void pfs_malloc_world_keep(struct pfs_machine_snapshot *snapshot, void *context)
{
	struct pfs_malloc_world *self = context;
	size_t first = ((uintptr_t)pages & UINT32_MAX) / PFS_OS_PAGE;
	pfs_snapshot_put(snapshot, self->arenas, pfs_arena_count() * sizeof(self->arenas[0]));
	pfs_snapshot_put(snapshot, self->own, sizeof(self->own));
	pfs_snapshot_put(snapshot, self->base, self->base_used);
	pfs_snapshot_put(snapshot, &self->base_used,
			 offsetof(struct pfs_malloc_world, scene) -
				 offsetof(struct pfs_malloc_world, base_used));
	pfs_snapshot_put(snapshot, &pfs_registry, sizeof(pfs_registry));
	pfs_snapshot_put(snapshot, &pfs_seams_barriers, sizeof(pfs_seams_barriers));
	pfs_snapshot_put(snapshot, &pfs_cache_none, sizeof(pfs_cache_none));
	pfs_snapshot_put(snapshot, (void *)&leaf.entries[first],
			 pfs_arena_count() * PAGES_BYTES / PFS_OS_PAGE * sizeof(uint64_t));
	pfs_malloc_map_keep(snapshot);
	for (uint32_t at = 0; at < self->pool_count; at++)
		pfs_snapshot_put(snapshot, self->pools[at], sizeof(*self->pools[at]));
}

uint32_t pfs_malloc_block_id(const void *block)
{
	size_t offset = (size_t)((const char *)block - pages);
	size_t arena = offset / PAGES_BYTES;
	size_t id = offset % PAGES_BYTES / 1024;
	size_t most = PFS_MALLOC_BLOCKS_MAX / pfs_arena_count();
	PFS_MACHINE_CHECK(arena < pfs_arena_count() && id < most && offset % 1024 == 0,
			  "%p is not a block", block);
	return (uint32_t)(arena * most + id);
}

/* ---- names ---- */

static bool name_in(const void *address, const void *from, size_t bytes)
{
	return (const char *)address >= (const char *)from &&
	       (const char *)address < (const char *)from + bytes;
}

static bool name_ring(const struct pfs_malloc_world *self, const void *address, char *name,
		      size_t name_bytes)
{
	static const char *const fields[] = { "front", "low",       "back",  "high",
					      "slots", "allocated", "freed", "inside" };
	uint32_t class = self->scene->class;
	for (uint32_t id = 0; id < PFS_MALLOC_THREADS_MAX; id++) {
		if (!name_in(address, self->own[id], sizeof(*self->own[id])))
			continue;
		const struct pfs_cache_ring *ring = &self->own[id]->rings[class];
		size_t field = (size_t)((const char *)address - (const char *)ring) / 8;
		(void)snprintf(name, name_bytes, "cache[%u].%s", id,
			       name_in(address, ring, sizeof(*ring)) ? fields[field] : "other");
		return true;
	}
	return false;
}

static bool name_extent(struct pfs_malloc_world *self, const void *address, char *name,
			size_t name_bytes)
{
	uint32_t number = 0;
	struct pfs_descriptors *descriptors = &self->arenas[0].extents.descriptors;
	struct pfs_extent *at = NULL;
	for (; (at = pfs_descriptors_next(descriptors, at)) != NULL; number++) {
		if (!name_in(address, at, sizeof(*at)))
			continue;
		if (name_in(address, at->few_words, sizeof(at->few_words)))
			(void)snprintf(
				name, name_bytes, "extent[-%u].word[%zu]", number,
				(size_t)((const char *)address - (const char *)at->few_words) / 8);
		else
			(void)snprintf(name, name_bytes, "extent[-%u].%s", number,
				       address == &at->summary ? "summary"
				       : address == &at->kind  ? "kind"
							       : "other");
		return true;
	}
	return false;
}

bool pfs_malloc_world_name(void *context, const void *address, char *name, size_t name_bytes)
{
	struct pfs_malloc_world *self = context;
	struct pfs_bin *bin = pfs_malloc_world_bin(self);
	const struct {
		const void *at;
		const char *name;
	} known[] = { { &bin->lock, "bin.lock" },
		      { &bin->room, "bin.room" },
		      { &bin->growing, "bin.growing" },
		      { &pfs_registry.lock, "registry" },
		      { &self->arenas[0].extents.lock, "extents" },
		      { &self->base_lock, "base" } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].at != address)
			continue;
		(void)snprintf(name, name_bytes, "%s", known[i].name);
		return true;
	}
	for (uint32_t at = 0; at < bin->group_count; at++) {
		if (!name_in(address, bin->groups[at], sizeof(*bin->groups[at])))
			continue;
		(void)snprintf(name, name_bytes, "group[%u].room", at);
		return true;
	}
	return name_ring(self, address, name, name_bytes) ||
	       name_extent(self, address, name, name_bytes);
}
