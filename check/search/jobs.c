#define _GNU_SOURCE
#include "base/now.h"
#include "check/search/jobs.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/search/jobs_worker.h"

#define PART_EXECUTIONS 500u   /* of a part without splits above it; the default */
#define GENERATION_MAX 10u     /* from there on parts do not get larger */
#define RANDOM_EXECUTIONS 900u /* of a part of a random search: a multiple of its turns */

enum item_state { WAITING, RUNNING, DONE, DROPPED };

/* A part, in the order of the search. */
struct item {
	struct item *next;
	struct item *above; /* the last of its split, which waits for it; or NULL */
	uint32_t missing;   /* parts that it waits for */
	enum item_state state;
	struct pfs_part part;
	struct pfs_jobs_tally tally;
};

struct jobs {
	struct pfs_machine *machine;
	const struct pfs_scenario *scenario;
	struct pfs_search_options options; /* ALL decided */
	const struct pfs_jobs_sums *sums;
	struct pfs_search_result *result;
	struct pfs_jobs_worker workers[PFS_JOBS_MAX];
	struct item *at[PFS_JOBS_MAX]; /* of each worker, or NULL */
	uint32_t jobs, forked;
	struct item *first, *failed;
	uint64_t drawn; /* random: executions that are in parts */
	double deadline;
	bool random;
	bool stopped;
	const char *error;
};

uint32_t pfs_jobs_default(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	uint32_t count = (uint32_t)CPU_COUNT(&set);
	return count < PFS_JOBS_MAX ? count : PFS_JOBS_MAX;
}

static uint64_t part_executions(const struct jobs *self, uint32_t generation)
{
	uint64_t first = self->options.part_executions;
	return (first != 0 ? first : PART_EXECUTIONS)
	       << (generation < GENERATION_MAX ? generation : GENERATION_MAX);
}

static struct item *insert(struct jobs *self, struct item *before, const struct pfs_part *part)
{
	struct item *item = calloc(1, sizeof(*item));
	if (item == NULL) {
		self->error = "no memory for the parts of the search";
		return NULL;
	}
	item->part = *part;
	item->next = before != NULL ? before->next : self->first;
	if (before != NULL)
		before->next = item;
	else
		self->first = item;
	return item;
}

static void draw_random(struct jobs *self, struct item *last)
{
	uint64_t most = RANDOM_EXECUTIONS, bound = self->options.execution_max;
	if (bound != 0 && bound - self->drawn < most)
		most = bound - self->drawn;
	if (most == 0)
		return;
	const struct pfs_part part = { .first = self->drawn, .most = most };
	self->drawn += most;
	(void)insert(self, last, &part);
}

/* The first part that waits for no other, or NULL. */
static struct item *next_item(struct jobs *self)
{
	for (int tries = 0; tries < 2; tries++) {
		struct item *last = NULL;
		for (struct item *item = self->first; item != NULL; item = item->next) {
			if (item->state == WAITING && item->missing == 0)
				return item;
			last = item;
		}
		if (self->random && self->failed == NULL)
			draw_random(self, last);
	}
	return NULL;
}

/* What is left of a part follows it. */
static void keep_rest(struct jobs *self, struct item *item, struct pfs_parts *rest)
{
	struct item *last = item, *above = item->above, *first = NULL;
	uint32_t generation = item->part.generation + 1;
	for (uint32_t i = 0; i < rest->count; i++) {
		struct pfs_part *part = &rest->at[i];
		part->generation = generation;
		part->most = part_executions(self, generation);
		last = insert(self, last, part);
		if (last == NULL)
			return;
		first = i == 0 ? last : first;
		last->above = above;
	}
	if (rest->at[rest->count - 1].waits) {
		last->missing = rest->count - 1;
		for (; first != last; first = first->next)
			first->above = last;
	} else if (above != NULL) {
		above->missing += rest->count - 1;
	}
}

/* A part is over, with all that was left of it. */
static void join(struct item *item, const struct pfs_parts *rest)
{
	struct item *above = item->above;
	if (above == NULL)
		return;
	above->missing--;
	for (uint32_t i = 0; rest->asked != NULL && i < item->part.root; i++) {
		if (i < above->part.depth)
			above->part.nodes[i].backtrack |= rest->asked[i];
	}
}

