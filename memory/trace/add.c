/*
 * add.c - add and remove an owner's bytes: guards, reservations, sums.
 *
 * An add reserves its bytes at each owner from the given one to the top, then counts them. A
 * removal subtracts bytes from the sums first, then from the reservations.
 *
 * Invariants
 *	[AD1] at any moment sum <= reserved for each owner: every step that adds to sum follows one
 *	     that reserved as much, and every step that lowers sum precedes the one that lowers
 *	     reserved.
 *	[AD2] where a limit refuses, a reservation is kept only if reserved including it is at most
 *	     the limit. So by [AD1] no sum ever exceeds a limit that was set all the time.
 *	[AD3] at rest sum = reserved = own + the children's sums. Each change is a fetch-add, and
 *	     undoing a reservation subtracts exactly what was added.
 *	[AD4] a guard's bytes are counted at one owner (at two during a move), and at none when it
 *	     is empty. A thread takes a guard by a CAS before it changes it, so no two do at once.
 *
 * Ordering:  [Z1] reserved: fetch-add, acq_rel  <->  [Z2] reserved: fetch-add of less, acq_rel
 *            carries: the subtraction from sum, before the room it leaves is used, so that the sums
 *            change in an order in which none exceeds its limit
 *            [Z3] take a guard: CAS, acquire  <->  [Z4] leave it: store, release
 *            carries: its fields, between threads that use the same guard
 */
#include "owner.h"

#include "containers/compiler.h"

#define CALLS_MOST 3

/* ---- limits ---- */

static uint64_t limit_of(const struct pfs_owner *owner)
{
	uint64_t limit = pfs_load_relaxed(owner->outside) - 1; /* relaxed: old or new value */
	if (pfs_likely(limit == UINT64_MAX))
		limit = pfs_load_relaxed(&owner->record->limit); /* relaxed: as above */
	return limit < PFS_OWNER_BYTES_MOST ? limit : PFS_OWNER_BYTES_MOST;
}

static void count(_Atomic(uint64_t) *counter)
{
	(void)pfs_fetch_add_relaxed(counter, 1); /* relaxed: shown only */
}

static bool is_only_reported(const struct pfs_owner *owner, uint64_t before, uint64_t bytes)
{
	/* relaxed: may be seen with the limit it was set with, or with another one. */
	if (pfs_load_relaxed(&owner->record->action) != PFS_OWNER_REPORT ||
	    before > PFS_OWNER_BYTES_MOST - bytes)
		return false;
	count(&owner->record->over);
	return true;
}

/* ---- reservations; until: the first owner left out; NULL: up to the top ---- */

static void give_back(struct pfs_owner *owner, const struct pfs_owner *until, uint64_t bytes)
{
	for (; owner != until; owner = owner->parent)
		/* relaxed: no sum was changed for it. */
		(void)pfs_fetch_add_relaxed(&owner->record->reserved, 0 - bytes);
}

/* Returns NULL: done; else the owner whose limit refused it, and nothing is reserved. */
static struct pfs_owner *reserve_once(struct pfs_owner *owner, const struct pfs_owner *until,
				      uint64_t bytes)
{
	for (struct pfs_owner *at = owner; at != until; at = at->parent) {
		uint64_t limit = limit_of(at);
		/* [Z1] acq_rel, pairs with [Z2]: without it the sum could grow here before another
		 * thread's bytes, whose room this add uses, are subtracted. */
		uint64_t before = pfs_fetch_add_acq_rel(&at->record->reserved, bytes);
		if (pfs_likely(bytes <= limit && before <= limit - bytes))
			continue;
		if (is_only_reported(at, before, bytes))
			continue;
		give_back(owner, at->parent, bytes);
		return at;
	}
	return NULL;
}

static bool reserve(struct pfs_owner *owner, const struct pfs_owner *until, uint64_t bytes)
{
	for (int calls = 0;; calls++) {
		/* Far below a counter's maximum, with adds of all threads in progress. */
		struct pfs_owner *over = pfs_likely(bytes <= PFS_OWNER_ADD_MOST)
						 ? reserve_once(owner, until, bytes)
						 : owner;
		if (pfs_likely(over == NULL))
			return true;
		/* relaxed: as in is_only_reported. */
		bool is_call = pfs_load_relaxed(&over->record->action) == PFS_OWNER_CALL &&
			       over->call != NULL && calls < CALLS_MOST;
		if (is_call && over->call(over->context, over, bytes))
			continue;
		count(&over->record->refused);
		return false;
	}
}

