/*
 * accounts_check.c - checks when all calls are made: each cell has the sums that the oracle has for
 * its life, the account's cell has all that was folded, and each owner still has its cell.
 */
#include "memory/search/accounts_world.h"

static void check_same(const struct pfs_cell_sums *sums, const struct pfs_cell_sums *book,
		       const char *of, uint32_t number)
{
	PFS_MACHINE_CHECK(sums->allocs == book->allocs && sums->frees == book->frees,
			  "%s %u: %llu allocated, %llu freed, not %llu and %llu", of, number,
			  (unsigned long long)sums->allocs, (unsigned long long)sums->frees,
			  (unsigned long long)book->allocs, (unsigned long long)book->frees);
	PFS_MACHINE_CHECK(
		sums->alloc_bytes == book->alloc_bytes && sums->free_bytes == book->free_bytes,
		"%s %u: %llx bytes allocated, %llx freed, not %llx and %llx", of, number,
		(unsigned long long)sums->alloc_bytes, (unsigned long long)sums->free_bytes,
		(unsigned long long)book->alloc_bytes, (unsigned long long)book->free_bytes);
}

/* A cell that has seen the generation has seen every change before it. Its high mark is not too
 * low, and not higher than if no other thread had freed. */
static void check_marks(struct pfs_accounts_world *self, struct pfs_cell *cell,
			const struct pfs_accounts_life *life)
{
	uint64_t high = pfs_load_relaxed(&cell->marks[PFS_TABLE_ACCOUNT].high_count); /* relaxed */
	PFS_MACHINE_CHECK(high >= life->high_least && high <= life->high_most,
			  "a high mark is %llu, not between %llu and %llu",
			  (unsigned long long)high, (unsigned long long)life->high_least,
			  (unsigned long long)life->high_most);
	for (uint32_t table = 0; table < PFS_TABLES; table++)
		PFS_MACHINE_CHECK(pfs_load_relaxed(&cell->seen) != /* relaxed: at rest, all three */
						  pfs_load_relaxed(&self->control.generation) ||
					  pfs_load_relaxed(&cell->epochs[table]) ==
						  pfs_load_relaxed(&self->control.truncates[table]),
				  "a cell has missed a TRUNCATE");
}

static void check_life(struct pfs_accounts_world *self, uint32_t number,
		       struct pfs_cell_sums *folded)
{
	struct pfs_accounts_life *life = &self->oracle.lives[number];
	if (life->ended && life->in_use == 0) {
		PFS_MACHINE_CHECK(life->folds == 1, "a life was folded %u times", life->folds);
		folded->allocs += life->sums.allocs;
		folded->frees += life->sums.frees;
		folded->alloc_bytes += life->sums.alloc_bytes;
		folded->free_bytes += life->sums.free_bytes;
		return;
	}
	struct pfs_cell *cell = &self->cells[life->cell];
	struct pfs_cell_sums sums = pfs_cell_read(cell);
	PFS_MACHINE_CHECK(self->oracle.life_of_cell[life->cell] == number,
			  "the cell of life %u is reused", number);
	check_same(&sums, &life->sums, "life", number);
	PFS_MACHINE_CHECK(pfs_word_state(pfs_lock_glance(&self->cell_locks[life->cell])) ==
				  PFS_STATE_ALLOCATED,
			  "the cell of life %u is missing", number);
	if (!life->ended)
		check_marks(self, cell, life);
}

static void check_owners(struct pfs_accounts_world *self)
{
	for (uint32_t id = 0; id < PFS_ACCOUNTS_THREADS_MAX; id++) {
		const struct pfs_memory_thread *life = self->oracle.threads[id].life;
		struct pfs_cell *cell = life != NULL ? life->all_cells[PFS_ACCOUNTS_KEY] : NULL;
		if (cell == NULL)
			continue;
		PFS_MACHINE_CHECK(pfs_cell_is_own(cell, life->reference),
				  "a cell is not its thread's own");
		PFS_MACHINE_CHECK(
			life->cells[PFS_ACCOUNTS_KEY] == NULL ||
				pfs_load_relaxed(&cell->seen) != /* relaxed: at rest, all three */
					pfs_load_relaxed(&self->control.generation) ||
				pfs_load_relaxed(&self->control.enabled[0]) != 0,
			"a thread has missed that an instrument is disabled");
	}
}

/* At rest, an allocation of all the room is granted, and one byte more is refused. */
static void check_room(struct pfs_accounts_world *self)
{
	struct pfs_memory_thread *life = NULL;
	uint64_t in_use = 0;
	for (uint32_t id = 0; id < PFS_ACCOUNTS_THREADS_MAX; id++)
		if (self->oracle.threads[id].life != NULL)
			life = self->oracle.threads[id].life;
	for (uint32_t number = 0; number < self->oracle.life_count; number++)
		in_use += self->oracle.lives[number].in_use_bytes;
	if (life == NULL || self->scene->limit == 0)
		return;
	uint64_t room = self->scene->limit - in_use;
	struct pfs_memory_note note = pfs_memory_allocated(life, PFS_ACCOUNTS_KEY, room + 1);
	PFS_MACHINE_CHECK(note.reserved == PFS_MEMORY_REFUSED, "a limit is not kept at rest");
	note = pfs_memory_allocated(life, PFS_ACCOUNTS_KEY, room);
	PFS_MACHINE_CHECK(note.reference != 0, "%llu bytes of room are refused for good",
			  (unsigned long long)room);
}

void pfs_accounts_check(struct pfs_accounts_world *self)
{
	struct pfs_cell_sums folded = { 0 }, total = { 0 };
	pfs_desk_open(&self->books);
	pfs_desk_close(&self->books);
	for (uint32_t life = 0; life < self->oracle.life_count; life++)
		check_life(self, life, &folded);
	struct pfs_cell *cell = self->books.by_reference[0][1]->cells[0];
	if (cell != NULL)
		total = pfs_cell_read(cell);
	check_same(&total, &folded, "account", 1);
	check_owners(self);
	check_room(self);
}
