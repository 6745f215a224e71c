/* case_parts.c - the parts that configurations, fills, bodies and ends of several cases share. */
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

void *pfs_case_keep_by(struct pfs_case *self, struct pfs_thread *handle)
{
	struct pfs_claim claim = { .record = NULL };
	if (handle != NULL)
		claim = pfs_allocate(handle);
	if (claim.record == NULL) {
		pfs_machine_fail("set-up: no record");
		return NULL;
	}
	pfs_publish(handle, claim);
	uint64_t index = pfs_index(self->setup, claim.record) % PFS_CASE_RECORDS_MAX;
	self->owner[index] = SETUP_OWNER + 1;
	self->version[index] = pfs_version(claim.record);
	self->kept[self->kept_count++] = claim.record;
	return claim.record;
}

void pfs_case_keep(struct pfs_case *self, uint32_t count)
{
	while (count-- > 0)
		(void)pfs_case_keep_by(self, self->setup);
}

/* The place of the kept record of an index: policies keep them in different orders. Or NULL. */
static void **kept_place(struct pfs_case *self, struct pfs_thread *handle, uint64_t index)
{
	for (uint32_t i = 0; i < self->kept_count; i++) {
		if (self->kept[i] != NULL && pfs_index(handle, self->kept[i]) == index)
			return &self->kept[i];
	}
	return NULL;
}

void pfs_case_unkeep_by(struct pfs_case *self, struct pfs_thread *handle, void *record)
{
	uint64_t index = pfs_index(self->setup, record);
	void **place = kept_place(self, self->setup, index);
	if (place != NULL)
		*place = NULL;
	pfs_free(handle, record);
	self->owner[index % PFS_CASE_RECORDS_MAX] = 0;
}

void pfs_case_unkeep(struct pfs_case *self, uint64_t first, uint64_t end)
{
	for (uint64_t index = first; index < end && !pfs_case_has_failed(self); index++) {
		void **place = kept_place(self, self->setup, index);
		if (place != NULL)
			pfs_case_unkeep_by(self, self->setup, *place);
		else
			pfs_machine_fail("set-up: no record of index %llu",
					 (unsigned long long)index);
	}
}

void pfs_case_give_kept(struct pfs_case_thread *thread, uint64_t index)
{
	void **place = kept_place(thread->own, thread->handle, index);
	if (place == NULL)
		return;
	void *record = *place;
	*place = NULL;
	pfs_case_stamp((struct pfs_claim){ .record = record, .dirty_word = (uint32_t)index });
	pfs_case_give(thread, record);
}

void pfs_case_give_range(struct pfs_case_thread *thread, uint64_t first, uint64_t end)
{
	for (uint64_t index = first; index < end; index++)
		pfs_case_give_kept(thread, index);
}

void pfs_case_expect_pages(struct pfs_case *self, uint32_t pages)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	if (counts.pages != pages)
		pfs_machine_fail("set-up: %llu pages instead of %u",
				 (unsigned long long)counts.pages, pages);
}

void pfs_case_expect_full(struct pfs_case *self)
{
	if (!pfs_case_has_failed(self) && pfs_allocate(self->setup).record != NULL)
		pfs_machine_fail("set-up: a record is still free");
}

void pfs_case_attach_extras(struct pfs_case *self, uint32_t count)
{
	while (count-- > 0)
		(void)pfs_case_attach_extra(self);
}

struct pfs_thread *pfs_case_attach_extra(struct pfs_case *self)
{
	struct pfs_thread *handle;
	pfs_case_attach(self, &handle);
	if (handle != NULL)
		self->extra[self->extra_count++] = handle;
	return handle;
}

void pfs_case_stamp(struct pfs_claim claim)
{
	uint64_t *bytes = claim.record;
	bytes[0] = claim.dirty_word;
	bytes[1] = ~bytes[0];
}

void pfs_case_check_stamp(void *record)
{
	uint64_t *bytes = record;
	PFS_MACHINE_CHECK(bytes[1] == ~bytes[0], "a record does not hold its owner's bytes");
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

void pfs_case_take_one(struct pfs_case_thread *thread)
{
	(void)pfs_case_take_and_stamp(thread);
}

void pfs_case_take_two(struct pfs_case_thread *thread)
{
	pfs_case_take_one(thread);
	pfs_case_take_one(thread);
}

void pfs_case_pass(struct pfs_case_thread *thread)
{
	(void)pfs_reclaim_pass(thread->handle);
	(void)pfs_reclaim_pass(thread->handle);
}

void pfs_case_churn(struct pfs_case_thread *thread)
{
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

void pfs_case_exact_grants_first(struct pfs_case *self)
{
	if ((self->variant->traits & PFS_TRAIT_EXACT) != 0 && self->threads[0].refused != 0)
		pfs_machine_fail("thread 0 was refused although a record was free throughout");
}

void pfs_case_pages_added(struct pfs_case *self, uint64_t most, const char *reason)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	if (counts.growths > most)
		pfs_machine_fail("%llu pages added, %s", (unsigned long long)counts.growths,
				 reason);
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
