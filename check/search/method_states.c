/*
 * method_states.c - from each state once; and the same until no new state comes.
 */
#include "check/machine/heap.h"
#include "check/machine/host.h"
#include "check/machine/model.h"
#include "check/search/fixpoint.h"
#include "check/search/method.h"
#include "check/search/states.h"

/* ---- states ---- */

static bool states_begin(struct pfs_searching *self)
{
	const struct pfs_machine *machine = self->machine;
	pfs_states_init(self->own, self->scenario, self->options->seed);
	if (machine->model->keeps_old)
		self->result->refusal = "old values (--memory views)";
	else if (machine->setup.watch)
		self->result->refusal = "data races; add --no-races";
	else if (self->scenario->known == NULL)
		self->result->refusal = "checks that do not say what they remember";
	else if (!pfs_plain_is_seen())
		self->result->refusal = "a sanitizer's build, whose plain accesses are not seen";
	else if (!pfs_heap_begin())
		self->result->refusal = "a machine without addresses for a heap";
	return true;
}

static struct pfs_scheduler *states_scheduler(struct pfs_searching *self, uint64_t n)
{
	struct pfs_states *states = self->own;
	(void)n;
	pfs_heap_reset();
	pfs_states_begin(states, self->machine);
	return &states->scheduler;
}

static bool states_next(struct pfs_searching *self)
{
	struct pfs_states *states = self->own;
	bool goes_on = pfs_states_next(states);
	if (states->yields)
		self->result->refusal = "threads that yield";
	self->result->states = states->seen.count;
	self->result->redundant = states->known;
	self->result->complete = !goes_on && !states->yields && !states->no_memory &&
				 !states->cut && self->result->incomplete == 0;
	return goes_on;
}

static void states_end(struct pfs_searching *self)
{
	struct pfs_machine *machine = self->machine;
	machine->hooks.plain = pfs_races_plain;
	machine->setup.chooses_outside = machine->setup.only_writes = false;
	pfs_heap_end();
	pfs_states_fini(self->own);
}

const struct pfs_search_method pfs_method_states = {
	.name = "states",
	.bytes = sizeof(struct pfs_states),
	.begin = states_begin,
	.scheduler = states_scheduler,
	.next = states_next,
	.end = states_end,
};

/* ---- fixpoint ---- */

static bool fixpoint_begin(struct pfs_searching *self)
{
	struct pfs_fixpoint *fixpoint = self->own;
	self->machine->setup.free_yields = true;
	if (!pfs_fixpoint_begin(fixpoint, self->machine, self->scenario, self->options))
		self->result->refusal = fixpoint->refusal;
	return true;
}

static struct pfs_scheduler *fixpoint_scheduler(struct pfs_searching *self, uint64_t n)
{
	struct pfs_fixpoint *fixpoint = self->own;
	(void)n;
	pfs_fixpoint_execution(self->machine);
	return &fixpoint->scheduler;
}

/* With its schedule; what the search learns by is not judged. */
static bool fixpoint_has_failed(struct pfs_searching *self)
{
	struct pfs_fixpoint *fixpoint = self->own;
	return !fixpoint->learns && pfs_fixpoint_path(fixpoint, self->machine);
}

static bool fixpoint_next(struct pfs_searching *self)
{
	return pfs_fixpoint_next(self->own);
}

static void fixpoint_end(struct pfs_searching *self)
{
	pfs_fixpoint_tell(self->own, self->result);
	pfs_fixpoint_end(self->own, self->machine);
}

const struct pfs_search_method pfs_method_fixpoint = {
	.name = "fixpoint",
	.bytes = sizeof(struct pfs_fixpoint),
	.takes_endless = true,
	.begin = fixpoint_begin,
	.scheduler = fixpoint_scheduler,
	.has_failed = fixpoint_has_failed,
	.next = fixpoint_next,
	.end = fixpoint_end,
};
