#include "magazine.h"

/* {state, from, to} in one word: positions by their low 31 bits, which is plenty for a ring. */
#define PFS_POSITION_BITS 31u
#define PFS_POSITION_MASK ((UINT64_C(1) << PFS_POSITION_BITS) - 1)

static uint64_t control_of(enum pfs_control state, uint64_t from, uint64_t to)
{
	return (uint64_t)state | (from & PFS_POSITION_MASK) << 2 |
	       (to & PFS_POSITION_MASK) << (2 + PFS_POSITION_BITS);
}

static enum pfs_control state_of(uint64_t control)
{
	return (enum pfs_control)(control & PFS_CONTROL_STATE_MASK);
}

/* The position with these low bits that is nearest to one that is at most a ring away. */
static uint64_t position_near(uint64_t near, uint64_t low_bits)
{
	uint64_t distance = (low_bits - near) & PFS_POSITION_MASK;
	if (distance > PFS_POSITION_MASK / 2)
		return near - (PFS_POSITION_MASK + 1 - distance);
	return near + distance;
}

static uint64_t from_of(uint64_t control, uint64_t near)
{
	return position_near(near, control >> 2);
}

static uint64_t to_of(uint64_t control, uint64_t near)
{
	return position_near(near, control >> (2 + PFS_POSITION_BITS));
}

/* One step from a control word that is not IDLE; false: it changed meanwhile, look again. */
static bool yield_step(struct pfs_magazine *self, uint64_t *control, uint64_t from)
{
	uint64_t seen = *control;
	/* relaxed: the owner's own store. */
	uint64_t tail = pfs_load_relaxed(&self->tail) / 2;
	uint64_t handed = control_of(PFS_CONTROL_HANDED, from, tail);
	switch (state_of(seen)) {
	case PFS_CONTROL_REVOKED:
		*control = handed;
		/* [G6] acq_rel, pairs with [G7]: the taker reads what this hands over. */
		return pfs_cas_acq_rel(&self->control, &seen, handed);
	case PFS_CONTROL_DONE:
		self->room = 0;
		self->bypass = PFS_MAGAZINE_BYPASS;
		self->fenced = self->fenced || !pfs_barrier_available();
		self->pays = self->fenced;
		/* [G5] release, pairs with [G4]. */
		pfs_store_release(&self->head, to_of(seen, tail) * 2);
		/* [G9] acq_rel, pairs with [G3]: the new head goes first. */
		return pfs_cas_acq_rel(&self->control, &seen, (uint64_t)PFS_CONTROL_IDLE);
	default:
		return true;
	}
}

static void pass_by(struct pfs_magazine *self)
{
	if (--self->bypass == 0)
		self->room = 2 * PFS_MAGAZINE_RECORDS;
}

bool pfs_magazine_give_rest(struct pfs_thread *thread)
{
	struct pfs_magazine *self = thread->policy;
	/* relaxed, both: the owner's own stores. */
	if (pfs_load_relaxed(&self->tail) % 2 != 0)
		(void)pfs_magazine_yield(self, pfs_load_relaxed(&self->head) / 2);
	else if (self->bypass == 0)
		return pfs_magazine_send(thread);
	else
		pass_by(self);
	return false;
}

void *pfs_magazine_take_rest(struct pfs_magazine *self)
{
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's own store */
	if (head % 2 == 0)
		return NULL;
	void *record = pfs_magazine_entry(self, head / 2);
	return head / 2 < pfs_magazine_yield(self, head / 2 + 1) ? record : NULL;
}

uint64_t pfs_magazine_yield(struct pfs_magazine *self, uint64_t from)
{
	/* relaxed, both: the owner's own stores. One of them is odd: the operation's. */
	uint64_t head = pfs_load_relaxed(&self->head);
	uint64_t tail = pfs_load_relaxed(&self->tail); /* relaxed: see above */
	uint64_t control;
	pfs_store_release(&self->tail, tail / 2 * 2); /* [G5] release, pairs with [G4] */
	do {
		/* [G7] acquire, pairs with [G6]: the taker's positions; and with DONE, that it
		 * has copied what it took.
		 * Each turn means that the taker moved on, and it moves a few steps only. */
		control = pfs_load_acquire(&self->control);
	} while (!yield_step(self, &control, from));
	uint64_t taken_from = from_of(control, head / 2);
	if (head % 2 != 0 && state_of(control) != PFS_CONTROL_DONE)
		/* [G5] release, pairs with [G4]: past the entry, if it is ours. */
		pfs_store_release(&self->head,
				  (head / 2 < taken_from ? head / 2 + 1 : head / 2) * 2);
	return taken_from;
}