/* Drop the parts after a failure. */
static void drop_behind(struct item *failed)
{
	for (struct item *item = failed->next; item != NULL; item = item->next)
		item->state = item->state == RUNNING || item->state == DROPPED ? DROPPED : DONE;
}

static void finish_item(struct jobs *self, struct item *item, const struct pfs_search_result *found,
			struct pfs_parts *rest, const struct pfs_jobs_tally *tally)
{
	bool dropped = item->state == DROPPED;
	item->state = DONE;
	if (!dropped) {
		item->tally = *tally;
		self->stopped |= tally->stopped;
		if (rest->count != 0)
			keep_rest(self, item, rest);
		else
			join(item, rest);
		if (found->failed) {
			self->failed = item;
			*self->result = *found;
			drop_behind(item);
		}
	} else {
		memset(&item->tally, 0, sizeof(item->tally));
		for (uint32_t i = 0; i < rest->count; i++)
			free(rest->at[i].nodes);
	}
	free(item->part.nodes);
	item->part.nodes = NULL;
	free(rest->asked);
	free(rest->at);
}

static uint64_t executed(const struct jobs *self)
{
	uint64_t sum = 0;
	for (const struct item *item = self->first; item != NULL; item = item->next)
		sum += item->tally.executions;
	return sum;
}

static bool is_late(const struct jobs *self)
{
	uint64_t most = self->random ? 0 : self->options.execution_max;
	return self->stopped || (most != 0 && executed(self) >= most) ||
	       (self->options.seconds_max > 0 && pfs_now_seconds(CLOCK_MONOTONIC) > self->deadline);
}

/* The bounds of the next part. */
static struct pfs_search_options options_now(const struct jobs *self)
{
	struct pfs_search_options options = self->options;
	if (options.seconds_max > 0)
		options.seconds_max = self->deadline - pfs_now_seconds(CLOCK_MONOTONIC);
	if (options.seconds_max < 0)
		options.seconds_max = 1e-6;
	if (self->random)
		options.execution_max = 0; /* the parts are cut */
	else if (options.execution_max != 0)
		options.execution_max -= executed(self);
	return options;
}

/* In this process. */
static void run_here(struct jobs *self, struct item *item)
{
	static struct pfs_search_result found;
	struct pfs_parts rest = { 0 };
	struct pfs_search_options options = options_now(self);
	(void)pfs_search_part(self->machine, self->scenario, &options, &item->part, &found, &rest);
	const struct pfs_jobs_tally tally = pfs_jobs_tally_of(&found);
	self->result->refusal = found.refusal;
	finish_item(self, item, &found, &rest, &tally);
}

/* Parts for the workers that have none. */
static void hand_out(struct jobs *self)
{
	for (uint32_t i = 0; i < self->forked && !is_late(self); i++) {
		struct item *item = self->at[i] == NULL ? next_item(self) : NULL;
		struct pfs_search_options options = options_now(self);
		if (item == NULL)
			continue;
		if (!pfs_jobs_worker_send(&self->workers[i], &options, &item->part))
			self->error = pfs_jobs_worker_fate(&self->workers[i]);
		item->state = RUNNING;
		self->at[i] = item;
	}
}

/* Is there a running part whose result matters? */
static bool is_busy(const struct jobs *self)
{
	for (uint32_t i = 0; i < self->forked; i++) {
		if (self->at[i] != NULL && self->at[i]->state == RUNNING)
			return true;
	}
	return false;
}

static void receive(struct jobs *self, uint32_t worker)
{
	static struct pfs_search_result found;
	struct pfs_parts rest = { 0 };
	struct pfs_jobs_tally tally;
	struct item *item = self->at[worker];
	if (!pfs_jobs_worker_receive(&self->workers[worker], &found, &tally, &rest)) {
		self->error = pfs_jobs_worker_fate(&self->workers[worker]);
		return;
	}
	self->at[worker] = NULL;
	finish_item(self, item, &found, &rest, &tally);
}

