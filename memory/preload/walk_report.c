/*
 * walk_report.c - walk over all blocks in use, and add them up by the cells that their tags name.
 *
 * The walk holds the desk, so that no cell named by a tag is folded. The report is written after
 * the desk is released, because a thread that holds the lock of a FILE may wait for the desk.
 *
 * Ordering:  [PL11] is_walking: CAS, acquire  <->  [PL12] is_walking: store, release
 *            carries: the table, from one walk to the next
 */
#define _GNU_SOURCE
#include <pfslab/malloc.h>
#include <pfslab/memory_walk.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counter.h"
#include "tag.h"

#define LINES_MOST 4096u
#define ACCOUNTS_MOST 257u
#define OTHERS UINT32_MAX

struct line {
	uint32_t instrument, account; /* references; 0: none; OTHERS */
	uint64_t class_bytes;
	uint64_t blocks, bytes; /* blocks 0: free */
};

/* All is under is_walking. */
static struct line lines[LINES_MOST + 1] PFS_SELDOM;
static char users[ACCOUNTS_MOST][PFS_BOX_USER_BYTES] PFS_SELDOM;
static char instruments[PFS_BOX_INSTRUMENTS_MAX + 1][PFS_BOX_NAME_BYTES] PFS_SELDOM;
static _Atomic(uint32_t) is_walking;

void pfs_walk_child(void)
{
	pfs_store_relaxed(&is_walking, 0); /* relaxed: one thread */
}

static struct line *line_of(uint32_t instrument, uint32_t account, uint64_t class_bytes)
{
	uint64_t hash = (instrument * UINT64_C(0x9E3779B97F4A7C15)) ^
			(account * UINT64_C(0xC2B2AE3D27D4EB4F)) ^
			(class_bytes * UINT64_C(0x165667B19E3779F9));
	for (uint32_t i = 0; i < 64; i++) {
		struct line *line = &lines[((hash >> 40) + i) % LINES_MOST];
		if (line->blocks == 0)
			*line = (struct line){ instrument, account, class_bytes, 0, 0 };
		if (line->instrument == instrument && line->account == account &&
		    line->class_bytes == class_bytes)
			return line;
	}
	lines[LINES_MOST].instrument = lines[LINES_MOST].account = OTHERS;
	return &lines[LINES_MOST];
}

/* The instrument, account and requested size of a block in use, from its tag. Under the desk. */
static void look(const void *block, uint32_t *instrument, uint32_t *account, uint64_t *bytes)
{
	struct pfs_extent *extent = pfs_tagged_extent(block);
	const uint32_t *tag = extent != NULL ? pfs_tag_at(extent, block) : NULL;
	uint32_t value = tag != NULL ? *tag : 0; /* the owner's: it may be stale */
	if (value >> PFS_SLACK_BITS == 0)
		return;
	const struct pfs_cell *cell = pfs_tagged_cell(value);
	if (cell == NULL)
		return;
	*instrument = cell->instrument;
	*account = cell->account;
	*bytes = pfs_tagged_bytes(extent, value);
}

static bool visit(const struct pfs_malloc_block *block, void *context)
{
	uint32_t instrument = 0, account = 0;
	uint64_t bytes = block->size_bytes;
	(void)context;
	look(block->block, &instrument, &account, &bytes);
	if (instrument > PFS_BOX_INSTRUMENTS_MAX || account >= ACCOUNTS_MOST)
		instrument = account = 0;
	struct line *line = line_of(instrument, account, block->size_bytes);
	line->blocks++;
	line->bytes += bytes;
	return true;
}

/* ---- names, under the desk ---- */

static const void *record_of(const struct pfs_books *books, enum pfs_shelves shelf,
			     uint32_t reference)
{
	return pfs_box_record(&books->box, books->shelves[shelf].region, reference);
}

