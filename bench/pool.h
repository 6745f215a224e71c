/*
 * pool.h - pinned threads that live as long as one benchmark and run the jobs of main.
 */
#ifndef PFS_BENCH_POOL_H
#define PFS_BENCH_POOL_H

#include <hwloc.h>
#include <stdint.h>

#include <pfslab/status.h>

#include "placement.h"

struct pfs_pool;

/* Start the threads and bind each as placement says; both must outlive the pool. On failure nothing
 * is left and *message holds the line. */
enum pfs_status pfs_pool_create(struct pfs_pool **pool, const struct pfs_placement *placement,
				hwloc_topology_t topology, struct pfs_message *message);
void pfs_pool_destroy(struct pfs_pool *pool);

uint32_t pfs_pool_thread_count(const struct pfs_pool *pool);

/* Give a job to all threads; wait until all have returned from it. begin and wait are its two
 * halves, so that main can do something in between. */
void pfs_pool_each(struct pfs_pool *pool, void (*job)(void *context, uint32_t thread_index),
		   void *context);
void pfs_pool_begin(struct pfs_pool *pool, void (*job)(void *context, uint32_t thread_index),
		    void *context);
void pfs_pool_wait(struct pfs_pool *pool);

/* The same, one thread after the other in the order of their index. */
void pfs_pool_turns(struct pfs_pool *pool, void (*job)(void *context, uint32_t thread_index),
		    void *context);

#endif
