/*
 * partitioned.c - an array of containers; no shared state of its own.
 */
#include <pfslab/partitioned.h>
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "message.h"

struct pfs_partitioned {
	uint32_t count;
	uint64_t partition_records;          /* most records that a partition can hold */
	struct pfs_container **by_directory; /* [count], sorted by the address of the directory */
	struct pfs_container *partitions[];
};

struct pfs_partitioned_thread {
	struct pfs_partitioned *whole;
	struct pfs_thread *threads[];
};

void pfs_partitioned_destroy(struct pfs_partitioned *self)
{
	if (self == NULL)
		return;
	for (uint32_t i = 0; i < self->count; i++)
		pfs_container_destroy(self->partitions[i]);
	free(self->by_directory);
	free(self);
}

static int by_directory(const void *left, const void *right)
{
	const struct pfs_container *a = *(struct pfs_container *const *)left;
	const struct pfs_container *b = *(struct pfs_container *const *)right;
	return ((uintptr_t)a->directory > (uintptr_t)b->directory) -
	       ((uintptr_t)a->directory < (uintptr_t)b->directory);
}

enum pfs_status pfs_partitioned_create(const struct pfs_variant *variant,
				       const struct pfs_config *config, uint32_t partition_count,
				       struct pfs_partitioned **partitioned,
				       struct pfs_message *message)
{
	*partitioned = NULL;
	if (partition_count == 0 || partition_count > PFS_PARTITIONS_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "partition_count %u: must be between 1 and %u",
				       partition_count, PFS_PARTITIONS_MAX);
	struct pfs_partitioned *self =
		calloc(1, sizeof(*self) + partition_count * sizeof(self->partitions[0]));
	if (self == NULL)
		return pfs_message_set(message, PFS_NO_MEMORY, "no memory for %u partitions",
				       partition_count);
	self->partition_records = (uint64_t)config->page_max * config->page_records;
	for (; self->count < partition_count; self->count++) {
		enum pfs_status status = pfs_container_create(
			variant, config, &self->partitions[self->count], message);
		if (status != PFS_OK) {
			pfs_partitioned_destroy(self);
			return status;
		}
		self->partitions[self->count]->partition = self->count;
	}
	self->by_directory = malloc(partition_count * sizeof(*self->by_directory));
	if (self->by_directory == NULL) {
		pfs_partitioned_destroy(self);
		return pfs_message_set(message, PFS_NO_MEMORY, "no memory for %u partitions",
				       partition_count);
	}
	memcpy(self->by_directory, self->partitions, partition_count * sizeof(*self->by_directory));
	qsort(self->by_directory, partition_count, sizeof(*self->by_directory), by_directory);
	*partitioned = self;
	return PFS_OK;
}

static void detach_first(struct pfs_partitioned_thread *thread, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pfs_thread_detach(thread->threads[i]);
	free(thread);
}

enum pfs_status pfs_partitioned_attach(struct pfs_partitioned *self,
				       struct pfs_partitioned_thread **thread)
{
	struct pfs_partitioned_thread *made =
		calloc(1, sizeof(*made) + self->count * sizeof(made->threads[0]));
	*thread = NULL;
	if (made == NULL)
		return PFS_NO_MEMORY;
	made->whole = self;
	for (uint32_t i = 0; i < self->count; i++) {
		enum pfs_status status = pfs_thread_attach(self->partitions[i], &made->threads[i]);
		if (status != PFS_OK) {
			detach_first(made, i);
			return status;
		}
	}
	*thread = made;
	return PFS_OK;
}

void pfs_partitioned_detach(struct pfs_partitioned_thread *thread)
{
	detach_first(thread, thread->whole->count);
}

struct pfs_thread *pfs_partitioned_thread_of(struct pfs_partitioned_thread *thread,
					     uint32_t partition)
{
	return partition < thread->whole->count ? thread->threads[partition] : NULL;
}

struct pfs_claim pfs_partitioned_allocate(struct pfs_partitioned_thread *thread, uint32_t partition)
{
	struct pfs_thread *own = pfs_partitioned_thread_of(thread, partition);
	return own != NULL ? pfs_allocate(own) : pfs_claim_none();
}

/* By the record's own page. Records of policies without an index come from the process's memory,
 * and any handle will do. */
static struct pfs_thread *thread_of_record(struct pfs_partitioned_thread *thread,
					   const void *record)
{
	struct pfs_partitioned *whole = thread->whole;
	if ((whole->partitions[0]->variant->traits & PFS_TRAIT_INDEX) == 0)
		return thread->threads[0];
	bool has_headers = pfs_layout_has_headers(whole->partitions[0]->config.layout);
	const struct pfs_container *container = has_headers ? pfs_record_page(record)->container
							    : pfs_container_of(record);
	PFS_ASSERT(container != NULL && container->partition < whole->count &&
			   whole->partitions[container->partition] == container,
		   "a record of another container was given to a partitioned one");
	return thread->threads[container->partition];
}

