/*
 * reader_rows.c - compute the rows of the five tables as sums over cells.
 *
 * The high mark of an account's row is max(low_*, high_* + the high marks of its threads' cells),
 * with low_* and high_* of its own cell (layout.h). For users, hosts and global it is the same over
 * their own cell and the threads without an account, plus the accounts' high marks.
 *
 * So it is an upper bound. A limit that was in force all the time lowers it. It is exact if it is
 * the high mark of one part, or the current value: these were reached.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "reader_inside.h"

const char *const pfs_table_names[PFS_TABLES] = {
	[PFS_TABLE_THREAD] = "memory_summary_by_thread_by_event_name",
	[PFS_TABLE_ACCOUNT] = "memory_summary_by_account_by_event_name",
	[PFS_TABLE_USER] = "memory_summary_by_user_by_event_name",
	[PFS_TABLE_HOST] = "memory_summary_by_host_by_event_name",
	[PFS_TABLE_GLOBAL] = "memory_summary_global_by_event_name",
};

enum pfs_box_table pfs_table_find(const char *name)
{
	static const char *const short_names[PFS_TABLES] = { "thread", "account", "user", "host",
							     "global" };
	for (int t = 0; t < PFS_TABLES; t++)
		if (strcasecmp(name, pfs_table_names[t]) == 0 ||
		    strcasecmp(name, short_names[t]) == 0)
			return (enum pfs_box_table)t;
	return PFS_TABLES;
}

/* ---- groups: rows by who and instrument ---- */

bool pfs_groups_init(struct pfs_groups *self, uint64_t room)
{
	uint64_t slots = 64;
	memset(self, 0, sizeof(*self));
	for (self->index_bits = 6; slots < room * 2; self->index_bits++)
		slots *= 2;
	self->group = pfs_big_malloc((room + 1) * sizeof(*self->group));
	self->index = malloc(slots * sizeof(*self->index));
	self->index_mask = slots - 1;
	if (self->index != NULL)
		memset(self->index, 0xFF, slots * sizeof(*self->index));
	return self->group != NULL && self->index != NULL;
}

void pfs_groups_fini(struct pfs_groups *self)
{
	free(self->group);
	free(self->index);
	memset(self, 0, sizeof(*self));
}

/* The slot of the index that has the row, or the free slot for it. There are at least twice as many
 * slots as groups. 16 instruments of a who are adjacent, as they are read together. */
static uint32_t *slot_of(const struct pfs_groups *self, uint32_t who, uint32_t instrument)
{
	uint64_t key = ((uint64_t)who << 32 | instrument / 16) * UINT64_C(0x9E3779B97F4A7C15);
	uint64_t slot = key >> (64 - self->index_bits + 4) << 4 | instrument % 16;
	for (;; slot = (slot + 1) & self->index_mask) {
		uint32_t found = self->index[slot];
		if (found == PFS_NONE ||
		    (self->group[found].who == who && self->group[found].instrument == instrument))
			return &self->index[slot];
	}
}

struct pfs_reader_group *pfs_groups_have(struct pfs_groups *self, uint32_t who, uint32_t instrument)
{
	uint32_t *slot = slot_of(self, who, instrument);
	if (*slot == PFS_NONE) {
		*slot = (uint32_t)self->count;
		self->group[self->count++] = (struct pfs_reader_group){ .who = who,
									.instrument = instrument };
	}
	return &self->group[*slot];
}

const struct pfs_reader_group *pfs_groups_find(const struct pfs_groups *self, uint32_t who,
					       uint32_t instrument)
{
	if (self->index == NULL)
		return NULL;
	uint32_t found = *slot_of(self, who, instrument);
	return found == PFS_NONE ? NULL : &self->group[found];
}

/* ---- sums ---- */

