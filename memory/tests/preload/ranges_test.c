/*
 * ranges_test.c - random changes of the table of ranges, compared with an array of pages; full
 * tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/preload/ranges.h"

#define PAGES 200u
#define ROOM 12u

static void must(bool fine, const char *what, unsigned step)
{
	if (fine)
		return;
	(void)fprintf(stderr, "ranges_test: step %u: %s\n", step, what);
	exit(1);
}

/* Checks that ranges are sorted and disjoint, and that neighbours of one owner are merged. */
static void check_shape(const struct pfs_ranges *ranges, unsigned step)
{
	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct pfs_range *range = &ranges->range[i];
		must(range->begin < range->end, "an empty range", step);
		if (i == 0)
			continue;
		must(range[-1].end <= range->begin, "ranges overlap", step);
		must(!(range[-1].end == range->begin && range[-1].whose == range->whose),
		     "two ranges should be one", step);
	}
}

/* Checks the owner of every page; if lossy, it may have none. */
static void check_pages(const struct pfs_ranges *ranges, const uint32_t *pages, bool lossy,
			unsigned step)
{
	for (uint32_t page = 0; page < PAGES; page++) {
		uint32_t at = pfs_ranges_find(ranges, page);
		uint32_t whose = at < ranges->count && ranges->range[at].begin <= page
					 ? ranges->range[at].whose
					 : 0;
		must(!(whose != pages[page] && !(lossy && whose == 0)),
		     "a page has the wrong owner", step);
	}
}

static void run(uint32_t room, unsigned seed)
{
	static struct pfs_range range[2 * PAGES + 1];
	uint32_t pages[PAGES] = { 0 };
	struct pfs_ranges ranges = { .range = range, .max = room };
	memset(range, 0xff, sizeof(range));
	srand(seed);
	for (unsigned step = 0; step < 20000; step++) {
		uint32_t begin = (uint32_t)rand() % PAGES;
		uint32_t end = begin + (uint32_t)rand() % (PAGES - begin + 1);
		uint32_t whose = (uint32_t)rand() % 4;
		if (rand() % 2 != 0 && end > begin + 5)
			end = begin + 5;
		if (whose == 0)
			pfs_ranges_cut(&ranges, begin, end);
		else
			pfs_ranges_add(&ranges, begin, end, whose);
		for (uint32_t page = begin; page < end; page++)
			pages[page] = whose;
		check_shape(&ranges, step);
		check_pages(&ranges, pages, ranges.lost != 0, step);
		must(range[room].whose == UINT32_MAX, "written past the end of the table", step);
	}
	must((ranges.lost != 0) == (room == ROOM), "lost ranges are not counted", 0);
}

int main(void)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		run(2 * PAGES, seed);
		run(ROOM, seed);
	}
	return 0;
}
