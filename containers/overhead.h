/*
 * overhead.h - the metric overhead_bytes, defined in docs/reference/metrics.md.
 */
#ifndef PFS_OVERHEAD_H
#define PFS_OVERHEAD_H

#include "container.h"

/* Under `passing` and `growth`: bytes of the container that are not users' bytes. */
uint64_t pfs_container_overhead(struct pfs_container *self);

#endif
