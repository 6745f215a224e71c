/*
 * needless.c - the metric needless_growths of the policies with occupancy words: was a page added
 * although a record was free?
 *
 * It must not trust the proof that it judges. A record that was free when the lock was taken, and
 * still is when the page is published, was free throughout. A set bit counts if its word's version
 * is that of the watch; a record in a cache counts if it came before the watch. A record that was
 * freed since does not count, because it came after the decision. Nor does a record whose free was
 * under way at the watch: it is free when the free returns.
 */
#include "front.h"
#include "hints.h"

#ifdef PFS_COUNTING
static bool is_being_given(struct pfs_container *self, const struct pfs_occupancy_word *word)
{
	/* [C5] seq, pairs with [C6]: the handles are complete. */
	struct pfs_thread *thread = pfs_load_seq(&self->threads);
	for (; thread != NULL; thread = thread->next) {
		/* relaxed: see pfs_tally_giving. */
		if (pfs_load_relaxed(&thread->tally.giving) == word)
			return true;
	}
	return false;
}
#else
static bool is_being_given(struct pfs_container *self, const struct pfs_occupancy_word *word)
{
	(void)self, (void)word;
	return false;
}
#endif

void pfs_needless_watch(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	uint32_t words = pfs_ceil_div(self->config.page_records, PFS_WORD_RECORDS);
	pfs_metrics_begin();
	uint32_t limit = PFS_COUNTED ? pfs_container_page_limit(self) : 0;
	for (uint32_t page = 0; page < limit; page++) {
		struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page);
		for (uint32_t i = 0; entry != NULL && i < words; i++) {
			/* [W9] acquire, pairs with [W2]: a thread that set a bit also shows that it
			 * is giving. */
			uint64_t word = pfs_load_acquire(&entry->words[i].free);
			if ((uint32_t)word != 0 && is_being_given(self, &entry->words[i]))
				word = UINT64_MAX; /* no word has that version */
			index->watched[(size_t)page * words + i] = word;
		}
	}
	if (PFS_COUNTED && index->front != NULL)
		index->front->watch(self);
	pfs_metrics_end();
}

static bool is_free_since_watch(struct pfs_container *self, struct pfs_occupancy_page *entry)
{
	struct pfs_occupancy *index = self->policy;
	for (uint32_t i = 0; i < entry->word_count; i++) {
		/* relaxed: coherence with the watch is enough. */
		uint64_t word = pfs_load_relaxed(&entry->words[i].free);
		uint64_t watched = index->watched[(size_t)entry->index * entry->word_count + i];
		if ((uint32_t)word != 0 && word / PFS_WORD_FREES == watched / PFS_WORD_FREES)
			return true;
	}
	return false;
}

int pfs_occupancy_some_free(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	uint32_t limit = pfs_container_page_limit(self);
	for (uint32_t page = 0; page < limit; page++) {
		struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page);
		if (entry != NULL && is_free_since_watch(self, entry))
			return 1;
	}
	return index->front != NULL && index->front->is_free_since_watch(self);
}
