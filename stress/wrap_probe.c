/*
 * wrap_probe.c - reaches into a container and makes its versions begin shortly before they wrap.
 */
#include "containers/container.h"
#include "crowd.h"

/* Before any thread allocates; for existing pages and later ones. */
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
