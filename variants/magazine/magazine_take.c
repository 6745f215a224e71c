/*
 * magazine_take.c - taking back rings and blocks, under `growth`; see magazine.h.
 */
#include "magazine.h"
#include "ring_control.h"

/* What a ring holds that no thread works on: entries first .. last - 1. Under `growth`. */
struct content {
	uint64_t first;
	uint64_t last;
	enum pfs_control state; /* of the control word, read before them */
	bool is_giving;         /* a free is in flight after them */
	bool is_handed;         /* they are the taker's, until it sets DONE */
};

static const struct content nothing = { .state = PFS_CONTROL_IDLE };

/* The noted hold; that of the move in `moving`, if `moving` does not change. */
static struct pfs_hold written_hold(struct pfs_magazine *self)
{
	/* [G11] acquire, all three, pairs with [G10]. */
	struct pfs_hold hold = { .depot = pfs_load_acquire(&self->moving_depot) };
	hold.block = pfs_load_acquire(&self->moving_block); /* [G11] */
	hold.state = pfs_load_acquire(&self->moving_state); /* [G11] */
	return hold;
}

enum pfs_move pfs_magazine_move(struct pfs_magazine *self, uint64_t *head, uint64_t *tail,
				struct pfs_hold *hold)
{
	uint64_t moving;
	do {
		/* [G4] seq, all, pairs with [G1] and [G5]. */
		*tail = pfs_load_seq(&self->tail);
		*head = pfs_load_seq(&self->head); /* [G4] */
		if ((*tail | *head) % 2 == 0)
			return PFS_MOVE_NONE;
		moving = pfs_load_acquire(&self->moving); /* [G11] acquire */
		*hold = written_hold(self);
		/* relaxed, both: not older than what was read above, and after the loads of [G11]:
		 * if these read of a later move, the end that was even before it shows. */
	} while (pfs_load_relaxed(&self->head) != *head ||
		 pfs_load_relaxed(&self->tail) != *tail); /* relaxed: see above */
	if (*head % 2 != 0 && moving == *head - 1)
		return PFS_MOVE_SENDING;
	return *tail % 2 != 0 && moving == *tail ? PFS_MOVE_RECEIVING : PFS_MOVE_NONE;
}

/* Has the move in flight happened? settle: if not, make sure that it never will. */
static bool has_happened(enum pfs_move move, struct pfs_hold hold, bool settle)
{
	if (move == PFS_MOVE_NONE)
		return false;
	if (settle && (move == PFS_MOVE_SENDING ? pfs_depot_spoil(hold) : pfs_depot_return(hold)))
		return false;
	return !pfs_hold_stands(hold); /* acquires what a receiver wrote into its ring [Y8] */
}

/*
 * What the ring holds, and under `growth` what it will hold, apart from what its owner does from
 * here on. While the control word is DONE the taker had ended any move in flight, one way or the
 * other, and the word's positions tell which. What came after them since is free, even if the head
 * is odd: its owner has met DONE, or will, and takes nothing. *sent is set if a send in flight has
 * happened.
 */
static struct content look(struct pfs_magazine *self, bool settle, struct pfs_hold *sent)
{
	/* [G7] acquire, pairs with [G9]: with IDLE comes the head that goes with it. */
	uint64_t control = pfs_load_acquire(&self->control);
	struct pfs_hold hold = { .depot = NULL };
	uint64_t head, tail;
	enum pfs_move move = pfs_magazine_move(self, &head, &tail, &hold);
	struct content content = { .first = (head + 1) / 2, .last = tail / 2 };
	content.state = pfs_control_state(control);
	content.is_giving = tail % 2 != 0 && move != PFS_MOVE_RECEIVING;
	if (move == PFS_MOVE_SENDING)
		content.first = head / 2;
	if (content.state == PFS_CONTROL_DONE) {
		content.first = pfs_control_to(control, content.last);
	} else if (has_happened(move, hold, settle)) {
		if (move == PFS_MOVE_SENDING) {
			content.first += PFS_BLOCK_RECORDS;
			*sent = hold;
		} else {
			content.last += PFS_BLOCK_RECORDS;
		}
	}
	return content;
}

static struct content content_of(struct pfs_magazine *self)
{
	struct pfs_hold sent;
	return look(self, false, &sent);
}

/* The same for a proof: a sender may have stopped before it raised the block's path. */
static struct content content_shown(struct pfs_magazine *self, bool settle)
{
	struct pfs_hold sent = { .depot = NULL };
	struct content content = look(self, settle, &sent);
	if (sent.depot != NULL)
		pfs_room_raise(&sent.depot->room, sent.block);
	return content;
}

void pfs_magazine_content(struct pfs_magazine *self, uint64_t *first, uint64_t *last)
{
	struct content content = content_of(self);
	*first = content.first;
	*last = content.last;
}

static uint64_t count_of(struct content content)
{
	return content.first < content.last ? content.last - content.first : 0;
}

