/*
 * arenas.c - memory_arenas: what each arena of the allocator had at the last tick.
 */
#include "session.h"

static uint64_t arenas_limit(const struct pfs_cursor *cursor)
{
	return cursor->snapshot->has_own ? PFS_BOX_TICK_ARENAS : 0;
}

static bool arenas_there(struct pfs_cursor *cursor, uint64_t *row)
{
	return cursor->snapshot->arenas[*row].reference != 0;
}

static void arenas_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_box_arena *one = &cursor->snapshot->arenas[cursor->row];
	const uint64_t numbers[] = { one->threads,  one->allocated, one->cached,  one->active,
				     one->resident, one->mapped,    one->retained };
	if (column == 0) {
		if (one->reference != PFS_BOX_ARENA_OTHERS)
			pfs_result_number(context, one->reference - 1);
	} else if (column == 1) {
		pfs_result_text(context, one->pool[0] != '\0' ? one->pool : NULL);
	} else {
		pfs_result_number(context, numbers[column - 2]);
	}
}

const struct pfs_table pfs_sql_arenas = {
	.name = "memory_arenas", .schema = "pfs",
	.columns = "ARENA BIGINT, POOL VARCHAR(15), THREADS BIGINT NOT NULL, "
		   "ALLOCATED_BYTES BIGINT NOT NULL, CACHED_BYTES BIGINT NOT NULL, "
		   "ACTIVE_BYTES BIGINT NOT NULL, RESIDENT_BYTES BIGINT NOT NULL, "
		   "MAPPED_BYTES BIGINT NOT NULL, RETAINED_BYTES BIGINT NOT NULL",
	.row_limit = arenas_limit, .there = arenas_there, .value = arenas_value
};
