/*
 * overhead.h - the metric overhead_bytes; docs/reference/metrics.md defines it.
 */
#ifndef PFS_OVERHEAD_H
#define PFS_OVERHEAD_H

#include "container.h"

/* Under `passing` and `growth`: bytes of the container that are no user's. */
uint64_t pfs_container_overhead(struct pfs_container *self);

#endif
