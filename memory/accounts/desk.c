/*
 * desk.c - what comes and goes under one lock: records, parties (accounts, users, hosts, global),
 * cells, and the sums of cells that end.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

/* ---- records ---- */

static void count_lost(struct pfs_books *self, enum pfs_box_lost lost)
{
	(void)pfs_fetch_add_relaxed(&self->box.head->lost[lost], 1); /* relaxed: a count */
}

struct pfs_claim pfs_shelf_take(struct pfs_books *self, enum pfs_shelves shelf,
				enum pfs_box_lost lost, uint32_t *reference)
{
	struct pfs_thread *handle = self->shelves[shelf].handle;
	struct pfs_claim claim = pfs_allocate(handle);
	if (claim.record == NULL) {
		count_lost(self, lost);
		return claim;
	}
	*reference = (uint32_t)pfs_index(handle, claim.record) + 1;
	return claim;
}

void pfs_shelf_publish(struct pfs_books *self, enum pfs_shelves shelf, struct pfs_claim claim)
{
	pfs_publish(self->shelves[shelf].handle, claim);
}

void pfs_shelf_give(struct pfs_books *self, enum pfs_shelves shelf, void *record)
{
	pfs_free(self->shelves[shelf].handle, record);
}

/* ---- cells ---- */

/* A cell of nobody yet; every word of it is written before it is published, atomically where
 * readers look, for one of them may still be reading the life before. */
static struct pfs_cell *cell_new(struct pfs_books *self, const struct pfs_cell *like)
{
	uint32_t reference;
	struct pfs_claim claim = pfs_shelf_take(self, PFS_SHELF_CELLS, PFS_LOST_CELLS, &reference);
	if (claim.record == NULL)
		return NULL;
	struct pfs_cell fresh = *like;
	fresh.reference = reference;
	fresh.line = pfs_cell_line(self, claim.record);
	pfs_marks_begin(self, &fresh);
	pfs_bytes_store(claim.record, &fresh, sizeof(fresh));
	pfs_shelf_publish(self, PFS_SHELF_CELLS, claim);
	return claim.record;
}

struct pfs_cell *pfs_party_cell(struct pfs_books *self, struct pfs_party *party,
				uint32_t instrument)
{
	if (party->cells[instrument] != NULL)
		return party->cells[instrument];
	struct pfs_cell like = { .level = party->level, .instrument = instrument + 1 };
	if (party->level == PFS_CELL_OF_ACCOUNT)
		like.account = party->reference;
	if (party->level == PFS_CELL_OF_USER)
		like.user = party->reference;
	if (party->level == PFS_CELL_OF_HOST)
		like.host = party->reference;
	party->cells[instrument] = cell_new(self, &like);
	return party->cells[instrument];
}

struct pfs_cell *pfs_thread_cell(struct pfs_memory_thread *thread, pfs_memory_key key)
{
	struct pfs_books *self = thread->memory;
	/* clang-format off */
	struct pfs_cell like = {
		.level = PFS_CELL_OF_THREAD, .instrument = key,
		.thread = thread->reference, .owner = thread->reference,
		.account = thread->account != NULL ? thread->account->reference : 0,
		.user = thread->user != NULL ? thread->user->reference : 0,
		.host = thread->host != NULL ? thread->host->reference : 0,
	};
	/* clang-format on */
	pfs_desk_open(self);
	/* Its parents' cells before its own: so to fold it needs no record. */
	struct pfs_parents parents = pfs_parents_of(self, &like);
	bool can_fold = true;
	for (uint32_t i = 0; i < parents.count; i++)
		can_fold = can_fold && pfs_party_cell(self, parents.of[i], key - 1) != NULL;
	struct pfs_cell *cell = can_fold ? cell_new(self, &like) : NULL;
	if (cell != NULL) {
		thread->all_cells[key] = cell;
		for (uint32_t i = 0; i < parents.count; i++)
			parents.of[i]->lives++;
	}
	pfs_desk_close(self);
	return cell;
}

static bool is_enabled(struct pfs_memory_thread *thread, pfs_memory_key key)
{
	/* relaxed: a switch; a block before it or after it. */
	return key != 0 && thread->is_instrumented &&
	       (pfs_load_relaxed(&thread->memory->control->enabled[key - 1]) & 1) != 0;
}

