/*
 * workload_floor.c - the yardstick of pair: one CAS and two release stores on one hot line.
 *
 * Allocate, publish and free need at least these atomic steps on a record's word. The line is the
 * worker's own, so there is no contention.
 */
#include <stdlib.h>

#include "workload.h"

struct hot {
	alignas(PFS_BENCH_LINE) _Atomic(uint32_t) word;
};

static bool prepare(struct pfs_worker *worker)
{
	worker->own = aligned_alloc(PFS_BENCH_LINE, sizeof(struct hot));
	if (worker->own != NULL)
		*(struct hot *)worker->own = (struct hot){ .word = 0 };
	return worker->own != NULL;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	struct hot *hot = worker->own;

	for (uint64_t i = 0; i < count; i++)
		pfs_floor_triple(&hot->word);
	return count;
}

static void finish(struct pfs_worker *worker)
{
	free(worker->own);
	worker->own = NULL;
}

const struct pfs_workload pfs_workload_floor = {
	.name = "floor",
	.summary = "no container: one CAS and two release stores on one hot line, one thread",
	.threads_multiple = 1,
	.threads_max = 1,
	.window_ms = PFS_WINDOW_MS,
	.prepare = prepare,
	.step = step,
	.finish = finish,
};
