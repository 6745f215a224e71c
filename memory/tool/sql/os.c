/*
 * os.c - memory_os: the parts of the resident set, which add up; memory_mapped: who maps memory
 * directly.
 *
 * The rows whose PART_OF is 'resident' add up to the row resident by construction: the row
 * unaccounted is the rest. Once the page tables were measured, resident and the rows that are not
 * counts are of that moment: a program moves between a measurement and the next tick. Before the
 * first tick the rows come from the cells and the system, now.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "session.h"

#define ROWS_MAX 32

struct row {
	const char *name, *part_of, *note;
	bool is_known;
	int64_t bytes;
};

struct sheet {
	int count;
	struct row rows[ROWS_MAX];
};

struct system_says {
	uint64_t rss, rss_file, rss_shmem;
};

static void add(struct sheet *sheet, const char *name, const char *part_of, bool is_known,
		uint64_t bytes, const char *note)
{
	if (sheet->count < ROWS_MAX)
		sheet->rows[sheet->count++] = (struct row){ name, part_of, note, is_known,
							    (int64_t)bytes };
}

static uint64_t beyond(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

/* /proc/PID/status of a living program. */
static void ask_system(const struct pfs_box_info *info, struct system_says *says)
{
	char line[256];
	(void)snprintf(line, sizeof(line), "/proc/%u/status", info->pid);
	FILE *file = fopen(line, "re");
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		char *at = strchr(line, ':');
		if (at == NULL)
			continue;
		*at = '\0';
		uint64_t bytes = strtoull(at + 1, NULL, 10) * 1024;
		if (strcmp(line, "VmRSS") == 0)
			says->rss = bytes;
		else if (strcmp(line, "RssFile") == 0)
			says->rss_file = bytes;
		else if (strcmp(line, "RssShmem") == 0)
			says->rss_shmem = bytes;
	}
	(void)fclose(file);
}

uint64_t pfs_resident_now(const struct pfs_box_info *info)
{
	struct system_says says = { 0 };
	if (info->is_live)
		ask_system(info, &says);
	return says.rss;
}

#define PART "resident"

/* The library's own blocks are part of what it allocated, so they are not added. */
static void add_heap(struct sheet *sheet, const struct pfs_box_own *own)
{
	bool has_heap = own->allocated != 0;
	add(sheet, "tracked", PART, true, own->tracked, "requested bytes of counted blocks");
	add(sheet, "headers", PART, true, own->headers, "headers of counted blocks");
	add(sheet, "rounding_and_uncounted", PART, has_heap,
	    beyond(own->allocated, own->tracked + own->headers + own->accounts),
	    "rounding to the allocator's classes; blocks from before the start, not instrumented, "
	    "or not enabled");
	add(sheet, "allocator_cached", PART, has_heap, own->cached, "free, in threads' caches");
	add(sheet, "allocator_slab_free", PART, has_heap, own->slab_free,
	    "free, in slabs with a block in use");
	add(sheet, "allocator_dirty", PART, has_heap, own->dirty,
	    "free, not yet given back to the system");
	add(sheet, "allocator_metadata", PART, has_heap, own->metadata, "the allocator's own");
	add(sheet, "accounts_private", PART, true, own->accounts, "the accounts' other memory");
}

static int64_t sum_of(const struct sheet *sheet)
{
	uint64_t sum = 0;
	for (int i = 0; i < sheet->count; i++)
		if (sheet->rows[i].is_known)
			sum += (uint64_t)sheet->rows[i].bytes;
	return (int64_t)sum;
}

/* The rows so far are counted by the heap's owners; less or more of that is resident. */
static void add_found(struct sheet *sheet, const struct pfs_box_own *own)
{
	bool is_found = own->measured_realtime_ns != 0;
	int64_t more = (int64_t)(own->heap - (uint64_t)sum_of(sheet));
	if (!is_found)
		more = 0;
	add(sheet, "heap_not_resident", PART, is_found, (uint64_t)(more < 0 ? more : 0),
	    "negative: bytes of the rows above that were never touched, are swapped out, or came "
	    "after the measurement");
	add(sheet, "heap_tables", PART, is_found, (uint64_t)(more > 0 ? more : 0),
	    "the allocator's page map, and what it gave back after the measurement");
	add(sheet, "library_data", PART, is_found, own->library, "tables of the counting library");
	add(sheet, "program_mapped_resident", PART, is_found, own->program_mapped_resident,
	    "mapped by the program and its libraries: see memory_mapped");
	add(sheet, "stacks", PART, is_found, own->stacks,
	    is_found ? "of threads that allocated, and of the main thread"
		     : "unknown; part of unaccounted");
	add(sheet, "files_changed", PART, is_found, own->files_changed,
	    "private pages of mapped files: .data, .bss");
	add(sheet, "brk_heap", PART, is_found, own->brk, "from brk, not by the allocator");
}

static const char *what_is_left(const struct pfs_box_own *own)
{
	if (own->measured_realtime_ns != 0)
		return "memory without a known owner: the loader's, stacks of threads that never "
		       "allocated, changes during the reading";
	return own->allocated != 0 ? "stacks, memory that the program maps itself; negative: "
				     "counted memory that was never touched"
				   : "stacks, the allocator's memory outside counted blocks; "
				     "negative: counted memory that was never touched";
}