struct pfs_cell *pfs_thread_cell_to_count(struct pfs_memory_thread *thread, pfs_memory_key key)
{
	/* [J8] acquire, pairs with [J5]: first, so that a later change is looked at again. */
	uint32_t generation = pfs_load_acquire(&thread->memory->control->generation);
	thread->cells[key] = NULL;
	if (thread->limits_seen != generation)
		pfs_limits_look(thread, generation);
	if (!is_enabled(thread, key))
		return NULL;
	struct pfs_cell *cell = thread->all_cells[key];
	if (cell == NULL)
		cell = pfs_thread_cell(thread, key);
	if (cell == NULL)
		return NULL;
	/* What changed is looked at with the block: marks begin at what was there before it. */
	if (pfs_load_relaxed(&cell->seen) != generation) {  /* relaxed: its own */
		pfs_store_relaxed(&cell->trap_count, 0);    /* relaxed: its own */
		pfs_store_relaxed(&cell->trap_bytes, 0);    /* relaxed: its own */
		pfs_store_relaxed(&cell->seen, generation); /* relaxed: its own */
		if (thread->memory->profile != NULL)
			pfs_store_relaxed(&cell->sample_at, 0); /* relaxed: its own */
	}
	thread->cells[key] = thread->is_limited ? NULL : cell;
	return cell;
}

/* ---- sums move ---- */

void pfs_moves_begin(struct pfs_books *self, struct pfs_party *party)
{
	_Atomic(uint64_t) *moves = party->record != NULL ? &party->record->moves
							 : &self->box.head->moves;
	/* [J4] acq_rel, pairs with [J4]: odd before any of the sums. */
	(void)pfs_fetch_add_acq_rel(moves, 1);
}

void pfs_moves_end(struct pfs_books *self, struct pfs_party *party)
{
	_Atomic(uint64_t) *moves = party->record != NULL ? &party->record->moves
							 : &self->box.head->moves;
	/* [J4] acq_rel, pairs with [J4]: even after all of them. */
	(void)pfs_fetch_add_acq_rel(moves, 1);
}

void pfs_party_add(struct pfs_books *self, struct pfs_party *party, struct pfs_cell *from,
		   struct pfs_cell_sums sums)
{
	struct pfs_cell *to = pfs_party_cell(self, party, from->instrument - 1);
	if (to == NULL)
		return; /* of a party that goes; counted as lost */
	pfs_cell_add_own(&to->allocs, sums.allocs);
	pfs_cell_add_own(&to->alloc_bytes, sums.alloc_bytes);
	pfs_cell_add_own(&to->frees, sums.frees);
	pfs_cell_add_own(&to->free_bytes, sums.free_bytes);
	pfs_marks_add(self, to, from);
}

static struct pfs_party *party_at(struct pfs_books *self, enum pfs_cell_level level,
				  uint32_t reference)
{
	return self->by_reference[level - PFS_CELL_OF_ACCOUNT][reference];
}

struct pfs_parents pfs_parents_of(struct pfs_books *self, struct pfs_cell *cell)
{
	struct pfs_parents parents = { { NULL }, 0 };
	if (cell->account != 0) {
		parents.of[parents.count++] = party_at(self, PFS_CELL_OF_ACCOUNT, cell->account);
		return parents;
	}
	if (cell->user != 0)
		parents.of[parents.count++] = party_at(self, PFS_CELL_OF_USER, cell->user);
	if (cell->host != 0)
		parents.of[parents.count++] = party_at(self, PFS_CELL_OF_HOST, cell->host);
	/* Rows of users and of hosts are no part of the global row, so it has its own. */
	parents.of[parents.count++] = self->global;
	return parents;
}

