/*
 * malloc_timed_names.h - included first by the allocator's sources when compiled for virtual time:
 * replaces calls of libc and the kernel, and copies, whose accesses have a price.
 */
#ifndef PFS_SIM_MALLOC_TIMED_NAMES_H
#define PFS_SIM_MALLOC_TIMED_NAMES_H

#include <string.h>

#define getcpu pfs_malloc_timed_getcpu
#define sched_getaffinity pfs_malloc_timed_getaffinity
#define syscall pfs_malloc_timed_syscall

/* Copies whole words, in either direction. */
void *pfs_malloc_timed_copy(void *to, const void *from, size_t bytes);
#define memcpy(to, from, bytes) pfs_malloc_timed_copy((to), (from), (bytes))
#define memmove(to, from, bytes) pfs_malloc_timed_copy((to), (from), (bytes))

#endif
