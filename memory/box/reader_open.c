/*
 * reader_open.c - open a box: map it while its program lives, copy it afterwards. Its regions are
 * checked once, in a private copy of the head.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/box/profile.h"
#include "reader_inside.h"

static const uint32_t record_bytes[PFS_KINDS] = {
	[PFS_BOX_INSTRUMENTS] = sizeof(struct pfs_box_instrument),
	[PFS_BOX_THREADS] = sizeof(struct pfs_box_thread),
	[PFS_BOX_ACCOUNTS] = sizeof(struct pfs_box_account),
	[PFS_BOX_USERS] = sizeof(struct pfs_box_account),
	[PFS_BOX_HOSTS] = sizeof(struct pfs_box_account),
	[PFS_BOX_CELLS] = sizeof(struct pfs_cell),
	[PFS_BOX_TICKS] = sizeof(struct pfs_box_tick),
	[PFS_BOX_CELL_BASES] = sizeof(struct pfs_box_cell_base),
	[PFS_BOX_ROW_BASES] = sizeof(struct pfs_box_row_base),
	[PFS_BOX_MODULES] = sizeof(struct pfs_box_module),
	[PFS_BOX_STACKS] = sizeof(struct pfs_box_stack),
	[PFS_BOX_CONTEXTS] = sizeof(struct pfs_box_context),
	[PFS_BOX_SAMPLES] = sizeof(struct pfs_box_sample),
	[PFS_BOX_MAPPERS] = sizeof(struct pfs_box_mapper),
	[PFS_BOX_OWNERS] = sizeof(struct pfs_box_owner),
	[PFS_BOX_LIMITS] = sizeof(struct pfs_box_limit),
	[PFS_BOX_SWITCHES] = sizeof(struct pfs_box_switch),
	[PFS_BOX_MOMENTS] = sizeof(struct pfs_box_moment),
	[PFS_BOX_CORRUPTION] = sizeof(struct pfs_box_corruption),
};

/* More than these no program asks for. */
static const uint32_t records_most[PFS_KINDS] = {
	[PFS_BOX_INSTRUMENTS] = PFS_BOX_PEOPLE_MAX, /* a snapshot has fewer */
	[PFS_BOX_THREADS] = PFS_BOX_PEOPLE_MAX,        [PFS_BOX_ACCOUNTS] = PFS_BOX_PEOPLE_MAX,
	[PFS_BOX_USERS] = PFS_BOX_PEOPLE_MAX,          [PFS_BOX_HOSTS] = PFS_BOX_PEOPLE_MAX,
	[PFS_BOX_CELLS] = PFS_BOX_CELLS_MAX,           [PFS_BOX_STACKS] = PFS_PROFILE_RECORDS_MOST,
	[PFS_BOX_CONTEXTS] = PFS_PROFILE_RECORDS_MOST, [PFS_BOX_SAMPLES] = PFS_PROFILE_RECORDS_MOST,
	[PFS_BOX_OWNERS] = PFS_BOX_OWNERS_MAX,
};

static bool is_array(uint32_t kind)
{
	return kind == PFS_BOX_TICKS || kind == PFS_BOX_CELL_BASES || kind == PFS_BOX_ROW_BASES ||
	       kind == PFS_BOX_MODULES || kind == PFS_BOX_MAPPERS || kind == PFS_BOX_LIMITS ||
	       kind == PFS_BOX_SWITCHES || kind == PFS_BOX_MOMENTS || kind == PFS_BOX_CORRUPTION;
}

/* ---- regions ---- */

/* No product overflows 64 bits: all factors have 32. */
static const char *pages_fault(const struct pfs_box_region *region)
{
	uint64_t words = (uint64_t)region->page_records * sizeof(struct pfs_lock);
	uint64_t pages = region->page_bytes == 0 ? 0 : region->bytes / region->page_bytes;
	if (region->page_bytes == 0 || region->page_bytes % PFS_LINE != 0)
		return "its page size is invalid";
	if (region->words_offset % sizeof(struct pfs_lock) != 0 ||
	    (uint64_t)region->page_records * region->record_bytes > region->words_offset ||
	    region->words_offset + words > region->page_bytes)
		return "its records and words do not fit into a page";
	/* The last page may have room for more. */
	if (pages * region->page_records >= PFS_NONE ||
	    pages * region->page_records >=
		    (uint64_t)records_most[region->kind] + region->page_records)
		return "it has too many records";
	/* relaxed: of a private copy. */
	if (pfs_load_relaxed(&((struct pfs_box_region *)(uintptr_t)region)->page_count) > pages)
		return "it has more pages than it has room for";
	return NULL;
}