static int64_t smaller(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

static void add_marks(struct pfs_seen_marks *to, const struct pfs_seen_marks *from)
{
	pfs_raise_by(&to->high_count, from->high_count);
	pfs_raise_by(&to->high_bytes, from->high_bytes);
	pfs_raise_by(&to->low_count, from->low_count);
	pfs_raise_by(&to->low_bytes, from->low_bytes);
}

static void add_cell_sums(struct pfs_reader_group *group, const struct pfs_seen_cell *cell)
{
	pfs_raise_by(&group->allocs, cell->allocs);
	pfs_raise_by(&group->frees, cell->frees);
	pfs_raise_by(&group->alloc_bytes, cell->alloc_bytes);
	pfs_raise_by(&group->free_bytes, cell->free_bytes);
}

/* A thread's marks, extended by its current value, which may just have passed them. */
static struct pfs_seen_marks marks_of_thread(const struct pfs_seen_cell *cell, int table)
{
	struct pfs_seen_marks marks = cell->marks[table];
	int64_t count = pfs_less(cell->allocs, cell->frees);
	int64_t bytes = pfs_less(cell->alloc_bytes, cell->free_bytes);
	marks.high_count = pfs_larger(marks.high_count, count);
	marks.high_bytes = pfs_larger(marks.high_bytes, bytes);
	marks.low_count = smaller(marks.low_count, count);
	marks.low_bytes = smaller(marks.low_bytes, bytes);
	return marks;
}

static void add_thread_cell(struct pfs_reader_group *group, const struct pfs_seen_cell *cell,
			    int table)
{
	struct pfs_seen_marks marks = marks_of_thread(cell, table);
	add_cell_sums(group, cell);
	add_marks(&group->marks, &marks);
	group->reached_count = marks.high_count;
	group->reached_bytes = marks.high_bytes;
}

/* Marks of a row above the threads: the sum of those below, and those of its own cell. */
struct party {
	struct pfs_seen_marks below, own;
	int64_t reached_count, reached_bytes; /* by one part */
};

/* Each row has at most one such cell; in a damaged box the last one counts. The high mark is at
 * least the current value, whatever the marks say. It may be below zero under other rules than
 * exact. */
static void add_own_marks(struct party *party, const struct pfs_seen_cell *cell, int table)
{
	int64_t count = pfs_less(cell->allocs, cell->frees);
	int64_t bytes = pfs_less(cell->alloc_bytes, cell->free_bytes);
	party->own = cell->marks[table];
	party->own.high_count = pfs_larger(party->own.high_count, count);
	party->own.high_bytes = pfs_larger(party->own.high_bytes, bytes);
	pfs_raise_by(&party->below.low_count, smaller(0, count));
	pfs_raise_by(&party->below.low_bytes, smaller(0, bytes));
}

static void add_marks_below(struct party *party, const struct pfs_seen_cell *cell, int table)
{
	struct pfs_seen_marks marks = marks_of_thread(cell, table);
	add_marks(&party->below, &marks);
	party->reached_count = pfs_larger(party->reached_count, marks.high_count);
	party->reached_bytes = pfs_larger(party->reached_bytes, marks.high_bytes);
}

static struct pfs_seen_marks marks_of_party(const struct party *party)
{
	struct pfs_seen_marks marks = party->below;
	pfs_raise_by(&marks.high_count, party->own.high_count);
	pfs_raise_by(&marks.high_bytes, party->own.high_bytes);
	marks.high_count = pfs_larger(marks.high_count, party->own.low_count);
	marks.high_bytes = pfs_larger(marks.high_bytes, party->own.low_bytes);
	return marks;
}

static void set_marks(struct pfs_reader_group *group, const struct party *party)
{
	group->marks = marks_of_party(party);
	group->reached_count = party->reached_count;
	group->reached_bytes = party->reached_bytes;
}

/* ---- tables ---- */

/* State while rows are computed. */
struct making {
	struct pfs_snapshot *snapshot;
	struct party (*accounts)[PFS_TABLES]; /* by the accounts' groups */
	uint32_t *others;                     /* indices of cells in no account's row */
	uint64_t other_count;
};

static void add_to_account(struct making *self, const struct pfs_seen_cell *cell)
{
	struct pfs_groups *groups = &self->snapshot->rows->tables[PFS_TABLE_ACCOUNT];
	struct pfs_reader_group *group = pfs_groups_have(groups, cell->account, cell->instrument);
	struct party *parties = self->accounts[group - groups->group];
	group->is_missed = self->snapshot->accounts[cell->account].is_missed;
	add_cell_sums(group, cell);
	for (int t = PFS_TABLE_ACCOUNT; t < PFS_TABLES; t++) {
		if (cell->level == PFS_CELL_OF_ACCOUNT)
			add_own_marks(&parties[t], cell, t);
		else
			add_marks_below(&parties[t], cell, t);
	}
}

/* Computes the rows of threads and accounts; collects the cells left for the levels above. */
static void sort_cells(struct making *self)
{
	const struct pfs_seen_cells *cells = &self->snapshot->rows->cells;
	struct pfs_groups *threads = &self->snapshot->rows->tables[PFS_TABLE_THREAD];
	struct pfs_groups *accounts = &self->snapshot->rows->tables[PFS_TABLE_ACCOUNT];
	for (uint64_t i = 0; i < cells->count; i++) {
		const struct pfs_seen_cell *cell = &cells->cell[i];
		if (cell->level == PFS_CELL_OF_THREAD && cell->thread != PFS_NONE)
			add_thread_cell(pfs_groups_have(threads, cell->thread, cell->instrument),
					cell, PFS_TABLE_THREAD);
		if (cell->account != PFS_NONE && cell->level <= PFS_CELL_OF_ACCOUNT)
			add_to_account(self, cell);
		else
			self->others[self->other_count++] = (uint32_t)i;
	}
	for (uint64_t i = 0; i < accounts->count; i++)
		set_marks(&accounts->group[i], &self->accounts[i][PFS_TABLE_ACCOUNT]);
}

static uint32_t who_of_cell(const struct pfs_seen_cell *cell, int table)
{
	return table == PFS_TABLE_USER ? cell->user : table == PFS_TABLE_HOST ? cell->host : 0;
}

static uint32_t who_of_account(const struct pfs_seen_account *account, int table)
{
	return table == PFS_TABLE_USER   ? account->user
	       : table == PFS_TABLE_HOST ? account->host
					 : 0;
}

static bool is_missed(const struct pfs_snapshot *snapshot, int table, uint32_t who)
{
	return table == PFS_TABLE_USER   ? snapshot->users[who].is_missed
	       : table == PFS_TABLE_HOST ? snapshot->hosts[who].is_missed
					 : snapshot->rows->is_missed;
}

/* For users, hosts and global: adds their own cells, and those of threads without an account. */
static void add_cells_above(const struct making *self, int table, struct party *parties)
{
	struct pfs_groups *groups = &self->snapshot->rows->tables[table];
	const uint32_t own = PFS_CELL_OF_USER + (uint32_t)(table - PFS_TABLE_USER);
	for (uint64_t i = 0; i < self->other_count; i++) {
		const struct pfs_seen_cell *cell =
			&self->snapshot->rows->cells.cell[self->others[i]];
		uint32_t who = who_of_cell(cell, table);
		bool is_of_thread = cell->level == PFS_CELL_OF_THREAD;
		if (who == PFS_NONE || (cell->level != own && !is_of_thread))
			continue;
		struct pfs_reader_group *group = pfs_groups_have(groups, who, cell->instrument);
		struct party *party = &parties[group - groups->group];
		add_cell_sums(group, cell);
		if (is_of_thread)
			add_marks_below(party, cell, table);
		else
			add_own_marks(party, cell, table);
	}
	for (uint64_t i = 0; i < groups->count; i++)
		set_marks(&groups->group[i], &parties[i]);
}

static void add_accounts_above(const struct making *self, int table)
{
	const struct pfs_snapshot *snapshot = self->snapshot;
	const struct pfs_groups *accounts = &snapshot->rows->tables[PFS_TABLE_ACCOUNT];
	struct pfs_groups *groups = &snapshot->rows->tables[table];
	for (uint64_t i = 0; i < accounts->count; i++) {
		const struct pfs_reader_group *from = &accounts->group[i];
		uint32_t who = who_of_account(&snapshot->accounts[from->who], table);
		if (who == PFS_NONE)
			continue;
		struct pfs_reader_group *to = pfs_groups_have(groups, who, from->instrument);
		const struct party *party = &self->accounts[i][table];
		struct pfs_seen_marks marks = marks_of_party(party);
		int64_t held = pfs_rows_held_bytes(snapshot, PFS_TABLE_ACCOUNT, from->who);
		marks.high_bytes = smaller(marks.high_bytes,
					   pfs_larger(held, party->reached_bytes));
		to->reached_count = pfs_larger(to->reached_count, party->reached_count);
		to->reached_bytes = pfs_larger(to->reached_bytes, party->reached_bytes);
		pfs_raise_by(&to->allocs, from->allocs);
		pfs_raise_by(&to->frees, from->frees);
		pfs_raise_by(&to->alloc_bytes, from->alloc_bytes);
		pfs_raise_by(&to->free_bytes, from->free_bytes);
		add_marks(&to->marks, &marks);
		to->is_missed |= from->is_missed;
	}
	for (uint64_t i = 0; i < groups->count; i++)
		groups->group[i].is_missed |= is_missed(snapshot, table, groups->group[i].who);
}

static bool make_above(const struct making *self, int table)
{
	uint64_t accounts = self->snapshot->rows->tables[PFS_TABLE_ACCOUNT].count;
	struct party *parties = calloc(self->other_count + 1, sizeof(*parties));
	bool fine = parties != NULL && pfs_groups_init(&self->snapshot->rows->tables[table],
						       self->other_count + accounts);
	if (fine) {
		add_cells_above(self, table, parties);
		add_accounts_above(self, table);
	}
	free(parties);
	return fine;
}

static bool make_tables(struct making *self)
{
	uint64_t count = self->snapshot->rows->cells.count;
	struct pfs_groups *tables = self->snapshot->rows->tables;
	self->accounts = calloc(count + 1, sizeof(*self->accounts));
	self->others = malloc((count + 1) * sizeof(*self->others));
	if (self->accounts == NULL || self->others == NULL ||
	    !pfs_groups_init(&tables[PFS_TABLE_THREAD], count) ||
	    !pfs_groups_init(&tables[PFS_TABLE_ACCOUNT], count))
		return false;
	sort_cells(self);
	return make_above(self, PFS_TABLE_USER) && make_above(self, PFS_TABLE_HOST) &&
	       make_above(self, PFS_TABLE_GLOBAL);
}

/* ---- bounds ---- */

static void apply_limits(const struct pfs_snapshot *snapshot, int table)
{
	struct pfs_groups *groups = &snapshot->rows->tables[table];
	for (uint64_t i = 0; table != PFS_TABLE_THREAD && i < groups->count; i++) {
		struct pfs_reader_group *group = &groups->group[i];
		int64_t held = pfs_rows_held_bytes(snapshot, table, group->who);
		group->marks.high_bytes = smaller(group->marks.high_bytes,
						  pfs_larger(held, group->reached_bytes));
	}
}

/* ---- bases ---- */

void pfs_row_record(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		    uint32_t *number, uint32_t *word)
{
	const struct pfs_seen_account *arrays[PFS_TABLES] = {
		[PFS_TABLE_ACCOUNT] = snapshot->accounts,
		[PFS_TABLE_USER] = snapshot->users,
		[PFS_TABLE_HOST] = snapshot->hosts,
	};
	*number = 0;
	*word = 0;
	if (table == PFS_TABLE_THREAD) {
		*number = snapshot->threads[who].number;
		*word = snapshot->threads[who].word;
	} else if (table != PFS_TABLE_GLOBAL) {
		*number = arrays[table][who].number;
		*word = arrays[table][who].word;
	}
}

static void set_base(const struct pfs_reader *self, const struct pfs_snapshot *snapshot,
		     enum pfs_box_table table, struct pfs_reader_group *group,
		     struct pfs_reader_window *window)
{
	struct pfs_box_row_base base;
	uint32_t number, word;
	pfs_row_record(snapshot, table, group->who, &number, &word);
	uint64_t at = pfs_box_row_number(&self->rooms, table, number,
					 snapshot->instruments[group->instrument].number);
	pfs_reader_array_near(self, PFS_BOX_ROW_BASES, at * sizeof(base), &base, sizeof(base),
			      window);
	if (base.record_word != word || base.epoch != snapshot->truncates[table])
		return;
	group->base_count = (int64_t)base.count;
	group->base_bytes = (int64_t)base.bytes;
}

static void set_bases(const struct pfs_reader *self, struct pfs_snapshot *snapshot,
		      enum pfs_box_table table)
{
	struct pfs_groups *groups = &snapshot->rows->tables[table];
	struct pfs_reader_window window = { .is_read = false };
	for (uint64_t i = 0; i < groups->count; i++) {
		if (snapshot->truncates[table] != 0)
			set_base(self, snapshot, table, &groups->group[i], &window);
		snapshot->rows_missed += groups->group[i].is_missed;
	}
}

bool pfs_rows_make(const struct pfs_reader *self, struct pfs_snapshot *snapshot)
{
	struct making making = { .snapshot = snapshot };
	bool fine = make_tables(&making);
	free(making.accounts);
	free(making.others);
	for (int t = 0; fine && t < PFS_TABLES; t++) {
		apply_limits(snapshot, t);
		set_bases(self, snapshot, (enum pfs_box_table)t);
	}
	return fine;
}

void pfs_rows_free(struct pfs_snapshot_rows *rows)
{
	if (rows == NULL)
		return;
	for (int t = 0; t < PFS_TABLES; t++)
		pfs_groups_fini(&rows->tables[t]);
	free(rows->cells.cell);
	free(rows);
}

/* ---- calls of reader.h ---- */

uint64_t pfs_snapshot_row_count(const struct pfs_snapshot *snapshot, enum pfs_box_table table)
{
	const uint32_t whos[PFS_TABLES] = { snapshot->thread_count, snapshot->account_count,
					    snapshot->user_count, snapshot->host_count, 1 };
	if (snapshot->rows == NULL || table >= PFS_TABLES)
		return 0;
	return (uint64_t)whos[table] * snapshot->instrument_count;
}

static void fill(struct pfs_row *row, const struct pfs_reader_group *group)
{
	row->count_alloc = pfs_less(group->allocs, group->base_count);
	row->count_free = pfs_less(group->frees, group->base_count);
	row->bytes_alloc = pfs_less(group->alloc_bytes, group->base_bytes);
	row->bytes_free = pfs_less(group->free_bytes, group->base_bytes);
	row->current_count = pfs_less(group->allocs, group->frees);
	row->current_bytes = pfs_less(group->alloc_bytes, group->free_bytes);
	row->low_count = smaller(group->marks.low_count, row->current_count);
	row->low_bytes = smaller(group->marks.low_bytes, row->current_bytes);
	row->high_count = pfs_larger(group->marks.high_count, row->current_count);
	row->high_bytes = pfs_larger(group->marks.high_bytes, row->current_bytes);
	row->is_high_count_exact = row->high_count <= group->reached_count ||
				   row->high_count == row->current_count;
	row->is_high_bytes_exact = row->high_bytes <= group->reached_bytes ||
				   row->high_bytes == row->current_bytes;
}

/* Under another rule parts may be below zero, so none is a bound of the sum. */
static void doubt(struct pfs_row *row, const char *rule)
{
	if (row->table == PFS_TABLE_THREAD || strcmp(rule, "exact") == 0)
		return;
	row->is_high_count_exact = false;
	row->is_high_bytes_exact = false;
}

bool pfs_snapshot_row(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint64_t i,
		      struct pfs_row *row)
{
	if (i >= pfs_snapshot_row_count(snapshot, table))
		return false;
	memset(row, 0, sizeof(*row));
	row->table = table;
	row->who = (uint32_t)(i / snapshot->instrument_count);
	row->instrument = (uint32_t)(i % snapshot->instrument_count);
	row->is_high_count_exact = row->is_high_bytes_exact = true;
	const struct pfs_reader_group *group = pfs_groups_find(&snapshot->rows->tables[table],
							       row->who, row->instrument);
	if (group != NULL)
		fill(row, group);
	doubt(row, snapshot->info.rule);
	return true;
}
