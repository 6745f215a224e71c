/*
 * accounts_read.c - a reader of the account's row in the box, which writes nothing. It reads cells
 * by reader_cells.c, the box's reader; or only their sums, by pfs_cell_read, so that a search ends.
 * A try that meets a fold or a changed record gives no answer.
 *
 * Checked: no value of a cell or of the row is below zero. The row never has less than at the last
 * read, nor more than was ever allocated and freed. A fold changes nothing.
 */
#include "memory/search/accounts_reader.h"
#include "memory/search/accounts_world.h"

static void check_signs(const struct pfs_cell_sums *sums, const char *of)
{
	PFS_MACHINE_CHECK((int64_t)(sums->allocs - sums->frees) >= 0,
			  "%s: below zero: %lld blocks are in use", of,
			  (long long)(sums->allocs - sums->frees));
	PFS_MACHINE_CHECK((int64_t)(sums->alloc_bytes - sums->free_bytes) >= 0,
			  "%s: below zero: %lld bytes are in use", of,
			  (long long)(sums->alloc_bytes - sums->free_bytes));
}

static void sum_up(struct pfs_cell_sums *to, const struct pfs_cell_sums *by)
{
	to->allocs += by->allocs;
	to->frees += by->frees;
	to->alloc_bytes += by->alloc_bytes;
	to->free_bytes += by->free_bytes;
}

static bool has_at_least(const struct pfs_cell_sums *one, const struct pfs_cell_sums *other)
{
	return one->allocs >= other->allocs && one->frees >= other->frees &&
	       one->alloc_bytes >= other->alloc_bytes && one->free_bytes >= other->free_bytes;
}

/* Confirmed sums are of one life, and never exceed what it had, except for an allocation that has
 * not returned. */
static void check_life(const struct pfs_accounts_oracle *oracle,
		       const struct pfs_accounts_seen *seen)
{
	for (uint32_t at = 0; at < oracle->life_count; at++) {
		const struct pfs_accounts_life *life = &oracle->lives[at];
		if (life->cell != seen->number || life->word != seen->word)
			continue;
		PFS_MACHINE_CHECK(seen->sums.allocs <= life->sums.allocs + 1 &&
					  seen->sums.frees <= life->sums.frees &&
					  seen->sums.free_bytes <= life->sums.free_bytes,
				  "a cell counts more than its life had");
		PFS_MACHINE_CHECK(seen->high_count <= life->high_most + 1,
				  "a cell has a mark that its life never had");
	}
}

/* Reads a cell's sums in one try. False: it changed, or (*is_free) it is not in use. */
static bool see_one(uint32_t number, struct pfs_accounts_seen *seen, bool *is_free)
{
	const struct pfs_lock *lock;
	struct pfs_cell *cell = pfs_accounts_record(number, &lock);
	seen->number = number;
	seen->word = pfs_lock_glance(lock);
	*is_free = pfs_word_state(seen->word) == PFS_STATE_FREE;
	if (*is_free)
		return false;
	/* As pfs_bytes_load [L6]. */
	seen->account = pfs_load_acquire((_Atomic(uint32_t) *)&cell->account);
	seen->sums = pfs_cell_read(cell);
	return pfs_lock_confirm(lock, seen->word);
}

static bool see_sums(struct pfs_accounts_seen *seen, uint32_t *count)
{
	for (uint32_t at = 0; at < pfs_accounts_records(); at++) {
		bool is_free;
		seen[*count].high_count = 0;
		if (see_one(at, &seen[*count], &is_free))
			*count += 1;
		else if (!is_free)
			return false;
	}
	return true;
}

/* Sums the cells of the account. False: one could not be read. */
static bool read_cells(struct pfs_accounts_world *self, bool as_box, struct pfs_cell_sums *row)
{
	struct pfs_accounts_seen seen[PFS_ACCOUNTS_CELLS_MAX];
	uint32_t count = 0;
	bool is_whole = as_box ? pfs_accounts_see(seen, PFS_ACCOUNTS_CELLS_MAX, &count)
			       : see_sums(seen, &count);
	for (uint32_t at = 0; at < count; at++) {
		check_signs(&seen[at].sums, "a cell");
		check_life(&self->oracle, &seen[at]);
		if (seen[at].account == 1)
			sum_up(row, &seen[at].sums);
	}
	return is_whole;
}

struct pfs_cell_sums pfs_accounts_lives(const struct pfs_accounts_world *self)
{
	struct pfs_cell_sums all = { 0 };
	for (uint32_t life = 0; life < self->oracle.life_count; life++)
		sum_up(&all, &self->oracle.lives[life].sums);
	return all;
}

static void check_row(struct pfs_accounts_world *self, struct pfs_accounts_thread *thread,
		      const struct pfs_cell_sums *row)
{
	const struct pfs_cell_sums *first = &self->oracle.at_first;
	struct pfs_cell_sums all = pfs_accounts_lives(self);
	check_signs(row, "the account");
	/* Allocations that have not returned may be in it. */
	all.allocs += PFS_ACCOUNTS_THREADS_MAX;
	PFS_MACHINE_CHECK(row->allocs <= all.allocs && row->frees <= all.frees &&
				  row->free_bytes <= all.free_bytes,
			  "a row counts more than there was");
	PFS_MACHINE_CHECK(has_at_least(row, &thread->read) && has_at_least(row, first),
			  "a row has less than before");
	PFS_MACHINE_CHECK(!self->oracle.frozen ||
				  (row->allocs == first->allocs && row->frees == first->frees &&
				   row->alloc_bytes - row->free_bytes ==
					   first->alloc_bytes - first->free_bytes),
			  "a fold has changed a row");
	thread->read = *row;
}

void pfs_accounts_read(struct pfs_accounts_thread *thread, bool as_box)
{
	struct pfs_accounts_world *self = &pfs_accounts_world;
	_Atomic(uint64_t) *moves = &self->parties[0].moves;
	struct pfs_cell_sums row = { 0 };
	uint64_t before = pfs_load_acquire(moves); /* [J5] acquire, pairs with [J4] */
	bool is_whole = before % 2 == 0 && read_cells(self, as_box, &row);
	/* relaxed: whoever has read a part of a fold also sees its odd number. */
	if (!is_whole || pfs_load_relaxed(moves) != before) {
		self->rows_missed++;
		return;
	}
	check_row(self, thread, &row);
	self->rows++;
}
