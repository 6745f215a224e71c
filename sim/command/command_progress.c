#include "sim/command/command_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "containers/variant.h"
#include "sim/cases/progress.h"
#include "check/machine/model.h"

#define STEP_MAX 5000u /* the others must finish within these */

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

/* Parks one thread at each of its steps. False: another thread waited. */
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
	struct pfs_machine *machine = pfs_machine_create(pfs_memory_model_of(arguments->memory));
	if (machine == NULL)
		return false;
	machine->setup.step_max = STEP_MAX;
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
		     "%llu: %s\n",
		     variant->name, name, arguments->memory, (unsigned long long)totals.places,
		     (unsigned long long)totals.executions,
		     totals.complete ? " (all there are)" : "", filled,
		     (unsigned long long)progress.waited, fine ? "nobody else waited" : "FAILED");
	pfs_machine_destroy(machine);
	return fine;
}

static const char program[] = "pfs-sim progress";

/* PFS_GO_ON, or the exit status. */
static int read_arguments(struct arguments *self, int argc, char **argv)
{
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("policy", "P", &self->policy,
				"a policy (pfs-sim list); default: "
				"all but mutex_list"),
		PFS_TEXT_OPTION("scenario", "S", &self->scenario,
				"a scenario (pfs-sim list); "
				"default: all"),
		PFS_TEXT_OPTION("memory", "M", &self->memory,
				PFS_MODEL_LIST(PFS_MODEL_HELP, PFS_MODEL_NOTHING) "default sc"),
		PFS_NUMBER_OPTION("executions", "N", &self->executions, 1, UINT64_MAX,
				  "schedules of each place at most; default 200"),
		PFS_SWITCH_OPTION("fill", &self->fills,
				  "only exact policies: another thread also fills the container, "
				  "and may be refused only when every record is in use, except "
				  "those that the parked thread's call holds (one, or all of a "
				  "batch)"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = program, .words = "", .options = options,
		.option_count = sizeof(options) / sizeof(options[0]),
		.about = "parks each thread forever after each number of steps, and searches for "
			 "a schedule in which another thread waits although it must not",
		.after = "exit 0: none was found. 1: one was; it is shortened and printed. 2: bad "
			 "usage.\n",
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	if (status != PFS_GO_ON)
		return status;
	const struct pfs_memory_model *model = pfs_memory_model_of(self->memory);
	if (model == NULL || model->keeps_old)
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "--memory '%.80s': choose from" PFS_MODEL_LIST(
						  PFS_MODEL_WORD, PFS_MODEL_NOTHING),
					  self->memory);
	if (self->policy != NULL && pfs_variant_find(self->policy) == NULL)
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "--policy '%.80s': no such "
					  "policy; pfs-sim list shows them",
					  self->policy);
	return PFS_GO_ON;
}

int pfs_command_progress(int argc, char **argv)
{
	struct arguments arguments = { .memory = "sc", .executions = 200 };
	const struct pfs_variant *variant;
	const char *name, *summary;
	unsigned run = 0, failed = 0;
	int status = read_arguments(&arguments, argc, argv);
	if (status != PFS_GO_ON)
		return status;
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		if (arguments.policy != NULL && strcmp(arguments.policy, variant->name) != 0)
			continue;
		if (arguments.policy == NULL && strcmp(variant->name, "mutex_list") == 0)
			continue; /* promises nothing, and always fails */
		for (size_t k = 0; (name = pfs_case_name(k, &summary)) != NULL; k++) {
			if (arguments.fills && (variant->traits & PFS_TRAIT_EXACT) == 0)
				break; /* does not promise when it refuses */
			if ((arguments.scenario != NULL && strcmp(arguments.scenario, name) != 0) ||
			    pfs_case_init(&own, name, variant, &inner) != NULL ||
			    pfs_case_takes_turns(&own) || pfs_case_is_apart(&own))
				continue;
			run++;
			failed += !run_one(variant, name, &arguments);
		}
	}
	if (run == 0)
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "--policy '%.80s' has no "
					  "--scenario '%.80s' here; see pfs-sim list",
					  arguments.policy != NULL ? arguments.policy : "all",
					  arguments.scenario != NULL ? arguments.scenario : "all");
	(void)printf("%u passed, %u failed\n", run - failed, failed);
	return failed != 0;
}
