/*
 * marks.c - high and low water marks.
 *
 * A thread's marks are exact. They use a trap: the owner compares its allocations minus its own
 * frees with a bound above which a mark may have to rise, and only then reads the frees by others.
 * LOW is 0 in every life until a TRUNCATE, because a life begins with nothing. After a TRUNCATE the
 * trap is 0, so each allocation looks, and lowers LOW to the value before it. Every minimum is just
 * before an allocation, or current, which readers check. The trap rises when LOW is 0 again.
 *
 * The marks of accounts, users, hosts and global are estimates, by WL#3249's rule: the sum of all
 * parts' marks. The high mark of an ended life is added to its account's cell. A tick saves the
 * estimate so far and clears these sums, so that consecutive lives do not add up forever. Between
 * two ticks all marks may have been reached at the same moment, so the estimate is never too low.
 *
 * An ended life's cell only loses blocks. So after a tick its marks above the thread's table fall
 * to what it had in use before the tick began: later moments have no more, and earlier ones are in
 * the saved estimate. Lives that end quickly tick by themselves, so few of them count as
 * simultaneous.
 */
#include "marks.h"

static void raise(_Atomic(uint64_t) *mark, uint64_t value)
{
	if (pfs_mark_is_less(pfs_mark_get(mark), value))
		pfs_mark_set(mark, value);
}

static void lower(_Atomic(uint64_t) *mark, uint64_t value)
{
	if (pfs_mark_is_less(value, pfs_mark_get(mark)))
		pfs_mark_set(mark, value);
}

/* Updates a table's marks with the values before this block and after it. */
static void look(struct pfs_marks *marks, bool is_new, uint64_t before_count, uint64_t before_bytes,
		 uint64_t bytes)
{
	if (is_new) {
		pfs_mark_set(&marks->high_count, before_count);
		pfs_mark_set(&marks->high_bytes, before_bytes);
		pfs_mark_set(&marks->low_count, before_count);
		pfs_mark_set(&marks->low_bytes, before_bytes);
	}
	raise(&marks->high_count, before_count + 1);
	raise(&marks->high_bytes, before_bytes + bytes);
	lower(&marks->low_count, before_count);
	lower(&marks->low_bytes, before_bytes);
}

static void set_traps(struct pfs_cell *cell, uint64_t foreign_count, uint64_t foreign_bytes)
{
	uint64_t count = UINT64_MAX / 2, bytes = UINT64_MAX / 2;
	bool is_low = true;
	for (uint32_t table = 0; table < PFS_TABLES; table++) {
		struct pfs_marks *marks = &cell->marks[table];
		if (pfs_mark_is_less(pfs_mark_get(&marks->high_count), count))
			count = pfs_mark_get(&marks->high_count);
		if (pfs_mark_is_less(pfs_mark_get(&marks->high_bytes), bytes))
			bytes = pfs_mark_get(&marks->high_bytes);
		is_low = is_low && pfs_mark_get(&marks->low_count) == 0 &&
			 pfs_mark_get(&marks->low_bytes) == 0;
	}
	pfs_mark_set(&cell->trap_count, is_low ? count + foreign_count : 0);
	pfs_mark_set(&cell->trap_bytes, is_low ? bytes + foreign_bytes : 0);
}

/* The common case: others have freed since, and no mark has to rise, so only the traps rise. Not
 * for a trap of 0, and not after a TRUNCATE: both need the full look. */
