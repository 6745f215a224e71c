/*
 * count_cases.h - the cases of pfs-malloc-count, see count.c.
 */
#ifndef PFS_BENCH_COUNT_CASES_H
#define PFS_BENCH_COUNT_CASES_H

#include <stdint.h>

#define PFS_COUNT_CASES                                               \
	"pair-64 malloc-64 free-64 foreign-64 pair-4000 pair-100000 " \
	"malloc-64-first free-64-first foreign-64-first"

struct pfs_count_case {
	const char *name;
	uint32_t calls;  /* the divisor of the counts; a pair is one call */
	uint32_t size;   /* of the blocks, bytes */
	uint32_t rounds; /* the last one counts */
	void (*run)(const struct pfs_count_case *self);
};

/* NULL: no case has this name. */
const struct pfs_count_case *pfs_count_case_find(const char *name);

/* Prepare, mark, make the calls, mark. Returns an exit status. */
int pfs_count_case_run(const struct pfs_count_case *self);

#endif
