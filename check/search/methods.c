/*
 * methods.c - the searches there are, by name.
 */
#include <string.h>

#include "check/search/method.h"

const struct pfs_search_method *const pfs_search_methods[PFS_SEARCH_KINDS] = {
	[PFS_SEARCH_SLEEP] = &pfs_method_sleep,       [PFS_SEARCH_DPOR] = &pfs_method_dpor,
	[PFS_SEARCH_OPTIMAL] = &pfs_method_optimal,   [PFS_SEARCH_BOUNDED] = &pfs_method_bounded,
	[PFS_SEARCH_NAIVE] = &pfs_method_naive,       [PFS_SEARCH_STATES] = &pfs_method_states,
	[PFS_SEARCH_FIXPOINT] = &pfs_method_fixpoint, [PFS_SEARCH_RANDOM] = &pfs_method_random,
	[PFS_SEARCH_PCT] = &pfs_method_pct,           [PFS_SEARCH_SLOW] = &pfs_method_slow,
	[PFS_SEARCH_POS] = &pfs_method_pos,           [PFS_SEARCH_URW] = &pfs_method_urw,
	[PFS_SEARCH_ROTATE] = &pfs_method_rotate,
};

int pfs_search_kind_of(const char *name)
{
	if (strcmp(name, "exhaustive") == 0)
		return PFS_SEARCH_ALL;
	for (int kind = 0; kind < PFS_SEARCH_KINDS; kind++) {
		if (kind != PFS_SEARCH_ALL && strcmp(pfs_search_methods[kind]->name, name) == 0)
			return kind;
	}
	return -1;
}

bool pfs_search_is_random(enum pfs_search_kind kind)
{
	return kind != PFS_SEARCH_ALL && pfs_search_methods[kind]->is_random;
}
