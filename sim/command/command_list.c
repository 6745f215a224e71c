#include "sim/command/command_list.h"

#include <stdio.h>

#include "bench/traits.h"
#include "base/command_line.h"
#include "containers/variant.h"
#include "sim/cases/cases.h"

static void list(void)
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
}

/* As pfs-bench --list-traits, of the policies that `list` names. */
static void list_traits(void)
{
	const struct pfs_variant *variant;
	char traits[PFS_TRAITS_CHARS];
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		pfs_traits_text(variant->traits, traits);
		if ((variant->traits & PFS_TRAIT_C11) != 0)
			(void)printf("%-14s %s\n", variant->name, traits);
	}
}

int pfs_command_list(int argc, char **argv)
{
	bool traits = false, workloads = false;
	const struct pfs_option options[] = {
		PFS_SWITCH_OPTION("traits", &traits, "the policies, and what each can do"),
		PFS_SWITCH_OPTION("workloads", &workloads,
				  "the workloads of run, and what each needs and has"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-sim list", .words = "", .options = options, .option_count = 2,
		.about = "names the policies and the scenarios",
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	if (status != PFS_GO_ON)
		return status;
	if (workloads)
		pfs_workload_traits_print();
	else if (traits)
		list_traits();
	else
		list();
	return 0;
}
