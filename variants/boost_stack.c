/*
 * boost_stack.c - baseline: a bounded pool on Boost.Lockfree's stack.
 *
 * All pages are made at the start and the indices of all records are pushed; allocate pops, free
 * pushes. A push takes a node from the stack's own pool of nodes and a pop gives it back. So each
 * costs two CAS, where Concurrency Kit's stack needs one, and a direct call into C++. A tag of 16
 * bits in the pointer protects against a stale pop (ABA).
 *
 * Nodes are read by plain loads while others write them; the tag tells later that the read was
 * stale. ThreadSanitizer would report a race, so the variant lacks PFS_TRAIT_C11. The record's
 * word, claimed by the same CAS as in all variants, carries the record's bytes.
 *
 * Source: boost::lockfree::stack of Boost 1.74; R. K. Treiber, 1986.
 */
#include <stdlib.h>

#include "boost_pool.h"
#include "words.h"

struct pool {
	struct pfs_boost_pool *numbers; /* free records, by index */
	uint32_t page_records;
	bool filled; /* thread_start only */
};

static enum pfs_status start(struct pfs_container *self)
{
	uint64_t records = (uint64_t)self->config.page_max * self->config.page_records;
	struct pool *pool = calloc(1, sizeof(*pool));
	if (pool == NULL)
		return PFS_NO_MEMORY;
	pool->numbers = pfs_boost_pool_create(records);
	if (pool->numbers == NULL) {
		free(pool);
		return PFS_NO_MEMORY;
	}
	pool->page_records = self->config.page_records;
	self->policy = pool;
	self->config.page_prealloc = self->page_capacity;
	return PFS_OK;
}

static void stop(struct pfs_container *self)
{
	struct pool *pool = self->policy;
	pfs_boost_pool_destroy(pool->numbers);
	free(pool);
}

static uint64_t index_bytes(struct pfs_container *self)
{
	const struct pool *pool = self->policy;
	return (uint64_t)pfs_container_page_limit(self) * pool->page_records *
	       PFS_BOOST_POOL_NODE_BYTES;
}

static void push_index(struct pool *pool, uint64_t index)
{
	bool pushed = pfs_boost_pool_push(pool->numbers, index);
	PFS_ASSERT(pushed, "boost_stack: more records were freed than exist");
	(void)pushed;
}

/* The first thread to attach after the pages were made fills the stack, lowest index on top. The
 * container serializes attaching. */
static enum pfs_status thread_start(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pool *pool = self->policy;
	uint32_t limit = pfs_container_page_limit(self);
	if (pool->filled || limit != self->page_capacity)
		return PFS_OK;
	for (uint32_t index = limit; index-- > 0;) {
		struct pfs_page *page = pfs_container_page(self, index);
		for (uint32_t slot = page->slot_count; slot-- > 0;)
			push_index(pool, (uint64_t)index * pool->page_records + slot);
	}
	pool->filled = true;
	return PFS_OK;
}

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pool *pool = self->policy;
	uint64_t index = 0;
	if (!pfs_boost_pool_pop(pool->numbers, &index))
		return pfs_container_refuse(thread, PFS_FULL);
	struct pfs_page *page = pfs_container_page(self, (uint32_t)(index / pool->page_records));
	uint32_t slot = (uint32_t)(index % pool->page_records);
	return claim_listed(thread, page, slot, "boost_stack: a popped record is not FREE");
}

static void push_record(struct pfs_thread *thread, uint64_t index)
{
	push_index(thread->container->policy, index);
}

static uint64_t index_of(struct pfs_thread *thread, const void *record)
{
	const struct pool *pool = thread->container->policy;
	return (uint64_t)pfs_record_page(record)->index * pool->page_records +
	       pfs_record_slot(record);
}

static void free_and_push(struct pfs_thread *thread, void *record)
{
	uint64_t index = index_of(thread, record);
	free_record(thread, record);
	push_record(thread, index);
}

static void abandon_and_push(struct pfs_thread *thread, struct pfs_claim claim)
{
	uint64_t index = index_of(thread, claim.record);
	abandon_record(thread, claim);
	push_record(thread, index);
}

PFS_POLICY(boost_stack) = {
	.name = "boost_stack",
	.summary = "baseline: a bounded pool on Boost.Lockfree's stack, made whole at the start",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_BOUNDED,
	.start = start,
	.stop = stop,
	.thread_start = thread_start,
	.index_bytes = index_bytes,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_and_push,
	.free = free_and_push,
};
