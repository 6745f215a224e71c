/*
 * corruption.c - memory_corruption: the memory corruption that ended the program, a row for each
 * frame of its stacks, the innermost first. Without a stack it has one row.
 */
#include <string.h>

#include "session.h"

enum column {
	KIND,
	ACCESS,
	CALL,
	ADDRESS,
	BLOCK,
	BLOCK_BYTES,
	TIME,
	STACK,
	THREAD,
	NAME,
	FRAME,
	AT,
	FILE_OF,
	OFFSET
};

#define ROWS_EACH (PFS_BOX_TRACE_FRAMES + 1) /* the first has no frame */

static uint64_t corruption_limit(const struct pfs_cursor *cursor)
{
	return cursor->snapshot->corruption != NULL ? (uint64_t)PFS_BOX_TRACES * ROWS_EACH : 0;
}

static const struct pfs_box_trace *trace_of(const struct pfs_cursor *cursor, uint64_t row)
{
	return &cursor->snapshot->corruption->traces[row / ROWS_EACH];
}

/* Row 0 of a trace stands for one without frames; that of the thread itself is always there. */
static bool corruption_there(struct pfs_cursor *cursor, uint64_t *row)
{
	const struct pfs_box_trace *trace = trace_of(cursor, *row);
	uint64_t frame = *row % ROWS_EACH;
	if (trace->depth == 0 || trace->os_tid == 0)
		return frame == 0 && *row == 0;
	return frame != 0 && frame <= trace->depth;
}

static const struct pfs_box_module *module_of(const struct pfs_box_corruption *self,
					      uint64_t address)
{
	for (uint32_t i = 0; i < PFS_BOX_TRACE_MODULES && self->modules[i].end != 0; i++)
		if (address >= self->modules[i].begin && address < self->modules[i].end)
			return &self->modules[i];
	return NULL;
}

static void frame_value(const struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_box_corruption *self = cursor->snapshot->corruption;
	uint64_t frame = cursor->row % ROWS_EACH;
	if (frame == 0)
		return;
	uint64_t address = trace_of(cursor, cursor->row)->frames[frame - 1];
	const struct pfs_box_module *module = module_of(self, address - 1);
	if (column == FRAME)
		pfs_result_number(context, frame - 1);
	else if (column == AT)
		pfs_result_number(context, address);
	else if (column == FILE_OF && module != NULL)
		pfs_result_text(context, module->path);
	else if (column == OFFSET && module != NULL)
		pfs_result_number(context, address - module->begin + module->file_offset);
}

static void corruption_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	static const char *const stacks[PFS_BOX_TRACES] = { "HERE", "ALLOCATED", "FREED" };
	const struct pfs_box_corruption *self = cursor->snapshot->corruption;
	const struct pfs_box_trace *trace = trace_of(cursor, cursor->row);
	switch ((enum column)column) {
	case KIND: pfs_result_text(context, pfs_box_corruption_name(self->kind)); break;
	case ACCESS:
		if (self->access == 1 || self->access == 2)
			pfs_result_text(context, self->access == 1 ? "READ" : "WRITE");
		break;
	case CALL:
		if (self->call[0] != '\0')
			pfs_result_text(context, self->call);
		break;
	case ADDRESS: pfs_result_number(context, self->address); break;
	case BLOCK:
		if (self->block != 0)
			pfs_result_number(context, self->block);
		break;
	case BLOCK_BYTES:
		if (self->block != 0)
			pfs_result_number(context, self->block_bytes);
		break;
	case TIME: pfs_result_time(context, self->realtime_ns); break;
	case STACK: pfs_result_text(context, stacks[cursor->row / ROWS_EACH]); break;
	case THREAD: pfs_result_number(context, trace->os_tid); break;
	case NAME: pfs_result_text(context, trace->thread); break;
	default: frame_value(cursor, column, context);
	}
}

/* clang-format off */
const struct pfs_table pfs_sql_corruption = {
	.name = "memory_corruption", .schema = "pfs",
	.columns = "KIND VARCHAR(32) NOT NULL, ACCESS VARCHAR(5), CALLED VARCHAR(24), "
		   "ADDRESS BIGINT NOT NULL, BLOCK BIGINT, BLOCK_BYTES BIGINT, "
		   "TIME DATETIME, STACK VARCHAR(9) NOT NULL, "
		   "THREAD_OS_ID BIGINT NOT NULL, THREAD_NAME VARCHAR(16) NOT NULL, FRAME BIGINT, "
		   "FRAME_ADDRESS BIGINT, FILE VARCHAR(432), FILE_OFFSET BIGINT",
	.row_limit = corruption_limit, .there = corruption_there, .value = corruption_value
};
/* clang-format on */
