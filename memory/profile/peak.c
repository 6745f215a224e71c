/*
 * peak.c - sums of the samples in use, and their values at the last mark.
 */
#include "peak.h"

#include "containers/compiler.h"
#include "memory/box/box.h"

void pfs_peak_weigh(struct pfs_box_sample *sample, double chance)
{
	sample->weight_bytes = (uint64_t)((double)sample->bytes / chance + 0.5);
	sample->weight_objects_256ths = (uint64_t)(256 / chance + 0.5);
}

/* The value that a sum has at the mark, unless that is saved already. */
static void save(_Atomic(uint64_t) *saved, uint64_t mark, _Atomic(uint64_t) *sum)
{
	uint64_t before = pfs_load_relaxed(saved);        /* relaxed: the CAS decides */
	if (pfs_likely(before >> PFS_SAVED_BITS == mark)) /* by another change since the mark */
		return;
	uint64_t value = pfs_load_relaxed(sum); /* relaxed: [PK2] brought what the mark has */
	/* relaxed: readers check the mark in the word; another thread saved the same. */
	(void)pfs_cas_relaxed(saved, &before, mark << PFS_SAVED_BITS | (value & PFS_SAVED_MOST));
}

static void change(struct pfs_box_head *head, struct pfs_box_context *context, uint64_t bytes,
		   uint64_t objects)
{
	/* [PK2] acquire, pairs with [PK1]: without it the sums that are saved here could lack the
	 * sample that raised the total. */
	uint64_t mark = pfs_load_acquire(&head->peak.marks) & PFS_MARK_MOST;
	save(&context->peak_bytes, mark, &context->live_bytes);
	save(&context->peak_objects_256ths, mark, &context->live_objects_256ths);
	(void)pfs_fetch_add_relaxed(&context->live_bytes, bytes); /* relaxed: a sum */
	/* relaxed: a sum */
	(void)pfs_fetch_add_relaxed(&context->live_objects_256ths, objects);
}

static void mark_if_highest(struct pfs_box_peak *peak, uint64_t total)
{
	uint64_t highest = pfs_load_relaxed(&peak->bytes); /* relaxed: the CAS decides */
	while (total > highest + highest / PFS_PEAK_STEP && (int64_t)total > 0)
		if (pfs_cas_relaxed(&peak->bytes, &highest,
				    total)) { /* relaxed: [PK1] carries it */
			/* relaxed: likewise */
			pfs_store_relaxed(&peak->realtime_ns, pfs_box_now_ns());
			/* [PK1] acq_rel, pairs with [PK2]: without it see [PK2]. */
			(void)pfs_fetch_add_acq_rel(&peak->marks, 1);
			return;
		}
}

void pfs_peak_add(struct pfs_box_head *head, struct pfs_box_context *context,
		  const struct pfs_box_sample *sample)
{
	uint64_t bytes = sample->weight_bytes;
	change(head, context, bytes, sample->weight_objects_256ths);
	/* relaxed: a sum */
	mark_if_highest(&head->peak, pfs_fetch_add_relaxed(&head->peak.sampled, bytes) + bytes);
}

void pfs_peak_remove(struct pfs_box_head *head, struct pfs_box_context *context,
		     const struct pfs_box_sample *sample)
{
	uint64_t bytes = -sample->weight_bytes;
	change(head, context, bytes, -sample->weight_objects_256ths);
	(void)pfs_fetch_add_relaxed(&head->peak.sampled, bytes); /* relaxed: a sum */
}
