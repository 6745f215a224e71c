/*
 * sum.c - the metrics of a container, summed over its threads.
 */
#include <string.h>

#include "kept.h"
#include "overhead.h"

#ifdef PFS_COUNTING
static uint64_t event(struct pfs_thread *thread, enum pfs_event which)
{
	/* relaxed: a sum over counters that their threads continue to write. */
	return pfs_load_relaxed(&thread->tally.events[which]);
}

static void add_thread(struct pfs_counts *counts, struct pfs_thread *thread)
{
	counts->allocations += event(thread, PFS_EVENT_ALLOCATIONS);
	counts->probes += event(thread, PFS_EVENT_PROBES);
	counts->page_probes += event(thread, PFS_EVENT_PAGE_PROBES);
	counts->cas_failures += event(thread, PFS_EVENT_CAS_FAILURES);
	counts->page_skips += event(thread, PFS_EVENT_PAGE_SKIPS);
	counts->record_skips += event(thread, PFS_EVENT_RECORD_SKIPS);
	counts->flag_skips += event(thread, PFS_EVENT_FLAG_SKIPS);
	counts->false_full_at_least += event(thread, PFS_EVENT_FALSE_FULL);
	counts->remote += event(thread, PFS_EVENT_REMOTE);
	counts->mixed += event(thread, PFS_EVENT_MIXED);
}
#else
static void add_thread(struct pfs_counts *counts, struct pfs_thread *thread)
{
	(void)counts, (void)thread;
}
#endif

static void add_threads(struct pfs_container *self, struct pfs_counts *counts)
{
	/* [C5] seq, pairs with [C6]: the handles after the head are complete. */
	struct pfs_thread *thread = pfs_load_seq(&self->threads);
	for (; thread != NULL; thread = thread->next) {
		counts->lost += pfs_load_relaxed(&thread->lost); /* relaxed: a metric */
		add_thread(counts, thread);
	}
}

uint64_t pfs_container_resident(struct pfs_container *self, struct pfs_page *page)
{
	return self->source->resident(self->source->context, pfs_page_block(page),
				      self->shape.block_bytes);
}

/* Under `passing`: only a pass removes or unmaps pages, so none goes while the system is asked
 * about it; a page that comes meanwhile may be missed. Without `growth`: the calls take long, and a
 * thread that needs a page must not wait for them. Includes pages that wait for readers, and one
 * that was made and is not needed yet. */
static uint64_t resident_bytes(struct pfs_container *self)
{
	uint64_t sum = 0;
	for (struct pfs_page *page = self->limbo; page != NULL; page = page->limbo_next)
		sum += pfs_container_resident(self, page);
	for (uint32_t index = 0; index < pfs_container_page_limit(self); index++) {
		struct pfs_page *page = pfs_container_page(self, index);
		if (page != NULL)
			sum += pfs_container_resident(self, page);
	}
	if (self->variant->reserve_bytes != NULL)
		sum += self->variant->reserve_bytes(self);
	return sum + pfs_kept_resident(self);
}

uint64_t pfs_container_lost(struct pfs_container *container)
{
	uint64_t lost = 0;
	/* [C5] seq, pairs with [C6]: the handles after the head are complete. */
	struct pfs_thread *thread = pfs_load_seq(&container->threads);
	for (; thread != NULL; thread = thread->next)
		lost += pfs_load_relaxed(&thread->lost); /* relaxed: a metric */
	return lost;
}

uint64_t pfs_container_live(struct pfs_container *container)
{
	uint64_t live = 0;
	pfs_mutex_lock(&container->passing); /* so that no page is unmapped */
	uint32_t limit = pfs_container_page_limit(container);
	for (uint32_t index = 0; index < limit; index++) {
		const struct pfs_page *page = pfs_container_page(container, index);
		live += page != NULL ? pfs_container_page_live(container, page) : 0;
	}
	pfs_mutex_unlock(&container->passing);
	return live;
}

void pfs_container_counts(struct pfs_container *container, struct pfs_counts *counts)
{
	*counts = (struct pfs_counts){ .counted = PFS_COUNTED };
	add_threads(container, counts);
	pfs_mutex_lock(&container->passing);
	pfs_mutex_lock(&container->growth);
	/* relaxed, all of them: metrics, and `growth` is held. */
	counts->growths = pfs_load_relaxed(&container->growths);
	counts->needless_growths = pfs_load_relaxed(&container->needless_growths); /* relaxed: " */
	counts->reclaimed = pfs_load_relaxed(&container->reclaimed);               /* relaxed: " */
	counts->pages = pfs_load_relaxed(&container->pages);                       /* relaxed: " */
	counts->pages_peak = pfs_load_relaxed(&container->pages_peak);             /* relaxed: " */
	counts->pages_waiting = pfs_load_relaxed(&container->limbo_count);         /* relaxed: " */
	counts->live_peak = pfs_load_relaxed(&container->live_peak);               /* relaxed: " */
	counts->overhead_bytes = pfs_container_overhead(container);
	if (PFS_COUNTED && container->variant->stranded != NULL)
		container->variant->stranded(container, &counts->stranded, &counts->stranded_peak);
	pfs_mutex_unlock(&container->growth);
	counts->resident_bytes = resident_bytes(container);
	pfs_mutex_unlock(&container->passing);
}
