#include "memory/search/scene_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "check/search/jobs.h"

#define PREEMPTIONS_DEFAULT UINT64_MAX /* not given */

struct arguments {
	const char *scenario, *memory, *search, *weaken;
	uint64_t seed, executions, jobs, preemptions;
	double seconds;
	bool quiet, no_races;
};

uint32_t pfs_scene_threads(const char *calls)
{
	uint32_t count = 1;
	for (; *calls != '\0'; calls++)
		count += *calls == ',';
	return count;
}

bool pfs_scene_calls_of(const char *text, uint32_t id, char *calls)
{
	for (; id != 0 && *text != '\0'; text++)
		id -= *text == ',';
	size_t length = strcspn(text, ",");
	if (length > PFS_SCENE_CALLS_MAX)
		return false;
	memcpy(calls, text, length);
	calls[length] = '\0';
	return true;
}

static int refuse(const struct pfs_scene_command *self, const char *what, const char *text)
{
	return pfs_command_refuse(self->program, PFS_EXIT_WRONG_USE,
				  "%s '%.200s': not found; see %s --help", what, text,
				  self->program);
}

/* PFS_GO_ON, or the exit status. */
static int read_arguments(const struct pfs_scene_command *self, struct arguments *arguments,
			  int argc, char **argv)
{
	char after[2000];
	struct pfs_option options[] = {
		PFS_TEXT_OPTION("scenario", "NAME[:CALLS,...]", &arguments->scenario,
				"the scenario, and other calls for each thread"),
		PFS_TEXT_OPTION("memory", "M", &arguments->memory, PFS_MEMORY_HELP "default sc"),
		PFS_TEXT_OPTION("search", "K", &arguments->search,
				"exhaustive, states, rotate, ... as for pfs-sim explore"),
		PFS_NUMBER_OPTION("preemptions", "N", &arguments->preemptions, 0, 1000,
				  "of --search bounded (default 2) and fixpoint (default: any)"),
		PFS_NUMBER_OPTION("seed", "N", &arguments->seed, 0, UINT64_MAX, "default 1"),
		PFS_NUMBER_OPTION("executions", "N", &arguments->executions, 0, UINT64_MAX,
				  "stop after N executions; default 0: no limit"),
		PFS_REAL_OPTION("seconds", "S", &arguments->seconds, 0, 1e6,
				"stop after this time; default 0: no limit"),
		PFS_NUMBER_OPTION("jobs", "N", &arguments->jobs, 1, PFS_JOBS_MAX,
				  "search in N processes; default 1"),
		PFS_TEXT_OPTION("weaken", "PLACE", &arguments->weaken,
				"FILE:LINE, whose operations become weaker"),
		PFS_SWITCH_OPTION("no-races", &arguments->no_races, "do not look for data races"),
		PFS_SWITCH_OPTION("quiet", &arguments->quiet, "no trace of a failing schedule"),
		PFS_NUMBER_OPTION(self->option, "N", self->option_value, 0, UINT64_MAX,
				  self->option_help),
	};
	size_t count = sizeof(options) / sizeof(options[0]) - (self->option == NULL);
	(void)snprintf(after, sizeof(after), "%s\n", self->letters);
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = self->program, .words = "explore", .words_min = 1, .words_max = 1,
		.options = options, .option_count = count,
		.about = "searches the schedules of scenarios; without words it lists them",
		.after = after,
	};
	/* clang-format on */
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);
	if (status == PFS_GO_ON && strcmp(argv[next], "explore") != 0)
		return refuse(self, "command", argv[next]);
	return status;
}

static const struct pfs_scene *scene_at(const struct pfs_scene_command *self, size_t at)
{
	const char *scenes = self->scenes;
	const struct pfs_scene *scene = (const void *)(scenes + at * self->scene_bytes);
	return scene->name != NULL ? scene : NULL;
}

static void list(const struct pfs_scene_command *self)
{
	const struct pfs_scene *scene;
	for (size_t at = 0; (scene = scene_at(self, at)) != NULL; at++)
		(void)printf("  %-12s %-12s %s\n", scene->name, scene->calls, scene->summary);
}

/* Chooses the scene of a text, with the calls that follow its name. False: there is none. */
static bool find_scene(const struct pfs_scene_command *self, const char *text)
{
	const struct pfs_scene *scene;
	size_t at = 0;
	size_t length = strcspn(text, ":");
	const char *calls = text[length] == ':' ? text + length + 1 : NULL;
	char fits[PFS_SCENE_CALLS_MAX + 1];
	for (uint32_t id = 0; calls != NULL && id < pfs_scene_threads(calls); id++)
		if (!pfs_scene_calls_of(calls, id, fits))
			return false;
	while ((scene = scene_at(self, at)) != NULL &&
	       (strlen(scene->name) != length || strncmp(scene->name, text, length) != 0))
		at++;
	if (scene == NULL ||
	    pfs_scene_threads(calls != NULL ? calls : scene->calls) > self->threads_max)
		return false;
	self->choose(scene, calls);
	return true;
}

