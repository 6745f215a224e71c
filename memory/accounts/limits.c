/*
 * limits.c - refuse allocations above a limit of the thread, its account, its user or the program.
 *
 * A thread with a limit has no fast-path cells (pfs_memory_thread.cells), so each of its
 * allocations takes this path. Other threads never do, so their fast path has no additional
 * comparison. Here an allocation is checked and counted under one lock. Of two concurrent
 * allocations the second finds the first one counted, so usage never exceeds a limit. Frees take no
 * lock; they only make room.
 *
 * Each limited thread, account, user and the program has a room with an upper bound of its bytes in
 * use, `most`. An allocation raises the bound. A free does not lower it, because frees do not come
 * here. If it leaves no room for an allocation, all cells are added up, and it becomes the sum
 * again.
 *
 * Invariants
 *	[LM1] bytes in use <= most while the limits' lock is free, if all threads that allocate
 *	     under the limit have seen it. Under the lock, most grows before a cell does, and is
 *	     lowered only to the sum of all cells.
 *	[LM2] an allocation is counted only if most + pending + its bytes are at most the limit. So
 *	     by [LM1] usage never exceeds a limit that was set all the time.
 *	[LM3] a thread that finds no limit, or that finds its first one, makes the room unknown: its
 *	     allocations in between were not added to most.
 *
 * Locks: the limits' before the desk's. Progress: blocking, where there is a limit.
 * Source: MySQL 8.0.28 has limits for a connection and for all, which may be exceeded by a chunk;
 * this method is our own.
 */
#include <stdio.h>
#include <string.h>

#include "books.h"

#define FIXED PFS_SCOPE_EACH_USER /* limits that always exist: their number is scope - 1 */

static uint64_t bytes_of(const struct pfs_books *self, uint32_t number)
{
	/* relaxed: a switch; the old or the new value. */
	uint64_t outside = pfs_load_relaxed(&self->control->limits[number]);
	/* relaxed: as above */
	return outside != 0 ? outside - 1 : pfs_load_relaxed(&self->limits[number].bytes);
}

static bool is_limit(const struct pfs_books *self, uint32_t number)
{
	return bytes_of(self, number) < UINT64_MAX - 1;
}

static uint32_t scope_of(const struct pfs_books *self, uint32_t number)
{
	return pfs_load_relaxed(&self->limits[number].scope); /* relaxed: under the lock */
}

/* Usage may have come up to this limit, or to one that is in force now. */
static void raise_held(struct pfs_books *self, uint32_t number, uint64_t bytes)
{
	_Atomic(uint64_t) *held = &self->limits[number].held;
	uint64_t before = pfs_load_relaxed(held); /* relaxed: under the lock */
	if (before != 0 && bytes >= before)
		/* relaxed: as above */
		pfs_store_relaxed(held, bytes >= UINT64_MAX - 1 ? 0 : bytes + 1);
}

/* ---- the limits of a thread ---- */

static bool is_name(const char *one, uint32_t has_other, const char *other)
{
	if (one == NULL || has_other == 0)
		return one == NULL && has_other == 0;
	return strcmp(one, other) == 0;
}

/* The program's account also answers to the name of its file. */
static bool is_user(const struct pfs_books *self, const char *user,
		    const struct pfs_box_limit *limit)
{
	return is_name(user, limit->has_user, limit->user_name) ||
	       (self->program_file != NULL && user != NULL && limit->has_user != 0 &&
		strcmp(user, self->program_name) == 0 &&
		strcmp(limit->user_name, self->program_file) == 0);
}

/* The number of the limit of this name; PFS_BOX_LIMITS_MAX: none. */
static uint32_t find(const struct pfs_books *self, enum pfs_box_scope scope, const char *user,
		     const char *host)
{
	for (uint32_t i = FIXED; i < PFS_BOX_LIMITS_MAX && scope_of(self, i) != 0; i++) {
		const struct pfs_box_limit *limit = &self->limits[i];
		if (scope_of(self, i) == (uint32_t)scope && is_user(self, user, limit) &&
		    is_name(host, limit->has_host, limit->host_name))
			return i;
	}
	return PFS_BOX_LIMITS_MAX;
}

