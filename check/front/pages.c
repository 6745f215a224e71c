#define _GNU_SOURCE
#include "check/front/pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/machine/grow.h"
#include "check/machine/snapshot.h"
#include "check/machine/table.h"

struct area {
	char *first, *kept;
	size_t bytes;
};

struct part {
	char *first;
	const char *kept;
	size_t bytes;
};

static struct {
	struct area *areas;
	uint32_t area_count, area_room;
	struct part *written;
	uint32_t written_count, written_room;
} pages;

static size_t page_bytes(void)
{
	static size_t bytes;
	if (bytes == 0)
		bytes = (size_t)sysconf(_SC_PAGESIZE);
	return bytes;
}

/* Snapshots that were taken before do not have it. */
static void note_written(char *first, const char *kept, size_t bytes)
{
	if (!pfs_grow((void **)&pages.written, &pages.written_room, pages.written_count + 1,
		      sizeof(struct part)))
		abort();
	pages.written[pages.written_count++] = (struct part){ first, kept, bytes };
	pfs_widenings++;
}

void pfs_pages_add(void *first, size_t bytes)
{
	size_t page = page_bytes(), before = (uintptr_t)first % page;
	char *at = (char *)first - before;
	bytes = (before + bytes + page - 1) / page * page;
	char *kept = malloc(bytes);
	if (kept == NULL || !pfs_grow((void **)&pages.areas, &pages.area_room, pages.area_count + 1,
				      sizeof(struct area)))
		abort();
	memcpy(kept, at, bytes);
	if (mprotect(at, bytes, PROT_READ) == 0)
		pages.areas[pages.area_count++] = (struct area){ at, kept, bytes };
	else
		note_written(at, kept, bytes);
}

bool pfs_pages_fault(const void *address)
{
	size_t page = page_bytes();
	for (uint32_t i = 0; i < pages.area_count; i++) {
		const struct area *area = &pages.areas[i];
		size_t at = (uintptr_t)address - (uintptr_t)area->first;
		if (at >= area->bytes)
			continue;
		at = at / page * page;
		for (uint32_t n = 0; n < pages.written_count; n++) {
			if (pages.written[n].first == area->first + at)
				return false; /* it is writable: another fault */
		}
		if (mprotect(area->first + at, page, PROT_READ | PROT_WRITE) != 0)
			return false;
		note_written(area->first + at, area->kept + at, page);
		return true;
	}
	return false;
}

void pfs_pages_restore(void)
{
	for (uint32_t i = 0; i < pages.written_count; i++) {
		const struct part *part = &pages.written[i];
		memcpy(part->first, part->kept, part->bytes);
	}
}

void pfs_pages_put(struct pfs_machine_snapshot *snapshot)
{
	for (uint32_t i = 0; i < pages.written_count; i++)
		pfs_snapshot_put(snapshot, pages.written[i].first, pages.written[i].bytes);
}

bool pfs_pages_written(uint32_t at, const void **first, size_t *bytes)
{
	if (at >= pages.written_count)
		return false;
	*first = pages.written[at].first;
	*bytes = pages.written[at].bytes;
	return true;
}
