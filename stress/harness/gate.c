#include "stress/harness/gate.h"

#include <stdlib.h>
#include <string.h>

static void stop_at(struct pfs_test_gate *self, _Atomic(bool) *stops)
{
	if (!atomic_exchange(stops, false))
		return;
	(void)sem_post(&self->arrived);
	(void)sem_wait(&self->leave);
}

static void *map(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	struct pfs_test_gate *self = context;
	(void)memory, (void)node_wanted;
	stop_at(self, &self->map_stops);
	void *block = aligned_alloc(64, (size_bytes + 63) / 64 * 64);
	if (block == NULL)
		return NULL;
	memset(block, 0, size_bytes);
	*node_got = PFS_NODE_MIXED;
	return block;
}

static void unmap(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)size_bytes;
	free(memory);
}

static uint64_t resident(void *context, void *memory, size_t size_bytes)
{
	struct pfs_test_gate *self = context;
	(void)memory;
	stop_at(self, &self->resident_stops);
	return size_bytes;
}

void pfs_test_gate_init(struct pfs_test_gate *self)
{
	memset(self, 0, sizeof(*self));
	self->source = (struct pfs_memory_source){
		.map = map, .unmap = unmap, .resident = resident, .context = self
	};
	(void)sem_init(&self->arrived, 0, 0);
	(void)sem_init(&self->leave, 0, 0);
}
