/*
 * views_choices.c - the choices of a thread's next operation with views, and what each would read.
 */
#include "check/machine/machine.h"
#include "check/machine/model.h"
#include "check/machine/views.h"

static uint32_t location_find(const struct pfs_views *self, const void *address)
{
	return pfs_table_find(&self->table, (uintptr_t)address);
}

static bool is_single(uint8_t kind)
{
	return kind != PFS_SIM_LOAD && kind != PFS_SIM_STORE && kind != PFS_SIM_CAS &&
	       kind != PFS_SIM_EXCHANGE && kind != PFS_SIM_ADD && kind != PFS_SIM_OR &&
	       kind != PFS_SIM_XOR && kind != PFS_SIM_NAND && kind != PFS_SIM_AND &&
	       kind != PFS_SIM_AWAIT;
}

static uint32_t oldest_of(const struct pfs_views *self, uint32_t thread, uint32_t id)
{
	const struct pfs_location *location = &self->locations[id];
	return location->messages[self->view[thread][id]].at;
}

/* A choice of a thread's pending operation. */
struct choice {
	const struct pfs_location *location;
	uint32_t id, at;
	const struct pfs_view_message *message;
	bool writes, reads;
};

/* false: there is none, or it is too old for the thread, or not a value that it waits for. */
static bool find_choice(const struct pfs_views *self, const struct pfs_vthread *thread,
			uint32_t choice, struct choice *found)
{
	const struct pfs_sim_operation *operation = &thread->pending;
	uint64_t written;
	found->id = is_single(operation->kind) ? PFS_TABLE_NONE
					       : location_find(self, operation->address);
	if (found->id == PFS_TABLE_NONE || choice >= self->locations[found->id].count)
		return false;
	found->location = &self->locations[found->id];
	found->at = found->location->count - 1 - choice;
	found->message = &found->location->messages[found->location->order[found->at]];
	found->writes = pfs_model_result(operation, thread->id, found->message->value, &written);
	found->reads = operation->kind != PFS_SIM_STORE;
	return found->at >= oldest_of(self, thread->id, found->id) &&
	       pfs_model_may_return(operation, found->message->value);
}

/* The next message is that of an rmw that read it, and stays there. */
static bool is_taken(const struct choice *choice)
{
	return choice->writes && choice->at + 1 < choice->location->count &&
	       choice->location->messages[choice->location->order[choice->at + 1]].rmw;
}

static bool is_seq(const struct pfs_sim_operation *operation, const struct choice *choice)
{
	return pfs_order_of(operation, choice->writes) == PFS_SIM_SEQ;
}

static struct pfs_seq_operation seq_operation(const struct pfs_vthread *thread,
					      const struct choice *choice)
{
	return (struct pfs_seq_operation){
		choice->location, choice->id,     thread->id,
		choice->at,       choice->writes, choice->reads ? choice->message->clock : NULL
	};
}

static struct pfs_psc_choice psc_choice(const struct pfs_vthread *thread,
					const struct choice *choice)
{
	uint8_t order = pfs_order_of(&thread->pending, choice->writes);
	bool acquires = choice->reads && pfs_order_acquires(order);
	return (struct pfs_psc_choice){ thread->id,
					choice->id,
					choice->at,
					order == PFS_SIM_SEQ,
					choice->reads,
					choice->writes,
					acquires ? choice->message->clock : NULL };
}

static bool has_other_behind(const struct pfs_location *location, uint32_t message, uint64_t value)
{
	for (uint32_t at = location->messages[message].at + 1; at < location->count; at++) {
		if (location->messages[location->order[at]].value != value)
			return true;
	}
	return false;
}

/* What the thread read last; or, for an rmw that changes nothing, which may be repeated without
 * bound, the same value again while another one comes after it. */
static bool is_seen_again(const struct pfs_views *self, const struct pfs_vthread *thread,
			  const struct choice *choice)
{
	uint32_t message = choice->location->order[choice->at];
	uint32_t last = self->glimpses[thread->id][choice->id].read;
	uint64_t value = choice->message->value, written = value;
	if (!choice->writes)
		return message == last;
	(void)pfs_model_result(&thread->pending, thread->id, value, &written);
	return written == value && choice->location->messages[last].value == value &&
	       has_other_behind(choice->location, message, value);
}

