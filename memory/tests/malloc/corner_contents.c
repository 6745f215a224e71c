/*
 * corner_contents.c - contents: calloc returns zeros, realloc keeps bytes, and all usable bytes can
 * be used.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "corner.h"

static const size_t sizes[] = { 1,      8,      15,      16,      17,      100,     1000,    4095,
				4096,   4097,   14336,   16384,   16385,   65536,   100000,  131072,
				262144, 999999, 1048576, 2097152, 4194305, 8388608, 33554432 };
#define SIZE_COUNT (sizeof(sizes) / sizeof(sizes[0]))

CORNER(calloc_fresh)
{
	for (size_t i = 0; i < SIZE_COUNT; i++)
		corner_check_zero(calloc(1, sizes[i]), sizes[i], "fresh");
}

/* Each size is allocated again from memory that was filled, through the same size or another. */
CORNER(calloc_recycled)
{
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		size_t count = sizes[i] > 65536 ? 4 : 300;
		unsigned char *blocks[300];
		for (int round = 0; round < 3; round++) {
			for (size_t k = 0; k < count; k++) {
				blocks[k] = round == 0 ? malloc(sizes[i]) : calloc(1, sizes[i]);
				if (round != 0)
					corner_check_zero(blocks[k], sizes[i], "recycled");
				memset(blocks[k], 0xa5, malloc_usable_size(blocks[k]));
			}
			for (size_t k = 0; k < count; k++)
				free(blocks[k]);
		}
	}
	for (size_t i = SIZE_COUNT; i-- > 0;) {
		unsigned char *block = calloc(sizes[i], 1);
		corner_check_zero(block, sizes[i], "of other sizes");
		free(block);
	}
}

CORNER(calloc_after_trim)
{
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		unsigned char *block = malloc(sizes[i]);
		memset(block, 0x5a, sizes[i]);
		free(block);
		(void)malloc_trim(0);
		block = calloc(1, sizes[i]);
		corner_check_zero(block, sizes[i], "after malloc_trim");
		free(block);
	}
}

CORNER(realloc_keeps)
{
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		for (size_t k = 0; k < SIZE_COUNT; k++) {
			size_t both = sizes[i] < sizes[k] ? sizes[i] : sizes[k];
			unsigned char *block = malloc(sizes[i]);
			CORNER_CHECK(block != NULL, "malloc(%zu)", sizes[i]);
			corner_stamp(block, both, (unsigned)i);
			block = realloc(block, sizes[k]);
			CORNER_CHECK(block != NULL, "realloc to %zu: NULL", sizes[k]);
			size_t wrong = corner_stamp_differs(block, both, (unsigned)i);
			CORNER_CHECK(wrong == both, "%zu to %zu: byte %zu differs", sizes[i],
				     sizes[k], wrong);
			memset(block, 1, sizes[k]);
			free(block);
		}
	}
}

/* A buffer grows by factors of 1.5 and then shrinks, next to other blocks. */
CORNER(realloc_walk)
{
	unsigned char *block = malloc(16);
	void *neighbours[64];
	size_t size = 16, count = 0;
	corner_stamp(block, size, 1);
	for (; size < (size_t)60 << 20 && count < 64; count++) {
		size_t grown = size + size / 2;
		block = realloc(block, grown);
		CORNER_CHECK(block != NULL && corner_stamp_differs(block, size, 1) == size,
			     "grown to %zu", grown);
		corner_stamp(block, grown, 1);
		neighbours[count] = malloc(grown / 3);
		size = grown;
	}
	while (size > 1) {
		size -= size / 3 + 1;
		block = realloc(block, size == 0 ? 1 : size);
		CORNER_CHECK(corner_stamp_differs(block, size, 1) == size, "shrunk to %zu", size);
	}
	while (count > 0)
		free(neighbours[--count]);
	free(block);
}

CORNER(realloc_aligned)
{
	for (size_t alignment = 32; alignment <= (size_t)1 << 21; alignment *= 4) {
		for (size_t i = 0; i < SIZE_COUNT; i++) {
			unsigned char *block = memalign(alignment, 5000);
			size_t both = sizes[i] < 5000 ? sizes[i] : 5000;
			corner_stamp(block, 5000, 7);
			block = realloc(block, sizes[i]);
			CORNER_CHECK(corner_stamp_differs(block, both, 7) == both,
				     "5000 bytes at %zu to %zu", alignment, sizes[i]);
			free(block);
		}
	}
}

