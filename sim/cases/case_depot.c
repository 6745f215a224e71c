/*
 * case_depot.c - scenarios in which records go from ring to ring by blocks. Rings hold two records
 * here and blocks one, so that the third free sends.
 */
#include "sim/cases/case_kind.h"

static void configure(struct pfs_case *self, struct pfs_config *config)
{
	self->ring_records = 2;
	pfs_case_pages(config, 4, 1, 1);
}

static void give(struct pfs_case_thread *thread, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		pfs_case_give_kept(thread, i);
		thread->operations++;
	}
}

/* Gives so many that a block goes, takes one again. */
static void send_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	give(thread, 0, 3);
	pfs_case_take_one(thread);
}

static void send_all_body(void *opaque)
{
	give(opaque, 0, 4);
}

static void take_two_body(void *opaque)
{
	pfs_case_take_one(opaque);
	pfs_case_take_one(opaque);
}

/* ---- receivers: what a thread received and did not take is there for others ---- */

/* Rings of four and blocks of two: the fifth free sends. */
static void receivers_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->ring_records = 4;
	pfs_case_pages(config, 5, 1, 1);
}

static void receivers_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	struct pfs_claim claims[5] = { { .record = NULL } };
	for (uint32_t i = 0; i < 5 && owner != NULL; i++) {
		claims[i] = pfs_allocate(owner);
		if (claims[i].record != NULL)
			pfs_publish(owner, claims[i]);
	}
	for (uint32_t i = 0; i < 5 && owner != NULL; i++)
		pfs_free(owner, claims[i].record);
}

static void take_four_body(void *opaque)
{
	take_two_body(opaque);
	take_two_body(opaque);
}

/* ---- senders: two send at a time, and a third one takes their rings ---- */

static void senders_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->ring_records = 2;
	pfs_case_pages(config, 7, 1, 1);
}

static void give_first_body(void *opaque)
{
	give(opaque, 0, 3);
}

static void give_second_body(void *opaque)
{
	give(opaque, 3, 3);
}

/* ---- again: a ring goes on after a receive that failed ---- */

static void again_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->ring_records = 2;
	pfs_case_pages(config, 6, 1, 1);
}

/* One record lies in a block, the others are in use. */
static void again_fill(struct pfs_case *self)
{
	struct pfs_thread *owner = pfs_case_attach_extra(self);
	struct pfs_claim claims[6] = { { .record = NULL } };
	for (uint32_t i = 0; i < 6 && owner != NULL; i++) {
		claims[i] = pfs_allocate(owner);
		if (claims[i].record != NULL)
			pfs_publish(owner, claims[i]);
	}
	for (uint32_t i = 0; i < 3 && owner != NULL; i++)
		pfs_free(owner, claims[i].record);
	for (uint32_t i = 3; i < 6; i++)
		pfs_case_adopt(self, claims[i].record);
	for (uint32_t i = 0; i < 2 && owner != NULL; i++) {
		struct pfs_claim claim = pfs_allocate(owner);
		if (claim.record != NULL)
			pfs_publish(owner, claim);
		pfs_case_adopt(self, claim.record);
	}
}

static void give_nth(struct pfs_case_thread *thread, uint32_t nth)
{
	struct pfs_case *self = thread->own;
	pfs_case_give_kept(thread, pfs_index(thread->handle, self->kept[nth]));
	thread->operations++;
}

/* Receives, meets a taker, passes its ring by for as long as that lasts, and uses it again. */
static void again_owner_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	pfs_case_take_one(thread);
	for (uint32_t i = 0; i < 4; i++)
		give_nth(thread, i);
}

static void again_taker_body(void *opaque)
{
	for (uint32_t i = 0; i < 5; i++)
		pfs_case_take_one(opaque);
}

/* ---- claimers: a block is sent when the taker has gone by, to one whose ring it took ---- */

static void claimer_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	give(thread, 0, 1);
	take_two_body(thread);
}

static void give_three_body(void *opaque)
{
	give(opaque, 1, 3);
}

#define RINGS (PFS_CASE_INDEX | PFS_CASE_RINGS | PFS_CASE_TIMED)

/* clang-format off */
const struct pfs_case_kind pfs_cases_depot[] = {
	{ "send", "a thread sends a block while others want its record",
	  RINGS, 2, 1, 3, configure, pfs_case_keep_all,
	  { send_body, take_two_body, pfs_case_take_one }, NULL },
	{ "sendall", "a thread sends two blocks, and others take all that there is",
	  RINGS, 2, 1, 3, configure, pfs_case_keep_all,
	  { send_all_body, take_two_body, take_two_body }, NULL },
	{ "receivers", "a thread receives two records and takes one; others take all but that",
	  RINGS, 2, 1, 3, receivers_configure, receivers_fill,
	  { pfs_case_take_one, take_four_body, pfs_case_take_one }, NULL },
	{ "senders", "two send, and a third one takes their rings",
	  RINGS, 3, 1, 3, senders_configure, pfs_case_keep_all,
	  { give_first_body, give_second_body, take_two_body }, NULL },
	{ "claimers", "a block is sent when the taker has gone by, to one whose ring it took",
	  PFS_CASE_INDEX | PFS_CASE_RINGS, 3, 1, 3, configure, pfs_case_keep_all,
	  { claimer_body, pfs_case_take_one, give_three_body }, NULL },
	{ "again", "a ring goes on after a receive that failed, and is taken back again",
	  PFS_CASE_INDEX | PFS_CASE_RINGS, 2, 1, 2, again_configure, again_fill,
	  { again_owner_body, again_taker_body, again_taker_body }, NULL },
	{ .name = NULL },
};
/* clang-format on */
