/*
 * case_rings.c - scenarios in which free records lie with a thread while another one wants them.
 * They are for policies with such rings; any other must hold what they promise, too.
 */
#include "sim/cases/case_kind.h"

/* ---- newring: a ring that nobody knew when the search began ---- */

static void newring_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 1, 1);
}

/* The only record is free once this is over, so that full, said after that, is wrong: the
 * history tells. The handle stays attached. */
static void attach_and_give_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case_thread fresh = *thread;
	thread->operations++;
	fresh.handle = pfs_case_attach_extra(thread->own);
	if (fresh.handle != NULL)
		pfs_case_give_kept(&fresh, 0);
}

/* ---- more: a free is in flight while the ring is taken back, twice ---- */

static void two_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 2, 2);
}

/* Fills its ring; comes back to it when it was taken, perhaps between two of the taker's turns. */
static void more_owner_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	pfs_case_give_kept(thread, 0);
	pfs_case_give_kept(thread, 1);
	pfs_case_take_one(thread);
}

static void more_taker_body(void *opaque)
{
	pfs_case_take_one(opaque);
	pfs_case_take_one(opaque);
}

/* ---- handover: the owner meets REVOKED, with a free that the taker has not seen ---- */

/* One record lies in the ring of an extra handle, the other one is in use. */
static void handover_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	struct pfs_claim claims[2] = { { .record = NULL }, { .record = NULL } };
	for (uint32_t i = 0; i < 2 && owner != NULL; i++) {
		claims[i] = pfs_allocate(owner);
		if (claims[i].record != NULL)
			pfs_publish(owner, claims[i]);
	}
	if (claims[0].record == NULL || claims[1].record == NULL) {
		pfs_machine_fail("set-up: no record");
		return;
	}
	pfs_case_adopt(self, claims[1].record);
	pfs_free(owner, claims[0].record);
}

static void handover_owner_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case_thread by = pfs_case_by_extra(thread, 0);
	pfs_case_give_kept(&by, pfs_index(by.handle, thread->own->kept[0]));
	pfs_case_take_one(&by);
	thread->refused += by.refused;
}

/* ---- rings: the owner goes on with a ring that was taken back ---- */

/* Thread 0 has two records to give; one of them it takes again and gives once more. */
static void rings_owner_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	pfs_case_give_kept(thread, 0);
	pfs_case_churn(opaque);
	pfs_case_give_kept(thread, 1);
}

/* ---- refused: nothing is free, nobody frees, and nobody waits ---- */

/* A ring was in use, and is closed by now. */
static void refused_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	pfs_case_keep_all(self);
	if (owner == NULL || self->kept_count == 0)
		return;
	void *record = self->kept[--self->kept_count];
	self->owner[pfs_index(self->setup, record)] = 0;
	pfs_free(owner, record);
	pfs_case_keep(self, 1);
	(void)pfs_allocate(self->setup);
}

static void ask_twice_body(void *opaque)
{
	pfs_case_take_one(opaque);
	pfs_case_take_one(opaque);
}

/* ---- closing: a taker wants one of two records, and who comes after it the other one ---- */

static void closing_owner_body(void *opaque)
{
	pfs_case_give_kept(opaque, 0);
	pfs_case_give_kept(opaque, 1);
}

/* ---- opening: a refusal meets a ring that is opened, and one that is closed ---- */

static void opening_owner_body(void *opaque)
{
	pfs_case_give_kept(opaque, 0);
}

/* ---- reopening: a ring is taken back, passed by, opened again and used ---- */

/* Rings of two, so that two frees pass one by. */
static void reopening_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->ring_records = 2;
	pfs_case_pages(config, 5, 1, 1);
}

static void reopening_owner_body(void *opaque)
{
	for (uint64_t i = 0; i < 5; i++)
		pfs_case_give_kept(opaque, i);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_rings[] = {
	{ "reopening", "a ring is taken back, passed by, opened again and used",
	  PFS_CASE_INDEX | PFS_CASE_RINGS, 2, 1, 3, reopening_configure, pfs_case_keep_all,
	  { reopening_owner_body, ask_twice_body, ask_twice_body }, NULL },
	{ "closing", "a taker wants one of two records in a ring, and others the other one",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 1, 3, two_configure, pfs_case_keep_all,
	  { closing_owner_body, pfs_case_take_one, pfs_case_take_one }, NULL },
	{ "refused", "threads ask where all is in use: who has closed the rings keeps nobody",
	  PFS_CASE_INDEX | PFS_TRAIT_EXACT | PFS_CASE_BESIDE, 2, 1, 3, two_configure, refused_fill,
	  { ask_twice_body, ask_twice_body, ask_twice_body }, NULL },
	{ "opening", "the only record goes through a ring, and others ask for it",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 3, newring_configure, pfs_case_keep_all,
	  { opening_owner_body, pfs_case_take_one, pfs_case_take_one }, NULL },
	{ "newring", "a thread attaches and frees the only record, which another one wants",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, newring_configure, pfs_case_keep_all,
	  { attach_and_give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "more", "a free is in flight while the ring is taken back, twice",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, two_configure, pfs_case_keep_all,
	  { more_owner_body, more_taker_body, more_taker_body }, NULL },
	{ "handover", "the owner of a ring hands over what the taker has not seen",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, two_configure, handover_fill,
	  { handover_owner_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "rings", "the owner of a ring goes on with it while another thread takes it back",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 2, 2, two_configure, pfs_case_keep_all,
	  { rings_owner_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
