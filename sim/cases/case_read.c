/*
 * case_read.c - scenarios of readers: optimistic reads, sections, look-ups, walks, and threads
 * that attach.
 */
#include "sim/cases/case_kind.h"

/* ---- lookup: readers in sections ---- */

/* Both halves of a record hold the version with which it will be published. */
static void write_record(struct pfs_claim claim)
{
	uint64_t number = (uint64_t)claim.dirty_word / 4 + 1;
	uint64_t bytes[2] = { number, number };
	pfs_bytes_store(claim.record, bytes, sizeof(bytes));
}

static void rewrite_body(struct pfs_case_thread *thread)
{
	for (; thread->operations < thread->own->operations; thread->operations++) {
		struct pfs_claim claim = pfs_case_take(thread);
		if (claim.record == NULL)
			continue;
		write_record(claim);
		pfs_case_publish(thread, claim);
		pfs_case_give(thread, claim.record);
	}
}

static void read_one(struct pfs_case_thread *thread, uint64_t index)
{
	uint64_t bytes[2];
	pfs_enter(thread->handle);
	void *record = pfs_lookup(thread->handle, index);
	if (record != NULL) {
		struct pfs_glance glance = pfs_read_begin(record);
		pfs_bytes_load(bytes, record, sizeof(bytes));
		if (pfs_read_end(record, glance)) {
			thread->own->reads++;
			thread->own->reads_now++;
			PFS_MACHINE_CHECK(bytes[0] == glance.word / 4 && bytes[0] == bytes[1],
					  "a confirmed read of record %llu, version %u, got the "
					  "bytes of %llu and %llu",
					  (unsigned long long)index, glance.word / 4,
					  (unsigned long long)bytes[0],
					  (unsigned long long)bytes[1]);
		}
	}
	pfs_leave(thread->handle);
}

static void read_body(struct pfs_case_thread *thread)
{
	for (; thread->operations < thread->own->operations; thread->operations++)
		read_one(thread, thread->operations % 2);
}

/* Frees a record of the set-up while a reader looks at it, then runs passes. */
static void free_and_pass_body(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	for (uint32_t i = 0; i < self->kept_count; i++) {
		if (self->kept[i] != NULL && pfs_index(thread->handle, self->kept[i]) == 1)
			pfs_case_give(thread, self->kept[i]);
	}
	pfs_case_pass(thread);
}

static void read_last_body(struct pfs_case_thread *thread)
{
	for (; thread->operations < thread->own->operations; thread->operations++)
		read_one(thread, 1);
}

static void lookup_body(struct pfs_case_thread *thread)
{
	for (; thread->operations < thread->own->operations; thread->operations++)
		(void)pfs_lookup(thread->handle, 1);
}

/* The same by the record's address, which belongs to no record once the page is gone. */
static void address_body(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	const char *last = pfs_lookup(thread->handle, 1);
	for (; last != NULL && thread->operations < self->operations; thread->operations++) {
		const void *found = pfs_lookup_address(thread->handle, last + 7);
		PFS_MACHINE_CHECK(found == NULL || found == last,
				  "the record with byte 7 of record 1 is %p, not %p", found,
				  (const void *)last);
	}
}

static void section_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	for (uint32_t i = 0; i < 2 && !pfs_case_has_failed(self); i++) {
		uint64_t number = pfs_version(self->kept[i]);
		uint64_t bytes[2] = { number, number };
		pfs_bytes_store(self->kept[i], bytes, sizeof(bytes));
	}
}

/* ---- walk: past a page that is given back ---- */

static void walk_body(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	struct pfs_walk walk;
	pfs_walk_begin(&walk, thread->handle, PFS_WALK_LIVE);
	while (pfs_walk_next(&walk) != NULL)
		self->visits[walk.index % PFS_CASE_RECORDS_MAX]++;
	pfs_walk_end(&walk);
}

/* Records 0 and 2 were live throughout; record 1 was freed. */
static void walk_finish(struct pfs_case *self)
{
	for (uint32_t index = 0; index < 3; index++) {
		uint32_t visits = self->visits[index];
		if (index == 1 ? visits > 1 : visits != 1)
			pfs_machine_fail("the walk visited record %u %u times", index, visits);
	}
}

/* ---- newhandle: a reader that attaches after the page was given back ---- */

/* Reads by a handle that it attaches first. */
static void attach_and_read_body(struct pfs_case_thread *thread)
{
	struct pfs_case_thread fresh = *thread;
	thread->operations++;
	if (pfs_thread_attach(thread->own->container, &fresh.handle) != PFS_OK)
		return;
	read_one(&fresh, 1);
	pfs_thread_detach(fresh.handle);
}

/* ---- mapped: the owner of a record of a new page finds it by its address ---- */

static void mapped_configure(struct pfs_case *self, struct pfs_config *config)
{
	config->page_records = self->thread_count;
}

static void mapped_body(struct pfs_case_thread *thread)
{
	void *record = pfs_case_take_and_stamp(thread);
	PFS_MACHINE_CHECK(record == NULL || pfs_owns(thread->handle, record),
			  "thread %u does not find its own record by its address", thread->id);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_reading[] = {
	{ "read", "optimistic reads while records are written", PFS_CASE_INDEX, 2, 2, 0,
	  { PFS_CASE_PAGES(1, 1, 2) }, NULL, NULL, { read_body, rewrite_body, rewrite_body },
	  NULL },
	{ "section", "a reader in a section while its page is given back", PFS_CASE_RECLAIM, 2, 1,
	  0, { PFS_CASE_PAGES(1, 0, 2) }, NULL, section_fill,
	  { read_last_body, free_and_pass_body, rewrite_body }, NULL },
	{ "lookup", "a look-up while its page is given back", PFS_CASE_RECLAIM, 2, 2, 0,
	  { PFS_CASE_PAGES(1, 0, 2) }, NULL, section_fill,
	  { lookup_body, free_and_pass_body, pfs_case_churn }, NULL },
	{ "address", "look-ups by address while the page is given back", PFS_CASE_RECLAIM, 2, 2, 0,
	  { PFS_CASE_PAGES(1, 0, 2) }, NULL, section_fill,
	  { address_body, free_and_pass_body, pfs_case_churn }, NULL },
	{ "walk", "a walk past a page that is given back", PFS_CASE_RECLAIM, 2, 1, 0,
	  { PFS_CASE_PAGES(1, 0, 3) }, NULL, pfs_case_keep_all,
	  { walk_body, free_and_pass_body, pfs_case_churn }, walk_finish },
	{ "newhandle", "a thread attaches and reads while the page is given back", PFS_CASE_RECLAIM,
	  2, 1, 2, { PFS_CASE_PAGES(1, 0, 2) }, NULL, section_fill,
	  { attach_and_read_body, free_and_pass_body, pfs_case_churn }, NULL },
	{ "mapped", "threads find their records of a new page by address", PFS_CASE_INDEX, 2, 1, 0,
	  { .most = 2 }, mapped_configure, NULL, { mapped_body, mapped_body, mapped_body }, NULL },
	{ .name = NULL },
};
/* clang-format on */
