/*
 * history.c - memory_history: the ring of ticks, a row for the whole, the largest instruments, the
 * largest accounts (KIND 'pool'), and the arenas of each.
 */
#include <stdio.h>

#include "session.h"

#define SHARES (PFS_BOX_TICK_INSTRUMENTS + PFS_BOX_TICK_ACCOUNTS)
#define LINES (1u + SHARES + PFS_BOX_TICK_ARENAS)

static uint64_t history_limit(const struct pfs_cursor *cursor)
{
	return cursor->snapshot->ticks == NULL ? 0 : (uint64_t)cursor->snapshot->tick_count * LINES;
}

static const struct pfs_box_tick *tick_of(const struct pfs_cursor *cursor, uint64_t row)
{
	return &cursor->snapshot->ticks[row / LINES];
}

/* NULL: none. */
static const struct pfs_box_arena *arena_of(const struct pfs_cursor *cursor, uint64_t row)
{
	uint64_t line = row % LINES;
	return line > SHARES ? &tick_of(cursor, row)->arenas[line - SHARES - 1] : NULL;
}

/* What a row is of; the whole has none, and an arena its own. */
static struct pfs_box_share share_of(const struct pfs_cursor *cursor, uint64_t row)
{
	uint64_t line = row % LINES - 1;
	const struct pfs_box_tick *tick = tick_of(cursor, row);
	const struct pfs_box_arena *arena = arena_of(cursor, row);
	if (arena != NULL)
		return (struct pfs_box_share){ .reference = arena->reference,
					       .bytes = arena->allocated };
	return line < PFS_BOX_TICK_INSTRUMENTS ? tick->instruments[line]
					       : tick->accounts[line - PFS_BOX_TICK_INSTRUMENTS];
}

static bool history_there(struct pfs_cursor *cursor, uint64_t *row)
{
	uint64_t line = *row % LINES;
	if (line == 0 || share_of(cursor, *row).reference != 0)
		return true;
	uint64_t next = line <= PFS_BOX_TICK_INSTRUMENTS ? PFS_BOX_TICK_INSTRUMENTS + 1
			: line <= SHARES                 ? SHARES + 1
							 : LINES;
	*row += next - line;
	return false;
}

static void result_arena(const struct pfs_box_arena *arena, sqlite3_context *context)
{
	char name[32];
	(void)snprintf(name, sizeof(name), "arena %u", arena->reference - 1);
	pfs_result_text(context, arena->pool[0] != '\0' ? arena->pool : name);
}

static void result_name(const struct pfs_cursor *cursor, sqlite3_context *context)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	uint64_t line = cursor->row % LINES;
	uint32_t reference = line == 0 ? 0 : share_of(cursor, cursor->row).reference;
	if (line == 0) {
		pfs_result_text(context, "tracked");
	} else if (line > SHARES) {
		result_arena(arena_of(cursor, cursor->row), context);
	} else if (line <= PFS_BOX_TICK_INSTRUMENTS) {
		uint32_t i = pfs_snapshot_instrument(snapshot, reference);
		pfs_result_text(context, i < snapshot->instrument_count
						 ? snapshot->instruments[i].name
						 : NULL);
	} else {
		uint32_t i = pfs_snapshot_account(snapshot, reference);
		char name[PFS_BOX_USER_BYTES + PFS_BOX_HOST_BYTES + 2];
		if (i >= snapshot->account_count)
			return; /* overwritten since */
		const struct pfs_seen_account *one = &snapshot->accounts[i];
		(void)snprintf(name, sizeof(name), "%s%s%s", one->has_user ? one->user_name : "",
			       one->has_host ? "@" : "", one->has_host ? one->host_name : "");
		pfs_result_text(context, one->has_user || one->has_host ? name : "background");
	}
}

static void history_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_box_tick *tick = tick_of(cursor, cursor->row);
	uint64_t line = cursor->row % LINES;
	switch (column) {
	case 0: pfs_result_number(context, tick->number); break;
	case 1: pfs_result_time(context, tick->realtime_ns); break;
	case 2:
		pfs_result_text(context, line == 0                          ? "total"
					 : line <= PFS_BOX_TICK_INSTRUMENTS ? "instrument"
					 : line <= SHARES                   ? "pool"
									    : "arena");
		break;
	case 3: result_name(cursor, context); break;
	case 4:
		pfs_result_number(context, line == 0 ? tick->own.tracked
						     : share_of(cursor, cursor->row).bytes);
		break;
	default: pfs_result_number(context, tick->own.rss);
	}
}

/* clang-format off */
const struct pfs_table pfs_sql_history = {
	.name = "memory_history", .schema = "pfs",
	.columns = "TICK BIGINT NOT NULL, TIME DATETIME NOT NULL, KIND VARCHAR(16) NOT NULL, "
		   "NAME VARCHAR(320), BYTES BIGINT NOT NULL, RSS BIGINT NOT NULL",
	.parts = PFS_SNAPSHOT_TICKS,
	.row_limit = history_limit, .there = history_there, .value = history_value
};
/* clang-format on */
