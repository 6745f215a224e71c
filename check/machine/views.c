#include "check/machine/views.h"

#include <stdlib.h>
#include <string.h>

#include "check/machine/machine.h"
#include "check/machine/model.h"

/* ---- room ---- */

void pfs_views_fini(struct pfs_views *self)
{
	for (uint32_t i = 0; i < self->location_room; i++) {
		free(self->locations[i].messages);
		free(self->locations[i].order);
		free(self->locations[i].seq);
	}
	for (uint32_t thread = 0; thread < self->thread_room[0]; thread++) {
		free(self->view[thread]);
		free(self->glimpses[thread]);
	}
	free(self->locations);
	free((void *)self->view);
	free((void *)self->glimpses);
	free(self->view_room);
	free(self->glimpse_room);
	free(self->fenced);
	pfs_scratch_fini(&self->arena);
	pfs_seq_fini(&self->seq);
	pfs_psc_fini(&self->psc);
	pfs_table_fini(&self->table);
}

void pfs_views_begin(struct pfs_views *self, uint32_t threads)
{
	uint32_t *room = self->thread_room;
	self->view = pfs_widen((void *)self->view, &room[0], threads, sizeof(*self->view));
	self->glimpses = pfs_widen((void *)self->glimpses, &room[1], threads,
				   sizeof(*self->glimpses));
	self->view_room = pfs_widen(self->view_room, &room[2], threads, sizeof(uint32_t));
	self->glimpse_room = pfs_widen(self->glimpse_room, &room[3], threads, sizeof(uint32_t));
	self->threads = threads;
	self->told = self->fence = self->barrier = (struct pfs_view_message){ 0 };
	self->fenced = pfs_widen(self->fenced, &self->fenced_room, threads, sizeof(*self->fenced));
	memset(self->fenced, 0, threads * sizeof(*self->fenced));
	pfs_table_clear(&self->table);
	pfs_scratch_clear(&self->arena);
	pfs_seq_begin(&self->seq, threads);
	pfs_psc_begin(&self->psc, threads);
}

static void widen_threads(struct pfs_views *self, uint32_t count)
{
	for (uint32_t thread = 0; thread < self->threads; thread++) {
		self->view[thread] = pfs_widen(self->view[thread], &self->view_room[thread], count,
					       sizeof(uint32_t));
		self->glimpses[thread] = pfs_widen(self->glimpses[thread],
						   &self->glimpse_room[thread], count,
						   sizeof(struct pfs_glimpse));
	}
}

/* Insert a message after position `behind`; UINT32_MAX: as the first. */
static uint32_t insert(struct pfs_location *location, uint32_t behind,
		       const struct pfs_view_message *message)
{
	uint32_t at = behind + 1, id = location->count++;
	location->messages = pfs_widen(location->messages, &location->room, location->count,
				       sizeof(*location->messages));
	location->order = pfs_widen(location->order, &location->order_room, location->count,
				    sizeof(*location->order));
	for (uint32_t i = id; i > at; i--) {
		location->order[i] = location->order[i - 1];
		location->messages[location->order[i]].at = i;
	}
	location->order[at] = id;
	location->messages[id] = *message;
	location->messages[id].at = at;
	return id;
}

/* The number of the operation's location. A new location begins with what memory holds. */
static uint32_t location_of(struct pfs_views *self, const struct pfs_sim_operation *operation)
{
	uint32_t before = self->table.count;
	uint32_t id = pfs_table_add(&self->table, (uintptr_t)operation->address);
	uint64_t value = pfs_model_bytes(operation->address, operation->size_bytes);
	if (id == before) {
		self->locations = pfs_widen(self->locations, &self->location_room, id + 1,
					    sizeof(*self->locations));
		widen_threads(self, self->location_room);
		for (uint32_t thread = 0; thread < self->threads; thread++) {
			self->view[thread][id] = 0;
			self->glimpses[thread][id] = (struct pfs_glimpse){ 0 };
		}
		struct pfs_location *made = &self->locations[id];
		made->address = operation->address;
		made->size_bytes = operation->size_bytes;
		made->count = 0;
		made->seq_count = 0;
		(void)insert(made, UINT32_MAX,
			     &(struct pfs_view_message){ .value = value, .step = PFS_STEP_NONE });
		return id;
	}
	struct pfs_location *location = &self->locations[id];
	PFS_MACHINE_CHECK(
		location->size_bytes == operation->size_bytes,
		"%s (%s:%d) is accessed with sizes of %u and %u bytes, which --memory views "
		"cannot mix: use --memory sc",
		operation->place->text, operation->place->file, operation->place->line,
		location->size_bytes, operation->size_bytes);
	uint32_t last = location->count - 1;
	if (location->messages[location->order[last]].value == value)
		return id;
	/* A plain store, or one of metrics. If it is not ordered it is a race; here all threads see
	 * it. */
	uint32_t message =
		insert(location, last,
		       &(struct pfs_view_message){ .value = value, .step = PFS_STEP_NONE });
	for (uint32_t thread = 0; thread < self->threads; thread++)
		self->view[thread][id] = message;
	return id;
}

