/*
 * extents_test.c - random calls of an arena's extents. After each call: every page is in one
 * extent, the map has the ends of each extent and nothing between [EX1], no two free neighbours are
 * of the same kind [EX2], pages and bytes are counted [EX3], what is marked zeroed is zero, and no
 * page in use is hidden from children [EX4].
 * Sometimes metadata is refused; then nothing may be lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/hidden.h"
#include "memory/malloc/map.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"

#ifndef STEPS
#define STEPS 12000u
#endif
#define HELD_MOST 60u
#define EXTENTS_MOST 4096u
#define RING PFS_RING_OFFSET(3)

static struct pfs_arena arena; /* used by this test only */
static struct pfs_extents *const extents = &arena.extents;
static struct pfs_extent *held[HELD_MOST];
static uint32_t held_count;
static uint64_t seed;
static uint32_t step;
static uint32_t refusals; /* descriptors to refuse next */
static bool has_no_chunk; /* no memory for more of them */

#define CHECK(condition, ...)                                                   \
	do {                                                                    \
		if (!(condition)) {                                             \
			(void)fprintf(stderr, "extents_test: step %u: ", step); \
			(void)fprintf(stderr, __VA_ARGS__);                     \
			(void)fprintf(stderr, "\n");                            \
			exit(1);                                                \
		}                                                               \
	} while (0)

void *__real_pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes);
void *__wrap_pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes);

void *__wrap_pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes)
{
	return has_no_chunk ? NULL : __real_pfs_base_new(pool, size_bytes);
}

struct pfs_extent *__real_pfs_descriptors_take(struct pfs_descriptors *self);
struct pfs_extent *__wrap_pfs_descriptors_take(struct pfs_descriptors *self);

struct pfs_extent *__wrap_pfs_descriptors_take(struct pfs_descriptors *self)
{
	if (refusals != 0) {
		refusals--;
		return NULL;
	}
	return __real_pfs_descriptors_take(self);
}

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* ---- what the system hides ---- */

#define HIDDEN_PLACES ((size_t)1 << 18)

static uintptr_t hidden[HIDDEN_PLACES]; /* a page, and 1 if it is hidden; 0: none */
static uint32_t hides, shows;

bool __real_pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial);
bool __wrap_pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial);
bool __real_pfs_system_show(void *pages, size_t size_bytes);
bool __wrap_pfs_system_show(void *pages, size_t size_bytes);

static uintptr_t *hidden_place(uintptr_t page)
{
	size_t at = (page / PFS_OS_PAGE * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
	while (hidden[at] != 0 && (hidden[at] & ~(uintptr_t)1) != page)
		at = (at + 1) % HIDDEN_PLACES;
	return &hidden[at];
}

static bool is_hidden(uintptr_t page)
{
	return (*hidden_place(page) & 1) != 0;
}

static void set_hidden(const void *pages, size_t size_bytes, bool to)
{
	for (size_t at = 0; at < size_bytes; at += PFS_OS_PAGE) {
		uintptr_t page = (uintptr_t)pages + at;
		*hidden_place(page) = page | to;
	}
}

/* Sometimes it hides half of what was asked for, and refuses. */
bool __wrap_pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial)
{
	bool done = draw(4) != 0;
	size_t bytes = done ? size_bytes : size_bytes / PFS_OS_PAGE / 2 * PFS_OS_PAGE;
	hides++;
	set_hidden(pages, bytes, true);
	(void)__real_pfs_system_hide(pages, bytes, is_partial);
	*is_partial = !done;
	return done;
}

bool __wrap_pfs_system_show(void *pages, size_t size_bytes)
{
	shows++;
	set_hidden(pages, size_bytes, false);
	return __real_pfs_system_show(pages, size_bytes);
}