static void report(const struct pfs_scene_command *self, const struct arguments *arguments,
		   const struct pfs_search_options *options, const struct pfs_search_result *result)
{
	(void)printf("%s %s %s: %llu executions (%llu repeated a class, %llu incomplete), "
		     "%llu steps, %s%s\n",
		     arguments->scenario, arguments->memory, arguments->search,
		     (unsigned long long)result->executions, (unsigned long long)result->redundant,
		     (unsigned long long)result->incomplete, (unsigned long long)result->steps,
		     result->failed ? "FAILED" : pfs_search_extent(options, result),
		     result->failed ? "" : ": no violation");
	if (result->states != 0)
		(void)printf("states: %llu\n", (unsigned long long)result->states);
	for (size_t i = 0; i < PFS_SCENE_SUMS_MAX && self->sums[i].name != NULL; i++)
		(void)printf("%s%s %llu", i == 0 ? "" : ", ", self->sums[i].name,
			     (unsigned long long)*self->sums[i].value);
	(void)printf("\n");
}

/* The exit status. */
static int explore(const struct pfs_scene_command *self, const struct arguments *arguments,
		   struct pfs_machine *machine, enum pfs_search_kind kind)
{
	static struct pfs_search_result result;
	static char weaken[256];
	uint32_t preemptions = kind == PFS_SEARCH_FIXPOINT ? PFS_PREEMPTIONS_ANY : 2;
	if (arguments->preemptions != PREEMPTIONS_DEFAULT)
		preemptions = (uint32_t)arguments->preemptions;
	const struct pfs_search_options options = { .kind = kind,
						    .seed = arguments->seed,
						    .execution_max = arguments->executions,
						    .seconds_max = arguments->seconds,
						    .preemption_max = preemptions };
	struct pfs_jobs_sums sums = { .count = 0 };
	for (size_t i = 0; i < PFS_SCENE_SUMS_MAX && self->sums[i].name != NULL; i++)
		sums.at[sums.count++] = self->sums[i].value;
	sums.at[sums.count++] = &machine->weaken.met;
	machine->setup.step_max = 20000;
	machine->setup.watch = !arguments->no_races;
	if (arguments->weaken != NULL) {
		(void)snprintf(weaken, sizeof(weaken), "%s", arguments->weaken);
		if (!pfs_weaken_parse(&machine->weaken, weaken))
			return refuse(self, "--weaken", arguments->weaken);
	}
	*self->machine = machine;
	const char *error = pfs_jobs_search(machine, &self->scenario, &options,
					    (uint32_t)arguments->jobs, &sums, &result);
	if (error != NULL)
		return pfs_command_refuse(self->program, PFS_EXIT_WRONG_USE, "--jobs: %s", error);
	if (result.refusal != NULL)
		return pfs_command_refuse(self->program, PFS_EXIT_WRONG_USE,
					  "--search %s does not support %s; choose another",
					  arguments->search, result.refusal);
	report(self, arguments, &options, &result);
	if (arguments->weaken != NULL)
		(void)printf("%s: %llu operations were weaker\n", arguments->weaken,
			     (unsigned long long)machine->weaken.met);
	if (result.failed) {
		(void)printf("found: %s\n", result.message);
		(void)pfs_search_shrink(machine, &self->scenario, &result);
		if (!arguments->quiet)
			pfs_search_show(machine, &self->scenario, &result, stdout);
	}
	return result.failed || result.executions == result.incomplete;
}

int pfs_scene_command(const struct pfs_scene_command *self, int argc, char **argv)
{
	struct arguments arguments = { .memory = "sc",
				       .search = "exhaustive",
				       .seed = 1,
				       .jobs = 1,
				       .preemptions = PREEMPTIONS_DEFAULT };
	if (argc < 2) {
		list(self);
		return pfs_command_end(self->program, 0);
	}
	int status = read_arguments(self, &arguments, argc, argv);
	if (status != PFS_GO_ON)
		return status;
	const struct pfs_memory_model *model = pfs_memory_model_of(arguments.memory);
	int kind = pfs_search_kind_of(arguments.search);
	if (model == NULL || kind < 0)
		return refuse(self, model == NULL ? "--memory" : "--search",
			      model == NULL ? arguments.memory : arguments.search);
	if (arguments.scenario == NULL || !find_scene(self, arguments.scenario))
		return refuse(self, "--scenario",
			      arguments.scenario != NULL ? arguments.scenario : "");
	struct pfs_machine *machine = pfs_machine_create(model);
	status = explore(self, &arguments, machine, (enum pfs_search_kind)kind);
	pfs_machine_destroy(machine);
	return pfs_command_end(self->program, status);
}
