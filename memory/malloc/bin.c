#include "bin.h"

#include <string.h>

#include "arena.h"
#include "cache.h"
#include "conf.h"
#include "containers/compiler.h"
#include "extents.h"
#include "rack.h"

static void count_takes(struct pfs_bin *self, uint32_t regions)
{
	self->refills += regions != 0;
	self->takes += regions;
}

/* Under lock: fill slots from the stock and the slabs. Returns how many are still missing. */
static uint32_t take_locked(struct pfs_bin *self, void **slots, uint32_t count)
{
	uint32_t wish = count;
	count = pfs_stock_take(&self->stock, slots, count);
	struct pfs_extent *slab = count != 0 ? pfs_bin_slab_with_room(self) : NULL;
	while (slab != NULL && count != 0) {
		if (slab == self->spare)
			self->spare = NULL;
		count = pfs_slab_take(slab, slots, count);
		slab = count != 0 ? pfs_bin_slab_with_room(self) : NULL;
	}
	count_takes(self, wish - count);
	return count;
}

/* Make a slab and take blocks from it. Returns how many are still missing. is_held: rings hold a
 * slab's worth of blocks. */
static uint32_t take_from_new(struct pfs_bin *self, void **slots, uint32_t count, bool is_held)
{
	struct pfs_extent *slab = pfs_slab_new(self);
	if (slab == NULL)
		return count;
	pfs_mutex_lock(&self->lock);
	uint32_t left = take_locked(self, slots, count);
	/* Nothing was freed meanwhile. Take from this slab and no other: if no block were taken
	 * from it, it would be empty without being the spare, and would never end. */
	bool is_in = left == count && pfs_slab_insert(self, slab);
	if (is_in) {
		left = pfs_slab_take(slab, slots, count);
		count_takes(self, count - left);
		self->needless += is_held;
	}
	pfs_mutex_unlock(&self->lock);
	if (!is_in)
		pfs_slab_end(slab);
	return left;
}

/* One thread at a time looks for more: first in the words again, then in other threads' rings. */
static PFS_COLD uint32_t take_more(struct pfs_bin *self, void **slots, uint32_t count)
{
	pfs_mutex_lock(&self->growing);
	pfs_mutex_lock(&self->lock);
	uint32_t left = take_locked(self, slots, count);
	pfs_mutex_unlock(&self->lock);
	bool is_new = !pfs_extents_has_dirty(&self->arena->extents,
					     pfs_classes[self->class].slab_bytes);
	bool is_held = false;
	if (left == count && is_new)
		pfs_stocks_shrink(self->arena);
	if (left == count && (is_new || pfs_conf.strict) && pfs_caches_take_back(self, &is_held)) {
		pfs_mutex_lock(&self->lock);
		left = take_locked(self, slots, count);
		pfs_mutex_unlock(&self->lock);
	}
	if (left == count && is_new)
		pfs_racks_take_back(self->arena, false);
	if (left == count)
		left = take_from_new(self, slots, count, is_held);
	pfs_mutex_unlock(&self->growing);
	return left;
}

uint32_t pfs_bin_take(struct pfs_bin *self, void **slots, uint32_t count)
{
	pfs_mutex_lock(&self->lock);
	uint32_t left = take_locked(self, slots, count);
	pfs_mutex_unlock(&self->lock);
	if (left == count)
		left = take_more(self, slots, count);
	if (left != 0 && left != count) /* slots are filled from the end */
		memmove(slots, &slots[left], (count - left) * sizeof(*slots));
	return count - left;
}

bool pfs_bin_tick(struct pfs_bin *self, bool all)
{
	pfs_stock_empty(self, all);
	pfs_mutex_lock(&self->lock);
	struct pfs_extent *end = all || self->spare_is_idle ? self->spare : NULL;
	if (end != NULL) {
		pfs_slab_remove(self, end);
		self->spare = NULL;
	}
	self->spare_is_idle = self->spare != NULL;
	/* relaxed: under lock */
	bool is_left = self->spare != NULL || pfs_load_relaxed(&self->stock.count) != 0;
	pfs_mutex_unlock(&self->lock);
	if (end != NULL)
		pfs_slab_end(end);
	return is_left;
}

void pfs_bin_count(struct pfs_bin *self, struct pfs_bin_counts *counts)
{
	pfs_mutex_lock(&self->lock);
	uint64_t free = pfs_load_relaxed(&self->stock.count); /* relaxed: under lock */
	for (uint32_t g = 0; g < self->group_count; g++) {
		for (uint32_t i = 0; i < pfs_group_slabs(g); i++) {
			struct pfs_extent *slab = self->groups[g]->slabs[i];
			for (uint32_t w = 0; slab != NULL && w < pfs_slab_word_count(slab); w++) {
				/* relaxed: a count */
				uint64_t bits = pfs_load_relaxed(&slab->words[w]);
				free += (uint64_t)__builtin_popcountll(bits);
			}
		}
	}
	uint64_t taken = (uint64_t)self->slab_count * pfs_classes[self->class].regions - free;
	*counts = (struct pfs_bin_counts){
		.free_regions = free,
		.taken_regions = taken,
		.takes = self->takes,
		.gives = self->takes - taken,
		.refills = self->refills,
		.slabs = self->slab_count,
		.slabs_peak = self->slab_peak,
		.slabs_made = self->slabs_made,
		.needless = self->needless,
	};
	pfs_mutex_unlock(&self->lock);
}