/* What a ring holds that nobody works on: entries first .. last - 1. Under `growth`. */
struct content {
	uint64_t first;
	uint64_t last;
	enum pfs_control state; /* before them */
};

static const struct content nothing = { 0, 0, PFS_CONTROL_IDLE };

/* The hold that is written down; of the move that `moving` tells, if that stays what it is. */
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
		/* relaxed, both: not older than what was read above, and behind the loads of
		 * [G11]: if they read of a later move, the end that was even before it shows. */
	} while (pfs_load_relaxed(&self->head) != *head ||
		 pfs_load_relaxed(&self->tail) != *tail); /* relaxed: see above */
	if (*head % 2 != 0 && moving == *head - 1)
		return PFS_MOVE_SENDING;
	return *tail % 2 != 0 && moving == *tail ? PFS_MOVE_RECEIVING : PFS_MOVE_NONE;
}

/* Has the move in flight happened? settle: it will not happen if it has not. */
static bool has_happened(enum pfs_move move, struct pfs_hold hold, bool settle)
{
	if (move == PFS_MOVE_NONE)
		return false;
	if (settle && (move == PFS_MOVE_SENDING ? pfs_depot_spoil(hold) : pfs_depot_return(hold)))
		return false;
	return !pfs_hold_stands(hold); /* acquires what a receiver wrote into its ring [Y8] */
}

/*
 * What the ring holds, and under `growth` what it will hold, but for what its owner does from now
 * on. While the control word is DONE any move in flight had been ended by the taker, one way or
 * the other, and the word's positions say which. *sent is set if a send in flight has happened.
 */
