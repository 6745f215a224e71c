#define _GNU_SOURCE
#include "check/search/search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/machine/host.h"
#include "check/search/dpor.h"
#include "check/search/explore.h"
#include "check/search/fixpoint.h"
#include "check/machine/heap.h"
#include "check/machine/model.h"
#include "check/search/states.h"

#define LENGTH_GUESS 200u /* of an execution, for PCT's first one */

/* Too large for a stack. */
struct randoms {
	struct pfs_random_walk walk;
	struct pfs_pct pct;
	struct pfs_partial_order partial_order;
	struct pfs_weighted weighted;
};

struct search {
	struct pfs_machine *machine;
	const struct pfs_scenario *scenario;
	const struct pfs_search_options *options;
	struct pfs_search_result *result;
	enum pfs_search_kind kind; /* of the options, ALL decided */
	struct pfs_explore explore;
	struct pfs_dpor dpor;
	struct pfs_rewind rewind;
	struct pfs_states states;
	struct pfs_fixpoint fixpoint;
	struct randoms *randoms;
	const struct pfs_part *part;
	struct pfs_parts *rest; /* or NULL */
	uint32_t longest;       /* steps of the longest execution so far */
};

static double seconds_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* One half of a scenario, as pfs_machine_aside calls it. */
struct half {
	void (*call)(struct pfs_machine *machine, void *context);
	struct pfs_machine *machine;
	void *context;
};

static void call_half(void *opaque)
{
	const struct half *half = opaque;
	half->call(half->machine, half->context);
}

/* What follows after the threads have run. */
static enum pfs_machine_end end_scenario(const struct pfs_scenario *scenario,
					 struct pfs_machine *machine)
{
	struct half half = { scenario->finish, machine, scenario->context };
	if (scenario->settle != NULL)
		scenario->settle(machine, scenario->context);
	machine->memory.hides = !machine->setup.hasty;
	if (machine->run.end == PFS_END_DONE && scenario->finish != NULL)
		pfs_machine_aside(machine, call_half, &half);
	return machine->run.end;
}

enum pfs_machine_end pfs_scenario_run(const struct pfs_scenario *scenario,
				      struct pfs_machine *machine, struct pfs_scheduler *scheduler)
{
	machine->hooks.name_address = scenario->name_address;
	machine->hooks.name_context = scenario->context;
	pfs_machine_reset(machine);
	struct half half = { scenario->setup, machine, scenario->context };
	pfs_machine_aside(machine, call_half, &half);
	if (machine->run.end == PFS_END_DONE)
		(void)pfs_machine_run(machine, scheduler);
	return end_scenario(scenario, machine);
}

static bool is_exhaustive(enum pfs_search_kind kind)
{
	return kind == PFS_SEARCH_SLEEP || kind == PFS_SEARCH_BOUNDED || kind == PFS_SEARCH_NAIVE ||
	       kind == PFS_SEARCH_DPOR || kind == PFS_SEARCH_STATES || kind == PFS_SEARCH_FIXPOINT;
}

#define TURNS 9u

/* The scheduler of execution number n of a search that is not exhaustive. */
static struct pfs_scheduler *scheduler_of(struct search *self, uint64_t n)
{
	uint64_t seed = self->options->seed * UINT64_C(1000003) + n;
	/* Stickiness of the first turns, the last of them with a slow actor; then PCT of depth 2,
	 * 3, 4, POS and URW. */
	static const uint32_t stay_percents[] = { 0, 80, 95, 0 };
	uint32_t turn = 0, slow = (uint32_t)(n / TURNS % 3);
	switch (self->kind) {
	case PFS_SEARCH_ROTATE: turn = (uint32_t)(n % TURNS); break;
	case PFS_SEARCH_PCT: turn = 4 + (uint32_t)(n % 3); break;
	case PFS_SEARCH_POS: turn = 7; break;
	case PFS_SEARCH_URW: turn = 8; break;
	case PFS_SEARCH_SLOW: turn = 3, slow = 0; break;
	default: break;
	}
	if (turn < 4) {
		pfs_random_walk_init(&self->randoms->walk, seed, stay_percents[turn],
				     turn == 3 ? slow : PFS_ACTOR_NONE);
		return &self->randoms->walk.scheduler;
	}
	if (turn == 7) {
		pfs_partial_order_init(&self->randoms->partial_order, seed);
		return &self->randoms->partial_order.scheduler;
	}
	if (turn == 8) {
		pfs_weighted_init(&self->randoms->weighted, seed);
		return &self->randoms->weighted.scheduler;
	}
	pfs_pct_init(&self->randoms->pct, seed, turn - 2,
		     self->longest != 0 ? self->longest : LENGTH_GUESS);
	return &self->randoms->pct.scheduler;
}

