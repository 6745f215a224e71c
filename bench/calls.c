/*
 * calls.c - see calls.h: the list of all policies' calls, and those by the public API from C.
 */
#include "calls.h"

#include <string.h>

#include "calls_with.h"

#define PFS_VARIANT(policy) extern const struct pfs_calls pfs_calls_##policy;
#include "variants/variants.def"
#undef PFS_VARIANT

static const struct {
	const char *name;
	const struct pfs_calls *calls;
} inlined[] = {
#define PFS_VARIANT(policy) { #policy, &pfs_calls_##policy },
#include "variants/variants.def"
#undef PFS_VARIANT
};

PFS_PUBLIC_CALLS(pfs_calls_public)

#define PFS_VARIANT(policy) +1
static struct pfs_calls inlined_calls[0
#include "variants/variants.def"
];
#undef PFS_VARIANT

/*
 * Single operations are the policy's own functions, without a wrapper. A wrapper cost a policy
 * whose first probe often misses an additional call: 8 % of handoff.
 */
static const struct pfs_calls *inlined_of(const struct pfs_variant *variant, size_t i)
{
	struct pfs_calls *calls = &inlined_calls[i];
	*calls = *inlined[i].calls;
	calls->allocate = variant->allocate;
	calls->publish = variant->publish;
	calls->free = variant->free;
	return calls;
}

const struct pfs_calls *pfs_calls_of(const struct pfs_variant *variant, enum pfs_api api)
{
	const char *name = pfs_variant_name(variant);

	if (api != PFS_API_INLINED && (pfs_variant_traits(variant) & PFS_TRAIT_WORDS) != 0)
		return api == PFS_API_CXX ? &pfs_calls_cxx : &pfs_calls_public;
	for (size_t i = 0; i < sizeof(inlined) / sizeof(inlined[0]); i++)
		if (strcmp(inlined[i].name, name) == 0)
			return inlined_of(variant, i);
	return NULL;
}
