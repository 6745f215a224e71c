/*
 * case_weak.c - scenarios in which passes run during searches: marks change, and a pass holds
 * records for a moment. And scenarios of the last record.
 */
#include "sim/cases/case_kind.h"

/* Two pages of two records. A search that is refused, or adds a page, although a record was free
 * throughout, has missed that record. The set-up makes the first pass: with two idle passes, the
 * next one gives page 1 back; with MARKS_ONLY, marks change and no page goes. The container starts
 * without pages, because pages of the start never drain. */
#define MARKS_ONLY 100

/* Page 0 is full, page 1 is empty and drains. */
static void marks_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 4);
	pfs_case_unkeep(self, 2, 4);
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 2);
}

/* Takes one of the two free records, so that page 1 is in use and the pass marks it as kept. */
static void take_and_pass(struct pfs_case_thread *thread)
{
	pfs_case_take_one(thread);
	(void)pfs_reclaim_pass(thread->handle);
}

/* No page may be added to the two of the set-up. */
static void marks_finish(struct pfs_case *self)
{
	pfs_case_pages_added(self, 2, "two by the set-up: a search missed a free record");
}

/* No thread may be refused: the two records are free, or the pass holds them and there is room for
 * another page. No page may be added before one was given back. */
static void held_page_finish(struct pfs_case *self)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	pfs_case_nobody_refused(self);
	if (counts.reclaimed == 0 && counts.pages_waiting == 0)
		pfs_case_pages_added(self, 2, "two by the set-up: only the pass held records");
}

static void write_bytes(struct pfs_claim claim)
{
	uint64_t *bytes = claim.record;
	bytes[0] = bytes[1] = claim.dirty_word;
}

static void last_body(struct pfs_case_thread *thread)
{
	for (; thread->operations < thread->own->operations; thread->operations++) {
		struct pfs_claim claim = pfs_case_take(thread);
		if (claim.record == NULL)
			continue;
		write_bytes(claim);
		pfs_case_publish(thread, claim);
		pfs_case_give(thread, claim.record);
	}
}

/* Writes a record and gives it back without publishing it. */
static void abandon_body(struct pfs_case_thread *thread)
{
	for (; thread->operations < thread->own->operations; thread->operations++) {
		struct pfs_claim claim = pfs_case_take(thread);
		if (claim.record == NULL)
			continue;
		write_bytes(claim);
		pfs_case_abandon(thread, claim);
	}
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_weak[] = {
	{ "marks", "a page's mark changes during a search: no page may be added", PFS_CASE_RECLAIM,
	  2, 1, 2, { PFS_CASE_PAGES(2, 0, 3), .idle_passes = MARKS_ONLY }, NULL, marks_fill,
	  { pfs_case_take_one, take_and_pass, pfs_case_take_one }, marks_finish },
	{ "last", "threads want the only record", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 0,
	  { PFS_CASE_PAGES(1, 1, 1) }, NULL, NULL, { last_body, last_body, last_body }, NULL },
	{ "abandon", "a thread writes the only record and abandons it", PFS_CASE_INDEX, 2, 1, 0,
	  { PFS_CASE_PAGES(1, 1, 1) }, NULL, NULL, { abandon_body, last_body, last_body }, NULL },
	{ "held", "a pass holds the last free records for a moment: no thread may be refused",
	  PFS_CASE_RECLAIM, 3, 1, 3, { PFS_CASE_PAGES(2, 0, 2), .idle_passes = 2 }, NULL,
	  marks_fill, { pfs_case_take_one, pfs_case_pass, pfs_case_take_one },
	  pfs_case_nobody_refused },
	{ "held_page", "the same with room for another page: none may be added", PFS_CASE_RECLAIM,
	  3, 1, 3, { PFS_CASE_PAGES(2, 0, 3), .idle_passes = 2 }, NULL, marks_fill,
	  { pfs_case_take_one, pfs_case_pass, pfs_case_take_one }, held_page_finish },
	{ .name = NULL },
};
/* clang-format on */