static const char *region_fault(const struct pfs_box_head *head, uint32_t index)
{
	const struct pfs_box_region *region = &head->regions[index];
	uint64_t end = region->offset + region->bytes;
	if (region->offset % PFS_BOX_PAGE != 0 || region->offset < 2 * PFS_BOX_PAGE ||
	    end < region->offset || end > head->file_bytes)
		return "it lies outside the file";
	for (uint32_t i = 0; i < index; i++) {
		const struct pfs_box_region *other = &head->regions[i];
		if (region->bytes != 0 && other->bytes != 0 && other->offset < end &&
		    region->offset < other->offset + other->bytes)
			return "it overlaps another region";
		if (region->kind < PFS_KINDS && other->kind == region->kind &&
		    region->kind != PFS_BOX_NONE)
			return "another region has the same kind";
	}
	if (region->kind == PFS_BOX_NONE || region->kind >= PFS_KINDS)
		return NULL; /* for an unknown kind only the place matters */
	if (region->record_bytes != record_bytes[region->kind])
		return "its records have the wrong size";
	if (is_array(region->kind))
		return region->page_records == 0 ? NULL : "it should be a plain array";
	return pages_fault(region);
}

bool pfs_box_regions_check(const struct pfs_box_head *head, const char *path,
			   struct pfs_reader *self, struct pfs_message *message)
{
	static const enum pfs_box_kind needed[] = {
		PFS_BOX_INSTRUMENTS, PFS_BOX_THREADS, PFS_BOX_ACCOUNTS,
		PFS_BOX_USERS,       PFS_BOX_HOSTS,   PFS_BOX_CELLS,
	};
	for (uint32_t i = 0; i < head->region_count; i++) {
		const struct pfs_box_region *region = &head->regions[i];
		const char *fault = region_fault(head, i);
		if (fault != NULL)
			return pfs_refuse(message, "'%.120s' is damaged: region %u of kind %u: %s",
					  path, i, region->kind, fault);
		if (self == NULL || region->kind == PFS_BOX_NONE || region->kind >= PFS_KINDS)
			continue;
		memcpy((void *)&self->regions[region->kind], (const void *)region, sizeof(*region));
		if (self->base != NULL)
			self->page_counts[region->kind] =
				&pfs_reader_head(self)->regions[i].page_count;
	}
	for (size_t i = 0; self != NULL && i < sizeof(needed) / sizeof(needed[0]); i++)
		if (self->regions[needed[i]].kind == PFS_BOX_NONE)
			return pfs_refuse(message, "'%.120s' is damaged: no region of kind %u",
					  path, (unsigned)needed[i]);
	return true;
}

static struct pfs_box_rooms rooms_of(const struct pfs_reader *self)
{
	return (struct pfs_box_rooms){
		.whos = { [PFS_TABLE_THREAD] = pfs_box_room(&self->regions[PFS_BOX_THREADS]),
			  [PFS_TABLE_ACCOUNT] = pfs_box_room(&self->regions[PFS_BOX_ACCOUNTS]),
			  [PFS_TABLE_USER] = pfs_box_room(&self->regions[PFS_BOX_USERS]),
			  [PFS_TABLE_HOST] = pfs_box_room(&self->regions[PFS_BOX_HOSTS]),
			  [PFS_TABLE_GLOBAL] = 1 },
		.instruments_max = self->info.instruments_max,
	};
}

/* ---- its bytes ---- */

/* Root copies another user's box, which may be made to need as much memory as it can. A box of the
 * default sizes needs less, even if every record is used. */
#define FOREIGN_BYTES_MAX (UINT64_C(512) << 20)

struct copying {
	int file;
	char *to;
	uint64_t bytes, most; /* copied so far, and at most */
	bool is_too_much;
};