static void run_forked(struct jobs *self)
{
	for (; self->forked < self->jobs && self->error == NULL; self->forked++) {
		if (!pfs_jobs_worker_start(&self->workers[self->forked], self->machine,
					   self->scenario, self->sums)) {
			self->error = "cannot start a process for a job; try a smaller --jobs";
			return;
		}
	}
	for (;;) {
		hand_out(self);
		if (self->error != NULL || !is_busy(self))
			return;
		uint32_t worker = pfs_jobs_workers_wait(self->workers, self->forked);
		if (worker < self->forked)
			receive(self, worker);
	}
}

/* What was executed up to the failure, or in total. */
static void sum_up(struct jobs *self)
{
	struct pfs_search_result *result = self->result;
	result->executions = result->redundant = result->incomplete = result->steps = 0;
	result->states = result->pruned = 0;
	result->bounded = false;
	result->left_out = self->random ? PFS_LEFT_CHANCE : 0;
	result->complete = self->failed == NULL && !self->random;
	for (const struct item *item = self->first; item != NULL; item = item->next) {
		const struct pfs_jobs_tally *tally = &item->tally;
		result->executions += tally->executions;
		result->redundant += tally->redundant;
		result->incomplete += tally->incomplete;
		result->pruned += tally->pruned;
		result->steps += tally->steps;
		result->states += tally->states;
		result->bounded |= tally->bounded;
		result->left_out |= tally->left_out;
		result->complete &= item->state == DONE && tally->complete && !tally->stopped;
		result->stopped |= tally->stopped || item->state != DONE;
		for (uint32_t i = 0; i < self->sums->count; i++)
			*self->sums->at[i] += tally->sums[i];
		if (item == self->failed)
			break;
	}
}

static void run_search(struct jobs *self)
{
	const struct pfs_part whole = { .most = part_executions(self, 0) };
	self->random = pfs_search_is_random(self->options.kind);
	if (!self->random && insert(self, NULL, &whole) == NULL)
		return;
	/* Small searches are over before a second process would have begun. */
	for (bool begun = false; self->error == NULL && !is_late(self) && self->failed == NULL;
	     begun = true) {
		struct item *item = begun && self->jobs > 1 ? NULL : next_item(self);
		if (item == NULL)
			break;
		run_here(self, item);
		if (self->result->refusal != NULL)
			return;
	}
	if (self->jobs > 1 && self->error == NULL && self->failed == NULL && !is_late(self) &&
	    next_item(self) != NULL)
		run_forked(self);
	sum_up(self);
}

static void fini(struct jobs *self)
{
	for (uint32_t i = 0; i < self->forked; i++)
		pfs_jobs_worker_end(&self->workers[i]);
	while (self->first != NULL) {
		struct item *item = self->first;
		self->first = item->next;
		free(item->part.nodes);
		free(item);
	}
}

const char *pfs_jobs_search(struct pfs_machine *machine, const struct pfs_scenario *scenario,
			    const struct pfs_search_options *options, uint32_t jobs,
			    const struct pfs_jobs_sums *sums, struct pfs_search_result *result)
{
	static struct jobs self;
	bool all = options->kind == PFS_SEARCH_ALL;
	if (options->kind == PFS_SEARCH_FIXPOINT) { /* in one part, and by one process */
		(void)pfs_search(machine, scenario, options, result);
		return NULL;
	}
	for (int turn = 0; turn < 2; turn++) {
		self = (struct jobs){ .machine = machine,
				      .scenario = scenario,
				      .jobs = jobs,
				      .options = *options,
				      .sums = sums,
				      .result = result };
		memset(result, 0, sizeof(*result));
		self.deadline = pfs_now_seconds(CLOCK_MONOTONIC) + options->seconds_max;
		if (all)
			self.options.kind = turn == 0 ? PFS_SEARCH_DPOR : PFS_SEARCH_SLEEP;
		run_search(&self);
		fini(&self);
		if (!all || result->refusal == NULL)
			break;
	}
	return self.error;
}
