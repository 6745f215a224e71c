#define _GNU_SOURCE
#include "check/machine/memory.h"

#include <string.h>
#include <sys/mman.h>

#include "check/machine/host.h"
#include "check/machine/operation.h"
#include "check/machine/snapshot.h"

#define OS_PAGE PFS_SIM_OS_PAGE
/* With this alignment the same pages always share a line of the page map, and of its root, whose
 * lines cover 8 GiB. */
#define REGION_ALIGN ((size_t)8 << 30)
#define REGION_PAGES PFS_SIM_REGION_PAGES
#define STATES_BYTES (REGION_PAGES * sizeof(uint8_t))
#define NODES_BYTES (REGION_PAGES * sizeof(uint16_t))

static uint32_t os_pages(size_t bytes)
{
	return (uint32_t)((bytes + OS_PAGE - 1) / OS_PAGE);
}

/* The first of the lowest `count` consecutive OS pages that are not mapped. */
static uint32_t lowest_run(const struct pfs_sim_memory *self, uint32_t count)
{
	uint32_t first = 0;
	for (uint32_t at = 0; at < self->used && at - first < count; at++)
		first = self->states[at] == PFS_SIM_MAPPED ? at + 1 : first;
	return first;
}

static void take_turn(struct pfs_sim_memory *self)
{
	if (self->reuses)
		(void)pfs_sim_change(PFS_SIM_EXCHANGE, &self->turn, sizeof(self->turn), 0,
				     PFS_SIM_ACQ_REL, PFS_SIM_PLACE("memory"));
}

/* Set the nodes of OS pages from first on. */
static void spread(struct pfs_sim_memory *self, uint32_t first, uint32_t count, uint32_t node)
{
	uint32_t nodes = self->node_count > 1 ? self->node_count : 1;
	for (uint32_t at = first; at < first + count; at++)
		self->nodes[at] = (uint16_t)(node != PFS_SIM_NODE_MIXED ? node : at % nodes);
}

void *pfs_sim_memory_map(struct pfs_sim_memory *self, size_t size_bytes, uint32_t node)
{
	uint32_t count = os_pages(size_bytes);
	self->maps++;
	if (self->refuse_from != 0 && self->maps >= self->refuse_from)
		return NULL;
	take_turn(self);
	uint32_t first = self->reuses ? lowest_run(self, count) : self->used;
	if (first + count > REGION_PAGES)
		return NULL;
	void *bytes = self->region + (size_t)first * OS_PAGE;
	if (first < self->used)
		memset(bytes, 0, (size_t)count * OS_PAGE);
	memset(&self->states[first], PFS_SIM_MAPPED, count);
	if (first + count > self->used)
		self->used = first + count;
	self->mapped++;
	spread(self, first, count, node);
	if (self->on_map != NULL)
		self->on_map(self->on_map_context, count);
	return bytes;
}

/* A scheduling point first, so that a search tries accesses by others before and after. */
void pfs_sim_memory_unmap(struct pfs_sim_memory *self, void *memory, size_t size_bytes)
{
	uint32_t first = (uint32_t)(((size_t)((char *)memory - self->region)) / OS_PAGE);
	uint32_t count = os_pages(size_bytes);
	take_turn(self);
	(void)pfs_sim_change(PFS_SIM_UNMAP, memory, 0, (size_t)count * OS_PAGE, PFS_SIM_SEQ,
			     PFS_SIM_PLACE("unmap"));
	memset(&self->states[first], PFS_SIM_GONE, count);
	if (self->hides && !self->reuses) {
		(void)mprotect(memory, (size_t)count * OS_PAGE, PROT_NONE);
		self->hidden++;
	}
	self->mapped--;
}

size_t pfs_sim_memory_bytes(size_t size_bytes)
{
	return os_pages(size_bytes) * OS_PAGE;
}

/* Zeroes, from mmap: calloc clears memory that it reuses, so that a machine of a few steps cost as
 * much as clearing all tables. */
static void *map_zeroes(size_t size_bytes)
{
	void *bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return bytes != MAP_FAILED ? bytes : NULL;
}

