/*
 * case_words.c - scenarios of pages of several occupancy words, of pages that come again, and of
 * records that are traded while a proof reads.
 */
#include "sim/cases/case_kind.h"

/* ---- wide: words with room come and go while a search goes by ---- */

static void wide_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->word_records = 2;
	pfs_case_pages(config, 4, 1, 1);
}

/* One record of each word. */
static void wide_give_body(void *opaque)
{
	pfs_case_give_kept(opaque, 0);
	pfs_case_give_kept(opaque, 2);
}

/* ---- backout: a pass wants a page of several words, and gets only the first ones ---- */

static void backout_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->word_records = 1;
	pfs_case_pages(config, 3, 0, 2);
	config->reclaim.idle_passes = 2;
}

/* Two empty pages; both drain, and go with the next pass unless a record is taken. */
static void backout_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 4);
	for (uint32_t i = 0; i < 4 && self->machine->run.end == PFS_END_DONE; i++)
		pfs_case_unkeep(self, pfs_index(self->setup, self->kept[i]));
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 2);
}

/* Keeps two records, so that the second one is searched for in the words beside the first. */
static void backout_take_body(void *opaque)
{
	pfs_case_take_one(opaque);
	pfs_case_take_one(opaque);
}

/* ---- refill: a page comes back to the index of one that went ---- */

static void refill_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 2, 0, 2);
}

/* A hole before page 1, which is full. */
static void refill_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 4);
	for (uint64_t index = 0; index < 2 && self->machine->run.end == PFS_END_DONE; index++)
		pfs_case_unkeep(self, index);
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 1);
}

/* Who owns a record finds it by its index. */
static void refill_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	void *record = pfs_case_take_and_stamp(thread);
	if (record == NULL)
		return;
	uint64_t index = pfs_index(thread->handle, record);
	pfs_enter(thread->handle);
	PFS_MACHINE_CHECK(pfs_lookup(thread->handle, index) == record,
			  "the owner of record %llu does not find it by its index",
			  (unsigned long long)index);
	pfs_leave(thread->handle);
}

/* ---- hole: likewise, while a search goes by ---- */

static void hole_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 0, 3);
}

/* Page 0 was given back, page 1 is full. */
static void hole_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	pfs_case_unkeep(self, 0);
	(void)pfs_reclaim_now(self->setup);
	pfs_case_expect_pages(self, 1);
}

/* Keeps what it takes, so that each thread needs a page: the first one fills the hole. Who
 * looked there before has not skipped it. */
static void hole_take(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_claim claim = pfs_case_take(thread);
	thread->operations++;
	if (claim.record != NULL)
		pfs_case_publish(thread, claim);
}

/* ---- trade: one of two records is free all the time, never the one that a proof reads ---- */

#define TRADE_HOLD 16u /* steps, so that a proof has time between two trades */

static void trade_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 0, 2);
}

/* Each of two handles remembers one of the records, so that it takes the one that it gave: this
 * thread owns the first one, and the second one is free. */
static void trade_fill(struct pfs_case *self)
{
	struct pfs_claim claims[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct pfs_thread *handle = pfs_case_attach_extra(self);
		claims[i] = handle != NULL ? pfs_allocate(handle)
					   : (struct pfs_claim){ .record = NULL };
		if (claims[i].record == NULL) {
			pfs_machine_fail("set-up: no record");
			return;
		}
		pfs_publish(handle, claims[i]);
	}
	pfs_case_adopt(self, claims[0].record);
	pfs_free(self->extra[1], claims[1].record);
}

/* The record that it has instead, or NULL. */
static void *trade(struct pfs_case_thread *gives, struct pfs_case_thread *takes, void *record)
{
	pfs_case_give(gives, record);
	struct pfs_claim claim = pfs_case_take(takes);
	if (claim.record == NULL)
		return NULL;
	pfs_case_publish(takes, claim);
	for (uint32_t i = 0; i < TRADE_HOLD; i++)
		pfs_machine_note(&takes->operations, "in use");
	return claim.record;
}

/* Gives its record by one handle, takes the other one by the other handle, and back. */
static void trade_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case *self = thread->own;
	struct pfs_case_thread by[2] = { pfs_case_by_extra(thread, 0),
					 pfs_case_by_extra(thread, 1) };
	void *record = self->kept[0];
	for (uint32_t turn = 0; turn < 2 * self->operations && record != NULL; turn++) {
		record = trade(&by[turn % 2], &by[(turn + 1) % 2], record);
		thread->operations = turn / 2;
	}
	thread->refused += by[0].refused + by[1].refused;
}

/* By one handle: its ring is a queue, so that it takes the one that it gave before. */
static void ring_trade_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case *self = thread->own;
	struct pfs_case_thread by = pfs_case_by_extra(thread, 1);
	void *record = self->kept[0];
	for (uint32_t turn = 0; turn < 2 * self->operations && record != NULL; turn++) {
		record = trade(&by, &by, record);
		thread->operations = turn / 2;
	}
	thread->refused += by.refused;
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_words[] = {
	{ "wide", "a page of two occupancy words; records of both are given and taken",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 2, 2, wide_configure, pfs_case_keep_all,
	  { wide_give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "backout", "a pass can't have a page of three words, and leaves it whole",
	  PFS_CASE_RECLAIM, 2, 1, 2, backout_configure, backout_fill,
	  { backout_take_body, pfs_case_pass, pfs_case_churn }, NULL },
	{ "refill", "a page comes where one went; owners find its records by index",
	  PFS_CASE_RECLAIM, 2, 1, 2, refill_configure, refill_fill,
	  /* the page that came has room for both */
	  { refill_body, refill_body, refill_body }, pfs_case_nobody_refused },
	{ "hole", "a page comes, where one was given back, while a search goes by",
	  PFS_CASE_RECLAIM, 2, 1, 2, hole_configure, hole_fill, { hole_take, hole_take, hole_take },
	  NULL },
	{ "trade", "a thread trades one record for another while a search goes by: one is free",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, trade_configure, trade_fill,
	  { pfs_case_churn, trade_body, trade_body },
	  pfs_case_exact_refuses_nobody },
	{ "ring_trade", "likewise, out of one ring", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2,
	  trade_configure, trade_fill, { pfs_case_churn, ring_trade_body, ring_trade_body },
	  pfs_case_exact_refuses_nobody },
	{ .name = NULL },
};
/* clang-format on */
