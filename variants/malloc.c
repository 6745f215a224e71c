/*
 * malloc.c - baseline: the process's allocator behind the same interface.
 *
 * It has no words, no index and no pages. Link or preload another allocator to measure that one.
 */
#include <stddef.h>
#include <stdlib.h>

#include "containers/container.h"

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	const struct pfs_config *config = &thread->container->config;
	size_t align = config->record_align_bytes;
	size_t size = config->record_size_bytes;
	void *record = align <= _Alignof(max_align_t)
			       ? malloc(size)
			       : aligned_alloc(align, (size + align - 1) / align * align);
	if (record == NULL)
		return pfs_container_refuse(thread, PFS_NO_MEMORY);
	return (struct pfs_claim){ .record = record, .dirty_word = 0 };
}

static void publish_record(struct pfs_thread *thread, struct pfs_claim claim)
{
	(void)thread, (void)claim;
}

static void free_record(struct pfs_thread *thread, void *record)
{
	(void)thread;
	free(record);
}

static void abandon_record(struct pfs_thread *thread, struct pfs_claim claim)
{
	free_record(thread, claim.record);
}

PFS_POLICY(malloc) = {
	.name = "malloc",
	.summary = "baseline: the process's malloc, without words, index or bound",
	.traits = PFS_TRAIT_GROW | PFS_TRAIT_C11,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_record,
	.free = free_record,
};
