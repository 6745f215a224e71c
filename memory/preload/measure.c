/*
 * measure.c - measure resident memory and attribute it. /proc/self/maps lists the mappings, the
 * table of mapped.h their owners, and /proc/self/pagemap the resident and the private pages.
 *
 * Ordering:  [PL7] is_looking: CAS, acquire  <->  [PL8] is_looking: store, release
 *            carries: the state that the last measurement left
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "areas.h"
#include "counter.h"
#include "mapped.h"
#include "base/now.h"
#include "memory/books/books.h"

#define SHARE 100u                     /* one part of the elapsed time is for measurements */
#define PAGES_MOST (UINT64_C(4) << 20) /* of one measurement; pages beyond are not attributed */
#define READ_ONLY_MOST (16u << 20)     /* larger read-only areas are data without private pages */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_OF_FILE (UINT64_C(1) << 61)
#define ENTRIES 4096u
#define LOOKS_MOST 3 /* of one measurement */
#define STEADY 100u  /* a change of resident memory by less than one part of it is none */

/* One measurement. All under is_looking. */
static struct look {
	int pagemap; /* below 0: use mincore */
	uint64_t pages_left;
	uint32_t stacks;    /* pfs_mapped_stacks() at its start */
	uintptr_t last_end; /* of the previous area */
	uintptr_t file_end; /* end of the last file area, with the .bss after it */
	struct pfs_box_own own;
	struct pfs_box_mapper mappers[PFS_BOX_MAPPERS_MAX];
	uint32_t mapper_count;
	uint64_t lost; /* ranges of mappings */
} look PFS_SELDOM;
static _Atomic(uint32_t) is_looking;
static uint64_t due_ns;                      /* is_looking */
static char text[8192] PFS_SELDOM;           /* is_looking */
static uint64_t entries[ENTRIES] PFS_SELDOM; /* is_looking */
static struct pfs_box_own found PFS_SELDOM;  /* by pfs_bytes_store and load */

/* ---- pages ---- */

static uint64_t count_entries(size_t pages, uint64_t wanted)
{
	uint64_t count = 0;
	for (size_t i = 0; i < pages; i++)
		count += (entries[i] & (PAGE_PRESENT | PAGE_OF_FILE)) == wanted;
	return count;
}

static uint64_t count_bytes(size_t pages)
{
	uint64_t count = 0;
	for (size_t i = 0; i < pages; i++)
		count += ((const unsigned char *)entries)[i] & 1;
	return count;
}

/* Resident bytes; wanted: PAGE_PRESENT for private pages, with PAGE_OF_FILE for shared ones. */
static uint64_t resident(uintptr_t begin, uintptr_t end, uint64_t wanted)
{
	uint64_t count = 0;
	while (begin < end && look.pages_left > 0) {
		size_t pages = (end - begin) / PFS_OS_PAGE;
		if (pages > ENTRIES)
			pages = ENTRIES;
		if (look.pagemap < 0) {
			void *first = (void *)begin; /* NOLINT: an address */
			if (mincore(first, pages * PFS_OS_PAGE, (unsigned char *)entries) == 0)
				count += count_bytes(pages);
		} else {
			ssize_t got = pread(look.pagemap, entries, pages * sizeof(entries[0]),
					    (off_t)(begin / PFS_OS_PAGE * sizeof(entries[0])));
			if (got > 0)
				count += count_entries((size_t)got / sizeof(entries[0]), wanted);
		}
		begin += pages * PFS_OS_PAGE;
		look.pages_left -= pages < look.pages_left ? pages : look.pages_left;
	}
	return count * PFS_OS_PAGE;
}

/* ---- areas ---- */

static bool is_box(const struct pfs_area *area)
{
	const struct pfs_box *box = &pfs_program.books->box;
	return !box->is_private && area->begin >= (uintptr_t)box->base &&
	       area->end <= (uintptr_t)box->base + box->bytes;
}

/* Attributes a range that is mapped without a file. */
static void look_at_piece(const struct pfs_range *piece)
{
	uint64_t bytes = resident(piece->begin, piece->end, PAGE_PRESENT);
	if (piece->whose == PFS_WHOSE_OWN) {
		look.own.heap += bytes;
		return;
	}
	look.mappers[piece->whose - PFS_WHOSE_MAPPER].resident += bytes;
	look.own.program_mapped_resident += bytes;
}

/* Attributes the known ranges of an area. True: a stack is among them. */
static bool look_at_pieces(const struct pfs_area *area)
{
	struct pfs_range piece;
	bool has_stack = false;
	uintptr_t at = area->begin;
	for (; pfs_mapped_piece(at, area->end, &piece); at = piece.end) {
		if (piece.whose == PFS_WHOSE_STACK)
			has_stack = true;
		else if (area->has_access)
			look_at_piece(&piece);
	}
	return has_stack;
}

/* Resident bytes outside the known ranges. Stack ranges are included: they only mark the area. */
static uint64_t resident_rest(const struct pfs_area *area)
{
	struct pfs_range piece;
	uint64_t bytes = 0;
	uintptr_t at = area->begin;
	while (pfs_mapped_piece(at, area->end, &piece)) {
		bool is_rest = piece.whose == PFS_WHOSE_STACK;
		bytes += resident(at, is_rest ? piece.end : piece.begin, PAGE_PRESENT);
		at = piece.end;
	}
	return bytes + resident(at, area->end, PAGE_PRESENT);
}

