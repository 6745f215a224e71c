/*
 * proof.c - see proof.h.
 */
#include "proof.h"

#include "containers/yield.h"
#include "front.h"
#include "hints.h"
#include "seats.h"

static struct pfs_look look_at_words(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	/* [P3] acquire, pairs with [P1] and [P2]: odd while a page comes, goes or moves. */
	uint64_t moves = pfs_load_acquire(&index->moves);
	struct pfs_look look = { true, moves % 2 == 0, moves };
	for (uint32_t i = 0; i < index->node_count * 2; i++)
		pfs_look_at_root(&look, &index->rooms[i]);
	return look;
}

struct pfs_look pfs_look_at_shared(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	struct pfs_look look = look_at_words(self);
	if (index->front != NULL)
		index->front->look_at_shared(self, &look);
	return look;
}

static struct pfs_look look_at_roots(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	struct pfs_look look = pfs_look_at_shared(self);
	if (index->front != NULL)
		index->front->look_at_owned(self, &look);
	return look;
}

/*
 * Versions never fall, so if two looks that found nothing have equal sums, every root was EMPTY
 * from its first to its second load. At the moment between the looks all were EMPTY, and no page
 * was on its way. Modulo 2^32 clearings of one root between the two.
 */
bool pfs_looks_agree(struct pfs_look first, struct pfs_look second)
{
	return first.is_empty && first.is_still && second.is_empty && second.is_still &&
	       first.versions == second.versions;
}

/* Were all roots empty at a moment, and had the container all its pages then? */
static bool prove_by_roots(struct pfs_container *self, bool *is_full)
{
	struct pfs_look first = look_at_roots(self);
	/* [P4] acquire, pairs with [C9]: pages come and go only while [P3] is odd, and without it
	 * the second look could miss that. */
	*is_full = pfs_load_acquire(&self->pages) == self->page_capacity;
	return first.is_empty && pfs_looks_agree(first, look_at_roots(self));
}

/* Does the front hold records? */
static bool is_front_in_use(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	struct pfs_look look = { .is_empty = true };
	if (index->front == NULL)
		return false;
	index->front->look_at_owned(self, &look);
	index->front->look_at_shared(self, &look);
	return !look.is_empty;
}

static bool prove(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	bool is_full;
	return is_front_in_use(self) ? index->front->prove(self) : prove_by_roots(self, &is_full);
}

/* Under `growth`: is there certainly room? Takes the front's records back for that. */
static bool some_room(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	return (index->front != NULL && index->front->take_back(self) != 0) ||
	       !pfs_look_at_shared(self).is_empty;
}

/* Without a lock: can no page be added, and was no record free at a moment? */
static bool is_refused(struct pfs_thread *thread, bool *was_proved)
{
	struct pfs_container *self = thread->container;
	/* relaxed: is a refusal likely? If not, the thread that adds the page proves. */
	bool is_full = pfs_load_relaxed(&self->pages) == self->page_capacity;
	*was_proved = !(is_full || thread->stays) || prove_by_roots(self, &is_full);
	return *was_proved && (is_full || thread->stays);
}

/* Under both locks: nothing slow happens between the proof and the page. */
static enum pfs_proof prove_and_open(struct pfs_thread *thread, const struct pfs_page *spare,
				     struct pfs_claim *claim)
{
	struct pfs_container *self = thread->container;
	pfs_needless_watch(self);
	if (some_room(self) || !prove(self))
		return PFS_PROOF_AGAIN;
	/* relaxed: under `growth`. A page may have gone since the spare one was refused. */
	bool is_full = pfs_load_relaxed(&self->pages) == self->page_capacity;
	if (spare == NULL && thread->growth == PFS_FULL && !is_full && !thread->stays)
		return PFS_PROOF_AGAIN;
	if (spare == NULL)
		return PFS_PROOF_REFUSED;
	struct pfs_occupancy_page *entry = pfs_occupancy_open(thread, true);
	thread->home_page = entry->index;
	*claim = pfs_occupancy_claim(thread, &entry->words[0], 0);
	return PFS_PROOF_CLAIM;
}

/* One attempt; under `mapping`. What looks like room is searched here, so that of all threads that
 * wait for a page only one clears what turns out to be empty. */
static enum pfs_proof try_to_grow(struct pfs_thread *thread, struct pfs_claim *claim)
{
	struct pfs_container *self = thread->container;
	bool was_proved;
	thread->growth = PFS_FULL;
	if (is_refused(thread, &was_proved)) /* true at this point if another thread has closed the
					      * rings */
		return PFS_PROOF_REFUSED;
	pfs_mutex_lock(&self->growth);
	bool has_room = some_room(self);
	pfs_mutex_unlock(&self->growth);
	if (has_room)
		*claim = pfs_occupancy_search_rooms(thread);
	if (claim->record != NULL)
		return PFS_PROOF_CLAIM;
	const struct pfs_page *spare = pfs_occupancy_spare(thread);
	pfs_mutex_lock(&self->growth);
	enum pfs_proof proof = prove_and_open(thread, spare, claim);
	pfs_mutex_unlock(&self->growth);
	return proof;
}

static enum pfs_proof grow(struct pfs_thread *thread, struct pfs_claim *claim)
{
	enum pfs_proof proof = PFS_PROOF_AGAIN;
	for (uint32_t i = 0; i < PFS_PROOF_ATTEMPTS && proof == PFS_PROOF_AGAIN; i++)
		proof = try_to_grow(thread, claim);
	return proof;
}

