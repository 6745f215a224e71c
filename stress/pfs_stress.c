/*
 * pfs_stress.c - the program: which workloads and layouts run with which policy.
 */
#include <stdio.h>

#include "base/command_line.h"
#include "crowd.h"
#include "stress/harness/harness.h"

static int list_policies(void)
{
	const struct pfs_variant *variant;
	for (size_t i = 0; (variant = pfs_variant_at(i)) != NULL; i++)
		(void)printf("%-14s %s\n", pfs_variant_name(variant), pfs_variant_summary(variant));
	return 0;
}

static bool can_do(const struct pfs_stress_options *options, enum pfs_mode mode)
{
	const uint32_t indexed = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX;
	bool has_words = options->layout != PFS_LAYOUT_BARE || options->bare_words;
	return mode == PFS_MODE_PLAIN ||
	       (has_words && (pfs_variant_traits(options->policy) & indexed) == indexed);
}

/* Run the workloads that the policy supports; name those that it does not. */
static uint32_t modes_of(const struct pfs_stress_options *options)
{
	uint32_t able = 0;
	for (uint32_t mode = PFS_MODE_PLAIN; mode <= PFS_MODE_HISTORY; mode <<= 1) {
		if ((options->modes & mode) == 0)
			continue;
		if (can_do(options, (enum pfs_mode)mode))
			able |= mode;
		else
			(void)printf("%s %s: left out, its records have no word and no index\n",
				     pfs_variant_name(options->policy),
				     pfs_mode_name((enum pfs_mode)mode));
	}
	return able;
}

static void run_layout(const struct pfs_stress_options *options, enum pfs_layout layout,
		       uint32_t able)
{
	uint32_t count = (uint32_t)__builtin_popcount(able);
	for (uint32_t mode = PFS_MODE_PLAIN; mode <= PFS_MODE_HISTORY; mode <<= 1) {
		if ((able & mode) != 0)
			pfs_crowd_run(options, layout, (enum pfs_mode)mode,
				      options->seconds / count);
	}
}

static int run(int argc, char **argv)
{
	struct pfs_stress_options options;
	int status = pfs_stress_options_read(&options, argc, argv);
	if (status != PFS_GO_ON)
		return status;
	if (options.list_policies)
		return list_policies();
	if (PFS_UNDER_TSAN && (pfs_variant_traits(options.policy) & PFS_TRAIT_C11) == 0) {
		(void)printf("%s: left out, ThreadSanitizer cannot see all its accesses\n",
			     pfs_variant_name(options.policy));
		return 0;
	}
	uint32_t able = modes_of(&options);
	if (able == 0)
		return pfs_command_refuse("pfs-stress", PFS_EXIT_WRONG_USE,
					  "--workload: policy %s "
					  "can do none of these; try plain",
					  pfs_variant_name(options.policy));
	run_layout(&options, options.layout, able);
	if (options.both_layouts)
		run_layout(&options, PFS_LAYOUT_SIDE_BY_SIDE, able);
	return 0;
}

int main(int argc, char **argv)
{
	return pfs_command_end("pfs-stress", run(argc, argv));
}
