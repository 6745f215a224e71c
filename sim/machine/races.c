#include "sim/machine/races.h"

#include <stdlib.h>

#include "sim/machine/machine.h"
#include "sim/machine/trace.h"

#define CELL_BYTES 8u

/* The last access of its kind by a thread to some bytes of a cell. */
struct pfs_access {
	struct pfs_access *next;
	const void *code;                  /* of a plain one */
	const struct pfs_sim_place *place; /* of an atomic one */
	uint32_t thread;
	uint32_t epoch; /* of its thread's clock */
	uint8_t mask;   /* bytes of the cell */
	bool writes;
};

void pfs_races_fini(struct pfs_races *self)
{
	pfs_table_fini(&self->cells);
	pfs_scratch_fini(&self->arena);
	free((void *)self->first);
	free(self->keys);
}

void pfs_races_clear(struct pfs_races *self)
{
	pfs_table_clear(&self->cells);
	pfs_scratch_clear(&self->arena);
	self->unused = NULL;
}

static void describe(const struct pfs_access *access, char *text, size_t bytes)
{
	const char *verb = access->writes ? "writes" : "reads";
	if (access->place == NULL)
		(void)snprintf(text, bytes, "thread %u %s at %s", access->thread, verb,
			       pfs_place_of_code(access->code));
	else
		(void)snprintf(text, bytes, "thread %u %s (atomic) at %s (%s:%d)", access->thread,
			       verb, access->place->function,
			       pfs_trace_base_name(access->place->file), access->place->line);
}

static void fail(const struct pfs_machine *machine, const void *address,
		 const struct pfs_access *first, const struct pfs_access *second)
{
	char before[230], after[230], name[PFS_NAME_BYTES] = "";
	address = (const char *)address + __builtin_ctz((unsigned)(first->mask & second->mask));
	if (machine->name_address == NULL ||
	    !machine->name_address(machine->name_context, address, name, sizeof(name)))
		name[0] = '\0';
	describe(first, before, sizeof(before));
	describe(second, after, sizeof(after));
	pfs_machine_fail("data race%s%s: %s; %s; nothing orders them",
			 name[0] != '\0' ? " on " : "", name, before, after);
}

static struct pfs_access **cell_of(struct pfs_races *self, uintptr_t key)
{
	uint32_t before = self->cells.count;
	uint32_t cell = pfs_table_add(&self->cells, key);
	if (cell >= self->room) {
		self->first = pfs_widen((void *)self->first, &self->room, cell + 1,
					sizeof(*self->first));
		self->keys = pfs_widen(self->keys, &self->key_room, cell + 1,
				       sizeof(*self->keys));
	}
	if (cell == before) {
		self->first[cell] = NULL;
		self->keys[cell] = key;
	}
	return &self->first[cell];
}

static bool conflict(const struct pfs_access *a, const struct pfs_access *b)
{
	return a->thread != b->thread && (a->mask & b->mask) != 0 && (a->writes || b->writes) &&
	       (a->place == NULL || b->place == NULL);
}

/* Need nobody remember `old` once there is `access`, which is ordered behind it? */
static bool replaces(const struct pfs_access *access, const struct pfs_access *old)
{
	if ((old->mask & ~access->mask) != 0)
		return false;
	if (access->place == NULL && access->writes)
		return true; /* it conflicts with all that the old one conflicts with */
	return access->thread == old->thread && (access->writes || !old->writes) &&
	       (access->place == NULL || old->place != NULL);
}

static void add(struct pfs_machine *machine, uintptr_t key, const struct pfs_access *access)
{
	struct pfs_races *self = &machine->races;
	struct pfs_access **first = cell_of(self, key), **link = first, *old = *first;
	const uint32_t *now = pfs_clock_of(&machine->clocks, access->thread);
	if (old != NULL && old->thread == access->thread && old->epoch == access->epoch &&
	    old->mask == access->mask && old->writes == access->writes &&
	    (old->place == NULL) == (access->place == NULL))
		return; /* nothing was seen since, by anybody */
	while ((old = *link) != NULL) {
		if (conflict(access, old) && old->epoch > now[old->thread])
			fail(machine, (const void *)(key * CELL_BYTES), old, access);
		if (!replaces(access, old)) {
			link = &old->next;
			continue;
		}
		*link = old->next;
		old->next = self->unused;
		self->unused = old;
	}
	struct pfs_access *kept = self->unused;
	if (kept != NULL)
		self->unused = kept->next;
	else
		kept = pfs_scratch_take(&self->arena, sizeof(*kept));
	*kept = *access;
	kept->next = *first;
	*first = kept;
}

/* Cell by cell. */
static void add_range(struct pfs_machine *machine, const void *address, uint32_t size_bytes,
		      struct pfs_access *access)
{
	uintptr_t at = (uintptr_t)address, end = at + size_bytes;
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
	return machine->watching &&
	       (uintptr_t)address - (uintptr_t)machine->oracle >= machine->oracle_bytes;
}

void pfs_races_plain(struct pfs_machine *machine, const struct pfs_plain *plain)
{
	if (!is_watched(machine, plain->address))
		return;
	uint32_t thread = machine->running->id;
	struct pfs_access access = { .code = plain->code, .thread = thread,
				     .epoch = pfs_clock_of(&machine->clocks, thread)[thread],
				     .writes = plain->writes };
	add_range(machine, plain->address, plain->size_bytes, &access);
}

void pfs_races_atomic(struct pfs_machine *machine, const struct pfs_step *step, uint32_t epoch)
{
	struct pfs_access access = { .place = step->operation.place, .thread = step->thread,
				     .epoch = epoch, .writes = step->wrote };
	if (is_watched(machine, step->operation.address))
		add_range(machine, step->operation.address, step->operation.size_bytes, &access);
}

void pfs_races_unmap(struct pfs_machine *machine, const struct pfs_sim_operation *operation)
{
	struct pfs_races *self = &machine->races;
	uint32_t thread = machine->running->id;
	const uint32_t *now = pfs_clock_of(&machine->clocks, thread);
	uintptr_t first = (uintptr_t)operation->address / CELL_BYTES;
	struct pfs_access access = { .place = operation->place, .thread = thread, .mask = 0xFF,
				     .writes = true };
	for (uint32_t cell = 0; machine->watching && cell < self->cells.count; cell++) {
		if (self->keys[cell] - first >= operation->operand / CELL_BYTES)
			continue;
		for (const struct pfs_access *old = self->first[cell]; old != NULL;
		     old = old->next) {
			if (old->thread != thread && old->epoch > now[old->thread])
				fail(machine, (const void *)(self->keys[cell] * CELL_BYTES), old,
				     &access);
		}
	}
}