static bool raise_traps(struct pfs_books *self, struct pfs_cell *cell)
{
	uint64_t foreign_count = pfs_mark_get(&cell->word);
	uint64_t foreign_bytes = pfs_mark_get(&cell->foreign_bytes);
	uint64_t count = pfs_mark_get(&cell->allocs) - pfs_mark_get(&cell->frees) - foreign_count;
	uint64_t bytes = pfs_mark_get(&cell->alloc_bytes) - pfs_mark_get(&cell->free_bytes) -
			 foreign_bytes;
	/* relaxed: own; and a switch. */
	if (pfs_mark_get(&cell->trap_count) == 0 ||
	    pfs_load_relaxed(&cell->seen) != pfs_load_relaxed(&self->control->generation))
		return false;
	uint64_t high_count = UINT64_MAX / 2, high_bytes = UINT64_MAX / 2;
	for (uint32_t table = 0; table < PFS_TABLES; table++) {
		uint64_t table_count = pfs_mark_get(&cell->marks[table].high_count);
		uint64_t table_bytes = pfs_mark_get(&cell->marks[table].high_bytes);
		high_count = pfs_mark_is_less(table_count, high_count) ? table_count : high_count;
		high_bytes = pfs_mark_is_less(table_bytes, high_bytes) ? table_bytes : high_bytes;
	}
	if (pfs_mark_is_less(high_count, count) || pfs_mark_is_less(high_bytes, bytes))
		return false;
	pfs_mark_set(&cell->trap_count, high_count + foreign_count);
	pfs_mark_set(&cell->trap_bytes, high_bytes + foreign_bytes);
	return true;
}

void pfs_marks_look(struct pfs_books *self, struct pfs_cell *cell, uint64_t bytes)
{
	if (raise_traps(self, cell))
		return;
	uint64_t foreign_count = pfs_mark_get(&cell->word);
	uint64_t foreign_bytes = pfs_mark_get(&cell->foreign_bytes);
	uint64_t count = pfs_mark_get(&cell->allocs) - pfs_mark_get(&cell->frees) - foreign_count -
			 1;
	uint64_t now = pfs_mark_get(&cell->alloc_bytes) - pfs_mark_get(&cell->free_bytes) -
		       foreign_bytes - bytes;
	for (uint32_t table = 0; table < PFS_TABLES; table++) {
		uint32_t epoch = pfs_marks_epoch(self, table);
		bool is_new = pfs_load_relaxed(&cell->epochs[table]) != epoch; /* relaxed: own */
		look(&cell->marks[table], is_new, count, now, bytes);
		if (is_new)
			pfs_store_relaxed(&cell->epochs[table], epoch); /* relaxed: a guess */
	}
	if (!pfs_likely(self->settle == NULL)) { /* a forked child gets its own box */
		pfs_desk_open(self);
		pfs_desk_close(self);
	}
	set_traps(cell, foreign_count, foreign_bytes);
}

/* Threads' own marks stay. Above them, LOW is 0, because the account did without the cell before;
 * and after a TRUNCATE without an allocation, HIGH begins with what is in use now. */
void pfs_marks_move(struct pfs_books *self, struct pfs_cell *cell)
{
	struct pfs_cell_sums sums = pfs_cell_read(cell);
	for (uint32_t table = PFS_TABLE_THREAD + 1; table < PFS_TABLES; table++) {
		struct pfs_marks *marks = &cell->marks[table];
		uint32_t epoch = pfs_marks_epoch(self, table);
		if (pfs_load_relaxed(&cell->epochs[table]) != epoch) { /* relaxed: own */
			pfs_mark_set(&marks->high_count, sums.allocs - sums.frees);
			pfs_mark_set(&marks->high_bytes, sums.alloc_bytes - sums.free_bytes);
			pfs_store_relaxed(&cell->epochs[table], epoch); /* relaxed: a guess */
		}
		pfs_mark_set(&marks->low_count, 0);
		pfs_mark_set(&marks->low_bytes, 0);
	}
}

static uint64_t not_below_zero(uint64_t value)
{
	return pfs_mark_is_less(value, 0) ? 0 : value;
}

/* Saves the sum of the parts' high marks, including lives that ended since the last tick. What the
 * party's own cell has in use, under other rules than exact, is in use in the next interval, too.
 */
static void party_tick(struct pfs_books *self, struct pfs_party *party)
{
	for (uint32_t i = 0; i < self->instruments_max; i++) {
		struct pfs_cell *cell = party->cells[i];
		struct pfs_cell_sums sums = { 0, 0, 0, 0 };
		if (cell != NULL)
			sums = pfs_cell_read(cell);
		for (uint32_t table = 0; cell != NULL && table < PFS_TABLES; table++) {
			struct pfs_marks *marks = pfs_marks_of_party(self, cell, table);
			raise(&marks->low_count, pfs_mark_get(&marks->high_count));
			raise(&marks->low_bytes, pfs_mark_get(&marks->high_bytes));
			pfs_mark_set(&marks->high_count, not_below_zero(sums.allocs - sums.frees));
			pfs_mark_set(&marks->high_bytes,
				     not_below_zero(sums.alloc_bytes - sums.free_bytes));
		}
	}
}

