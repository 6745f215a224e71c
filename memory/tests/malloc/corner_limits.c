/*
 * corner_limits.c - alignment, oversized requests, zero bytes, errno: of every call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corner.h"

#define TOO_LARGE ((size_t)PTRDIFF_MAX + 1)

static const size_t too_large[] = { TOO_LARGE,          TOO_LARGE + 4096, SIZE_MAX / 2 + 70000,
				    SIZE_MAX - 1048576, SIZE_MAX - 65536, SIZE_MAX - 16384,
				    SIZE_MAX - 8192,    SIZE_MAX - 4096,  SIZE_MAX - 4095,
				    SIZE_MAX - 64,      SIZE_MAX - 16,    SIZE_MAX - 15,
				    SIZE_MAX - 8,       SIZE_MAX - 1,     SIZE_MAX };
#define TOO_LARGE_COUNT (sizeof(too_large) / sizeof(too_large[0]))

static void must_refuse(const char *call, void *block, size_t size)
{
	CORNER_CHECK(block == NULL, "%s of %#zx bytes gave %p", call, size, block);
	CORNER_CHECK(errno == ENOMEM, "%s of %#zx bytes: errno %d", call, size, errno);
	errno = 0;
}

static void check_aligned(const char *call, const void *block, size_t size, size_t alignment)
{
	CORNER_CHECK(block != NULL, "%s of %zu bytes at %zu: NULL", call, size, alignment);
	CORNER_CHECK((uintptr_t)block % alignment == 0, "%s of %zu bytes at %zu: %p", call, size,
		     alignment, block);
}

CORNER(align_sixteen)
{
	for (size_t size = 16; size < (size_t)4 << 20; size += 1 + size / 7) {
		void *blocks[9];
		for (int i = 0; i < 9; i += 3) {
			blocks[i] = malloc(size);
			check_aligned("malloc", blocks[i], size, 16);
			blocks[i + 1] = calloc(1, size);
			check_aligned("calloc", blocks[i + 1], size, 16);
			blocks[i + 2] = realloc(malloc(corner_opaque(8)), size);
			check_aligned("realloc", blocks[i + 2], size, 16);
		}
		for (int i = 0; i < 9; i++)
			free(blocks[i]);
	}
}

/* Informative only: the alignment and usable size of smaller blocks. */
CORNER(align_below_sixteen)
{
	size_t worst[16], usable[16];
	for (size_t size = 1; size < 16; size++) {
		worst[size] = 4096;
		for (int i = 0; i < 200; i++) {
			void *block = malloc(size);
			while ((uintptr_t)block % worst[size] != 0)
				worst[size] /= 2;
			usable[size] = malloc_usable_size(block);
		}
		CORNER_CHECK(worst[size] >= 8 || worst[size] >= size, "%zu bytes at %zu", size,
			     worst[size]);
	}
	corner_note("1 byte at %zu (%zu usable), 8 at %zu (%zu), 9 at %zu (%zu), 15 at %zu (%zu)",
		    worst[1], usable[1], worst[8], usable[8], worst[9], usable[9], worst[15],
		    usable[15]);
}

static void ask_thrice(size_t alignment, size_t size)
{
	void *three[3] = { memalign(alignment, size), aligned_alloc(alignment, size), NULL };
	int error = posix_memalign(&three[2], alignment, size);
	CORNER_CHECK(error == 0, "posix_memalign(%zu, %zu): %d", alignment, size, error);
	for (int i = 0; i < 3; i++) {
		check_aligned("an aligned call", three[i], size, alignment);
		memset(three[i], 1, size);
	}
	for (int i = 0; i < 3; i++)
		free(three[i]);
}

CORNER(align_asked_for)
{
	for (size_t alignment = 8; alignment <= (size_t)32 << 20; alignment *= 2)
		for (size_t size = 1; size < (size_t)1 << 20; size = size * 3 + 5)
			ask_thrice(alignment, size);
}

