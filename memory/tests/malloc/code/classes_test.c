/*
 * classes_test.c - compares the tables of size classes with the rule they follow.
 */
#include "memory/malloc/classes.h"

#include <stdbool.h>
#include <stdlib.h>
#include "check.h"

/* The class after a class: 8, then steps of 16 up to 128, then four a doubling; also 1040 and
 * 4368. */
static size_t next_class(size_t size)
{
	size_t doubling = 128;
	if (size == 8)
		return 16;
	if (size < 128)
		return size + 16;
	if (size == 1024 || size == 4096)
		return size == 1024 ? 1040 : 4368;
	while (doubling * 2 <= size)
		doubling *= 2;
	return (size == 1040 || size == 4368 ? doubling : size) + doubling / 4;
}

static void check_small(void)
{
	size_t size = 8;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		const struct pfs_class *is = &pfs_classes[class];
		CHECK(is->size_bytes == size, "class %u is %u, not %zu", class, is->size_bytes,
		      size);
		CHECK(is->slab_bytes % PFS_OS_PAGE == 0, "a slab of no whole pages");
		CHECK(is->regions == is->slab_bytes / size, "regions of class %u", class);
		CHECK(is->regions >= 8 && is->regions <= 2048, "%u regions", is->regions);
		CHECK(is->reciprocal == ((UINT64_C(1) << 32) + size - 1) / size, "reciprocal");
		size = next_class(size);
	}
	CHECK(size == PFS_LARGE_MIN, "the first large class is %zu", size);
}

static void check_requests(void)
{
	size_t class = 8;
	for (size_t size = 0; size < (size_t)1 << 20; size++) {
		while (class < size)
			class = next_class(class);
		CHECK(pfs_size_of_request(size) == class, "%zu bytes get %zu, not %zu", size,
		      pfs_size_of_request(size), class);
	}
	for (; class < PFS_SIZE_MAX / 2; class = next_class(class)) {
		CHECK(pfs_size_of_request(class) == class, "%zu gets another", class);
		CHECK(pfs_size_of_request(class + 1) == next_class(class), "behind %zu", class);
	}
}

/* For each offset in a slab of each class: only a region's first byte is accepted, as that region.
 * */
static void check_regions(void)
{
	for (uint32_t c = 0; c < PFS_SMALL_COUNT; c++) {
		const struct pfs_class *class = &pfs_classes[c];
		for (uint32_t offset = 0; offset < class->slab_bytes; offset++) {
			uint64_t product = (uint64_t)offset * class->reciprocal;
			bool is_first = offset % class->size_bytes == 0;
			CHECK(((uint32_t)product < class->reciprocal) == is_first, "offset %u",
			      offset);
			CHECK(!is_first || (uint32_t)product < 1u << 17, "offset %u", offset);
			CHECK(product >> 32 == offset / class->size_bytes, "offset %u", offset);
		}
	}
}

static void check_lengths(void)
{
	uint32_t last = 0;
	for (size_t pages = 1; pages < 1u << 20; pages++) {
		uint32_t floor = pfs_length_floor(pages);
		CHECK(floor == last || floor == last + 1, "%zu pages", pages);
		last = floor;
	}
	CHECK(pfs_length_floor(PFS_LENGTH_MOST_BYTES / PFS_OS_PAGE) < PFS_LENGTH_COUNT,
	      "the longest");
}

int main(void)
{
	check_small();
	check_requests();
	check_regions();
	check_lengths();
	return 0;
}
