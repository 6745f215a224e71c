#include "last.h"

#include <string.h>

#include "system.h"

struct pfs_cache pfs_cache_last;

void pfs_last_begin(void)
{
	/* Also unusable; threads that end at the same time write the same bytes. */
	memcpy((void *)&pfs_cache_last, (const void *)&pfs_cache_ended, sizeof(pfs_cache_last));
	pfs_cache_own = &pfs_cache_last;
}

void *pfs_last_new(size_t size_bytes, size_t align_bytes)
{
	size_t align = align_bytes < PFS_LINE ? PFS_LINE : align_bytes;
	size_t bytes;
	if (__builtin_add_overflow(size_bytes, align, &bytes) || bytes > PFS_SIZE_MAX)
		return NULL;
	char *pages = pfs_system_map(bytes);
	if (pages == NULL)
		return NULL;
	/* At least one cache line into the page, so that the size fits in front. */
	char *block = pages + (align - ((uintptr_t)pages & (align - 1)));
	((size_t *)(void *)block)[-1] = size_bytes;
	return block;
}

size_t pfs_last_size(const void *block)
{
	return ((const size_t *)block)[-1];
}
