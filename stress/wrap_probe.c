/*
 * wrap_probe.c - looks inside a container, to let its versions begin where they will wrap.
 */
#include "containers/container.h"
#include "crowd.h"

/* Before any thread allocates; pages that are there and pages to come. */
void pfs_crowd_preset_versions(struct pfs_container *container, uint32_t below_last)
{
	uint32_t word = PFS_VERSION_MASK - below_last * PFS_VERSION_ONE;
	for (uint32_t index = 0; index < container->page_capacity; index++) {
		struct pfs_page *page = pfs_container_page(container, index);
		container->version_bases[index] = word;
		for (uint32_t slot = 0; page != NULL && slot < page->slot_count; slot++)
			pfs_store_relaxed(&pfs_page_lock(page, slot)->word, word);
		/* relaxed: no thread has begun */
	}
}