/* A block whose size is its alignment may come from the slab of that size, if that is aligned. */
CORNER(align_own_size)
{
	for (int round = 0; round < 40; round++) {
		for (size_t alignment = 16; alignment <= (size_t)2 << 20; alignment *= 2) {
			for (size_t times = 1; times <= 4; times++) {
				void *neighbour = malloc(alignment * times);
				ask_thrice(alignment, alignment * times);
				ask_thrice(alignment, alignment * times - 8);
				if (round % 3 == 0)
					free(neighbour);
			}
		}
	}
}

CORNER(align_refused)
{
	static const size_t wrong[] = { 0, 1, 2, 4, 3, 12, 24, 100, 4097 };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		void *block = &block;
		int error = posix_memalign(&block, corner_opaque(wrong[i]), 100);
		CORNER_CHECK(error == EINVAL, "posix_memalign at %zu: %d", wrong[i], error);
		CORNER_CHECK(block == (void *)&block, "posix_memalign at %zu wrote", wrong[i]);
	}
}

CORNER(align_odd)
{
	void *block = memalign(corner_opaque(24), 100);
	corner_note("memalign(24): %s", block == NULL                ? strerror(errno)
					: (uintptr_t)block % 32 == 0 ? "at 32"
								     : "below 32");
	free(block);
}

CORNER(large_malloc)
{
	for (size_t i = 0; i < TOO_LARGE_COUNT; i++)
		must_refuse("malloc", malloc(corner_opaque(too_large[i])), too_large[i]);
}

CORNER(large_calloc)
{
	for (size_t i = 0; i < TOO_LARGE_COUNT; i++) {
		size_t size = too_large[i];
		must_refuse("calloc(1, n)", calloc(corner_opaque(1), size), size);
		must_refuse("calloc(n, 1)", calloc(size, corner_opaque(1)), size);
		for (size_t part = 2; part < (size_t)1 << 40; part *= 16) {
			must_refuse("calloc(n, part)", calloc(size / part + 1, part), size);
			must_refuse("calloc(n, n)", calloc(corner_opaque(size), part), size);
		}
	}
	size_t root = corner_opaque((size_t)1 << 32);
	must_refuse("calloc(2^32, 2^32)", calloc(root, root), 0);
	must_refuse("calloc(2^32 + 1, 2^32)", calloc(root + 1, root), 0);
}

CORNER(large_realloc)
{
	for (size_t old = 16; old < (size_t)8 << 20; old *= 8) {
		unsigned char *block = malloc(old);
		corner_stamp(block, old, 3);
		for (size_t i = 0; i < TOO_LARGE_COUNT; i++) {
			size_t size = too_large[i];
			must_refuse("realloc", realloc(block, corner_opaque(size)), size);
			must_refuse("reallocarray", reallocarray(block, corner_opaque(1), size),
				    size);
			must_refuse("reallocarray(n, 16)",
				    reallocarray(block, size / 16 + 1, corner_opaque(16)), size);
			must_refuse("reallocarray(n, n)", reallocarray(block, size, size), size);
		}
		CORNER_CHECK(corner_stamp_differs(block, old, 3) == old,
			     "a refused realloc changed the block of %zu bytes", old);
		free(block);
	}
	must_refuse("realloc(NULL, n)", realloc(NULL, corner_opaque(TOO_LARGE)), TOO_LARGE);
}

CORNER(large_memalign)
{
	for (size_t alignment = 8; alignment <= SIZE_MAX / 4 + 1; alignment *= 2) {
		for (size_t i = 0; i < TOO_LARGE_COUNT; i++) {
			size_t size = corner_opaque(too_large[i]);
			must_refuse("memalign", memalign(alignment, size), size);
			must_refuse("aligned_alloc", aligned_alloc(alignment, size), size);
		}
	}
}

CORNER(large_posix_memalign)
{
	for (size_t alignment = 8; alignment <= SIZE_MAX / 4 + 1; alignment *= 2) {
		for (size_t i = 0; i < TOO_LARGE_COUNT; i++) {
			void *block = &block;
			size_t size = corner_opaque(too_large[i]);
			int error = posix_memalign(&block, alignment, size);
			CORNER_CHECK(error == ENOMEM, "posix_memalign(%#zx, %#zx): %d", alignment,
				     size, error);
			CORNER_CHECK(block == (void *)&block, "it wrote its result");
		}
	}
}

