/*
 * case_depot.c - scenarios in which records go from ring to ring by blocks. Rings hold two records
 * and blocks one unless a case says otherwise, so that the third free sends a block.
 */
#include "sim/cases/case_kind.h"

/* Frees kept records: each is one operation. */
static void give(struct pfs_case_thread *thread, uint64_t first, uint64_t count)
{
	pfs_case_give_range(thread, first, first + count);
	thread->operations += (uint32_t)count;
}

static void give_three_body(struct pfs_case_thread *thread)
{
	give(thread, 0, 3);
}

/* Frees enough to send a block, then takes one. */
static void send_body(struct pfs_case_thread *thread)
{
	give(thread, 0, 3);
	pfs_case_take_one(thread);
}

static void send_all_body(struct pfs_case_thread *thread)
{
	give(thread, 0, 4);
}

/* ---- receivers: other threads get the records that a thread received but did not take ---- */

/* Allocates `count` records by a handle, and frees the first ones. */
static void keep_and_free(struct pfs_case *self, struct pfs_thread *owner, uint32_t count,
			  uint32_t freed)
{
	for (uint32_t i = 0; i < count; i++)
		(void)pfs_case_keep_by(self, owner);
	for (uint32_t i = 0; i < freed && !pfs_case_has_failed(self); i++)
		pfs_case_unkeep_by(self, owner, self->kept[i]);
}

/* Rings of four and blocks of two: the fifth free sends. */
static void receivers_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	keep_and_free(self, owner, 5, 5);
}

static void take_four_body(struct pfs_case_thread *thread)
{
	pfs_case_take_two(thread);
	pfs_case_take_two(thread);
}

/* ---- senders, claimers: threads send while others take their rings ---- */

static void give_second_body(struct pfs_case_thread *thread)
{
	give(thread, 3, 3);
}

static void give_other_body(struct pfs_case_thread *thread)
{
	give(thread, 1, 3);
}

/* ---- again: a ring is used after a receive that failed ---- */

/* One record is in a block, the others are in use. */
static void again_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	keep_and_free(self, owner, 6, 3);
	(void)pfs_case_keep_by(self, owner);
	(void)pfs_case_keep_by(self, owner);
}

/* Receives, meets a taker, bypasses its ring until the taker is done, and uses the ring again. */
static void again_owner_body(struct pfs_case_thread *thread)
{
	pfs_case_take_one(thread);
	for (uint32_t i = 3; i < 7; i++)
		give(thread, pfs_index(thread->handle, thread->own->kept[i]), 1);
}

static void again_taker_body(struct pfs_case_thread *thread)
{
	for (uint32_t i = 0; i < 5; i++)
		pfs_case_take_one(thread);
}

/* A block is sent after the taker has passed, to the thread whose ring was taken. */
static void claimer_body(struct pfs_case_thread *thread)
{
	give(thread, 0, 1);
	pfs_case_take_two(thread);
}

#define RINGS (PFS_CASE_INDEX | PFS_CASE_RINGS | PFS_CASE_TIMED)

/* clang-format off */
const struct pfs_case_kind pfs_cases_depot[] = {
	{ "send", "a thread sends a block while others want its record", RINGS, 2, 1, 3,
	  { PFS_CASE_PAGES(4, 1, 1), .ring_records = 2 }, NULL, pfs_case_keep_all,
	  { send_body, pfs_case_take_two, pfs_case_take_one }, NULL },
	{ "sendall", "a thread sends two blocks, and others take every record", RINGS, 2, 1, 3,
	  { PFS_CASE_PAGES(4, 1, 1), .ring_records = 2 }, NULL, pfs_case_keep_all,
	  { send_all_body, pfs_case_take_two, pfs_case_take_two }, NULL },
	{ "receivers", "a thread receives two records and takes one; others take all the rest",
	  RINGS, 2, 1, 3, { PFS_CASE_PAGES(5, 1, 1), .ring_records = 4 }, NULL, receivers_fill,
	  { pfs_case_take_one, take_four_body, pfs_case_take_one }, NULL },
	{ "senders", "two threads send, and a third one takes their rings", RINGS, 3, 1, 3,
	  { PFS_CASE_PAGES(7, 1, 1), .ring_records = 2 }, NULL, pfs_case_keep_all,
	  { give_three_body, give_second_body, pfs_case_take_two }, NULL },
	{ "claimers", "a block is sent after the taker passed, to the thread whose ring it took",
	  PFS_CASE_INDEX | PFS_CASE_RINGS, 3, 1, 3, { PFS_CASE_PAGES(4, 1, 1), .ring_records = 2 },
	  NULL, pfs_case_keep_all, { claimer_body, pfs_case_take_one, give_other_body }, NULL },
	{ "again", "a ring is used after a receive that failed, and is taken back again",
	  PFS_CASE_INDEX | PFS_CASE_RINGS, 2, 1, 2, { PFS_CASE_PAGES(6, 1, 1), .ring_records = 2 },
	  NULL, again_fill, { again_owner_body, again_taker_body, again_taker_body }, NULL },
	{ .name = NULL },
};
/* clang-format on */
