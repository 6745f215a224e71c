/*
 * accounts_shelves.c - minimal containers for the accounts: allocate takes the first record whose
 * word is FREE, so a freed one is reused at once. They also keep the oracle's list of lives: a cell
 * is allocated, folded, and freed once.
 */
#include <string.h>

#include "memory/profile/profile.h"
#include "memory/search/accounts_world.h"

static struct pfs_accounts_shelf *shelf_of(struct pfs_thread *handle)
{
	return (struct pfs_accounts_shelf *)(void *)handle;
}

void pfs_accounts_shelves_make(struct pfs_accounts_world *self)
{
	const struct pfs_accounts_shelf cells = { self->cell_locks, (char *)self->cells,
						  sizeof(self->cells[0]), self->scene->cells };
	self->shelves[PFS_SHELF_CELLS] = cells;
	const struct pfs_accounts_shelf threads = { self->thread_locks, (char *)self->threads,
						    sizeof(self->threads[0]),
						    PFS_ACCOUNTS_THREADS_MAX };
	self->shelves[PFS_SHELF_THREADS] = threads;
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++) {
		const struct pfs_accounts_shelf party = { &self->party_locks[kind],
							  (char *)&self->parties[kind],
							  sizeof(self->parties[0]), 1 };
		self->shelves[PFS_SHELF_ACCOUNTS + kind] = party;
	}
	for (uint32_t shelf = 0; shelf < PFS_SHELVES; shelf++)
		self->books.shelves[shelf].handle =
			(struct pfs_thread *)(void *)&self->shelves[shelf];
}

/* ---- the oracle's lives ---- */

static bool is_cell(const void *record)
{
	const struct pfs_accounts_world *self = &pfs_accounts_world;
	return (uintptr_t)record - (uintptr_t)self->cells < sizeof(self->cells);
}

static void note_begin(const struct pfs_cell *cell, uint32_t dirty_word)
{
	struct pfs_accounts_oracle *oracle = &pfs_accounts_world.oracle;
	uint32_t number = (uint32_t)(cell - pfs_accounts_world.cells);
	if (cell->level != PFS_CELL_OF_THREAD)
		return;
	for (uint32_t life = 0; life < oracle->life_count; life++)
		PFS_MACHINE_CHECK(oracle->lives[life].cell != number ||
					  oracle->lives[life].folds == 1,
				  "a cell is reused before it was folded");
	PFS_MACHINE_CHECK(oracle->life_count < PFS_ACCOUNTS_LIVES_MAX, "too many lives");
	oracle->lives[oracle->life_count].cell = number;
	oracle->lives[oracle->life_count].word = dirty_word + PFS_VERSION_ONE +
						 PFS_STATE_ALLOCATED - PFS_STATE_DIRTY;
	oracle->life_of_cell[number] = oracle->life_count++;
}

static void note_end(const struct pfs_cell *cell)
{
	if (cell->level != PFS_CELL_OF_THREAD)
		return;
	struct pfs_accounts_life *life = pfs_accounts_life_of_cell(cell);
	PFS_MACHINE_CHECK(life->folds++ == 0, "a cell is folded twice");
	PFS_MACHINE_CHECK(life->ended && life->in_use == 0, "a fold while a block is in use");
	pfs_accounts_world.folds++;
}

/* ---- calls of containers ---- */

struct pfs_claim pfs_accounts_allocate(struct pfs_thread *handle);
void pfs_accounts_publish(struct pfs_thread *handle, struct pfs_claim claim);
void pfs_accounts_free(struct pfs_thread *handle, void *record);
uint64_t pfs_accounts_index(struct pfs_thread *handle, const void *record);
void pfs_accounts_bytes_store(void *record, const void *from, size_t size_bytes);
void pfs_accounts_walk_begin(struct pfs_walk *walk, struct pfs_thread *handle,
			     enum pfs_walk_kind kind);
void *pfs_accounts_walk_next(struct pfs_walk *walk);
void pfs_accounts_walk_end(struct pfs_walk *walk);

uint64_t pfs_accounts_index(struct pfs_thread *handle, const void *record)
{
	const struct pfs_accounts_shelf *shelf = shelf_of(handle);
	return (size_t)((const char *)record - shelf->records) / shelf->stride;
}