/* The traps of an ended life are unused: they keep what is in use now. */
static void note_ended(struct pfs_books *self, struct pfs_cell *cell)
{
	(void)self;
	struct pfs_cell_sums sums = pfs_cell_read(cell);
	pfs_mark_set(&cell->trap_count, sums.allocs - sums.frees);
	pfs_mark_set(&cell->trap_bytes, sums.alloc_bytes - sums.free_bytes);
}

static void lower_ended(struct pfs_books *self, struct pfs_cell *cell)
{
	(void)self;
	for (uint32_t table = PFS_TABLE_THREAD + 1; table < PFS_TABLES; table++) {
		struct pfs_marks *marks = &cell->marks[table];
		if (pfs_mark_is_less(pfs_mark_get(&cell->trap_count),
				     pfs_mark_get(&marks->high_count)))
			pfs_mark_set(&marks->high_count, pfs_mark_get(&cell->trap_count));
		if (pfs_mark_is_less(pfs_mark_get(&cell->trap_bytes),
				     pfs_mark_get(&marks->high_bytes)))
			pfs_mark_set(&marks->high_bytes, pfs_mark_get(&cell->trap_bytes));
	}
}

/* Adds the high marks of a thread's cell to its parents', so that party_tick sees the sum. */
static void add_live(struct pfs_books *self, struct pfs_cell *cell)
{
	struct pfs_parents parents = pfs_parents_of(self, cell);
	for (uint32_t i = 0; i < parents.count; i++) {
		struct pfs_cell *to = pfs_party_cell(self, parents.of[i], cell->instrument - 1);
		if (to != NULL)
			pfs_marks_add(self, to, cell);
	}
}

static void each_party(struct pfs_books *self,
		       void (*visit)(struct pfs_books *self, struct pfs_party *party))
{
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++)
		for (struct pfs_party *at = self->lists[kind]; at != NULL; at = at->next)
			visit(self, at);
	visit(self, self->global);
}

/* Visits the cells of threads: those of all lives, or of ended ones. Returns how many there are. */
static uint32_t each_cell(struct pfs_books *self, bool only_ended,
			  void (*visit)(struct pfs_books *self, struct pfs_cell *cell))
{
	struct pfs_walk walk;
	struct pfs_cell *cell;
	uint32_t count = 0;
	pfs_walk_begin(&walk, self->shelves[PFS_SHELF_CELLS].handle, PFS_WALK_LIVE);
	while ((cell = pfs_walk_next(&walk)) != NULL) {
		if (cell->level != PFS_CELL_OF_THREAD)
			continue;
		count++;
		/* relaxed: lives end under the desk. */
		if (!only_ended || pfs_load_relaxed(&cell->owner) == 0)
			visit(self, cell);
	}
	pfs_walk_end(&walk);
	return count;
}

/* Inside moves_begin and _end: meanwhile threads' marks count twice, and estimates are too high.
 * What ended lives have is read before any mark is, so it covers each moment that the saved
 * estimate does not. */
void pfs_marks_tick(struct pfs_books *self)
{
	each_party(self, pfs_moves_begin);
	(void)each_cell(self, true, note_ended);
	self->cells_at_tick = each_cell(self, false, add_live);
	each_party(self, party_tick);
	(void)each_cell(self, true, lower_ended);
	self->ended_since_tick = 0;
	each_party(self, pfs_moves_end);
}

/* A tick costs a look at each cell, and at the instruments of each party; so a life pays for a part
 * of that. */
void pfs_marks_life_ended(struct pfs_books *self)
{
	uint32_t of_parties = (self->party_count + 1) * (self->instruments_max / 32 + 1);
	uint32_t looks = self->cells_at_tick + of_parties;
	if (++self->ended_since_tick > 16 + looks / 16)
		pfs_marks_tick(self);
}
