#define _GNU_SOURCE
#include "check/machine/blocks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Before each block. */
struct header {
	size_t size_bytes;
	size_t align_bytes;
};

_Static_assert(sizeof(struct header) == PFS_BLOCK_UNIT, "a block keeps its header's alignment");

bool pfs_blocks_begin(struct pfs_blocks *self)
{
	void *region = mmap(NULL, self->region_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (region == MAP_FAILED)
		return false;
	self->region = region;
	return true;
}

void pfs_blocks_reset(struct pfs_blocks *self)
{
	self->used = 0;
	memset(self->free, 0, PFS_BLOCK_LISTS(self->small_bytes) * sizeof(*self->free));
}

static struct header *header_of(void *block)
{
	return (struct header *)block - 1;
}

size_t pfs_blocks_size_of(void *block)
{
	return header_of(block)->size_bytes;
}

static void **list_of(const struct pfs_blocks *self, const struct header *header)
{
	bool aligned = header->align_bytes > PFS_BLOCK_UNIT;
	void **lists = aligned ? self->free + PFS_BLOCK_LISTS(self->small_bytes) / 2 : self->free;
	return &lists[header->size_bytes / PFS_BLOCK_UNIT];
}

static void *cut(struct pfs_blocks *self, const struct header *wanted)
{
	size_t align = wanted->align_bytes;
	size_t first = (self->used + sizeof(*wanted) + align - 1) / align * align;
	if (first > self->region_bytes || wanted->size_bytes > self->region_bytes - first) {
		errno = ENOMEM;
		return NULL;
	}
	self->used = first + wanted->size_bytes;
	void *block = self->region + first;
	*header_of(block) = *wanted;
	return block;
}

void *pfs_blocks_take(struct pfs_blocks *self, size_t align, size_t size, bool *is_fresh)
{
	struct header wanted = { (size + PFS_BLOCK_UNIT - 1) / PFS_BLOCK_UNIT * PFS_BLOCK_UNIT,
				 align };
	*is_fresh = false;
	if (size > self->region_bytes) {
		errno = ENOMEM;
		return NULL;
	}
	if (wanted.size_bytes == 0)
		wanted.size_bytes = PFS_BLOCK_UNIT;
	if (wanted.size_bytes <= self->small_bytes && *list_of(self, &wanted) != NULL) {
		void *block = *list_of(self, &wanted);
		/* Blocks of one list may differ if more than the unit is requested. */
		if ((uintptr_t)block % align == 0) {
			memcpy(list_of(self, &wanted), block, sizeof(void *));
			return block;
		}
	}
	*is_fresh = true;
	return cut(self, &wanted);
}

bool pfs_blocks_put(struct pfs_blocks *self, void *block)
{
	const struct header *header = header_of(block);
	if (header->size_bytes > self->small_bytes)
		return false;
	memcpy(block, list_of(self, header), sizeof(void *));
	*list_of(self, header) = block;
	return true;
}
