#include "sim/machine/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/heap.h"

#define ROOM_FIRST ((size_t)1 << 16)

/* Before the bytes of each part. */
struct part {
	void *at;
	size_t bytes;
};

void pfs_snapshot_fini(struct pfs_snapshot *self)
{
	free(self->bytes);
}

static bool make_room(struct pfs_snapshot *self, size_t bytes)
{
	size_t room = self->room != 0 ? self->room : ROOM_FIRST;
	while (room < self->used + bytes)
		room *= 2;
	if (room == self->room)
		return true;
	char *longer = realloc(self->bytes, room);
	self->no_memory |= longer == NULL;
	if (longer == NULL)
		return false;
	self->bytes = longer;
	self->room = room;
	return true;
}

void pfs_snapshot_put(struct pfs_snapshot *self, void *at, size_t bytes)
{
	const struct part part = { at, bytes };
	if (self->no_memory || !make_room(self, sizeof(part) + bytes))
		return;
	memcpy(self->bytes + self->used, &part, sizeof(part));
	memcpy(self->bytes + self->used + sizeof(part), at, bytes);
	self->used += sizeof(part) + bytes;
}

void pfs_snapshot_restore(const struct pfs_snapshot *self)
{
	for (size_t at = 0; at < self->used;) {
		struct part part;
		memcpy(&part, self->bytes + at, sizeof(part));
		memcpy(part.at, self->bytes + at + sizeof(part), part.bytes);
		at += sizeof(part) + part.bytes;
	}
}

static void put_thread(struct pfs_snapshot *self, struct pfs_vthread *thread)
{
	const struct pfs_fiber *fiber = &thread->fiber;
	pfs_snapshot_put(self, thread, sizeof(*thread));
	if (thread->buffer != NULL)
		pfs_snapshot_put(self, thread->buffer, PFS_BUFFER_MAX * sizeof(*thread->buffer));
	if (thread->state != PFS_VTHREAD_FINISHED)
		pfs_snapshot_put(self, fiber->stack_pointer,
				 (size_t)(fiber->stack + fiber->stack_bytes -
					  (char *)fiber->stack_pointer));
}

bool pfs_snapshot_fits(const struct pfs_machine *machine)
{
	const struct pfs_sim_memory *memory = &machine->memory;
	return memory->maps == machine->maps_at_start &&
	       memory->mapped == machine->mapped_at_start;
}

bool pfs_snapshot_take(struct pfs_snapshot *self, struct pfs_machine *machine)
{
	const struct pfs_sim_memory *memory = &machine->memory;
	self->used = 0;
	self->no_memory = false;
	if (!pfs_snapshot_fits(machine))
		return false;
	for (uint32_t id = 0; id < machine->thread_count; id++)
		put_thread(self, machine->threads[id]);
	pfs_snapshot_put(self, &machine->step_count, sizeof(machine->step_count));
	pfs_snapshot_put(self, &machine->last_actor, sizeof(machine->last_actor));
	pfs_snapshot_put(self, &machine->yielded, sizeof(machine->yielded));
	pfs_snapshot_put(self, memory->region, memory->used * PFS_SIM_OS_PAGE);
	pfs_heap_keep(self);
	return !self->no_memory;
}
