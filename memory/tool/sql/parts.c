/*
 * parts.c - one list of all that a program's memory consists of.
 *
 * The rows of kind heap are exact, and of now. All others are of the last tick, as memory_os has
 * them. What was mapped since then is counted in full: memory that a program maps without malloc is
 * mostly for objects that it writes at once. A mapping beyond the machine's memory is a
 * reservation, and is not.
 */
#define _GNU_SOURCE
#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

#define OTHERS 9u

static int most_first(const void *one, const void *other)
{
	const struct pfs_part *a = one, *b = other;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->high_bytes != b->high_bytes)
		return a->high_bytes < b->high_bytes ? 1 : -1;
	return a->name < b->name ? -1 : 1;
}

static void add(struct pfs_parts *self, const struct pfs_part *part)
{
	self->parts[self->count++] = *part;
	self->has_estimate |= part->is_estimate;
}

static void take_heap(struct pfs_parts *self, const struct pfs_snapshot *snapshot)
{
	struct pfs_row row;
	for (uint64_t i = 0; pfs_snapshot_row(snapshot, PFS_TABLE_GLOBAL, i, &row); i++) {
		add(self, &(struct pfs_part){ .kind = "heap",
					      .name = snapshot->instruments[row.instrument].name,
					      .bytes = row.current_bytes,
					      .high_bytes = row.high_bytes,
					      .is_high_exact = row.is_high_bytes_exact,
					      .count = row.current_count,
					      .allocs = row.count_alloc });
		self->heap_bytes =
			(int64_t)((uint64_t)self->heap_bytes + (uint64_t)row.current_bytes);
	}
}

static int64_t machine_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	return pages > 0 && bytes > 0 ? (int64_t)pages * bytes : INT64_MAX;
}

static void take_mapped(struct pfs_parts *self, const struct pfs_snapshot *snapshot)
{
	int64_t most = machine_bytes();
	for (uint32_t i = 0; i < snapshot->mapper_count; i++) {
		const struct pfs_box_mapper *one = &snapshot->mappers[i];
		int64_t fresh = (int64_t)(one->mapped - one->measured_mapped);
		int64_t bytes = (int64_t)one->resident;
		bool is_fresh = one->mapped > one->measured_mapped && fresh <= most;
		if (one->ranges == 0)
			continue;
		if (is_fresh)
			bytes = (int64_t)((uint64_t)bytes + (uint64_t)fresh);
		if (bytes < 0 || bytes > (int64_t)one->mapped)
			bytes = (int64_t)one->mapped;
		add(self, &(struct pfs_part){ .kind = "mapped",
					      .name = one->name,
					      .bytes = bytes,
					      .count = (int64_t)one->ranges,
					      .is_estimate = is_fresh });
	}
}

static void add_known(struct pfs_parts *self, const char *kind, const char *name, uint64_t bytes)
{
	if (bytes != 0 && (int64_t)bytes > 0)
		add(self,
		    &(struct pfs_part){ .kind = kind, .name = name, .bytes = (int64_t)bytes });
}

/* Of the allocated bytes, those that nobody asked for, as far as they are resident: large blocks
 * end in pages that were never touched. */
static uint64_t rounding_of(const struct pfs_box_own *own, uint64_t spare)
{
	uint64_t asked = own->tracked + own->headers + own->accounts;
	uint64_t rounding = own->allocated > asked ? own->allocated - asked : 0;
	uint64_t found = own->heap > asked + spare ? own->heap - asked - spare : 0;
	return own->measured_realtime_ns != 0 && found < rounding ? found : rounding;
}

/* What is resident besides blocks and mappings, at the last tick. */
static void take_others(struct pfs_parts *self, const struct pfs_box_own *own)
{
	uint64_t spare = own->cached + own->slab_free + own->dirty + own->metadata;
	/* The box is shared memory, or a mapped file if its folder is on a disk. */
	bool is_shared = own->rss_shmem >= own->box;
	uint64_t shared = is_shared ? own->rss_shmem - own->box : own->rss_shmem;
	uint64_t files = is_shared || own->rss_file < own->box ? own->rss_file
							       : own->rss_file - own->box;
	add_known(self, "allocator", "free blocks and pages", spare);
	add_known(self, "allocator", "rounding to size classes; uncounted blocks",
		  rounding_of(own, spare));
	add_known(self, "stacks", "stacks of threads", own->stacks);
	add_known(self, "files", "programs, libraries, mapped files", files);
	add_known(self, "files", "private pages of files: .data, .bss", own->files_changed);
	add_known(self, "brk", "heap of brk, not used by malloc", own->brk);
	add_known(self, "shared", "shared memory", shared);
	add_known(self, "counting", "the box and the library's tables",
		  own->box + own->library + own->accounts);
}

