/*
 * classes.c - the tables of classes.h.
 *
 * A slab has 4 to 28 pages: the number that wastes least at its end, and the most pages among equal
 * ones. It has at least 8 and at most 2048 regions (32 words). 64 KiB is usual, where jemalloc has
 * 4 to 28 KiB: such small slabs were measured to cost up to 1.9 times the CPU time where many
 * threads alternate (docs/explanation/malloc.md).
 */
#include "classes.h"

#define RECIPROCAL(size) ((uint32_t)(((UINT64_C(1) << 32) + (size)-1) / (size)))
#define CLASS(size, pages)                                                                  \
	{                                                                                   \
		(size), (pages)*PFS_OS_PAGE, (pages)*PFS_OS_PAGE / (size), RECIPROCAL(size) \
	}

/* clang-format off */
const struct pfs_class pfs_classes[PFS_SMALL_COUNT] = {
#ifdef PFS_SIM_SMALL
	CLASS(1024, 1), CLASS(2048, 1), CLASS(3072, 3), CLASS(4096, 1),
#else
	CLASS(8, 4), CLASS(16, 8), CLASS(32, 16), CLASS(48, 16), CLASS(64, 16), CLASS(80, 16),
	CLASS(96, 15), CLASS(112, 16), CLASS(128, 16), CLASS(160, 15), CLASS(192, 15),
	CLASS(224, 14), CLASS(256, 16), CLASS(320, 15), CLASS(384, 15), CLASS(448, 14),
	CLASS(512, 16), CLASS(640, 15), CLASS(768, 15), CLASS(896, 14), CLASS(1024, 16),
	CLASS(1040, 16), CLASS(1280, 15), CLASS(1536, 15), CLASS(1792, 14), CLASS(2048, 16),
	CLASS(2560, 15), CLASS(3072, 15), CLASS(3584, 14), CLASS(4096, 16), CLASS(4368, 16),
	CLASS(5120, 15), CLASS(6144, 15), CLASS(7168, 14), CLASS(8192, 16), CLASS(10240, 20),
	CLASS(12288, 24), CLASS(14336, 28),
#endif
};
/* clang-format on */

#define OFFSETS(number, above, size) \
	[((above) + 7) / 8 + 1 ...(size) / 8] = PFS_RING_OFFSET(number),

/* A request of 0 bytes also gets a block. */
const uint16_t pfs_ring_offsets[PFS_SMALL_MAX / 8 + 1] = { [0] = PFS_RING_OFFSET(0),
							   PFS_SMALL_CLASSES(OFFSETS) };