/* What a walk over the rings adds up. */
struct sums {
	uint64_t records;
	uint64_t frees; /* completed, since the rings were made */
	uint64_t rings; /* that the visit counts */
};

/* Under `growth`: visit every open ring once, whether its handle is attached or not; returns the
 * sums. */
static struct sums visit_rings(struct pfs_container *self,
			       void (*visit)(struct pfs_container *self, struct pfs_magazine *ring,
					     struct sums *sums))
{
	struct pfs_rings *rings = pfs_magazines_of(self)->rings;
	struct sums sums = { .rings = 0 };
	struct pfs_ring_word *word;
	for (uint32_t i = 0; (word = pfs_rings_word(rings, i)) != NULL; i++) {
		/* [RG5] seq, pairs with [RG3]: a ring that is missed here holds only what was freed
		 * after this load, in the order of the seq operations. */
		uint64_t open = pfs_load_seq(&word->open);
		for (; open != 0; open &= open - 1)
			visit(self, word->rings[__builtin_ctzll(open)], &sums);
	}
	return sums;
}

/*
 * Must the owner be reached by the heavy barrier, and is there none? The state was read by [G7],
 * which carries `pays` with IDLE; in other states the owner need not be reached.
 */
static bool is_out_of_reach(struct pfs_magazine *self, enum pfs_control state)
{
	return (state == PFS_CONTROL_IDLE || state == PFS_CONTROL_REVOKED) && !self->pays &&
	       !pfs_barrier_available() &&
	       /* [G13] seq, pairs with [G12]: else both could miss each other, as at [G1]. */
	       pfs_load_seq(&self->owner) == PFS_RING_RELIES;
}

/* Only a ring that is IDLE can be revoked; the others are met again. An empty ring is revoked too,
 * so that it is closed; and one that is out of reach, which makes its owner fenced afterwards. */
static void revoke(struct pfs_container *self, struct pfs_magazine *ring, struct sums *sums)
{
	uint64_t seen = PFS_CONTROL_IDLE;
	(void)self;
	/* [G3] seq, pairs with [G2]: see the head of magazine.h. */
	sums->rings += pfs_cas_seq(&ring->control, &seen, (uint64_t)PFS_CONTROL_REVOKED);
}

/* The entries that belong to the taker, whichever side handed them over. */
static struct content receive(struct pfs_magazine *self)
{
	struct content content = content_shown(self, true);
	uint64_t seen = PFS_CONTROL_REVOKED;
	if (content.first > content.last) /* the one entry is being allocated */
		content.first = content.last;
	uint64_t handed = pfs_control_of(PFS_CONTROL_HANDED, content.first, content.last);
	content.is_handed = true;
	/* [G6] acq_rel: the taker's side; either CAS decides [M3]. */
	if (pfs_cas_acq_rel(&self->control, &seen, handed))
		return content;
	/* [G7] acquire, pairs with [G6]: the owner handed over, with its entries. */
	seen = pfs_load_acquire(&self->control);
	content.last = pfs_control_to(seen, content.last);
	content.first = pfs_control_from(seen, content.last);
	content.is_giving = false; /* its free goes to the words */
	return content;
}

/* The same positions with the next state. */
static uint64_t handed_to_done(struct pfs_magazine *self)
{
	/* relaxed: set by this taker, or acquired by it in receive(). */
	uint64_t handed = pfs_load_relaxed(&self->control);
	return (handed & ~(uint64_t)PFS_CONTROL_STATE_MASK) | PFS_CONTROL_DONE;
}

/*
 * A free in flight during the last take may have put a record after what was taken. Until the owner
 * comes back the word is DONE, so the owner puts nothing more into the ring: no barrier. If the
 * free went to the words instead, there is nothing to take, but a ring to close.
 */
static struct content receive_more(struct pfs_magazine *self, uint64_t done)
{
	struct content content = content_of(self);
	uint64_t from = pfs_control_from(done, content.last);
	uint64_t handed = pfs_control_of(PFS_CONTROL_HANDED, from, content.last);
	if (content.first >= content.last && content.is_giving)
		return nothing;
	/* [G6] acq_rel, pairs with [G9]: or the owner came back, and the ring is IDLE. */
	content.is_handed = pfs_cas_acq_rel(&self->control, &done, handed);
	return content;
}

static struct content receive_any(struct pfs_magazine *self)
{
	/* [G7] acquire, pairs with [G6]. */
	uint64_t control = pfs_load_acquire(&self->control);
	switch (pfs_control_state(control)) {
	case PFS_CONTROL_IDLE: return nothing;
	case PFS_CONTROL_DONE: return receive_more(self, control);
	case PFS_CONTROL_REVOKED:
		if (is_out_of_reach(self, PFS_CONTROL_REVOKED))
			return nothing;
		return receive(self);
	default: return receive(self);
	}
}