void pfs_cell_fold(struct pfs_books *self, struct pfs_cell *cell)
{
	struct pfs_parents parents = pfs_parents_of(self, cell);
	struct pfs_cell_sums sums = pfs_cell_read(cell);
	for (uint32_t i = 0; i < parents.count; i++)
		pfs_moves_begin(self, parents.of[i]);
	for (uint32_t i = 0; i < parents.count; i++)
		pfs_party_add(self, parents.of[i], cell, sums);
	pfs_shelf_give(self, PFS_SHELF_CELLS, cell);
	for (uint32_t i = 0; i < parents.count; i++) {
		pfs_moves_end(self, parents.of[i]);
		parents.of[i]->lives--;
	}
}

void pfs_cell_finish(struct pfs_books *self, struct pfs_cell *cell)
{
	/* relaxed: a guess, the exchange decides. */
	uint32_t first = pfs_load_relaxed(&self->finished);
	do {
		pfs_store_relaxed(&cell->next, first); /* relaxed: [J6] carries it */
						       /* [J6] release, pairs with [J7]. */
	} while (!pfs_cas_release(&self->finished, &first, cell->line));
}

static void fold_finished(struct pfs_books *self)
{
	/* relaxed: a look; who finishes one now is folded for by who comes next. */
	if (pfs_load_relaxed(&self->finished) == 0)
		return;
	/* [J7] seq, pairs with [J6]: next, and by [J3] the sums. */
	uint32_t line = pfs_exchange_seq(&self->finished, 0);
	while (line != 0 && line <= self->cell_lines) {
		struct pfs_cell *cell = pfs_cell_at(self, line);
		line = pfs_load_relaxed(&cell->next); /* relaxed: [J7] brought it */
		pfs_cell_fold(self, cell);
	}
}

void pfs_desk_open(struct pfs_books *self)
{
	pfs_mutex_lock(&self->desk);
	if (!pfs_likely(!self->is_child))
		pfs_books_settle(self);
	fold_finished(self);
}

void pfs_desk_close(struct pfs_books *self)
{
	pfs_mutex_unlock(&self->desk);
}

/* ---- parties ---- */

static int compare_names(const char *one, const char *other)
{
	if (one == NULL || other == NULL)
		return (one != NULL) - (other != NULL);
	return strcmp(one, other);
}

static int compare_parties(const void *one, const void *other)
{
	const struct pfs_party *a = one, *b = other;
	int order = compare_names(a->user, b->user);
	return order != 0 ? order : compare_names(a->host, b->host);
}

static void copy_name(char *to, size_t to_bytes, const char *name)
{
	if (name != NULL)
		strncpy(to, name, to_bytes - 1);
}

static size_t party_bytes(const struct pfs_books *self)
{
	return sizeof(struct pfs_party) + self->instruments_max * sizeof(struct pfs_cell *);
}

static enum pfs_shelves shelf_of(enum pfs_cell_level level)
{
	return PFS_SHELF_ACCOUNTS + (level - PFS_CELL_OF_ACCOUNT);
}

/* A record, and what the process keeps beside it. */
static struct pfs_party *party_new(struct pfs_books *self, const struct pfs_party *key)
{
	static const enum pfs_box_lost losts[] = { PFS_LOST_ACCOUNTS, PFS_LOST_USERS,
						   PFS_LOST_HOSTS };
	struct pfs_box_account fresh;
	struct pfs_party *party = calloc(1, party_bytes(self));
	if (party == NULL)
		return NULL;
	*party = *key;
	struct pfs_claim claim = pfs_shelf_take(self, shelf_of(key->level),
						losts[key->level - PFS_CELL_OF_ACCOUNT],
						&party->reference);
	if (claim.record == NULL) {
		free(party);
		return NULL;
	}
	memset((void *)&fresh, 0, sizeof(fresh));
	fresh.has_user = key->user != NULL;
	fresh.has_host = key->host != NULL;
	fresh.user = key->above_user != NULL ? key->above_user->reference : 0;
	fresh.host = key->above_host != NULL ? key->above_host->reference : 0;
	copy_name(fresh.user_name, sizeof(fresh.user_name), key->user);
	copy_name(fresh.host_name, sizeof(fresh.host_name), key->host);
	party->record = claim.record;
	pfs_bytes_store(party->record, &fresh, sizeof(fresh));
	pfs_shelf_publish(self, shelf_of(key->level), claim);
	party->user = key->user != NULL ? party->record->user_name : NULL;
	party->host = key->host != NULL ? party->record->host_name : NULL;
	self->private_bytes += party_bytes(self);
	return party;
}

