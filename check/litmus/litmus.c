#include "check/litmus/litmus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/model.h"
#include "check/search/search.h"

/* ---- texts ---- */

static int order_of(const char *name)
{
	static const char *const names[] = { [PFS_SIM_RELAXED] = "rlx",
					     [PFS_SIM_ACQUIRE] = "acq",
					     [PFS_SIM_RELEASE] = "rel",
					     [PFS_SIM_ACQ_REL] = "ar",
					     [PFS_SIM_SEQ] = "sc" };
	for (int order = 0; order <= PFS_SIM_SEQ; order++) {
		if (strcmp(names[order], name) == 0)
			return order;
	}
	return -1;
}

static int location_of(char name)
{
	static const char names[PFS_LITMUS_LOCATIONS] = { 'x', 'y', 'z', 'w' };
	const char *at = memchr(names, name, sizeof(names));
	return at != NULL ? (int)(at - names) : -1;
}

/* A fence, or a barrier of all threads: they have no location. */
static bool parse_fence(const char *text, struct pfs_litmus_program *program,
			struct pfs_litmus_event *event)
{
	char letter, order[4] = "sc";
	int found = sscanf(text, " %c %3s", &letter, order);
	bool is_fence = letter == 'T';
	*event = (struct pfs_litmus_event){ .kind = is_fence ? PFS_SIM_FENCE : PFS_SIM_BARRIER,
					    .order = (uint8_t)order_of(order),
					    .thread = (uint8_t)(program->thread_count - 1),
					    .location = PFS_LITMUS_NO_LOCATION,
					    .reg = PFS_LITMUS_NO_EVENT };
	program->has_barrier |= !is_fence;
	program->has_fence |= is_fence;
	program->has_seq_fence |= is_fence && event->order == PFS_SIM_SEQ;
	return found == (is_fence ? 2 : 1) && order_of(order) >= 0;
}

/* One operation, e.g. "C x acq 0 1". */
static bool parse_event(const char *text, struct pfs_litmus_program *program)
{
	static const char letters[] = "WRAXC";
	static const uint8_t kinds[] = { PFS_SIM_STORE, PFS_SIM_LOAD, PFS_SIM_ADD, PFS_SIM_EXCHANGE,
					 PFS_SIM_CAS };
	char letter, where = 'x', order[4] = "sc", failure[4] = "rlx";
	unsigned first = 0, second = 0;
	if (program->event_count == PFS_LITMUS_EVENTS)
		return false;
	struct pfs_litmus_event *event = &program->events[program->event_count++];
	text += strspn(text, " ");
	if (*text == 'T' || *text == 'F')
		return parse_fence(text, program, event);
	int found = sscanf(text, " %c %c %3s %u %u %3s", &letter, &where, order, &first, &second,
			   failure);
	const char *kind = found >= 1 ? memchr(letters, letter, sizeof(letters) - 1) : NULL;
	if (kind == NULL)
		return false;
	bool is_cas = *kind == 'C';
	int wanted = *kind == 'R' ? 3 : !is_cas ? 4 : found == 6 ? 6 : 5;
	if (found != wanted || order_of(order) < 0 || order_of(failure) < 0 ||
	    location_of(where) < 0)
		return false;
	*event = (struct pfs_litmus_event){ .kind = kinds[kind - letters],
					    .order = (uint8_t)order_of(order),
					    .failure = (uint8_t)order_of(failure),
					    .thread = (uint8_t)(program->thread_count - 1),
					    .location = (uint8_t)location_of(where),
					    .reg = PFS_LITMUS_NO_EVENT,
					    .value = is_cas ? second : first,
					    .expected = first };
	if (pfs_litmus_reads(event->kind))
		event->reg = (uint8_t)program->reg_count++;
	return true;
}

