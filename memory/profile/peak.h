/*
 * peak.h - keeps the profile as it was when the samples in use stood for the most bytes, at a
 * constant cost for each sample.
 *
 * Each context has the sums of its samples in use. When their total is higher than at the last mark
 * by 1/PFS_PEAK_STEP, a new mark is set: one number changes. The next change of a context after a
 * mark first saves the context's sums; a context without a change since then has them still. So a
 * reader knows every context's sums at the mark. The true maximum is at most 1/PFS_PEAK_STEP above
 * the marked one. A sample that is taken or freed by another thread at the moment of the mark may
 * be on either side of it.
 *
 * Ordering:  [PK1] marks: fetch-add, acq_rel  <->  [PK2] marks: load, acquire
 *            carries: the sums of the sample that raised the total
 */
#ifndef PFS_PROFILE_PEAK_H
#define PFS_PROFILE_PEAK_H

#include "memory/box/profile.h"

#define PFS_PEAK_STEP 128u

/* Sets what a sample stands for, by its bytes and its chance to be sampled: the sums add that, and
 * subtract it. */
void pfs_peak_weigh(struct pfs_box_sample *sample, double chance);

/* A sample of a context comes into use, or is freed. Wait-free but for a lost CAS, each of which
 * means that another thread has saved the sums or set the mark. */
void pfs_peak_add(struct pfs_box_head *head, struct pfs_box_context *context,
		  const struct pfs_box_sample *sample);
void pfs_peak_remove(struct pfs_box_head *head, struct pfs_box_context *context,
		     const struct pfs_box_sample *sample);

#endif
