/*
 * case_rings.c - scenarios in which a thread's ring holds free records that another thread wants.
 * They are made for policies with rings, but every policy must pass them.
 */
#include "sim/cases/case_kind.h"

/* ---- newring: a ring that appears after the search began ---- */

/* Afterwards the only record is free, so that a later answer of full is wrong: the history shows
 * it. The handle stays attached. */
static void attach_and_give_body(struct pfs_case_thread *thread)
{
	struct pfs_case_thread fresh = *thread;
	thread->operations++;
	fresh.handle = pfs_case_attach_extra(thread->own);
	if (fresh.handle != NULL)
		pfs_case_give_kept(&fresh, 0);
}

/* ---- more: a free is in flight while the ring is taken back, twice ---- */

/* Fills its ring, and uses it again after it was taken back, perhaps between two takes. */
static void more_owner_body(struct pfs_case_thread *thread)
{
	pfs_case_give_range(thread, 0, 2);
	pfs_case_take_one(thread);
}

/* ---- handover: the owner meets REVOKED after a free that the taker has not seen ---- */

/* One record is in the ring of an extra handle, the other one is in use. */
static void handover_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	(void)pfs_case_keep_by(self, owner);
	(void)pfs_case_keep_by(self, owner);
	if (!pfs_case_has_failed(self))
		pfs_case_unkeep_by(self, owner, self->kept[0]);
}

static void handover_owner_body(struct pfs_case_thread *thread)
{
	struct pfs_case_thread by = pfs_case_by_extra(thread, 0);
	pfs_case_give_kept(&by, pfs_index(by.handle, thread->own->kept[1]));
	pfs_case_take_one(&by);
	thread->refused += by.refused;
}

/* ---- rings: the owner continues to use a ring that was taken back ---- */

/* Thread 0 frees two records; between them it takes one and frees it again. */
static void rings_owner_body(struct pfs_case_thread *thread)
{
	pfs_case_give_kept(thread, 0);
	pfs_case_churn(thread);
	pfs_case_give_kept(thread, 1);
}

/* ---- refused: no record is free, no thread frees, and no thread waits ---- */

/* A ring was used before, and is closed now. */
static void refused_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	pfs_case_keep_all(self);
	if (owner == NULL || pfs_case_has_failed(self))
		return;
	pfs_case_unkeep_by(self, owner, self->kept[self->kept_count - 1]);
	pfs_case_keep(self, 1);
	(void)pfs_allocate(self->setup);
}

/* ---- closing, opening, reopening: a thread frees into a ring, and others take from it ---- */

static void closing_owner_body(struct pfs_case_thread *thread)
{
	pfs_case_give_range(thread, 0, 2);
}

static void opening_owner_body(struct pfs_case_thread *thread)
{
	pfs_case_give_kept(thread, 0);
}

static void reopening_owner_body(struct pfs_case_thread *thread)
{
	pfs_case_give_range(thread, 0, 5);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_rings[] = {
	{ "reopening", "a ring of two is taken back, bypassed by two frees, opened again and used",
	  PFS_CASE_INDEX | PFS_CASE_RINGS, 2, 1, 3, { PFS_CASE_PAGES(5, 1, 1), .ring_records = 2 },
	  NULL, pfs_case_keep_all, { reopening_owner_body, pfs_case_take_two, pfs_case_take_two },
	  NULL },
	{ "closing", "a taker wants one of two records in a ring, and others want the other one",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 1, 3, { PFS_CASE_PAGES(1, 2, 2) }, NULL,
	  pfs_case_keep_all, { closing_owner_body, pfs_case_take_one, pfs_case_take_one }, NULL },
	{ "refused", "all records are in use: a thread that closed the rings delays no other",
	  PFS_CASE_INDEX | PFS_TRAIT_EXACT | PFS_CASE_BESIDE, 2, 1, 3, { PFS_CASE_PAGES(1, 2, 2) },
	  NULL, refused_fill, { pfs_case_take_two, pfs_case_take_two, pfs_case_take_two }, NULL },
	{ "opening", "the only record goes through a ring while others ask for it",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 3, { PFS_CASE_PAGES(1, 1, 1) }, NULL,
	  pfs_case_keep_all, { opening_owner_body, pfs_case_take_one, pfs_case_take_one }, NULL },
	{ "newring", "a thread attaches and frees the only record, which another one wants",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, { PFS_CASE_PAGES(1, 1, 1) }, NULL,
	  pfs_case_keep_all, { attach_and_give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "more", "a free is in flight while the ring is taken back twice",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, { PFS_CASE_PAGES(1, 2, 2) }, NULL,
	  pfs_case_keep_all, { more_owner_body, pfs_case_take_two, pfs_case_take_two }, NULL },
	{ "handover", "the owner of a ring hands over a record that the taker has not seen",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, { PFS_CASE_PAGES(1, 2, 2) }, NULL,
	  handover_fill, { handover_owner_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "rings", "the owner continues to use its ring while another thread takes it back",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 2, 2, { PFS_CASE_PAGES(1, 2, 2) }, NULL,
	  pfs_case_keep_all, { rings_owner_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
