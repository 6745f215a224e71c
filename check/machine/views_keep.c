/*
 * views_keep.c - snapshots of views and of the order of seq operations.
 */
#include "check/machine/snapshot.h"
#include "check/machine/views.h"

static void put_seq(struct pfs_machine_snapshot *snapshot, struct pfs_seq *self)
{
	for (uint32_t id = 0; id < self->threads; id++) {
		struct pfs_seq_thread *thread = &self->thread[id];
		pfs_snapshot_put(snapshot, thread, sizeof(*thread));
		pfs_snapshot_put(snapshot, thread->elsewhere,
				 self->threads * sizeof(*thread->elsewhere));
	}
	pfs_snapshot_put(snapshot, &self->count, sizeof(self->count));
	for (uint32_t node = 0; node < self->count; node++)
		pfs_snapshot_put(snapshot, self->nodes[node].clock,
				 self->threads * sizeof(*self->nodes[node].clock));
	pfs_snapshot_put_scratch(snapshot, &self->arena);
}

void pfs_views_keep(struct pfs_views *self, struct pfs_machine_snapshot *snapshot)
{
	uint32_t count = self->table.count;
	pfs_snapshot_put(snapshot, &self->table.count, sizeof(self->table.count));
	pfs_snapshot_put(snapshot, self->locations, count * sizeof(*self->locations));
	for (uint32_t id = 0; id < count; id++) {
		struct pfs_location *location = &self->locations[id];
		pfs_snapshot_put(snapshot, location->messages,
				 location->count * sizeof(*location->messages));
		pfs_snapshot_put(snapshot, location->order,
				 location->count * sizeof(*location->order));
	}
	for (uint32_t thread = 0; thread < self->threads; thread++) {
		pfs_snapshot_put(snapshot, self->view[thread], count * sizeof(uint32_t));
		pfs_snapshot_put(snapshot, self->glimpses[thread],
				 count * sizeof(struct pfs_glimpse));
	}
	pfs_snapshot_put(snapshot, &self->told, sizeof(self->told));
	pfs_snapshot_put(snapshot, &self->fence, sizeof(self->fence));
	pfs_snapshot_put(snapshot, &self->barrier, sizeof(self->barrier));
	pfs_snapshot_put(snapshot, self->fenced, self->threads * sizeof(*self->fenced));
	pfs_snapshot_put_scratch(snapshot, &self->arena);
	put_seq(snapshot, &self->seq);
	pfs_psc_keep(&self->psc, snapshot);
}
