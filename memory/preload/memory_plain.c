/*
 * memory_plain.c - memory.h without hwloc, for a library that is loaded into every program: OS
 * pages without a chosen NUMA node. It replaces memory.c.
 */
#define _GNU_SOURCE
#include "containers/memory.h"

#include <stddef.h>

#include "containers/mapped.h"
#include "containers/message.h"

static void *map(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	(void)context, (void)memory, (void)node_wanted;
	*node_got = PFS_NODE_MIXED;
	return pfs_mapped_take(size_bytes);
}

static void unmap(void *context, void *memory, size_t size_bytes)
{
	(void)context;
	pfs_mapped_give(memory, size_bytes);
}

/* Assumes that all of it was touched. */
static uint64_t resident(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory;
	return size_bytes;
}

static const struct pfs_memory_source source = { .map = map, .unmap = unmap, .resident = resident };

const struct pfs_memory_source *pfs_memory_hwloc(void)
{
	return &source;
}

const struct pfs_memory_source *pfs_memory_huge(void)
{
	return &source;
}

void pfs_memory_hold(void) {}

void pfs_memory_release(void) {}

uint32_t pfs_memory_caller_node(void)
{
	return PFS_NODE_MIXED;
}

uint32_t pfs_memory_node_count(void)
{
	return 1;
}

enum pfs_status pfs_memory_check(enum pfs_memory memory, uint32_t node, struct pfs_message *message)
{
	(void)node;
	if (memory == PFS_MEMORY_FIRST_TOUCH)
		return PFS_OK;
	return pfs_message_set(message, PFS_NO_NODE,
			       "this library binds no memory to nodes; choose memory first-touch");
}
