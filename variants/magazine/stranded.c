/*
 * stranded.c - free records in the rings of threads: the metric stranded, and the rings' part of
 * the metric needless_growths. No policy decision depends on this file.
 */
#include "magazine.h"

/* Free records that no thread works on. */
static uint64_t ring_count(struct pfs_magazine *ring)
{
	uint64_t first, last;
	pfs_magazine_content(ring, &first, &last);
	return first < last ? last - first : 0;
}

static struct pfs_thread *first_handle(struct pfs_container *self)
{
	/* [C5] seq, pairs with [C6]: the handles are complete. */
	return pfs_load_seq(&self->threads);
}

/* Blocks whose state is that of the watch held their records throughout. */
static bool visit_blocks(struct pfs_container *self, bool watch)
{
	struct pfs_magazines *magazines = pfs_magazines_of(self);
	bool is_unchanged = false;
	for (uint32_t node = 0; node < magazines->node_count; node++) {
		struct pfs_depot *depot = &magazines->depots[node];
		for (uint32_t i = 0; i < depot->block_count; i++) {
			struct pfs_block *block = pfs_depot_block(depot, i);
			/* relaxed: coherence with the watch is enough. */
			uint64_t state = pfs_load_relaxed(&block->state);
			if (watch)
				block->watched = state;
			is_unchanged |= pfs_block_has_records(state) && block->watched == state;
		}
	}
	return is_unchanged;
}

void pfs_stranded_watch(struct pfs_container *self)
{
	struct pfs_thread *thread = first_handle(self);
	for (; thread != NULL; thread = thread->next) {
		struct pfs_magazine *ring = thread->policy;
		uint64_t first;
		pfs_magazine_content(ring, &first, &ring->watched);
	}
	(void)visit_blocks(self, true);
}

/* Does a ring or a block still hold a record that was given before the watch? */
bool pfs_stranded_is_free_since_watch(struct pfs_container *self)
{
	struct pfs_thread *thread = first_handle(self);
	for (; thread != NULL; thread = thread->next) {
		struct pfs_magazine *ring = thread->policy;
		uint64_t first, last;
		pfs_magazine_content(ring, &first, &last);
		if (first < ring->watched)
			return true;
	}
	return visit_blocks(self, false);
}

/* All rings together, minus the smallest: what the thread with the fewest records misses. */
static uint64_t stranded_now(struct pfs_container *self)
{
	uint64_t sum = 0;
	uint64_t least = UINT64_MAX;
	struct pfs_thread *thread = first_handle(self);
	for (; thread != NULL; thread = thread->next) {
		struct pfs_magazine *ring = thread->policy;
		uint64_t count = ring_count(ring);
		sum += count;
		/* relaxed: a metric */
		if (pfs_load_relaxed(&ring->owner) != PFS_RING_NOBODYS && count < least)
			least = count;
	}
	return least == UINT64_MAX ? 0 : sum - least;
}

void pfs_stranded_sample(struct pfs_container *self)
{
	struct pfs_magazines *magazines = pfs_magazines_of(self);
	pfs_metrics_begin();
	uint64_t now = stranded_now(self);
	uint64_t peak = pfs_load_relaxed(&magazines->stranded_peak); /* relaxed: a maximum */
	while (now > peak && !pfs_cas_relaxed(&magazines->stranded_peak, &peak, now))
		; /* relaxed: a failed CAS means that another thread raised the peak */
	pfs_metrics_end();
}

void pfs_stranded(struct pfs_container *self, uint64_t *now, uint64_t *peak)
{
	struct pfs_magazines *magazines = pfs_magazines_of(self);
	pfs_stranded_sample(self);
	*now = stranded_now(self);
	*peak = pfs_load_relaxed(&magazines->stranded_peak); /* relaxed: a metric */
}
