/* list.c - all variants, in the order of variants.def, and the search by name. */
#include <string.h>

#include <pfslab/variant.h>

#define PFS_VARIANT(name) extern const struct pfs_variant pfs_variant_##name;
#include "variants.def"
#undef PFS_VARIANT

static const struct pfs_variant *const variants[] = {
#define PFS_VARIANT(name) &pfs_variant_##name,
#include "variants.def"
#undef PFS_VARIANT
};

#define VARIANT_COUNT (sizeof(variants) / sizeof(variants[0]))

const struct pfs_variant *pfs_variant_at(size_t position)
{
	return position < VARIANT_COUNT ? variants[position] : NULL;
}

const struct pfs_variant *pfs_variant_find(const char *name)
{
	for (size_t position = 0; position < VARIANT_COUNT; position++) {
		if (strcmp(pfs_variant_name(variants[position]), name) == 0)
			return variants[position];
	}
	return NULL;
}
