#define _GNU_SOURCE
#include "keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "layout.h"
#include "place.h"

#define KEEP_DEAD 32u
#define NEWEST_PART 4u   /* one part of them are for the newest */
#define YOUNG_SECONDS 10 /* such a file may not be locked yet, unless its program has execed */
#define PAGE_BYTES_MOST (1u << 20)
#define CELLS_BYTES_MOST (UINT64_C(1) << 30)

static uint32_t dead_to_keep(void)
{
	const char *text = secure_getenv("PFS_MEM_KEEP_DEAD");
	char *end;
	if (text == NULL || text[0] < '0' || text[0] > '9')
		return KEEP_DEAD;
	unsigned long number = strtoul(text, &end, 10);
	return *end == '\0' && number <= UINT32_MAX ? (uint32_t)number : KEEP_DEAD;
}

/* ---- what a dead program held; its box may be damaged ---- */

static const struct pfs_box_region *region_of(const struct pfs_box_head *head,
					      enum pfs_box_kind kind)
{
	for (uint32_t i = 0; i < head->region_count && i < PFS_BOX_REGIONS_MAX; i++)
		if (head->regions[i].kind == (uint32_t)kind)
			return &head->regions[i];
	return NULL;
}

/* Those of users and hosts are also included in the global one. Free records have a sum of 0. */
static uint64_t bytes_of(const struct pfs_cell *cell)
{
	if (cell->level == PFS_CELL_OF_USER || cell->level == PFS_CELL_OF_HOST)
		return 0;
	struct pfs_cell *own = (struct pfs_cell *)(uintptr_t)cell;
	/* relaxed, all: of a private copy. */
	return pfs_load_relaxed(&own->alloc_bytes) -
	       pfs_load_relaxed(&own->free_bytes) -   /* relaxed: as above */
	       pfs_load_relaxed(&own->foreign_bytes); /* relaxed: as above */
}

static uint64_t counted_bytes(int file, const struct pfs_box_head *head)
{
	const struct pfs_box_region *region = region_of(head, PFS_BOX_CELLS);
	uint64_t sum = 0;
	if (region == NULL || region->page_records == 0 || region->page_bytes > PAGE_BYTES_MOST ||
	    (uint64_t)region->page_records * sizeof(struct pfs_cell) > region->page_bytes)
		return 0;
	struct pfs_cell *page = aligned_alloc(PFS_LINE, region->page_bytes / PFS_LINE * PFS_LINE);
	/* relaxed: of a private copy */
	uint32_t pages =
		pfs_load_relaxed(&((struct pfs_box_region *)(uintptr_t)region)->page_count);
	if (pages > CELLS_BYTES_MOST / region->page_bytes)
		pages = (uint32_t)(CELLS_BYTES_MOST / region->page_bytes);
	for (uint32_t i = 0; page != NULL && i < pages; i++) {
		size_t bytes = region->page_records * sizeof(*page);
		off_t at = (off_t)(region->offset + (uint64_t)i * region->page_bytes);
		if (pread(file, page, bytes, at) != (ssize_t)bytes)
			break;
		for (uint32_t k = 0; k < region->page_records; k++)
			sum += bytes_of(&page[k]);
	}
	free(page);
	return (int64_t)sum > 0 ? sum : 0;
}

/* The last tick, without the shares of instruments; all 0: none. */
struct last_tick {
	uint64_t number, realtime_ns;
	struct pfs_box_own own;
};
_Static_assert(offsetof(struct pfs_box_tick, own) == offsetof(struct last_tick, own),
	       "a tick begins so");

static struct last_tick read_tick(int file, const struct pfs_box_head *head)
{
	const struct pfs_box_region *region = region_of(head, PFS_BOX_TICKS);
	/* relaxed: of a private copy */
	uint64_t ticks = pfs_load_relaxed(&((struct pfs_box_head *)(uintptr_t)head)->ticks);
	struct last_tick tick, none = { .number = 0 };
	if (region == NULL || ticks == 0)
		return none;
	uint64_t slot = (ticks - 1) % PFS_BOX_TICKS_KEPT;
	off_t at = (off_t)(region->offset + slot * sizeof(struct pfs_box_tick));
	return pread(file, &tick, sizeof(tick), at) == (ssize_t)sizeof(tick) ? tick : none;
}

static enum pfs_cause cause_of(const struct pfs_box_head *head)
{
	/* relaxed: of a private copy */
	switch (pfs_load_relaxed(&((struct pfs_box_head *)(uintptr_t)head)->state)) {
	case PFS_BOX_ENDED: return PFS_CAUSE_ENDED;
	case PFS_BOX_EXECED: return PFS_CAUSE_EXECED;
	case PFS_BOX_LIVE: return PFS_CAUSE_DIED;
	default: return PFS_CAUSE_UNCOUNTED;
	}
}

/* Stores a part of a box's head, and leaves the file's times as they are. */
static void store(int file, const void *value, size_t bytes, size_t offset)
{
	struct stat status;
	if (fstat(file, &status) != 0 || pwrite(file, value, bytes, (off_t)offset) < 0)
		return;
	const struct timespec times[2] = { status.st_atim, status.st_mtim };
	(void)futimens(file, times);
}

