/*
 * sizes.h - the size of each atomic access: with store buffers or old values a place has one size,
 * and overlaps no other place.
 */
#ifndef PFS_CHECK_SIZES_H
#define PFS_CHECK_SIZES_H

#include <stddef.h>

#include "check/machine/operation.h"

/* Ends the execution as failed if these bytes were accessed with another size or offset. */
void pfs_sizes_look(const struct pfs_sim_operation *operation);

/* These bytes are new: nothing is known of them. */
void pfs_sizes_forget(const void *first, size_t bytes);

#endif
