/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc.h - the non-standard calls of jemalloc 5, as libpfsmalloc implements them.
 *
 * A program written for jemalloc 5 can also use jemalloc's own header: flags and names are the
 * same. The contract is the manual of jemalloc 5.2.1. docs/explanation/malloc.md lists the names
 * that mallctl knows, and what is refused. Any thread may make any call, but only one thread at a
 * time may use an explicit thread cache. No call may be made from a signal handler.
 *
 * Errors: NULL, or 0 from nallocx, if there is no memory. mallctl returns an error number: EINVAL
 * (wrong length or value), ENOENT (unknown name), EPERM (write of a read-only name, or read of a
 * write-only one), EFAULT (the action failed), EAGAIN (no memory). Order: as malloc.h.
 */
#ifndef PFSLAB_JEMALLOC_H
#define PFSLAB_JEMALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags, combined with |: the alignment, as its logarithm or as a power of two; zeroed memory; a
 * thread cache (from tcache.create, or none: bypass all caches); an arena by number. */
#define MALLOCX_LG_ALIGN(lg_align) ((int)(lg_align))
#define MALLOCX_ALIGN(align)                                                    \
	((int)(((size_t)(align)&0xffffffffU) != 0                               \
		       ? __builtin_ctz((unsigned)((size_t)(align)&0xffffffffU)) \
		       : 32 + __builtin_ctz((unsigned)(((size_t)(align) >> 16) >> 16))))
#define MALLOCX_ZERO 0x40
#define MALLOCX_TCACHE(tc) ((int)((unsigned)((tc) + 2) << 8))
#define MALLOCX_TCACHE_NONE MALLOCX_TCACHE(-1)
#define MALLOCX_ARENA(arena) ((int)(((unsigned)(arena) + 1) << 20))

/* In place of an arena's number in a name: all arenas together. */
#define MALLCTL_ARENAS_ALL 4096

/*
 * mallocx - allocate at least size bytes; size must not be 0.
 * rallocx - change the size of a block, which may move. NULL: no memory; the block is unchanged.
 * xallocx - change the size without moving, to size + extra if possible, else as near above size as
 * possible; returns the new size.
 * sallocx - the usable bytes of a block. nallocx - those that mallocx would return; 0: never
 * possible.
 * dallocx, sdallocx - free a block.
 *
 * Progress  as malloc and free (malloc.h); with an arena, or without a thread cache, always
 *           blocking on a bin's lock.
 */
void *mallocx(size_t size, int flags);
void *rallocx(void *block, size_t size, int flags);
size_t xallocx(void *block, size_t size, size_t extra, int flags);
size_t sallocx(const void *block, int flags);
void dallocx(void *block, int flags);
void sdallocx(void *block, size_t size, int flags);
size_t nallocx(size_t size, int flags);

/*
 * mallctl - read the value of a name into *old_value, write *new_value to it (both: the old value
 * is read), or perform its action. Each pointer may be NULL. Lengths must match exactly; if the old
 * length does not, as many bytes as fit are copied, *old_length is that number, and the result is
 * EINVAL.
 * mallctlnametomib - translate a name into *mib_length numbers; those of indexes may be changed
 * afterwards. mallctlbymib - mallctl by these numbers.
 *
 * Returns   0 or an error number.
 * Progress  blocking.
 */
int mallctl(const char *name, void *old_value, size_t *old_length, void *new_value,
	    size_t new_length);
int mallctlnametomib(const char *name, size_t *mib, size_t *mib_length);
int mallctlbymib(const size_t *mib, size_t mib_length, void *old_value, size_t *old_length,
		 void *new_value, size_t new_length);

/*
 * malloc_stats_print - print statistics as text, in pieces, to write(context, text); NULL: to
 * malloc_message; if that is NULL too, to stderr. options (may be NULL) are letters: J prints JSON;
 * a omits the single arenas, m their sum, b the bins, g the options.
 */
void malloc_stats_print(void (*write)(void *context, const char *text), void *context,
			const char *options);
extern void (*malloc_message)(void *context, const char *text);

#ifdef __cplusplus
}
#endif
#endif
