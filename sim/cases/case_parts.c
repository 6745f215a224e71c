/* case_parts.c - what configurations, fills, bodies and ends of several cases are made of. */
#include "sim/cases/case_kind.h"
#include "check/machine/machine.h"

#define SETUP_OWNER 99u

void pfs_case_pages(struct pfs_config *config, uint32_t records, uint32_t made, uint32_t most)
{
	config->page_records = records;
	config->page_prealloc = made;
	config->page_max = most;
}

void pfs_case_attach(struct pfs_case *self, struct pfs_thread **handle)
{
	if (pfs_thread_attach(self->container, handle) != PFS_OK)
		pfs_machine_fail("set-up: no handle");
}

void pfs_case_adopt(struct pfs_case *self, void *record)
{
	uint64_t index = pfs_index(self->setup, record) % PFS_CASE_RECORDS_MAX;
	self->owner[index] = SETUP_OWNER + 1;
	self->version[index] = pfs_version(record);
	self->kept[self->kept_count++] = record;
}

static void keep_one(struct pfs_case *self)
{
	struct pfs_claim claim = pfs_allocate(self->setup);
	if (claim.record == NULL) {
		pfs_machine_fail("set-up: no record");
		return;
	}
	pfs_publish(self->setup, claim);
	pfs_case_adopt(self, claim.record);
}

void pfs_case_keep(struct pfs_case *self, uint32_t count)
{
	while (count-- > 0)
		keep_one(self);
}

/* Free the kept record of an index again; the order of fill differs between policies. */
void pfs_case_unkeep(struct pfs_case *self, uint64_t index)
{
	for (uint32_t i = 0; i < self->kept_count; i++) {
		if (self->kept[i] == NULL || pfs_index(self->setup, self->kept[i]) != index)
			continue;
		pfs_free(self->setup, self->kept[i]);
		self->owner[index] = 0;
		self->kept[i] = NULL;
		return;
	}
	pfs_machine_fail("set-up: no record of index %llu", (unsigned long long)index);
}

void pfs_case_give_kept(struct pfs_case_thread *thread, uint64_t index)
{
	struct pfs_case *self = thread->own;
	for (uint32_t i = 0; i < self->kept_count; i++) {
		void *record = self->kept[i];
		if (record == NULL || pfs_index(thread->handle, record) != index)
			continue;
		self->kept[i] = NULL;
		pfs_case_stamp(
			(struct pfs_claim){ .record = record, .dirty_word = (uint32_t)index });
		pfs_case_give(thread, record);
		return;
	}
}

void pfs_case_expect_pages(struct pfs_case *self, uint32_t pages)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	if (counts.pages != pages)
		pfs_machine_fail("set-up: %llu pages, and not %u", (unsigned long long)counts.pages,
				 pages);
}

struct pfs_thread *pfs_case_attach_extra(struct pfs_case *self)
{
	struct pfs_thread *handle;
	pfs_case_attach(self, &handle);
	if (handle != NULL)
		self->extra[self->extra_count++] = handle;
	return handle;
}

/* As users do: the owner writes its record without atomics, and whoever frees it reads that
 * back. The machine looks for data races on these bytes. */
void pfs_case_stamp(struct pfs_claim claim)
{
	uint64_t *bytes = claim.record;
	bytes[0] = claim.dirty_word;
	bytes[1] = ~bytes[0];
}

void pfs_case_check_stamp(void *record)
{
	uint64_t *bytes = record;
	PFS_MACHINE_CHECK(bytes[1] == ~bytes[0], "a record's bytes are not those of its owner");
	bytes[1] = 0;
}

void *pfs_case_take_and_stamp(struct pfs_case_thread *thread)
{
	thread->operations++;
	struct pfs_claim claim = pfs_case_take(thread);
	if (claim.record == NULL)
		return NULL;
	pfs_case_stamp(claim);
	pfs_case_publish(thread, claim);
	return claim.record;
}

void pfs_case_take_one(void *opaque)
{
	(void)pfs_case_take_and_stamp(opaque);
}

void pfs_case_churn(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	while (thread->operations < thread->own->operations) {
		void *record = pfs_case_take_and_stamp(thread);
		if (record == NULL)
			continue;
		pfs_case_check_stamp(record);
		pfs_case_give(thread, record);
	}
}

void pfs_case_nobody_refused(struct pfs_case *self)
{
	for (uint32_t id = 0; id < self->thread_count; id++) {
		if (self->threads[id].refused != 0)
			pfs_machine_fail("thread %u was refused although there is room", id);
	}
}

void pfs_case_exact_refuses_nobody(struct pfs_case *self)
{
	if ((self->variant->traits & PFS_TRAIT_EXACT) != 0)
		pfs_case_nobody_refused(self);
}

void pfs_case_keep_all(struct pfs_case *self)
{
	pfs_case_keep(self, self->config.page_records * self->config.page_max);
}

struct pfs_case_thread pfs_case_by_extra(struct pfs_case_thread *thread, uint32_t extra)
{
	struct pfs_case_thread by = *thread;
	by.handle = thread->own->extra[extra];
	return by;
}
