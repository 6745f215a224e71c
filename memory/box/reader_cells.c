/*
 * reader_cells.c - read cells, check their references, and compute marks of truncated tables.
 *
 * The loads are in the order of layout.h: frees by other threads, then frees, then allocs. Each is
 * an acquire, so the allocation of every counted free is counted, too.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "reader_inside.h"

#define COPY_TRIES 3

/* ---- read ---- */

static int64_t load(_Atomic(uint64_t) *word)
{
	/* [L6] acquire, pairs with [L5]: see pfs_lock_confirm; and see above. */
	return (int64_t)pfs_load_acquire(word);
}

static uint32_t load_half(_Atomic(uint32_t) *word)
{
	return pfs_load_acquire(word); /* [L6] acquire, pairs with [L5]: as above */
}

static uint32_t load_plain(const uint32_t *word)
{
	return load_half((_Atomic(uint32_t) *)(uintptr_t)word);
}

/* Unsigned addition: in a hostile box the sum may overflow, and is then wrong but defined. */
static int64_t add(int64_t one, int64_t other)
{
	return (int64_t)((uint64_t)one + (uint64_t)other);
}

/* See layout.h: word counts the frees by others; after the life's end it is K - blocks left. */
static void load_sums(struct pfs_cell *cell, struct pfs_seen_cell *seen)
{
	uint64_t word = (uint64_t)load(&cell->word);
	int64_t foreign_bytes = load(&cell->foreign_bytes);
	int64_t frees = load(&cell->frees);
	int64_t free_bytes = load(&cell->free_bytes);
	seen->allocs = load(&cell->allocs);
	seen->alloc_bytes = load(&cell->alloc_bytes);
	seen->free_bytes = add(free_bytes, foreign_bytes);
	if (word < PFS_CELL_ENDED / 2)
		seen->frees = add(frees, (int64_t)word);
	else
		seen->frees = add(seen->allocs, (int64_t)(word - PFS_CELL_ENDED));
}

static void load_marks(struct pfs_cell *cell, struct pfs_seen_cell *seen)
{
	for (int t = 0; t < PFS_TABLES; t++) {
		struct pfs_marks *marks = &cell->marks[t];
		/* Before the marks: marks read after a new epoch are at least as new. */
		seen->epochs[t] = load_half(&cell->epochs[t]);
		seen->marks[t] = (struct pfs_seen_marks){
			.high_count = load(&marks->high_count),
			.high_bytes = load(&marks->high_bytes),
			.low_count = load(&marks->low_count),
			.low_bytes = load(&marks->low_bytes),
		};
	}
}

static void load_cell(struct pfs_cell *cell, struct pfs_seen_cell *seen)
{
	load_sums(cell, seen);
	load_marks(cell, seen);
	seen->level = load_plain(&cell->level);
	seen->instrument = load_plain(&cell->instrument);
	/* An ended life has no row in the table of threads. */
	seen->thread = load_half(&cell->owner);
	seen->account = load_plain(&cell->account);
	seen->account_reference = seen->account;
	seen->user = load_plain(&cell->user);
	seen->host = load_plain(&cell->host);
}

static bool copy_cell(struct pfs_record_place place, struct pfs_seen_cell *seen, bool *missed)
{
	for (int i = 0; i < COPY_TRIES; i++) {
		seen->word = pfs_lock_glance(place.lock);
		if (pfs_word_state(seen->word) != PFS_STATE_ALLOCATED)
			return false;
		load_cell((struct pfs_cell *)(void *)place.bytes, seen);
		if (pfs_lock_confirm(place.lock, seen->word))
			return true;
	}
	*missed = true;
	return false;
}

/* A guess that avoids copying cells that are not wanted. */
static bool is_wanted(const struct pfs_cells_wanted *wanted, struct pfs_record_place place)
{
	const struct pfs_cell *cell = (const struct pfs_cell *)(const void *)place.bytes;
	if (wanted->all)
		return true;
	uint32_t account = load_plain(&cell->account);
	return account <= wanted->account_room && wanted->account[account];
}

