/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc.h - jemalloc's own calls, as libpfsmalloc has them: a program that was written for
 * jemalloc 5 finds them by its own header too, for flags and names are the same.
 *
 * The contract is that of jemalloc 5.2.1's manual. docs/explanation/malloc.md lists the names that
 * mallctl knows, and what is refused. Any thread may make any call, but an explicit thread cache is
 * one thread's at a time; none may be made from a signal handler.
 *
 * Errors: no memory is NULL, or 0 of nallocx. mallctl returns an error number: EINVAL a wrong
 * length or value, ENOENT an unknown name, EPERM a write of what is only read or a read of what is
 * only written, EFAULT it could not be done, EAGAIN no memory.
 */
#ifndef PFSLAB_JEMALLOC_H
#define PFSLAB_JEMALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags, or'ed: an alignment, by its logarithm or itself (a power of two); zeroes; a thread cache
 * (one of tcache.create, or none: past all caches); an arena by number. */
#define MALLOCX_LG_ALIGN(lg_align) ((int)(lg_align))
#define MALLOCX_ALIGN(align)                                                    \
	((int)(((size_t)(align)&0xffffffffU) != 0                               \
		       ? __builtin_ctz((unsigned)((size_t)(align)&0xffffffffU)) \
		       : 32 + __builtin_ctz((unsigned)(((size_t)(align) >> 16) >> 16))))
#define MALLOCX_ZERO 0x40
#define MALLOCX_TCACHE(tc) ((int)((unsigned)((tc) + 2) << 8))
#define MALLOCX_TCACHE_NONE MALLOCX_TCACHE(-1)
#define MALLOCX_ARENA(arena) ((int)(((unsigned)(arena) + 1) << 20))

/* In the place of an arena's number in a name: all of them together. */
#define MALLCTL_ARENAS_ALL 4096

/*
 * mallocx - at least so many bytes; the size is not 0. rallocx - the block with another size, here
 * or elsewhere; NULL: no memory, and it is as it was. xallocx - the same without moving: to
 * size + extra if that can be, or as near above size as it can; returns what it has now.
 * sallocx - the bytes it has. nallocx - those that mallocx would give; 0: never so many.
 * dallocx, sdallocx - free it. Progress as malloc's and free's (malloc.h), but with an arena or
 * without a thread cache always blocking, on a bin's lock.
 */
void *mallocx(size_t size, int flags);
void *rallocx(void *block, size_t size, int flags);
size_t xallocx(void *block, size_t size, size_t extra, int flags);
size_t sallocx(const void *block, int flags);
void dallocx(void *block, int flags);
void sdallocx(void *block, size_t size, int flags);
size_t nallocx(size_t size, int flags);

/*
 * mallctl - read what a name stands for into *old_value, or write *new_value to it, or both (the
 * old one is read), or do what it means. Each may be NULL; lengths are exact, and where one is not,
 * as much as fits is read, *old_length says how much, and the error is EINVAL.
 * mallctlnametomib - a name as numbers, *mib_length of them, where those that stand for an index
 * may be changed; mallctlbymib - by these.
 * Returns 0 or an error number. Blocking, where it has to be.
 */
int mallctl(const char *name, void *old_value, size_t *old_length, void *new_value,
	    size_t new_length);
int mallctlnametomib(const char *name, size_t *mib, size_t *mib_length);
int mallctlbymib(const size_t *mib, size_t mib_length, void *old_value, size_t *old_length,
		 void *new_value, size_t new_length);

/*
 * malloc_stats_print - the statistics as text, in pieces, to write(context, text); NULL: to
 * malloc_message, and if that is NULL to stderr. options (may be NULL), a letter each: J as JSON,
 * a no arenas one by one, m no sum of all arenas, b no bins, g no options.
 */
void malloc_stats_print(void (*write)(void *context, const char *text), void *context,
			const char *options);
extern void (*malloc_message)(void *context, const char *text);

#ifdef __cplusplus
}
#endif
#endif
