/*
 * touched.c - see touched.h.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS, madvise */
#include "touched.h"

#include <string.h>
#include <sys/mman.h>

#define OS_PAGE_BYTES UINT64_C(4096)

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + OS_PAGE_BYTES - 1) / OS_PAGE_BYTES * OS_PAGE_BYTES;
}

static void *map_fresh(uint64_t bytes)
{
	void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return fresh != MAP_FAILED ? fresh : NULL;
}

static void *map(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	struct pfs_touched *self = context;
	uint64_t bytes = whole_pages(size_bytes);
	/* relaxed: only the number must be unique; the bytes were there before */
	uint64_t at = pfs_fetch_add_relaxed(&self->used_bytes.value, bytes);

	(void)memory;
	*node_got = node_wanted;
	return at + bytes <= self->size_bytes ? self->bytes + at : map_fresh(bytes);
}

static bool is_prepared(const struct pfs_touched *self, const void *memory)
{
	uintptr_t offset = (uintptr_t)memory - (uintptr_t)self->bytes;

	return offset < self->size_bytes;
}

static void unmap(void *context, void *memory, size_t size_bytes)
{
	if (memory != NULL && !is_prepared(context, memory))
		munmap(memory, whole_pages(size_bytes));
}

static uint64_t resident(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory;
	return whole_pages(size_bytes);
}

bool pfs_touched_init(struct pfs_touched *self, uint64_t size_bytes)
{
	uint64_t bytes = whole_pages(size_bytes);

	memset(self, 0, sizeof(*self));
	self->source = (struct pfs_memory_source){ .map = map,
						   .unmap = unmap,
						   .resident = resident,
						   .context = self,
						   .align_bytes = 4096 };
	self->bytes = map_fresh(bytes);
	if (self->bytes == NULL)
		return false;
	self->size_bytes = bytes;
	(void)madvise(self->bytes, bytes, MADV_NOHUGEPAGE);
	memset(self->bytes, 0, bytes);
	return true;
}

void pfs_touched_fini(struct pfs_touched *self)
{
	if (self->bytes != NULL)
		munmap(self->bytes, self->size_bytes);
	self->bytes = NULL;
}

uint64_t pfs_touched_short_bytes(struct pfs_touched *self)
{
	uint64_t used = pfs_mark_get(&self->used_bytes);

	return used > self->size_bytes ? used - self->size_bytes : 0;
}
