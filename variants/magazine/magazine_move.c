/*
 * magazine_move.c - blocks of records between rings, moved by the rings' owners; see magazine.h.
 */
#include "magazine.h"

/* The depot of the thread's node. */
static struct pfs_depot *depot_of(const struct pfs_thread *thread)
{
	const struct pfs_magazines *magazines = pfs_magazines_of(thread->container);
	uint32_t last = magazines->node_count - 1;
	return &magazines->depots[thread->node < last ? thread->node : last];
}

/* [G10] release, all four, pairs with [G11]: after the last end became even. */
static void write_down(struct pfs_magazine *self, uint64_t end, struct pfs_hold hold)
{
	pfs_store_release(&self->moving_depot, hold.depot); /* [G10] */
	pfs_store_release(&self->moving_block, hold.block); /* [G10] */
	pfs_store_release(&self->moving_state, hold.state); /* [G10] */
	pfs_store_release(&self->moving, end);              /* [G10] */
	self->last_block = hold.block;
}

/*
 * A note ends with its move [M5]. After a move that failed, the next operation marks the same
 * position odd; a taker that still found the note would take that operation for the move.
 */
static void forget_move(struct pfs_magazine *self)
{
	/* [G14] release, pairs with [G11]: after the end became even, before its next mark. */
	pfs_store_release(&self->moving, PFS_MOVING_NONE);
}

/*
 * The rest of a send, from its odd mark on. False: it met a taker, which may see the move in flight
 * until the control word tells whose the entries are.
 */
static bool end_send(struct pfs_magazine *self, uint64_t head, struct pfs_hold hold)
{
	bool stands = pfs_hold_stands(hold);
	bool is_idle = pfs_magazine_enter(self, &self->head, head, true);
	_Atomic(void *) *to = pfs_hold_block(hold)->records;
	for (uint32_t i = 0; is_idle && stands && i < PFS_BLOCK_RECORDS; i++)
		/* relaxed: [Y3] carries it. */
		pfs_store_relaxed(&to[i], pfs_magazine_entry(self, head / 2 + i));
	if (is_idle && (!stands || pfs_depot_fill(hold))) {
		/* [G5] release, pairs with [G4]: the path has been raised. */
		pfs_store_release(&self->head, head + 2 * (uint64_t)PFS_BLOCK_RECORDS);
		return true;
	}
	(void)pfs_magazine_yield(self, head / 2);
	pfs_depot_drop(hold);
	return false;
}

/* The same for a receive. Entries after the tail are the owner's until the block's state says that
 * they are the ring's. */
static bool end_receive(struct pfs_magazine *self, uint64_t tail, struct pfs_hold hold)
{
	bool stands = pfs_hold_stands(hold);
	bool is_idle = pfs_magazine_enter(self, &self->tail, tail, true);
	_Atomic(void *) *from = pfs_hold_block(hold)->records;
	for (uint32_t i = 0; is_idle && stands && i < PFS_BLOCK_RECORDS; i++)
		/* relaxed, both: [Y4] carried it, [Y5] carries it. */
		pfs_store_relaxed(&self->records[(tail / 2 + i) % PFS_MAGAZINE_RECORDS],
				  pfs_load_relaxed(&from[i]));
	if (is_idle && (!stands || pfs_depot_empty(hold))) {
		/* [G5] release, pairs with [G4]. */
		pfs_store_release(&self->tail, tail + 2 * (uint64_t)PFS_BLOCK_RECORDS);
		return true;
	}
	/* relaxed: the owner's own store. */
	(void)pfs_magazine_yield(self, pfs_load_relaxed(&self->head) / 2);
	(void)pfs_depot_return(hold);
	return false;
}

bool pfs_magazine_send(struct pfs_thread *thread)
{
	struct pfs_magazine *self = thread->policy;
	struct pfs_depot *depot = depot_of(thread);
	struct pfs_hold hold;
	if (depot->block_count == 0 || !pfs_depot_reserve(depot, self->last_block, &hold))
		return false;
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's own store */
	write_down(self, head, hold);
	bool is_sent = end_send(self, head, hold);
	forget_move(self);
	return is_sent;
}

static bool receive_from(struct pfs_thread *thread, struct pfs_depot *depot)
{
	struct pfs_magazine *self = thread->policy;
	struct pfs_hold hold;
	uint64_t tail = pfs_load_relaxed(&self->tail); /* relaxed: the owner's own store */
	if (pfs_load_relaxed(&self->head) != tail)     /* relaxed: as above; a taker has it */
		return false;
	if (self->room == 0 && !(pfs_depot_has_full(depot, self->last_block) &&
				 pfs_magazine_open(thread))) /* before the claim [M6] */
		return false;
	if (!pfs_depot_claim(depot, self->last_block, &hold))
		return false;
	write_down(self, tail + 1, hold);
	bool is_received = end_receive(self, tail, hold);
	forget_move(self);
	return is_received;
}

/* A record of the block that was just received, unless a taker has been there since. */
static void *take_received(struct pfs_magazine *self)
{
	void *record = pfs_magazine_take(self, true);
	return record != NULL ? record : pfs_magazine_take_rest(self);
}

void *pfs_magazine_receive(struct pfs_thread *thread)
{
	struct pfs_magazine *self = thread->policy;
	return receive_from(thread, depot_of(thread)) ? take_received(self) : NULL;
}

struct pfs_claim pfs_magazine_last_resort(struct pfs_thread *thread)
{
	const struct pfs_magazines *magazines = pfs_magazines_of(thread->container);
	struct pfs_magazine *self = thread->policy;
	bool received = false;
	for (uint32_t i = 0; !received && i < magazines->node_count; i++)
		received = receive_from(
			thread, &magazines->depots[(thread->node + i) % magazines->node_count]);
	void *record = received ? take_received(self) : NULL;
	return record != NULL ? pfs_magazine_claim(thread, record) : pfs_claim_none();
}

/*
 * While the word is IDLE only its owner can have ended a move in flight; so a hold that is not
 * valid means that the move happened. The path is raised again, because the owner may have stopped
 * before that.
 */
void pfs_magazine_mend_move(struct pfs_magazine *self)
{
	struct pfs_hold hold;
	uint64_t head, tail;
	switch (pfs_magazine_move(self, &head, &tail, &hold)) {
	case PFS_MOVE_NONE: break;
	case PFS_MOVE_SENDING:
		pfs_room_raise(&hold.depot->room, hold.block);
		(void)end_send(self, head - 1, hold);
		break;
	default: (void)end_receive(self, tail - 1, hold);
	}
	forget_move(self); /* the owner may have stopped before it did */
}