static void keep_failure(struct search *self)
{
	struct pfs_machine *machine = self->machine;
	struct pfs_search_result *result = self->result;
	result->failed = true;
	result->end = machine->run.end;
	(void)memcpy(result->message, machine->run.message, sizeof(result->message));
	result->segment_count = pfs_segments_of(machine->run.schedule, machine->run.step_count,
						result->segments, PFS_SEARCH_SEGMENTS_MAX);
}

/* From a step of the last execution, if one is kept that this one has too. */
static enum pfs_machine_end run_scenario(struct search *self, struct pfs_scheduler *scheduler)
{
	struct pfs_machine *machine = self->machine;
	if (self->dpor.rewind == NULL)
		return pfs_scenario_run(self->scenario, machine, scheduler);
	if (!pfs_rewind_to(&self->rewind, machine, self->dpor.fresh))
		return pfs_scenario_run(self->scenario, machine, scheduler);
	pfs_dpor_resume(&self->dpor, machine->run.step_count);
	(void)pfs_machine_resume(machine, scheduler);
	return end_scenario(self->scenario, machine);
}

/* The schedule of a failure of a search to a fixpoint; its random steps are not judged. */
static bool has_path(struct search *self)
{
	return !self->fixpoint.learns && pfs_fixpoint_path(&self->fixpoint, self->machine);
}

/* One execution; false: it failed. */
static bool execute(struct search *self, struct pfs_scheduler *scheduler)
{
	enum pfs_machine_end end = run_scenario(self, scheduler);
	self->result->executions++;
	self->result->steps += self->machine->run.step_count;
	if (self->machine->run.step_count > self->longest)
		self->longest = self->machine->run.step_count;
	if (end == PFS_END_STEPS && !self->scenario->is_endless) /* an endless scenario always ends
								  * so */
		self->result->incomplete++;
	if (end != PFS_END_FAILED && end != PFS_END_DEADLOCK)
		return true;
	if (self->kind == PFS_SEARCH_FIXPOINT && !has_path(self))
		return true;
	keep_failure(self);
	return false;
}

/* What is known so far of what was left out. */
static void judge_extent(struct search *self)
{
	bool dpor = self->kind == PFS_SEARCH_DPOR;
	self->result->bounded = dpor ? self->dpor.bounded : self->explore.bounded;
	self->result->complete = self->result->incomplete == 0 &&
				 !(dpor ? self->dpor.no_memory || self->dpor.cut ||
						   self->dpor.wake.is_lost
					: self->explore.no_memory || self->explore.cut);
}

static bool next_state(struct search *self)
{
	const struct pfs_states *states = &self->states;
	bool goes_on = pfs_states_next(&self->states);
	if (states->yields)
		self->result->refusal = "threads that yield";
	self->result->states = states->seen.count;
	self->result->redundant = states->known;
	self->result->complete = !goes_on && !states->yields && !states->no_memory &&
				 !states->cut && self->result->incomplete == 0;
	return goes_on;
}

/* The next schedule of an exhaustive search; false: there is none. */
static bool next_of_all(struct search *self)
{
	bool dpor = self->kind == PFS_SEARCH_DPOR;
	if (self->kind == PFS_SEARCH_STATES)
		return next_state(self);
	if (self->kind == PFS_SEARCH_FIXPOINT)
		return pfs_fixpoint_next(&self->fixpoint);
	self->result->redundant += dpor ? self->dpor.redundant : self->explore.redundant;
	self->result->refusal = dpor ? self->dpor.refusal : NULL;
	if (self->result->refusal != NULL)
		return false;
	if (dpor ? pfs_dpor_next(&self->dpor) : pfs_explore_next(&self->explore))
		return true;
	if (dpor && self->rest != NULL)
		pfs_dpor_ask(&self->dpor, self->rest);
	judge_extent(self);
	return false;
}

static bool is_at_bound(const struct search *self, uint64_t n, double deadline)
{
	const struct pfs_search_options *options = self->options;
	return (options->execution_max != 0 && n >= options->execution_max) ||
	       (options->seconds_max > 0 && n % 16 == 15 && seconds_now() > deadline);
}

/* Has the part had as many executions as it may have, and could the rest be left? */
static bool is_left(struct search *self, uint64_t n)
{
	uint64_t most = self->part->most;
	if (most == 0 || n % most != 0)
		return false;
	if (!is_exhaustive(self->kind))
		return true;
	if (self->kind == PFS_SEARCH_STATES || self->kind == PFS_SEARCH_FIXPOINT ||
	    self->dpor.wake.is_on)
		return false;
	if (!(self->kind == PFS_SEARCH_DPOR ? pfs_dpor_split(&self->dpor, self->rest)
					    : pfs_explore_split(&self->explore, self->rest)))
		return false;
	judge_extent(self);
	return true;
}