static bool copy_data(struct copying *self, uint64_t at, uint64_t end)
{
	self->is_too_much = end - at > self->most - self->bytes;
	while (!self->is_too_much && at < end) {
		ssize_t got = pread(self->file, self->to + at, end - at, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0; /* truncated since: what is missing reads as 0 */
		at += (uint64_t)got;
		self->bytes += (uint64_t)got;
	}
	return !self->is_too_much;
}

/* Only its data: a box is mostly holes. */
static bool copy_span(struct copying *self, uint64_t at, uint64_t end)
{
	while (at < end) {
		off_t data = lseek(self->file, (off_t)at, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO; /* nothing but a hole is left */
		off_t hole = lseek(self->file, data, SEEK_HOLE);
		if (hole < 0)
			return false;
		uint64_t until = (uint64_t)hole < end ? (uint64_t)hole : end;
		if ((uint64_t)data < end && !copy_data(self, (uint64_t)data, until))
			return false;
		at = (uint64_t)hole;
	}
	return true;
}

/* What the head says is used: the head as it was checked, the control area, arrays, and the pages
 * of records that were added. Nothing outside them is read. */
static bool copy_used(struct copying *self, const struct pfs_box_head *head)
{
	memcpy(self->to, (const void *)head, sizeof(*head));
	bool fine = copy_span(self, PFS_BOX_PAGE, 2 * PFS_BOX_PAGE);
	for (uint32_t i = 0; fine && i < head->region_count; i++) {
		struct pfs_box_region *region =
			(struct pfs_box_region *)(uintptr_t)&head->regions[i];
		uint64_t bytes = region->bytes;
		if (region->kind == PFS_BOX_NONE || region->kind >= PFS_KINDS)
			continue;
		if (!is_array(region->kind)) /* relaxed: of a private copy. */
			bytes = (uint64_t)pfs_load_relaxed(&region->page_count) *
				region->page_bytes;
		fine = copy_span(self, region->offset, region->offset + bytes);
	}
	return fine;
}

static bool copy_box(struct pfs_reader *self, const struct pfs_box_head *head, char *base,
		     bool is_foreign, struct pfs_message *message)
{
	struct copying copying = { .file = self->file,
				   .to = base,
				   .most = is_foreign ? FOREIGN_BYTES_MAX : UINT64_MAX };
	bool fine = copy_used(&copying, head);
	if (fine)
		return true;
	if (copying.is_too_much)
		return pfs_refuse(message,
				  "'%.120s' holds more than the %u MiB that are copied of another "
				  "user's box: run pfs-mem as user %u",
				  self->info.path, (unsigned)(FOREIGN_BYTES_MAX >> 20),
				  self->info.uid);
	return pfs_refuse(message, "'%.150s' cannot be read: %s", self->info.path, strerror(errno));
}

static bool fetch(struct pfs_reader *self, const struct pfs_box_head *head,
		  struct pfs_message *message)
{
	bool is_foreign = pfs_box_file_is_foreign(self->file);
	bool is_copy = !self->info.is_live || is_foreign;
	int kind = is_copy ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	char *base = mmap(NULL, head->file_bytes, is_copy ? PROT_READ | PROT_WRITE : PROT_READ,
			  kind, is_copy ? -1 : self->file, 0);
	if (base == MAP_FAILED)
		return pfs_refuse(message, "'%.150s' cannot be mapped: %s", self->info.path,
				  strerror(errno));
	if (is_copy && !copy_box(self, head, base, is_foreign, message)) {
		(void)munmap(base, head->file_bytes);
		return false;
	}
	self->base = base;
	self->bytes = head->file_bytes;
	self->is_copy = is_copy;
	if (!is_copy)
		pfs_cut_watch(&self->cut, base, self->bytes, false);
	return true;
}

static void drop(struct pfs_reader *self)
{
	pfs_cut_forget(&self->cut);
	if (self->base != NULL)
		(void)munmap(self->base, self->bytes);
	self->base = NULL;
	if (self->file >= 0)
		(void)close(self->file);
	self->file = -1;
}

/* Takes seen_realtime_ns from the last tick, if that is valid. */
static void see_last_tick(struct pfs_reader *self)
{
	const struct pfs_box_region *region = &self->regions[PFS_BOX_TICKS];
	uint64_t slot = (self->info.ticks - 1) % PFS_BOX_TICKS_KEPT;
	struct pfs_box_tick tick;
	if (region->kind == PFS_BOX_NONE || self->info.ticks == 0 ||
	    (slot + 1) * sizeof(tick) > region->bytes)
		return;
	pfs_reader_array(self, PFS_BOX_TICKS, slot * sizeof(tick), &tick, sizeof(tick));
	if (tick.number == self->info.ticks && tick.realtime_ns >= self->info.start_realtime_ns)
		self->info.seen_realtime_ns = tick.realtime_ns;
}

/* Loads the open file as its head describes it. */
static bool take_in(struct pfs_reader *self, const char *path, struct pfs_message *message)
{
	struct pfs_box_head head;
	/* First: once the program is dead, the file no longer changes. */
	bool is_live = pfs_box_file_is_live(self->file);
	if (!pfs_box_head_read(self->file, path, &head, message))
		return false;
	pfs_box_info_of(&head, path, is_live, &self->info);
	if (self->info.state == PFS_BOX_UNCOUNTED)
		return pfs_refuse(message, "process %u (%.60s) was not counted: %s", self->info.pid,
				  self->info.name, self->info.why);
	memset((void *)self->regions, 0, sizeof(self->regions));
	if (!pfs_box_regions_check(&head, path, NULL, message) || !fetch(self, &head, message) ||
	    !pfs_box_regions_check(&head, path, self, message))
		return false;
	self->rooms = rooms_of(self);
	see_last_tick(self);
	return true;
}

/* Reads only the head and the last tick, even of a dead program's box, and follows no link: whoever
 * may write the folder may put one there. */
bool pfs_box_info_read(const char *path, struct pfs_box_info *info, struct pfs_message *message)
{
	struct pfs_box_head head;
	struct pfs_reader *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return pfs_refuse(message, "no memory to read '%.150s'", path);
	self->file = pfs_box_file_open(path, O_RDONLY | O_NOFOLLOW, message);
	bool is_live = self->file >= 0 && pfs_box_file_is_live(self->file);
	bool fine = self->file >= 0 && pfs_box_head_read(self->file, path, &head, message);
	if (fine)
		pfs_box_info_of(&head, path, is_live, &self->info);
	bool is_note = fine && self->info.state == PFS_BOX_UNCOUNTED;
	if (fine && !is_note)
		fine = pfs_box_regions_check(&head, path, self, message);
	if (fine) {
		see_last_tick(self);
		*info = self->info;
	}
	pfs_reader_close(self);
	return fine;
}

struct pfs_reader *pfs_reader_open_file(const char *path, struct pfs_message *message)
{
	struct pfs_reader *self = calloc(1, sizeof(*self));
	if (self == NULL) {
		(void)pfs_refuse(message, "no memory to read '%.150s'", path);
		return NULL;
	}
	self->file = pfs_box_file_open(path, O_RDONLY, message);
	if (self->file < 0 || !take_in(self, path, message)) {
		pfs_reader_close(self);
		return NULL;
	}
	return self;
}

void pfs_reader_close(struct pfs_reader *self)
{
	if (self == NULL)
		return;
	drop(self);
	free(self);
}

const struct pfs_box_info *pfs_reader_info(const struct pfs_reader *self)
{
	return &self->info;
}

/* From the open file: its name may be gone, or belong to another file. */
static bool copy_again(struct pfs_reader *self, struct pfs_message *message)
{
	char path[PFS_READER_PATH_BYTES];
	memcpy(path, self->info.path, sizeof(path));
	pfs_cut_forget(&self->cut);
	(void)munmap(self->base, self->bytes);
	self->base = NULL;
	return take_in(self, path, message);
}

bool pfs_reader_is_whole(struct pfs_reader *self, struct pfs_message *message)
{
	struct stat status;
	if (self->is_copy)
		return true;
	if (!pfs_cut_is(&self->cut) && fstat(self->file, &status) == 0 &&
	    (uint64_t)status.st_size >= self->bytes)
		return true;
	return pfs_refuse(message,
			  "'%.150s' was truncated while its program ran: it can no longer be read",
			  self->info.path);
}

bool pfs_reader_refresh(struct pfs_reader *self, struct pfs_message *message)
{
	if (self->is_copy && !self->info.is_live)
		return true;
	if (self->base == NULL)
		return pfs_refuse(message, "'%.150s' can no longer be read", self->info.path);
	if (!pfs_reader_is_whole(self, message))
		return false;
	if (self->is_copy || !pfs_box_file_is_live(self->file))
		return copy_again(self, message);
	struct pfs_box_head *head = pfs_reader_head(self);
	self->info.ticks = pfs_load_acquire(&head->ticks); /* [RB1] acquire */
	self->info.state = pfs_load_acquire(&head->state); /* [RB1] acquire */
	/* relaxed: written before state. */
	self->info.end_realtime_ns = pfs_load_relaxed(&head->end_realtime_ns);
	see_last_tick(self);
	return true;
}
