/*
 * hidden_test.c - free memory is hidden from forked children: a child has no memory there, may use
 * its addresses, and its own children and its parent's next ones have what is written there then.
 * A fork asks the system to hide only what was freed since the last one, and what is used is shown
 * once.
 */
#include <pfslab/malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/cache.h"
#include "memory/malloc/conf.h"
#include "memory/malloc/hidden.h"
#include "memory/malloc/map.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"
#include "memory/malloc/tick.h"
#include "check.h"
#include "child.h"

#define BLOCKS 40u
#define PAGES 1024u /* of a block: 4 MiB, an extent each */
#define BYTES ((size_t)PAGES * PFS_OS_PAGE)
#define RESIDENT_MOST (BLOCKS * PAGES / 4)

#define HOLES (PFS_HIDDEN_MOST + 50)
#define HOLE_BYTES ((size_t)1 << 20)
#ifdef __SANITIZE_THREAD__ /* it makes forks slow */
#define FORKS 6
#else
#define FORKS 60
#endif
#define WALL_BYTES ((size_t)1 << 20)
#define GAP_BYTES ((size_t)384 << 10)  /* of no rack, and not long */
#define LONG_BYTES ((size_t)128 << 20) /* of which the page map's memory is worth a call */

bool __real_pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial);
bool __wrap_pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial);
bool __real_pfs_system_show(void *pages, size_t size_bytes);
bool __wrap_pfs_system_show(void *pages, size_t size_bytes);

static unsigned char *blocks[BLOCKS];
static unsigned refusals; /* so many of the next calls are refused */
static bool is_unknown;   /* the system knows neither of the two calls */
static _Atomic(uint32_t) hides, shows;

/* How often was one of the two called since this was last asked? */
static uint32_t calls(_Atomic(uint32_t) *count)
{
	uint32_t before = pfs_load_relaxed(count); /* relaxed: no other thread is there */
	pfs_store_relaxed(count, 0);               /* relaxed: as above */
	return before;
}

bool __wrap_pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial)
{
	(void)pfs_fetch_add_relaxed(&hides, 1); /* relaxed: a count */
	/* An odd address is refused like an unknown call: EINVAL. */
	return __real_pfs_system_hide((char *)pages + is_unknown, size_bytes, is_partial);
}

bool __wrap_pfs_system_show(void *pages, size_t size_bytes)
{
	(void)pfs_fetch_add_relaxed(&shows, 1); /* relaxed: a count */
	if (refusals > 0) {
		refusals--;
		return false;
	}
	return !is_unknown && __real_pfs_system_show(pages, size_bytes);
}

static void fill(unsigned seed)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = pfs_malloc(BYTES);
		CHECK(blocks[i] != NULL, "no block");
		for (size_t at = 0; at < BYTES; at += PFS_OS_PAGE)
			blocks[i][at] = (unsigned char)(seed + i);
	}
}

static void check_filled(unsigned seed)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		for (size_t at = 0; at < BYTES; at += PFS_OS_PAGE)
			CHECK(blocks[i][at] == (unsigned char)(seed + i), "a child lacks a block");
	}
}

static void free_all(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		pfs_block_free(blocks[i]);
}

/* Of the freed blocks' pages. */
static unsigned resident(void)
{
	unsigned count = 0;
	for (unsigned i = 0; i < BLOCKS; i++) {
		for (unsigned first = 0; first < PAGES; first += PFS_SYSTEM_LOOK_PAGES)
			count += pfs_system_resident(blocks[i] + (size_t)first * PFS_OS_PAGE,
						     PFS_SYSTEM_LOOK_PAGES);
	}
	return count;
}

static void has_all(void)
{
	check_filled(5);
}

/* A child that does nothing pays nothing. */
static void use_again(void)
{
	CHECK(calls(&shows) == 0, "a child shows what it does not use");
	CHECK(resident() < RESIDENT_MOST, "a child has %u pages of free memory", resident());
	fill(5);
	CHECK(calls(&shows) <= BLOCKS, "a child shows extents twice");
	in_child(has_all);
	free_all();
}

static void do_nothing(void) {}

static void fork_and_use(unsigned round)
{
	fill(round);
	free_all();
	CHECK(resident() > RESIDENT_MOST, "only %u pages are resident", resident());
	(void)calls(&shows);
	in_child(use_again);
	uint32_t hidden = calls(&hides);
	CHECK(hidden >= 1 && hidden <= BLOCKS + 1, "a fork hides %u times", hidden);
	in_child(do_nothing);
	CHECK(calls(&hides) == 0 && calls(&shows) == 0, "a fork hides what is hidden");
	CHECK(resident() > RESIDENT_MOST, "the parent lost its pages");
	fill(5);
	uint32_t shown = calls(&shows);
	CHECK(shown >= 1 && shown <= hidden, "%u runs were hidden, %u shown", hidden, shown);
	in_child(has_all);
	CHECK(calls(&hides) <= 1, "a fork hides what is in use");
	free_all();
}

