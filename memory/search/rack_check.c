/*
 * rack_check.c - what holds between any two steps, and at rest.
 */
#include "check/machine/operation.h"
#include "memory/search/rack_world.h"

#define WORD_BITS UINT64_C(63)

/* Adds the blocks on a rack to `seen`. */
static void check_rack(const struct pfs_rack_world *self, struct pfs_cache *cache, uint32_t *seen)
{
	struct pfs_rack *rack = pfs_load_relaxed(&cache->rack); /* relaxed: a check */
	for (uint32_t i = 0; rack != NULL && i < PFS_RACK_SLOTS; i++) {
		uint64_t word = pfs_load_relaxed(&rack->slots[i]); /* relaxed: a check */
		if (word == 0)
			continue;
		/* NOLINTNEXTLINE: addresses are numbers here */
		struct pfs_extent *extent = (struct pfs_extent *)(uintptr_t)(word & ~WORD_BITS);
		uint32_t number = (uint32_t)(extent - self->extents);
		PFS_MACHINE_CHECK(number < PFS_RACK_BLOCKS_ALL && seen[number]++ == 0,
				  "block %u is in two slots", number);
		PFS_MACHINE_CHECK(self->oracle.at[number] == PFS_RACK_PUT,
				  "block %u is on a rack, and at %u", number,
				  self->oracle.at[number]);
		PFS_MACHINE_CHECK(pfs_extent_arena(extent) == cache->arena,
				  "[RK2] block %u is on a rack of another arena", number);
		uint64_t noted = rack->used & rack->of_class[rack->class[i]];
		PFS_MACHINE_CHECK((noted >> i & 1) != 0, "[RK5] the owner has no note of block %u",
				  number);
	}
}

/* How many blocks threads may have on their way: a free that replaces blocks has two at a time. A
 * store that waits in a buffer may put one more. */
static uint32_t on_the_way(const struct pfs_rack_world *self)
{
	uint32_t most = 0;
	for (uint32_t id = 0; id < pfs_scene_threads(self->calls); id++)
		most += 2 * self->oracle.actors[id].in_call +
			self->machine->threads[id]->buffer_count;
	return most;
}

static void check(const struct pfs_rack_world *self, uint32_t lost_most)
{
	uint32_t seen[PFS_RACK_BLOCKS_ALL] = { 0 }, lost = 0;
	for (uint32_t id = 0; id < PFS_RACK_THREADS_MAX; id++)
		check_rack(self, (struct pfs_cache *)&self->caches[1 + id], seen);
	for (uint32_t at = 0; at < PFS_RACK_BLOCKS_ALL; at++)
		lost += self->extents[at].request_bytes != 0 &&
			self->oracle.at[at] == PFS_RACK_PUT && seen[at] == 0;
	PFS_MACHINE_CHECK(lost <= lost_most, "%u blocks are in no place", lost);
}

void pfs_rack_check(void *context)
{
	const struct pfs_rack_world *self = context;
	pfs_sim_quiet(); /* the caller may be a virtual thread */
	check(self, on_the_way(self));
	pfs_sim_loud();
}

void pfs_rack_check_emptied(struct pfs_rack_world *self)
{
	check(self, 0);
	for (uint32_t id = 0; id < PFS_RACK_THREADS_MAX; id++)
		(void)pfs_rack_empty(&self->caches[1 + id]);
	for (uint32_t at = 0; at < PFS_RACK_BLOCKS_ALL; at++)
		PFS_MACHINE_CHECK(self->oracle.at[at] != PFS_RACK_PUT, "block %u is lost", at);
}