/* Returns how many runs of its pages are hidden. */
static uint32_t check_hidden(const struct pfs_extent *extent)
{
	uint32_t runs = 0;
	bool was = false, is_all = true;
	for (size_t at = 0; at < extent->size_bytes; at += PFS_OS_PAGE) {
		bool is = is_hidden(extent->base + at);
		runs += is && !was;
		is_all &= is;
		was = is;
	}
	CHECK(runs <= extent->hidden_parts, "%u runs of pages are hidden, %u counted", runs,
	      extent->hidden_parts);
	CHECK(is_all || !extent->is_hidden, "an extent that is hidden has pages that are not");
	CHECK(!extent->is_hidden || extent->hidden_parts == 1, "one hidden run counts as %u",
	      extent->hidden_parts);
	return extent->hidden_parts;
}

/* ---- the invariants ---- */

static struct pfs_extent *all[EXTENTS_MOST];
static uint32_t all_count;

static void add(struct pfs_extent *extent)
{
	CHECK(all_count < EXTENTS_MOST, "too many extents");
	all[all_count++] = extent;
}

/* A kind's list by length has the same extents as its list by age. */
static void add_kind(enum pfs_extent_kind kind)
{
	const struct pfs_extents_kind *lists = &extents->kinds[kind];
	uint32_t by_age = 0, by_length = 0;
	size_t pages = 0;
	for (struct pfs_extent *at = lists->oldest; at != NULL; at = at->newer) {
		CHECK(pfs_extent_kind(at) == kind, "an extent is in another kind's list");
		pages += at->size_bytes / PFS_OS_PAGE;
		by_age++;
		add(at);
	}
	for (uint32_t length = 0; length < PFS_LENGTH_COUNT; length++) {
		bool is_said = (lists->has_length[length / 64] >> (length % 64) & 1) != 0;
		CHECK(is_said == (lists->lengths[length] != NULL), "length %u: wrong bit", length);
		for (struct pfs_extent *at = lists->lengths[length]; at != NULL; at = at->next) {
			CHECK(pfs_length_floor(at->size_bytes / PFS_OS_PAGE) == length,
			      "an extent is in another length's list");
			by_length++;
		}
	}
	CHECK(by_age == by_length, "%u extents by age, %u by length", by_age, by_length);
	CHECK(pages == lists->pages, "%zu pages, %zu counted", pages, lists->pages);
	CHECK(lists->pages_low <= lists->pages, "more pages at least than there are");
}

static int by_base(const void *left, const void *right)
{
	uintptr_t a = (*(struct pfs_extent *const *)left)->base;
	uintptr_t b = (*(struct pfs_extent *const *)right)->base;
	return (a > b) - (a < b);
}

static void check_map(struct pfs_extent *extent)
{
	bool is_slab = pfs_extent_kind(extent) == PFS_EXTENT_SLAB;
	uintptr_t last = extent->base + extent->size_bytes - PFS_OS_PAGE;
	for (uintptr_t at = extent->base; at <= last; at += PFS_OS_PAGE) {
		uint64_t entry = pfs_map_entry_or_none(at);
		bool is_known = is_slab || at == extent->base || at == last;
		CHECK(pfs_map_extent(entry) == (is_known ? extent : NULL),
		      "the map has page %zu of %zu wrong", (at - extent->base) / PFS_OS_PAGE,
		      extent->size_bytes / PFS_OS_PAGE);
		CHECK(pfs_map_ring(entry) == (is_slab ? RING : 0), "the map has a wrong ring");
	}
}

static void check_neighbours(struct pfs_extent *left, struct pfs_extent *right)
{
	uintptr_t end = left->base + left->size_bytes;
	CHECK(end <= right->base, "two extents have one page");
	CHECK(end < right->base || pfs_extent_kind(left) >= PFS_EXTENT_FREE_KINDS ||
		      pfs_extent_kind(left) != pfs_extent_kind(right),
	      "two free neighbours of kind %d", (int)pfs_extent_kind(left));
}