/* ---- sums ---- */

static void raise(_Atomic(uint64_t) *high, uint64_t to)
{
	uint64_t seen = pfs_load_relaxed(high); /* relaxed: a guess, the CAS verifies it */
	while (seen < to && !pfs_cas_relaxed(high, &seen, to)) /* relaxed: of one word alone */
		;
}

/* Counts reserved bytes in the owner and above it. */
static void grant(struct pfs_owner *owner, const struct pfs_owner *until, uint64_t bytes)
{
	/* relaxed: a sum; [Z1] orders it after the removal that made room. */
	(void)pfs_fetch_add_relaxed(&owner->record->own, bytes);
	for (; owner != until; owner = owner->parent) {
		/* relaxed: as above */
		uint64_t before = pfs_fetch_add_relaxed(&owner->record->sum, bytes);
		raise(&owner->record->high, before + bytes);
	}
}

/* False: the owner has fewer bytes, so the guard was overwritten. */
static bool take_off(struct pfs_owner *owner, const struct pfs_owner *until, uint64_t bytes)
{
	_Atomic(uint64_t) *own = &owner->record->own;
	/* relaxed: it includes this guard's bytes: they were counted before it was filled. */
	if (pfs_load_relaxed(own) < bytes)
		return false;
	/* relaxed: a sum; [Z2] orders it before the room is reused. */
	if (pfs_fetch_add_relaxed(own, 0 - bytes) < bytes) {
		(void)pfs_fetch_add_relaxed(own, bytes); /* relaxed: undone */
		return false;
	}
	for (; owner != until; owner = owner->parent) {
		/* relaxed: as above */
		(void)pfs_fetch_add_relaxed(&owner->record->sum, 0 - bytes);
		/* [Z2] acq_rel, pairs with [Z1]: reserved decreases only after the sum does. */
		(void)pfs_fetch_add_acq_rel(&owner->record->reserved, 0 - bytes);
	}
	return true;
}

/* ---- guards: the state includes the address, so a copy of a guard is invalid ---- */

enum guard_state { HELD = 1, TAKEN = 2, ENDED = 4 };

static uint64_t state_of(const struct pfs_owner_guard *guard, enum guard_state state)
{
	return (uint64_t)(uintptr_t)guard | state;
}

static _Atomic(uint64_t) *word_of(struct pfs_owner_guard *guard)
{
	return (_Atomic(uint64_t) *)(void *)&guard->state;
}

/* Atomic: a thread that misuses another's guard may read it while that thread writes it. */
static _Atomic(uint64_t) *owner_word(struct pfs_owner_guard *guard)
{
	return (_Atomic(uint64_t) *)(void *)&guard->owner;
}

static struct pfs_owner *owner_of(struct pfs_owner_guard *guard)
{
	/* relaxed: see owner_word; else [Z3] */
	return (struct pfs_owner *)(uintptr_t)pfs_load_relaxed(owner_word(guard));
}

static void set_owner(struct pfs_owner_guard *guard, struct pfs_owner *owner)
{
	/* relaxed: see owner_word; else [Z4] */
	pfs_store_relaxed(owner_word(guard), (uint64_t)(uintptr_t)owner);
}

static bool is_bad(struct pfs_owner_guard *guard)
{
	struct pfs_owner *owner = owner_of(guard);
	if (owner != NULL)
		count(&owner->record->bad);
	return false;
}

/* Takes a guard that holds bytes, exclusively until leave. False: it is empty, or taken. */
static bool take_held(struct pfs_owner_guard *guard)
{
	uint64_t held = state_of(guard, HELD);
	/* [Z3] acquire, pairs with [Z4]: the fields, as the last thread left them. */
	return pfs_cas_acquire(word_of(guard), &held, state_of(guard, TAKEN)) || is_bad(guard);
}

static bool take_empty(struct pfs_owner_guard *guard)
{
	uint64_t seen = pfs_load_relaxed(word_of(guard)); /* relaxed: a guess */
	return (seen != state_of(guard, HELD) && seen != state_of(guard, TAKEN) &&
		/* [Z3] acquire, pairs with [Z4], as above. */
		pfs_cas_acquire(word_of(guard), &seen, state_of(guard, TAKEN))) ||
	       is_bad(guard);
}

static void leave(struct pfs_owner_guard *guard, uint64_t state)
{
	pfs_store_release(word_of(guard), state); /* [Z4] release, pairs with [Z3] */
}

/* ---- calls ---- */

