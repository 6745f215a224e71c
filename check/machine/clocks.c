#include "check/machine/clocks.h"

#include <stdlib.h>
#include <string.h>
#include "check/machine/snapshot.h"

void pfs_clocks_fini(struct pfs_clocks *self)
{
	free(self->now);
	free((void *)self->carried);
	pfs_scratch_fini(&self->arena);
	pfs_table_fini(&self->locations);
}

void pfs_clocks_begin(struct pfs_clocks *self, uint32_t threads)
{
	pfs_scratch_clear(&self->arena);
	pfs_table_clear(&self->locations);
	self->now = pfs_widen(self->now, &self->room, threads * threads, sizeof(*self->now));
	memset(self->now, 0, (size_t)threads * threads * sizeof(*self->now));
	self->threads = threads;
	for (uint32_t thread = 0; thread < threads; thread++)
		pfs_clock_of(self, thread)[thread] = 1;
}

const uint32_t *pfs_clock_release(struct pfs_clocks *self, uint32_t thread)
{
	size_t bytes = self->threads * sizeof(uint32_t);
	uint32_t *now = pfs_clock_of(self, thread);
	uint32_t *copy = pfs_scratch_take(&self->arena, bytes);
	memcpy(copy, now, bytes);
	now[thread]++;
	return copy;
}

void pfs_clock_acquire(struct pfs_clocks *self, uint32_t thread, const uint32_t *carried)
{
	uint32_t *now = pfs_clock_of(self, thread);
	for (uint32_t other = 0; carried != NULL && other < self->threads; other++) {
		if (carried[other] > now[other])
			now[other] = carried[other];
	}
}

const uint32_t *pfs_clock_join(struct pfs_clocks *self, const uint32_t *a, const uint32_t *b)
{
	if (a == NULL || b == NULL)
		return a != NULL ? a : b;
	uint32_t *both = pfs_scratch_take(&self->arena, self->threads * sizeof(uint32_t));
	for (uint32_t thread = 0; thread < self->threads; thread++)
		both[thread] = a[thread] > b[thread] ? a[thread] : b[thread];
	return both;
}

const uint32_t *pfs_clock_carried(const struct pfs_clocks *self, const void *address)
{
	uint32_t location = pfs_table_find(&self->locations, (uintptr_t)address);
	return location != PFS_TABLE_NONE ? self->carried[location] : NULL;
}

void pfs_clock_carry(struct pfs_clocks *self, const void *address, const uint32_t *clock)
{
	if (clock == NULL && pfs_table_find(&self->locations, (uintptr_t)address) == PFS_TABLE_NONE)
		return;
	uint32_t location = pfs_table_add(&self->locations, (uintptr_t)address);
	self->carried = pfs_widen((void *)self->carried, &self->carried_room, location + 1,
				  sizeof(*self->carried));
	self->carried[location] = clock;
}

void pfs_clocks_keep(struct pfs_clocks *self, struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, self->now, self->threads * self->threads * sizeof(*self->now));
	pfs_snapshot_put(snapshot, &self->locations.count, sizeof(self->locations.count));
	pfs_snapshot_put(snapshot, (void *)self->carried,
			 self->locations.count * sizeof(*self->carried));
	pfs_snapshot_put_scratch(snapshot, &self->arena);
}