bool pfs_views_can(const struct pfs_machine *machine, const struct pfs_vthread *thread,
		   uint32_t choice)
{
	const struct pfs_views *self = &machine->views;
	struct choice chosen;
	if (is_single(thread->pending.kind))
		return choice == 0;
	if (choice == 0) /* its address may be invalid, which only the thread itself may find */
		return thread->pending.kind != PFS_SIM_AWAIT ||
		       pfs_model_may_return(&thread->pending,
					    pfs_views_peek(machine, &thread->pending, 0));
	if (!find_choice(self, thread, choice, &chosen) || is_taken(&chosen))
		return false;
	if (self->glimpses[thread->id][chosen.id].repeats >= machine->setup.repeats_max &&
	    is_seen_again(self, thread, &chosen))
		return false;
	if (self->psc.fence_count != 0) {
		struct pfs_psc_choice fenced = psc_choice(thread, &chosen);
		return pfs_psc_allows(self, &machine->clocks, &fenced);
	}
	if (!is_seq(&thread->pending, &chosen))
		return true;
	struct pfs_seq_operation operation = seq_operation(thread, &chosen);
	return pfs_seq_allows(&self->seq, &machine->clocks, &operation);
}

uint32_t pfs_views_rivals(const struct pfs_machine *machine, const struct pfs_vthread *thread,
			  uint32_t choice, uint32_t *steps, uint32_t room)
{
	const struct pfs_views *self = &machine->views;
	struct choice chosen;
	if (choice == 0 || !find_choice(self, thread, choice, &chosen))
		return 0;
	if (is_taken(&chosen)) {
		uint32_t taker = chosen.location->order[chosen.at + 1];
		steps[0] = chosen.location->messages[taker].step;
		return chosen.reads && steps[0] != PFS_STEP_NONE ? 1 : 0;
	}
	if (self->psc.fence_count != 0) {
		struct pfs_psc_choice fenced = psc_choice(thread, &chosen);
		return pfs_psc_cycle(self, &machine->clocks, &fenced, steps, room);
	}
	if (!is_seq(&thread->pending, &chosen))
		return 0;
	struct pfs_seq_operation operation = seq_operation(thread, &chosen);
	return pfs_seq_cycle(&self->seq, &machine->clocks, &operation, steps, room);
}

uint32_t pfs_views_source(const struct pfs_machine *machine, const struct pfs_vthread *thread,
			  uint32_t choice)
{
	struct choice chosen;
	if (!find_choice(&machine->views, thread, choice, &chosen) || !chosen.reads)
		return PFS_STEP_NONE;
	return chosen.message->step;
}

uint32_t pfs_views_choices(const struct pfs_machine *machine, const struct pfs_vthread *thread)
{
	const struct pfs_views *self = &machine->views;
	const struct pfs_sim_operation *operation = &thread->pending;
	uint32_t id = location_find(self, operation->address);
	if (is_single(operation->kind) || id == PFS_TABLE_NONE)
		return 1;
	return self->locations[id].count - oldest_of(self, thread->id, id);
}

uint64_t pfs_views_peek(const struct pfs_machine *machine,
			const struct pfs_sim_operation *operation, uint32_t choice)
{
	uint32_t id = location_find(&machine->views, operation->address);
	if (choice == 0 || id == PFS_TABLE_NONE || choice >= machine->views.locations[id].count)
		return pfs_model_bytes(operation->address, operation->size_bytes);
	const struct pfs_location *location = &machine->views.locations[id];
	return location->messages[location->order[location->count - 1 - choice]].value;
}

uint32_t pfs_views_last(const struct pfs_views *self, uint32_t thread, const void *address)
{
	return self->view[thread][location_find(self, address)];
}

bool pfs_views_is_behind(const struct pfs_views *self, const void *address, uint32_t message,
			 uint32_t other)
{
	const struct pfs_location *location = &self->locations[location_find(self, address)];
	return location->messages[message].at > location->messages[other].at;
}

bool pfs_views_has_news(const struct pfs_views *self, const struct pfs_news_read *read)
{
	return has_other_behind(&self->locations[location_find(self, read->address)], read->message,
				read->value);
}

void pfs_views_yield(struct pfs_machine *machine, const struct pfs_vthread *thread)
{
	struct pfs_views *self = &machine->views;
	for (uint32_t i = 0; i < thread->looks.count; i++) {
		uint32_t id = location_find(self, thread->looks.reads[i].address);
		struct pfs_glimpse *last = &self->glimpses[thread->id][id];
		if (has_other_behind(&self->locations[id], last->read,
				     self->locations[id].messages[last->read].value))
			last->repeats = UINT32_MAX;
	}
}

uint32_t pfs_views_order(const struct pfs_views *self, const void *address, uint32_t *steps,
			 uint32_t room)
{
	uint32_t id = location_find(self, address);
	if (id == PFS_TABLE_NONE)
		return 0;
	const struct pfs_location *location = &self->locations[id];
	for (uint32_t i = 0; i < location->count && i < room; i++)
		steps[i] = location->messages[location->order[i]].step;
	return location->count;
}