bool pfs_owner_add(struct pfs_owner *owner, uint64_t bytes, struct pfs_owner_guard *guard)
{
	if (!take_empty(guard))
		return false;
	bool is_granted = owner == NULL || reserve(owner, NULL, bytes);
	set_owner(guard, is_granted ? owner : NULL);
	if (!is_granted) {
		leave(guard, 0);
		return false;
	}
	guard->bytes = bytes;
	if (owner != NULL)
		grant(owner, NULL, bytes);
	leave(guard, state_of(guard, HELD));
	return true;
}

bool pfs_owner_end(struct pfs_owner_guard *guard)
{
	if (!take_held(guard))
		return false;
	struct pfs_owner *owner = owner_of(guard);
	bool is_fine = owner == NULL || take_off(owner, NULL, guard->bytes) || is_bad(guard);
	leave(guard, state_of(guard, ENDED));
	return is_fine;
}

bool pfs_owner_resize(struct pfs_owner_guard *guard, uint64_t bytes)
{
	if (!take_held(guard))
		return false;
	struct pfs_owner *owner = owner_of(guard);
	uint64_t before = guard->bytes;
	bool is_fine = true;
	if (owner != NULL && bytes > before) {
		is_fine = reserve(owner, NULL, bytes - before);
		if (is_fine)
			grant(owner, NULL, bytes - before);
	} else if (owner != NULL) {
		is_fine = take_off(owner, NULL, before - bytes) || is_bad(guard);
	}
	if (is_fine)
		guard->bytes = bytes;
	leave(guard, state_of(guard, HELD));
	return is_fine;
}

/* The lowest common ancestor, which may be one of them; NULL: none. */
static struct pfs_owner *common(struct pfs_owner *one, struct pfs_owner *other)
{
	while (one != other) {
		bool is_one = other == NULL || (one != NULL && one->depth >= other->depth);
		if (is_one)
			one = one->parent;
		else
			other = other->parent;
	}
	return one;
}

/* False: the bytes stay at from. */
static bool move(struct pfs_owner_guard *guard, struct pfs_owner *from, struct pfs_owner *to)
{
	const struct pfs_owner *until = common(from, to);
	if (to != NULL && !reserve(to, until, guard->bytes))
		return false;
	if (to != NULL)
		grant(to, until, guard->bytes);
	if (from != NULL && !take_off(from, until, guard->bytes)) {
		if (to != NULL)
			(void)take_off(to, until, guard->bytes);
		return is_bad(guard);
	}
	set_owner(guard, to);
	return true;
}

bool pfs_owner_move(struct pfs_owner_guard *guard, struct pfs_owner *owner)
{
	if (!take_held(guard))
		return false;
	struct pfs_owner *from = owner_of(guard);
	bool is_fine = from == owner || move(guard, from, owner);
	leave(guard, state_of(guard, HELD));
	return is_fine;
}

bool pfs_owner_hand(struct pfs_owner_guard *from, struct pfs_owner_guard *to)
{
	if (!take_held(from))
		return false;
	bool is_fine = take_empty(to);
	if (is_fine) {
		set_owner(to, owner_of(from));
		to->bytes = from->bytes;
		leave(to, state_of(to, HELD));
	}
	leave(from, state_of(from, is_fine ? ENDED : HELD));
	return is_fine;
}

void pfs_owner_read(const struct pfs_owner *owner, struct pfs_owner_sums *sums)
{
	*sums = (struct pfs_owner_sums){ .limit_bytes = PFS_OWNER_NO_LIMIT };
	if (owner == NULL)
		return;
	struct pfs_box_owner *record = owner->record;
	uint64_t limit = limit_of(owner);
	/* relaxed, all: each is read at its own moment. */
	sums->own_bytes = pfs_load_relaxed(&record->own);   /* relaxed: as above */
	sums->sum_bytes = pfs_load_relaxed(&record->sum);   /* relaxed: as above */
	sums->high_bytes = pfs_load_relaxed(&record->high); /* relaxed: as above */
	if (sums->high_bytes < sums->sum_bytes)
		sums->high_bytes = sums->sum_bytes; /* the adding thread is about to raise it */
	if (limit != PFS_OWNER_BYTES_MOST)
		sums->limit_bytes = limit;
	sums->refused = pfs_load_relaxed(&record->refused); /* relaxed: as above */
	sums->over = pfs_load_relaxed(&record->over);       /* relaxed: as above */
	sums->bad = pfs_load_relaxed(&record->bad);         /* relaxed: as above */
}