/* A program that still runs has become another one by a system call of its own. */
static bool has_execed(const struct pfs_box_head *head)
{
	return cause_of(head) == PFS_CAUSE_DIED && pfs_box_goes_on(head->pid, head->start_ticks);
}

/* Weighs a dead program's box, and, if it may, notes the result in it, so that it is done once. */
static void weigh(int file, bool may_note, struct pfs_kept *kept)
{
	struct pfs_box_head head;
	if (pread(file, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.magic, PFS_BOX_MAGIC, sizeof(head.magic)) != 0 ||
	    head.version != PFS_BOX_VERSION)
		return;
	struct last_tick tick = read_tick(file, &head);
	uint64_t end_ns = pfs_load_relaxed(&head.end_realtime_ns); /* relaxed: a private copy */
	uint64_t held = pfs_load_relaxed(&head.held);              /* relaxed: a private copy */
	uint32_t execed = PFS_BOX_EXECED;
	kept->cause = cause_of(&head);
	kept->seen_ns = end_ns != 0             ? end_ns
			: tick.realtime_ns != 0 ? tick.realtime_ns
						: head.start_realtime_ns;
	if (has_execed(&head)) {
		kept->cause = PFS_CAUSE_EXECED;
		if (may_note)
			store(file, &execed, sizeof(execed), offsetof(struct pfs_box_head, state));
	}
	if (held == 0) {
		held = counted_bytes(file, &head) + tick.own.program_mapped_resident +
		       tick.own.brk + 1;
		if (may_note)
			store(file, &held, sizeof(held), offsetof(struct pfs_box_head, held));
	}
	kept->held_bytes = held - 1;
}

/* ---- the boxes of a folder ---- */

/* <pid>-<start>.box, as pfs_box_name makes them. */
static bool is_name(const char *name)
{
	size_t pid = strspn(name, "0123456789");
	if (pid == 0 || name[pid] != '-' || strlen(name) >= PFS_KEEP_NAME_BYTES)
		return false;
	size_t start = strspn(name + pid + 1, "0123456789");
	return start != 0 && strcmp(name + pid + 1 + start, ".box") == 0;
}

static bool is_recent(const struct stat *status)
{
	return time(NULL) - status->st_mtime < YOUNG_SECONDS;
}

static bool take(int folder, const char *name, struct pfs_kept *kept)
{
	struct stat status;
	if (!is_name(name) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(status.st_mode))
		return false;
	*kept = (struct pfs_kept){ .seen_ns = (uint64_t)status.st_mtime * 1000000000 };
	if (is_recent(&status))
		kept->keep = PFS_KEEP_YOUNG;
	(void)snprintf(kept->name, sizeof(kept->name), "%s", name);
	return true;
}

static struct pfs_kept *list(int folder, size_t *count)
{
	struct pfs_kept *all = NULL;
	struct dirent *entry;
	size_t room = 0;
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
	*count = 0;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (*count == room) {
			struct pfs_kept *more = realloc(all, (room + 64) * sizeof(*all));
			if (more == NULL)
				break;
			all = more;
			room += 64;
		}
		if (take(folder, entry->d_name, &all[*count]))
			(*count)++;
	}
	if (directory != NULL)
		(void)closedir(directory);
	else if (copy >= 0)
		(void)close(copy);
	return all;
}

