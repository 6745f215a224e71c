/*
 * areas_test.c - mapped areas, read with a small buffer: areas with long names are read, too.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/preload/areas.h"

#define AREAS_MOST 1000u

struct seen {
	uintptr_t wanted;
	size_t count;
	size_t name_bytes; /* of the wanted one; SIZE_MAX: not found */
	uintptr_t ends[AREAS_MOST];
};

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	(void)fprintf(stderr, "areas_test: %s\n", what);
	exit(1);
}

static void note(const struct pfs_area *area, void *context)
{
	struct seen *seen = context;
	must(seen->count != AREAS_MOST && area->begin < area->end,
	     "too many areas, or an empty one");
	must(!(seen->count > 0 && seen->ends[seen->count - 1] > area->begin), "not in order");
	if (area->begin == seen->wanted)
		seen->name_bytes = strlen(area->name);
	seen->ends[seen->count++] = area->end;
}

int main(void)
{
	static char text[8192];
	static struct seen whole, cut;
	char name[240];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	int file = memfd_create(name, 0);
	must(file >= 0 && ftruncate(file, 4096) == 0, "no file");
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	must(page != MAP_FAILED, "no page");
	whole.wanted = cut.wanted = (uintptr_t)page;
	whole.name_bytes = cut.name_bytes = SIZE_MAX;
	must(pfs_areas_read(text, sizeof(text), note, &whole) &&
		     pfs_areas_read(text, 128, note, &cut),
	     "cannot be read");
	must(whole.name_bytes != SIZE_MAX && whole.name_bytes >= sizeof(name) - 1,
	     "a mapped file was not found, or its name is cut");
	if (cut.name_bytes >= 128) /* or not met */
		must(false, "an area with a name longer than the buffer was not found");
	must(cut.count == whole.count &&
		     memcmp(cut.ends, whole.ends, cut.count * sizeof(cut.ends[0])) == 0,
	     "a small buffer gives other areas");
	return 0;
}
