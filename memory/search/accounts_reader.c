#include "memory/search/accounts_reader.h"

#include <stdlib.h>

#include "memory/box/reader_inside.h"

#define ROOM 8u

bool pfs_accounts_see(struct pfs_accounts_seen *seen, uint32_t room, uint32_t *count)
{
	const struct pfs_cells_wanted all = { .all = true };
	struct pfs_seen_cell cell[ROOM];
	struct pfs_seen_cells cells = { .cell = cell, .room = ROOM };
	struct pfs_snapshot snapshot = { .rows_missed = 0 };
	PFS_ASSERT(room <= ROOM, "too many cells");
	bool is_whole = pfs_cells_read(NULL, &all, &cells, &snapshot) && snapshot.rows_missed == 0;
	for (uint32_t at = 0; at < cells.count; at++) {
		const struct pfs_seen_cell *from = &cell[at];
		seen[at] = (struct pfs_accounts_seen){
			.number = from->number,
			.word = from->word,
			.account = from->account,
			.sums = { .allocs = (uint64_t)from->allocs,
				  .frees = (uint64_t)from->frees,
				  .alloc_bytes = (uint64_t)from->alloc_bytes,
				  .free_bytes = (uint64_t)from->free_bytes },
			.high_count = (uint64_t)from->marks[PFS_TABLE_ACCOUNT].high_count
		};
	}
	*count = (uint32_t)cells.count;
	return is_whole;
}

/* ---- the box of pfs_cells_read ---- */

uint64_t pfs_reader_records(const struct pfs_reader *self, enum pfs_box_kind kind)
{
	(void)self, (void)kind;
	return pfs_accounts_records();
}

struct pfs_record_place pfs_reader_place(const struct pfs_reader *self, enum pfs_box_kind kind,
					 uint64_t number)
{
	struct pfs_record_place place;
	(void)self, (void)kind;
	place.bytes = pfs_accounts_record(number, &place.lock);
	return place;
}

/* What reader_cells.c needs only for snapshots of whole boxes, which are not taken here. */
void pfs_reader_array(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t offset,
		      void *to, size_t bytes)
{
	(void)self, (void)kind, (void)offset, (void)to, (void)bytes;
	abort();
}

void pfs_reader_array_near(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t offset,
			   void *to, size_t bytes, struct pfs_reader_window *window)
{
	(void)window;
	pfs_reader_array(self, kind, offset, to, bytes);
}

void *pfs_big_malloc(size_t bytes)
{
	(void)bytes;
	abort(); /* there is room for all cells */
}

void pfs_snapshot_damage(struct pfs_snapshot *snapshot, const char *format, ...)
{
	(void)snapshot, (void)format;
	abort();
}
