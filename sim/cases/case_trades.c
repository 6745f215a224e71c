/*
 * case_trades.c - scenarios in which some record is free all the time, and
 * never where a proof looks; and of a page that leaves a tree while a free is
 * on its way to it.
 */
#include "check/machine/atomic_backend.h"
#include "sim/cases/case_kind.h"

#define SIDES 2u
#define HOLD 120u /* steps, times operations: a proof has time between two trades */

static void *take_one(struct pfs_case_thread *thread)
{
	struct pfs_claim claim = pfs_case_take(thread);
	if (claim.record == NULL)
		return NULL;
	pfs_case_publish(thread, claim);
	return claim.record;
}

static void hold(struct pfs_case_thread *thread)
{
	for (uint32_t i = 0; i < HOLD * thread->own->operations; i++)
		pfs_machine_note(&thread->operations, "in use");
}

/* A record of a page of a node, by a handle there. */
static void keep_by(struct pfs_case *self, struct pfs_thread *handle)
{
	struct pfs_claim claim = { .record = NULL };
	if (handle != NULL)
		claim = pfs_allocate(handle);
	if (claim.record == NULL) {
		pfs_machine_fail("set-up: no record");
		return;
	}
	pfs_publish(handle, claim);
	pfs_case_adopt(self, claim.record);
}

/* ---- swap: of the records of two nodes one is free, and the other node's path
 * is cleared ---- */

static void nodes_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->room_fan = 2;
	self->word_records = 2;
	pfs_case_pages(config, 2, 0, 2);
	self->machine->setup.node_count = 2;
	self->machine->aside.node = 0;
}

/* A page on each node, and a handle that remembers its word. One record is free. */
static void fill_nodes(struct pfs_case *self, uint64_t free_one)
{
	for (uint32_t node = 0; node < SIDES; node++) {
		self->machine->aside.node = node;
		struct pfs_thread *handle = pfs_case_attach_extra(self);
		for (uint32_t i = 0; i < 2 && self->machine->run.end == PFS_END_DONE; i++)
			keep_by(self, handle);
	}
	if (self->machine->run.end == PFS_END_DONE)
		pfs_case_unkeep(self, free_one);
}

static void swap_fill(struct pfs_case *self)
{
	fill_nodes(self, 2);
}

/*
 * Gives both records of a side, takes the free one of the other, and one more:
 * that search finds the other side empty, and clears it. So the free one has
 * changed sides, and it never was the only one that was given; and so on, to
 * and fro.
 */
static void swap_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case *self = thread->own;
	struct pfs_case_thread by[SIDES] = { pfs_case_by_extra(thread, 0),
					     pfs_case_by_extra(thread, 1) };
	void *full[2] = { self->kept[0], self->kept[1] }, *rest = self->kept[3];
	for (uint32_t turn = 0; turn < 4 * self->operations && rest != NULL; turn++) {
		struct pfs_case_thread *here = &by[turn % 2], *there = &by[(turn + 1) % 2];
		pfs_case_give(here, full[0]);
		pfs_case_give(here, full[1]);
		full[0] = rest;
		full[1] = take_one(there);
		rest = full[1] != NULL ? take_one(there) : NULL;
		hold(thread);
		thread->operations = turn / 4;
	}
}

/* Thread 0 asks. */
static void swap_finish(struct pfs_case *self)
{
	if ((self->variant->traits & PFS_TRAIT_EXACT) != 0 && self->threads[0].refused != 0)
		pfs_machine_fail("thread 0 was refused, and a record was free all the time");
}

/* ---- nodes: of two nodes' records one is always free ---- */

static void nodes_fill(struct pfs_case *self)
{
	fill_nodes(self, 0);
}

/*
 * Trades record 2 for record 0, and back. Then record 1 is free as well; it wants one, and meets
 * the empty node first. What it leaves is free to the end.
 */
static void nodes_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case_thread near = pfs_case_by_extra(thread, 0);
	struct pfs_case_thread far = pfs_case_by_extra(thread, 1);
	pfs_case_give_kept(&far, 2);
	struct pfs_claim claim = pfs_case_take(&near);
	thread->operations++;
	if (claim.record == NULL)
		return;
	pfs_case_publish(&near, claim);
	pfs_case_give(&near, claim.record);
	pfs_case_give_kept(&near, 1);
	pfs_case_take_one(&far);
	pfs_case_take_one(thread);
}

/* ---- ring_swap: likewise, of two rings ---- */

static void ring_swap_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->ring_records = 2; /* a ring that was taken back is soon open again */
	pfs_case_pages(config, 1, 0, 2);
}