/* ---- steps ---- */

/* The later message of each location. */
static void join(const struct pfs_views *self, uint32_t *view, const struct pfs_view_message *other)
{
	for (uint32_t id = 0; id < other->view_count; id++) {
		const struct pfs_view_message *messages = self->locations[id].messages;
		if (messages[other->view[id]].at > messages[view[id]].at)
			view[id] = other->view[id];
	}
}

/* A copy of the view, with what another message carries. */
static void keep_view(struct pfs_views *self, struct pfs_view_message *message,
		      const uint32_t *view, const struct pfs_view_message *from)
{
	uint32_t count = self->table.count;
	uint32_t *copy = pfs_scratch_take(&self->arena, count * sizeof(uint32_t));
	if (count != 0)
		memcpy(copy, view, count * sizeof(uint32_t));
	if (from != NULL)
		join(self, copy, from);
	message->view = copy;
	message->view_count = count;
}

/* true: from now on the choice is not offered. */
static bool note_read(struct pfs_glimpse *last, uint32_t message, bool newest, uint32_t most)
{
	if (last->read != message || newest)
		last->repeats = 0;
	last->read = message;
	last->repeats += !newest && last->repeats != UINT32_MAX;
	return last->repeats == most;
}

/* The message after position `at` is new: the step's value. from: what an rmw read, or NULL. */
static void write_message(struct pfs_machine *machine, struct pfs_vthread *thread,
			  const struct pfs_step *step, uint32_t id, uint32_t at,
			  const struct pfs_view_message *from)
{
	struct pfs_views *self = &machine->views;
	struct pfs_location *location = &self->locations[id];
	struct pfs_view_message carried = from != NULL ? *from : (struct pfs_view_message){ 0 };
	uint8_t order = pfs_order_of(&step->operation, true);
	uint32_t made = insert(location, at,
			       &(struct pfs_view_message){ .value = step->written,
							   .step = machine->run.step_count,
							   .rmw = from != NULL });
	struct pfs_view_message *message = &location->messages[made];
	self->view[thread->id][id] = made;
	message->view = carried.view;
	message->view_count = carried.view_count;
	message->clock = carried.clock;
	const struct pfs_view_message *fenced = &self->fenced[thread->id];
	if (fenced->view != NULL && !pfs_order_releases(order)) {
		uint32_t *copy = pfs_scratch_take(&self->arena, self->table.count * sizeof(*copy));
		memset(copy, 0, self->table.count * sizeof(*copy));
		join(self, copy, fenced);
		keep_view(self, message, copy, &carried);
		message->clock = pfs_clock_join(&machine->clocks, carried.clock, fenced->clock);
	}
	if (pfs_order_releases(order)) {
		struct pfs_clocks *clocks = &machine->clocks;
		pfs_seq_release(&self->seq, thread->id,
				pfs_clock_of(clocks, thread->id)[thread->id]);
		keep_view(self, message, self->view[thread->id], &carried);
		message->clock = pfs_clock_join(clocks, carried.clock,
						pfs_clock_release(clocks, thread->id));
	}
	if (made == location->order[location->count - 1])
		memcpy(location->address, &step->written, location->size_bytes);
}

static void read_message(struct pfs_machine *machine, uint32_t thread, uint8_t order, uint32_t id,
			 uint32_t at)
{
	struct pfs_views *self = &machine->views;
	const struct pfs_location *location = &self->locations[id];
	const struct pfs_view_message *message = &location->messages[location->order[at]];
	machine->run.cut |= note_read(&self->glimpses[thread][id], location->order[at],
				      at + 1 == location->count, machine->setup.repeats_max);
	self->view[thread][id] = location->order[at];
	if (!pfs_order_acquires(order)) {
		struct pfs_view_message *known = pfs_fences_read(machine, thread, message->clock);
		if (known != NULL)
			pfs_views_remember(self, known, message);
		return;
	}
	join(self, self->view[thread], message);
	pfs_clock_acquire(&machine->clocks, thread, message->clock);
}

