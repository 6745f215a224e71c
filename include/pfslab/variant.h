/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * variant.h - the policies, by name.
 */
#ifndef PFSLAB_VARIANT_H
#define PFSLAB_VARIANT_H

#include <stddef.h>
#include <stdint.h>

#include <pfslab/container.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a policy can do; a test or a workload requires the traits that it needs. */
enum pfs_trait {
	PFS_TRAIT_WORDS = 1 << 0,   /* records have a pfs_lock word: versions, optimistic reads */
	PFS_TRAIT_INDEX = 1 << 1,   /* pfs_index, pfs_lookup, pfs_owns, walks */
	PFS_TRAIT_GROW = 1 << 2,    /* pages are added on demand, not all by create */
	PFS_TRAIT_RECLAIM = 1 << 3, /* pages are given back */
	PFS_TRAIT_STRICT = 1 << 4,  /* a search tries every page and record once: no skips */
	PFS_TRAIT_EXACT = 1 << 5,   /* grows only at a moment with no free record */
	PFS_TRAIT_BOUNDED = 1 << 6, /* respects page_max and counts what it refuses as lost */
	PFS_TRAIT_C11 = 1 << 7,     /* every shared access is C11: TSan and the simulator see it */
	PFS_TRAIT_BARE = 1 << 8,    /* supports PFS_LAYOUT_BARE, records without a header */
	PFS_TRAIT_OWN_WORD = 1 << 9 /* supports PFS_LAYOUT_OWN_WORD, records that contain their
				     * word, without a header */
};

/*
 * pfs_variant_find - the policy of that name, or NULL. pfs_variant_at - the policy at a position,
 * or NULL after the last; in the order of variants/variants.def.
 *
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
const struct pfs_variant *pfs_variant_find(const char *name);
const struct pfs_variant *pfs_variant_at(size_t position);

/*
 * pfs_variant_name - its name for pfs_variant_find. pfs_variant_summary - one line about it.
 * pfs_variant_traits - its traits, combined with |. The policy must not be NULL.
 *
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
const char *pfs_variant_name(const struct pfs_variant *variant);
const char *pfs_variant_summary(const struct pfs_variant *variant);
uint32_t pfs_variant_traits(const struct pfs_variant *variant);

#ifdef __cplusplus
}
#endif
#endif
