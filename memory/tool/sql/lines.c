/*
 * lines.c - memory_lines: the program's own lines that hold the heap, the largest first, as the
 * sampled profile estimates them.
 */
#include "session.h"

#define WHERE_BYTES 800u

static uint64_t lines_limit(const struct pfs_cursor *cursor)
{
	return cursor->view->holders.count;
}

static void result_frame(const struct pfs_cursor *cursor, struct pfs_frame_of frame,
			 sqlite3_context *context)
{
	char text[WHERE_BYTES];
	(void)pfs_frame_text(cursor->view->heap, frame, text, sizeof(text));
	pfs_sql_text(text);
	pfs_result_text(context, text);
}

static void lines_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_heap *heap = cursor->view->heap;
	const struct pfs_holder *holder = &cursor->view->holders.holders[cursor->row];
	double error = pfs_heap_error(heap, &holder->now);
	if (column == 0)
		pfs_result_text(context, holder->name);
	else if (column == 1)
		result_frame(cursor, holder->frame, context);
	else if (column == 2 && holder->caller.location != PFS_HEAP_NONE)
		result_frame(cursor, holder->caller, context);
	else if (column == 3)
		sqlite3_result_int64(context, (int64_t)holder->now.live_bytes);
	else if (column == 4 && error >= 0)
		sqlite3_result_int64(context, (int64_t)error);
	else if (column == 5)
		sqlite3_result_int64(context, (int64_t)holder->now.live_objects);
	else if (column == 6 || column == 7)
		pfs_result_time(context,
				column == 6 ? holder->now.oldest_ns : holder->now.newest_ns);
}

/* clang-format off */
const struct pfs_table pfs_sql_lines = {
	.name = "memory_lines", .schema = "pfs",
	.columns = "NAME VARCHAR(128), LINE VARCHAR(1024) NOT NULL, CALLER VARCHAR(1024), "
		   "BYTES BIGINT NOT NULL, ERROR_BYTES BIGINT, BLOCKS BIGINT NOT NULL, "
		   "OLDEST DATETIME, NEWEST DATETIME",
	.has_view = true,
	.row_limit = lines_limit, .value = lines_value
};
/* clang-format on */
