/*
 * corner_jemalloc.c - mallocx and its family: sizes, alignments, zeroing, arenas, thread caches.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "je.h"

#define BLOCKS 500
#define FAR 65536

/* jemalloc's values, which are compiled into programs. */
_Static_assert(MALLOCX_ZERO == 0x40 && MALLOCX_LG_ALIGN(6) == 6, "flags");
_Static_assert(MALLOCX_TCACHE_NONE == 0x100 && MALLOCX_TCACHE(0) == 0x200, "thread caches");
_Static_assert(MALLOCX_ARENA(0) == 0x100000 && MALLOCX_ARENA(3) == 0x400000, "arenas");
_Static_assert(MALLCTL_ARENAS_ALL == 4096, "all arenas");

static size_t size_at(unsigned step)
{
	size_t doubling = (size_t)8 << step / 6;
	return doubling + doubling * (step % 6) / 6 - 1;
}

static void check_block(char *block, size_t size, int flags, size_t wanted)
{
	size_t align = (size_t)1 << (flags & 63);
	CORNER_CHECK(block != NULL, "mallocx(%zu, %#x) is NULL", size, (unsigned)flags);
	size_t has = sallocx(block, flags);
	CORNER_CHECK(has == wanted && has >= size, "mallocx(%zu, %#x): has %zu, nallocx says %zu",
		     size, (unsigned)flags, has, wanted);
	CORNER_CHECK(malloc_usable_size(block) == has, "usable size %zu, sallocx %zu",
		     malloc_usable_size(block), has);
	CORNER_CHECK(((uintptr_t)block & (align - 1)) == 0, "%p is not at a multiple of %zu",
		     (void *)block, align);
}

static void one_of_each(int more_flags)
{
	for (unsigned step = 0; step < 100; step++) {
		for (int lg = 0; lg < 18; lg++) {
			size_t size = size_at(step);
			int flags = MALLOCX_LG_ALIGN(lg) | more_flags;
			char *block = mallocx(size, flags);
			check_block(block, size, flags, nallocx(size, flags));
			corner_stamp(block, size, step);
			CORNER_CHECK(corner_stamp_differs(block, size, step) == size, "stamps");
			sdallocx(block, size, flags);
		}
	}
}

JE_CORNER(sizes_and_alignments)
{
	one_of_each(0);
	one_of_each(MALLOCX_TCACHE_NONE);
	CORNER_CHECK(MALLOCX_ALIGN(1) == 0 && MALLOCX_ALIGN(4096) == 12, "MALLOCX_ALIGN");
	CORNER_CHECK(MALLOCX_ALIGN((size_t)1 << 40) == 40, "MALLOCX_ALIGN of 1 TiB");
}

JE_CORNER(too_much)
{
	size_t most = (size_t)7 << 60;
	CORNER_CHECK(nallocx(corner_opaque(most), 0) == most, "nallocx of the largest class");
	CORNER_CHECK(nallocx(corner_opaque(most + 1), 0) == 0, "nallocx beyond");
	CORNER_CHECK(nallocx(SIZE_MAX, MALLOCX_LG_ALIGN(20)) == 0, "nallocx of all");
	CORNER_CHECK(mallocx(corner_opaque(most + 1), 0) == NULL, "mallocx beyond");
	CORNER_CHECK(mallocx(SIZE_MAX, MALLOCX_ZERO) == NULL, "mallocx of all");
	CORNER_CHECK(mallocx(corner_opaque(PTRDIFF_MAX), MALLOCX_LG_ALIGN(62)) == NULL, "aligned");
	char *block = mallocx(100, 0);
	corner_stamp(block, 100, 1);
	CORNER_CHECK(rallocx(block, corner_opaque(most + 1), 0) == NULL, "rallocx beyond");
	CORNER_CHECK(corner_stamp_differs(block, 100, 1) == 100, "the block is as it was");
	CORNER_CHECK(xallocx(block, most, most, 0) == sallocx(block, 0), "xallocx beyond");
	dallocx(block, 0);
}

static bool is_zero(const char *block, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (block[i] != 0)
			return false;
	return true;
}

JE_CORNER(zeroes)
{
	static const int flags[] = { 0, MALLOCX_TCACHE_NONE, MALLOCX_LG_ALIGN(13) };
	for (unsigned step = 0; step < 90; step++) {
		for (unsigned i = 0; i < 3; i++) {
			size_t size = size_at(step);
			char *dirty = mallocx(size, flags[i]);
			memset(dirty, 0x77, sallocx(dirty, 0));
			dallocx(dirty, flags[i]);
			char *block = mallocx(size, flags[i] | MALLOCX_ZERO);
			CORNER_CHECK(is_zero(block, 0, sallocx(block, 0)), "%zu bytes, flags %#x",
				     size, (unsigned)flags[i]);
			dallocx(block, 0);
		}
	}
}