/* The party's own limit, or else the default of its kind. The number plus 1; 0: none is set. */
static uint32_t limit_of_party(const struct pfs_books *self, const struct pfs_party *party)
{
	bool is_account = party != NULL && party->level == PFS_CELL_OF_ACCOUNT;
	if (party == NULL)
		return 0;
	uint32_t number = find(self, is_account ? PFS_SCOPE_ACCOUNT : PFS_SCOPE_USER, party->user,
			       party->host);
	if (number != PFS_BOX_LIMITS_MAX)
		pfs_store_relaxed(&self->limits[number].is_used, 1); /* relaxed: shown only */
	else
		number = (is_account ? PFS_SCOPE_EACH_ACCOUNT : PFS_SCOPE_EACH_USER) - 1;
	return is_limit(self, number) ? number + 1 : 0;
}

bool pfs_limits_idle(const struct pfs_books *self, uint32_t *at, char *text, size_t text_bytes)
{
	if (self->rule != &pfs_rule_exact || self->limits == NULL)
		return false;
	for (uint32_t i = *at < FIXED ? FIXED : *at;
	     i < PFS_BOX_LIMITS_MAX && scope_of(self, i) != 0; i++) {
		const struct pfs_box_limit *limit = &self->limits[i];
		/* relaxed: shown only */
		if (pfs_load_relaxed(&limit->is_used) != 0 || !is_limit(self, i))
			continue;
		bool is_account = scope_of(self, i) == PFS_SCOPE_ACCOUNT;
		(void)snprintf(text, text_bytes, "limit %s:%s%s%s", is_account ? "account" : "user",
			       limit->user_name, is_account ? "@" : "", limit->host_name);
		*at = i + 1;
		return true;
	}
	return false;
}

/* NULL: the thread has no such party. */
static struct pfs_limit_room *room_of(struct pfs_memory_thread *thread, enum pfs_limited what)
{
	if (what == PFS_LIMITED_THREAD)
		return &thread->room;
	struct pfs_party *party = what == PFS_LIMITED_ACCOUNT ? thread->account
				  : what == PFS_LIMITED_USER  ? thread->user
							      : thread->memory->global;
	return party != NULL ? &party->room : NULL;
}

/* Adds to the rooms of all limits of a thread. */
static void add(struct pfs_memory_thread *thread, uint64_t most, uint64_t pending)
{
	for (uint32_t what = 0; what < PFS_LIMITED; what++) {
		if (thread->limits[what] == 0)
			continue;
		struct pfs_limit_room *room = room_of(thread, what);
		room->most += most;
		room->pending += pending;
	}
}

/* Under the lock. */
static void set_limit(struct pfs_memory_thread *thread, enum pfs_limited what, uint32_t limit)
{
	struct pfs_limit_room *room = room_of(thread, what);
	bool was_asking = thread->limits_seen == 0 || thread->limits[what] != 0;
	if (room != NULL && (limit == 0 || !was_asking))
		room->is_known = false; /* [LM3] */
	thread->limits[what] = limit;
	thread->is_limited = thread->is_limited || limit != 0;
}

