/*
 * case_stale.c - scenarios of readers outside sections: they read a record with a word of its own
 * by a stale pointer, while its page is given back and its addresses are used again.
 */
#include "check/machine/atomic_backend.h"
#include "containers/pfs_lock.h"
#include "sim/cases/case_kind.h"

#define WORD_OFFSET 16u

/* In every layout that was asked for: only records with their own words can be read so. */
static void configure(struct pfs_case *self, struct pfs_config *config)
{
	pfs_case_layout(self, PFS_LAYOUT_OWN_WORD, false);
	config->layout = PFS_LAYOUT_OWN_WORD;
	config->bare_words = false;
	config->record_size_bytes = WORD_OFFSET + 8;
	config->word_offset = WORD_OFFSET;
	config->give_back = PFS_GIVE_BACK_MEMORY;
}

/* Both halves of a record hold the version with which it will be published. */
static void write_record(void *record, uint32_t version)
{
	uint64_t bytes[2] = { version, version };
	pfs_bytes_store(record, bytes, sizeof(bytes));
}

static void take_and_write(struct pfs_case_thread *thread)
{
	struct pfs_claim claim = pfs_case_take(thread);
	if (claim.record == NULL)
		return;
	write_record(claim.record, claim.dirty_word / 4 + 1);
	pfs_case_publish(thread, claim);
}

static struct pfs_lock *stale_word(const struct pfs_case *self)
{
	return (struct pfs_lock *)(void *)(self->stale + WORD_OFFSET);
}

/* An optimistic read without a section: nothing was looked up. What it confirms was written by the
 * owner of that version. A thread that knows that the page was given back finds a later version. */
static void read_body(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	_Atomic(uint64_t) *is_gone = (_Atomic(uint64_t) *)(void *)&self->mailbox;
	for (; thread->operations < self->operations; thread->operations++) {
		uint64_t bytes[2];
		uint64_t gone = pfs_load_acquire(is_gone);
		uint32_t word = pfs_lock_glance(stale_word(self));
		bool is_allocated = word % 4 == PFS_STATE_ALLOCATED;
		PFS_MACHINE_CHECK(gone == 0 || !is_allocated || word / 4 > self->newest,
				  "a stale pointer led to version %u, which was given back",
				  word / 4);
		pfs_bytes_load(bytes, self->stale, sizeof(bytes));
		if (!pfs_lock_confirm(stale_word(self), word))
			continue;
		self->reads++;
		self->reads_now++;
		PFS_MACHINE_CHECK(bytes[0] == word / 4 && bytes[1] == word / 4,
				  "a confirmed read by a stale pointer, version %u, got the bytes "
				  "of %llu and %llu",
				  word / 4, (unsigned long long)bytes[0],
				  (unsigned long long)bytes[1]);
	}
}

/* Further threads write as readers without sections expect it. */
static void churn_body(struct pfs_case_thread *thread)
{
	struct pfs_claim claim = pfs_case_take(thread);
	if (claim.record == NULL)
		return;
	write_record(claim.record, claim.dirty_word / 4 + 1);
	pfs_case_publish(thread, claim);
	pfs_case_give(thread, claim.record);
}

/* The set-up's record of an index, read by a stale pointer from now on. */
static void keep_stale(struct pfs_case *self, uint32_t at)
{
	self->stale = self->kept[at];
	self->newest = pfs_version(self->kept[at]);
	write_record(self->kept[at], self->newest);
}

/* ---- stale: the page goes and comes back ---- */

static void stale_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 1);
	if (!pfs_case_has_failed(self))
		keep_stale(self, 0);
}

static void go_and_come_body(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	_Atomic(uint64_t) *is_gone = (_Atomic(uint64_t) *)(void *)&self->mailbox;
	pfs_case_give(thread, self->kept[0]);
	for (uint32_t pass = 0; pass < 2; pass++) {
		if (pfs_reclaim_pass(thread->handle) != 0)
			pfs_store_release(is_gone, 1); /* [T1] release: the page is gone */
	}
	take_and_write(thread);
}

/* ---- stale_moved: the page comes to another index, which had fewer versions ---- */

/* Pages 0 and 1 are given back, and page 0 still waits for a reader: page 1 is the only one that
 * was kept, and index 0 gets it. */
static void moved_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	struct pfs_thread *reader = pfs_case_attach_extra(self);
	for (uint32_t i = 0; i < 3 && !pfs_case_has_failed(self); i++)
		pfs_publish(self->setup, pfs_reopen(self->setup, self->kept[1]));
	if (pfs_case_has_failed(self))
		return;
	self->version[1] = pfs_version(self->kept[1]);
	keep_stale(self, 1);
	pfs_case_unkeep(self, 1, 2);
	(void)pfs_reclaim_trim(self->setup);
	pfs_enter(reader);
	pfs_case_unkeep(self, 0, 1);
	(void)pfs_reclaim_trim(self->setup);
	pfs_leave(reader);
	self->mailbox = 1;
	pfs_case_expect_pages(self, 0);
}

static void take_two_body(struct pfs_case_thread *thread)
{
	take_and_write(thread);
	take_and_write(thread);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_stale[] = {
	{ "stale", "a reader without a section, while its page is given back and used again",
	  PFS_CASE_RECLAIM | PFS_TRAIT_OWN_WORD, 2, 2, 3, { PFS_CASE_PAGES(1, 0, 2) }, configure,
	  stale_fill, { read_body, go_and_come_body, churn_body }, NULL },
	{ "stale_moved", "a reader without a section, while another index uses its addresses",
	  PFS_CASE_RECLAIM | PFS_TRAIT_OWN_WORD, 2, 2, 3, { PFS_CASE_PAGES(1, 0, 2) }, configure,
	  moved_fill, { read_body, take_two_body, churn_body }, NULL },
	{ .name = NULL },
};
/* clang-format on */
