#include "check/machine/races.h"

#include "check/machine/host.h"

#include <stdlib.h>

#include "check/machine/machine.h"
#include "check/machine/snapshot.h"

#define CELL_BYTES 8u

/* The last access of its kind by a thread to some bytes of a cell. */
struct pfs_access {
	const void *origin; /* the code of a plain one, the struct pfs_sim_place of an atomic one */
	uint32_t epoch;     /* of its thread's clock */
	uint32_t next;      /* in the cell, or in the list of unused ones; 0: none */
	uint8_t thread;
	uint8_t mask; /* bytes of the cell */
	bool atomic;
	bool writes;
};

_Static_assert(PFS_RACES_THREADS_MAX <= UINT8_MAX, "an access has a byte for its thread");

struct pfs_race_cell {
	uintptr_t key;
	uint32_t first; /* its newest access */
};

void pfs_races_fini(struct pfs_races *self)
{
	pfs_table_fini(&self->table);
	free(self->cells);
	free(self->accesses);
}

void pfs_races_clear(struct pfs_races *self)
{
	pfs_table_clear(&self->table);
	self->accesses = pfs_widen(self->accesses, &self->access_room, 1, sizeof(*self->accesses));
	self->used = 1;
	self->unused = 0;
}

static struct pfs_finding_side side_of(const struct pfs_access *access)
{
	return pfs_side(access->thread, access->writes ? "writes" : "reads",
			access->atomic ? access->origin : pfs_place_of_code(access->origin));
}

static void fail(const struct pfs_machine *machine, const void *address,
		 const struct pfs_access *first, const struct pfs_access *second)
{
	char name[PFS_NAME_BYTES] = "";
	address = (const char *)address + __builtin_ctz((unsigned)(first->mask & second->mask));
	if (machine->hooks.name_address == NULL ||
	    !machine->hooks.name_address(machine->hooks.name_context, address, name, sizeof(name)))
		name[0] = '\0';
	const struct pfs_finding_side before = side_of(first), after = side_of(second);
	pfs_machine_find(PFS_FOUND_DATA_RACE, PFS_SIDES(before, after),
			 "data race%s%s: thread %u %s%s at " PFS_SIDE_1
			 "; thread %u %s%s at " PFS_SIDE_2 "; nothing orders them",
			 name[0] != '\0' ? " on " : "", name, before.thread, before.does,
			 first->atomic ? " (atomic)" : "", after.thread, after.does,
			 second->atomic ? " (atomic)" : "");
}

static struct pfs_race_cell *cell_of(struct pfs_races *self, uintptr_t key)
{
	uint32_t before = self->table.count;
	uint32_t number = pfs_table_add(&self->table, key);
	self->cells = pfs_widen(self->cells, &self->cell_room, number + 1, sizeof(*self->cells));
	if (number == before)
		self->cells[number] = (struct pfs_race_cell){ key, 0 };
	return &self->cells[number];
}

static bool conflict(const struct pfs_access *a, const struct pfs_access *b)
{
	return a->thread != b->thread && (a->mask & b->mask) != 0 && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic);
}

/* May `old` be forgotten once there is `access`, which is ordered after it? */
static bool replaces(const struct pfs_access *access, const struct pfs_access *old)
{
	if ((old->mask & ~access->mask) != 0)
		return false;
	if (!access->atomic && access->writes)
		return true; /* it conflicts with all that the old one conflicts with */
	return access->thread == old->thread && (access->writes || !old->writes) &&
	       (!access->atomic || old->atomic);
}

/* Has the thread made the same access before, and acquired nothing since? */
static bool repeats(const struct pfs_access *access, const struct pfs_access *old)
{
	return old->thread == access->thread && old->epoch == access->epoch &&
	       old->mask == access->mask && old->writes == access->writes &&
	       old->atomic == access->atomic;
}

static void keep(struct pfs_races *self, struct pfs_race_cell *cell,
		 const struct pfs_access *access)
{
	uint32_t kept = self->unused;
	if (kept != 0)
		self->unused = self->accesses[kept].next;
	else
		kept = self->used++;
	self->accesses = pfs_widen(self->accesses, &self->access_room, kept + 1,
				   sizeof(*self->accesses));
	self->accesses[kept] = *access;
	self->accesses[kept].next = cell->first;
	cell->first = kept;
}

