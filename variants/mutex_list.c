/*
 * mutex_list.c - baseline: one mutex, one list of free records, last in first out.
 *
 * Exact by construction: a page is added only when the list is empty under the mutex. It is simple
 * and compact, but every thread waits for every other one.
 *
 * The links are in an array of their own, by record index; a link is index + 1, and 0 ends the
 * list.
 */
#include <stdlib.h>

#include "words.h"

struct list {
	alignas(PFS_LINE) struct pfs_mutex lock;
	uint64_t head;   /* under lock */
	uint64_t *links; /* [page_max * page_records], under lock */
	uint32_t listed; /* pages whose records were listed, under lock */
	uint32_t page_records;
};

static uint64_t link_of(const struct list *list, const void *record)
{
	const struct pfs_page *page = pfs_record_page(record);
	return (uint64_t)page->index * list->page_records + pfs_record_slot(record) + 1;
}

static enum pfs_status start(struct pfs_container *self)
{
	size_t records = (size_t)self->config.page_max * self->config.page_records;
	struct list *list = aligned_alloc(_Alignof(struct list), sizeof(*list));
	uint64_t *links = calloc(records != 0 ? records : 1, sizeof(*links));
	if (list == NULL || links == NULL) {
		free(list);
		free(links);
		return PFS_NO_MEMORY;
	}
	*list = (struct list){ .links = links, .page_records = self->config.page_records };
	pfs_mutex_init(&list->lock);
	self->policy = list;
	self->policy_lock = &list->lock;
	return PFS_OK;
}

static void stop(struct pfs_container *self)
{
	struct list *list = self->policy;
	pfs_mutex_fini(&list->lock);
	free(list->links);
	free(list);
}

static uint64_t index_bytes(struct pfs_container *self)
{
	const struct list *list = self->policy;
	return (uint64_t)pfs_container_page_limit(self) * list->page_records * sizeof(*list->links);
}

static void push(struct list *list, uint64_t link)
{
	list->links[link - 1] = list->head;
	list->head = link;
}

/* Under lock: list the records of the next page, existing or new, lowest index on top. */
static enum pfs_status list_page(struct pfs_thread *thread, struct list *list)
{
	struct pfs_container *self = thread->container;
	if (list->listed == self->page_capacity)
		return PFS_FULL;
	struct pfs_page *page = pfs_container_page_at(thread, list->listed);
	if (page == NULL)
		return thread->growth;
	for (uint32_t slot = page->slot_count; slot-- > 0;)
		push(list, (uint64_t)page->index * list->page_records + slot + 1);
	list->listed++;
	return PFS_OK;
}

/* Under lock. */
static enum pfs_status pop(struct pfs_thread *thread, struct list *list, uint64_t *link)
{
	if (list->head == 0) {
		enum pfs_status status = list_page(thread, list);
		if (status != PFS_OK)
			return status;
	}
	*link = list->head;
	list->head = list->links[*link - 1];
	return PFS_OK;
}

/* A record is free if it is listed; the caller, who adds a page, holds the lock. */
static int some_free(struct pfs_container *self)
{
	const struct list *list = self->policy;
	return list->head != 0;
}

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct list *list = self->policy;
	uint64_t link = 0;
	pfs_mutex_lock_ungated(&list->lock);
	enum pfs_status status = pop(thread, list, &link);
	pfs_mutex_unlock_ungated(&list->lock);
	if (status != PFS_OK)
		return pfs_container_refuse(thread, status);
	uint32_t slot = (uint32_t)((link - 1) % list->page_records);
	struct pfs_page *page = pfs_container_page(self,
						   (uint32_t)((link - 1) / list->page_records));
	return claim_listed(thread, page, slot, "mutex_list: a listed record is not FREE");
}

static void push_record(struct pfs_thread *thread, void *record)
{
	struct list *list = thread->container->policy;
	pfs_mutex_lock_ungated(&list->lock);
	push(list, link_of(list, record));
	pfs_mutex_unlock_ungated(&list->lock);
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

PFS_POLICY(mutex_list) = {
	.name = "mutex_list",
	.summary = "baseline: a mutex and a list of free records",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_EXACT | PFS_TRAIT_C11,
	.start = start,
	.stop = stop,
	.some_free = some_free,
	.index_bytes = index_bytes,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_and_push,
	.free = free_and_push,
};
