/*
 * malloc_timed_copy.c - copies pointers word by word, so that each access has its price. It is
 * compiled so that the compiler does not turn the loops back into memcpy.
 */
#include <stddef.h>
#include <stdint.h>

void *pfs_malloc_timed_copy(void *to, const void *from, size_t bytes);

void *pfs_malloc_timed_copy(void *to, const void *from, size_t bytes)
{
	uint64_t *target = to;
	const uint64_t *source = from;
	size_t words = bytes / sizeof(*target);
	if (target <= source) {
		for (size_t at = 0; at < words; at++)
			target[at] = source[at];
	} else {
		for (size_t at = words; at-- > 0;)
			target[at] = source[at];
	}
	return to;
}