/* There is no power of two that large. */
CORNER(impossible_alignment)
{
	size_t alignment = SIZE_MAX / 2 + 2;
	errno = 0;
	void *block = memalign(corner_opaque(alignment), 100);
	CORNER_CHECK(block == NULL && errno == EINVAL, "memalign(%#zx): %p, errno %d", alignment,
		     block, errno);
}

/* No machine has that much; the sum of alignment and size must not wrap around. */
CORNER(large_alignment)
{
	for (size_t alignment = SIZE_MAX / 2 + 1; alignment >= (size_t)1 << 48; alignment /= 2) {
		for (size_t size = 1; size < (size_t)1 << 32; size *= 37) {
			void *block = NULL;
			errno = 0;
			must_refuse("memalign, huge", memalign(alignment, size), size);
			must_refuse("aligned_alloc, huge", aligned_alloc(alignment, size), size);
			int error = posix_memalign(&block, alignment, size);
			CORNER_CHECK(error == ENOMEM && block == NULL,
				     "posix_memalign(%#zx, %zu): %d", alignment, size, error);
		}
	}
}

/* POSIX leaves errno unspecified; glibc sets ENOMEM, and its own tests require that. */
CORNER(errno_posix_memalign)
{
	void *block = NULL;
	errno = 0;
	int error = posix_memalign(&block, 64, corner_opaque(TOO_LARGE));
	CORNER_CHECK(error == ENOMEM, "posix_memalign: %d", error);
	CORNER_CHECK(errno == ENOMEM, "it left errno %d", errno);
}

CORNER(large_valloc)
{
	for (size_t i = 0; i < TOO_LARGE_COUNT; i++)
		must_refuse("valloc", valloc(corner_opaque(too_large[i])), too_large[i]);
}

CORNER(large_pvalloc)
{
	for (size_t i = 0; i < TOO_LARGE_COUNT; i++)
		must_refuse("pvalloc", pvalloc(corner_opaque(too_large[i])), too_large[i]);
}

CORNER(valloc_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t size = 1; size < 20 * page; size += 777) {
		void *pages = valloc(size), *whole = pvalloc(size);
		check_aligned("valloc", pages, size, page);
		check_aligned("pvalloc", whole, size, page);
		size_t rounded = (size + page - 1) / page * page;
		CORNER_CHECK(malloc_usable_size(whole) >= rounded, "pvalloc(%zu): %zu usable", size,
			     malloc_usable_size(whole));
		memset(whole, 1, rounded);
		free(pages);
		free(whole);
	}
}

CORNER(zero_bytes)
{
	size_t nothing = corner_opaque(0);
	void *blocks[] = { malloc(nothing),           malloc(nothing),        calloc(nothing, 8),
			   calloc(8, nothing),        realloc(NULL, nothing), memalign(64, nothing),
			   aligned_alloc(64, nothing) };
	size_t count = sizeof(blocks) / sizeof(blocks[0]);
	for (size_t i = 0; i < count; i++) {
		CORNER_CHECK(blocks[i] != NULL, "call %zu of 0 bytes: NULL", i);
		for (size_t k = 0; k < i; k++)
			CORNER_CHECK(blocks[i] != blocks[k], "calls %zu and %zu: one block", k, i);
	}
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
}

/* free(p) keeps errno, also where it unmaps. */
CORNER(errno_free)
{
	free(NULL);
	for (size_t size = 1; size < (size_t)300 << 20; size = size * 3 + 1) {
		void *block = malloc(size);
		errno = 4711;
		free(block);
		CORNER_CHECK(errno == 4711, "free of %zu bytes left errno %d", size, errno);
	}
	for (int i = 0; i < 300; i++) {
		void *block = memalign((size_t)2 << 20, (size_t)3 << 20);
		errno = 4711;
		free(block);
		CORNER_CHECK(errno == 4711, "free of an aligned block left errno %d", errno);
	}
}
