/*
 * quiet.c - the threads have gone: is everything there, free, once?
 */
#include <stdlib.h>
#include <unistd.h>

#include "crowd.h"

#define WAIT_TRIES 5000u /* of a millisecond */

static struct pfs_counts counts_of(struct pfs_crowd *self)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	return counts;
}

static void check_nothing_lives(struct pfs_crowd *self, struct pfs_thread *thread)
{
	struct pfs_walk walk;
	if (self->has_index && !self->has_words)
		return; /* a walk may meet what lies in rings, or is being given back */
	pfs_walk_begin(&walk, thread, PFS_WALK_LIVE);
	if (pfs_walk_next(&walk) != NULL)
		pfs_harm(self, "all was freed, but record %llu lives",
			 (unsigned long long)walk.index);
	pfs_walk_end(&walk);
}

static void check_owners(struct pfs_crowd *self, uint32_t parked)
{
	uint32_t found = 0;
	for (uint64_t index = 0; index < self->capacity; index++) {
		uint32_t owner = atomic_load_explicit(&self->owners[index], memory_order_relaxed);
		if (owner != 0 && owner != PFS_OWNER_PARKED)
			pfs_harm(self, "all was freed, but record %llu has owner %u",
				 (unsigned long long)index, owner);
		found += owner == PFS_OWNER_PARKED;
	}
	if (found != parked)
		pfs_harm(self, "%u records are parked, not %u", found, parked);
}

/* What was taken out of use goes, now that no reader is left. */
static void check_nothing_waits(struct pfs_crowd *self, struct pfs_thread *thread)
{
	uint32_t try = 0;
	for (; counts_of(self).pages_waiting != 0 && try < WAIT_TRIES; try++) {
		(void)pfs_reclaim_now(thread);
		(void)usleep(1000);
	}
	if (try == WAIT_TRIES)
		pfs_harm(self, "no reader is left, but pages wait");
}

/* What the policy promises; only builds that count can tell. */
static void check_counts(struct pfs_crowd *self)
{
	struct pfs_counts counts = counts_of(self);
	uint32_t traits = pfs_variant_traits(self->options->policy);
	uint64_t refused = 0;
	for (uint32_t i = 0; i <= self->options->threads; i++)
		refused += self->deeds[i].refused;
	if (counts.lost != refused)
		pfs_harm(self, "%llu allocations were refused, %llu are counted as lost",
			 (unsigned long long)refused, (unsigned long long)counts.lost);
	if ((traits & PFS_TRAIT_STRICT) != 0 && !self->reclaims &&
	    counts.page_skips + counts.record_skips != 0)
		pfs_harm(self, "a strict policy skipped %llu pages and %llu records",
			 (unsigned long long)counts.page_skips,
			 (unsigned long long)counts.record_skips);
}

void pfs_crowd_check_quiet(struct pfs_crowd *self, uint32_t parked)
{
	struct pfs_thread *thread = NULL;
	check_counts(self);
	if (!self->has_index)
		return;
	if (pfs_thread_attach(self->container, &thread) != PFS_OK)
		pfs_harm(self, "no memory for a thread");
	check_owners(self, parked);
	check_nothing_lives(self, thread);
	check_nothing_waits(self, thread);
	pfs_thread_detach(thread);
}

/* The real system's full flags may be stuck when no call runs: a known defect of it. */
static bool may_be_stuck(const struct pfs_crowd *self)
{
	return self->options->policy == pfs_variant_find("original") && self->config.full_flags;
}

static uint64_t fill(struct pfs_crowd *self, struct pfs_thread *thread, void **records)
{
	uint64_t count = 0;
	for (; count <= self->capacity; count++) {
		struct pfs_claim claim = pfs_allocate(thread);
		if (claim.record == NULL)
			break;
		uint64_t index = pfs_index(thread, claim.record);
		if (index >= self->capacity ||
		    atomic_exchange_explicit(&self->owners[index], 1, memory_order_relaxed) != 0)
			pfs_harm(self, "filling up, record %llu came twice",
				 (unsigned long long)index);
		pfs_publish(thread, claim);
		records[count] = claim.record;
	}
	return count;
}

void pfs_crowd_check_filled(struct pfs_crowd *self, uint32_t parked)
{
	struct pfs_thread *thread = NULL;
	void **records = calloc(self->capacity + 1, sizeof(*records));
	if (!self->has_index || !self->bounded) {
		free(records);
		return;
	}
	if (records == NULL || pfs_thread_attach(self->container, &thread) != PFS_OK)
		pfs_harm(self, "no memory for a thread");
	uint64_t lost = counts_of(self).lost;
	uint64_t count = fill(self, thread, records);
	if (count + parked != self->capacity && !may_be_stuck(self))
		pfs_harm(self, "%llu of %llu records could be had, %u being parked",
			 (unsigned long long)count, (unsigned long long)self->capacity, parked);
	if (pfs_thread_status(thread) != PFS_FULL || counts_of(self).lost != lost + 1)
		pfs_harm(self, "a full container answered: %s",
			 pfs_status_text(pfs_thread_status(thread)));
	while (count-- > 0) {
		uint64_t index = pfs_index(thread, records[count]);
		atomic_store_explicit(&self->owners[index], 0, memory_order_relaxed);
		pfs_free(thread, records[count]);
	}
	pfs_thread_detach(thread);
	free(records);
}
