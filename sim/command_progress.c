#include "sim/command_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/message.h"
#include "containers/variant.h"
#include "sim/progress.h"

#define STEP_MAX 5000u /* in so many the others must have finished */

static const char usage_text[] =
	"usage: pfs-sim progress [--policy P] [--scenario S] [--memory sc|tso] [--executions N]\n"
	"                        [--fill]\n"
	"\n"
	"Parks each thread for ever after each number of steps, and searches at most N schedules\n"
	"(default 200) for one in which another thread waits although nothing says it may.\n"
	"--fill: of exact policies; meanwhile another thread fills the container, and must be\n"
	"refused when all records are in use but what a call of the parked thread has in its\n"
	"hands: one at most, as many as were asked for of a batch, and none outside of calls.\n"
	"exit 0: none was found. 1: one was; it is shortened and printed. 2: bad usage.\n";

struct arguments {
	const char *policy, *scenario, *memory;
	uint64_t executions;
	bool fills;
};

struct totals {
	uint64_t executions, places, waited;
	bool complete;
};

static struct pfs_case own;
static struct pfs_scenario inner, scenario;
static struct pfs_progress progress;
static struct pfs_search_result result;

static bool show(struct pfs_machine *machine)
{
	(void)printf("found: %s\n", result.message);
	(void)pfs_search_shrink(machine, &scenario, &result);
	pfs_search_show(machine, &scenario, &result, stdout);
	return false;
}

/* One thread, parked at each of its steps; false: somebody waited. */
static bool park(struct pfs_machine *machine, uint32_t victim, const struct arguments *arguments,
		 struct totals *totals)
{
	const struct pfs_search_options options = { .kind = PFS_SEARCH_ALL,
						    .execution_max = arguments->executions };
	progress.victim = victim;
	progress.parked = true;
	for (progress.after = 0; progress.parked; progress.after++) {
		progress.parked = false;
		bool fine = pfs_search(machine, &scenario, &options, &result);
		totals->executions += result.executions;
		totals->complete &= result.complete;
		totals->places++;
		if (!fine)
			return show(machine);
		if (result.incomplete == 0)
			continue;
		(void)printf("found: the others need more than %u steps\n", STEP_MAX);
		return false;
	}
	return true;
}

static bool run_one(const struct pfs_variant *variant, const char *name,
		    const struct arguments *arguments)
{
	struct totals totals = { .complete = true };
	bool fine = true;
	bool tso = strcmp(arguments->memory, "tso") == 0;
	struct pfs_machine *machine = pfs_machine_create(tso ? PFS_MACHINE_TSO : PFS_MACHINE_SC);
	if (machine == NULL)
		return false;
	machine->step_max = STEP_MAX;
	own.layout = PFS_LAYOUT_IN_RECORD;
	own.thread_count = own.thread_count < 3 ? own.thread_count : 2;
	own.operations = 1;
	pfs_progress_init(&progress, &own, &inner, &scenario);
	progress.fills = arguments->fills;
	for (uint32_t victim = 0; fine && victim < own.thread_count; victim++)
		fine = park(machine, victim, arguments, &totals);
	char filled[64] = "";
	if (arguments->fills)
		(void)snprintf(filled, sizeof(filled), "filled in %llu, ",
			       (unsigned long long)progress.filled);
	(void)printf("%-14s %-10s %-3s %5llu places, %8llu executions%s, %swaited as it may in "
		     "%llu: %s\n", variant->name, name, arguments->memory,
		     (unsigned long long)totals.places, (unsigned long long)totals.executions,
		     totals.complete ? " (all there are)" : "", filled,
		     (unsigned long long)progress.waited, fine ? "nobody else waited" : "FAILED");
	pfs_machine_destroy(machine);
	return fine;
}

static int refuse(const char *what, const char *value, const char *mend)
{
	struct pfs_message message;
	(void)pfs_message_set(&message, PFS_BAD_CONFIG, "%.80s %.80s: %s", what, value, mend);
	(void)fprintf(stderr, "pfs-sim progress: %s\n", message.text);
	return 2;
}

/* 0, or 2 after a line on stderr. */
static int read_arguments(struct arguments *self, int argc, char **argv)
{
	for (int at = 1; at < argc; at += 2) {
		char *end;
		if (strcmp(argv[at], "--fill") == 0) {
			self->fills = true;
			at--;
			continue;
		}
		if (at + 1 == argc)
			return refuse(argv[at], "", "needs a value; try pfs-sim progress --help");
		if (strcmp(argv[at], "--policy") == 0)
			self->policy = argv[at + 1];
		else if (strcmp(argv[at], "--scenario") == 0)
			self->scenario = argv[at + 1];
		else if (strcmp(argv[at], "--memory") == 0)
			self->memory = argv[at + 1];
		else if (strcmp(argv[at], "--executions") != 0)
			return refuse(argv[at], "", "no such option; try pfs-sim progress --help");
		else if ((self->executions = strtoull(argv[at + 1], &end, 10)) == 0 || *end != '\0')
			return refuse(argv[at], argv[at + 1], "must be a number above 0");
	}
	if (strcmp(self->memory, "sc") != 0 && strcmp(self->memory, "tso") != 0)
		return refuse("memory", self->memory, "must be sc or tso");
	if (self->policy != NULL && pfs_variant_find(self->policy) == NULL)
		return refuse("policy", self->policy, "no such policy; pfs-sim list names them");
	return 0;
}

int pfs_command_progress(int argc, char **argv)
{
	struct arguments arguments = { .memory = "sc", .executions = 200 };
	const struct pfs_variant *variant;
	const char *name, *summary;
	unsigned run = 0, failed = 0;
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(usage_text, stdout) < 0;
	int status = read_arguments(&arguments, argc, argv);
	if (status != 0)
		return status;
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		if (arguments.policy != NULL && strcmp(arguments.policy, variant->name) != 0)
			continue;
		if (arguments.policy == NULL && strcmp(variant->name, "mutex_list") == 0)
			continue; /* claims nothing, and is found at once if asked for */
		for (size_t k = 0; (name = pfs_case_name(k, &summary)) != NULL; k++) {
			if (arguments.fills && (variant->traits & PFS_TRAIT_EXACT) == 0)
				break; /* promises nothing of when it refuses */
			if ((arguments.scenario != NULL && strcmp(arguments.scenario, name) != 0) ||
			    pfs_case_init(&own, name, variant, &inner) != NULL ||
			    pfs_case_takes_turns(&own) || pfs_case_is_apart(&own))
				continue;
			run++;
			failed += !run_one(variant, name, &arguments);
		}
	}
	if (run == 0)
		return refuse("policy and scenario", "", "none fits; see pfs-sim list");
	(void)printf("%u passed, %u failed\n", run - failed, failed);
	return failed != 0;
}