static void check(void)
{
	size_t bytes = 0, active = 0;
	uint32_t parts = 0;
	all_count = 0;
	for (uint32_t kind = 0; kind < PFS_EXTENT_FREE_KINDS; kind++)
		add_kind((enum pfs_extent_kind)kind);
	for (uint32_t at = 0; at < held_count; at++) {
		active += held[at]->size_bytes;
		add(held[at]);
	}
	qsort(all, all_count, sizeof(all[0]), by_base);
	for (uint32_t at = 0; at < all_count; at++) {
		bytes += all[at]->size_bytes;
		CHECK(pfs_extent_arena(all[at]) == &arena, "an extent of no arena");
		check_map(all[at]);
		parts += check_hidden(all[at]);
		CHECK(pfs_extent_kind(all[at]) < PFS_EXTENT_FREE_KINDS ||
			      all[at]->hidden_parts == 0,
		      "an extent in use is hidden");
		if (at != 0)
			check_neighbours(all[at - 1], all[at]);
	}
	CHECK(bytes == extents->mapped_bytes, "%zu bytes in extents, %zu mapped", bytes,
	      extents->mapped_bytes);
	CHECK(parts == extents->hidden_parts, "%u hidden parts, %u counted", parts,
	      extents->hidden_parts);
	CHECK(active == extents->active_bytes, "%zu bytes in use, %zu counted", active,
	      extents->active_bytes);
}

/* ---- the calls ---- */

static char *page_of(const struct pfs_extent *extent, size_t page)
{
	return (char *)extent->base + page * PFS_OS_PAGE; /* NOLINT: addresses are numbers here */
}

static void expect_zeroes(const struct pfs_extent *extent)
{
	size_t page = extent->dirty_bytes / PFS_OS_PAGE;
	for (; page < extent->size_bytes / PFS_OS_PAGE; page++)
		CHECK(*page_of(extent, page) == 0, "page %zu is said to be zeroed", page);
}

static void fill(const struct pfs_extent *extent)
{
	for (size_t page = 0; page < extent->size_bytes / PFS_OS_PAGE; page++)
		*page_of(extent, page) = 1;
}

static void take(void)
{
	size_t size_bytes = (1 + draw(draw(8) == 0 ? 700 : 24)) * PFS_OS_PAGE;
	size_t align_bytes = (size_t)PFS_OS_PAGE << (draw(3) == 0 ? draw(8) : 0);
	if (held_count == HELD_MOST)
		return;
	struct pfs_extent *extent = pfs_extents_take(extents, size_bytes, align_bytes);
	if (extent == NULL)
		return; /* metadata was refused */
	CHECK(extent->size_bytes == size_bytes, "another size than was asked for");
	CHECK((extent->base & (align_bytes - 1)) == 0, "not aligned");
	expect_zeroes(extent);
	fill(extent);
	pfs_extent_set_kind(extent, draw(3) == 0 ? PFS_EXTENT_SLAB : PFS_EXTENT_LARGE);
	if (pfs_extent_kind(extent) == PFS_EXTENT_SLAB)
		pfs_map_set_all(extent->base, size_bytes, extent, RING);
	held[held_count++] = extent;
}

static void give(uint32_t at)
{
	struct pfs_extent *extent = held[at];
	held[at] = held[--held_count];
	if (pfs_extent_kind(extent) == PFS_EXTENT_SLAB) { /* as slab_end */
		pfs_map_set_all(extent->base, extent->size_bytes, NULL, 0);
		pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	}
	pfs_extents_give(extents, extent, PFS_EXTENT_DIRTY);
}

/* Resize in place; only large extents are resized. */
static void resize(struct pfs_extent *extent)
{
	size_t pages = extent->size_bytes / PFS_OS_PAGE;
	size_t before = extent->size_bytes;
	if (pfs_extent_kind(extent) != PFS_EXTENT_LARGE)
		return;
	if (draw(2) == 0 && pages > 1) {
		size_t after = (1 + draw(pages - 1)) * PFS_OS_PAGE;
		bool done = pfs_extents_shrink(extents, extent, after);
		CHECK(extent->size_bytes == (done ? after : before), "not what shrink said");
	} else {
		size_t after = before + (1 + draw(16)) * PFS_OS_PAGE;
		bool done = pfs_extents_grow(extents, extent, after);
		CHECK(extent->size_bytes == (done ? after : before), "not what grow said");
		fill(extent);
	}
}

