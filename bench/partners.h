/*
 * partners.h - pairs of workers: 2k allocates, 2k+1 frees. Between them is a ring of Concurrency
 * Kit with one producer and one consumer.
 */
#ifndef PFS_BENCH_PARTNERS_H
#define PFS_BENCH_PARTNERS_H

#include "ring.h"
#include "workload.h"

static inline bool pfs_partner_produces(uint32_t worker_index)
{
	return worker_index % 2 == 0;
}

static inline struct pfs_ring *pfs_partners_ring(const struct pfs_worker *worker)
{
	return pfs_rings_at(worker->scene->shared, worker->index / 2);
}

/* Make a ring for each two workers. in_hands: records that one worker may hold besides those in the
 * ring. False: no memory. */
bool pfs_partners_start(struct pfs_scene *scene, uint32_t in_hands);
void pfs_partners_stop(struct pfs_scene *scene);

/* The records in the ring, which belong to its consumer. */
uint64_t pfs_partners_held(const struct pfs_worker *worker, uint32_t container);

/* Each record is counted once, when it is freed. */
bool pfs_partners_is_counted(const struct pfs_scene *scene, uint32_t worker_index);

#endif
