#include "check/machine/fences.h"

#include <stdlib.h>
#include <string.h>

#include "check/machine/model.h"
#include "check/machine/snapshot.h"

struct pfs_fence_thread {
	const uint32_t *released;      /* the clock of its last release fence */
	struct pfs_view_message known; /* what an acquire fence would acquire */
};

void pfs_fences_fini(struct pfs_fences *self)
{
	free(self->threads);
}

void pfs_fences_begin(struct pfs_fences *self, uint32_t threads)
{
	self->threads = pfs_widen(self->threads, &self->room, threads, sizeof(*self->threads));
	memset(self->threads, 0, threads * sizeof(*self->threads));
}

struct pfs_view_message *pfs_fences_read(struct pfs_machine *machine, uint32_t thread,
					 const uint32_t *clock)
{
	if (!machine->setup.has_fences)
		return NULL;
	struct pfs_view_message *known = &machine->fences.threads[thread].known;
	known->clock = pfs_clock_join(&machine->clocks, known->clock, clock);
	return known;
}

const uint32_t *pfs_fences_released(const struct pfs_machine *machine, uint32_t thread)
{
	return machine->setup.has_fences ? machine->fences.threads[thread].released : NULL;
}

void pfs_fences_act(struct pfs_machine *self, uint32_t id, enum pfs_sim_order order)
{
	struct pfs_fence_thread *thread = &self->fences.threads[id];
	const uint32_t *released = NULL;
	if (!self->run.watching && !self->model->keeps_old)
		return;
	if (pfs_order_acquires((uint8_t)order))
		pfs_clock_acquire(&self->clocks, id, thread->known.clock);
	if (pfs_order_releases((uint8_t)order))
		thread->released = released = pfs_clock_release(&self->clocks, id);
	if (self->model->fence != NULL)
		self->model->fence(self, id, (uint8_t)order, &thread->known, released);
}

void pfs_fences_keep(struct pfs_fences *self, struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, self->threads, self->room * sizeof(*self->threads));
}
