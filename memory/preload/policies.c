/*
 * policies.c - a list with only the policies that the books use; replaces variants/list.c.
 */
#include <string.h>

#include <pfslab/variant.h>

extern const struct pfs_variant pfs_variant_exact, pfs_variant_original;

static const struct pfs_variant *const variants[] = {
	&pfs_variant_exact, &pfs_variant_original, /* for numbers of the rule global */
};
#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

const struct pfs_variant *pfs_variant_at(size_t position)
{
	return position < VARIANTS ? variants[position] : NULL;
}

const struct pfs_variant *pfs_variant_find(const char *name)
{
	for (size_t i = 0; i < VARIANTS; i++)
		if (strcmp(pfs_variant_name(variants[i]), name) == 0)
			return variants[i];
	return NULL;
}
