#include "stress/harness/source.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ALIGN 64u /* what a source must give, and no more */

/* All counters are relaxed: they order nothing, and must not hide a missing order from
 * ThreadSanitizer. */
#define ADD(counter) (atomic_fetch_add_explicit((counter), 1, memory_order_relaxed) + 1)
#define GET(counter) atomic_load_explicit((counter), memory_order_relaxed)
#define PUT(counter, value) atomic_store_explicit((counter), (value), memory_order_relaxed)

static void *map(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	struct pfs_test_source *self = context;
	uint64_t asked = ADD(&self->asked);
	uint64_t every = GET(&self->refuse_every);
	uint64_t after = GET(&self->refuse_after);
	(void)memory, (void)node_wanted;
	if ((every != 0 && asked % every == 0) || (after != 0 && asked > after))
		return NULL;
	void *block = aligned_alloc(BLOCK_ALIGN, size_bytes);
	if (block == NULL)
		return NULL;
	memset(block, 0, size_bytes);
	*node_got = PFS_NODE_MIXED;
	(void)ADD(&self->mapped);
	return block;
}

static void unmap(void *context, void *memory, size_t size_bytes)
{
	struct pfs_test_source *self = context;
	(void)size_bytes;
	(void)ADD(&self->unmapped);
	free(memory);
}

static uint64_t resident(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory;
	return size_bytes;
}

static void discard(void *context, void *memory, size_t size_bytes)
{
	(void)context;
	memset(memory, 0, size_bytes);
}

void pfs_test_source_init(struct pfs_test_source *self)
{
	*self = (struct pfs_test_source){
		.source = { .map = map,
			    .unmap = unmap,
			    .resident = resident,
			    .context = self,
			    .discard = discard },
	};
}

void pfs_test_source_refuse(struct pfs_test_source *self, uint64_t every, uint64_t after)
{
	PUT(&self->refuse_every, every);
	PUT(&self->refuse_after, after);
}

uint64_t pfs_test_source_out(struct pfs_test_source *self)
{
	return GET(&self->mapped) - GET(&self->unmapped);
}
