/*
 * pfs_sim.c - the command: explore schedules of a scenario, replay one that failed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/command_line.h"
#include "base/now.h"
#include "base/output.h"
#include "sim/command/calibrate_command.h"
#include "sim/cases/cases.h"
#include "sim/command/command_list.h"
#include "sim/command/command_weaken.h"
#include "sim/command/command_progress.h"
#include "sim/command/command_run.h"
#include "sim/command/command_soak.h"
#include "check/machine/actors.h"
#include "check/search/jobs.h"
#include "sim/cases/reduce.h"
#include "sim/command/search_arguments.h"
#include "sim/timed/timed.h"
#include "sim/timed/timed_curves.h"
#include "sim/command/usage.h"

static const char program[] = "pfs-sim";

#define refuse(...) pfs_command_refuse(program, PFS_EXIT_WRONG_USE, __VA_ARGS__)

struct session {
	struct pfs_case case_;
	struct pfs_scenario scenario;
	struct pfs_machine *machine;
	struct pfs_search_result result;
};

static struct session session;

/* 0, or 2 after a line on stderr. place may be NULL. */
static int weaken(const char *place)
{
	static char text[256]; /* kept by the machine */
	if (place == NULL)
		return 0;
	(void)snprintf(text, sizeof(text), "%s", place);
	if (pfs_weaken_parse(&session.machine->weaken, text))
		return 0;
	return refuse("--weaken '%.100s': give FILE:LINE, or the text of an object", place);
}

/* 0, or 2 after a line on stderr. */
static int open_session(const struct pfs_search_arguments *arguments)
{
	if (arguments->policy == NULL || arguments->scenario == NULL)
		return refuse("explore needs --policy and --scenario; pfs-sim list shows them");
	const struct pfs_variant *variant = pfs_variant_find(arguments->policy);
	if (variant == NULL)
		return refuse("--policy '%.80s': no such policy; pfs-sim list shows them",
			      arguments->policy);
	const char *why = pfs_case_init(&session.case_, arguments->scenario, variant,
					&session.scenario);
	if (why != NULL)
		return refuse("--scenario '%.80s' of --policy '%.80s': %s; see pfs-sim list",
			      arguments->scenario, arguments->policy, why);
	const struct pfs_memory_model *model = pfs_memory_model_of(arguments->memory);
	if (model == NULL)
		return refuse("--memory '%.80s': choose from" PFS_MEMORY_NAMES, arguments->memory);
	if (arguments->threads > session.case_.thread_max)
		return refuse("--threads %llu: scenario %s is for at most %u",
			      (unsigned long long)arguments->threads, arguments->scenario,
			      session.case_.thread_max);
	if (arguments->threads != 0)
		session.case_.thread_count = (uint32_t)arguments->threads;
	if (arguments->operations != 0)
		session.case_.operations = (uint32_t)arguments->operations;
	session.case_.full_flags = arguments->full_flags;
	session.case_.real_time = arguments->real_time;
	session.case_.owner_fences = arguments->owner_fences;
	pfs_case_layout(&session.case_, arguments->layout, arguments->bare_words);
	session.machine = pfs_machine_create(model);
	if (session.machine == NULL)
		return refuse("no memory for the machine");
	session.machine->setup.step_max = 20000;
	session.machine->setup.watch = !arguments->no_races;
	return weaken(arguments->weaken);
}

static const char *layout_flag(const struct pfs_search_arguments *arguments)
{
	switch (arguments->layout) {
	case PFS_LAYOUT_SIDE_BY_SIDE: return " --layout side-by-side";
	case PFS_LAYOUT_BARE:
		return arguments->bare_words ? " --layout bare-words" : " --layout bare";
	case PFS_LAYOUT_OWN_WORD: return " --layout own-word";
	default: return "";
	}
}

