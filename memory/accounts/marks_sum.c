/*
 * marks_sum.c - initialize the marks of a new cell; add those of an ended cell to its parents'.
 */
#include "marks.h"

void pfs_marks_begin(struct pfs_books *self, struct pfs_cell *cell)
{
	for (uint32_t table = 0; table < PFS_TABLES; table++) {
		pfs_mark_set(&cell->marks[table].high_count, 0);
		pfs_mark_set(&cell->marks[table].high_bytes, 0);
		pfs_mark_set(&cell->marks[table].low_count, 0);
		pfs_mark_set(&cell->marks[table].low_bytes, 0);
		pfs_store_relaxed(&cell->epochs[table],
				  pfs_marks_epoch(self, table)); /* relaxed: new */
	}
	pfs_mark_set(&cell->trap_count, 0);
	pfs_mark_set(&cell->trap_bytes, 0);
	/* relaxed: a new cell; its first look sees a concurrent change. */
	pfs_store_relaxed(&cell->seen, pfs_load_relaxed(&self->control->generation));
}

static bool is_current(const struct pfs_books *self, struct pfs_cell *cell, uint32_t table)
{
	return pfs_load_relaxed(&cell->epochs[table]) ==
	       pfs_marks_epoch(self, table); /* relaxed: own */
}

struct pfs_marks *pfs_marks_of_party(struct pfs_books *self, struct pfs_cell *cell, uint32_t table)
{
	struct pfs_marks *marks = &cell->marks[table];
	if (!is_current(self, cell, table)) {
		pfs_mark_set(&marks->high_count, 0);
		pfs_mark_set(&marks->high_bytes, 0);
		pfs_mark_set(&marks->low_count, 0);
		pfs_mark_set(&marks->low_bytes, 0);
		pfs_store_relaxed(&cell->epochs[table],
				  pfs_marks_epoch(self, table)); /* relaxed: desk */
	}
	return marks;
}

void pfs_marks_reach(struct pfs_books *self, struct pfs_cell *to, uint64_t count, uint64_t bytes)
{
	for (uint32_t table = 0; table < PFS_TABLES; table++) {
		struct pfs_marks *marks = pfs_marks_of_party(self, to, table);
		pfs_mark_set(&marks->high_count, pfs_mark_get(&marks->high_count) + count);
		pfs_mark_set(&marks->high_bytes, pfs_mark_get(&marks->high_bytes) + bytes);
	}
}

void pfs_marks_add(struct pfs_books *self, struct pfs_cell *to, struct pfs_cell *from)
{
	for (uint32_t table = 0; table < PFS_TABLES; table++) {
		struct pfs_marks *marks = pfs_marks_of_party(self, to, table);
		/* A cell without an allocation since a TRUNCATE has the older, higher marks: this
		 * is an estimate. A removed party adds its own estimate so far. */
		uint64_t count = pfs_mark_get(&from->marks[table].high_count);
		uint64_t bytes = pfs_mark_get(&from->marks[table].high_bytes);
		bool is_party = from->level != PFS_CELL_OF_THREAD;
		if (is_party &&
		    pfs_mark_is_less(count, pfs_mark_get(&from->marks[table].low_count)))
			count = pfs_mark_get(&from->marks[table].low_count);
		if (is_party &&
		    pfs_mark_is_less(bytes, pfs_mark_get(&from->marks[table].low_bytes)))
			bytes = pfs_mark_get(&from->marks[table].low_bytes);
		pfs_mark_set(&marks->high_count, pfs_mark_get(&marks->high_count) + count);
		pfs_mark_set(&marks->high_bytes, pfs_mark_get(&marks->high_bytes) + bytes);
	}
}
