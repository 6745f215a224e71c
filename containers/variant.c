/*
 * variant.c - the public properties of a policy.
 */
#include "variant.h"

const char *pfs_variant_name(const struct pfs_variant *variant)
{
	return variant->name;
}

const char *pfs_variant_summary(const struct pfs_variant *variant)
{
	return variant->summary;
}

uint32_t pfs_variant_traits(const struct pfs_variant *variant)
{
	return variant->traits;
}