static void take_names(const struct pfs_books *books)
{
	for (uint32_t i = 0; i < LINES_MOST; i++) {
		const struct line *line = &lines[i];
		if (line->blocks == 0 || line->instrument == 0)
			continue;
		const struct pfs_box_instrument *instrument =
			record_of(books, PFS_SHELF_INSTRUMENTS, line->instrument);
		memcpy(instruments[line->instrument], instrument->name, PFS_BOX_NAME_BYTES);
		if (line->account == 0)
			continue;
		const struct pfs_box_account *account = record_of(books, PFS_SHELF_ACCOUNTS,
								  line->account);
		memcpy(users[line->account], account->user_name, PFS_BOX_USER_BYTES);
	}
}

/* ---- the report ---- */

static int larger_first(const void *one, const void *other)
{
	const struct line *a = one, *b = other;
	return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : 0;
}

static void print(FILE *to, const struct line *line)
{
	bool is_others = line->instrument == OTHERS;
	const char *instrument = is_others               ? "(others)"
				 : line->instrument == 0 ? "-"
							 : instruments[line->instrument];
	const char *account = is_others || line->account == 0 ? "-" : users[line->account];
	(void)fprintf(to, "%s\t%s\t%llu\t%llu\t%llu\n", instrument, account,
		      (unsigned long long)line->class_bytes, (unsigned long long)line->blocks,
		      (unsigned long long)line->bytes);
}

static void print_all(FILE *to)
{
	uint64_t blocks = 0, bytes = 0;
	qsort(lines, LINES_MOST + 1, sizeof(lines[0]), larger_first);
	(void)fprintf(to, "INSTRUMENT\tACCOUNT\tCLASS_BYTES\tBLOCKS\tBYTES\n");
	for (uint32_t i = 0; i <= LINES_MOST; i++) {
		if (lines[i].blocks == 0)
			continue;
		print(to, &lines[i]);
		blocks += lines[i].blocks;
		bytes += lines[i].bytes;
	}
	(void)fprintf(to, "total\t-\t-\t%llu\t%llu\n", (unsigned long long)blocks,
		      (unsigned long long)bytes);
}

bool pfs_report_begin(void)
{
	uint32_t none = 0;
	return pfs_cas_acquire(&is_walking, &none, 1); /* [PL11] acquire, pairs with [PL12] */
}

uint64_t pfs_report_walk(void)
{
	memset(lines, 0, sizeof(lines));
	pfs_desk_open(pfs_program.books);
	uint64_t visited = pfs_malloc_walk(visit, NULL);
	take_names(pfs_program.books);
	pfs_desk_close(pfs_program.books);
	return visited;
}

void pfs_report_end(FILE *to)
{
	if (to != NULL)
		print_all(to);
	pfs_store_release(&is_walking, 0); /* [PL12] release, pairs with [PL11] */
}

/* ---- requests by readers ---- */

/* The requester creates the file and removes it, so no file is left behind. */
static FILE *open_asked(void)
{
	char path[PFS_BOX_PATH_BYTES + sizeof(PFS_BOX_WALK_END)];
	const char *box = pfs_memory_path(pfs_program.books);
	if (box == NULL || strlen(box) >= PFS_BOX_PATH_BYTES)
		return NULL;
	(void)snprintf(path, sizeof(path), "%s%s", box, PFS_BOX_WALK_END);
	int file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *to = file >= 0 ? fdopen(file, "w") : NULL;
	if (to == NULL && file >= 0)
		(void)close(file);
	return to;
}

void pfs_walk_if_asked(void)
{
	static uint32_t answered; /* only by the ticker */
	/* relaxed: a count; the requester waits for the file. */
	uint32_t asked = pfs_load_relaxed(&pfs_program.books->control->walks);
	if (pfs_likely(asked == answered) || !pfs_program.is_exact || !pfs_report_begin())
		return;
	answered = asked;
	FILE *to = open_asked();
	if (to != NULL)
		(void)pfs_report_walk();
	pfs_report_end(to);
	if (to != NULL)
		(void)fclose(to);
}