/* No tick yet. */
static struct pfs_box_own own_of_cells(const struct pfs_snapshot *snapshot)
{
	struct pfs_box_own own = { 0 };
	struct pfs_row row;
	for (uint64_t i = 0; pfs_snapshot_row(snapshot, PFS_TABLE_GLOBAL, i, &row); i++) {
		own.tracked += (uint64_t)row.current_bytes;
		own.blocks += (uint64_t)row.current_count;
	}
	return own;
}

/* The box's pages are among those of files, or of shared memory. */
static void add_system(struct sheet *sheet, const struct pfs_box_info *info,
		       const struct pfs_box_own *own, const struct system_says *says)
{
	bool is_known = says->rss != 0;
	uint64_t in_files = info->is_on_disk ? own->box : 0;
	add(sheet, "files_mapped", PART, is_known, beyond(says->rss_file, in_files),
	    "programs, libraries, other files, without the box");
	add(sheet, "shared_memory", PART, is_known, beyond(says->rss_shmem, own->box - in_files),
	    "without the box");
	add(sheet, "unaccounted", PART, is_known, says->rss - (uint64_t)sum_of(sheet),
	    what_is_left(own));
}

/* resident, and how far to trust it. */
static void add_whole(struct sheet *sheet, const struct pfs_snapshot *snapshot,
		      const struct pfs_box_own *own, const struct system_says *says)
{
	bool is_live = snapshot->info.is_live, is_measured = own->measured_rss != 0;
	add(sheet, "resident", NULL, says->rss != 0, says->rss,
	    is_measured         ? "from the system, when the page tables were last measured"
	    : snapshot->has_own ? "from the system, at the last tick"
	    : is_live           ? "from the system, now: there was no tick yet"
				: "unknown: there was no tick");
	add(sheet, "resident_moved", NULL, is_measured, own->measured_moved,
	    "by how much resident changed during that measurement: unaccounted may be off by it");
	add(sheet, "resident_at_tick", NULL, snapshot->has_own && own->rss != 0, own->rss,
	    "from the system, at the last tick");
}

static void make_sheet(const struct pfs_snapshot *snapshot, struct sheet *sheet)
{
	struct pfs_box_own own = snapshot->own;
	struct system_says now = { 0 }, says = { own.rss, own.rss_file, own.rss_shmem };
	bool is_live = snapshot->info.is_live;
	if (is_live)
		ask_system(&snapshot->info, &now);
	if (!snapshot->has_own) {
		own = own_of_cells(snapshot);
		says = now;
	} else if (own.measured_rss != 0)
		says = (struct system_says){ own.measured_rss, own.measured_rss_file,
					     own.measured_rss_shmem };
	add_heap(sheet, &own);
	add_found(sheet, &own);
	add(sheet, "box", PART, snapshot->has_own, own.box, "the accounts' file");
	add_system(sheet, &snapshot->info, &own, &says);
	add_whole(sheet, snapshot, &own, &says);
	add(sheet, "resident_now", NULL, is_live && now.rss != 0, now.rss, "from the system, now");
	add(sheet, "program_mapped", NULL, own.measured_realtime_ns != 0, own.program_mapped,
	    "address space, resident or not");
	add(sheet, "allocator_mapped", NULL, own.mapped != 0, own.mapped,
	    "address space, resident or not");
	add(sheet, "blocks", NULL, true, own.blocks, "a count, not bytes: counted blocks");
}

static uint64_t os_limit(const struct pfs_cursor *cursor)
{
	struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	if (self->own == NULL) {
		self->own = calloc(1, sizeof(struct sheet));
		if (self->own != NULL)
			make_sheet(self->snapshot, self->own);
	}
	return self->own == NULL ? 0 : (uint64_t)((struct sheet *)self->own)->count;
}

static void os_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct row *row = &((struct sheet *)cursor->own)->rows[cursor->row];
	if (column == 0)
		pfs_result_text(context, row->name);
	else if (column == 1 && row->is_known)
		sqlite3_result_int64(context, row->bytes);
	else if (column > 1)
		pfs_result_text(context, column == 2 ? row->part_of : row->note);
}

/* clang-format off */
const struct pfs_table pfs_sql_os = {
	.name = "memory_os", .schema = "pfs",
	.columns = "NAME VARCHAR(64) NOT NULL, BYTES BIGINT, PART_OF VARCHAR(64), "
		   "NOTE VARCHAR(256)",
	.parts = PFS_SNAPSHOT_ROWS,
	.row_limit = os_limit, .value = os_value
};
/* clang-format on */

/* ---- memory_mapped ---- */

static uint64_t mapped_limit(const struct pfs_cursor *cursor)
{
	return cursor->snapshot->mapper_count;
}

static bool mapped_there(struct pfs_cursor *cursor, uint64_t *row)
{
	return cursor->snapshot->mappers[*row].ranges != 0;
}

static void mapped_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_box_mapper *one = &cursor->snapshot->mappers[cursor->row];
	if (column == 0)
		pfs_result_text(context, one->name);
	else if (column < 3 || one->measured_realtime_ns != 0)
		pfs_result_number(context, column == 1   ? one->ranges
					   : column == 2 ? one->mapped
							 : one->resident);
}

/* clang-format off */
const struct pfs_table pfs_sql_mapped = {
	.name = "memory_mapped", .schema = "pfs",
	.columns = "NAME VARCHAR(128) NOT NULL, RANGES BIGINT NOT NULL, "
		   "MAPPED_BYTES BIGINT NOT NULL, RESIDENT_BYTES BIGINT",
	.row_limit = mapped_limit, .there = mapped_there, .value = mapped_value
};
/* clang-format on */