/* At the tick: of the resident set, what no part has. */
static void take_unknown(struct pfs_parts *self, const struct pfs_box_own *own)
{
	uint64_t heap = own->heap > own->tracked ? own->heap : own->tracked;
	uint64_t known = heap + own->program_mapped_resident + own->stacks + own->rss_file +
			 own->files_changed + own->brk + own->rss_shmem + own->library;
	if (own->measured_realtime_ns != 0 && own->rss > known)
		add_known(self, "unknown", "resident without a known owner", own->rss - known);
}

bool pfs_parts_take(struct pfs_parts *self, const struct pfs_snapshot *snapshot)
{
	*self = (struct pfs_parts){ 0 };
	self->parts = calloc(snapshot->instrument_count + (size_t)snapshot->mapper_count + OTHERS,
			     sizeof(*self->parts));
	if (self->parts == NULL)
		return false;
	take_heap(self, snapshot);
	take_mapped(self, snapshot);
	if (snapshot->has_own)
		take_others(self, &snapshot->own);
	for (uint32_t i = 0; i < self->count; i++)
		self->known_bytes =
			(int64_t)((uint64_t)self->known_bytes + (uint64_t)self->parts[i].bytes);
	self->resident = (int64_t)pfs_resident_now(&snapshot->info);
	if (snapshot->has_own)
		take_unknown(self, &snapshot->own);
	if (snapshot->has_own && self->resident == 0)
		self->resident = (int64_t)snapshot->own.rss;
	qsort(self->parts, self->count, sizeof(*self->parts), most_first);
	return true;
}

void pfs_parts_drop(struct pfs_parts *self)
{
	free(self->parts);
}

/* ---- memory_parts ---- */

/* One block, as a cursor frees it. */
struct shown {
	uint32_t count;
	struct pfs_part parts[];
};

static uint64_t parts_limit(const struct pfs_cursor *cursor)
{
	struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	struct pfs_parts parts;
	struct shown *shown = self->own;
	if (shown != NULL)
		return shown->count;
	if (!pfs_parts_take(&parts, self->snapshot))
		return 0;
	shown = calloc(1, sizeof(*shown) + parts.count * sizeof(shown->parts[0]));
	if (shown != NULL) {
		shown->count = parts.count;
		memcpy(shown->parts, parts.parts, parts.count * sizeof(shown->parts[0]));
	}
	self->own = shown;
	pfs_parts_drop(&parts);
	return shown != NULL ? shown->count : 0;
}

static void parts_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_part *part = &((const struct shown *)cursor->own)->parts[cursor->row];
	bool is_heap = strcmp(part->kind, "heap") == 0;
	bool has_count = is_heap || strcmp(part->kind, "mapped") == 0;
	if (column < 2)
		pfs_result_text(context, column == 0 ? part->kind : part->name);
	else if (column == 2)
		sqlite3_result_int64(context, part->bytes);
	else if (column == 4 && has_count)
		sqlite3_result_int64(context, part->count);
	else if ((column == 3 || column == 5) && is_heap)
		sqlite3_result_int64(context, column == 3 ? part->high_bytes : part->allocs);
	else if (column == 6)
		pfs_result_text(context, part->is_estimate ? "YES" : "NO");
}

/* clang-format off */
const struct pfs_table pfs_sql_parts = {
	.name = "memory_parts", .schema = "pfs",
	.columns = "KIND VARCHAR(16) NOT NULL, NAME VARCHAR(128) NOT NULL, BYTES BIGINT NOT NULL, "
		   "HIGH_BYTES BIGINT, BLOCKS BIGINT, ALLOCATIONS BIGINT, "
		   "AT_MOST VARCHAR(3) NOT NULL",
	.parts = PFS_SNAPSHOT_ROWS,
	.row_limit = parts_limit, .value = parts_value
};
/* clang-format on */
