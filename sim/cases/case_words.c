/*
 * case_words.c - scenarios of pages with several occupancy words, of pages that reuse an index, and
 * of records that are traded during a proof.
 */
#include "sim/cases/case_kind.h"

/* ---- wide: words gain and lose room during a search ---- */

/* Frees one record of each word. */
static void wide_give_body(struct pfs_case_thread *thread)
{
	pfs_case_give_kept(thread, 0);
	pfs_case_give_kept(thread, 2);
}

/* ---- backout: a pass wants a page of several words, but gets only the first ones ---- */

/* Two empty pages drain. The next pass gives them back unless a record is taken. The body takes
 * two, so that it searches for the second one in the words next to the first. */
static void backout_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 4);
	for (uint32_t i = 0; i < 4 && !pfs_case_has_failed(self); i++)
		pfs_case_unkeep_by(self, self->setup, self->kept[i]);
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 2);
}

/* ---- refill: a new page reuses the index of one that was given back ---- */

/* A hole before page 1, which is full. */
static void refill_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 4);
	pfs_case_unkeep(self, 0, 2);
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 1);
}

/* The owner of a record finds it by its index. */
static void refill_body(struct pfs_case_thread *thread)
{
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

/* ---- hole: the same during a search ---- */

/* Page 0 was given back, page 1 is full. Each thread keeps what it takes and so needs a page: the
 * first one fills the hole. A search that looked there before must not have skipped it. */
static void hole_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	pfs_case_unkeep(self, 0, 1);
	(void)pfs_reclaim_now(self->setup);
	pfs_case_expect_pages(self, 1);
}

/* ---- trade: one of two records is always free, but never the one that a proof reads ---- */

#define TRADE_HOLD 16u /* steps, so that a proof has time between two trades */

/* Each of two handles remembers the record that it freed and takes it again. The thread owns the
 * first record, and the second one is free. */
static void trade_fill(struct pfs_case *self)
{
	(void)pfs_case_keep_by(self, pfs_case_attach_extra(self));
	(void)pfs_case_keep_by(self, pfs_case_attach_extra(self));
	if (!pfs_case_has_failed(self))
		pfs_case_unkeep_by(self, self->extra[1], self->kept[1]);
}

/* The record that the thread gets in exchange, or NULL. */
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

/* Trades by extra handle `first` and extra handle 1, in turns. */
static void trade_by(struct pfs_case_thread *thread, uint32_t first)
{
	struct pfs_case *self = thread->own;
	struct pfs_case_thread by[2] = { pfs_case_by_extra(thread, first),
					 pfs_case_by_extra(thread, 1) };
	void *record = self->kept[0];
	for (uint32_t turn = 0; turn < 2 * self->operations && record != NULL; turn++) {
		record = trade(&by[turn % 2], &by[(turn + 1) % 2], record);
		thread->operations = turn / 2;
	}
	thread->refused += by[0].refused + by[1].refused;
}

/* Frees its record by one handle and takes the other record by the other handle, in turns. */
static void trade_body(struct pfs_case_thread *thread)
{
	trade_by(thread, 0);
}

/* By one handle. Its ring is a queue, so that it takes the record that it freed before. */
static void ring_trade_body(struct pfs_case_thread *thread)
{
	trade_by(thread, 1);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_words[] = {
	{ "wide", "records of both occupancy words of a page are freed and allocated",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 2, 2, { PFS_CASE_PAGES(4, 1, 1), .word_records = 2 },
	  NULL, pfs_case_keep_all, { wide_give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "backout", "a pass fails to get all three words of a page, and leaves it whole",
	  PFS_CASE_RECLAIM, 2, 1, 2,
	  { PFS_CASE_PAGES(3, 0, 2), .idle_passes = 2, .word_records = 1 }, NULL, backout_fill,
	  { pfs_case_take_two, pfs_case_pass, pfs_case_churn }, NULL },
	{ "refill", "a new page reuses an index; owners find its records by index",
	  PFS_CASE_RECLAIM, 2, 1, 2, { PFS_CASE_PAGES(2, 0, 2) }, NULL, refill_fill,
	  /* the new page has room for both */ { refill_body, refill_body, refill_body },
	  pfs_case_nobody_refused },
	{ "hole", "a new page reuses the index of one that was given back, during a search",
	  PFS_CASE_RECLAIM, 2, 1, 2, { PFS_CASE_PAGES(1, 0, 3) }, NULL, hole_fill,
	  { pfs_case_take_one, pfs_case_take_one, pfs_case_take_one }, NULL },
	{ "trade", "a thread trades one record for another during a search: one is always free",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, { PFS_CASE_PAGES(1, 0, 2) }, NULL, trade_fill,
	  { pfs_case_churn, trade_body, trade_body }, pfs_case_exact_refuses_nobody },
	{ "ring_trade", "the same by one ring", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2,
	  { PFS_CASE_PAGES(1, 0, 2) }, NULL, trade_fill,
	  { pfs_case_churn, ring_trade_body, ring_trade_body }, pfs_case_exact_refuses_nobody },
	{ .name = NULL },
};
/* clang-format on */