void pfs_limits_look(struct pfs_memory_thread *thread, uint32_t generation)
{
	struct pfs_books *self = thread->memory;
	if (self->rule != &pfs_rule_exact || self->limits == NULL) {
		thread->limits_seen = generation;
		return;
	}
	pfs_mutex_lock(&self->limits_lock);
	add(thread, 0, 0 - thread->reserved);
	for (uint32_t i = 0; i < PFS_BOX_LIMITS_MAX && scope_of(self, i) != 0; i++)
		raise_held(self, i, bytes_of(self, i));
	thread->is_limited = false;
	set_limit(thread, PFS_LIMITED_PROGRAM, is_limit(self, PFS_SCOPE_PROGRAM - 1));
	set_limit(thread, PFS_LIMITED_THREAD,
		  is_limit(self, PFS_SCOPE_EACH_THREAD - 1) ? PFS_SCOPE_EACH_THREAD : 0);
	set_limit(thread, PFS_LIMITED_ACCOUNT, limit_of_party(self, thread->account));
	set_limit(thread, PFS_LIMITED_USER, limit_of_party(self, thread->user));
	thread->limits_seen = generation;
	add(thread, 0, thread->reserved);
	pfs_mutex_unlock(&self->limits_lock);
}

/* ---- what is in use; under the lock ---- */

static uint64_t in_use(struct pfs_cell *cell)
{
	struct pfs_cell_sums sums = pfs_cell_read(cell);
	return sums.alloc_bytes - sums.free_bytes;
}

static bool is_in(const struct pfs_memory_thread *thread, enum pfs_limited what,
		  const struct pfs_cell *cell)
{
	switch (what) {
	case PFS_LIMITED_THREAD: return thread->all_cells[cell->instrument] == cell;
	case PFS_LIMITED_ACCOUNT: return cell->account == thread->account->reference;
	case PFS_LIMITED_USER: return cell->user == thread->user->reference;
	default: return true;
	}
}

static uint64_t sum_of_thread(const struct pfs_memory_thread *thread)
{
	uint64_t sum = 0;
	for (uint32_t key = 1; key <= thread->memory->instruments_max; key++)
		if (thread->all_cells[key] != NULL)
			sum += in_use(thread->all_cells[key]);
	return sum;
}

static uint64_t sum_of(struct pfs_memory_thread *thread, enum pfs_limited what)
{
	struct pfs_books *self = thread->memory;
	struct pfs_walk walk;
	struct pfs_cell *cell;
	uint64_t sum = 0;
	if (what == PFS_LIMITED_THREAD)
		return sum_of_thread(thread);
	pfs_desk_open(self);
	pfs_walk_begin(&walk, self->shelves[PFS_SHELF_CELLS].handle, PFS_WALK_LIVE);
	while ((cell = pfs_walk_next(&walk)) != NULL)
		/* Cells of other levels hold only freed blocks. */
		if (cell->level == PFS_CELL_OF_THREAD && is_in(thread, what, cell))
			sum += in_use(cell);
	pfs_walk_end(&walk);
	pfs_desk_close(self);
	return sum;
}

/* ---- check an allocation ---- */

/* An allocation to check; it frees a block of old_bytes in the cell old. */
struct asked {
	pfs_memory_key key;
	uint64_t bytes;
	const struct pfs_cell *old;
	uint64_t old_bytes;
};

static bool has_room(const struct pfs_limit_room *room, uint64_t more, uint64_t limit)
{
	uint64_t taken = room->most + room->pending;
	return room->is_known && taken <= limit && more <= limit - taken;
}

static bool fits(struct pfs_memory_thread *thread, enum pfs_limited what, const struct asked *asked)
{
	struct pfs_limit_room *room = room_of(thread, what);
	uint64_t limit = bytes_of(thread->memory, thread->limits[what] - 1);
	bool is_old = asked->old != NULL && is_in(thread, what, asked->old);
	uint64_t old_bytes = is_old ? asked->old_bytes : 0;
	if (is_old && asked->bytes <= old_bytes) /* shrinking is never refused */
		return true;
	if (has_room(room, asked->bytes - old_bytes, limit))
		return true;
	if (room->is_known && asked->bytes - old_bytes > limit)
		return false;
	room->most = sum_of(thread, what);
	room->is_known = true;
	return has_room(room, asked->bytes - old_bytes, limit);
}

