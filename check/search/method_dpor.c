/*
 * method_dpor.c - every class of schedules once, by source sets and sleep sets, or by wakeup trees;
 * from one schedule to the next by snapshots, where the case has them.
 */
#include "check/machine/model.h"
#include "check/search/dpor.h"
#include "check/search/method.h"

struct by_dpor {
	struct pfs_dpor dpor;
	struct pfs_rewind rewind;
};

static bool begin_with(struct pfs_searching *self, bool optimal)
{
	struct by_dpor *own = self->own;
	pfs_dpor_init(&own->dpor);
	self->machine->setup.loops_end = true;
	own->dpor.append_only = self->options->append_only;
	own->dpor.wake.is_on = optimal && !self->machine->model->keeps_old;
	if (pfs_rewind_begin(&own->rewind, self->machine, self->scenario))
		own->dpor.rewind = &own->rewind;
	return pfs_dpor_take(&own->dpor, self->part);
}

static bool begin_dpor(struct pfs_searching *self)
{
	return begin_with(self, false);
}

static bool begin_optimal(struct pfs_searching *self)
{
	return begin_with(self, true);
}

static struct pfs_scheduler *scheduler(struct pfs_searching *self, uint64_t n)
{
	struct by_dpor *own = self->own;
	(void)n;
	return &own->dpor.scheduler;
}

/* From a step of the last execution, if one is kept that this one has, too. */
static enum pfs_machine_end run(struct pfs_searching *self, struct pfs_scheduler *by)
{
	struct by_dpor *own = self->own;
	struct pfs_machine *machine = self->machine;
	if (own->dpor.rewind == NULL || !pfs_rewind_to(&own->rewind, machine, own->dpor.fresh))
		return pfs_scenario_run(self->scenario, machine, by);
	pfs_dpor_resume(&own->dpor, machine->run.step_count);
	(void)pfs_machine_resume(machine, by);
	return pfs_scenario_end(self->scenario, machine);
}

/* Whether the search has left something out so far. */
static void judge(struct pfs_searching *self)
{
	const struct by_dpor *own = self->own;
	self->result->bounded = own->dpor.bounded;
	self->result->left_out = own->dpor.left_out | (own->dpor.no_memory ? PFS_LEFT_MEMORY : 0) |
				 (own->dpor.wake.is_lost ? PFS_LEFT_WAKE : 0);
	self->result->complete = self->result->incomplete == 0 && self->result->left_out == 0;
}

static bool next(struct pfs_searching *self)
{
	struct by_dpor *own = self->own;
	/* Before the first execution the machine's end is another part's. */
	self->result->redundant += self->result->executions != 0 &&
				   (own->dpor.redundant || self->machine->run.end == PFS_END_KNOWN);
	self->result->refusal = own->dpor.refusal;
	if (self->result->refusal != NULL)
		return false;
	if (pfs_dpor_next(&own->dpor))
		return true;
	if (self->rest != NULL)
		pfs_dpor_ask(&own->dpor, self->rest);
	judge(self);
	return false;
}

static bool split(struct pfs_searching *self)
{
	struct by_dpor *own = self->own;
	if (own->dpor.wake.is_on || !pfs_dpor_split(&own->dpor, self->rest))
		return false;
	judge(self);
	return true;
}

static void end(struct pfs_searching *self)
{
	struct by_dpor *own = self->own;
	self->machine->setup.loops_end = false;
	pfs_rewind_end(&own->rewind, self->machine);
	pfs_dpor_fini(&own->dpor);
}

#define DPOR(method)                                           \
	const struct pfs_search_method pfs_method_##method = { \
		.name = #method,                               \
		.bytes = sizeof(struct by_dpor),               \
		.begin = begin_##method,                       \
		.scheduler = scheduler,                        \
		.run = run,                                    \
		.next = next,                                  \
		.split = split,                                \
		.end = end,                                    \
	}
DPOR(dpor);
DPOR(optimal);