static void empty_ring(struct pfs_container *self, struct pfs_magazine *ring, struct sums *sums)
{
	struct pfs_rings *rings = pfs_magazines_of(self)->rings;
	struct content content = receive_any(ring);
	if (!content.is_handed) /* not from the control word: its owner may hand over at any time */
		return;
	uint64_t count = content.last - content.first;
	PFS_ASSERT(count <= PFS_MAGAZINE_RECORDS, "a ring handed over more than it holds");
	for (uint64_t entry = content.first; entry < content.last; entry++)
		pfs_magazine_give_to_word(self, pfs_magazine_entry(ring, entry));
	if (!content.is_giving) /* else a record is about to come */
		pfs_rings_close(rings, ring->place);
	/* [G8] release, pairs with [G2]: the entries were read, and the ring was closed, before the
	 * owner goes on. */
	pfs_store_release(&ring->control, handed_to_done(ring));
	sums->records += count;
}

/*
 * The kernel's barrier, unless all owners are fenced. Also between the rounds of a proof: frees
 * that have returned may still be in their owners' store buffers, and the second round sees what
 * returned before this. A `fenced` owner stores the tail by an exchange.
 */
void pfs_magazine_catch_up(struct pfs_container *self)
{
	if (!pfs_magazine_is_fenced(self))
		(void)pfs_barrier_heavy(); /* false: the rings are out of reach from now on */
}

/* Give the records of all blocks of a depot to the words; they belong to the caller while
 * CLAIMED. */
static uint32_t empty_depot(struct pfs_container *self, struct pfs_depot *depot, bool again,
			    bool *met_claimed)
{
	struct pfs_seizure seizure = { .block = 0 };
	uint32_t taken = 0;
	while (pfs_depot_seize(depot, &seizure, again)) {
		struct pfs_block *from = pfs_hold_block(seizure.hold);
		for (uint32_t i = 0; i < PFS_BLOCK_RECORDS; i++) /* relaxed: [Y4] carried it */
			pfs_magazine_give_to_word(self, pfs_load_relaxed(&from->records[i]));
		(void)pfs_depot_empty(seizure.hold);
		taken += PFS_BLOCK_RECORDS;
	}
	*met_claimed |= seizure.met_claimed;
	return taken;
}

static uint32_t empty_depots(struct pfs_container *self, bool again, bool *met_claimed)
{
	const struct pfs_magazines *magazines = pfs_magazines_of(self);
	uint32_t taken = 0;
	for (uint32_t node = 0; node < magazines->node_count; node++)
		taken += empty_depot(self, &magazines->depots[node], again, met_claimed);
	return taken;
}

static void count_out_of_reach(struct pfs_container *self, struct pfs_magazine *ring,
			       struct sums *sums)
{
	/* [G7] acquire, pairs with [G9]: with IDLE comes `pays`. */
	uint64_t control = pfs_load_acquire(&ring->control);
	(void)self;
	sums->rings += is_out_of_reach(ring, pfs_control_state(control));
}

/* A ring stays open if a free is in flight there, if it is out of reach, or if it is opened
 * meanwhile. */
static uint32_t take_back_rings(struct pfs_container *self)
{
	struct pfs_rings *rings = pfs_magazines_of(self)->rings;
	if (visit_rings(self, revoke).rings != 0)
		pfs_magazine_catch_up(self);
	uint32_t records = (uint32_t)visit_rings(self, empty_ring).records;
	pfs_rings_clear(rings);
	return records;
}

/*
 * Blocks that receivers have claimed are taken only if these receivers are reached: a receiver that
 * goes on from here meets a taker, and returns what it claimed before.
 */
static uint32_t take_back_claimed(struct pfs_container *self)
{
	bool met_claimed = false;
	uint32_t records = take_back_rings(self);
	if (visit_rings(self, count_out_of_reach).rings != 0)
		return records;
	return records + empty_depots(self, true, &met_claimed);
}

uint32_t pfs_magazine_take_back(struct pfs_container *self)
{
	bool met_claimed = false;
	uint32_t records = take_back_rings(self);
	records += empty_depots(self, false, &met_claimed);
	return met_claimed ? records + take_back_claimed(self) : records;
}

/* A ring's content and count of frees are read once, so that they belong together. A ring that is
 * out of reach counts as empty: see "Without the barrier" in magazine.h. */
static void add_content(struct pfs_container *self, struct pfs_magazine *ring, struct sums *sums)
{
	struct content content = content_shown(ring, false);
	(void)self;
	sums->frees++; /* the ring itself, which was opened */
	if (is_out_of_reach(ring, content.state))
		return;
	if (!pfs_barrier_available()) /* [G13] of a ring without an owner brings all that its last
				       * owner did */
		content = content_shown(ring, false);
	sums->records += count_of(content);
	sums->frees += content.last;
}

bool pfs_magazine_are_empty(struct pfs_container *self, uint64_t *frees)
{
	struct sums sums = visit_rings(self, add_content);
	*frees = sums.frees;
	return sums.records == 0;
}