/* Allocate the maximum at once; unused pages cost nothing. */
static bool make_room(struct pfs_seen_cells *cells, uint64_t records)
{
	uint64_t room = cells->count + records;
	if (room <= cells->room)
		return true;
	struct pfs_seen_cell *more = pfs_big_malloc(room * sizeof(*more));
	if (more == NULL)
		return false;
	if (cells->count != 0)
		memcpy(more, cells->cell, cells->count * sizeof(*more));
	free(cells->cell);
	cells->cell = more;
	cells->room = room;
	return true;
}

bool pfs_cells_read(const struct pfs_reader *self, const struct pfs_cells_wanted *wanted,
		    struct pfs_seen_cells *cells, struct pfs_snapshot *snapshot)
{
	uint64_t records = pfs_reader_records(self, PFS_BOX_CELLS);
	if (!make_room(cells, records + 1))
		return false;
	for (uint64_t i = 0; i < records; i++) {
		struct pfs_record_place place = pfs_reader_place(self, PFS_BOX_CELLS, i);
		bool missed = false;
		if (pfs_word_state(pfs_lock_glance(place.lock)) != PFS_STATE_ALLOCATED ||
		    !is_wanted(wanted, place))
			continue;
		if (copy_cell(place, &cells->cell[cells->count], &missed))
			cells->cell[cells->count++].number = (uint32_t)i;
		snapshot->rows_missed += missed;
	}
	return true;
}

/* ---- references ---- */

enum who { INSTRUMENT, THREAD, ACCOUNT, USER, HOST, WHOS };

static const char *const names[WHOS] = { "instrument", "thread", "account", "user", "host" };

/* Indices into the snapshot's arrays, by reference; PFS_NONE: no such entry. */
struct maps {
	uint32_t *map[WHOS];
	uint64_t room[WHOS];
};

/* The number is the first field of each array's entries. */
static uint32_t *map_of(uint64_t room, const void *first, size_t stride, uint32_t count)
{
	uint32_t *map = malloc((room + 1) * sizeof(*map));
	for (uint64_t i = 0; map != NULL && i <= room; i++)
		map[i] = PFS_NONE;
	for (uint32_t i = 0; map != NULL && i < count; i++) {
		uint32_t number;
		memcpy(&number, (const char *)first + i * stride, sizeof(number));
		if (number < room)
			map[number + 1] = i;
	}
	return map;
}

static bool maps_init(struct maps *maps, const struct pfs_reader *self,
		      const struct pfs_snapshot *snapshot)
{
	const struct {
		const void *first;
		size_t stride;
		uint32_t count;
	} arrays[WHOS] = {
		{ snapshot->instruments, sizeof(snapshot->instruments[0]),
		  snapshot->instrument_count },
		{ snapshot->threads, sizeof(snapshot->threads[0]), snapshot->thread_count },
		{ snapshot->accounts, sizeof(snapshot->accounts[0]), snapshot->account_count },
		{ snapshot->users, sizeof(snapshot->users[0]), snapshot->user_count },
		{ snapshot->hosts, sizeof(snapshot->hosts[0]), snapshot->host_count },
	};
	bool fine = true;
	for (int i = 0; i < WHOS; i++) {
		maps->room[i] = pfs_reader_records(self,
						   (enum pfs_box_kind)(PFS_BOX_INSTRUMENTS + i));
		maps->map[i] = map_of(maps->room[i], arrays[i].first, arrays[i].stride,
				      arrays[i].count);
		fine &= maps->map[i] != NULL;
	}
	return fine;
}

static void maps_fini(struct maps *maps)
{
	for (int i = 0; i < WHOS; i++)
		free(maps->map[i]);
}

/* The reference that a cell of this level must have. */
static enum who whose(uint32_t level)
{
	return level == PFS_CELL_OF_ACCOUNT ? ACCOUNT
	       : level == PFS_CELL_OF_USER  ? USER
	       : level == PFS_CELL_OF_HOST  ? HOST
					    : INSTRUMENT;
}

