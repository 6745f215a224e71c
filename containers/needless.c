/*
 * needless.c - was a page added although a record was free? The metric needless_growths of the
 * policies with occupancy words.
 *
 * It must not trust the proof that it judges. What was free when the lock was taken, and still
 * is when the page is published, was free all the while. A bit that is set now counts if its
 * word's version is that of the watch; a record in a cache counts if it came before the watch.
 * What was freed since does not: it came after the decision.
 */
#include "summary.h"

void pfs_needless_watch(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	uint32_t words = pfs_ceil_div(self->config.page_records, PFS_WORD_RECORDS);
	pfs_metrics_begin();
	uint32_t limit = PFS_COUNTED ? pfs_container_page_limit(self) : 0;
	for (uint32_t page = 0; page < limit; page++) {
		struct pfs_occupancy_page *entry = pfs_summary_page_at(self, page);
		for (uint32_t i = 0; entry != NULL && i < words; i++) {
			/* relaxed: coherence with the later look is enough. */
			uint64_t word = pfs_load_relaxed(&entry->words[i].free);
			index->watched[(size_t)page * words + i] = word;
		}
	}
	if (PFS_COUNTED && index->caches != NULL)
		index->caches->watch(self);
	pfs_metrics_end();
}

static bool is_free_since_watch(struct pfs_container *self, struct pfs_occupancy_page *entry)
{
	struct pfs_occupancy *index = self->policy;
	for (uint32_t i = 0; i < entry->word_count; i++) {
		/* relaxed: coherence with the watch is enough. */
		uint64_t word = pfs_load_relaxed(&entry->words[i].free);
		uint64_t watched = index->watched[(size_t)entry->index * entry->word_count + i];
		if ((uint32_t)word != 0 && word >> 32 == watched >> 32)
			return true;
	}
	return false;
}

int pfs_occupancy_some_free(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	uint32_t limit = pfs_container_page_limit(self);
	for (uint32_t page = 0; page < limit; page++) {
		struct pfs_occupancy_page *entry = pfs_summary_page_at(self, page);
		if (entry != NULL && is_free_since_watch(self, entry))
			return 1;
	}
	return index->caches != NULL && index->caches->is_free_since_watch(self);
}
