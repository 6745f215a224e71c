/*
 * source.h - page memory for tests: from the heap, counted, and refused on demand.
 *
 * From the heap, so that the sanitizers see a read of a page that was given back as a use
 * after free, and as a race if nothing ordered it before.
 */
#ifndef PFS_STRESS_SOURCE_H
#define PFS_STRESS_SOURCE_H

#include <stdatomic.h>
#include <stdint.h>

#include <pfslab/config.h>

struct pfs_test_source {
	struct pfs_memory_source source; /* for pfs_config.source */
	_Atomic(uint64_t) asked;         /* calls of map */
	_Atomic(uint64_t) mapped;        /* blocks given */
	_Atomic(uint64_t) unmapped;      /* blocks given back */
	_Atomic(uint64_t) refuse_every;  /* every so many calls; 0: none */
	_Atomic(uint64_t) refuse_after;  /* all calls after so many; 0: none */
};

/* pfs_test_source_init - refuses nothing yet. Not to be moved afterwards. */
void pfs_test_source_init(struct pfs_test_source *self);

/* Set what is refused from now on; counted from the start. */
void pfs_test_source_refuse(struct pfs_test_source *self, uint64_t every, uint64_t after);

/* Blocks that are out: 0 after the container was destroyed, or it leaks. */
uint64_t pfs_test_source_out(struct pfs_test_source *self);

#endif