static void add(struct pfs_machine *machine, uintptr_t key, const struct pfs_access *access)
{
	struct pfs_races *self = &machine->races;
	struct pfs_race_cell *cell = cell_of(self, key);
	if (cell->first != 0 && repeats(access, &self->accesses[cell->first]))
		return;
	const uint32_t *now = pfs_clock_of(&machine->clocks, access->thread);
	for (uint32_t *link = &cell->first; *link != 0;) {
		uint32_t number = *link;
		struct pfs_access *old = &self->accesses[number];
		if (old->epoch > now[old->thread] && conflict(access, old))
			fail(machine, (const void *)(key * CELL_BYTES), old, access);
		if (!replaces(access, old)) {
			link = &old->next;
			continue;
		}
		*link = old->next;
		old->next = self->unused;
		self->unused = number;
	}
	keep(self, cell, access);
}

/* Cell by cell. */
static void add_range(struct pfs_machine *machine, const void *address, uint32_t size_bytes,
		      struct pfs_access *access)
{
	uintptr_t at = (uintptr_t)address, end = at + size_bytes;
	if (at % CELL_BYTES + size_bytes <= CELL_BYTES) { /* the usual case */
		access->mask = (uint8_t)(((1u << size_bytes) - 1) << at % CELL_BYTES);
		add(machine, at / CELL_BYTES, access);
		return;
	}
	while (at < end) {
		uintptr_t key = at / CELL_BYTES, next = (key + 1) * CELL_BYTES;
		uintptr_t last = next < end ? next : end;
		uint32_t bits = (1u << (last - at)) - 1;
		access->mask = (uint8_t)(bits << at % CELL_BYTES);
		add(machine, key, access);
		at = last;
	}
}

static bool is_watched(const struct pfs_machine *machine, const void *address)
{
	return machine->run.watching &&
	       (uintptr_t)address - (uintptr_t)machine->setup.oracle >= machine->setup.oracle_bytes;
}

void pfs_races_plain(struct pfs_machine *machine, const struct pfs_plain *plain)
{
	if (!is_watched(machine, plain->address))
		return;
	uint32_t thread = machine->run.running->id;
	struct pfs_access access = { .origin = plain->code,
				     .thread = (uint8_t)thread,
				     .epoch = pfs_clock_of(&machine->clocks, thread)[thread],
				     .writes = plain->writes };
	add_range(machine, plain->address, plain->size_bytes, &access);
}

void pfs_races_atomic(struct pfs_machine *machine, const struct pfs_step *step, uint32_t epoch)
{
	struct pfs_access access = { .origin = step->operation.place,
				     .atomic = true,
				     .thread = (uint8_t)step->thread,
				     .epoch = epoch,
				     .writes = step->wrote };
	if (is_watched(machine, step->operation.address))
		add_range(machine, step->operation.address, step->operation.size_bytes, &access);
}

void pfs_races_unmap(struct pfs_machine *machine, const struct pfs_sim_operation *operation)
{
	struct pfs_races *self = &machine->races;
	uint32_t thread = machine->run.running->id;
	const uint32_t *now = pfs_clock_of(&machine->clocks, thread);
	uintptr_t first = (uintptr_t)operation->address / CELL_BYTES;
	struct pfs_access access = { .origin = operation->place,
				     .atomic = true,
				     .thread = (uint8_t)thread,
				     .mask = 0xFF,
				     .writes = true };
	for (uint32_t number = 0; machine->run.watching && number < self->table.count; number++) {
		const struct pfs_race_cell *cell = &self->cells[number];
		if (cell->key - first >= operation->operand / CELL_BYTES)
			continue;
		for (uint32_t at = cell->first; at != 0; at = self->accesses[at].next) {
			const struct pfs_access *old = &self->accesses[at];
			if (old->thread != thread && old->epoch > now[old->thread])
				fail(machine, (const void *)(cell->key * CELL_BYTES), old, &access);
		}
	}
}

void pfs_races_keep(struct pfs_races *self, struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &self->table.count, sizeof(self->table.count));
	pfs_snapshot_put(snapshot, self->cells, self->table.count * sizeof(*self->cells));
	pfs_snapshot_put(snapshot, self->accesses, self->used * sizeof(*self->accesses));
	pfs_snapshot_put(snapshot, &self->used, sizeof(self->used));
	pfs_snapshot_put(snapshot, &self->unused, sizeof(self->unused));
}
