/*
 * sizes.h - by how many bytes the program accesses what atomically: where store buffers or old
 * values are, a place has one size, and what it overlaps is no other place.
 */
#ifndef PFS_CHECK_SIZES_H
#define PFS_CHECK_SIZES_H

#include <stddef.h>

#include "check/machine/operation.h"

/* Ends the execution as failed if what the operation accesses was accessed otherwise. */
void pfs_sizes_look(const struct pfs_sim_operation *operation);

/* These bytes are new: nothing is known of them. */
void pfs_sizes_forget(const void *first, size_t bytes);

#endif
