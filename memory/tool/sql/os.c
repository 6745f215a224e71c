/*
 * os.c - memory_os: what is resident, and whose it is, in rows that add up.
 *
 * All rows whose PART_OF is 'resident' together are the row resident, by construction: what nobody
 * accounts for is the row unaccounted. It is below zero where memory is counted that was never
 * touched. Of a living program the system's numbers are of now and the program's of its last tick;
 * of a dead one all are of the last tick.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

#define ROWS_MAX 20

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

/* /proc/PID/status of a living program; what it said itself where that cannot be read. */
static void ask_system(const struct pfs_box_info *info, struct system_says *says)
{
	char line[256];
	uint64_t kilobytes;
	(void)snprintf(line, sizeof(line), "/proc/%u/status", info->pid);
	FILE *file = fopen(line, "re");
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		char *at = strchr(line, ':');
		if (at == NULL)
			continue;
		*at = '\0';
		kilobytes = strtoull(at + 1, NULL, 10);
		if (strcmp(line, "VmRSS") == 0)
			says->rss = kilobytes * 1024;
		else if (strcmp(line, "RssFile") == 0)
			says->rss_file = kilobytes * 1024;
		else if (strcmp(line, "RssShmem") == 0)
			says->rss_shmem = kilobytes * 1024;
	}
	(void)fclose(file);
}

#define PART "resident"

static void add_heap(struct sheet *sheet, const struct pfs_box_own *own)
{
	bool has_heap = own->allocated != 0;
	add(sheet, "tracked", PART, true, own->tracked, "asked for, in blocks that are counted");
	add(sheet, "headers", PART, true, own->headers, "in front of these blocks");
	add(sheet, "rounding_and_uncounted", PART, has_heap,
	    beyond(own->allocated, own->tracked + own->headers),
	    "rounding to the allocator's classes; blocks from before the start, not instrumented, "
	    "or not enabled");
	add(sheet, "allocator_cached", PART, has_heap, own->cached, "free, in threads' caches");
	add(sheet, "allocator_slab_free", PART, has_heap, own->slab_free,
	    "free, in slabs of which something is in use");
	add(sheet, "allocator_dirty", PART, has_heap, own->dirty,
	    "free, not yet given back to the system");
	add(sheet, "allocator_metadata", PART, has_heap, own->metadata, "the allocator's own");
}

static void make_sheet(const struct pfs_snapshot *snapshot, struct sheet *sheet)
{
	const struct pfs_box_own *own = &snapshot->own;
	struct system_says says = { own->rss, own->rss_file, own->rss_shmem };
	const char *when = "as the system said at the last tick";
	int64_t sum = 0;
	if (snapshot->info.is_live) {
		ask_system(&snapshot->info, &says);
		when = "as the system says now; the program's own numbers are of its last tick";
	}
	add_heap(sheet, own);
	add(sheet, "box", PART, true, own->box, "the accounts' file");
	add(sheet, "accounts_private", PART, true, own->accounts, "the accounts' other memory");
	add(sheet, "files_mapped", PART, true, says.rss_file, "programs, libraries, other files");
	add(sheet, "shared_memory", PART, true, beyond(says.rss_shmem, own->box),
	    "but for the box");
	add(sheet, "stacks", PART, false, 0, "not known; in unaccounted");
	for (int i = 0; i < sheet->count; i++)
		if (sheet->rows[i].is_known)
			sum = (int64_t)((uint64_t)sum + (uint64_t)sheet->rows[i].bytes);
	add(sheet, "unaccounted", PART, true, says.rss - (uint64_t)sum,
	    own->allocated != 0 ?
		    "stacks, memory that the program maps itself; below zero: counted memory that "
		    "was never touched" :
		    "stacks, what the allocator has beside the blocks that are counted; below "
		    "zero: counted memory that was never touched");
	add(sheet, "resident", NULL, true, says.rss, when);
	add(sheet, "allocator_mapped", NULL, own->mapped != 0, own->mapped,
	    "addresses, resident or not");
	add(sheet, "blocks", NULL, true, own->blocks, "not bytes: how many are counted");
}

static uint64_t os_limit(const struct pfs_cursor *cursor)
{
	struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	if (!self->snapshot->has_own)
		return 0; /* no tick yet */
	if (self->own == NULL) {
		self->own = calloc(1, sizeof(struct sheet));
		if (self->own != NULL)
			make_sheet(self->snapshot, self->own);
	}
	return self->own == NULL ? 0 : (uint64_t)((struct sheet *)self->own)->count;
}

static bool os_there(struct pfs_cursor *cursor, uint64_t *row)
{
	(void)cursor;
	(void)row;
	return true;
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

const struct pfs_table pfs_sql_os = {
	.name = "memory_os", .schema = "pfs",
	.columns = "NAME VARCHAR(64) NOT NULL, BYTES BIGINT, PART_OF VARCHAR(64), "
		   "NOTE VARCHAR(256)",
	.row_limit = os_limit, .there = os_there, .value = os_value
};