static void note_refused(struct pfs_memory_thread *thread, enum pfs_limited what,
			 const struct asked *asked)
{
	struct pfs_box_limit *limit = &thread->memory->limits[thread->limits[what] - 1];
	/* relaxed, all: shown only. */
	pfs_store_relaxed(&limit->last_bytes, asked->bytes); /* relaxed: as above */
	pfs_store_relaxed(&limit->last_thread_id, thread->record->thread_id); /* relaxed: shown */
	pfs_store_relaxed(&limit->last_realtime_ns, pfs_box_now_ns()); /* relaxed: as above */
	pfs_store_relaxed(&limit->last_instrument, asked->key);        /* relaxed: as above */
	(void)pfs_fetch_add_relaxed(&limit->refused, 1);               /* relaxed: as above */
}

/* True: no limit of the thread refuses it. */
static bool ask(struct pfs_memory_thread *thread, const struct asked *asked)
{
	for (uint32_t what = 0; what < PFS_LIMITED; what++) {
		if (thread->limits[what] == 0 || fits(thread, what, asked))
			continue;
		note_refused(thread, what, asked);
		return false;
	}
	return true;
}

bool pfs_limits_debit(struct pfs_memory_thread *thread, struct pfs_cell *cell, uint64_t bytes)
{
	struct pfs_books *self = thread->memory;
	struct asked asked = { .key = cell->instrument, .bytes = bytes };
	pfs_mutex_lock(&self->limits_lock);
	bool is_granted = thread->reserved != 0 || ask(thread, &asked);
	if (is_granted) {
		add(thread, bytes, 0 - thread->reserved);
		thread->reserved = 0;
		pfs_cell_debit(cell, bytes);
	}
	pfs_mutex_unlock(&self->limits_lock);
	return is_granted;
}

/* ---- reservations ---- */

static bool look(struct pfs_memory_thread *thread)
{
	/* [J8] acquire, pairs with [J5]: the changes announced before it. */
	uint32_t generation = pfs_load_acquire(&thread->memory->control->generation);
	if (thread->reserved != 0)
		pfs_limits_drop(thread);
	if (thread->limits_seen != generation)
		pfs_limits_look(thread, generation);
	return thread->is_limited;
}

static void reserve(struct pfs_memory_thread *thread, uint64_t bytes)
{
	thread->reserved = bytes;
	add(thread, 0, bytes);
}

bool pfs_limits_reserve(struct pfs_memory_thread *thread, pfs_memory_key key, uint64_t bytes,
			const struct pfs_cell *old, uint64_t old_bytes)
{
	struct asked asked = { key, bytes, old, old_bytes };
	if (!look(thread))
		return true;
	pfs_mutex_lock(&thread->memory->limits_lock);
	bool is_granted = ask(thread, &asked);
	if (is_granted)
		reserve(thread, bytes);
	pfs_mutex_unlock(&thread->memory->limits_lock);
	return is_granted;
}

void pfs_limits_force(struct pfs_memory_thread *thread, uint64_t bytes)
{
	if (thread->reserved != 0 || !look(thread))
		return;
	pfs_mutex_lock(&thread->memory->limits_lock);
	reserve(thread, bytes);
	/* Nobody asked for room. */
	for (uint32_t what = 0; what < PFS_LIMITED; what++)
		if (thread->limits[what] != 0)
			raise_held(thread->memory, thread->limits[what] - 1, UINT64_MAX);
	pfs_mutex_unlock(&thread->memory->limits_lock);
}

void pfs_limits_moved(struct pfs_books *self)
{
	for (uint32_t i = PFS_SCOPE_EACH_ACCOUNT - 1;
	     self->limits != NULL && i < PFS_BOX_LIMITS_MAX && scope_of(self, i) != 0; i++)
		raise_held(self, i, UINT64_MAX);
}

void pfs_limits_drop(struct pfs_memory_thread *thread)
{
	pfs_mutex_lock(&thread->memory->limits_lock);
	add(thread, 0, 0 - thread->reserved);
	thread->reserved = 0;
	pfs_mutex_unlock(&thread->memory->limits_lock);
}
