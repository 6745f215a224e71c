#define _GNU_SOURCE
#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/operation.h"

#define OS_PAGE ((size_t)4096)
#define REGION_PAGES ((size_t)1 << 20) /* 4 GiB of addresses; memory as touched */

static uint32_t os_pages(size_t bytes)
{
	return (uint32_t)((bytes + OS_PAGE - 1) / OS_PAGE);
}

static void *map(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	struct pfs_sim_memory *self = context;
	uint32_t count = os_pages(size_bytes);
	self->maps++;
	if (self->refuse_from != 0 && self->maps >= self->refuse_from)
		return NULL;
	if (self->used + count > REGION_PAGES)
		return NULL;
	void *bytes = self->region + (size_t)self->used * OS_PAGE;
	memset(&self->states[self->used], PFS_SIM_MAPPED, count);
	self->used += count;
	self->mapped++;
	*node_got = memory == PFS_MEMORY_INTERLEAVE ? PFS_NODE_MIXED : node_wanted;
	for (uint32_t at = self->used - count; at < self->used; at++)
		self->nodes[at] = (uint16_t)(memory != PFS_MEMORY_INTERLEAVE ? *node_got
					     : self->node_count > 1 ? at % self->node_count
								    : 0);
	if (self->on_map != NULL)
		self->on_map(self->on_map_context, count);
	return bytes;
}

/* A scheduling point first, so that a search tries accesses by others before and after. */
static void unmap(void *context, void *memory, size_t size_bytes)
{
	struct pfs_sim_memory *self = context;
	uint32_t first = (uint32_t)(((size_t)((char *)memory - self->region)) / OS_PAGE);
	uint32_t count = os_pages(size_bytes);
	(void)pfs_sim_change(PFS_SIM_UNMAP, memory, 0, (size_t)count * OS_PAGE, PFS_SIM_SEQ,
			     PFS_SIM_PLACE("unmap"));
	memset(&self->states[first], PFS_SIM_GONE, count);
	if (self->hides) {
		(void)mprotect(memory, (size_t)count * OS_PAGE, PROT_NONE);
		self->hidden++;
	}
	self->mapped--;
}

static uint64_t resident(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory;
	return (uint64_t)os_pages(size_bytes) * OS_PAGE;
}

int pfs_sim_memory_init(struct pfs_sim_memory *self)
{
	memset(self, 0, sizeof(*self));
	self->states = calloc(REGION_PAGES, 1);
	self->nodes = calloc(REGION_PAGES, sizeof(*self->nodes));
	void *region = mmap(NULL, REGION_PAGES * OS_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (self->states == NULL || self->nodes == NULL || region == MAP_FAILED) {
		free(self->states);
		free(self->nodes);
		return -1;
	}
	self->region = region;
	self->hides = true;
	self->source = (struct pfs_memory_source){ map, unmap, resident, self };
	return 0;
}

void pfs_sim_memory_fini(struct pfs_sim_memory *self)
{
	(void)munmap(self->region, REGION_PAGES * OS_PAGE);
	free(self->states);
	free(self->nodes);
}

void pfs_sim_memory_reset(struct pfs_sim_memory *self)
{
	size_t used = (size_t)self->used;
	if (self->hidden != 0)
		(void)mprotect(self->region, used * OS_PAGE, PROT_READ | PROT_WRITE);
	if (used <= 64) /* small cases run a million times: clearing is cheaper than faulting */
		memset(self->region, 0, used * OS_PAGE);
	else
		(void)madvise(self->region, used * OS_PAGE, MADV_DONTNEED);
	memset(self->states, PFS_SIM_UNUSED, used);
	self->used = 0;
	self->mapped = 0;
	self->maps = 0;
	self->hidden = 0;
	self->hides = true;
}

bool pfs_sim_memory_has(const struct pfs_sim_memory *self, const void *address,
			enum pfs_sim_memory_state *state)
{
	size_t offset = (uintptr_t)address - (uintptr_t)self->region;
	if (offset >= REGION_PAGES * OS_PAGE)
		return false;
	*state = (enum pfs_sim_memory_state)self->states[offset / OS_PAGE];
	return true;
}

uint32_t pfs_sim_memory_node(const struct pfs_sim_memory *self, const void *address)
{
	size_t offset = (uintptr_t)address - (uintptr_t)self->region;
	return offset < REGION_PAGES * OS_PAGE ? self->nodes[offset / OS_PAGE] : PFS_NODE_MIXED;
}
