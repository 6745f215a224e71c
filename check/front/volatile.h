/*
 * volatile.h - --volatile: accesses to volatile objects as relaxed atomics.
 *
 * The compilers tell of an access before it is made, and do not tell the value. So a load gives its
 * value to memory until the thread's next call of our code, and a store becomes a step at that
 * call, which finds its value in memory. No other thread runs in between.
 */
#ifndef PFS_CHECK_VOLATILE_H
#define PFS_CHECK_VOLATILE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on. */
void pfs_volatile_begin(void);

/* An access that the program is about to make. */
void pfs_volatile_access(void *address, size_t size_bytes, bool writes, const void *code);

#endif
