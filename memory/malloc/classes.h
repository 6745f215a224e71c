/*
 * classes.h - size classes: which sizes blocks have.
 *
 * The rule is jemalloc 5.2.1's: 8 first, then multiples of 16 up to 128, then four classes for each
 * doubling. Two are added for requests of a power of two plus a header: 1040 and 4368, a 63rd and a
 * 15th of 64 KiB. Classes up to 14336 bytes are small: their blocks are regions of slabs. Classes
 * from 16384 bytes on are large: each block is an extent of its own, with four classes a doubling.
 *
 * Classes are numbered from 0; classes_test.c compares the table with the rule.
 * Source:    jemalloc 5.2.1 (size_classes, sc.c: lg_quantum 4, lg_group 2, 4 KiB pages), by rule.
 */
#ifndef PFS_MALLOC_CLASSES_H
#define PFS_MALLOC_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#ifdef PFS_SIM_SMALL /* for the searches: few classes, and slabs of few regions */
#define PFS_SMALL_CLASSES(X) X(0, 0, 1024) X(1, 1024, 2048) X(2, 2048, 3072) X(3, 3072, 4096)
#define PFS_SMALL_COUNT 4u
#define PFS_SMALL_MAX 4096u
#else
/* clang-format off */
#define PFS_SMALL_CLASSES(X) \
	X(0, 0, 8) X(1, 8, 16) X(2, 16, 32) X(3, 32, 48) X(4, 48, 64) X(5, 64, 80) \
	X(6, 80, 96) X(7, 96, 112) X(8, 112, 128) X(9, 128, 160) X(10, 160, 192) \
	X(11, 192, 224) X(12, 224, 256) X(13, 256, 320) X(14, 320, 384) X(15, 384, 448) \
	X(16, 448, 512) X(17, 512, 640) X(18, 640, 768) X(19, 768, 896) \
	X(20, 896, 1024) X(21, 1024, 1040) X(22, 1040, 1280) X(23, 1280, 1536) \
	X(24, 1536, 1792) X(25, 1792, 2048) X(26, 2048, 2560) X(27, 2560, 3072) \
	X(28, 3072, 3584) X(29, 3584, 4096) X(30, 4096, 4368) X(31, 4368, 5120) \
	X(32, 5120, 6144) X(33, 6144, 7168) X(34, 7168, 8192) X(35, 8192, 10240) \
	X(36, 10240, 12288) X(37, 12288, 14336)
/* clang-format on */

#define PFS_SMALL_COUNT 38u
#define PFS_SMALL_MAX 14336u
#endif
#define PFS_LARGE_MIN 16384u
#define PFS_OS_PAGE 4096u
#define PFS_OS_PAGE_BITS 12u
#define PFS_GROUP_BITS 2u /* 2^2 classes a doubling */

/* No block may be larger: pointer differences must fit ptrdiff_t. */
#define PFS_SIZE_MAX ((size_t)PTRDIFF_MAX)

/* A small class: block size; bytes and regions of its slabs; 2^32 / size, rounded up. */
struct pfs_class {
	uint32_t size_bytes;
	uint32_t slab_bytes;
	uint32_t regions;
	uint32_t reciprocal;
};
extern const struct pfs_class pfs_classes[PFS_SMALL_COUNT];

/* The offset, in a thread's cache, of the ring for a size: [(size + 7) / 8]. */
#define PFS_RING_BYTES 64u
#define PFS_RING_OFFSET(number) (((number) + 1u) * PFS_RING_BYTES)
extern const uint16_t pfs_ring_offsets[PFS_SMALL_MAX / 8 + 1];

static inline uint32_t pfs_class_of_offset(uint32_t offset)
{
	return offset / PFS_RING_BYTES - 1;
}

/* The class of a small size. */
static inline uint32_t pfs_class_of(size_t size_bytes)
{
	return pfs_class_of_offset(pfs_ring_offsets[(size_bytes + 7) / 8]);
}

/* Round up to the next of four classes a doubling: any size above PFS_SMALL_MAX. */
static inline size_t pfs_size_round(size_t size_bytes)
{
	uint32_t doubling = 63u - (uint32_t)__builtin_clzll(size_bytes - 1);
	size_t step = (size_t)1 << (doubling - PFS_GROUP_BITS);
	return (size_bytes + step - 1) & ~(step - 1);
}

/* The block size that a request gets. */
static inline size_t pfs_size_of_request(size_t size_bytes)
{
	if (size_bytes <= PFS_SMALL_MAX)
		return pfs_classes[pfs_class_of(size_bytes)].size_bytes;
	return pfs_size_round(size_bytes < PFS_LARGE_MIN ? PFS_LARGE_MIN : size_bytes);
}

/*
 * The length class of a free extent, in pages: four classes a doubling; the last one whose length
 * is not greater.
 */
#define PFS_LENGTH_COUNT 160u
#define PFS_LENGTH_MOST_BYTES ((size_t)1 << 47) /* the whole address space */

static inline uint32_t pfs_length_floor(size_t pages)
{
	uint32_t doubling = 63u - (uint32_t)__builtin_clzll(pages);
	if (doubling <= PFS_GROUP_BITS)
		return (uint32_t)pages - 1; /* 1 .. 7 pages: a class each */
	uint32_t quarter = (uint32_t)(pages >> (doubling - PFS_GROUP_BITS)) & 3u;
	return doubling * 4u - 5u + quarter;
}

#endif