void pfs_partitioned_publish(struct pfs_partitioned_thread *thread, struct pfs_claim claim)
{
	pfs_publish(thread_of_record(thread, claim.record), claim);
}

void pfs_partitioned_abandon(struct pfs_partitioned_thread *thread, struct pfs_claim claim)
{
	pfs_abandon(thread_of_record(thread, claim.record), claim);
}

void pfs_partitioned_free(struct pfs_partitioned_thread *thread, void *record)
{
	pfs_free(thread_of_record(thread, record), record);
}

struct pfs_container *pfs_partitioned_container(struct pfs_partitioned *self, uint32_t partition)
{
	return partition < self->count ? self->partitions[partition] : NULL;
}

uint64_t pfs_partitioned_index(struct pfs_partitioned_thread *thread, uint32_t partition,
			       const void *record)
{
	struct pfs_thread *owner = pfs_partitioned_thread_of(thread, partition);
	if (owner == NULL)
		return PFS_INDEX_NONE;
	uint64_t index = pfs_index(owner, record);
	if (index == PFS_INDEX_NONE)
		return PFS_INDEX_NONE;
	return partition * thread->whole->partition_records + index;
}

void *pfs_partitioned_lookup(struct pfs_partitioned_thread *thread, uint64_t index)
{
	const struct pfs_partitioned *whole = thread->whole;
	if (whole->partition_records == 0 || index / whole->partition_records >= whole->count)
		return NULL;
	return pfs_lookup(thread->threads[index / whole->partition_records],
			  index % whole->partition_records);
}

/* The partition whose directory contains an owner of the page map; whole->count: none. Found by
 * address, because the owner may be gone: it is compared, not followed. */
static uint32_t partition_with(const struct pfs_partitioned *whole, const void *owner)
{
	uint32_t from = 0, to = whole->count;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		const struct pfs_container *partition = whole->by_directory[middle];
		if (pfs_container_has_place(partition, owner))
			return partition->partition;
		if ((uintptr_t)owner < (uintptr_t)partition->directory)
			to = middle;
		else
			from = middle + 1;
	}
	return whole->count;
}

bool pfs_partitioned_owns(struct pfs_partitioned_thread *thread, const void *pointer,
			  uint32_t *partition)
{
	const struct pfs_partitioned *whole = thread->whole;
	uint32_t at = partition_with(whole, pfs_page_map_find(pointer));
	if (at == whole->count || !pfs_owns(thread->threads[at], pointer))
		return false;
	if (partition != NULL)
		*partition = at;
	return true;
}

void pfs_partitioned_enter(struct pfs_partitioned_thread *thread)
{
	for (uint32_t i = 0; i < thread->whole->count; i++)
		pfs_enter(thread->threads[i]);
}

void pfs_partitioned_leave(struct pfs_partitioned_thread *thread)
{
	for (uint32_t i = 0; i < thread->whole->count; i++)
		pfs_leave(thread->threads[i]);
}

static void add_counts(struct pfs_counts *sum, const struct pfs_counts *part)
{
	sum->growths += part->growths;
	sum->reclaimed += part->reclaimed;
	sum->lost += part->lost;
	sum->pages += part->pages;
	sum->pages_peak += part->pages_peak;
	sum->pages_waiting += part->pages_waiting;
	sum->resident_bytes += part->resident_bytes;
	sum->overhead_bytes += part->overhead_bytes;
	sum->counted = part->counted;
	sum->allocations += part->allocations;
	sum->probes += part->probes;
	sum->page_probes += part->page_probes;
	sum->cas_failures += part->cas_failures;
	sum->page_skips += part->page_skips;
	sum->record_skips += part->record_skips;
	sum->flag_skips += part->flag_skips;
	sum->false_full_at_least += part->false_full_at_least;
	sum->needless_growths += part->needless_growths;
	sum->remote += part->remote;
	sum->mixed += part->mixed;
	sum->live_peak += part->live_peak;
	sum->stranded += part->stranded;
	sum->stranded_peak += part->stranded_peak;
}

void pfs_partitioned_counts(struct pfs_partitioned *self, struct pfs_counts *counts)
{
	*counts = (struct pfs_counts){ 0 };
	for (uint32_t i = 0; i < self->count; i++) {
		struct pfs_counts part;
		pfs_container_counts(self->partitions[i], &part);
		add_counts(counts, &part);
	}
}
