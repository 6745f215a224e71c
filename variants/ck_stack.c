/*
 * ck_stack.c - baseline: a bounded pool on Concurrency Kit's stack.
 *
 * All pages are made at the start and all records are pushed; allocate pops, free pushes. The head
 * of the stack is {pointer, generation}, changed by a double-width CAS, so that a record that was
 * popped and pushed in between is noticed (ABA). Entries are in an array of their own: a stale pop
 * may read the next pointer of an entry that is taken, never the user's bytes.
 *
 * The stack is inline assembly, which ThreadSanitizer and the simulated machine cannot see. The
 * record's word, claimed by the same CAS as in all variants, carries the order of the record's
 * bytes where they can see it.
 *
 * Source: ck_stack_push_mpmc and ck_stack_pop_mpmc of Concurrency Kit; R. K. Treiber, 1986.
 */
#include <ck_stack.h>
#include <stdlib.h>

#include "words.h"

struct pool {
	alignas(PFS_LINE) ck_stack_t stack;
	alignas(PFS_LINE) ck_stack_entry_t *entries; /* by record index; start only */
	uint32_t page_records;
	bool filled;
};

static ck_stack_entry_t *entry_of(struct pool *pool, const void *record)
{
	const struct pfs_page *page = pfs_record_page(record);
	return &pool->entries[(size_t)page->index * pool->page_records + pfs_record_slot(record)];
}

static enum pfs_status start(struct pfs_container *self)
{
	size_t records = (size_t)self->config.page_max * self->config.page_records;
	struct pool *pool = aligned_alloc(_Alignof(struct pool), sizeof(*pool));
	ck_stack_entry_t *entries = calloc(records != 0 ? records : 1, sizeof(*entries));
	if (pool == NULL || entries == NULL) {
		free(pool);
		free(entries);
		return PFS_NO_MEMORY;
	}
	ck_stack_init(&pool->stack);
	pool->entries = entries;
	pool->page_records = self->config.page_records;
	pool->filled = false;
	self->policy = pool;
	self->config.page_prealloc = self->page_capacity;
	return PFS_OK;
}

static void stop(struct pfs_container *self)
{
	struct pool *pool = self->policy;
	free(pool->entries);
	free(pool);
}

static uint64_t index_bytes(struct pfs_container *self)
{
	const struct pool *pool = self->policy;
	return (uint64_t)pfs_container_page_limit(self) * pool->page_records *
	       sizeof(*pool->entries);
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
			ck_stack_push_mpmc(&pool->stack,
					   entry_of(pool, pfs_page_record(page, slot)));
	}
	pool->filled = true;
	return PFS_OK;
}

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pool *pool = self->policy;
	ck_stack_entry_t *entry = ck_stack_pop_mpmc(&pool->stack);
	if (entry == NULL)
		return pfs_container_refuse(thread, PFS_FULL);
	size_t index = (size_t)(entry - pool->entries);
	struct pfs_page *page = pfs_container_page(self, (uint32_t)(index / pool->page_records));
	return claim_listed(thread, page, (uint32_t)(index % pool->page_records),
			    "ck_stack: a popped record is not FREE");
}

static void push_record(struct pfs_thread *thread, void *record)
{
	struct pool *pool = thread->container->policy;
	ck_stack_push_mpmc(&pool->stack, entry_of(pool, record));
}

static void free_and_push(struct pfs_thread *thread, void *record)
{
	free_record(thread, record);
	push_record(thread, record);
}

static void abandon_and_push(struct pfs_thread *thread, struct pfs_claim claim)
{
	abandon_record(thread, claim);
	push_record(thread, claim.record);
}

PFS_POLICY(ck_stack) = {
	.name = "ck_stack",
	.summary = "baseline: a bounded pool on Concurrency Kit's stack, made whole at the start",
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
