#include "check/search/rewind.h"

#include <string.h>

#include "check/machine/heap.h"
#include "check/search/search.h"

#define STEPS_APART 20u        /* of new ones: a snapshot costs as much as some steps */
#define STEPS_BEFORE_BRANCH 4u /* fewer are executed again */

bool pfs_rewind_begin(struct pfs_rewind *self, struct pfs_machine *machine,
		      const struct pfs_scenario *scenario)
{
	memset(self, 0, sizeof(*self));
	if (scenario->keep_whole == NULL || machine->setup.tracing || !pfs_snapshot_is_possible() ||
	    !pfs_heap_begin())
		return false;
	machine->setup.chooses_outside = true;
	self->scenario = scenario;
	return true;
}

void pfs_rewind_end(struct pfs_rewind *self, struct pfs_machine *machine)
{
	if (self->scenario == NULL)
		return;
	machine->setup.chooses_outside = false;
	pfs_heap_end();
	for (uint32_t i = 0; i < PFS_REWIND_PLACES; i++)
		pfs_snapshot_fini(&self->places[i].snapshot);
}

/* The places exchange their memory too. */
static void drop_every_second(struct pfs_rewind *self)
{
	for (uint32_t i = 1; 2 * i < self->count; i++) {
		struct pfs_rewind_place dropped = self->places[i];
		self->places[i] = self->places[2 * i];
		self->places[2 * i] = dropped;
	}
	self->count = (self->count + 1) / 2;
}

void pfs_rewind_pass(struct pfs_rewind *self, struct pfs_machine *machine, bool branches)
{
	uint32_t step = machine->run.step_count;
	uint32_t apart = branches ? STEPS_BEFORE_BRANCH : STEPS_APART;
	if (self->is_too_large ||
	    (self->count != 0 && step - self->places[self->count - 1].step < apart))
		return;
	if (self->count == PFS_REWIND_PLACES)
		drop_every_second(self);
	struct pfs_rewind_place *place = &self->places[self->count];
	place->step = step;
	if (!pfs_snapshot_take_whole(&place->snapshot, machine))
		return;
	self->scenario->keep_whole(&place->snapshot, self->scenario->context);
	self->is_too_large = place->snapshot.used > PFS_REWIND_BYTES_MAX;
	self->count += !place->snapshot.no_memory;
}

bool pfs_rewind_to(struct pfs_rewind *self, struct pfs_machine *machine, uint32_t step)
{
	while (self->count != 0 && self->places[self->count - 1].step > step)
		self->count--;
	for (; !self->is_too_large && self->count != 0; self->count--) {
		const struct pfs_rewind_place *place = &self->places[self->count - 1];
		if (pfs_snapshot_restore_whole(&place->snapshot, machine))
			return true;
	}
	self->count = 0;
	pfs_heap_reset();
	return false;
}