/* Thread 1 has two handles, and record 0; record 1 lies with the second one. */
static void ring_swap_fill(struct pfs_case *self)
{
	for (uint32_t i = 0; i < SIDES; i++)
		keep_by(self, pfs_case_attach_extra(self));
	if (self->machine->run.end != PFS_END_DONE)
		return;
	if (pfs_allocate(self->setup).record != NULL)
		pfs_machine_fail("set-up: a record too many");
	pfs_free(self->extra[1], self->kept[1]);
	self->owner[pfs_index(self->setup, self->kept[1])] = 0;
	self->kept[1] = NULL;
}

static void ring_swap_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case *self = thread->own;
	struct pfs_case_thread by[SIDES] = { pfs_case_by_extra(thread, 0),
					     pfs_case_by_extra(thread, 1) };
	void *record = self->kept[0];
	for (uint32_t turn = 0; turn < 8 * self->operations && record != NULL; turn++) {
		pfs_case_give(&by[turn % 2], record);
		record = take_one(&by[(turn + 1) % 2]);
		thread->operations = turn / 8;
	}
}

/* ---- leaves: a free raises the tree that its page leaves ---- */

static void leaves_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->room_fan = 2;
	self->word_records = 1;
	pfs_case_pages(config, 1, 0, 2);
	config->reclaim.idle_passes = 100; /* marks change, no page goes */
}

/* All in use. Page 1 drains, and its path alone is raised: a pass marks it as
 * kept. */
static void leaves_fill(struct pfs_case *self)
{
	for (uint32_t turn = 0; turn < 2; turn++) {
		pfs_case_keep(self, turn == 0 ? 2 : 1);
		if (self->machine->run.end == PFS_END_DONE && turn != 0 &&
		    pfs_allocate(self->setup).record != NULL)
			pfs_machine_fail("set-up: a record too many");
		if (self->machine->run.end == PFS_END_DONE)
			pfs_case_unkeep(self, 1);
		if (self->machine->run.end == PFS_END_DONE && turn == 0)
			(void)pfs_reclaim_pass(self->setup);
	}
	if (self->machine->run.end == PFS_END_DONE)
		pfs_case_keep(self, 1);
}

static bool is_past(uint64_t turn, uint64_t first)
{
	return turn >= first;
}

/* One after the other, and nobody learns by it what the others did. */
static void await_turn(struct pfs_case_thread *thread, uint64_t turn)
{
	struct pfs_case *self = thread->own;
	(void)pfs_machine_await(&self->mailbox, sizeof(self->mailbox), PFS_SIM_RELAXED, is_past,
				turn);
}

static void end_turn(struct pfs_case_thread *thread)
{
	(void)pfs_fetch_add_relaxed((_Atomic(uint64_t) *)(void *)&thread->own->mailbox, 1);
	thread->operations++;
}

static void leaves_pass_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	(void)pfs_reclaim_pass(thread->handle);
	end_turn(thread);
}

/* It is refused, and clears the tree that the page came to. Then it may not be.
 */
static void leaves_take_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	await_turn(thread, 1);
	(void)take_one(thread);
	end_turn(thread);
	await_turn(thread, 3);
	(void)take_one(thread);
}

/* It may read an old mark, and raise the tree that the page has left. */
static void leaves_give_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	await_turn(thread, 2);
	pfs_case_give_kept(thread, 1);
	end_turn(thread);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_trades[] = {
	{ "nodes", "of the records of two nodes one is free", PFS_CASE_INDEX | PFS_CASE_TIMED, 2,
	  1, 2, nodes_configure, nodes_fill, { pfs_case_churn, nodes_body, nodes_body }, NULL },
	{ "ring_swap",
	  "a thread trades records of two rings: one is free all the time",
	  PFS_CASE_INDEX | PFS_CASE_TIMED | PFS_CASE_APART,
	  2,
	  2,
	  2,
	  ring_swap_configure,
	  ring_swap_fill,
	  { pfs_case_churn, ring_swap_body, ring_swap_body },
	  swap_finish },
	{ "leaves",
	  "a free raises the tree that its page leaves",
	  PFS_CASE_RECLAIM | PFS_CASE_TIMED | PFS_CASE_SPARING | PFS_CASE_TURNS,
	  3,
	  1,
	  3,
	  leaves_configure,
	  leaves_fill,
	  { leaves_give_body, leaves_pass_body, leaves_take_body },
	  NULL },
	{ "swap",
	  "a thread trades records of two nodes, and clears: one is free all the "
	  "time",
	  PFS_CASE_INDEX | PFS_CASE_TIMED | PFS_CASE_APART,
	  2,
	  2,
	  2,
	  nodes_configure,
	  swap_fill,
	  { pfs_case_churn, swap_body, swap_body },
	  swap_finish },
	{ .name = NULL },
};
/* clang-format on */
