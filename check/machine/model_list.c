/*
 * model_list.c - all memory models, by name.
 */
#include "check/machine/model.h"

#define ADDRESS(name, what) &pfs_model_##name,
const struct pfs_memory_model *const pfs_memory_models[] = { PFS_MODEL_LIST(ADDRESS, ADDRESS) };

const struct pfs_memory_model *pfs_memory_model_of(const char *name)
{
	for (uint32_t i = 0; i < PFS_MEMORY_MODELS; i++) {
		if (strcmp(pfs_memory_models[i]->name, name) == 0)
			return pfs_memory_models[i];
	}
	return NULL;
}
