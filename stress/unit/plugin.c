/*
 * plugin.c - a library that contains pfslab, as a plugin would; plugin_test.c loads it.
 */
#include <pfslab/variant.h>

int plugin_use(void);

int plugin_use(void)
{
	struct pfs_config config;
	struct pfs_container *container = NULL;
	struct pfs_thread *thread = NULL;
	pfs_config_init(&config);
	config.reclaim.period_ms = 1;
	if (pfs_container_create(pfs_variant_find("magazine"), &config, &container, NULL) !=
		    PFS_OK ||
	    pfs_thread_current(container, &thread) != PFS_OK)
		return 1;
	struct pfs_claim claim = pfs_allocate(thread);
	if (claim.record == NULL)
		return 2;
	pfs_abandon(thread, claim);
	pfs_container_destroy(container);
	return 0;
}