/* Everything that replay needs, one line each. */
static int save(const struct pfs_search_arguments *arguments)
{
	static struct pfs_output output;
	if (!pfs_output_begin(&output, arguments->save))
		return refuse("--save '%s': %s; name a file that you may write", arguments->save,
			      strerror(errno));
	FILE *file = output.file;
	(void)fprintf(file,
		      "pfs-sim 1\n--policy %s --scenario %s --memory %s --threads %u "
		      "--operations %u%s%s%s%s%s%s%s\n",
		      arguments->policy, arguments->scenario, arguments->memory,
		      session.case_.thread_count, session.case_.operations,
		      arguments->full_flags ? "" : " --full-flags off", layout_flag(arguments),
		      arguments->owner_fences ? " --owner-fences" : "",
		      arguments->real_time ? " --real-time" : "",
		      arguments->no_races ? " --no-races" : "",
		      arguments->weaken != NULL ? " --weaken " : "",
		      arguments->weaken != NULL ? arguments->weaken : "");
	for (uint32_t i = 0; i < session.result.segment_count; i++)
		(void)fprintf(file, "%ux%u ", session.result.segments[i].actor,
			      session.result.segments[i].steps);
	(void)fputc('\n', file);
	if (!pfs_output_end(&output))
		(void)refuse("--save '%s': %s; free some space, or name another file",
			     arguments->save, strerror(errno));
	return 1;
}

/* A segment may be another choice of the same thread: no switch. */
static void print_shortened(uint32_t replays)
{
	const struct pfs_search_result *result = &session.result;
	uint32_t switches = 0, old = 0;
	struct pfs_actor last = PFS_NOBODY;
	const struct pfs_machine *machine = session.machine;
	for (uint32_t i = 0; i < result->segment_count; i++) {
		struct pfs_actor actor = pfs_actor_of(machine, result->segments[i].actor);
		switches += i != 0 && (actor.thread != last.thread || actor.kind != last.kind);
		old += actor.choice != 0 ? result->segments[i].steps : 0;
		last = actor;
	}
	(void)printf("shortened to %u switches", switches);
	if (machine->model->keeps_old)
		(void)printf(", %u choices of what is not the newest", old);
	(void)printf(", in %u replays\n", replays);
}

/* A bound on preemptions implies the bounded search. A bound on executions implies one process if
 * the search is exhaustive, because the first executions depend on the order. 0, or 2 after a line
 * on stderr. */
static int choose_search(struct pfs_search_arguments *self)
{
	bool bound = self->preemptions != UINT64_MAX;
	if (self->search == NULL)
		self->search = bound ? "bounded" : "exhaustive";
	bool is_bounded = strcmp(self->search, "bounded") == 0;
	if (bound && !is_bounded && strcmp(self->search, "fixpoint") != 0)
		return refuse("--preemptions is for --search bounded and fixpoint; leave out "
			      "--search %s",
			      self->search);
	if (!bound)
		self->preemptions = is_bounded ? 2 : PFS_PREEMPTIONS_ANY;
	int kind = pfs_search_kind_of(self->search);
	if (kind < 0)
		return refuse("--search '%.40s': choose from" PFS_SEARCH_NAMES_OF(PFS_SEARCH_WORD),
			      self->search);
	bool ordered = self->executions != 0 && !pfs_search_is_random((enum pfs_search_kind)kind);
	if (ordered && self->jobs > 1)
		return refuse("--executions with --jobs: only one job can count the first "
			      "executions; leave out one of them");
	bool by_states = pfs_search_is_by_states((enum pfs_search_kind)kind);
	if (by_states && self->jobs > 1)
		return refuse("--jobs %u: a search by states runs in one process; leave it out",
			      (unsigned)self->jobs);
	if (by_states)
		self->jobs = 1;
	if (self->jobs == 0)
		self->jobs = ordered ? 1 : pfs_jobs_default();
	return 0;
}

static void tell_fixpoint(const struct pfs_search_result *result, double seconds)
{
	(void)printf("%s: %llu states, %.1f s, %.0f MiB; the last is %u choices away",
		     result->failed      ? "met"
		     : !result->complete ? "cut"
		     : result->bounded   ? "all within the bound"
					 : "all states",
		     (unsigned long long)result->states, seconds,
		     (double)result->memory_bytes / (1 << 20), result->depth);
	if (!result->complete && !result->failed)
		(void)printf("; from %llu the search has not gone on",
			     (unsigned long long)result->frontier);
	(void)putchar('\n');
}

