#define _GNU_SOURCE
#include "check/search/search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "check/search/method.h"

static void keep_failure(struct pfs_searching *self)
{
	struct pfs_machine *machine = self->machine;
	struct pfs_search_result *result = self->result;
	result->failed = true;
	result->end = machine->run.end;
	(void)memcpy(result->message, machine->run.message, sizeof(result->message));
	result->segment_count = pfs_segments_of(machine->run.schedule, machine->run.step_count,
						result->segments, PFS_SEARCH_SEGMENTS_MAX);
}

/* One execution; false: it failed. */
static bool execute(struct pfs_searching *self, struct pfs_scheduler *scheduler)
{
	enum pfs_machine_end end = self->method->run != NULL
					   ? self->method->run(self, scheduler)
					   : pfs_scenario_run(self->scenario, self->machine,
							      scheduler);
	self->result->executions++;
	self->result->steps += self->machine->run.step_count;
	if (self->machine->run.step_count > self->longest)
		self->longest = self->machine->run.step_count;
	if (end == PFS_END_STEPS && !self->scenario->is_endless) /* else that is how it ends */
		self->result->incomplete++;
	self->result->pruned += end == PFS_END_PRUNED;
	if (end != PFS_END_FAILED && end != PFS_END_DEADLOCK)
		return true;
	if (self->method->has_failed != NULL && !self->method->has_failed(self))
		return true;
	keep_failure(self);
	return false;
}

static bool is_at_bound(const struct pfs_searching *self, uint64_t n, double deadline)
{
	const struct pfs_search_options *options = self->options;
	return (options->execution_max != 0 && n >= options->execution_max) ||
	       (options->seconds_max > 0 && n % 16 == 15 &&
		pfs_now_seconds(CLOCK_MONOTONIC) > deadline);
}

/* Has the part had as many executions as it may have, and could the rest be left? */
static bool is_left(struct pfs_searching *self, uint64_t n)
{
	uint64_t most = self->part->most;
	return most != 0 && n % most == 0 && self->method->split != NULL &&
	       self->method->split(self);
}

static void run_all(struct pfs_searching *self)
{
	double deadline = pfs_now_seconds(CLOCK_MONOTONIC) + self->options->seconds_max;
	for (uint64_t n = 0; n == 0 || !is_left(self, n); n++) {
		self->result->stopped = is_at_bound(self, n, deadline);
		if (self->result->stopped)
			return;
		/* A destroy that touches what it gave back does so in the first execution. */
		self->machine->setup.hasty = n != 0;
		if (!execute(self, self->method->scheduler(self, self->part->first + n)))
			return;
		self->result->stopped = self->machine->run.end == PFS_END_STEPS && /* in mid-step */
					self->options->seconds_max > 0 &&
					pfs_now_seconds(CLOCK_MONOTONIC) > deadline;
		if (self->result->stopped || !self->method->next(self))
			return;
	}
}

bool pfs_search_part(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		     const struct pfs_search_options *options, const struct pfs_part *part,
		     struct pfs_search_result *result, struct pfs_parts *rest)
{
	const struct pfs_search_method *method = pfs_search_methods[options->kind];
	struct pfs_searching self = { .machine = machine,
				      .scenario = scenario,
				      .options = options,
				      .method = method,
				      .result = result,
				      .part = part,
				      .rest = rest };
	memset(result, 0, sizeof(*result));
	self.own = calloc(1, method->bytes);
	if (self.own == NULL)
		return true; /* zero executions: the caller sees that nothing was searched */
	machine->setup.free_yields = scenario->is_endless;
	bool is_ready = method->begin(&self);
	if (scenario->is_endless && !method->takes_endless)
		result->refusal = "threads that loop forever; try --search fixpoint";
	if (result->refusal == NULL && is_ready && (!part->waits || method->next(&self)))
		run_all(&self);
	machine->setup.hasty = false;
	if (method->end != NULL)
		method->end(&self);
	free(self.own);
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

const char *pfs_search_left_words(uint32_t n)
{
	static const char *const words[PFS_LEFT_COUNT] = {
		"a step had more choices than the search distinguishes: threads times the values "
		"that a load may return exceeded 64; use fewer threads or stores",
		"a thread read old values of one variable more often than the memory model keeps "
		"apart; use fewer loads of it",
		"a store had more rivals than the search compares; use fewer stores to one "
		"variable",
		"branches of a wakeup tree were lost; use --search exhaustive",
		"there was not enough memory for the search",
		"a random search draws schedules, and cannot know that it has drawn all",
	};
	return words[n];
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
