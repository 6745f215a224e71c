/*
 * touched.h - a pfs_memory_source whose memory was mapped and touched in advance.
 *
 * Growth then costs what the container does, without the faults of first touch. Requests beyond the
 * prepared memory get fresh memory from the system, and are counted. Nothing is handed out twice,
 * so it is zero as the contract requires; huge pages are declined, because fresh memory comes in
 * small ones.
 */
#ifndef PFS_BENCH_TOUCHED_H
#define PFS_BENCH_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/config.h>

#include "gate.h"

struct pfs_touched {
	struct pfs_memory_source source; /* its context is this */
	char *bytes;
	uint64_t size_bytes;
	struct pfs_mark used_bytes; /* any thread that maps; also beyond size_bytes */
};

/* Map and touch this much, where the caller runs; false: no memory. */
bool pfs_touched_init(struct pfs_touched *self, uint64_t size_bytes);

/* When everything that was handed out has been given back. */
void pfs_touched_fini(struct pfs_touched *self);

/* Bytes that were requested and were fresh. */
uint64_t pfs_touched_short_bytes(struct pfs_touched *self);

#endif