static unsigned char *grown;

static void has_grown(void)
{
	for (size_t at = 0; at < BYTES; at += PFS_OS_PAGE)
		CHECK(grown[at] == 9, "a child lacks a part of a block that grew");
}

static void grow_over_hidden(void)
{
	grown = pfs_malloc(BYTES);
	memset(grown, 1, BYTES);
	grown = pfs_realloc(grown, BYTES / 4);
	in_child(do_nothing);
	grown = pfs_realloc(grown, BYTES);
	CHECK(grown != NULL, "no block");
	memset(grown, 9, BYTES);
	in_child(has_grown);
	pfs_block_free(grown);
}

static uint32_t hidden_parts(void)
{
	uint32_t parts = 0;
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		parts += arena->extents.hidden_parts;
	return parts;
}

/* Pages of the page map that have memory, for some pages of a block. */
static unsigned map_pages(const unsigned char *block)
{
	unsigned count = 0;
	for (size_t at = 0; at < LONG_BYTES; at += BYTES) {
		uintptr_t address = (uintptr_t)block + at;
		struct pfs_map_leaf *leaf = pfs_map_root[address >> PFS_MAP_PART_BITS];
		uintptr_t entry = (uintptr_t)&leaf->entries[(uint32_t)address >> PFS_OS_PAGE_BITS];
		uintptr_t page = entry & ~(uintptr_t)(PFS_OS_PAGE - 1);
		count += pfs_system_resident((void *)page, 1); /* NOLINT: a number */
	}
	return count;
}

static void check_ends(void)
{
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		struct pfs_extent *at = arena->extents.kinds[PFS_EXTENT_DIRTY].oldest;
		for (; at != NULL; at = at->newer) {
			uintptr_t last = at->base + at->size_bytes - PFS_OS_PAGE;
			CHECK(pfs_map_extent(pfs_map_entry_or_none(at->base)) == at &&
				      pfs_map_extent(pfs_map_entry_or_none(last)) == at,
			      "the page map lacks an end of a free extent");
		}
	}
}

/* The page map's memory for a long free extent goes, but not that for its ends. */
static void forget_map(void)
{
	unsigned char *block = pfs_malloc(LONG_BYTES);
	CHECK(block != NULL, "no block");
	/* as many small blocks would have done that were here */
	pfs_map_set_all((uintptr_t)block + PFS_OS_PAGE, LONG_BYTES - 2 * PFS_OS_PAGE, NULL, 0);
	pfs_block_free(block);
	CHECK(map_pages(block) == LONG_BYTES / BYTES, "%u pages of the map", map_pages(block));
	in_child(do_nothing);
	CHECK(map_pages(block) <= 2, "%u pages of the map for free memory", map_pages(block));
	check_ends();
	fill(5);
	in_child(has_all);
	free_all();
}

static unsigned char *filler;

static void has_filler(void)
{
	for (size_t at = 0; at < GAP_BYTES; at += PFS_OS_PAGE)
		CHECK(filler[at] == 9, "a child lacks a block in a gap that was hidden");
}

/* What has no memory any more need not be hidden. */
static void purge_hidden(void)
{
	in_child(do_nothing);
	CHECK(hidden_parts() != 0, "nothing is hidden");
	(void)pfs_tick_all();
	CHECK(hidden_parts() == 0, "purged extents are hidden");
	(void)calls(&hides);
	(void)calls(&shows);
}

/* A short retained extent between two long ones is hidden with them, in one mapping. Blocks in use
 * enclose all three. */
static void hide_gap(void)
{
	(void)pfs_tick_all();
	unsigned char *first = pfs_malloc(4 * BYTES);
	CHECK(first != NULL && pfs_realloc(first, WALL_BYTES) == first, "a block moved");
	unsigned char *left = pfs_malloc(BYTES);
	unsigned char *middle = pfs_malloc(GAP_BYTES);
	unsigned char *right = pfs_malloc(BYTES);
	unsigned char *last = pfs_malloc(WALL_BYTES);
	CHECK(left == first + WALL_BYTES && middle == left + BYTES && right == middle + GAP_BYTES &&
		      last == right + BYTES,
	      "blocks are not neighbours");
	pfs_block_free(middle);
	(void)pfs_tick_all();
	pfs_block_free(left);
	pfs_block_free(right);
	in_child(do_nothing);
	struct pfs_extent *gap = pfs_map_extent(pfs_map_entry_or_none((uintptr_t)middle));
	CHECK(gap != NULL && gap->is_hidden, "a gap is not hidden");
	CHECK(hidden_parts() == 3, "%u parts are hidden", hidden_parts());
	left = pfs_malloc(BYTES);
	CHECK(hidden_parts() == 1, "a gap beside a block in use stays hidden");
	right = pfs_malloc(BYTES);
	filler = pfs_malloc(GAP_BYTES);
	CHECK(filler == middle, "the gap is not used");
	memset(filler, 9, GAP_BYTES);
	in_child(has_filler);
	pfs_block_free(filler);
	(void)pfs_tick_all();
	pfs_block_free(left);
	pfs_block_free(right);
	purge_hidden();
	pfs_block_free(first);
	pfs_block_free(last);
}