/* Resize through many sizes: the contents stay, and added bytes are zero if that was asked for. */
static void walk_sizes(int flags)
{
	size_t size = 10;
	char *block = mallocx(size, flags);
	corner_stamp(block, size, 7);
	for (unsigned step = 0; step < 400; step++) {
		size_t next = size_at((step * 37) % 97);
		size_t had = sallocx(block, 0);
		size_t kept = next < size ? next : size;
		size_t zero_from = had;
		block = rallocx(block, next, flags);
		CORNER_CHECK(block != NULL, "rallocx to %zu", next);
		CORNER_CHECK(corner_stamp_differs(block, kept, 7) == kept,
			     "%zu to %zu bytes lost something", size, next);
		CORNER_CHECK(((uintptr_t)block & (((size_t)1 << (flags & 63)) - 1)) == 0, "align");
		if ((flags & MALLOCX_ZERO) != 0 && next > zero_from)
			CORNER_CHECK(is_zero(block, zero_from, sallocx(block, 0)),
				     "what %zu bytes have more than %zu is not zero", next, had);
		size = next;
		memset(block, 0x55, sallocx(block, 0));
		corner_stamp(block, size, 7);
	}
	dallocx(block, flags);
}

JE_CORNER(rallocx_keeps)
{
	walk_sizes(0);
	walk_sizes(MALLOCX_ZERO);
	walk_sizes(MALLOCX_TCACHE_NONE);
	walk_sizes(MALLOCX_LG_ALIGN(14));
	walk_sizes(MALLOCX_LG_ALIGN(8) | MALLOCX_ZERO);
	char *made = rallocx(mallocx(1, 0), 5000, MALLOCX_ALIGN(FAR));
	CORNER_CHECK(((uintptr_t)made & (FAR - 1)) == 0, "rallocx with an alignment");
	dallocx(made, 0);
}

JE_CORNER(xallocx_in_place)
{
	char *small = mallocx(100, 0);
	size_t has = sallocx(small, 0);
	CORNER_CHECK(xallocx(small, has, 0, 0) == has, "a small block stays");
	CORNER_CHECK(xallocx(small, 5000, 0, 0) == has, "a small block cannot grow");
	CORNER_CHECK(xallocx(small, 8, 0, 0) == has, "a small block cannot shrink");
	dallocx(small, 0);
	char *large;
	size_t now = 0;
	/* Another thread of the allocator's own may take what lies behind. */
	for (int i = 0; i < 10 && now != 2 * FAR; i++) {
		large = mallocx((size_t)1 << 20, 0);
		corner_stamp(large, (size_t)1 << 20, 3);
		CORNER_CHECK(xallocx(large, FAR, 0, 0) == FAR, "1 MiB to 64 KiB: %zu",
			     sallocx(large, 0));
		CORNER_CHECK(corner_stamp_differs(large, FAR, 3) == FAR, "the first 64 KiB");
		now = xallocx(large, 2 * FAR, 0, MALLOCX_ZERO);
	}
	CORNER_CHECK(now == 2 * FAR, "back to 128 KiB: %zu", now);
	CORNER_CHECK(corner_stamp_differs(large, FAR, 3) == FAR, "the first 64 KiB, after growth");
	CORNER_CHECK(is_zero(large, FAR, now), "what is new is not zero");
	CORNER_CHECK(xallocx(large, FAR, FAR, 0) == now, "between size and size + extra it stays");
	now = xallocx(large, 2 * FAR, 2 * FAR, 0);
	CORNER_CHECK(now >= 2 * FAR && now <= 4 * FAR, "with extra: %zu", now);
	CORNER_CHECK(sallocx(large, 0) == now, "xallocx says %zu, sallocx %zu", now,
		     sallocx(large, 0));
	CORNER_CHECK(xallocx(large, (size_t)1 << 46, 0, 0) == now, "64 TiB in place");
	CORNER_CHECK(xallocx(large, 1, SIZE_MAX - 1, 0) >= 1, "as much as there is");
	dallocx(large, 0);
}

static unsigned new_arena(void)
{
	return je_unsigned("arenas.create");
}

