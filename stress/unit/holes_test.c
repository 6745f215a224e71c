/*
 * holes_test.c - the tree of holes compared with a plain list of them.
 */
#include "containers/holes.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stress/harness/harness.h"

/* The lowest place without a page, by looking at all. */
static uint32_t lowest(const bool *filled, uint32_t places)
{
	uint32_t place = 0;
	while (place < places && filled[place])
		place++;
	return place;
}

static void check_size(uint32_t places)
{
	struct pfs_holes holes = { 0 };
	uint64_t random = pfs_random_seed(7, places);
	bool *filled = calloc(places + 1, sizeof(*filled));
	PFS_CHECK(filled != NULL && pfs_holes_init(&holes, places));
	for (uint32_t place = 0; place < places; place++) {
		PFS_CHECK_IS(pfs_holes_find(&holes), place);
		pfs_holes_fill(&holes, place);
		filled[place] = true;
	}
	PFS_CHECK_IS(pfs_holes_find(&holes), places);
	for (uint32_t turn = 0; turn < 2000; turn++) {
		uint32_t place = pfs_random_below(&random, places);
		uint32_t hole = pfs_holes_find(&holes);
		PFS_CHECK_IS(hole, lowest(filled, places));
		if (turn % 3 != 0 && filled[place])
			pfs_holes_open(&holes, place);
		else if (turn % 3 == 0 && hole < places)
			pfs_holes_fill(&holes, place = hole);
		else
			continue;
		filled[place] = turn % 3 == 0;
	}
	pfs_holes_fini(&holes);
	free(filled);
}

static void the_lowest_is_found(const struct pfs_case *none)
{
	static const uint32_t sizes[] = { 1, 2, 63, 64, 65, 4095, 4096, 4097, 262145 };
	(void)none;
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_size(sizes[i]);
}

static void no_place_is_no_hole(const struct pfs_case *none)
{
	struct pfs_holes holes = { 0 };
	(void)none;
	PFS_CHECK(pfs_holes_init(&holes, 0));
	PFS_CHECK_IS(pfs_holes_find(&holes), 0);
	pfs_holes_fini(&holes);
}

static const struct pfs_test tests[] = {
	{ .name = "the lowest is found", .run = the_lowest_is_found },
	{ .name = "no place is no hole", .run = no_place_is_no_hole },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