void pfs_views_execute(struct pfs_machine *machine, struct pfs_vthread *thread,
		       struct pfs_step *step, uint32_t choice)
{
	struct pfs_views *self = &machine->views;
	uint32_t id = location_of(self, &step->operation);
	struct pfs_location *location = &self->locations[id];
	uint32_t at = location->count - 1 - choice;
	struct pfs_view_message read = location->messages[location->order[at]];
	bool reads = step->operation.kind != PFS_SIM_STORE &&
		     step->operation.kind != PFS_SIM_UNLOCK;
	step->older = choice;
	step->seen = read.value;
	step->source = read.step;
	step->wrote = pfs_model_result(&step->operation, thread->id, read.value, &step->written);
	uint8_t order = pfs_order_of(&step->operation, step->wrote);
	pfs_seq_visit(&self->seq, &machine->clocks, thread->id, id);
	if (reads)
		read_message(machine, thread->id, order, id, at);
	if (order == PFS_SIM_SEQ) {
		struct pfs_seq_operation seq = { location, id, thread->id, at, step->wrote, NULL };
		pfs_seq_execute(&self->seq, &machine->clocks, &seq, location,
				step->wrote ? location->count : location->order[at],
				machine->run.step_count);
	}
	if (machine->setup.has_fences)
		pfs_psc_add(&self->psc, &machine->clocks,
			    &(struct pfs_psc_event){
				    .thread = thread->id,
				    .location = id,
				    .step = machine->run.step_count,
				    .epoch = pfs_clock_of(&machine->clocks, thread->id)[thread->id],
				    .read = reads ? location->order[at] : PFS_PSC_NONE,
				    .written = step->wrote ? location->count : PFS_PSC_NONE,
				    .seq = order == PFS_SIM_SEQ });
	if (step->wrote)
		write_message(machine, thread, step, id, at, reads ? &read : NULL);
}

void pfs_views_tick(struct pfs_machine *machine, uint32_t thread, bool begins)
{
	struct pfs_views *self = &machine->views;
	struct pfs_view_message before = self->told;
	if (begins)
		join(self, self->view[thread], &self->told);
	else
		keep_view(self, &self->told, self->view[thread], &before);
}

void pfs_views_remember(struct pfs_views *self, struct pfs_view_message *known,
			const struct pfs_view_message *message)
{
	const struct pfs_view_message before = *known;
	if (message->view_count == 0)
		return;
	uint32_t *copy = pfs_scratch_take(&self->arena, self->table.count * sizeof(*copy));
	memset(copy, 0, self->table.count * sizeof(*copy));
	join(self, copy, message);
	keep_view(self, known, copy, &before);
}

void pfs_views_fence_acquire(struct pfs_machine *machine, uint32_t thread,
			     const struct pfs_view_message *known)
{
	join(&machine->views, machine->views.view[thread], known);
}

void pfs_views_fence_release(struct pfs_machine *machine, uint32_t thread, const uint32_t *clock)
{
	struct pfs_views *self = &machine->views;
	pfs_seq_release(&self->seq, thread, clock[thread]);
	keep_view(self, &self->fenced[thread], self->view[thread], NULL);
	self->fenced[thread].clock = clock;
}

void pfs_views_fence_seq(struct pfs_machine *machine, uint32_t thread)
{
	struct pfs_views *self = &machine->views;
	const struct pfs_view_message before = self->fence;
	join(self, self->view[thread], &self->barrier);
	keep_view(self, &self->fence, self->view[thread], &before);
	/* It has released, and its own time has advanced. */
	pfs_psc_add(&self->psc, &machine->clocks,
		    &(struct pfs_psc_event){
			    .thread = thread,
			    .location = PFS_TABLE_NONE,
			    .step = machine->run.step_count - 1,
			    .epoch = pfs_clock_of(&machine->clocks, thread)[thread] - 1,
			    .read = PFS_PSC_NONE,
			    .written = PFS_PSC_NONE });
}

void pfs_views_fence(struct pfs_machine *machine, uint32_t thread)
{
	struct pfs_views *self = &machine->views;
	uint32_t *view = self->view[thread];
	for (uint32_t id = 0; id < self->table.count; id++) {
		const struct pfs_view_message *read = &self->locations[id].messages[view[id]];
		if (read->view != NULL)
			join(self, view, read);
	}
	join(self, view, &self->fence);
	keep_view(self, &self->fence, view, NULL);
	self->fenced[thread] = self->barrier = self->fence;
}
