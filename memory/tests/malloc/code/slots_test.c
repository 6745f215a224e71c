/*
 * slots_test.c - the slots of rings that a tick finds idle return to the system, those in use do
 * not; in bounded steps, without a lock; and a child forked meanwhile returns them, too.
 */
#include <pfslab/malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/cache.h"
#include "memory/malloc/rings.h"
#include "memory/malloc/slot_memory.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"
#include "child.h"

#define CACHES 300u
#define FIRST_CLASS 8u
#define CLASSES 12u
#define BLOCKS 70u /* so that a ring grows several times */
#define STEP_BYTES ((size_t)256 << 10)
#define CHUNK_BYTES ((size_t)16 << 10)
#define SLOTS_LEAST ((size_t)2 << 20)

bool __real_pfs_system_purge(void *pages, size_t size_bytes);
bool __wrap_pfs_system_purge(void *pages, size_t size_bytes);

static struct pfs_cache *caches[CACHES];
static size_t purged_bytes;
static void (*in_purge)(void);

bool __wrap_pfs_system_purge(void *pages, size_t size_bytes)
{
	CHECK(pthread_mutex_trylock(&pfs_registry.lock.native) == 0, "purged under the registry");
	(void)pthread_mutex_unlock(&pfs_registry.lock.native);
	purged_bytes += size_bytes;
	void (*action)(void) = in_purge;
	in_purge = NULL;
	if (action != NULL)
		action();
	return __real_pfs_system_purge(pages, size_bytes);
}

/* Use a cache's rings as its thread would: free blocks that were taken before. */
static void use(struct pfs_cache *cache)
{
	struct pfs_cache *own = pfs_cache_own;
	void *blocks[BLOCKS];
	for (uint32_t class = FIRST_CLASS; class < FIRST_CLASS + CLASSES; class ++) {
		struct pfs_bin *bin = &pfs_arena_at(0)->bins[class];
		for (uint32_t i = 0; i < BLOCKS; i++)
			CHECK(pfs_bin_take(bin, &blocks[i], 1) == 1, "no block");
		pfs_cache_own = cache;
		for (uint32_t i = 0; i < BLOCKS; i++)
			if (!pfs_ring_push(&cache->rings[class], blocks[i]))
				pfs_cache_overflow(blocks[i], class, "test");
		pfs_cache_own = own;
	}
}

/* Resident bytes of the pages where the slots of the caches' rings are now. */
static size_t slot_bytes(void)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < CACHES; i++)
		bytes += pfs_load_relaxed(&caches[i]->slot_bytes); /* relaxed: one thread */
	return bytes;
}

static size_t purge_all(void)
{
	size_t before = purged_bytes;
	bool is_more = true;
	while (is_more) {
		size_t step = purged_bytes;
		is_more = pfs_slot_memory_purge();
		CHECK(purged_bytes - step <= STEP_BYTES, "%zu bytes in one step",
		      purged_bytes - step);
	}
	return purged_bytes - before;
}

static void drop(uint32_t from)
{
	pfs_mutex_lock(&pfs_registry.lock);
	for (uint32_t i = from; i < CACHES; i++)
		pfs_cache_close_rings(caches[i]);
	pfs_mutex_unlock(&pfs_registry.lock);
}

/* The chunks that the parent was purging are the child's again. */
static void fork_here(void)
{
	int status = 1;
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(20);
		size_t bytes = purge_all();
		CHECK(bytes >= STEP_BYTES, "the child lost chunks: it purged only %zu bytes",
		      bytes);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0,
	      "the child failed: it lost chunks");
}

static void use_all(void)
{
	for (uint32_t i = 0; i < CACHES; i++)
		use(caches[i]);
	size_t bytes = slot_bytes();
	CHECK(bytes > SLOTS_LEAST, "only %zu bytes of slots", bytes);
}

/* Each ring still has its blocks; another tick may follow. */
static void check_kept(const struct pfs_cache *cache)
{
	for (uint32_t class = FIRST_CLASS; class < FIRST_CLASS + CLASSES; class ++) {
		struct pfs_cache_ring *ring = (struct pfs_cache_ring *)&cache->rings[class];
		uint32_t count = pfs_ring_back_count(ring);
		CHECK(count != 0, "a ring in use was emptied");
		for (uint32_t i = 0; i < count; i++)
			CHECK(pfs_ring_back_slots(ring)[i] != NULL, "slots in use were purged");
	}
}

int main(void)
{
	pfs_start();
	(void)pfs_cache_attached();
	pfs_start_handlers();
	be_not_alone();
	for (uint32_t i = 0; i < CACHES; i++) {
		caches[i] = pfs_cache_create();
		CHECK(caches[i] != NULL, "no cache");
	}
	use_all();
	size_t most = slot_bytes();
	/* Some rings have slots but no blocks: refills of other threads took them. */
	(void)pfs_caches_tick(true);
	(void)purge_all();
	CHECK(slot_bytes() == 0, "idle rings have %zu bytes of slots", slot_bytes());
	CHECK(purged_bytes >= most, "%zu of %zu bytes of slots were purged", purged_bytes, most);

	/* One cache stays in use, and the others' slots go all the same. */
	use_all();
	use(caches[0]); /* others' refills may have emptied its rings */
	drop(1);
	size_t gone = purge_all();
	CHECK(gone >= most - most / 10, "%zu of %zu bytes went beside one cache", gone, most);
	check_kept(caches[0]);

	use_all();
	drop(0);
	in_purge = fork_here;
	(void)purge_all();
	return 0;
}
