/*
 * calls.c - see calls.h: the list of all policies' calls, and those by the public API.
 */
#include "calls.h"

#include <string.h>

#include "calls_with.h"

#ifdef PFS_BOOST
#define PFS_VARIANT_BOOST(name) PFS_VARIANT(name)
#else
#define PFS_VARIANT_BOOST(name)
#endif

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

static const struct pfs_variant public_api = {
	.allocate = pfs_allocate,
	.publish = pfs_publish,
	.free = pfs_free,
};
PFS_BATCHES(public_api)

static const struct pfs_calls public_calls = PFS_CALLS;

const struct pfs_calls *pfs_calls_of(const struct pfs_variant *variant, enum pfs_api api)
{
	const char *name = pfs_variant_name(variant);

	if (api == PFS_API_PUBLIC && (pfs_variant_traits(variant) & PFS_TRAIT_WORDS) != 0)
		return &public_calls;
	for (size_t i = 0; i < sizeof(inlined) / sizeof(inlined[0]); i++)
		if (strcmp(inlined[i].name, name) == 0)
			return inlined[i].calls;
	return NULL;
}
