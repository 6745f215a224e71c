/*
 * pfs_sim.c - the command: explore schedules of a scenario, replay one that failed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/calibrate_command.h"
#include "sim/cases.h"
#include "sim/command_list.h"
#include "sim/command_litmus.h"
#include "sim/command_weaken.h"
#include "sim/command_progress.h"
#include "sim/command_run.h"
#include "sim/command_soak.h"
#include "sim/jobs.h"
#include "sim/reduce.h"
#include "sim/timed.h"
#include "sim/timed_curves.h"
#include "sim/usage.h"

struct arguments {
	const char *policy, *scenario, *memory, *search, *save, *weaken, *labels, *out;
	uint64_t threads, operations, seed, executions, preemptions, jobs;
	double seconds;
	bool full_flags, side_by_side, bare, owner_fences, quiet, real_time, append_only;
	bool no_races, noted;
};

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
	char text[5000]; /* a path, and what is wrong with it */
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)fprintf(stderr, "pfs-sim: %s\n", pfs_one_line(text));
	return 2;
}

static bool read_number(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
	char *end;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9' && *number >= low &&
	       *number <= high;
}

struct option {
	const char *name;
	const char **text;
	uint64_t *number;
	uint64_t low, high;
	bool *flag;
};

/* 0, or 2 after a line on stderr. */
static int read_option(const struct option *options, size_t count, int argc, char **argv, int *at)
{
	const char *given = argv[*at];
	const char *value = strchr(given, '=');
	size_t length = value != NULL ? (size_t)(value - given) : strlen(given);
	for (size_t i = 0; i < count; i++) {
		const struct option *option = &options[i];
		if (strlen(option->name) != length || strncmp(option->name, given, length) != 0)
			continue;
		if (option->flag != NULL) {
			*option->flag = true;
			return value == NULL ? 0 : refuse("%s takes no value", option->name);
		}
		if (value != NULL)
			value++;
		else if (*at + 1 < argc)
			value = argv[++*at];
		else
			return refuse("%s needs a value", option->name);
		if (option->text != NULL)
			*option->text = value;
		else if (!read_number(value, option->low, option->high, option->number))
			return refuse("%s %s: must be a number from %llu to %llu", option->name,
				      value, (unsigned long long)option->low,
				      (unsigned long long)option->high);
		return 0;
	}
	return refuse("%s: no such option; try pfs-sim --help", given);
}

static int read_arguments(struct arguments *self, int argc, char **argv)
{
	uint64_t seconds = 60;
	const struct option options[] = {
		{ "--policy", &self->policy, NULL, 0, 0, NULL },
		{ "--scenario", &self->scenario, NULL, 0, 0, NULL },
		{ "--memory", &self->memory, NULL, 0, 0, NULL },
		{ "--search", &self->search, NULL, 0, 0, NULL },
		{ "--save", &self->save, NULL, 0, 0, NULL },
		{ "--weaken", &self->weaken, NULL, 0, 0, NULL },
		{ "--labels", &self->labels, NULL, 0, 0, NULL },
		{ "--out", &self->out, NULL, 0, 0, NULL },
		{ "--noted", NULL, NULL, 0, 0, &self->noted },
		{ "--append_only", NULL, NULL, 0, 0, &self->append_only },
		{ "--no_races", NULL, NULL, 0, 0, &self->no_races },
		{ "--threads", NULL, &self->threads, 1, PFS_CASE_THREADS_MAX, NULL },
		{ "--operations", NULL, &self->operations, 1, PFS_CASE_OPERATIONS_MAX, NULL },
		{ "--seed", NULL, &self->seed, 0, UINT64_MAX, NULL },
		{ "--executions", NULL, &self->executions, 0, UINT64_MAX, NULL },
		{ "--preemptions", NULL, &self->preemptions, 0, 1000, NULL },
		{ "--jobs", NULL, &self->jobs, 1, PFS_JOBS_MAX, NULL },
		{ "--seconds", NULL, &seconds, 0, 1000000, NULL },
		{ "--no_full_flags", NULL, NULL, 0, 0, &self->full_flags },
		{ "--side_by_side", NULL, NULL, 0, 0, &self->side_by_side },
		{ "--bare", NULL, NULL, 0, 0, &self->bare },
		{ "--owner_fences", NULL, NULL, 0, 0, &self->owner_fences },
		{ "--real_time", NULL, NULL, 0, 0, &self->real_time },
		{ "--quiet", NULL, NULL, 0, 0, &self->quiet },
	};
	for (int at = 0; at < argc; at++) {
		int status = read_option(options, sizeof(options) / sizeof(options[0]), argc,
					 argv, &at);
		if (status != 0)
			return status;
	}
	self->full_flags = !self->full_flags;
	self->seconds = (double)seconds;
	return 0;
}