JE_CORNER(arenas_by_number)
{
	unsigned arena = new_arena();
	static void *blocks[BLOCKS];
	int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE;
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = mallocx(size_at(i % 80), flags);
		CORNER_CHECK(blocks[i] != NULL && je_arena_of(blocks[i]) == arena,
			     "block %u is of arena %u, not %u", i, je_arena_of(blocks[i]), arena);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		dallocx(blocks[i], i % 2 != 0 ? flags : 0);
	char *elsewhere = mallocx(3000, 0);
	corner_stamp(elsewhere, 3000, 2);
	char *moved = rallocx(elsewhere, 9000, flags);
	CORNER_CHECK(je_arena_of(moved) == arena, "rallocx to an arena: %u", je_arena_of(moved));
	CORNER_CHECK(corner_stamp_differs(moved, 3000, 2) == 3000, "rallocx to an arena");
	dallocx(moved, flags);
}

JE_CORNER(explicit_caches)
{
	unsigned caches[3];
	static void *blocks[BLOCKS];
	for (unsigned i = 0; i < 3; i++) {
		caches[i] = je_unsigned("tcache.create");
		for (unsigned j = 0; j < i; j++)
			CORNER_CHECK(caches[i] != caches[j], "cache %u twice", caches[i]);
	}
	for (unsigned round = 0; round < 30; round++) {
		for (unsigned i = 0; i < BLOCKS; i++) {
			blocks[i] = mallocx(size_at(i % 80), MALLOCX_TCACHE(caches[i % 3]));
			corner_stamp(blocks[i], size_at(i % 80), i);
		}
		for (unsigned i = 0; i < BLOCKS; i++) {
			size_t size = size_at(i % 80);
			CORNER_CHECK(corner_stamp_differs(blocks[i], size, i) == size, "stamps");
			dallocx(blocks[i], MALLOCX_TCACHE(caches[(i + round) % 3]));
		}
		if (round % 10 == 9)
			je_write("tcache.flush", &caches[1], sizeof(unsigned));
	}
	for (unsigned i = 0; i < 3; i++)
		je_write("tcache.destroy", &caches[i], sizeof(unsigned));
	CORNER_CHECK(je_unsigned("tcache.create") <= caches[2], "numbers come again");
}

/* As a store does that keeps its values in one arena: one cache for that arena. */
JE_CORNER(explicit_cache_of_an_arena)
{
	unsigned arena = new_arena();
	unsigned cache = je_unsigned("tcache.create");
	int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE(cache);
	void *blocks[100];
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 100; i++) {
			blocks[i] = mallocx(200, flags);
			CORNER_CHECK(je_arena_of(blocks[i]) == arena, "round %u: arena %u", round,
				     je_arena_of(blocks[i]));
		}
		for (unsigned i = 0; i < 100; i++)
			dallocx(blocks[i], flags);
	}
	je_write("tcache.destroy", &cache, sizeof(cache));
}

static void *from_child_cache(void *argument)
{
	unsigned cache = *(unsigned *)argument;
	for (unsigned i = 0; i < 20000; i++)
		dallocx(mallocx(64 + i % 200, MALLOCX_TCACHE(cache)), MALLOCX_TCACHE(cache));
	return NULL;
}

static void use_in_child(void *argument)
{
	(void)from_child_cache(argument);
	je_write("tcache.destroy", argument, sizeof(unsigned));
}

JE_CORNER(explicit_caches_and_fork)
{
	unsigned cache = je_unsigned("tcache.create");
	corner_threads(1, from_child_cache, &cache);
	corner_child(use_in_child, &cache, 20);
	(void)from_child_cache(&cache);
	je_write("tcache.destroy", &cache, sizeof(cache));
}

static void *from_all(void *unused)
{
	(void)unused;
	unsigned cache = je_unsigned("tcache.create");
	for (unsigned i = 0; i < 20000; i++) {
		const int ways[] = { MALLOCX_TCACHE_NONE, MALLOCX_TCACHE(cache), 0 };
		int flags = ways[i % 3];
		size_t size = size_at(i % 70);
		char *block = mallocx(size, flags);
		corner_stamp(block, size < 100 ? size : 100, i);
		block = rallocx(block, size_at((i * 7) % 70), flags);
		dallocx(block, i % 2 != 0 ? flags : 0);
	}
	je_write("tcache.destroy", &cache, sizeof(cache));
	return NULL;
}

JE_CORNER(threads_together)
{
	corner_threads(6, from_all, NULL);
}