static bool parse_outcome(const char *text, struct pfs_litmus_program *program)
{
	for (;;) {
		unsigned reg, value;
		char where;
		int length = 0;
		text += strspn(text, " ");
		if (*text == '\0')
			return program->wish_count != 0;
		struct pfs_litmus_wish *wish = &program->wishes[program->wish_count++];
		if (sscanf(text, "r%u=%u%n", &reg, &value, &length) == 2 &&
		    reg < program->reg_count)
			*wish = (struct pfs_litmus_wish){ (uint8_t)reg, 0, value };
		else if (sscanf(text, "%c=%u%n", &where, &value, &length) == 2 &&
			 location_of(where) >= 0)
			*wish = (struct pfs_litmus_wish){ PFS_LITMUS_NO_EVENT,
							  (uint8_t)location_of(where), value };
		else
			return false;
		text += length;
	}
}

bool pfs_litmus_parse(const struct pfs_litmus *litmus, struct pfs_litmus_program *program)
{
	char text[PFS_LITMUS_TEXT], *threads = text, *thread, *event;
	*program = (struct pfs_litmus_program){ 0 };
	if (strlen(litmus->program) >= sizeof(text))
		return false;
	memcpy(text, litmus->program, strlen(litmus->program) + 1);
	while ((thread = strsep(&threads, "|")) != NULL) {
		if (++program->thread_count > PFS_LITMUS_THREADS)
			return false;
		while ((event = strsep(&thread, ";")) != NULL) {
			if (!parse_event(event, program))
				return false;
		}
	}
	return parse_outcome(litmus->outcome, program);
}

bool pfs_litmus_meets(const struct pfs_litmus_program *program, const uint32_t *registers,
		      const uint32_t *final)
{
	for (uint32_t i = 0; i < program->wish_count; i++) {
		const struct pfs_litmus_wish *wish = &program->wishes[i];
		uint32_t value = wish->reg != PFS_LITMUS_NO_EVENT ? registers[wish->reg]
								  : final[wish->location];
		if (value != wish->value)
			return false;
	}
	return true;
}

/* ---- graphs ---- */

static bool has_graph(const struct pfs_litmus_graphs *graphs, const struct pfs_litmus_graph *graph)
{
	for (uint32_t i = 0; i < graphs->count; i++) {
		if (memcmp(&graphs->all[i], graph, sizeof(*graph)) == 0)
			return true;
	}
	return false;
}

void pfs_litmus_add(struct pfs_litmus_graphs *graphs, const struct pfs_litmus_graph *graph)
{
	if (has_graph(graphs, graph))
		return;
	graphs->all = pfs_widen(graphs->all, &graphs->room, graphs->count + 1,
				sizeof(*graphs->all));
	graphs->all[graphs->count++] = *graph;
}

void pfs_litmus_add_outcome(struct pfs_litmus_graphs *graphs,
			    const struct pfs_litmus_outcome *outcome)
{
	for (uint32_t i = 0; i < graphs->outcome_count; i++) {
		if (memcmp(&graphs->outcomes[i], outcome, sizeof(*outcome)) == 0)
			return;
	}
	graphs->outcomes = pfs_widen(graphs->outcomes, &graphs->outcome_room,
				     graphs->outcome_count + 1, sizeof(*graphs->outcomes));
	graphs->outcomes[graphs->outcome_count++] = *outcome;
}

uint32_t pfs_litmus_missing(const struct pfs_litmus_graphs *a, const struct pfs_litmus_graphs *b)
{
	uint32_t missing = 0;
	for (uint32_t i = 0; i < a->count; i++)
		missing += !has_graph(b, &a->all[i]);
	return missing;
}

/* ---- on the machine ---- */

struct run {
	const struct pfs_litmus_program *program;
	struct pfs_litmus_graphs *graphs;
	struct pfs_machine *machine;
	struct pfs_litmus_outcome now;
	uint32_t steps[PFS_LITMUS_EVENTS]; /* of events, as they were executed */
};