/* An area without a file. Its rest is the preceding file's .bss, or stacks, or not attributed. */
static void look_at_memory(const struct pfs_area *area)
{
	bool has_stack = look_at_pieces(area);
	if (strcmp(area->name, "[heap]") == 0)
		look.own.brk += resident_rest(area);
	else if (has_stack || strncmp(area->name, "[stack", 6) == 0)
		look.own.stacks += resident_rest(area);
	else if (area->begin == look.file_end && pfs_mapped_is_library(area->begin))
		look.own.library += resident_rest(area);
	else if (area->begin == look.file_end)
		look.own.files_changed += resident_rest(area);
	if (area->begin == look.file_end)
		look.file_end = area->end;
}

static void look_at_file(const struct pfs_area *area)
{
	look.file_end = area->end;
	if (area->is_code && !area->is_writable)
		return;
	if (!area->is_writable && area->end - area->begin > READ_ONLY_MOST)
		return;
	uint64_t bytes = resident(area->begin, area->end, PAGE_PRESENT);
	if (pfs_mapped_is_library(area->begin))
		look.own.library += bytes;
	else
		look.own.files_changed += bytes;
}

static void look_at(const struct pfs_area *area, void *unused)
{
	(void)unused;
	pfs_mapped_gone(look.last_end, area->begin, look.stacks);
	look.last_end = area->end;
	if (look.pagemap < 0 && (area->is_file || area->is_shared))
		look.file_end = area->end; /* mincore cannot tell private pages from the file's */
	else if (is_box(area))
		look.own.box += resident(area->begin, area->end, PAGE_PRESENT | PAGE_OF_FILE);
	else if (area->is_shared)
		return;
	else if (area->is_file)
		look_at_file(area);
	else if (area->name[0] != '[' || strncmp(area->name, "[anon", 5) == 0 ||
		 strncmp(area->name, "[stack", 6) == 0 || strcmp(area->name, "[heap]") == 0)
		look_at_memory(area);
}

/* ---- a measurement ---- */

/* False: not all areas could be read. */
static bool look_once(void)
{
	struct pfs_system_rss before, after;
	memset(&look, 0, sizeof(look));
	look.pages_left = PAGES_MOST;
	pfs_system_rss(&before);
	look.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	look.stacks = pfs_mapped_stacks();
	look.mapper_count = pfs_mapped_sums(look.mappers, &look.lost);
	for (uint32_t i = 0; i < look.mapper_count; i++)
		look.own.program_mapped += look.mappers[i].mapped;
	bool is_whole = pfs_areas_read(text, sizeof(text), look_at, NULL);
	if (look.pagemap >= 0)
		(void)close(look.pagemap);
	pfs_system_rss(&after);
	look.own.measured_realtime_ns = pfs_box_now_ns();
	look.own.measured_rss = after.all;
	look.own.measured_rss_file = after.file;
	look.own.measured_rss_shmem = after.shmem;
	look.own.measured_moved = after.all > before.all ? after.all - before.all
							 : before.all - after.all;
	return is_whole;
}

static void write_look(void)
{
	/* relaxed: a count */
	pfs_store_relaxed(&pfs_program.books->box.head->lost[PFS_LOST_MAPPED], look.lost);
	pfs_mapped_measured(look.mappers, look.mapper_count, look.own.measured_realtime_ns);
	pfs_bytes_store(&found, &look.own, sizeof(found));
}

/* The program runs meanwhile. If its resident memory changed much, looks again, and keeps the look
 * during which it changed least. */
static void look_until_steady(void)
{
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < LOOKS_MOST && look_once(); i++) {
		uint64_t moved = look.own.measured_moved;
		if (moved < least)
			write_look();
		if (moved < least)
			least = moved;
		if (moved <= look.own.measured_rss / STEADY)
			break;
	}
}

void pfs_measure(void)
{
	uint32_t before = 0;
	/* [PL7] acquire, pairs with [PL8]: the state that the last measurement left. */
	if (!pfs_cas_acquire(&is_looking, &before, 1))
		return;
	int errno_before = errno;
	if (pfs_now_ns(CLOCK_MONOTONIC) >= due_ns) {
		/* Measure CPU time of this thread: the program may be using all processors. */
		uint64_t begin_ns = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID);
		look_until_steady();
		uint64_t took_ns = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
		due_ns = pfs_now_ns(CLOCK_MONOTONIC) + took_ns * (SHARE - 1);
	}
	errno = errno_before;
	pfs_store_release(&is_looking, 0); /* [PL8] release, pairs with [PL7] */
}

void pfs_measured(struct pfs_box_own *own)
{
	struct pfs_box_own last;
	pfs_bytes_load(&last, &found, sizeof(last));
	if (last.measured_realtime_ns == 0)
		return;
	own->measured_realtime_ns = last.measured_realtime_ns;
	own->measured_rss = last.measured_rss;
	own->measured_rss_file = last.measured_rss_file;
	own->measured_rss_shmem = last.measured_rss_shmem;
	own->measured_moved = last.measured_moved;
	own->heap = last.heap;
	own->library = last.library;
	own->program_mapped = last.program_mapped;
	own->program_mapped_resident = last.program_mapped_resident;
	own->stacks = last.stacks;
	own->files_changed = last.files_changed;
	own->brk = last.brk;
	if (last.box != 0)
		own->box = last.box;
}

/* In a forked child: the parent's measuring thread is not here, and its results do not apply. */
void pfs_measure_child(void)
{
	pfs_store_release(&is_looking, 0); /* [PL8] release, pairs with [PL7] */
	due_ns = 0;
	memset(&found, 0, sizeof(found));
}
