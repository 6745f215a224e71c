/*
 * stacks.c - memory_stacks_history: what each stack held at the moments that the box has kept.
 * Frames are places in files; pfs-mem profile --history has names.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/box/reader_profile.h"
#include "session.h"

#define FRAMES_SHOWN 16u

struct stack_row {
	uint64_t moment, realtime_ns, bytes;
	int64_t blocks; /* below 0: not known */
	uint64_t stack; /* its number plus 1; 0: of none, or of others */
	size_t frames;  /* in texts */
};

/* One block of memory: rows, then texts. */
struct stack_rows {
	uint64_t count;
	char *texts;
	struct stack_row rows[];
};

/* ---- texts ---- */

static bool has(const struct pfs_box_module *module, uint64_t pc)
{
	return pc >= module->begin && pc < module->end;
}

/* The file that had an address when the stack was made; else one that had it at another time. */
static const struct pfs_box_module *module_of(const struct pfs_snapshot *snapshot, uint64_t pc,
					      uint64_t when_ns)
{
	const struct pfs_box_module *found = NULL;
	for (uint32_t i = 0; i < snapshot->module_count; i++) {
		struct pfs_box_module *module = &snapshot->modules[i];
		/* relaxed: a private copy */
		uint64_t gone = pfs_load_relaxed(&module->gone_realtime_ns);
		if (!has(module, pc))
			continue;
		if (module->loaded_realtime_ns <= when_ns && (gone == 0 || gone > when_ns))
			return module;
		found = found != NULL ? found : module;
	}
	return found;
}

static void put_frames(FILE *to, const struct pfs_seen_profile *profile, uint32_t index)
{
	const struct pfs_seen_stack *stack = &profile->stacks[index];
	for (uint32_t i = 0; i < stack->depth && i < FRAMES_SHOWN; i++) {
		uint64_t pc = stack->frames[i] - 1;
		const struct pfs_box_module *module = module_of(profile->snapshot, pc,
								stack->made_realtime_ns);
		const char *slash = module != NULL ? strrchr(module->path, '/') : NULL;
		(void)fprintf(to, "%s%s+0x%llx", i != 0 ? ";" : "",
			      module == NULL  ? ""
			      : slash != NULL ? slash + 1
					      : module->path,
			      (unsigned long long)(module != NULL ? pc - module->begin +
									    module->file_offset
								  : pc));
	}
	if (stack->depth > FRAMES_SHOWN)
		(void)fputs(";...", to);
	(void)fputc('\0', to);
}

/* ---- rows ---- */

static uint64_t row_count(const struct pfs_seen_profile *profile)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < profile->moment_count; i++)
		count += profile->moments[i].count + 2;
	return count;
}

static void add(struct stack_rows *rows, const struct pfs_seen_moment *moment,
		const struct stack_row *of)
{
	struct stack_row *row = &rows->rows[rows->count];
	*row = *of;
	row->moment = moment->number;
	row->realtime_ns = moment->realtime_ns;
	rows->count += row->bytes != 0;
}

static void add_moment(struct stack_rows *rows, const struct pfs_seen_moment *moment,
		       const size_t *texts, uint32_t stacks)
{
	for (uint32_t i = 0; i < moment->count; i++) {
		const struct pfs_seen_held *held = &moment->stacks[i];
		add(rows, moment,
		    &(struct stack_row){ .stack = held->stack + UINT64_C(1),
					 .blocks = held->blocks,
					 .bytes = held->bytes,
					 .frames = texts[held->stack] });
	}
	add(rows, moment,
	    &(struct stack_row){
		    .blocks = -1, .bytes = moment->no_stack_bytes, .frames = texts[stacks] });
	add(rows, moment,
	    &(struct stack_row){
		    .blocks = -1, .bytes = moment->others_bytes, .frames = texts[stacks + 1] });
}

/* Texts of all stacks, then of none and of others; places: where each begins. NULL: no memory. */
static char *make_texts(const struct pfs_seen_profile *profile, size_t *places, size_t *bytes)
{
	char *texts = NULL;
	FILE *to = open_memstream(&texts, bytes);
	if (to == NULL)
		return NULL;
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		places[i] = (size_t)ftell(to);
		put_frames(to, profile, i);
	}
	places[profile->stack_count] = (size_t)ftell(to);
	(void)fprintf(to, "[no stack]%c", '\0');
	places[profile->stack_count + 1] = (size_t)ftell(to);
	(void)fprintf(to, "[stacks that did not fit]%c", '\0');
	if (fclose(to) == 0)
		return texts;
	free(texts);
	return NULL;
}

static struct stack_rows *make_rows(const struct pfs_seen_profile *profile)
{
	size_t bytes = 0, room = sizeof(struct stack_rows) +
				 (size_t)row_count(profile) * sizeof(struct stack_row);
	size_t *places = malloc((profile->stack_count + 2) * sizeof(*places));
	char *texts = places != NULL ? make_texts(profile, places, &bytes) : NULL;
	struct stack_rows *rows = texts != NULL ? malloc(room + bytes) : NULL;
	if (rows != NULL) {
		rows->count = 0;
		rows->texts = (char *)rows + room;
		memcpy(rows->texts, texts, bytes);
		for (uint32_t i = 0; i < profile->moment_count; i++)
			add_moment(rows, &profile->moments[i], places, profile->stack_count);
	}
	free(texts);
	free(places);
	return rows;
}

/* ---- the table ---- */

/* Moments are of the past: reading them a little later than the snapshot changes nothing. */
static uint64_t stacks_limit(const struct pfs_cursor *cursor)
{
	struct pfs_cursor *self = (struct pfs_cursor *)(uintptr_t)cursor;
	const struct pfs_vtab *table = (const struct pfs_vtab *)cursor->base.pVtab;
	struct pfs_message message;
	if (self->own == NULL) {
		struct pfs_seen_profile *profile = pfs_profile_take(table->session->reader,
								    &message);
		if (profile != NULL) {
			pfs_sql_make_text(profile->snapshot);
			self->own = make_rows(profile);
		}
		pfs_profile_free(profile);
	}
	return self->own == NULL ? 0 : ((const struct stack_rows *)self->own)->count;
}

static void stacks_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct stack_rows *rows = cursor->own;
	const struct stack_row *row = &rows->rows[cursor->row];
	switch (column) {
	case 0: pfs_result_number(context, row->moment); break;
	case 1: pfs_result_time(context, row->realtime_ns); break;
	case 2:
		if (row->stack != 0)
			pfs_result_number(context, row->stack - 1);
		break;
	case 3:
		if (row->blocks >= 0)
			pfs_result_number(context, (uint64_t)row->blocks);
		break;
	case 4: pfs_result_number(context, row->bytes); break;
	default: pfs_result_text(context, rows->texts + row->frames);
	}
}

/* clang-format off */
const struct pfs_table pfs_sql_stacks_history = {
	.name = "memory_stacks_history", .schema = "pfs",
	.columns = "MOMENT BIGINT NOT NULL, TIME DATETIME NOT NULL, STACK BIGINT, BLOCKS BIGINT, "
		   "BYTES BIGINT NOT NULL, FRAMES VARCHAR(4096) NOT NULL",
	.row_limit = stacks_limit, .value = stacks_value
};
/* clang-format on */