/* A page comes or goes: wait for it, first by looking, then by the lock. */
static void wait_for_move(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	for (uint32_t look = 0; look < PFS_PROOF_LOOKS; look++) {
		/* [P3] acquire, pairs with [P1] and [P2]. */
		if (pfs_load_acquire(&index->moves) % 2 == 0)
			return;
		pfs_yield();
	}
	pfs_mutex_lock(&self->growth);
	pfs_mutex_unlock(&self->growth);
}

/* What a thread that needs a page got. */
enum turn {
	TURN_ROOM,   /* there may be room */
	TURN_CLAIM,  /* a record of another thread's page */
	TURN_MAPPING /* the lock: it makes a page itself */
};

static bool try_mapping(struct pfs_occupancy *index)
{
	/* relaxed: a hint that saves an attempt on a line that all waiters read. */
	return pfs_load_relaxed(&index->is_mapping) == 0 && pfs_mutex_try_lock(&index->mapping);
}

static bool looks_for_lock(uint32_t look, uint64_t bits)
{
	bool is_early = (look & (look - 1)) == 0; /* look 0, 1, 2, 4 .. */
	return is_early || look % PFS_PROOF_LOCK_LOOKS == 0 || (bits & PFS_SEAT_CALLED) != 0;
}

/* Also the last look before it sleeps. */
static bool looks_for_room(uint32_t look)
{
	return look % PFS_PROOF_ROOM_LOOKS == PFS_PROOF_ROOM_LOOKS - 1 ||
	       look == PFS_PROOF_LOOKS - 1;
}

/* Can a refusal be proved, which needs no lock? */
static bool has_nothing(struct pfs_thread *thread)
{
	bool was_proved;
	return is_refused(thread, &was_proved);
}

/*
 * One look of a waiting thread: at its own row, and seldom at the lines that all of them read. If
 * all of them ran for each record that is freed, they would spend their time on clearing its path
 * against each other. True: the wait is over, and *turn is what the thread got if not a grant. Only
 * words are searched for room: a block that shows room may be in the hands of the lock's holder.
 */
static bool look_on(struct pfs_thread *thread, uint32_t look, enum turn *turn)
{
	struct pfs_occupancy *index = thread->container->policy;
	uint64_t bits = pfs_seats_look(thread);
	*turn = TURN_ROOM;
	if ((bits & PFS_SEAT_GRANTED) != 0)
		return true;
	if (looks_for_lock(look, bits) && try_mapping(index)) {
		*turn = TURN_MAPPING;
		return true;
	}
	if (index->front != NULL && looks_for_lock(look, 0) && has_nothing(thread))
		return true;
	return looks_for_room(look) && !look_at_words(thread->container).is_empty;
}

/* After too many looks. Grants skip a seat that sleeps, turns do not. */
static enum turn sleep_for_mapping(struct pfs_thread *thread, struct pfs_claim *claim)
{
	struct pfs_occupancy *index = thread->container->policy;
	if (pfs_seats_leave(thread, true, claim))
		return TURN_CLAIM;
	pfs_mutex_lock(&index->mapping);
	(void)pfs_seats_leave(thread, false, claim);
	return TURN_MAPPING;
}

/*
 * Another thread is making a page, whose records are for the waiting threads. So they take a seat
 * instead of queueing for a lock that they would not need, and keep looking for room, which a free
 * may make.
 */
static enum turn wait_for_page(struct pfs_thread *thread, struct pfs_claim *claim)
{
	struct pfs_occupancy *index = thread->container->policy;
	enum turn turn = TURN_MAPPING;
	bool is_over = false;
	if (try_mapping(index))
		return turn;
	pfs_seats_sit(thread);
	for (uint32_t look = 0; look < PFS_PROOF_LOOKS && !is_over; look++) {
		is_over = look_on(thread, look, &turn);
		if (!is_over)
			pfs_yield();
	}
	if (!is_over)
		return sleep_for_mapping(thread, claim);
	if (!pfs_seats_leave(thread, false, claim))
		return turn;
	if (turn == TURN_MAPPING)
		pfs_mutex_unlock(&index->mapping);
	return TURN_CLAIM;
}

/* Whose turn is it next? A thread that sleeps is woken by the unlocking; threads that are awake
 * would overtake it if they knew. */
static void pass_mapping_on(struct pfs_occupancy *index)
{
	bool sleeps;
	uint32_t seat = pfs_seats_turn(index->seats, &sleeps);
	pfs_store_relaxed(&index->is_mapping, sleeps); /* relaxed: a hint */
	pfs_mutex_unlock(&index->mapping);
	if (seat != PFS_SEAT_NONE)
		pfs_seats_call(index->seats, seat);
}

enum pfs_proof pfs_prove_or_grow(struct pfs_thread *thread, struct pfs_claim *claim)
{
	struct pfs_container *self = thread->container;
	struct pfs_occupancy *index = self->policy;
	bool was_proved;
	thread->growth = PFS_FULL;
	if (is_refused(thread, &was_proved))
		return PFS_PROOF_REFUSED;
	if (!was_proved && !is_front_in_use(self)) {
		wait_for_move(self);
		return PFS_PROOF_AGAIN;
	}
	enum turn turn = wait_for_page(thread, claim);
	if (turn != TURN_MAPPING)
		return turn == TURN_CLAIM ? PFS_PROOF_CLAIM : PFS_PROOF_AGAIN;
	pfs_store_relaxed(&index->is_mapping, 1); /* relaxed: a hint */
	enum pfs_proof proof = grow(thread, claim);
	pass_mapping_on(index);
	return proof;
}
