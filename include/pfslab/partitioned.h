/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partitioned.h - several containers under one index space, one for each kind of life.
 *
 * The Performance Schema separates long-lived and short-lived mutexes in this way, so that one kind
 * cannot crowd the pages of the other. The caller chooses the partition.
 */
#ifndef PFSLAB_PARTITIONED_H
#define PFSLAB_PARTITIONED_H

#include <pfslab/container.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PFS_PARTITIONS_MAX 256u

struct pfs_partitioned;
struct pfs_partitioned_thread;

/*
 * pfs_partitioned_create - create partition_count containers of the same policy and configuration.
 *
 * Returns   as pfs_container_create. The limits in the configuration hold for each partition.
 * Errors    PFS_BAD_CONFIG (partition_count not 1 .. PFS_PARTITIONS_MAX) and those of
 *           pfs_container_create; then nothing was made.
 * Progress  blocking (set-up).
 * Order     none.
 */
enum pfs_status pfs_partitioned_create(const struct pfs_variant *variant,
				       const struct pfs_config *config, uint32_t partition_count,
				       struct pfs_partitioned **partitioned,
				       struct pfs_message *message);
void pfs_partitioned_destroy(struct pfs_partitioned *self);

/* One handle for all partitions; as pfs_thread_attach and pfs_thread_detach. */
enum pfs_status pfs_partitioned_attach(struct pfs_partitioned *self,
				       struct pfs_partitioned_thread **thread);
void pfs_partitioned_detach(struct pfs_partitioned_thread *thread);

/*
 * pfs_partitioned_allocate - take a free record of one partition. The other calls find the
 * partition by the record.
 *
 * Returns   as pfs_allocate; no record if there is no such partition.
 * Errors    a record of another container is a bug; it is caught if the policy has PFS_TRAIT_INDEX.
 * Progress  as the calls without "partitioned"; finding the partition is wait-free.
 * Order     as the calls without "partitioned".
 */
struct pfs_claim pfs_partitioned_allocate(struct pfs_partitioned_thread *thread,
					  uint32_t partition);
void pfs_partitioned_publish(struct pfs_partitioned_thread *thread, struct pfs_claim claim);
void pfs_partitioned_abandon(struct pfs_partitioned_thread *thread, struct pfs_claim claim);
void pfs_partitioned_free(struct pfs_partitioned_thread *thread, void *record);

/* The handle of one partition, for every call of container.h; NULL if there is no such partition.
 * Wait-free. As pfs_free says, a free through the handle of another partition is a bug. */
struct pfs_thread *pfs_partitioned_thread_of(struct pfs_partitioned_thread *thread,
					     uint32_t partition);

/* One partition, for its own counts; NULL if there is no such partition. Do not destroy it.
 * Wait-free. */
struct pfs_container *pfs_partitioned_container(struct pfs_partitioned *self, uint32_t partition);

/* The index of a record in the whole: partition * page_max * page_records + its index in the
 * partition. PFS_INDEX_NONE if there is no such partition or the record has no index. Wait-free. */
uint64_t pfs_partitioned_index(struct pfs_partitioned_thread *thread, uint32_t partition,
			       const void *record);

/* The live record at an index of the whole, or NULL; any index is allowed. As pfs_lookup; enter a
 * read section of every partition first, with pfs_partitioned_enter. */
void *pfs_partitioned_lookup(struct pfs_partitioned_thread *thread, uint64_t index);

/* True if the pointer is a live record of some partition, and which one (*partition, may be NULL).
 * As pfs_owns. */
bool pfs_partitioned_owns(struct pfs_partitioned_thread *thread, const void *pointer,
			  uint32_t *partition);

void pfs_partitioned_enter(struct pfs_partitioned_thread *thread);
void pfs_partitioned_leave(struct pfs_partitioned_thread *thread);

/* The sums over all partitions; a sum of peaks, such as pages_peak, is not the peak of the sum. As
 * pfs_container_counts. */
void pfs_partitioned_counts(struct pfs_partitioned *self, struct pfs_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
