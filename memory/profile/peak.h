/*
 * peak.h - keeps the profile as it was when the samples in use stood for the most bytes, at a
 * constant cost for each sample.
 *
 * Each context has the sums of its samples since the start, and of those that were freed: the
 * difference is in use. When the total of all in use is higher than at the last mark
 * by 1/PFS_PEAK_STEP, a new mark is set: one number changes. The next change of a context after a
 * mark first saves the context's sums; a context without a change since then has them still. So a
 * reader knows every context's sums at the mark. The true maximum is at most 1/PFS_PEAK_STEP above
 * the marked one. A sample that is taken or freed by another thread at the moment of the mark may
 * be on either side of it.
 *
 * Ordering:  [PK1] marks: fetch-add, acq_rel  <->  [PK2] marks: load, acquire
 *            carries: the sums of the sample that raised the total
 *            [PK3] freed sums: fetch-add, acq_rel  <->  [PK4] freed sums: load, acquire
 *            carries: the sums since the start, with the sample that was freed
 */
#ifndef PFS_PROFILE_PEAK_H
#define PFS_PROFILE_PEAK_H

#include "memory/box/profile.h"

#define PFS_PEAK_STEP 128u

/* Before a sum of the context changes: saves its sums if a mark was set since their last change.
 * Wait-free. */
void pfs_peak_save(struct pfs_box_head *head, struct pfs_box_context *context);

/* A sample came into use, and its context's sums have it. Lock-free: a CAS fails only if another
 * thread set a mark. */
void pfs_peak_add(struct pfs_box_head *head, const struct pfs_box_sample *sample);

/* A sample is freed. Wait-free. */
void pfs_peak_remove(struct pfs_box_head *head, struct pfs_box_context *context,
		     const struct pfs_box_sample *sample);

#endif
