/*
 * reader_records.c - copy records of a box by the optimistic protocol.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/box/profile.h"
#include "reader_inside.h"

#define COPY_TRIES 3
#define ROOM_FIRST 64u

/* Uses pages of 2 MiB where available: 64,000 rows take 6 MB, are read once and freed. */
void *pfs_big_malloc(uint64_t bytes)
{
	const uint64_t huge = UINT64_C(2) << 20;
	if (bytes < 2 * huge)
		return malloc(bytes);
	void *memory = aligned_alloc(huge, (bytes + huge - 1) / huge * huge);
	if (memory != NULL)
		(void)madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

/* A load from a hole of a tmpfs allocates memory. So for a live box this limits the pages to what
 * its allocated blocks can hold, whatever the head says. */
static uint64_t pages_with_memory(const struct pfs_reader *self, uint32_t page_bytes,
				  uint64_t pages)
{
	struct stat status;
	if (self->is_copy || fstat(self->file, &status) != 0)
		return pages;
	uint64_t most = (uint64_t)status.st_blocks * 512 / page_bytes;
	return pages < most ? pages : most;
}

uint64_t pfs_reader_records(const struct pfs_reader *self, enum pfs_box_kind kind)
{
	const struct pfs_box_region *region = &self->regions[kind];
	if (region->kind == PFS_BOX_NONE || region->page_bytes == 0)
		return 0;
	uint64_t room = region->bytes / region->page_bytes;
	uint64_t pages = pfs_load_acquire(self->page_counts[kind]); /* [RB1] acquire */
	if (pages > room)
		pages = room;
	return pages_with_memory(self, region->page_bytes, pages) * region->page_records;
}

struct pfs_record_place pfs_reader_place(const struct pfs_reader *self, enum pfs_box_kind kind,
					 uint64_t number)
{
	const struct pfs_box_region *region = &self->regions[kind];
	uint64_t slot = number % region->page_records;
	char *page = self->base + region->offset +
		     number / region->page_records * region->page_bytes;
	return (struct pfs_record_place){
		(const struct pfs_lock *)(const void *)(page + region->words_offset +
							slot * sizeof(struct pfs_lock)),
		page + slot * region->record_bytes,
	};
}

static void load_bytes(void *to, char *from, size_t bytes)
{
	_Atomic(uint64_t) *words = (_Atomic(uint64_t) *)(void *)from;
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
		/* [L6] acquire, pairs with [L5]: see pfs_lock_confirm. */
		uint64_t value = pfs_load_acquire(&words[i]);
		memcpy((char *)to + i * sizeof(value), &value, sizeof(value));
	}
}

bool pfs_reader_copy(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t number,
		     void *to, uint32_t *word, bool *missed)
{
	struct pfs_record_place place = pfs_reader_place(self, kind, number);
	for (int i = 0; i < COPY_TRIES; i++) {
		*word = pfs_lock_glance(place.lock);
		if (pfs_word_state(*word) != PFS_STATE_ALLOCATED)
			return false;
		load_bytes(to, place.bytes, self->regions[kind].record_bytes);
		if (pfs_lock_confirm(place.lock, *word))
			return true;
	}
	*missed = true;
	return false;
}

bool pfs_records_take(const struct pfs_reader *self, enum pfs_box_kind kind,
		      struct pfs_records *records, pfs_record_take *take, void *context)
{
	_Alignas(uint64_t) char record[sizeof(struct pfs_box_stack)]; /* the largest */
	uint64_t room = 0;
	records->reference_max = pfs_reader_records(self, kind);
	records->index_of = malloc((records->reference_max + 1) * sizeof(*records->index_of));
	if (records->index_of == NULL)
		return false;
	records->index_of[0] = PFS_NONE;
	for (uint64_t i = 0; i <= records->reference_max; i++) {
		bool missed = false;
		uint32_t word;
		if (records->count == room) {
			room = room == 0 ? ROOM_FIRST : 2 * room;
			void *more = realloc(records->array, room * records->stride);
			if (more == NULL)
				return false;
			records->array = more;
		}
		if (i == records->reference_max)
			break;
		char *to = (char *)records->array + records->count * records->stride;
		bool is_there = pfs_reader_copy(self, kind, i, record, &word, &missed) &&
				take(context, i, word, record, to);
		records->index_of[i + 1] = is_there ? records->count++ : PFS_NONE;
		records->missed += missed;
	}
	return true;
}

void pfs_reader_array(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t offset,
		      void *to, size_t bytes)
{
	const struct pfs_box_region *region = &self->regions[kind];
	size_t done = 0;
	memset(to, 0, bytes);
	if (region->kind == PFS_BOX_NONE || offset > region->bytes ||
	    bytes > region->bytes - offset)
		return;
	if (self->is_copy) {
		memcpy(to, self->base + region->offset + offset, bytes);
		return;
	}
	/* Not through the mapping: a load from a hole of a tmpfs allocates memory. */
	while (done < bytes) {
		ssize_t got = pread(self->file, (char *)to + done, bytes - done,
				    (off_t)(region->offset + offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		done += (size_t)got;
	}
}

void pfs_reader_array_near(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t offset,
			   void *to, size_t bytes, struct pfs_reader_window *window)
{
	uint64_t page = offset - offset % PFS_BOX_PAGE;
	if (self->is_copy || offset + bytes > page + PFS_BOX_PAGE ||
	    page + PFS_BOX_PAGE > self->regions[kind].bytes) {
		pfs_reader_array(self, kind, offset, to, bytes);
		return;
	}
	if (!window->is_read || window->offset != page)
		pfs_reader_array(self, kind, page, window->bytes, PFS_BOX_PAGE);
	window->is_read = true;
	window->offset = page;
	memcpy(to, window->bytes + (offset - page), bytes);
}

void pfs_snapshot_damage(struct pfs_snapshot *snapshot, const char *format, ...)
{
	va_list list;
	if (snapshot->damaged++ != 0)
		return;
	va_start(list, format);
	(void)vsnprintf(snapshot->damage.text, sizeof(snapshot->damage.text), format, list);
	va_end(list);
}