static void run_all(struct search *self)
{
	double deadline = seconds_now() + self->options->seconds_max;
	bool exhaustive = is_exhaustive(self->kind);
	for (uint64_t n = 0; n == 0 || !is_left(self, n); n++) {
		self->result->stopped = is_at_bound(self, n, deadline);
		if (self->result->stopped)
			return;
		struct pfs_scheduler *scheduler =
			!exhaustive                     ? scheduler_of(self, self->part->first + n)
			: self->kind == PFS_SEARCH_DPOR ? &self->dpor.scheduler
			: self->kind == PFS_SEARCH_STATES   ? &self->states.scheduler
			: self->kind == PFS_SEARCH_FIXPOINT ? &self->fixpoint.scheduler
							    : &self->explore.scheduler;
		/* A destroy that touches what it gave back does so in the first execution. */
		self->machine->setup.hasty = n != 0;
		if (self->kind == PFS_SEARCH_STATES) {
			pfs_heap_reset();
			pfs_states_begin(&self->states, self->machine);
		}
		if (self->kind == PFS_SEARCH_FIXPOINT)
			pfs_fixpoint_execution(self->machine);
		if (!execute(self, scheduler))
			return;
		self->result->stopped = self->machine->run.end == PFS_END_STEPS && /* mid-step */
					self->options->seconds_max > 0 && seconds_now() > deadline;
		if (self->result->stopped || (exhaustive && !next_of_all(self)))
			return;
	}
}

static void begin_states(struct search *self)
{
	const struct pfs_machine *machine = self->machine;
	const struct pfs_scenario *scenario = self->scenario;
	pfs_states_init(&self->states, scenario, self->options->seed);
	if (machine->model->keeps_old)
		self->result->refusal = "old values (--memory views)";
	else if (machine->setup.watch)
		self->result->refusal = "data races; add --no-races";
	else if (scenario->known == NULL)
		self->result->refusal = "checks that do not say what they remember";
	else if (!pfs_plain_is_seen())
		self->result->refusal = "a sanitizer's build, whose plain accesses are not seen";
	else if (!pfs_heap_begin())
		self->result->refusal = "a machine without addresses for a heap";
}

static void end_states(struct search *self)
{
	struct pfs_machine *machine = self->machine;
	machine->hooks.plain = pfs_races_plain;
	machine->setup.chooses_outside = machine->setup.only_writes = false;
	pfs_heap_end();
	pfs_states_fini(&self->states);
}

static void begin_fixpoint(struct search *self)
{
	if (!pfs_fixpoint_begin(&self->fixpoint, self->machine, self->scenario, self->options))
		self->result->refusal = self->fixpoint.refusal;
}

bool pfs_search_part(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		     const struct pfs_search_options *options, const struct pfs_part *part,
		     struct pfs_search_result *result, struct pfs_parts *rest)
{
	bool optimal = options->kind == PFS_SEARCH_OPTIMAL;
	struct search self = { .machine = machine,
			       .scenario = scenario,
			       .options = options,
			       .result = result,
			       .part = part,
			       .kind = optimal ? PFS_SEARCH_DPOR : options->kind,
			       .rest = rest };
	memset(result, 0, sizeof(*result));
	self.randoms = calloc(1, sizeof(*self.randoms));
	if (self.randoms == NULL)
		return true; /* zero executions: the caller sees that nothing was searched */
	pfs_dpor_init(&self.dpor);
	pfs_explore_init(&self.explore, options->kind == PFS_SEARCH_BOUNDED
						? options->preemption_max
						: PFS_PREEMPTIONS_ANY);
	self.explore.append_only = self.dpor.append_only = options->append_only;
	self.explore.naive = options->kind == PFS_SEARCH_NAIVE;
	if (options->kind == PFS_SEARCH_STATES)
		begin_states(&self);
	machine->setup.free_yields = scenario->is_endless || options->kind == PFS_SEARCH_FIXPOINT;
	if (options->kind == PFS_SEARCH_FIXPOINT)
		begin_fixpoint(&self);
	else if (scenario->is_endless && is_exhaustive(self.kind))
		result->refusal = "threads that loop for ever; try --search fixpoint";
	self.dpor.wake.is_on = optimal && !machine->model->keeps_old;
	if (self.kind == PFS_SEARCH_DPOR && pfs_rewind_begin(&self.rewind, machine, scenario))
		self.dpor.rewind = &self.rewind;
	bool taken = self.kind == PFS_SEARCH_DPOR ? pfs_dpor_take(&self.dpor, part)
						  : pfs_explore_take(&self.explore, part);
	if (result->refusal == NULL && taken && (!part->waits || next_of_all(&self)))
		run_all(&self);
	machine->setup.hasty = false;
	if (options->kind == PFS_SEARCH_STATES)
		end_states(&self);
	if (options->kind == PFS_SEARCH_FIXPOINT) {
		pfs_fixpoint_tell(&self.fixpoint, result);
		pfs_fixpoint_end(&self.fixpoint, machine);
	}
	pfs_rewind_end(&self.rewind, machine);
	pfs_dpor_fini(&self.dpor);
	pfs_explore_fini(&self.explore);
	free(self.randoms);
	return !result->failed;
}

