/*
 * reader_check.c - is everything in a box consistent, and does it add up?
 */
#include <inttypes.h>
#include <string.h>

#include "memory/box/reader_profile.h"
#include "reader_inside.h"

/* The bytes in use by all cells, each counted once: those of threads, accounts, global. */
static int64_t bytes_of_cells(const struct pfs_snapshot *snapshot)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < snapshot->rows->cells.count; i++) {
		const struct pfs_seen_cell *cell = &snapshot->rows->cells.cell[i];
		if (cell->level != PFS_CELL_OF_USER && cell->level != PFS_CELL_OF_HOST)
			sum += (uint64_t)cell->alloc_bytes - (uint64_t)cell->free_bytes;
	}
	return (int64_t)sum;
}

static bool check_row(const struct pfs_snapshot *snapshot, const struct pfs_row *row,
		      struct pfs_message *message)
{
	const char *table = pfs_table_names[row->table];
	const char *name = snapshot->instruments[row->instrument].name;
	if (row->low_count > row->current_count || row->current_count > row->high_count ||
	    row->low_bytes > row->current_bytes || row->current_bytes > row->high_bytes)
		return pfs_refuse(message,
				  "%s: row %u of %.60s: CURRENT is not between LOW and "
				  "HIGH",
				  table, row->who, name);
	if (strcmp(snapshot->info.rule, "exact") != 0)
		return true;
	if (row->count_free < 0 || row->bytes_free < 0 || row->current_count < 0 ||
	    row->current_bytes < 0)
		return pfs_refuse(message,
				  "%s: row %u of %.60s is below zero: %" PRId64 " blocks, %" PRId64
				  " bytes",
				  table, row->who, name, row->current_count, row->current_bytes);
	return true;
}

static bool check_rows(const struct pfs_snapshot *snapshot, struct pfs_message *message)
{
	uint64_t global = 0;
	struct pfs_row row;
	for (int t = 0; t < PFS_TABLES; t++)
		for (uint64_t i = 0; pfs_snapshot_row(snapshot, (enum pfs_box_table)t, i, &row);
		     i++) {
			if (!check_row(snapshot, &row, message))
				return false;
			global += t == PFS_TABLE_GLOBAL ? (uint64_t)row.current_bytes : 0;
		}
	if ((int64_t)global != bytes_of_cells(snapshot))
		return pfs_refuse(message,
				  "it does not add up: %" PRId64 " bytes by global, %" PRId64
				  " by cells",
				  (int64_t)global, bytes_of_cells(snapshot));
	return true;
}

static bool check_names(const struct pfs_snapshot *snapshot, struct pfs_message *message)
{
	for (uint32_t i = 0; i < snapshot->instrument_count; i++) {
		if (strncmp(snapshot->instruments[i].name, "memory/", 7) != 0)
			return pfs_refuse(message, "instrument %u is named '%.100s', not memory/…",
					  snapshot->instruments[i].number,
					  snapshot->instruments[i].name);
		for (uint32_t j = 0; j < i; j++)
			if (strcmp(snapshot->instruments[i].name, snapshot->instruments[j].name) ==
			    0)
				return pfs_refuse(message, "'%.100s' appears twice",
						  snapshot->instruments[i].name);
	}
	return true;
}

static bool check_ticks(const struct pfs_snapshot *snapshot, struct pfs_message *message)
{
	for (uint32_t i = 1; i < snapshot->tick_count; i++)
		if (snapshot->ticks[i].number <= snapshot->ticks[i - 1].number)
			return pfs_refuse(message, "tick %" PRIu64 " comes after tick %" PRIu64,
					  snapshot->ticks[i].number, snapshot->ticks[i - 1].number);
	for (uint32_t i = 0; i < snapshot->tick_count; i++)
		for (uint32_t j = 0; j < PFS_BOX_TICK_INSTRUMENTS; j++)
			if (snapshot->ticks[i].instruments[j].reference >
			    snapshot->info.instruments_max)
				return pfs_refuse(message, "tick %" PRIu64 " names instrument %u",
						  snapshot->ticks[i].number,
						  snapshot->ticks[i].instruments[j].reference);
	return true;
}

/* Invalid records were left out and counted earlier. */
static bool check_owners(const struct pfs_snapshot *snapshot, struct pfs_message *message)
{
	for (uint32_t i = 0; i < snapshot->owner_count; i++) {
		const struct pfs_seen_owner *one = &snapshot->owners[i];
		if ((int64_t)one->own_bytes < 0 || (int64_t)one->sum_bytes < 0)
			return pfs_refuse(message,
					  "owner '%.60s' is below zero: %" PRId64 " bytes, %" PRId64
					  " with all below it",
					  one->name, (int64_t)one->own_bytes,
					  (int64_t)one->sum_bytes);
		for (uint32_t j = 0; j < i; j++)
			if (one->parent == snapshot->owners[j].parent &&
			    strcmp(one->name, snapshot->owners[j].name) == 0)
				return pfs_refuse(message, "owner '%.60s' appears twice",
						  one->name);
	}
	return true;
}

/* Every record that the profile refers to exists. */
static bool check_profile(struct pfs_reader *self, struct pfs_message *message)
{
	struct pfs_seen_profile *profile = pfs_profile_take(self, message);
	bool fine = profile != NULL;
	if (fine && profile->snapshot->damaged != 0)
		fine = pfs_refuse(message, "%" PRIu64 " records are invalid; the first: %.150s",
				  profile->snapshot->damaged, profile->snapshot->damage.text);
	pfs_profile_free(profile);
	return fine;
}

bool pfs_reader_check(struct pfs_reader *self, struct pfs_message *message)
{
	struct pfs_message why = { "" };
	struct pfs_snapshot *snapshot = pfs_snapshot_take(
		self, PFS_SNAPSHOT_ROWS | PFS_SNAPSHOT_TICKS | PFS_SNAPSHOT_MODULES, message);
	if (snapshot == NULL)
		return false;
	bool fine = true;
	if (snapshot->damaged != 0)
		fine = pfs_refuse(&why, "%" PRIu64 " records are invalid; the first: %.150s",
				  snapshot->damaged, snapshot->damage.text);
	fine = fine && check_names(snapshot, &why) && check_ticks(snapshot, &why) &&
	       check_owners(snapshot, &why) && check_rows(snapshot, &why) &&
	       check_profile(self, &why);
	if (!fine)
		(void)pfs_refuse(message, "'%.90s': %.150s", self->info.path, why.text);
	pfs_snapshot_free(snapshot);
	return fine;
}