static bool check_cell(const struct pfs_seen_cell *cell, const struct maps *maps,
		       struct pfs_snapshot *snapshot)
{
	const uint32_t references[WHOS] = { cell->instrument, cell->thread, cell->account,
					    cell->user, cell->host };
	if (cell->level > PFS_CELL_OF_GLOBAL) {
		pfs_snapshot_damage(snapshot, "cell %u has the unknown level %u", cell->number,
				    cell->level);
		return false;
	}
	for (int i = 0; i < WHOS; i++) {
		if (references[i] <= maps->room[i])
			continue;
		pfs_snapshot_damage(snapshot, "cell %u refers to %s %u of %llu", cell->number,
				    names[i], references[i], (unsigned long long)maps->room[i]);
		return false;
	}
	enum who needed = whose(cell->level);
	if (maps->map[INSTRUMENT][cell->instrument] == PFS_NONE || references[needed] == 0) {
		pfs_snapshot_damage(snapshot, "cell %u has no %s", cell->number,
				    references[needed] == 0 ? names[needed] : "instrument");
		return false;
	}
	return true;
}

/* Threads and accounts that ended while the cells were read are missing from the arrays; their
 * cells count for the levels above. */
static void resolve_cell(struct pfs_seen_cell *cell, const struct maps *maps)
{
	cell->instrument = maps->map[INSTRUMENT][cell->instrument];
	cell->thread = maps->map[THREAD][cell->thread];
	cell->account = maps->map[ACCOUNT][cell->account];
	cell->user = maps->map[USER][cell->user];
	cell->host = maps->map[HOST][cell->host];
}

bool pfs_cells_resolve(const struct pfs_reader *self, struct pfs_seen_cells *cells,
		       struct pfs_snapshot *snapshot)
{
	struct maps maps;
	uint64_t kept = 0;
	bool fine = maps_init(&maps, self, snapshot);
	for (uint64_t i = 0; fine && i < cells->count; i++) {
		struct pfs_seen_cell *cell = &cells->cell[i];
		if (!check_cell(cell, &maps, snapshot))
			continue;
		resolve_cell(cell, &maps);
		if (kept != i)
			cells->cell[kept] = *cell;
		kept++;
	}
	if (fine)
		cells->count = kept;
	maps_fini(&maps);
	return fine;
}

/* ---- marks of tables that were truncated ---- */

/* See layout.h. A thread that has not looked since the TRUNCATE still has the old marks. One that
 * has looked had at least what the TRUNCATE found. A later cell has no base, and valid marks. */
static void rebase_thread(struct pfs_seen_marks *marks, bool is_fresh,
			  const struct pfs_box_cell_base *base, int table)
{
	int64_t count = (int64_t)base->current[table].count;
	int64_t bytes = (int64_t)base->current[table].bytes;
	if (is_fresh) {
		marks->high_count = pfs_larger(marks->high_count, count);
		marks->high_bytes = pfs_larger(marks->high_bytes, bytes);
	} else
		*marks = (struct pfs_seen_marks){ count, bytes, count, bytes };
}

static void rebase_cell(const struct pfs_reader *self, struct pfs_seen_cell *cell,
			const uint32_t *truncates, struct pfs_reader_window *window)
{
	struct pfs_box_cell_base base;
	bool is_of_thread = cell->level == PFS_CELL_OF_THREAD;
	if (is_of_thread)
		pfs_reader_array_near(self, PFS_BOX_CELL_BASES, cell->number * sizeof(base), &base,
				      sizeof(base), window);
	for (int t = 0; t < PFS_TABLES; t++) {
		bool is_fresh = cell->epochs[t] == truncates[t];
		if (truncates[t] == 0 && is_fresh)
			continue;
		if (!is_of_thread && !is_fresh)
			cell->marks[t] = (struct pfs_seen_marks){ 0, 0, 0, 0 };
		if (is_of_thread && base.cell_word == cell->word && base.epochs[t] == truncates[t])
			rebase_thread(&cell->marks[t], is_fresh, &base, t);
	}
}

void pfs_cells_rebase(const struct pfs_reader *self, struct pfs_seen_cells *cells,
		      const uint32_t *truncates)
{
	struct pfs_reader_window window = { .is_read = false };
	uint32_t any = 0;
	for (int t = 0; t < PFS_TABLES; t++)
		any |= truncates[t];
	for (uint64_t i = 0; any != 0 && i < cells->count; i++)
		rebase_cell(self, &cells->cell[i], truncates, &window);
}