bool pfs_search(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		const struct pfs_search_options *options, struct pfs_search_result *result)
{
	const struct pfs_part whole = { 0 };
	struct pfs_search_options decided = *options;
	if (options->kind != PFS_SEARCH_ALL)
		return pfs_search_part(machine, scenario, options, &whole, result, NULL);
	decided.kind = PFS_SEARCH_DPOR;
	(void)pfs_search_part(machine, scenario, &decided, &whole, result, NULL);
	if (result->refusal == NULL)
		return !result->failed;
	decided.kind = PFS_SEARCH_SLEEP;
	return pfs_search_part(machine, scenario, &decided, &whole, result, NULL);
}

int pfs_search_kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum pfs_search_kind kind;
	} kinds[] = { { "exhaustive", PFS_SEARCH_ALL },  { "dpor", PFS_SEARCH_DPOR },
		      { "optimal", PFS_SEARCH_OPTIMAL }, { "sleep", PFS_SEARCH_SLEEP },
		      { "bounded", PFS_SEARCH_BOUNDED }, { "naive", PFS_SEARCH_NAIVE },
		      { "states", PFS_SEARCH_STATES },   { "fixpoint", PFS_SEARCH_FIXPOINT },
		      { "random", PFS_SEARCH_RANDOM },   { "pct", PFS_SEARCH_PCT },
		      { "pos", PFS_SEARCH_POS },         { "urw", PFS_SEARCH_URW },
		      { "slow", PFS_SEARCH_SLOW },       { "rotate", PFS_SEARCH_ROTATE } };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return (int)kinds[i].kind;
	}
	return -1;
}

const char *pfs_search_extent(const struct pfs_search_options *options,
			      const struct pfs_search_result *result)
{
	static char text[96];
	bool is_fixpoint = options->kind == PFS_SEARCH_FIXPOINT;
	if (!result->complete)
		return is_fixpoint ? "not all states" : "not all there are";
	if (!result->bounded)
		return is_fixpoint ? "all states" : "all there are";
	if (is_fixpoint)
		(void)snprintf(text, sizeof(text),
			       "all states of up to %u preemptions between two rests",
			       options->preemption_max);
	else if (options->kind == PFS_SEARCH_BOUNDED)
		(void)snprintf(text, sizeof(text), "every schedule of up to %u preemptions%s",
			       options->preemption_max,
			       options->append_only ? " in which writes only append" : "");
	else
		return "all in which writes only append";
	return text;
}

bool pfs_search_is_same(const struct pfs_search_result *failure, enum pfs_machine_end end,
			const char *message)
{
	const char *one = failure->message, *other = message;
	for (; failure->end == end; one++, other++) {
		while (isdigit((unsigned char)*one))
			one++;
		while (isdigit((unsigned char)*other))
			other++;
		if (*one != *other)
			return false;
		if (*one == '\0')
			return true;
	}
	return false;
}

void pfs_search_show(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		     const struct pfs_search_result *result, FILE *out)
{
	struct pfs_given given;
	pfs_given_init(&given, result->segments, result->segment_count);
	machine->setup.tracing = true;
	(void)pfs_scenario_run(scenario, machine, &given.scheduler);
	machine->setup.tracing = false;
	pfs_trace_print(machine, out);
	(void)fprintf(out, "%s: %s\nschedule:", scenario->name, machine->run.message);
	for (uint32_t i = 0; i < result->segment_count; i++)
		(void)fprintf(out, " %ux%u", result->segments[i].actor, result->segments[i].steps);
	(void)fputc('\n', out);
}

bool pfs_segments_parse(const char *text, struct pfs_segment *segments, uint32_t *count)
{
	*count = 0;
	for (;;) {
		unsigned actor, steps;
		int length = 0;
		while (*text == ' ' || *text == '\n')
			text++;
		if (*text == '\0')
			return *count != 0;
		if (*count == PFS_SEARCH_SEGMENTS_MAX ||
		    sscanf(text, "%ux%u%n", &actor, &steps, &length) != 2)
			return false;
		segments[(*count)++] = (struct pfs_segment){ actor, steps };
		text += length;
	}
}
