/*
 * own.c - the thread-local data: at first, and after the thread's end, an unusable cache.
 */
#include "cache.h"

#define UNUSABLE                                                                        \
	{                                                                               \
		.low = PFS_LOW_REVOKED, .high = PFS_HIGH_REVOKED, .inside = PFS_OUTSIDE \
	}
#define UNUSABLE_RING(number, above, size) [number] = UNUSABLE,
#define UNUSABLE_CACHE                                                              \
	{                                                                           \
		.unusable = UNUSABLE, .rings = { PFS_SMALL_CLASSES(UNUSABLE_RING) } \
	}
struct pfs_cache pfs_cache_none = UNUSABLE_CACHE;
struct pfs_cache pfs_cache_ended = UNUSABLE_CACHE;

#ifndef PFS_SIM /* there it belongs to the virtual thread */
/* In a library that counts: those of a thread that does not count. */
extern struct pfs_counter pfs_counter_none __attribute__((weak, visibility("hidden")));
extern struct pfs_nobodys pfs_nobodys __attribute__((weak, visibility("hidden")));

_Thread_local struct pfs_own pfs_own = {
	.cache = &pfs_cache_none,
	.quick = (struct pfs_quick *)&pfs_nobodys, /* its first member */
	.counter = &pfs_counter_none,
	.first_page = UINTPTR_MAX / 2, /* no page is within a part's size after it */
};
#endif
