#include "sim/command_list.h"

#include <stdio.h>

#include "bench/traits.h"
#include "containers/variant.h"
#include "sim/cases.h"

int pfs_command_list(void)
{
	const char *summary;
	(void)printf("policies:\n");
	for (size_t at = 0; pfs_variant_at(at) != NULL; at++) {
		const struct pfs_variant *variant = pfs_variant_at(at);
		if ((variant->traits & PFS_TRAIT_C11) != 0)
			(void)printf("  %-14s %s\n", variant->name, variant->summary);
	}
	(void)printf("scenarios:\n");
	for (size_t at = 0; pfs_case_name(at, &summary) != NULL; at++)
		(void)printf("  %-14s %s\n", pfs_case_name(at, &summary), summary);
	return 0;
}

/* As pfs-bench --list_traits, of the policies that `list` names. */
int pfs_command_list_traits(void)
{
	const struct pfs_variant *variant;
	char traits[PFS_TRAITS_CHARS];
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		pfs_traits_text(variant->traits, traits);
		if ((variant->traits & PFS_TRAIT_C11) != 0)
			(void)printf("%-14s %s\n", variant->name, traits);
	}
	return 0;
}
