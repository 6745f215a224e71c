#include "sim/machine/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/heap.h"
#include "sim/machine/model.h"

#define ROOM_FIRST ((size_t)1 << 16)

/* Before the bytes of each part. */
struct part {
	void *at;
	uint32_t bytes;
	bool is_count; /* added, not copied */
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

static void put(struct pfs_snapshot *self, const struct part *part, const void *from)
{
	size_t padded = (part->bytes + 7u) & ~(size_t)7;
	if (self->no_memory || !make_room(self, sizeof(*part) + padded))
		return;
	memcpy(self->bytes + self->used, part, sizeof(*part));
	memcpy(self->bytes + self->used + sizeof(*part), from, part->bytes);
	self->used += sizeof(*part) + padded;
}

void pfs_snapshot_put(struct pfs_snapshot *self, void *at, size_t bytes)
{
	const struct part part = { .at = at, .bytes = (uint32_t)bytes };
	self->no_memory |= bytes > UINT32_MAX / 2;
	if (bytes != 0)
		put(self, &part, at);
}

void pfs_snapshot_put_count(struct pfs_snapshot *self, uint64_t *count, uint64_t added)
{
	const struct part part = { .at = count, .bytes = sizeof(*count), .is_count = true };
	put(self, &part, &added);
}

static void add_count(uint64_t *count, const char *from)
{
	uint64_t added;
	memcpy(&added, from, sizeof(added));
	*count += added;
}

void pfs_snapshot_restore(const struct pfs_snapshot *self)
{
	for (size_t at = 0; at < self->used;) {
		struct part part;
		const char *from = self->bytes + at + sizeof(part);
		memcpy(&part, self->bytes + at, sizeof(part));
		if (part.is_count)
			add_count(part.at, from);
		else
			memcpy(part.at, from, part.bytes);
		at += sizeof(part) + ((part.bytes + 7u) & ~(size_t)7);
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

static void put_machine(struct pfs_snapshot *self, struct pfs_machine *machine)
{
	const struct pfs_sim_memory *memory = &machine->memory;
	for (uint32_t id = 0; id < machine->thread_count; id++)
		put_thread(self, machine->threads[id]);
	pfs_snapshot_put(self, &machine->step_count, sizeof(machine->step_count));
	pfs_snapshot_put(self, &machine->last_actor, sizeof(machine->last_actor));
	pfs_snapshot_put(self, &machine->yielded, sizeof(machine->yielded));
	pfs_snapshot_put(self, memory->region, memory->used * PFS_SIM_OS_PAGE);
	pfs_heap_keep(self);
}

bool pfs_snapshot_take(struct pfs_snapshot *self, struct pfs_machine *machine)
{
	self->used = 0;
	self->no_memory = false;
	if (!pfs_snapshot_fits(machine))
		return false;
	put_machine(self, machine);
	return !self->no_memory;
}

bool pfs_snapshot_take_whole(struct pfs_snapshot *self, struct pfs_machine *machine)
{
	self->used = 0;
	self->no_memory = false;
	self->pages = machine->memory.used;
	self->widenings = pfs_widenings;
	if (machine->memory.hidden != 0)
		return false;
	put_machine(self, machine);
	pfs_snapshot_put(self, &machine->check, sizeof(machine->check));
	pfs_snapshot_put(self, &machine->cut, sizeof(machine->cut));
	pfs_sim_memory_keep(&machine->memory, self);
	pfs_news_keep(machine, self);
	if (machine->watching || machine->model->keeps_old)
		pfs_clocks_keep(&machine->clocks, self);
	if (machine->watching)
		pfs_races_keep(&machine->races, self);
	if (machine->model->keep != NULL)
		machine->model->keep(machine, self);
	if (machine->has_fences)
		pfs_fences_keep(&machine->fences, self);
	return !self->no_memory;
}

bool pfs_snapshot_restore_whole(const struct pfs_snapshot *self, struct pfs_machine *machine)
{
	if (self->widenings != pfs_widenings)
		return false;
	pfs_sim_memory_return(&machine->memory, self->pages);
	pfs_snapshot_restore(self);
	machine->running = NULL;
	machine->is_known = false;
	machine->end = PFS_END_DONE;
	machine->message[0] = '\0';
	return true;
}

bool pfs_snapshot_is_possible(void)
{
	return pfs_fiber_is_bytes();
}
