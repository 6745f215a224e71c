/*
 * peak.c - sums of the samples in use, and their values at the last mark.
 */
#include "peak.h"

#include "containers/compiler.h"
#include "memory/box/box.h"

/* Freed is read first: then it has nothing that ever lacks. */
static void save(_Atomic(uint64_t) *saved, uint64_t mark, _Atomic(uint64_t) *ever,
		 _Atomic(uint64_t) *freed)
{
	uint64_t before = pfs_load_relaxed(saved);        /* relaxed: the CAS decides */
	if (pfs_likely(before >> PFS_SAVED_BITS == mark)) /* by another change since the mark */
		return;
	/* [PK4] acquire, pairs with [PK3]. */
	uint64_t value = -pfs_load_acquire(freed);
	value += pfs_load_relaxed(ever); /* relaxed: [PK2] brought what the mark has */
	/* relaxed: readers check the mark in the word; another thread saved the same. */
	(void)pfs_cas_relaxed(saved, &before, mark << PFS_SAVED_BITS | (value & PFS_SAVED_MOST));
}

void pfs_peak_save(struct pfs_box_head *head, struct pfs_box_context *context)
{
	/* [PK2] acquire, pairs with [PK1]: without it the sums that are saved here could lack the
	 * sample that raised the total. */
	uint64_t mark = pfs_load_acquire(&head->peak.marks) & PFS_MARK_MOST;
	save(&context->peak_bytes, mark, &context->bytes, &context->freed_bytes);
	save(&context->peak_objects_256ths, mark, &context->objects_256ths,
	     &context->freed_objects_256ths);
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

void pfs_peak_add(struct pfs_box_head *head, const struct pfs_box_sample *sample)
{
	uint64_t bytes = sample->weight_bytes;
	/* relaxed: a sum */
	mark_if_highest(&head->peak, pfs_fetch_add_relaxed(&head->peak.sampled, bytes) + bytes);
}

void pfs_peak_remove(struct pfs_box_head *head, struct pfs_box_context *context,
		     const struct pfs_box_sample *sample)
{
	pfs_peak_save(head, context);
	/* [PK3] acq_rel, pairs with [PK4]: without it a sum could be saved that lacks this sample
	 * among those ever, and has it among those freed. */
	(void)pfs_fetch_add_acq_rel(&context->freed_bytes, sample->weight_bytes);
	/* [PK3] acq_rel, pairs with [PK4]: likewise. */
	(void)pfs_fetch_add_acq_rel(&context->freed_objects_256ths, sample->weight_objects_256ths);
	/* relaxed: a sum */
	(void)pfs_fetch_add_relaxed(&head->peak.sampled, -sample->weight_bytes);
}
