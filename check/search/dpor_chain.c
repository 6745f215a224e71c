/* dpor_chain.c - what came before a step of dpor.h's search: each actor's steps as a chain, and the
 * clock of what orders them. */
#include <string.h>

#include "check/machine/actors.h"
#include "check/search/dpor_node.h"

bool pfs_dpor_needs_not(const struct pfs_dpor *self, uint32_t j, uint32_t n)
{
	const struct pfs_dpor_node *yield = &self->nodes[n], *one = &self->nodes[j];
	if (yield->did.ran.kind != PFS_SIM_YIELD || yield->did.looks.early ||
	    yield->did.looks.alone != 0)
		return true;
	for (uint32_t k = 0; k < n; k++) {
		const struct pfs_dpor_node *other = &self->nodes[k];
		if (k != j && !pfs_dpor_is_known(other->clock, one) &&
		    pfs_effect_is_news(&other->did, k, &yield->did, self->views))
			return true;
	}
	return false;
}

static bool needs_empty_buffer(const struct pfs_effect *effect)
{
	uint8_t kind = effect->ran.kind;
	return !effect->buffered && kind != PFS_SIM_LOAD && kind != PFS_SIM_NOTE &&
	       kind != PFS_SIM_AWAIT && kind != PFS_SIM_YIELD;
}

void pfs_dpor_chain(struct pfs_dpor *self, uint32_t n)
{
	if (self->chained == 0 || self->chained > n) {
		self->chained = 0;
		memset(self->last, 0xFF, sizeof(self->last)); /* PFS_STEP_NONE */
	}
	for (; self->chained < n; self->chained++) {
		struct pfs_dpor_mark *mark = &self->marks[self->chained];
		mark->before = self->last[mark->actor];
		self->last[mark->actor] = self->chained;
	}
}

static uint32_t stores_of(const struct pfs_dpor *self, uint32_t actor)
{
	uint32_t last = self->last[actor];
	return last != PFS_STEP_NONE ? self->marks[last].stores : 0;
}

static uint32_t steps_of(const struct pfs_dpor *self, uint32_t actor)
{
	uint32_t last = self->last[actor];
	return last != PFS_STEP_NONE ? self->marks[last].index : 0;
}

/* The thread's store into its buffer with this number. */
static uint32_t store_of(const struct pfs_dpor *self, uint32_t thread, uint32_t number)
{
	uint32_t at = self->last[thread];
	while (at != PFS_STEP_NONE &&
	       (self->marks[at].stores != number || !self->marks[at].buffered))
		at = self->marks[at].before;
	return at;
}

static uint32_t drain_of(const struct pfs_dpor *self, uint32_t actor, uint32_t number)
{
	uint32_t at = self->last[actor];
	while (at != PFS_STEP_NONE && self->marks[at].index != number)
		at = self->marks[at].before;
	return at;
}

/* What orders stores, their drains, and operations that wait for them. */
static void merge_buffer(struct pfs_dpor *self, const struct pfs_machine *machine,
			 const struct pfs_dpor_node *step, uint16_t *clock)
{
	uint32_t thread = step->did.thread;
	const struct pfs_actor drain = { thread, PFS_ACTOR_DRAIN, 0 };
	uint32_t drains = pfs_actor_number(machine, drain);
	uint32_t stores = stores_of(self, thread), last = PFS_STEP_NONE;
	if (step->did.ran.kind == PFS_SIM_DRAIN)
		last = store_of(self, thread, steps_of(self, drains) + 1);
	else if (step->did.buffered && stores >= PFS_BUFFER_MAX)
		last = drain_of(self, drains, stores + 1 - PFS_BUFFER_MAX);
	else if (!step->did.buffered && needs_empty_buffer(&step->did))
		last = self->last[drains];
	if (last != PFS_STEP_NONE)
		pfs_dpor_merge(clock, self->nodes[last].clock);
}

uint16_t pfs_dpor_base(struct pfs_dpor *self, const struct pfs_machine *machine, uint32_t n,
		       const struct pfs_dpor_node *step, uint16_t *clock)
{
	pfs_dpor_chain(self, n);
	uint32_t before = self->last[step->actor];
	if (before != PFS_STEP_NONE)
		memcpy(clock, self->nodes[before].clock, PFS_DPOR_ACTORS_MAX * sizeof(*clock));
	else
		memset(clock, 0, PFS_DPOR_ACTORS_MAX * sizeof(*clock));
	if (machine->model->buffers)
		merge_buffer(self, machine, step, clock);
	for (uint32_t k = 0; k < step->did.looks.alone && k < n; k++)
		pfs_dpor_merge(clock, self->nodes[k].clock);
	return before != PFS_STEP_NONE ? (uint16_t)(self->marks[before].index + 1) : 1;
}

void pfs_dpor_mark(struct pfs_dpor *self, uint32_t n)
{
	const struct pfs_dpor_node *step = &self->nodes[n];
	self->marks[n] =
		(struct pfs_dpor_mark){ .stores = stores_of(self, step->actor) + step->did.buffered,
					.index = step->index,
					.actor = (uint8_t)step->actor,
					.buffered = step->did.buffered };
}