static void execute(struct run *self, uint32_t at)
{
	static const struct pfs_sim_place place = { "litmus", "litmus", "litmus", 0 };
	const struct pfs_litmus_event *event = &self->program->events[at];
	enum pfs_sim_order order = (enum pfs_sim_order)event->order;
	self->steps[at] = PFS_STEP_NONE;
	if (event->kind == PFS_SIM_BARRIER) {
		pfs_machine_barrier();
		return;
	}
	if (event->kind == PFS_SIM_FENCE) {
		pfs_machine_fence(order, &place);
		return;
	}
	struct pfs_sim_operation operation = { .address = &self->now.final[event->location],
					       .operand = event->value,
					       .expected = event->expected,
					       .place = &place,
					       .size_bytes = 4,
					       .kind = event->kind,
					       .order = event->order,
					       .failure = event->failure };
	uint32_t seen = (uint32_t)pfs_sim_execute(&operation);
	if (event->reg != PFS_LITMUS_NO_EVENT)
		self->now.registers[event->reg] = seen;
	self->steps[at] = self->machine->run.step_count - 1;
}

static void body(void *opaque)
{
	struct run *self = opaque;
	uint32_t id = self->machine->run.running->id;
	for (uint32_t at = 0; at < self->program->event_count; at++) {
		if (self->program->events[at].thread == id)
			execute(self, at);
	}
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct run *self = context;
	self->machine = machine;
	memset(&self->now, 0, sizeof(self->now));
	for (uint32_t id = 0; id < self->program->thread_count; id++)
		(void)pfs_machine_spawn(machine, 0, body, self);
}

static uint8_t event_of(const struct run *self, uint32_t step)
{
	for (uint32_t at = 0; at < self->program->event_count; at++) {
		if (step != PFS_STEP_NONE && self->steps[at] == step)
			return (uint8_t)at;
	}
	return PFS_LITMUS_INITIAL;
}

static void keep_graph(struct run *self)
{
	struct pfs_litmus_graph graph;
	memset(&graph, PFS_LITMUS_NO_EVENT, sizeof(graph));
	for (uint32_t at = 0; at < self->program->event_count; at++) {
		if (pfs_litmus_reads(self->program->events[at].kind))
			graph.source[at] =
				event_of(self, self->machine->trace.steps[self->steps[at]].source);
	}
	for (uint32_t where = 0; where < PFS_LITMUS_LOCATIONS; where++) {
		uint32_t steps[PFS_LITMUS_EVENTS + 1];
		uint32_t count = self->machine->model->order(self->machine, &self->now.final[where],
							     steps, PFS_LITMUS_EVENTS + 1);
		for (uint32_t i = 1; i < count; i++)
			graph.order[where][i - 1] = event_of(self, steps[i]);
	}
	pfs_litmus_add(self->graphs, &graph);
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct run *self = context;
	self->graphs->met |= pfs_litmus_meets(self->program, self->now.registers, self->now.final);
	pfs_litmus_add_outcome(self->graphs, &self->now);
	if (machine->model->keeps_old)
		keep_graph(self);
}

bool pfs_litmus_run(const struct pfs_litmus_program *program, const struct pfs_memory_model *model,
		    struct pfs_litmus_graphs *graphs)
{
	static struct pfs_search_result result;
	static struct run run;
	run = (struct run){ .program = program, .graphs = graphs };
	const struct pfs_scenario scenario = {
		.name = "litmus", .setup = setup, .finish = finish, .context = &run
	};
	const struct pfs_search_options options = { .kind = PFS_SEARCH_ALL };
	struct pfs_machine *machine = pfs_machine_create(model);
	graphs->count = graphs->outcome_count = 0;
	graphs->met = false;
	if (machine == NULL)
		return false;
	machine->setup.tracing = true;
	machine->setup.has_fences = program->has_fence;
	bool fine = pfs_search(machine, &scenario, &options, &result) && result.complete;
	graphs->executions = result.executions - result.redundant;
	pfs_machine_destroy(machine);
	return fine;
}