static struct pfs_search_options options_of(const struct pfs_search_arguments *arguments)
{
	return (struct pfs_search_options){ (enum pfs_search_kind)pfs_search_kind_of(
						    arguments->search),
					    arguments->seed,
					    arguments->executions,
					    (double)arguments->seconds,
					    (uint32_t)arguments->preemptions,
					    arguments->append_only,
					    0,
					    arguments->memory_mib << 20 };
}

static int explore(int argc, char **argv)
{
	/* clang-format off */
	struct pfs_search_arguments arguments = { .memory = "sc", .seed = 1, .seconds = 60,
						  .preemptions = UINT64_MAX, .memory_mib = 4096 };
	/* clang-format on */
	int status = pfs_explore_arguments(&arguments, argc, argv);
	if (status != PFS_GO_ON)
		return status;
	status = choose_search(&arguments);
	if (status == 0)
		status = open_session(&arguments);
	if (status != 0)
		return status;
	struct pfs_search_options options = options_of(&arguments);
	double began = pfs_now_seconds(CLOCK_MONOTONIC);
	struct pfs_search_result *result = &session.result;
	const struct pfs_jobs_sums sums = { { &session.case_.reclaimed, &session.case_.reads,
					      &session.case_.fulls, &session.machine->weaken.met },
					    4 };
	const char *error = pfs_jobs_search(session.machine, &session.scenario, &options,
					    (uint32_t)arguments.jobs, &sums, result);
	if (error != NULL)
		return refuse("%s", error) - 1;
	if (result->refusal != NULL)
		return refuse("--search %s does not support %s; try --search exhaustive",
			      arguments.search, result->refusal);
	bool fine = !result->failed;
	bool unchecked = fine && result->executions == result->incomplete;
	(void)printf("%s %s %s %s: %llu executions (%llu repeated a class, %llu incomplete), "
		     "%llu steps, %s%s\n",
		     arguments.policy, arguments.scenario, arguments.memory, arguments.search,
		     (unsigned long long)result->executions, (unsigned long long)result->redundant,
		     (unsigned long long)result->incomplete, (unsigned long long)result->steps,
		     !fine ? "FAILED" : pfs_search_extent(&options, result),
		     !fine       ? ""
		     : unchecked ? ": nothing was checked"
				 : ": no violation");
	if (result->states != 0 && options.kind == PFS_SEARCH_FIXPOINT)
		tell_fixpoint(result, pfs_now_seconds(CLOCK_MONOTONIC) - began);
	else if (result->states != 0)
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
			     "--threads or --operations",
			     session.machine->setup.step_max);
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

/* Searches one policy and scenario exhaustively, then by rotate. Only `original` may fail, and
 * must: it adds needless pages. */
static bool check_one(struct pfs_search_arguments *arguments, const char *scenario)
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
		struct pfs_search_options options = {
			kinds[i], arguments->seed, arguments->executions, 0, 0, true, 0, 0
		};
		fine = pfs_search(session.machine, &session.scenario, &options, result);
		executions += result->executions;
		incomplete += result->incomplete;
		complete = result->complete;
		extent = complete ? pfs_search_extent(&options, result) : "";
	}
	bool good = fine != defect && incomplete == 0 && executions != 0;
	(void)printf("%-14s %-12s %-5s %s%9llu executions, %s%s%s%s%s\n", arguments->policy,
		     scenario, arguments->memory, arguments->owner_fences ? "owner_fences " : "",
		     (unsigned long long)executions, fine ? extent : "",
		     fine && complete ? ": " : "", fine ? "no violation" : result->message,
		     incomplete != 0 ? "; some met the bound on steps" : "",
		     good && defect ? " (its known defect)"
		     : good         ? ""
				    : "  <-- NOT EXPECTED");
	(void)fflush(stdout); /* the rest takes a while */
	if (!good && !fine) {
		(void)pfs_search_shrink(session.machine, &session.scenario, result);
		pfs_search_show(session.machine, &session.scenario, result, stdout);
	}
	pfs_machine_destroy(session.machine);
	return good;
}

