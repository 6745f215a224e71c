#include "sim/scene_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/jobs.h"

struct arguments {
	const char *scenario, *memory, *search, *weaken;
	uint64_t seed, executions, jobs;
	double seconds;
	uint64_t preemptions;
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
	(void)fprintf(stderr, "%s: %s %s; %s --help says what there is\n", self->program, what,
		      text, self->program);
	return 2;
}

static int usage(const struct pfs_scene_command *self)
{
	(void)printf("%s explore --scenario NAME[:CALLS,CALLS...]\n"
		     "  [--memory sc|tso|views] "
		     "  [--search exhaustive|states|rotate|... as pfs-sim] [--preemptions N] "
		     "[--seed N]\n"
		     "  [--executions N] [--seconds S] [--jobs N] [--weaken PLACE] [--no_races] "
		     "[--quiet]\n",
		     self->program);
	if (self->option != NULL)
		(void)printf("  [%s N: %s]\n", self->option, self->option_help);
	(void)printf("\n%s\n", self->letters);
	self->list();
	return 0;
}

static bool is_number(const struct pfs_scene_command *self, struct arguments *arguments,
		      const char *name, const char *value)
{
	const struct {
		const char *name;
		uint64_t *number;
	} known[] = { { "--seed", &arguments->seed },
		      { "--jobs", &arguments->jobs },
		      { "--executions", &arguments->executions },
		      { "--preemptions", &arguments->preemptions },
		      { self->option, self->option_value } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].name == NULL || strcmp(name, known[i].name) != 0)
			continue;
		*known[i].number = strtoull(value, NULL, 10);
		return true;
	}
	return false;
}

/* Options without a value, then those with one; false: unknown. */
static bool read_argument(const struct pfs_scene_command *self, struct arguments *arguments,
			  const char *name, const char *value, int *used)
{
	*used = 1;
	if (strcmp(name, "--quiet") == 0)
		return arguments->quiet = true;
	if (strcmp(name, "--no_races") == 0)
		return arguments->no_races = true;
	*used = 2;
	if (value == NULL)
		return false;
	const struct {
		const char *name;
		const char **text;
	} known[] = { { "--scenario", &arguments->scenario }, { "--memory", &arguments->memory },
		      { "--search", &arguments->search }, { "--weaken", &arguments->weaken } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		*known[i].text = value;
		return true;
	}
	if (strcmp(name, "--seconds") == 0) {
		arguments->seconds = strtod(value, NULL);
		return true;
	}
	return is_number(self, arguments, name, value);
}

/* The scene of a text, with other calls if it says some; false: none. */
static bool find_scene(const struct pfs_scene_command *self, const char *text)
{
	size_t length = strcspn(text, ":");
	const char *calls = text[length] == ':' ? text + length + 1 : NULL;
	char fits[PFS_SCENE_CALLS_MAX + 1];
	for (uint32_t id = 0; calls != NULL && id < pfs_scene_threads(calls); id++)
		if (!pfs_scene_calls_of(calls, id, fits))
			return false;
	return self->choose(text, length, calls);
}

static void report(const struct pfs_scene_command *self, const struct arguments *arguments,
		   const struct pfs_search_options *options, const struct pfs_search_result *result)
{
	(void)printf("%s %s %s: %llu executions (%llu repeated a class, %llu incomplete), "
		     "%llu steps, %s%s\n",
		     arguments->scenario, arguments->memory, arguments->search,
		     (unsigned long long)result->executions,
		     (unsigned long long)result->redundant,
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
	const struct pfs_search_options options = {
		.kind = kind, .seed = arguments->seed, .execution_max = arguments->executions,
		.seconds_max = arguments->seconds,
		.preemption_max = (uint32_t)arguments->preemptions
	};
	struct pfs_jobs_sums sums = { .count = 0 };
	for (size_t i = 0; i < PFS_SCENE_SUMS_MAX && self->sums[i].name != NULL; i++)
		sums.at[sums.count++] = self->sums[i].value;
	sums.at[sums.count++] = &machine->weaken.met;
	machine->step_max = 20000;
	machine->watch = !arguments->no_races;
	if (arguments->weaken != NULL) {
		(void)snprintf(weaken, sizeof(weaken), "%s", arguments->weaken);
		if (!pfs_weaken_parse(&machine->weaken, weaken))
			return refuse(self, "no place:", arguments->weaken);
	}
	*self->machine = machine;
	const char *error = pfs_jobs_search(machine, &self->scenario, &options,
					    (uint32_t)arguments->jobs, &sums, &result);
	if (error != NULL || result.refusal != NULL)
		return refuse(self, "this search can't do", error != NULL ? error : result.refusal);
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
	static const char *const models[] = { [PFS_MACHINE_SC] = "sc", [PFS_MACHINE_TSO] = "tso",
					      [PFS_MACHINE_VIEWS] = "views" };
	struct arguments arguments = { .memory = "sc", .search = "exhaustive", .seed = 1,
				       .jobs = 1, .preemptions = 2 };
	if (argc < 2 || strcmp(argv[1], "explore") != 0)
		return usage(self);
	for (int at = 2, used; at < argc; at += used) {
		const char *value = at + 1 < argc ? argv[at + 1] : NULL;
		if (!read_argument(self, &arguments, argv[at], value, &used))
			return refuse(self, "unknown:", argv[at]);
	}
	size_t model = 0;
	while (model < 3 && strcmp(models[model], arguments.memory) != 0)
		model++;
	int kind = pfs_search_kind_of(arguments.search);
	if (model == 3 || kind < 0)
		return refuse(self, "no such memory or search:",
			      model == 3 ? arguments.memory : arguments.search);
	if (arguments.scenario == NULL || !find_scene(self, arguments.scenario))
		return refuse(self, "no such scenario:",
			      arguments.scenario != NULL ? arguments.scenario : "");
	struct pfs_machine *machine = pfs_machine_create((enum pfs_machine_model)model);
	int status = explore(self, &arguments, machine, (enum pfs_search_kind)kind);
	pfs_machine_destroy(machine);
	return status;
}
