/*
 * methods.c - the searches there are, by name.
 */
#include <string.h>

#include "check/search/method.h"

#define ADDRESS(KIND, name, what) &pfs_method_##name,
const struct pfs_search_method *const pfs_search_methods[PFS_SEARCH_KINDS] = {
	NULL, PFS_SEARCH_LIST(ADDRESS, ADDRESS)
};

int pfs_search_kind_of(const char *name)
{
	if (strcmp(name, "exhaustive") == 0)
		return PFS_SEARCH_ALL;
	for (int kind = PFS_SEARCH_ALL + 1; kind < PFS_SEARCH_KINDS; kind++) {
		if (strcmp(pfs_search_methods[kind]->name, name) == 0)
			return kind;
	}
	return -1;
}

bool pfs_search_is_random(enum pfs_search_kind kind)
{
	return kind != PFS_SEARCH_ALL && pfs_search_methods[kind]->is_random;
}

bool pfs_search_is_by_states(enum pfs_search_kind kind)
{
	static const bool by_states[] = {
#define NO(KIND, name, what) false,
#define YES(KIND, name, what) true,
		false, PFS_SEARCH_LIST(NO, YES)
	};
	return by_states[kind];
}
