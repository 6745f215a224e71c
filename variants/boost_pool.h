/*
 * boost_pool.h - a bounded set of numbers on Boost.Lockfree's stack, for C.
 */
#ifndef PFS_BOOST_POOL_H
#define PFS_BOOST_POOL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfs_boost_pool;

/* A set for up to capacity numbers; allocates all memory at once. NULL: no memory. */
struct pfs_boost_pool *pfs_boost_pool_create(uint64_t capacity);
void pfs_boost_pool_destroy(struct pfs_boost_pool *self);

/* memory for one number */
#define PFS_BOOST_POOL_NODE_BYTES 32u

/* False if it already holds capacity numbers. Lock-free. */
bool pfs_boost_pool_push(struct pfs_boost_pool *self, uint64_t number);

/* False if it is empty. Lock-free. */
bool pfs_boost_pool_pop(struct pfs_boost_pool *self, uint64_t *number);

#ifdef __cplusplus
}
#endif
#endif
