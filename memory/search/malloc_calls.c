/*
 * malloc_calls.c - the calls that virtual threads make: a letter for each. Owners write their
 * blocks and read them back without atomics, so that a missing order is a data race.
 */
#include <string.h>

#include "memory/search/malloc_world.h"

#define STAMP_FREE UINT64_C(0xF4EE)

static void own(struct pfs_malloc_thread *thread, void *block)
{
	struct pfs_malloc_world *world = &pfs_malloc_world;
	uint32_t id = pfs_malloc_block_id(block);
	uint32_t owner = world->oracle.owner[id];
	PFS_MACHINE_CHECK(owner == 0, "a block has two owners: %u, threads %u and %u", id,
			  owner - 1, thread->id);
	world->oracle.owner[id] = 1 + thread->id;
	uint64_t stamp = world->stamps[id];
	PFS_MACHINE_CHECK(stamp == 0 || stamp == STAMP_FREE,
			  "a block is not as its last owner left it");
	world->stamps[id] = thread->id + 1;
	thread->owned[thread->owned_count++] = block;
}

/* Takes the oldest block from the thread, or returns NULL. */
static void *disown(struct pfs_malloc_thread *thread)
{
	struct pfs_malloc_world *world = &pfs_malloc_world;
	if (thread->owned_count == 0)
		return NULL;
	void *block = thread->owned[0];
	uint32_t id = pfs_malloc_block_id(block);
	thread->owned_count--;
	memmove(thread->owned, &thread->owned[1], thread->owned_count * sizeof(block));
	PFS_MACHINE_CHECK(world->stamps[id] == thread->id + 1,
			  "another thread wrote to a block of thread %u", thread->id);
	world->stamps[id] = STAMP_FREE;
	world->oracle.owner[id] = 0;
	return block;
}

static void take(struct pfs_malloc_thread *thread, uint32_t count)
{
	void *blocks[2];
	struct pfs_bin *bin = pfs_malloc_thread_bin(&pfs_malloc_world, thread->id);
	uint32_t got = pfs_bin_take(bin, blocks, count);
	PFS_MACHINE_CHECK(got != 0, "no memory");
	for (uint32_t i = 0; i < got; i++)
		own(thread, blocks[i]);
}

static void give(struct pfs_malloc_thread *thread, uint32_t count)
{
	void *blocks[2];
	uint32_t have = 0;
	while (have < count && (blocks[have] = disown(thread)) != NULL)
		have++;
	pfs_blocks_give(blocks, have, "free");
}

/* As pfs_malloc_quick and pfs_free_quick, with their slow paths. */
static void malloc_one(struct pfs_malloc_thread *thread)
{
	uint32_t class = pfs_malloc_world.scene->class;
	void *block = NULL;
	if (!pfs_ring_pop(&pfs_cache_own->rings[class], &block))
		block = pfs_cache_fill(PFS_RING_OFFSET(class));
	if (block == NULL)
		block = pfs_cache_refill(class);
	PFS_MACHINE_CHECK(block != NULL, "no memory");
	pfs_malloc_world.oracle.mallocs++;
	own(thread, block);
}

static void free_one(struct pfs_malloc_thread *thread)
{
	uint32_t class = pfs_malloc_world.scene->class;
	void *block = disown(thread);
	pfs_malloc_world.oracle.frees += block != NULL;
	if (block != NULL && !pfs_ring_push(&pfs_cache_own->rings[class], block))
		pfs_cache_overflow(block, class, "free");
}

static void call(struct pfs_malloc_thread *thread, char letter)
{
	struct pfs_bin *bin = pfs_malloc_thread_bin(&pfs_malloc_world, thread->id);
	switch (letter) {
	case 't': /* a block, bypassing the rings */ take(thread, 1); break;
	case 'T': take(thread, 2); break;
	case 'g': give(thread, 1); break;
	case 'G': give(thread, 2); break;
	case 'm': /* the program's malloc and free */ malloc_one(thread); break;
	case 'f': free_one(thread); break;
	case 'b': /* take from other threads' rings, as if no region were free */
		pfs_mutex_lock(&bin->growing);
		(void)pfs_caches_take_back(bin, &(bool){ false });
		pfs_mutex_unlock(&bin->growing);
		break;
	case 'k': /* the spare slab ends */ (void)pfs_bin_tick(bin, true); break;
	case 'e': /* a tick of the bin: unneeded stock and an idle spare slab are given back */
		(void)pfs_bin_tick(bin, false);
		break;
	case 'r': /* a tick that finds all rings idle */ (void)pfs_caches_tick(true); break;
	case 'l': pfs_cache_flush(); break;
	case 'x': /* the thread ends */
		if (pfs_cache_own != &pfs_cache_none)
			pfs_cache_end(pfs_cache_own);
		break;
	case 'u': /* all free memory of the arena is purged */
		(void)pfs_extents_purge(&bin->arena->extents, PFS_EXTENT_DIRTY, 0, false);
		break;
	case 'w': /* pages of descriptors without one in use are wiped */
		(void)pfs_extents_wipe(&bin->arena->extents, SIZE_MAX);
		break;
	case 'p': /* a leaf of the page map */ pfs_malloc_map_reserve(thread->id); break;
	default: pfs_machine_fail("'%c' is not a call", letter);
	}
}

void pfs_malloc_calls_make(struct pfs_malloc_thread *thread, const char *calls)
{
	for (; *calls != '\0'; calls++)
		call(thread, *calls);
}

void pfs_malloc_calls_body(void *opaque)
{
	struct pfs_malloc_thread *thread = opaque;
	pfs_malloc_calls_make(thread, thread->calls);
}
