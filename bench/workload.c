/*
 * workload.c - the table of workloads, see workloads.def.
 */
#include "workload.h"

#include <string.h>

#define PFS_WORKLOAD(name) extern const struct pfs_workload pfs_workload_##name;
#include "workloads.def"
#undef PFS_WORKLOAD

static const struct pfs_workload *const workloads[] = {
#define PFS_WORKLOAD(name) &pfs_workload_##name,
#include "workloads.def"
#undef PFS_WORKLOAD
};

const struct pfs_workload *pfs_workload_at(uint32_t position)
{
	return position < sizeof(workloads) / sizeof(workloads[0]) ? workloads[position] : NULL;
}

const struct pfs_workload *pfs_workload_find(const char *name)
{
	for (uint32_t i = 0; pfs_workload_at(i) != NULL; i++)
		if (strcmp(workloads[i]->name, name) == 0)
			return workloads[i];
	return NULL;
}
