/*
 * arenas.c - memory_arenas: each arena of the allocator at the last tick;
 * memory_arenas_history: at each tick in the ring.
 */
#include "session.h"

#define OF_ARENA                                                          \
	"ARENA BIGINT, POOL VARCHAR(15), THREADS BIGINT NOT NULL, "       \
	"ALLOCATED_BYTES BIGINT NOT NULL, CACHED_BYTES BIGINT NOT NULL, " \
	"ACTIVE_BYTES BIGINT NOT NULL, RESIDENT_BYTES BIGINT NOT NULL, "  \
	"MAPPED_BYTES BIGINT NOT NULL, RETAINED_BYTES BIGINT NOT NULL"

static uint64_t arenas_limit(const struct pfs_cursor *cursor)
{
	return cursor->snapshot->has_own ? PFS_BOX_TICK_ARENAS : 0;
}

static bool arenas_there(struct pfs_cursor *cursor, uint64_t *row)
{
	return cursor->snapshot->arenas[*row].reference != 0;
}

static void result_arena(const struct pfs_box_arena *one, int column, sqlite3_context *context)
{
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

static void arenas_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	result_arena(&cursor->snapshot->arenas[cursor->row], column, context);
}

/* clang-format off */
const struct pfs_table pfs_sql_arenas = {
	.name = "memory_arenas", .schema = "pfs", .columns = OF_ARENA,
	.row_limit = arenas_limit, .there = arenas_there, .value = arenas_value
};
/* clang-format on */

/* ---- over time ---- */

static uint64_t history_limit(const struct pfs_cursor *cursor)
{
	return cursor->snapshot->ticks == NULL
		       ? 0
		       : (uint64_t)cursor->snapshot->tick_count * PFS_BOX_TICK_ARENAS;
}

static const struct pfs_box_tick *tick_of(const struct pfs_cursor *cursor, uint64_t row)
{
	return &cursor->snapshot->ticks[row / PFS_BOX_TICK_ARENAS];
}

/* The next tick follows the last arena of a tick. */
static bool history_there(struct pfs_cursor *cursor, uint64_t *row)
{
	uint64_t at = *row % PFS_BOX_TICK_ARENAS;
	if (tick_of(cursor, *row)->arenas[at].reference != 0)
		return true;
	*row += PFS_BOX_TICK_ARENAS - at;
	return false;
}

static void history_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_box_tick *tick = tick_of(cursor, cursor->row);
	if (column == 0)
		pfs_result_number(context, tick->number);
	else if (column == 1)
		pfs_result_time(context, tick->realtime_ns);
	else if (column == 11)
		pfs_result_number(context, tick->own.rss);
	else
		result_arena(&tick->arenas[cursor->row % PFS_BOX_TICK_ARENAS], column - 2, context);
}

/* clang-format off */
const struct pfs_table pfs_sql_arenas_history = {
	.name = "memory_arenas_history", .schema = "pfs",
	.columns = "TICK BIGINT NOT NULL, TIME DATETIME NOT NULL, " OF_ARENA
		   ", RSS BIGINT NOT NULL",
	.parts = PFS_SNAPSHOT_TICKS,
	.row_limit = history_limit, .there = history_there, .value = history_value
};
/* clang-format on */