static int check(int argc, char **argv)
{
	struct pfs_search_arguments arguments = {
		.memory = "sc", .search = "exhaustive", .seed = 1, .executions = 5000
	};
	int status = pfs_check_arguments(&arguments, argc, argv);
	if (status != PFS_GO_ON)
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
		return refuse("--policy '%.80s': no scenario for it; see pfs-sim list", only);
	return failed != 0;
}

static int weaken_all(int argc, char **argv)
{
	struct pfs_search_arguments arguments = { .executions = 1000, .seed = 1 };
	int status = pfs_weaken_arguments(&arguments, argc, argv);
	const struct pfs_weaken_options options = { arguments.labels, arguments.out,
						    arguments.executions, arguments.seed,
						    arguments.noted };
	return status != PFS_GO_ON ? status : pfs_command_weaken(&options);
}

/* A schedule as explore --save wrote it. */
static int play_again(const char *path)
{
	static char line[65536], options[1024];
	char *words[64];
	int count = 1;
	struct pfs_search_arguments arguments = { .memory = "sc", .search = "exhaustive" };
	struct pfs_search_result *result = &session.result;
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return refuse("replay '%s': %s; name a file of pfs-sim explore --save", path,
			      strerror(errno));
	bool good = fgets(line, sizeof(line), file) != NULL && strcmp(line, "pfs-sim 1\n") == 0 &&
		    fgets(options, sizeof(options), file) != NULL &&
		    fgets(line, sizeof(line), file) != NULL &&
		    pfs_segments_parse(line, result->segments, &result->segment_count);
	(void)fclose(file);
	if (!good)
		return refuse("replay '%s': no replay file; pfs-sim explore --save writes one",
			      path);
	words[0] = options; /* in place of a command's name */
	for (char *word = strtok(options, " \n"); word != NULL && count < 63;
	     word = strtok(NULL, " \n"))
		words[count++] = word;
	words[count] = NULL;
	int status = pfs_explore_arguments(&arguments, count, words);
	if (status == PFS_GO_ON)
		status = open_session(&arguments);
	if (status != 0)
		return status;
	pfs_search_show(session.machine, &session.scenario, result, stdout);
	enum pfs_machine_end end = session.machine->run.end;
	pfs_machine_destroy(session.machine);
	return end == PFS_END_DONE ? 0 : 1;
}

static int replay(int argc, char **argv)
{
	static const struct pfs_command_line line = {
		.program = "pfs-sim replay",
		.words = "FILE",
		.words_min = 1,
		.words_max = 1,
		.about = "runs the schedule that pfs-sim explore --save wrote, and shows it",
		.after = "exit 0: it did not fail. 1: it did. 2: bad usage.\n",
	};
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);
	return status == PFS_GO_ON ? play_again(argv[next]) : status;
}

static int run(int argc, char **argv)
{
	return pfs_timed_in_place(pfs_command_run, argc, argv);
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "explore", explore },
	{ "check", check },
	{ "progress", pfs_command_progress },
	{ "replay", replay },
	{ "run", run },
	{ "soak", pfs_command_soak },
	{ "calibrate", pfs_command_calibrate },
	{ "curves", pfs_command_curves },
	{ "speed", pfs_command_speed },
	{ "list", pfs_command_list },
	{ "weaken", weaken_all },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "", *names[COMMANDS];
	if (pfs_command_is_version(word))
		return pfs_command_version(program);
	if (pfs_command_is_help(word)) {
		(void)fputs(pfs_sim_usage, stdout);
		return pfs_command_end(program, 0);
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		names[i] = commands[i].name;
		if (strcmp(word, names[i]) == 0)
			return pfs_command_end(program, commands[i].run(argc - 1, argv + 1));
	}
	return pfs_command_unknown(program, word, names, COMMANDS);
}