struct session {
	struct pfs_case case_;
	struct pfs_scenario scenario;
	struct pfs_machine *machine;
	struct pfs_search_result result;
};

static struct session session;

static int memory_of(const char *name)
{
	static const char *const names[] = { [PFS_MACHINE_SC] = "sc", [PFS_MACHINE_TSO] = "tso",
					     [PFS_MACHINE_VIEWS] = "views" };
	for (int i = 0; i < 3; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

/* 0, or 2 after a line on stderr. place may be NULL. */
static int weaken(const char *place)
{
	static char text[256]; /* kept by the machine */
	if (place == NULL)
		return 0;
	(void)snprintf(text, sizeof(text), "%s", place);
	return pfs_weaken_parse(&session.machine->weaken, text) ? 0
								: refuse("--weaken: no place");
}

/* 0, or 2 after a line on stderr. */
static int open_session(const struct arguments *arguments)
{
	if (arguments->policy == NULL || arguments->scenario == NULL)
		return refuse("--policy and --scenario are needed; pfs-sim list names them");
	const struct pfs_variant *variant = pfs_variant_find(arguments->policy);
	if (variant == NULL)
		return refuse("policy %s: no such policy; pfs-sim list names them",
			      arguments->policy);
	const char *why =
		pfs_case_init(&session.case_, arguments->scenario, variant, &session.scenario);
	if (why != NULL)
		return refuse("scenario %s, policy %s: %s; see pfs-sim list", arguments->scenario,
			      arguments->policy, why);
	int memory = memory_of(arguments->memory);
	if (memory < 0)
		return refuse("memory %s: must be sc, tso or views", arguments->memory);
	if (arguments->threads > session.case_.thread_max)
		return refuse("threads %llu: scenario %s is for at most %u",
			      (unsigned long long)arguments->threads, arguments->scenario,
			      session.case_.thread_max);
	if (arguments->threads != 0)
		session.case_.thread_count = (uint32_t)arguments->threads;
	if (arguments->operations != 0)
		session.case_.operations = (uint32_t)arguments->operations;
	session.case_.full_flags = arguments->full_flags;
	session.case_.real_time = arguments->real_time;
	session.case_.owner_fences = arguments->owner_fences;
	pfs_case_layout(&session.case_, arguments->side_by_side, arguments->bare);
	session.machine = pfs_machine_create((enum pfs_machine_model)memory);
	if (session.machine == NULL)
		return refuse("no memory for the machine");
	session.machine->step_max = 20000;
	session.machine->watch = !arguments->no_races;
	return weaken(arguments->weaken);
}

static const char *const layout_flags[2][2] = { { "", " --side_by_side" },
						 { " --bare", " --bare --side_by_side" } };

/* Everything that replay needs, one line each. */
static int save(const struct arguments *arguments)
{
	FILE *file = fopen(arguments->save, "w");
	if (file == NULL)
		return refuse("%s: %s; choose another --save", arguments->save, strerror(errno));
	(void)fprintf(file,
		      "pfs-sim 1\n--policy %s --scenario %s --memory %s --threads %u "
		      "--operations %u%s%s%s%s%s%s%s\n",
		      arguments->policy, arguments->scenario, arguments->memory,
		      session.case_.thread_count, session.case_.operations,
		      arguments->full_flags ? "" : " --no_full_flags",
		      layout_flags[arguments->bare][arguments->side_by_side],
		      arguments->owner_fences ? " --owner_fences" : "",
		      arguments->real_time ? " --real_time" : "",
		      arguments->no_races ? " --no_races" : "",
		      arguments->weaken != NULL ? " --weaken " : "",
		      arguments->weaken != NULL ? arguments->weaken : "");
	for (uint32_t i = 0; i < session.result.segment_count; i++)
		(void)fprintf(file, "%ux%u ", session.result.segments[i].actor,
			      session.result.segments[i].steps);
	(void)fputc('\n', file);
	return fclose(file) == 0 ? 1 : refuse("%s: %s", arguments->save, strerror(errno));
}

/* With views, a segment may be another choice of the same thread: no switch. */
static void print_shortened(uint32_t replays)
{
	const struct pfs_search_result *result = &session.result;
	uint32_t switches = 0, old = 0, last = PFS_ACTOR_NONE;
	bool views = session.machine->model == PFS_MACHINE_VIEWS;
	for (uint32_t i = 0; i < result->segment_count; i++) {
		uint32_t actor = result->segments[i].actor, threads = session.case_.thread_count;
		uint32_t thread = views ? actor % threads : actor;
		switches += i != 0 && thread != last;
		old += views && actor >= threads ? result->segments[i].steps : 0;
		last = thread;
	}
	(void)printf("shortened to %u switches", switches);
	if (views)
		(void)printf(", %u choices of what is not the newest", old);
	(void)printf(", in %u replays\n", replays);
}

/* A bound on preemptions asks for the bounded search; one on executions, if it is exhaustive, for
 * one process: which are the first is a matter of order. 0, or 2 after a line on stderr. */
static int choose_search(struct arguments *self)
{
	bool bound = self->preemptions != UINT64_MAX;
	if (self->search == NULL)
		self->search = bound ? "bounded" : "exhaustive";
	if (bound && strcmp(self->search, "bounded") != 0)
		return refuse("--preemptions is for --search bounded; leave out --search %s",
			      self->search);
	if (!bound)
		self->preemptions = 2;
	int kind = pfs_search_kind_of(self->search);
	if (kind < 0)
		return refuse("search %s: must be exhaustive, dpor, sleep, states, bounded, naive, "
			      "random, pct, pos, urw, slow or rotate", self->search);
	bool ordered = self->executions != 0 && kind < (int)PFS_SEARCH_RANDOM;
	if (ordered && self->jobs > 1)
		return refuse("--executions with --jobs: which are the first is known to one job "
			      "only; leave out one of them");
	if (kind == (int)PFS_SEARCH_STATES && self->jobs > 1)
		return refuse("--jobs %u: a search by states is one process's; leave it out",
			      (unsigned)self->jobs);
	if (kind == (int)PFS_SEARCH_STATES)
		self->jobs = 1;
	if (self->jobs == 0)
		self->jobs = ordered ? 1 : pfs_jobs_default();
	return 0;
}

static int explore(int argc, char **argv)
{
	struct arguments arguments = { .memory = "sc", .seed = 1, .preemptions = UINT64_MAX };
	int status = read_arguments(&arguments, argc, argv);
	if (status == 0)
		status = choose_search(&arguments);
	if (status == 0)
		status = open_session(&arguments);
	if (status != 0)
		return status;
	enum pfs_search_kind kind = (enum pfs_search_kind)pfs_search_kind_of(arguments.search);
	struct pfs_search_options options = { kind, arguments.seed,
					      arguments.executions, arguments.seconds,
					      (uint32_t)arguments.preemptions,
					      arguments.append_only, 0 };
	struct pfs_search_result *result = &session.result;
	const struct pfs_jobs_sums sums = { { &session.case_.reclaimed, &session.case_.reads,
					      &session.case_.fulls,
					      &session.machine->weaken.met }, 4 };
	const char *error = pfs_jobs_search(session.machine, &session.scenario, &options,
					    (uint32_t)arguments.jobs, &sums, result);
	if (error != NULL)
		return refuse("%s", error) - 1;
	if (result->refusal != NULL)
		return refuse("search %s can't do %s; try --search exhaustive", arguments.search,
			      result->refusal);
	bool fine = !result->failed;
	bool unchecked = fine && result->executions == result->incomplete;
	(void)printf("%s %s %s %s: %llu executions (%llu repeated a class, %llu incomplete), "
		     "%llu steps, %s%s\n",
		     arguments.policy, arguments.scenario, arguments.memory, arguments.search,
		     (unsigned long long)result->executions,
		     (unsigned long long)result->redundant,
		     (unsigned long long)result->incomplete, (unsigned long long)result->steps,
		     !fine ? "FAILED" : pfs_search_extent(&options, result),
		     !fine ? "" : unchecked ? ": nothing was checked" : ": no violation");
	if (result->states != 0)
		(void)printf("states: %llu\n", (unsigned long long)result->states);
	if (arguments.weaken != NULL)
		(void)printf("%s: %llu operations were weaker\n", arguments.weaken,
			     (unsigned long long)session.machine->weaken.met);
	(void)printf("pages given back %llu, reads confirmed %llu, answers full %llu\n",
		     (unsigned long long)session.case_.reclaimed,
		     (unsigned long long)session.case_.reads,
		     (unsigned long long)session.case_.fulls);
	if (result->executions == 0)
		return refuse("nothing was executed");
	if (unchecked) {
		(void)refuse("no execution ended within %u steps, nothing was checked; lower "
			     "--threads or --operations", session.machine->step_max);
		status = 1;
	} else if (!fine) {
		(void)printf("found: %s\n", result->message);
		print_shortened((uint32_t)pfs_case_reduce(&session.case_, session.machine,
							  &session.scenario, arguments.seed,
							  result));
		if (!arguments.quiet)
			pfs_search_show(session.machine, &session.scenario, result, stdout);
		status = arguments.save != NULL ? save(&arguments) : 1;
	}
	pfs_machine_destroy(session.machine);
	return status;
}

/* Of one policy and scenario: exhaustive, then rotate. Only `original` may fail, and must: it
 * adds pages that nobody needs. */
static bool check_one(struct arguments *arguments, const char *scenario)
{
	const enum pfs_search_kind kinds[] = { PFS_SEARCH_ALL, PFS_SEARCH_ROTATE };
	bool defect = strcmp(arguments->policy, "original") == 0 &&
		      strcmp(scenario, "four_pages") == 0;
	struct pfs_search_result *result = &session.result;
	uint64_t executions = 0, incomplete = 0;
	const char *extent = "";
	bool fine = true, complete = false;
	arguments->scenario = scenario;
	if (open_session(arguments) != 0)
		return false;
	for (size_t i = 0; i < 2 && fine && !complete; i++) {
		struct pfs_search_options options = { kinds[i], arguments->seed,
						      arguments->executions, 0, 0, true, 0 };
		fine = pfs_search(session.machine, &session.scenario, &options, result);
		executions += result->executions;
		incomplete += result->incomplete;
		complete = result->complete;
		extent = complete ? pfs_search_extent(&options, result) : "";
	}
	bool good = fine != defect && incomplete == 0 && executions != 0;
	(void)printf("%-14s %-12s %-5s %s%9llu executions, %s%s%s%s%s\n", arguments->policy,
		     scenario, arguments->memory, arguments->owner_fences ? "owner_fences " : "",
		     (unsigned long long)executions,
		     fine ? extent : "", fine && complete ? ": " : "",
		     fine ? "no violation" : result->message,
		     incomplete != 0 ? "; some met the bound on steps" : "",
		     good && defect ? " (its known defect)" : good ? "" : "  <-- NOT EXPECTED");
	(void)fflush(stdout); /* the rest takes its time */
	if (!good && !fine) {
		(void)pfs_search_shrink(session.machine, &session.scenario, result);
		pfs_search_show(session.machine, &session.scenario, result, stdout);
	}
	pfs_machine_destroy(session.machine);
	return good;
}

static int check(int argc, char **argv)
{
	struct arguments arguments = { .memory = "sc", .search = "exhaustive", .seed = 1,
				       .executions = 5000 };
	int status = read_arguments(&arguments, argc, argv);
	if (status != 0)
		return status;
	const char *only = arguments.policy, *scenario, *summary;
	const struct pfs_variant *variant;
	unsigned passed = 0, failed = 0;
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		if (only != NULL && strcmp(only, variant->name) != 0)
			continue;
		arguments.policy = variant->name;
		for (size_t k = 0; (scenario = pfs_case_name(k, &summary)) != NULL; k++) {
			if (pfs_case_init(&session.case_, scenario, variant, &session.scenario) ||
			    pfs_case_is_apart(&session.case_))
				continue; /* not for this policy, or not for this command */
			for (int fences = 0; fences <= pfs_case_heeds_fences(variant); fences++) {
				arguments.owner_fences = fences != 0;
				bool good = check_one(&arguments, scenario);
				passed += good;
				failed += !good;
			}
		}
	}
	(void)printf("%u passed, %u failed\n", passed, failed);
	if (passed + failed == 0)
		return refuse("policy %s: no scenario for it; see pfs-sim list", only);
	return failed != 0;
}

static int weaken_all(int argc, char **argv)
{
	struct arguments arguments = { .executions = 1000, .seed = 1 };
	int status = read_arguments(&arguments, argc, argv);
	const struct pfs_weaken_options options = { arguments.labels, arguments.out,
		arguments.executions, arguments.seed, arguments.noted };
	return status != 0 ? status : pfs_command_weaken(&options);
}

static int replay(const char *path)
{
	static char line[65536], options[1024];
	char *words[64];
	int count = 0;
	struct arguments arguments = { .memory = "sc", .search = "exhaustive" };
	struct pfs_search_result *result = &session.result;
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return refuse("%s: %s", path, strerror(errno));
	bool good = fgets(line, sizeof(line), file) != NULL && strcmp(line, "pfs-sim 1\n") == 0 &&
		    fgets(options, sizeof(options), file) != NULL &&
		    fgets(line, sizeof(line), file) != NULL &&
		    pfs_segments_parse(line, result->segments, &result->segment_count);
	(void)fclose(file);
	if (!good)
		return refuse("%s: no replay file; pfs-sim explore --save writes one", path);
	for (char *word = strtok(options, " \n"); word != NULL && count < 64;
	     word = strtok(NULL, " \n"))
		words[count++] = word;
	int status = read_arguments(&arguments, count, words);
	if (status == 0)
		status = open_session(&arguments);
	if (status != 0)
		return status;
	pfs_search_show(session.machine, &session.scenario, result, stdout);
	enum pfs_machine_end end = session.machine->end;
	pfs_machine_destroy(session.machine);
	return end == PFS_END_DONE ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "explore") == 0)
		return explore(argc - 2, argv + 2);
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return pfs_timed_in_place(pfs_command_run, argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "soak") == 0)
		return pfs_command_soak(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "progress") == 0)
		return pfs_command_progress(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "calibrate") == 0)
		return pfs_command_calibrate(argv + 1);
	if (argc >= 2 && strcmp(argv[1], "curves") == 0)
		return pfs_command_curves(argv + 2);
	if (argc >= 2 && strcmp(argv[1], "speed") == 0)
		return pfs_command_speed(argv + 2);
	if (argc >= 2 && strcmp(argv[1], "check") == 0)
		return check(argc - 2, argv + 2);
	if (argc == 3 && strcmp(argv[1], "replay") == 0)
		return replay(argv[2]);
	if (argc >= 2 && strcmp(argv[1], "weaken") == 0)
		return weaken_all(argc - 2, argv + 2);
	if (argc >= 2 && argc <= 3 && strcmp(argv[1], "litmus") == 0)
		return pfs_command_litmus(argc == 3 ? argv[2] : NULL);
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return pfs_command_list();
	if (argc == 3 && strcmp(argv[1], "list") == 0 && strcmp(argv[2], "--traits") == 0)
		return pfs_command_list_traits();
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("pfs-sim 0.1.0\n");
		return 0;
	}
	(void)fputs(pfs_sim_usage, help ? stdout : stderr);
	return help ? 0 : 2;
}