struct pfs_claim pfs_accounts_allocate(struct pfs_thread *handle)
{
	struct pfs_accounts_shelf *shelf = shelf_of(handle);
	struct pfs_claim claim = { .record = NULL };
	for (uint32_t at = 0; at < shelf->count && claim.record == NULL; at++)
		if (pfs_lock_free_to_dirty(&shelf->locks[at], &claim.dirty_word) == PFS_TAKE_WON)
			claim.record = shelf->records + (size_t)at * shelf->stride;
	return claim;
}

void pfs_accounts_publish(struct pfs_thread *handle, struct pfs_claim claim)
{
	uint64_t at = pfs_accounts_index(handle, claim.record);
	if (is_cell(claim.record))
		note_begin(claim.record, claim.dirty_word);
	pfs_lock_dirty_to_allocated(&shelf_of(handle)->locks[at], claim.dirty_word);
}

void pfs_accounts_free(struct pfs_thread *handle, void *record)
{
	if (is_cell(record))
		note_end(record);
	pfs_lock_allocated_to_free(&shelf_of(handle)->locks[pfs_accounts_index(handle, record)]);
}

/* As pfs_marks_begin of marks.c, for a copy on the caller's stack, whose words the machine does not
 * see. */
void pfs_accounts_marks_begin(struct pfs_books *self, struct pfs_cell *fresh);
void pfs_accounts_marks_begin(struct pfs_books *self, struct pfs_cell *fresh)
{
	for (uint32_t table = 0; table < PFS_TABLES; table++)
		*(uint32_t *)(void *)&fresh->epochs[table] =
			pfs_load_relaxed(&self->control->truncates[table]); /* relaxed: as there */
	/* relaxed: as there */
	*(uint32_t *)(void *)&fresh->seen = pfs_load_relaxed(&self->control->generation);
}

#define COPY(field, type)                                        \
	pfs_store_release((_Atomic(type) *)(void *)&(to)->field, \
			  *(const type *)(const void *)&(from)->field)

/* As pfs_bytes_store, by release [L5], but each field by a store of its own size, as it is read. */
static void store_cell(struct pfs_cell *to, const struct pfs_cell *from)
{
	COPY(allocs, uint64_t);
	COPY(alloc_bytes, uint64_t);
	COPY(frees, uint64_t);
	COPY(free_bytes, uint64_t);
	COPY(trap_count, uint64_t);
	COPY(trap_bytes, uint64_t);
	COPY(seen, uint32_t);
	COPY(line, uint32_t);
	COPY(word, uint64_t);
	COPY(foreign_bytes, uint64_t);
	COPY(owner, uint32_t);
	COPY(level, uint32_t);
	COPY(instrument, uint32_t);
	COPY(thread, uint32_t);
	COPY(account, uint32_t);
	COPY(user, uint32_t);
	COPY(host, uint32_t);
	COPY(next, uint32_t);
	for (uint32_t table = 0; table < PFS_TABLES; table++) {
		COPY(epochs[table], uint32_t);
		COPY(marks[table].high_count, uint64_t);
		COPY(marks[table].high_bytes, uint64_t);
		COPY(marks[table].low_count, uint64_t);
		COPY(marks[table].low_bytes, uint64_t);
	}
}

void pfs_accounts_bytes_store(void *record, const void *from, size_t size_bytes)
{
	if (is_cell(record))
		store_cell(record, from);
	else
		memcpy(record, from, size_bytes); /* no reader here */
}

void pfs_accounts_walk_begin(struct pfs_walk *walk, struct pfs_thread *handle,
			     enum pfs_walk_kind kind)
{
	*walk = (struct pfs_walk){ .thread = handle, .kind = kind };
}

void *pfs_accounts_walk_next(struct pfs_walk *walk)
{
	struct pfs_accounts_shelf *shelf = shelf_of(walk->thread);
	while (walk->next_index < shelf->count) {
		uint64_t at = walk->next_index++;
		if (pfs_word_state(pfs_lock_glance(&shelf->locks[at])) == PFS_STATE_ALLOCATED)
			return shelf->records + at * shelf->stride;
	}
	return NULL;
}

void pfs_accounts_walk_end(struct pfs_walk *walk)
{
	(void)walk;
}

/* There is no profile here. */
void pfs_profile_thread_end(struct pfs_memory_thread *thread)
{
	PFS_MACHINE_CHECK(thread->profile == NULL, "a life has samples");
}