static int open_box(int folder, const char *name, int flags)
{
	return openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

bool pfs_box_is_execed(int file)
{
	uint32_t state;
	return pread(file, &state, sizeof(state), offsetof(struct pfs_box_head, state)) ==
		       (ssize_t)sizeof(state) &&
	       state == PFS_BOX_EXECED;
}

/* A box that its program marked was locked before. A script makes hundreds of them each second. */
static void look_at_young(int folder, struct pfs_kept *kept)
{
	int file = open_box(folder, kept->name, O_RDONLY);
	if (file < 0)
		return;
	if (pfs_box_is_execed(file))
		kept->keep = PFS_KEEP_NOT;
	(void)close(file);
}

/* No process has it mapped if the lock is free. Readers also take a shared lock. */
static void look(int folder, bool may_note, struct pfs_kept *kept)
{
	int file = open_box(folder, kept->name, may_note ? O_RDWR : O_RDONLY);
	if (file < 0 || flock(file, LOCK_SH | LOCK_NB) != 0)
		kept->keep = PFS_KEEP_LIVING;
	else
		weigh(file, may_note, kept);
	if (file >= 0)
		(void)close(file);
}

/* ---- which stay ---- */

static bool is_trivial(const struct pfs_kept *kept)
{
	return kept->held_bytes < PFS_KEEP_TRIVIAL_BYTES || kept->cause == PFS_CAUSE_UNCOUNTED;
}

static int newest_first(const void *one, const void *other)
{
	const struct pfs_kept *a = one, *b = other;
	return (a->seen_ns < b->seen_ns) - (a->seen_ns > b->seen_ns);
}

static int heaviest_first(const void *one, const void *other)
{
	const struct pfs_kept *a = one, *b = other;
	if (is_trivial(a) != is_trivial(b))
		return is_trivial(a) ? 1 : -1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? 1 : -1;
	if (!is_trivial(a) && a->held_bytes != b->held_bytes)
		return a->held_bytes < b->held_bytes ? 1 : -1;
	return newest_first(a, b);
}

static void decide(struct pfs_kept *all, size_t count, uint32_t places)
{
	uint32_t newest = (places + NEWEST_PART - 1) / NEWEST_PART, taken = 0;
	qsort(all, count, sizeof(*all), newest_first);
	for (size_t i = 0; i < count && taken < newest; i++) {
		if (all[i].keep != PFS_KEEP_NOT || all[i].cause != PFS_CAUSE_DIED ||
		    is_trivial(&all[i]))
			continue;
		all[i].keep = PFS_KEEP_NEWEST;
		taken++;
	}
	qsort(all, count, sizeof(*all), heaviest_first);
	for (size_t i = 0; i < count && taken < places; i++) {
		if (all[i].keep != PFS_KEEP_NOT)
			continue;
		all[i].keep = is_trivial(&all[i]) ? PFS_KEEP_TRIVIAL : PFS_KEEP_WEIGHT;
		taken++;
	}
}

struct pfs_kept *pfs_box_keep(int folder, bool weighs, size_t *count)
{
	uint32_t places = dead_to_keep();
	struct pfs_kept *all = list(folder, count);
	if (!weighs && *count <= places)
		*count = 0;
	for (size_t i = 0; i < *count; i++)
		if (all[i].keep == PFS_KEEP_YOUNG)
			look_at_young(folder, &all[i]);
	for (size_t i = 0; i < *count; i++)
		if (weighs || all[i].keep == PFS_KEEP_NOT)
			look(folder, !weighs, &all[i]);
	if (*count != 0)
		decide(all, *count, places);
	return all;
}

/* ---- what was removed ---- */

static void read_dropped(int file, uint64_t dropped[3])
{
	char text[128];
	ssize_t got = file >= 0 ? pread(file, text, sizeof(text) - 1, 0) : -1;
	text[got > 0 ? got : 0] = '\0';
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &dropped[0], &dropped[1],
		   &dropped[2]) != 3)
		memset(dropped, 0, 3 * sizeof(dropped[0]));
}

static void count_dropped(int folder, uint64_t boxes, uint64_t most_bytes)
{
	char text[128];
	uint64_t dropped[3];
	int file = openat(folder, PFS_KEEP_DROPPED, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			  0600);
	if (file < 0 || flock(file, LOCK_EX | LOCK_NB) != 0) {
		if (file >= 0)
			(void)close(file);
		return;
	}
	read_dropped(file, dropped);
	if (most_bytes < dropped[1])
		most_bytes = dropped[1];
	int length = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			      dropped[0] + boxes, most_bytes, pfs_now_ns(CLOCK_REALTIME));
	if (ftruncate(file, 0) == 0)
		(void)!pwrite(file, text, (size_t)length, 0);
	(void)close(file);
}

/*
 * Removes a box, unless its name now is that of a living program's. Where a process has execed, the
 * new program's box gets the same name. It locks the marked one before it replaces it
 * (pfs_box_new_file), so the name cannot change hands here.
 */
static bool remove_box(int folder, const char *name)
{
	struct stat status;
	int file = open_box(folder, name, O_RDONLY);
	bool is_dead = file >= 0 && flock(file, LOCK_SH | LOCK_NB) == 0 &&
		       fstat(file, &status) == 0 && status.st_nlink != 0 &&
		       (!is_recent(&status) || pfs_box_is_execed(file));
	bool is_removed = is_dead && unlinkat(folder, name, 0) == 0;
	if (file >= 0)
		(void)close(file);
	return is_removed;
}

void pfs_box_prune(const char *path)
{
	size_t count;
	uint64_t boxes = 0, most_bytes = 0;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	struct pfs_kept *all = pfs_box_keep(folder, false, &count);
	for (size_t i = 0; i < count; i++) {
		char lock[PFS_KEEP_NAME_BYTES + 8];
		(void)snprintf(lock, sizeof(lock), "%s.lock", all[i].name);
		if (all[i].keep != PFS_KEEP_NOT || !remove_box(folder, all[i].name))
			continue;
		(void)unlinkat(folder, lock, 0);
		boxes++;
		if (all[i].held_bytes > most_bytes)
			most_bytes = all[i].held_bytes;
	}
	if (boxes != 0)
		count_dropped(folder, boxes, most_bytes);
	free(all);
	(void)close(folder);
}

void pfs_box_dropped(const char *folder, uint64_t dropped[3])
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%.4000s/" PFS_KEEP_DROPPED, folder);
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	read_dropped(file, dropped);
	if (file >= 0)
		(void)close(file);
}
