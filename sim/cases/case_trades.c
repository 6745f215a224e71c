/*
 * case_trades.c - scenarios in which some record is always free, but never where a proof looks; and
 * one in which a page leaves a tree while a free raises it.
 */
#include "check/machine/atomic_backend.h"
#include "sim/cases/case_kind.h"

#define SIDES 2u
#define HOLD 120u /* steps for each operation: a proof has time between two trades */

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

/* ---- swap: a record of one of two nodes is free, and the other node's path is cleared ---- */

static void nodes_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)config;
	self->machine->setup.node_count = 2;
	self->machine->aside.node = 0;
}

/* A page on each node, and a handle that remembers its word. Record `free` is free. */
static void fill_nodes(struct pfs_case *self, uint64_t free)
{
	for (uint32_t node = 0; node < SIDES; node++) {
		self->machine->aside.node = node;
		struct pfs_thread *handle = pfs_case_attach_extra(self);
		for (uint32_t i = 0; i < 2 && !pfs_case_has_failed(self); i++)
			(void)pfs_case_keep_by(self, handle);
	}
	pfs_case_unkeep(self, free, free + 1);
}

static void swap_fill(struct pfs_case *self)
{
	fill_nodes(self, 2);
}

/*
 * Frees both records of one side, takes the free record of the other side, and searches there
 * again: that search finds the other side empty, clears it, and takes a record of the first side.
 * So the free record has changed sides, and it was never the only one that was freed. Then the same
 * in the other direction.
 */
static void swap_body(struct pfs_case_thread *thread)
{
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

/* ---- nodes: a record of one of two nodes is always free ---- */

static void nodes_fill(struct pfs_case *self)
{
	fill_nodes(self, 0);
}

/*
 * Trades record 2 for record 0, and back. Then it also frees record 1 and wants a record, and meets
 * the empty node first. The record that it leaves stays free to the end.
 */
static void nodes_body(struct pfs_case_thread *thread)
{
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

/* ---- ring_swap: the same with two rings ---- */

/* Thread 1 has two handles and record 0; record 1 is in the ring of the second handle. */
static void ring_swap_fill(struct pfs_case *self)
{
	for (uint32_t i = 0; i < SIDES; i++)
		(void)pfs_case_keep_by(self, pfs_case_attach_extra(self));
	pfs_case_expect_full(self);
	if (!pfs_case_has_failed(self))
		pfs_case_unkeep_by(self, self->extra[1], self->kept[1]);
}

static void ring_swap_body(struct pfs_case_thread *thread)
{
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

/* All records are in use. Page 1 drains, and only its path is raised: a pass marks it as kept. */
static void leaves_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	pfs_case_unkeep(self, 1, 2);
	if (!pfs_case_has_failed(self))
		(void)pfs_reclaim_pass(self->setup);
	pfs_case_keep(self, 1);
	pfs_case_expect_full(self);
	pfs_case_unkeep(self, 1, 2);
	pfs_case_keep(self, 1);
}

static bool is_past(uint64_t turn, uint64_t first)
{
	return turn >= first;
}

/* The threads take turns. This orders them, but tells no thread what the others did. */
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

static void leaves_pass_body(struct pfs_case_thread *thread)
{
	(void)pfs_reclaim_pass(thread->handle);
	end_turn(thread);
}

/* Its first search is refused, and clears the tree to which the page came. The second may not be
 * refused. */
static void leaves_take_body(struct pfs_case_thread *thread)
{
	await_turn(thread, 1);
	(void)take_one(thread);
	end_turn(thread);
	await_turn(thread, 3);
	(void)take_one(thread);
}

/* May read an old mark and raise the tree that the page has left. */
static void leaves_give_body(struct pfs_case_thread *thread)
{
	await_turn(thread, 2);
	pfs_case_give_kept(thread, 1);
	end_turn(thread);
}

#define NODES                                                             \
	{                                                                 \
		PFS_CASE_PAGES(2, 0, 2), .room_fan = 2, .word_records = 2 \
	}

/* clang-format off */
const struct pfs_case_kind pfs_cases_trades[] = {
	{ "nodes", "one of the records of two nodes is free", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1,
	  2, NODES, nodes_configure, nodes_fill, { pfs_case_churn, nodes_body, nodes_body }, NULL },
	/* rings of two: a ring that was taken back is soon open again */
	{ "ring_swap", "a thread trades records of two rings: one is always free",
	  PFS_CASE_INDEX | PFS_CASE_TIMED | PFS_CASE_APART, 2, 2, 2,
	  { PFS_CASE_PAGES(1, 0, 2), .ring_records = 2 }, NULL, ring_swap_fill,
	  { pfs_case_churn, ring_swap_body, ring_swap_body }, pfs_case_exact_grants_first },
	/* marks change, no page goes */
	{ "leaves", "a free raises the tree that its page leaves",
	  PFS_CASE_RECLAIM | PFS_CASE_TIMED | PFS_CASE_SPARING | PFS_CASE_TURNS, 3, 1, 3,
	  { PFS_CASE_PAGES(1, 0, 2), .idle_passes = 100, .room_fan = 2, .word_records = 1 }, NULL,
	  leaves_fill, { leaves_give_body, leaves_pass_body, leaves_take_body }, NULL },
	{ "swap", "a thread trades records of two nodes, and clears paths: one is always free",
	  PFS_CASE_INDEX | PFS_CASE_TIMED | PFS_CASE_APART, 2, 2, 2, NODES, nodes_configure,
	  swap_fill, { pfs_case_churn, swap_body, swap_body }, pfs_case_exact_grants_first },
	{ .name = NULL },
};
/* clang-format on */