static struct content look(struct pfs_magazine *self, bool settle, struct pfs_hold *sent)
{
	/* [G7] acquire, pairs with [G9]: with IDLE comes the head that goes with it. */
	uint64_t control = pfs_load_acquire(&self->control);
	struct pfs_hold hold = { .depot = NULL };
	uint64_t head, tail;
	enum pfs_move move = pfs_magazine_move(self, &head, &tail, &hold);
	struct content content = { .first = (head + 1) / 2, .last = tail / 2 };
	content.state = state_of(control);
	if (move == PFS_MOVE_SENDING)
		content.first = head / 2;
	if (content.state == PFS_CONTROL_DONE) {
		uint64_t taken_to = to_of(control, content.last);
		if (content.first < taken_to)
			content.first = taken_to;
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

/* The same, by one who proves: a sender may be stopped before it raised the block's path. */
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
};

/* Under `growth`: visit the ring of every handle, attached or not, once; what they add up to. */
static struct sums visit_rings(struct pfs_container *self,
			       void (*visit)(struct pfs_container *self,
					     struct pfs_magazine *ring, struct sums *sums))
{
	struct sums sums = { 0, 0 };
	/* [C5] seq, pairs with [C6]: the handles are complete; and what a ring that is missed
	 * here holds was freed after this load, in the order of the seq operations. */
	struct pfs_thread *thread = pfs_load_seq(&self->threads);
	for (; thread != NULL; thread = thread->next)
		visit(self, thread->policy, &sums);
	return sums;
}

/*
 * Is the owner one that must be noticed by the heavy barrier, and there is none? The state was
 * read by [G7], which carries `pays` with IDLE; in other states it need not be noticed.
 */
static bool is_out_of_reach(struct pfs_magazine *self, enum pfs_control state)
{
	return (state == PFS_CONTROL_IDLE || state == PFS_CONTROL_REVOKED) && !self->pays &&
	       !pfs_barrier_available() &&
	       /* [G13] seq, pairs with [G12]: else both could miss each other, as at [G1]. */
	       pfs_load_seq(&self->owner) == PFS_RING_RELIES;
}

/* Only a ring that is IDLE can be revoked; the others are empty, or are met again. One that is
 * out of reach is revoked although it is empty: that makes its owner pay from then on. */
static void revoke(struct pfs_container *self, struct pfs_magazine *ring, struct sums *sums)
{
	uint64_t seen = PFS_CONTROL_IDLE;
	struct content content = content_of(ring);
	uint64_t count = count_of(content);
	(void)self;
	if (count == 0 && !is_out_of_reach(ring, content.state))
		return;
	/* [G3] seq, pairs with [G2]: see the head of magazine.h. */
	if (pfs_cas_seq(&ring->control, &seen, (uint64_t)PFS_CONTROL_REVOKED))
		sums->records += count;
}

/* The entries that are the taker's now, whoever handed them over. */
static struct content receive(struct pfs_magazine *self)
{
	struct content content = content_shown(self, true);
	uint64_t seen = PFS_CONTROL_REVOKED;
	if (content.first > content.last) /* the one entry is being allocated */
		content.first = content.last;
	uint64_t handed = control_of(PFS_CONTROL_HANDED, content.first, content.last);
	/* [G6] acq_rel: the taker's side; either CAS decides [M3]. */
	if (pfs_cas_acq_rel(&self->control, &seen, handed))
		return content;
	/* [G7] acquire, pairs with [G6]: the owner handed over, with its entries. */
	seen = pfs_load_acquire(&self->control);
	content.last = to_of(seen, content.last);
	content.first = from_of(seen, content.last);
	return content;
}

/* HANDED stays so until the taker ends it. */
static bool is_handed(struct pfs_magazine *self)
{
	/* relaxed: set by this taker, or acquired by it in receive(). */
	return state_of(pfs_load_relaxed(&self->control)) == PFS_CONTROL_HANDED;
}

/* The same positions with the next state. */
static uint64_t handed_to_done(struct pfs_magazine *self)
{
	uint64_t handed = pfs_load_relaxed(&self->control); /* relaxed: as in is_handed() */
	return (handed & ~(uint64_t)PFS_CONTROL_STATE_MASK) | PFS_CONTROL_DONE;
}

static void give_to_words(struct pfs_container *self, void *record)
{
	uint64_t bit;
	struct pfs_occupancy_word *word = pfs_occupancy_word_at(pfs_place_in(self, record), &bit);
	(void)pfs_occupancy_put(self, word, bit);
}

/*
 * A free in flight during the last take may have put a record behind what was taken. Until the
 * owner comes back the word is DONE, so it is not on its way into the ring: no barrier.
 */
static struct content receive_more(struct pfs_magazine *self, uint64_t done)
{
	struct content content = content_of(self);
	uint64_t from = from_of(done, content.last);
	uint64_t handed = control_of(PFS_CONTROL_HANDED, from, content.last);
	if (content.first >= content.last)
		return nothing;
	/* [G6] acq_rel, pairs with [G9]: or the owner came back, and the ring is IDLE. */
	if (!pfs_cas_acq_rel(&self->control, &done, handed))
		return nothing;
	return content;
}

static struct content receive_any(struct pfs_magazine *self)
{
	/* [G7] acquire, pairs with [G6]. */
	uint64_t control = pfs_load_acquire(&self->control);
	switch (state_of(control)) {
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
	void *records[PFS_MAGAZINE_RECORDS];
	struct content content = receive_any(ring);
	if (content.first == content.last && !is_handed(ring))
		return;
	uint32_t count = (uint32_t)(content.last - content.first);
	PFS_ASSERT(count <= PFS_MAGAZINE_RECORDS, "a ring handed over more than it holds");
	for (uint32_t i = 0; i < count; i++)
		records[i] = pfs_magazine_entry(ring, content.first + i);
	/* [G8] release, pairs with [G2]: the copies were made before the owner goes on. */
	pfs_store_release(&ring->control, handed_to_done(ring));
	for (uint32_t i = 0; i < count; i++)
		give_to_words(self, records[i]);
	sums->records += count;
}

/*
 * The kernel's barrier, unless the owners pay for it. Also between the rounds of a proof: frees
 * that have returned may still be in their owners' store buffers, and what returned before this
 * is seen by the second round; with `fenced` owners the tail is stored by an exchange.
 */
void pfs_magazine_catch_up(struct pfs_container *self)
{
	if (!pfs_magazine_is_fenced(self))
		(void)pfs_barrier_heavy(); /* false: the rings are out of reach from now on */
}

/* The records of all blocks of a depot to the words; they are the caller's while CLAIMED. */
static uint32_t empty_depot(struct pfs_container *self, struct pfs_depot *depot, bool again,
			    bool *met_claimed)
{
	struct pfs_seizure seizure = { .block = 0 };
	uint32_t taken = 0;
	while (pfs_depot_seize(depot, &seizure, again)) {
		struct pfs_block *from = pfs_hold_block(seizure.hold);
		for (uint32_t i = 0; i < PFS_BLOCK_RECORDS; i++) /* relaxed: [Y4] carried it */
			give_to_words(self, pfs_load_relaxed(&from->records[i]));
		(void)pfs_depot_empty(seizure.hold);
		taken += PFS_BLOCK_RECORDS;
	}
	*met_claimed |= seizure.met_claimed;
	return taken;
}

static uint32_t empty_depots(struct pfs_container *self, bool again, bool *met_claimed)
{
	const struct pfs_occupancy *index = self->policy;
	uint32_t taken = 0;
	for (uint32_t node = 0; node < index->node_count; node++)
		taken += empty_depot(self, &index->depots[node], again, met_claimed);
	return taken;
}

/* Any ring that is IDLE; its owner may be about to receive what it has claimed. */
static void revoke_any(struct pfs_container *self, struct pfs_magazine *ring, struct sums *sums)
{
	uint64_t seen = PFS_CONTROL_IDLE;
	(void)self, (void)sums;
	/* [G3] seq, pairs with [G2]: see the head of magazine.h. */
	(void)pfs_cas_seq(&ring->control, &seen, (uint64_t)PFS_CONTROL_REVOKED);
}

static void count_out_of_reach(struct pfs_container *self, struct pfs_magazine *ring,
			       struct sums *sums)
{
	/* [G7] acquire, pairs with [G9]: with IDLE comes `pays`. */
	uint64_t control = pfs_load_acquire(&ring->control);
	(void)self;
	sums->records += is_out_of_reach(ring, state_of(control));
}

/*
 * Blocks that receivers have claimed are let go only if those are noticed: a receiver that goes on
 * from here on meets a taker, and gives back what it claimed before.
 */
static uint32_t take_back_claimed(struct pfs_container *self)
{
	bool met_claimed = false;
	(void)visit_rings(self, revoke_any);
	pfs_magazine_catch_up(self);
	uint32_t records = (uint32_t)visit_rings(self, empty_ring).records;
	if (visit_rings(self, count_out_of_reach).records != 0)
		return records;
	return records + empty_depots(self, true, &met_claimed);
}

uint32_t pfs_magazine_take_back(struct pfs_container *self)
{
	bool had_barrier = pfs_barrier_available();
	bool met_claimed = false;
	if (visit_rings(self, revoke).records != 0)
		pfs_magazine_catch_up(self);
	if (had_barrier && !pfs_barrier_available())
		(void)visit_rings(self, revoke);
	uint32_t records = (uint32_t)visit_rings(self, empty_ring).records;
	records += empty_depots(self, false, &met_claimed);
	return met_claimed ? records + take_back_claimed(self) : records;
}

/* A ring's content and count of frees are read once, so that they go together. One that is out
 * of reach is taken for empty: see "Without the barrier" in magazine.h. */
static void add_content(struct pfs_container *self, struct pfs_magazine *ring, struct sums *sums)
{
	struct content content = content_shown(ring, false);
	(void)self;
	if (is_out_of_reach(ring, content.state))
		return;
	if (!pfs_barrier_available()) /* with nobody's [G13] comes all that its last owner did */
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

void pfs_magazine_flush(struct pfs_thread *thread)
{
	struct pfs_magazine *self = thread->policy;
	struct content content = content_of(self);
	for (uint64_t entry = content.first; entry < content.last; entry++)
		give_to_words(thread->container, pfs_magazine_entry(self, entry));
	/* [G5] release, pairs with [G4]; the owner holds `growth`, so no taker is about. */
	pfs_store_release(&self->head, content.last * 2);
	/* [G9] release, pairs with [G3]. */
	pfs_store_release(&self->control, (uint64_t)PFS_CONTROL_IDLE);
}

/* The rest of pfs_magazine_take: is the entry at an odd head its owner's? */
static bool end_take(struct pfs_magazine *self, uint64_t head)
{
	/* [G2] seq, pairs with [G3] and [G8]. */
	if (pfs_load_seq(&self->control) != PFS_CONTROL_IDLE)
		return head / 2 < pfs_magazine_yield(self, head / 2 + 1);
	pfs_store_release(&self->head, head + 1); /* [G5] release, pairs with [G4] */
	return true;
}

void pfs_magazine_mend(struct pfs_thread *thread)
{
	struct pfs_magazine *self = thread->policy;
	(void)pfs_magazine_mend_move(self);
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's, who is this */
	uint64_t tail = pfs_load_relaxed(&self->tail); /* relaxed: as above */
	if (tail % 2 != 0)
		pfs_store_release(&self->tail, tail - 1); /* [G5] release, pairs with [G4] */
	if (head % 2 != 0) {
		void *record = pfs_magazine_entry(self, head / 2);
		if (end_take(self, head))
			give_to_words(thread->container, record);
	}
	self->room = 2 * PFS_MAGAZINE_RECORDS;
	self->bypass = 0;
}
