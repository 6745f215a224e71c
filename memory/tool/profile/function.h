/*
 * function.h - what the name of a function says: whose it is, and where its parameters begin.
 */
#ifndef PFS_MEM_FUNCTION_H
#define PFS_MEM_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

/* Is it the name of a call that allocates, of any allocator's library? */
bool pfs_is_allocating(const char *name);

/* Is it of a standard library of C++ or Rust, such a call, or a well-known one in front of it, as
 * zmalloc or g_malloc? */
bool pfs_is_standard(const char *name);

/* The length of a name without its parameters, and without " const" after them. */
size_t pfs_short_length(const char *name);

#endif