/* Where the system knows no hiding, no free extent is given up because it cannot be shown. */
static void fork_where_unknown(void)
{
	fill(5);
	free_all();
	(void)calls(&hides);
	is_unknown = true;
	in_child(do_nothing);
	CHECK(calls(&hides) == 1, "what the system refuses is asked again");
	CHECK(hidden_parts() == 0, "%u parts count as hidden, but none can be", hidden_parts());
	fill(5);
	in_child(has_all);
	free_all();
	is_unknown = false;
	(void)pfs_tick_all();
	(void)calls(&hides);
	(void)calls(&shows);
}

/* More free extents than may be hidden, each with a gap beside it. A fork asks for so many, gaps
 * take at most half of them, and the next fork asks for none. */
static void fork_beside_holes(void)
{
	static void *holes[HOLES], *gaps[HOLES], *walls[HOLES];
	for (unsigned i = 0; i < HOLES; i++) {
		holes[i] = pfs_malloc(HOLE_BYTES);
		gaps[i] = pfs_malloc(GAP_BYTES);
		walls[i] = pfs_malloc(GAP_BYTES);
		CHECK(holes[i] != NULL && gaps[i] != NULL && walls[i] != NULL, "no block");
	}
	for (unsigned i = 0; i < HOLES; i++)
		pfs_block_free(gaps[i]);
	(void)pfs_tick_all();
	for (unsigned i = 0; i < HOLES; i++)
		pfs_block_free(holes[i]);
	in_child(do_nothing);
	uint32_t first = calls(&hides);
	CHECK(first >= PFS_HIDDEN_MOST / 4 * 3 && first < PFS_HIDDEN_MOST, "%u calls", first);
	CHECK(hidden_parts() == PFS_HIDDEN_MOST, "the most is not reached: %u", hidden_parts());
	in_child(do_nothing);
	CHECK(calls(&hides) <= 1, "holes are hidden twice");
	CHECK(hidden_parts() == PFS_HIDDEN_MOST, "now %u are hidden", hidden_parts());
	for (unsigned i = 0; i < HOLES; i++)
		pfs_block_free(walls[i]);
	(void)pfs_tick_all();
	CHECK(hidden_parts() == 0, "%u parts stay hidden", hidden_parts());
}

/* ---- a thread that frees and uses, beside one that forks ---- */

static _Atomic(unsigned char *) published;
static _Atomic(uint32_t) is_over;

static bool is_filled(const unsigned char *block)
{
	for (size_t at = 0; at < BYTES; at += PFS_OS_PAGE)
		if (block[at] != 9)
			return false;
	return true;
}

static void *use_and_free(void *unused)
{
	while (pfs_load_relaxed(&is_over) == 0) { /* relaxed: seen some time */
		unsigned char *block = pfs_malloc(BYTES);
		CHECK(block != NULL, "no block");
		for (size_t at = 0; at < BYTES; at += PFS_OS_PAGE)
			block[at] = 9;
		CHECK(is_filled(block), "bytes are lost in the parent");
		pfs_store_release(&published, block); /* for the child, whose copy is of a moment */
		pfs_store_release(&published, NULL);  /* as above */
		pfs_block_free(block);
	}
	return unused;
}

static void has_published(void)
{
	unsigned char *block = pfs_load_acquire(&published); /* pairs with the store above */
	CHECK(block == NULL || is_filled(block), "a child lacks a block that was published");
}

static void fork_beside_use(void)
{
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, use_and_free, NULL) == 0, "no thread");
	for (unsigned i = 0; i < FORKS; i++)
		in_child(has_published);
	pfs_store_relaxed(&is_over, 1); /* relaxed: seen some time */
	(void)pthread_join(thread, NULL);
}

int main(void)
{
	pfs_start();
	pfs_conf.tick_ms = 0; /* also where no option says so: a tick would purge what is hidden */
	(void)pfs_cache_attached();
	pfs_start_handlers();
	for (unsigned round = 0; round < 3; round++)
		fork_and_use(round);
	forget_map();
	grow_over_hidden();
	hide_gap();
	purge_hidden();
	fork_where_unknown();
	fork_beside_holes();
	fork_beside_use();
	fill(1);
	free_all();
	/* What cannot be shown again is used by nobody. */
	in_child(do_nothing);
	refusals = 2;
	fill(5);
	CHECK(refusals < 2, "nothing was shown");
	refusals = 0;
	in_child(has_all);
	return 0;
}
