/*
 * overhead.c - the metric overhead_bytes: what a container holds besides its users' bytes.
 *
 * A page counts from when it is made until it is unmapped. Arrays with an entry for each possible
 * page count for the pages below the limit, because the system holds no memory for the rest.
 * Handles do not count: their number depends on threads, not on records.
 */
#include "overhead.h"

static uint64_t page_overhead(const struct pfs_container *self, const struct pfs_page *page)
{
	uint64_t entries = self->shape.granules_bytes / PFS_GRANULE_BYTES;
	return self->shape.block_bytes + self->shape.apart_bytes + entries * sizeof(void *) -
	       (uint64_t)page->slot_count * self->config.record_size_bytes;
}

static uint64_t directory_bytes(struct pfs_container *self)
{
	size_t entry = sizeof(*self->directory) + sizeof(*self->version_bases) +
		       sizeof(*self->pass_live) + sizeof(*self->pass_keys);
	return (uint64_t)pfs_container_page_limit(self) * entry;
}

uint64_t pfs_container_overhead(struct pfs_container *self)
{
	uint64_t sum = directory_bytes(self);
	for (const struct pfs_page *page = self->limbo; page != NULL; page = page->limbo_next)
		sum += page_overhead(self, page);
	for (uint32_t index = 0; index < pfs_container_page_limit(self); index++) {
		const struct pfs_page *page = pfs_container_page(self, index);
		sum += page != NULL ? page_overhead(self, page) : 0;
	}
	if (self->variant->index_bytes != NULL)
		sum += self->variant->index_bytes(self);
	return sum;
}