static void hold(struct pfs_party *party, uint32_t by)
{
	if (party != NULL)
		party->lives += by;
}

static struct pfs_party *find_or_make(struct pfs_books *self, const struct pfs_party *key)
{
	uint32_t kind = key->level - PFS_CELL_OF_ACCOUNT;
	void **tree = &self->parties[kind];
	struct pfs_party *const *found = tfind(key, tree, compare_parties);
	if (found != NULL)
		return *found;
	struct pfs_party *party = party_new(self, key);
	if (party == NULL && pfs_parties_purge(self) != 0)
		party = party_new(self, key);
	if (party == NULL)
		return NULL;
	if (tsearch(party, tree, compare_parties) == NULL) {
		pfs_shelf_give(self, shelf_of(key->level), party->record);
		free(party);
		return NULL;
	}
	party->next = self->lists[kind];
	self->lists[kind] = party;
	self->by_reference[kind][party->reference] = party;
	hold(party->above_user, 1);
	hold(party->above_host, 1);
	return party;
}

struct pfs_party *pfs_party_of(struct pfs_books *self, enum pfs_cell_level level, const char *user,
			       const char *host)
{
	char user_cut[PFS_BOX_USER_BYTES] = "", host_cut[PFS_BOX_HOST_BYTES] = "";
	copy_name(user_cut, sizeof(user_cut), user);
	copy_name(host_cut, sizeof(host_cut), host);
	struct pfs_party key = { .level = level,
				 .user = user != NULL ? user_cut : NULL,
				 .host = host != NULL ? host_cut : NULL };
	if (level != PFS_CELL_OF_ACCOUNT)
		return find_or_make(self, &key);
	/* They are not purged while the account is being made. */
	key.above_user = pfs_party_of(self, PFS_CELL_OF_USER, user, NULL);
	hold(key.above_user, 1);
	key.above_host = pfs_party_of(self, PFS_CELL_OF_HOST, NULL, host);
	hold(key.above_host, 1);
	struct pfs_party *account = find_or_make(self, &key);
	hold(key.above_user, UINT32_MAX);
	hold(key.above_host, UINT32_MAX);
	return account;
}

/* An account hands on to its user, its host, and global; these two to nobody: global has it. */
static void hand_on(struct pfs_books *self, struct pfs_party *party)
{
	struct pfs_party *heirs[3] = { party->above_user, party->above_host, self->global };
	uint32_t first = party->level == PFS_CELL_OF_ACCOUNT ? 0 : 3;
	pfs_moves_begin(self, party);
	pfs_moves_begin(self, self->global);
	for (uint32_t i = 0; i < self->instruments_max; i++) {
		struct pfs_cell *cell = party->cells[i];
		if (cell == NULL)
			continue;
		for (uint32_t heir = first; heir < 3; heir++)
			if (heirs[heir] != NULL)
				pfs_party_add(self, heirs[heir], cell, pfs_cell_read(cell));
		pfs_shelf_give(self, PFS_SHELF_CELLS, cell);
	}
	pfs_moves_end(self, self->global);
	pfs_moves_end(self, party);
}

static void party_end(struct pfs_books *self, struct pfs_party *party)
{
	hand_on(self, party);
	(void)tdelete(party, &self->parties[party->level - PFS_CELL_OF_ACCOUNT], compare_parties);
	hold(party->above_user, UINT32_MAX);
	hold(party->above_host, UINT32_MAX);
	pfs_shelf_give(self, shelf_of(party->level), party->record);
	self->private_bytes -= party_bytes(self);
	free(party);
}

uint32_t pfs_parties_purge(struct pfs_books *self)
{
	uint32_t gone = 0;
	/* Accounts first: users and hosts go when their last account has gone. */
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++) {
		struct pfs_party **link = &self->lists[kind];
		while (*link != NULL) {
			struct pfs_party *party = *link;
			if (party->lives != 0) {
				link = &party->next;
				continue;
			}
			*link = party->next;
			party_end(self, party);
			gone++;
		}
	}
	return gone;
}
