/*
 * quick.h - the fast paths of malloc and free, inlined into each of their names: about 17
 * instructions each, none locked. Everything else is behind a call.
 */
#ifndef PFS_MALLOC_QUICK_H
#define PFS_MALLOC_QUICK_H

#include "block.h"

/* The return address of the function that this is expanded in. */
#define PFS_CALLER __builtin_return_address(0)

/* A malloc that is large, or whose ring was entered and was empty or revoked. */
PFS_COLD void *pfs_malloc_slow(size_t size_bytes);

/* A free whose ring was entered and was full or revoked, or whose block has no ring. Keeps errno.
 * */
PFS_COLD void pfs_free_slow(void *block);

/* Keeps a pointer out of the register of the result: one instruction less. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define pfs_not_in_result(pointer) __asm__("" : "+d"(pointer))
#else
#define pfs_not_in_result(pointer) ((void)(pointer))
#endif

/* slow: a constant. */
static inline void *pfs_malloc_quick_or(size_t size_bytes, void *slow(size_t size_bytes))
{
	if (!pfs_likely(size_bytes <= PFS_SMALL_MAX))
		return slow(size_bytes);
	uint64_t offset = pfs_ring_offsets[(size_bytes + 7) / 8];
	struct pfs_cache_ring *ring = pfs_ring_at(pfs_cache_own, offset);
	pfs_not_in_result(ring);
	void *block;
	if (!pfs_likely(pfs_ring_pop(ring, &block)))
		return slow(size_bytes);
	return block;
}

static inline void *pfs_malloc_quick(size_t size_bytes)
{
	return pfs_malloc_quick_or(size_bytes, pfs_malloc_slow);
}

static inline void pfs_free_quick(void *block)
{
	struct pfs_cache_ring *ring = pfs_ring_at(pfs_cache_own, pfs_map_ring_of(block));
	if (!pfs_likely(pfs_ring_push(ring, block)))
		pfs_free_slow(block);
}

#endif
