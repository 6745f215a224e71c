/*
 * jemalloc.c - mallocx and its family, with counting. They call the functions of
 * memory/malloc/jemalloc.c, which this library compiles under other names (plain.h).
 */
#include <pfslab/jemalloc.h>
#include <pfslab/malloc.h>

#include "counted.h"
#include "from.h"
#include "plain.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC void *mallocx(size_t size, int flags)
{
	return pfs_count_slow(pfs_plain_mallocx(size, flags), size, PFS_CALLER);
}

PUBLIC size_t nallocx(size_t size, int flags)
{
	return pfs_plain_nallocx(size, flags);
}

PUBLIC size_t sallocx(const void *block, int flags)
{
	return pfs_plain_sallocx(block, flags);
}

PUBLIC void dallocx(void *block, int flags)
{
	if (block != NULL) {
		struct pfs_counted_block lifted = pfs_counted_lift(block);
		pfs_counted_credit(&lifted);
	}
	pfs_plain_dallocx(block, flags);
}

PUBLIC void sdallocx(void *block, size_t size, int flags)
{
	(void)size;
	dallocx(block, flags);
}

/* Called by a tail call, so the stack begins here. */
static __attribute__((noinline)) void *resize(void *block, size_t size, int flags,
					      const void *caller)
{
	struct pfs_stack_from from = PFS_FROM_OF(caller);
	struct pfs_counted_block lifted = pfs_counted_lift(block);
	if (!pfs_counted_may_be(&lifted, size))
		return NULL;
	void *moved = pfs_plain_rallocx(block, size, flags);
	if (pfs_counted_moved(&lifted, moved))
		moved = pfs_count_from(moved, size, &from);
	pfs_counted_resized();
	return moved;
}

PUBLIC void *rallocx(void *block, size_t size, int flags)
{
	if (block == NULL)
		return pfs_count_slow(pfs_plain_mallocx(size, flags), size, PFS_CALLER);
	return resize(block, size, flags, PFS_CALLER);
}

/* Counts the new usable size, but at most size + extra. Called by a tail call. */
static __attribute__((noinline)) size_t resize_in_place(void *block, size_t size, size_t extra,
							int flags, const void *caller)
{
	struct pfs_stack_from from = PFS_FROM_OF(caller);
	struct pfs_counted_block lifted = pfs_counted_lift(block);
	size_t before = pfs_malloc_usable_size(block);
	size_t most = extra < SIZE_MAX - size ? size + extra : SIZE_MAX;
	if (!pfs_counted_may_be(&lifted, most))
		return before;
	size_t after = pfs_plain_xallocx(block, size, extra, flags);
	if (lifted.tag == NULL)
		return after;
	if (after == before) {
		pfs_counted_put_back(&lifted);
	} else {
		pfs_counted_credit(&lifted);
		(void)pfs_count_from(block, after < most ? after : most, &from);
	}
	pfs_counted_resized();
	return after;
}

PUBLIC size_t xallocx(void *block, size_t size, size_t extra, int flags)
{
	return resize_in_place(block, size, extra, flags, PFS_CALLER);
}