/* As in glibc: it frees, and returns NULL without an error. Memory use shows that it frees. */
CORNER(realloc_zero)
{
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		void *block = malloc(sizes[i]);
		errno = 0;
		void *none = realloc(block, corner_opaque(0));
		CORNER_CHECK(none == NULL, "realloc of %zu bytes to 0: %p", sizes[i], none);
		CORNER_CHECK(errno == 0, "errno %d", errno);
	}
	size_t before = corner_resident_bytes();
	for (int i = 0; i < 200000; i++) {
		void *block = malloc(1000);
		memset(block, 1, 1000);
		CORNER_CHECK(realloc(block, corner_opaque(0)) == NULL, "not NULL");
		block = malloc(100000);
		memset(block, 1, 1000);
		CORNER_CHECK(reallocarray(block, corner_opaque(0), 8) == NULL, "not NULL");
	}
	size_t after = corner_resident_bytes();
	CORNER_CHECK(after < before + ((size_t)16 << 20), "%zu bytes were kept", after - before);
}

CORNER(realloc_null)
{
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		unsigned char *block = realloc(NULL, sizes[i]);
		CORNER_CHECK(block != NULL, "realloc(NULL, %zu)", sizes[i]);
		memset(block, 1, sizes[i]);
		block = reallocarray(block, sizes[i], 2);
		CORNER_CHECK(block != NULL && block[sizes[i] - 1] == 1, "reallocarray");
		free(block);
	}
}

/* All usable bytes may be written and belong to one block only. */
CORNER(usable_size)
{
	CORNER_CHECK(malloc_usable_size(NULL) == 0, "of NULL: %zu", malloc_usable_size(NULL));
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		unsigned char *blocks[20];
		size_t usable[20];
		for (unsigned k = 0; k < 20; k++) {
			size_t size = sizes[i] + k;
			blocks[k] = k % 4 != 3 ? malloc(size) : memalign((size_t)64 << k, size);
			usable[k] = malloc_usable_size(blocks[k]);
			CORNER_CHECK(usable[k] >= size, "%zu of %zu usable", usable[k], size);
			corner_stamp(blocks[k], usable[k], k);
			if (sizes[i] > 8 << 20)
				break;
		}
		for (unsigned k = 0; k < (sizes[i] > 8 << 20 ? 1 : 20); k++) {
			CORNER_CHECK(corner_stamp_differs(blocks[k], usable[k], k) == usable[k],
				     "usable bytes of a block of %zu changed", sizes[i] + k);
			free(blocks[k]);
		}
	}
}

CORNER(usable_kept_by_realloc)
{
	for (size_t size = 16; size < (size_t)2 << 20; size = size * 5 / 4) {
		unsigned char *block = malloc(size);
		size_t usable = malloc_usable_size(block);
		corner_stamp(block, size, 5);
		block = realloc(block, usable + 1);
		CORNER_CHECK(corner_stamp_differs(block, size, 5) == size, "%zu", size);
		CORNER_CHECK(malloc_usable_size(block) > usable, "%zu did not grow", size);
		free(block);
	}
}

/* Zeroes cost no memory where the block before had none. A quarter of it was filled, and every byte
 * is zero. */
CORNER(calloc_sparse)
{
	const size_t mib = (size_t)1 << 20, size = 64 * mib + 5000;
	size_t before = corner_resident_bytes(); /* whatever it allocates */
	unsigned char *block = malloc(size);
	for (size_t at = 0; at < size; at += mib)
		memset(block + at, 0xee, at % (4 * mib) == 0 ? mib / 4 * 3 : 100);
	free(block);
	before = corner_resident_bytes();
	block = calloc(1, size);
	size_t after = corner_resident_bytes();
	CORNER_CHECK(after < before + 8 * mib, "calloc made %zu bytes resident", after - before);
	corner_check_zero(block, size, "sparse");
	free(block);
}