static void unmap_all(void *bytes, size_t size_bytes)
{
	if (bytes != NULL)
		(void)munmap(bytes, size_bytes);
}

int pfs_sim_memory_init(struct pfs_sim_memory *self)
{
	memset(self, 0, sizeof(*self));
	self->states = map_zeroes(STATES_BYTES);
	self->nodes = map_zeroes(NODES_BYTES);
	self->mapping = map_zeroes(REGION_PAGES * OS_PAGE + REGION_ALIGN);
	if (self->states == NULL || self->nodes == NULL || self->mapping == NULL) {
		pfs_sim_memory_fini(self);
		return -1;
	}
	self->region = self->mapping;
	self->region += -(uintptr_t)self->mapping % REGION_ALIGN;
	if (pfs_host_entries != NULL &&
	    !pfs_host_entries->reserve(self->region, REGION_PAGES * OS_PAGE)) {
		pfs_sim_memory_fini(self);
		return -1;
	}
	self->hides = true;
	return 0;
}

void pfs_sim_memory_fini(struct pfs_sim_memory *self)
{
	unmap_all(self->mapping, REGION_PAGES * OS_PAGE + REGION_ALIGN);
	unmap_all(self->states, STATES_BYTES);
	unmap_all(self->nodes, NODES_BYTES);
}

static void clear_entries(const char *first, size_t os_page_count)
{
	if (pfs_host_entries == NULL)
		return;
	pfs_sim_quiet();
	pfs_host_entries->clear(first, os_page_count * OS_PAGE);
	pfs_sim_loud();
}

void pfs_sim_memory_reset(struct pfs_sim_memory *self)
{
	size_t used = (size_t)self->used;
	self->hides = true;
	self->reuses = false;
	self->maps = 0;
	if (used == 0) /* clearing nothing is slow, too, where no memory was touched yet */
		return;
	if (self->hidden != 0)
		(void)mprotect(self->region, used * OS_PAGE, PROT_READ | PROT_WRITE);
	if (used <= 64) /* small cases run a million times: clearing is cheaper than faulting */
		memset(self->region, 0, used * OS_PAGE);
	else
		(void)madvise(self->region, used * OS_PAGE, MADV_DONTNEED);
	memset(self->states, PFS_SIM_UNUSED, used);
	clear_entries(self->region, used); /* an execution that was cut short leaves its entries */
	self->used = 0;
	self->mapped = 0;
	self->hidden = 0;
}

uint32_t pfs_sim_memory_node(const struct pfs_sim_memory *self, const void *address)
{
	size_t offset = (uintptr_t)address - (uintptr_t)self->region;
	return offset < REGION_PAGES * OS_PAGE ? self->nodes[offset / OS_PAGE] : PFS_SIM_NODE_MIXED;
}

void *pfs_sim_memory_entries(const struct pfs_sim_memory *self)
{
	return pfs_host_entries != NULL ? pfs_host_entries->of(self->region) : NULL;
}

void pfs_sim_memory_keep(struct pfs_sim_memory *self, struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, self->states, self->used * sizeof(*self->states));
	pfs_snapshot_put(snapshot, self->nodes, self->used * sizeof(*self->nodes));
	if (pfs_host_entries != NULL)
		pfs_snapshot_put(snapshot, pfs_sim_memory_entries(self),
				 self->used * sizeof(void *));
	pfs_snapshot_put(snapshot, &self->used, sizeof(self->used));
	pfs_snapshot_put(snapshot, &self->mapped, sizeof(self->mapped));
	pfs_snapshot_put(snapshot, &self->maps, sizeof(self->maps));
}

void pfs_sim_memory_return(struct pfs_sim_memory *self, uint32_t pages)
{
	size_t more = self->used > pages ? self->used - pages : 0;
	char *first = self->region + pages * OS_PAGE;
	if (self->hidden != 0)
		(void)mprotect(self->region, self->used * OS_PAGE, PROT_READ | PROT_WRITE);
	self->hidden = 0;
	self->hides = true;
	if (more == 0)
		return;
	memset(first, 0, more * OS_PAGE);
	memset(self->states + pages, PFS_SIM_UNUSED, more * sizeof(*self->states));
	clear_entries(first, more);
}