static void purge(void)
{
	enum pfs_extent_kind kind = draw(2) == 0 ? PFS_EXTENT_DIRTY : PFS_EXTENT_MUZZY;
	size_t pages = extents->kinds[kind].pages;
	size_t left = draw(4) == 0 ? 0 : draw(pages + 1);
	size_t gone = pfs_extents_purge(extents, kind, left, kind == PFS_EXTENT_DIRTY && draw(2));
	CHECK(gone >= pages - left, "%zu pages of %zu are gone, %zu were to be left", gone, pages,
	      left);
}

/* A fork hides what is not hidden yet, and no fork twice. */
static void hide(void)
{
	struct pfs_hiding hiding = { extents->hidden_parts, 0 };
	bool is_all = pfs_hidden_hide_in(&hiding, extents);
	CHECK(hiding.parts == extents->hidden_parts || !is_all, "wrong parts");
	uint32_t before = hides;
	hiding.looks = 0;
	(void)pfs_hidden_hide_in(&hiding, extents);
	CHECK(!is_all || hides == before, "the same pages are hidden twice");
}

/* What is mapped at these addresses later is not hidden. */
static void unmap(void)
{
	struct pfs_extent *extent = extents->kinds[PFS_EXTENT_RETAINED].oldest;
	for (; extent != NULL; extent = extent->newer)
		set_hidden((void *)extent->base, extent->size_bytes, false); /* NOLINT: a number */
	(void)pfs_extents_unmap(extents);
}

static void one_call(void)
{
	uint64_t kind = draw(100);
	refusals = draw(20) == 0 ? 1 + (uint32_t)draw(2) : 0;
	has_no_chunk = draw(4) == 0;
	if (kind < 40)
		take();
	else if (kind < 64 && held_count != 0)
		give((uint32_t)draw(held_count));
	else if (kind < 77 && held_count != 0)
		resize(held[draw(held_count)]);
	else if (kind < 95)
		hide();
	else if (kind < 97)
		purge();
	else if (kind < 98)
		(void)pfs_extents_wipe(extents, 1 + draw(9));
	else if (kind < 99)
		(void)pfs_extents_low(extents, PFS_EXTENT_DIRTY);
	else if (draw(8) == 0)
		unmap();
	refusals = 0;
	has_no_chunk = false;
}

/* Dirty pages that are too few are used together with retained ones behind them. */
static void check_grown(void)
{
	struct pfs_extent *extent = pfs_extents_take(extents, 32 * PFS_OS_PAGE, PFS_OS_PAGE);
	uintptr_t base = extent->base;
	fill(extent);
	pfs_extents_give(extents, extent, PFS_EXTENT_DIRTY);
	size_t new_pages = pfs_load_relaxed(&extents->new_pages); /* relaxed: a test */
	extent = pfs_extents_take(extents, 48 * PFS_OS_PAGE, PFS_OS_PAGE);
	new_pages = pfs_load_relaxed(&extents->new_pages) - new_pages; /* relaxed: a test */
	CHECK(extent->base == base && new_pages == 16, "%zu new pages beside 32 dirty ones",
	      new_pages);
	CHECK(extent->dirty_bytes == 32 * PFS_OS_PAGE, "%zu dirty bytes", extent->dirty_bytes);
	expect_zeroes(extent);
	pfs_extent_set_kind(extent, PFS_EXTENT_LARGE);
	held[held_count++] = extent;
	check();
	give(0);
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 88172645463325252u;
	pfs_start();
	pfs_extents_init(extents, &arena);
	check_grown();
	for (; step < STEPS; step++) {
		one_call();
		check();
	}
	while (held_count != 0)
		give(held_count - 1);
	check();
	(void)pfs_extents_purge(extents, PFS_EXTENT_DIRTY, 0, false);
	(void)pfs_extents_purge(extents, PFS_EXTENT_MUZZY, 0, false);
	check();
	unmap();
	check();
	CHECK(shows > STEPS / 1000 && shows <= 3 * hides + 2 * extents->purges,
	      "%u hides, %u shows", hides, shows);
	CHECK(extents->mapped_bytes == 0, "%zu bytes are still mapped", extents->mapped_bytes);
	(void)printf("%u calls: fine\n", STEPS);
	return 0;
}
