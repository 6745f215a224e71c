/*
 * gaps.h - the gaps between samples, which become longer when few records are left
 *
 * The last half of the records has fourfold gaps, the last quarter sixteenfold ones, and so on:
 * each part lasts for twice the bytes that the one before did, so the records do not run out. A
 * sample weighs what its own gap says, and the records in use do not depend on the bytes to come,
 * so the estimates stay unbiased.
 */
#ifndef PFS_PROFILE_GAPS_H
#define PFS_PROFILE_GAPS_H

#include "profile.h"

/* pfs_gaps_more - how much longer gaps are now than those that were asked for, as a logarithm. */
uint32_t pfs_gaps_more(const struct pfs_profile *self);

/* pfs_gaps_used - that many more records of samples are used. */
void pfs_gaps_used(struct pfs_profile *self, int32_t by);

#endif
