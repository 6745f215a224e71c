/*
 * pfs_check.c - the command: loads a program, searches its scenarios, shows what failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/compile.h"
#include "check/heap.h"
#include "check/history.h"
#include "check/idle.h"
#include "check/library.h"
#include "check/names.h"
#include "check/outcomes.h"
#include "check/places.h"
#include "check/scenario.h"
#include "check/signals.h"
#include "check/user.h"
#include "command/command_line.h"
#include "command/output.h"
#include "sim/machine/model.h"

#define SMALL_EXECUTIONS 4000u /* of a search for a shorter schedule */
#define SMALL_SECONDS 2.0
#define SMALL_PREEMPTIONS 2u
#define WORDS_MOST 1000 /* sources and flags */

/* Of each thread; and what a frame of the program may jump over. */
#define STACK_BYTES ((size_t)1 << 20)
#define GUARD_BYTES ((size_t)16 << 20)

static const char program[] = "pfs-check";

struct arguments {
	const char *program, *scenario, *memory, *search, *calls, *save, *schedule;
	uint64_t preemptions, spurious, looks, executions, steps, seed, slots;
	double seconds, patience;
	bool no_races, quiet, list, example;
	char **words; /* the program, or its sources and flags */
	int word_count;
};

/* Of all searches of a scenario together. */
struct sums {
	uint64_t executions, redundant, incomplete, steps;
	bool complete, stopped;
	double deadline;
};

static struct pfs_search_result result; /* too large for a stack */

static int refuse(const char *what, const char *why)
{
	return pfs_command_refuse(program, PFS_EXIT_WRONG_USE, "%s: %s", what, why);
}

static double seconds_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- arguments ---- */

static enum pfs_status read_fault(void *context, const struct pfs_option *option,
				  const char *text, struct pfs_message *message)
{
	unsigned thread, number;
	int length = 0;
	(void)context;
	if (sscanf(text, "%u.%u%n", &thread, &number, &length) != 2 || text[length] != '\0' ||
	    thread >= PFS_USER_THREADS_MAX || pfs_user.fault_count == PFS_USER_FAULTS_MAX) {
		(void)snprintf(message->text, sizeof(message->text), "--%s '%.40s': give a thread "
			       "and a number, such as 0.1", option->name, text);
		return PFS_BAD_CONFIG;
	}
	pfs_user.faults[pfs_user.fault_count++] = (struct pfs_user_fault){ thread, number };
	return PFS_OK;
}

static enum pfs_status read_rule(void *context, const struct pfs_option *option,
				 const char *text, struct pfs_message *message)
{
	(void)context;
	if (pfs_places_rule(text, strcmp(option->name, "own") == 0))
		return PFS_OK;
	(void)snprintf(message->text, sizeof(message->text), "more than %u of --own and --foreign",
		       PFS_PLACES_RULES_MAX);
	return PFS_BAD_CONFIG;
}

/* PFS_GO_ON, or the exit status. */
static int read_arguments(struct arguments *self, int argc, char **argv)
{
	uint64_t preemptions = UINT64_MAX;
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("scenario", "NAME", &self->scenario, "one of the program's "
				"scenarios; default: all"),
		PFS_TEXT_OPTION("memory", "M", &self->memory, "sc, tso (store buffers) or views "
				"(C11's orders); default views"),
		PFS_TEXT_OPTION("search", "K", &self->search, "exhaustive, dpor, sleep, bounded, "
				"naive, random, pct, pos, urw, slow or rotate, as pfs-sim; default "
				"exhaustive"),
		PFS_TEXT_OPTION("calls", "K", &self->calls, "of a specification: a call comes "
				"before another by the clock, or, with views, only if that is "
				"known to who makes the other; default clock"),
		PFS_NUMBER_OPTION("preemptions", "N", &preemptions, 0, UINT32_MAX, "every schedule "
				  "of up to N preemptions (--search bounded)"),
		PFS_NUMBER_OPTION("spurious", "N", &self->spurious, 0, 4, "weak compare-and-swaps "
				  "and waits of condition variables that end by themselves, in "
				  "each execution up to N, 0 to 4; default 1"),
		PFS_NUMBER_OPTION("looks", "N", &self->looks, 0, UINT64_MAX, "a loop that has "
				  "looked N times and found the same waits until that changes; 0: "
				  "never; default 3"),
		PFS_NUMBER_OPTION("executions", "N", &self->executions, 0, UINT64_MAX, "stop after "
				  "so many; default 0: no bound"),
		PFS_REAL_OPTION("seconds", "S", &self->seconds, 0, 1e9, "stop after so long; "
				"default 60"),
		PFS_REAL_OPTION("patience", "S", &self->patience, 0, 1e6, "seconds of CPU time "
				"after which a thread that comes to no operation fails, and of "
				"sleep in a call; 0: for ever; default 10"),
		PFS_NUMBER_OPTION("steps", "N", &self->steps, 0, UINT64_MAX, "of one execution, "
				  "after which it is given up; default 5000"),
		PFS_NUMBER_OPTION("seed", "N", &self->seed, 0, UINT64_MAX, "of searches at random; "
				  "default 1"),
		PFS_SWITCH_OPTION("no-races", &self->no_races, "do not look for data races"),
		PFS_READ_OPTION("own", "TEXT", read_rule, "files with TEXT in their path are "
				"shown, although they are in /usr"),
		PFS_READ_OPTION("foreign", "TEXT", read_rule, "they are not, but who called them"),
		PFS_TEXT_OPTION("save", "FILE", &self->save, "write a failing schedule there"),
		PFS_TEXT_OPTION("schedule", "FILE", &self->schedule, "run one that was saved"),
		PFS_SWITCH_OPTION("list", &self->list, "name the scenarios"),
		PFS_SWITCH_OPTION("example", &self->example, "print a program to begin with, "
				  "in C"),
		PFS_SWITCH_OPTION("quiet", &self->quiet, "do not show a failing schedule"),
		PFS_NUMBER_OPTION("slots", "N", &self->slots, 0, UINT64_MAX, NULL), /* of files */
		PFS_READ_OPTION("fault", "T.N", read_fault, NULL),
	};
	const struct pfs_command_line line = {
		.program = program, .words = "PROGRAM.so | SOURCE... [-- FLAG...]",
		.words_max = WORDS_MOST, .options = options,
		.option_count = sizeof(options) / sizeof(options[0]),
		.about = "searches the schedules of a program of one's own for one that fails",
		.after = "Sources are compiled first, by $CC or $CXX, with FLAGs after those that "
			 "pfs-check needs.\n"
			 "exit 0: no schedule failed. 1: one did, as printed; or none ended. 2: "
			 "bad usage, or a\nprogram that cannot be checked.\n",
	};
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);
	if (status == PFS_GO_ON && next < argc) {
		self->program = argv[next];
		self->words = &argv[next];
		self->word_count = argc - next;
	}
	if (preemptions != UINT64_MAX) {
		self->preemptions = preemptions;
		self->search = "bounded";
	}
	return status;
}

/* ---- a schedule in a file ---- */

static int save(const struct arguments *arguments, const char *scenario)
{
	static struct pfs_output output;
	if (!pfs_output_begin(&output, arguments->save))
		return refuse(arguments->save, strerror(errno));
	FILE *file = output.file;
	(void)fprintf(file, "pfs-check 1\n--scenario %s --memory %s --slots %u --looks %u",
		      scenario, arguments->memory, pfs_user.slots, pfs_user.looks_max);
	if (arguments->no_races)
		(void)fprintf(file, " --no-races");
	if (strcmp(arguments->calls, "known") == 0)
		(void)fprintf(file, " --calls known");
	for (uint32_t i = 0; i < pfs_user.fault_count; i++)
		(void)fprintf(file, " --fault %u.%u", pfs_user.faults[i].thread,
			      pfs_user.faults[i].number);
	(void)fprintf(file, "\n");
	for (uint32_t i = 0; i < result.segment_count; i++)
		(void)fprintf(file, "%ux%u ", result.segments[i].actor, result.segments[i].steps);
	(void)fprintf(file, "\n");
	if (!pfs_output_end(&output))
		(void)refuse(arguments->save, strerror(errno));
	return 1;
}

#define WORDS_MAX 32

/* Reads what save wrote, into arguments and the result. */
static bool load(struct arguments *arguments)
{
	static char head[32], options[4096], steps[65536];
	char *words[WORDS_MAX + 2] = { head }, *rest = options;
	int count = 1;
	FILE *file = fopen(arguments->schedule, "r");
	if (file == NULL)
		return false;
	bool fine = fgets(head, sizeof(head), file) != NULL &&
		    strcmp(head, "pfs-check 1\n") == 0 &&
		    fgets(options, sizeof(options), file) != NULL &&
		    fgets(steps, sizeof(steps), file) != NULL;
	(void)fclose(file);
	for (char *word; fine && (word = strsep(&rest, " \n")) != NULL;) {
		if (*word != '\0' && count <= (int)WORDS_MAX)
			words[count++] = word;
	}
	return fine && read_arguments(arguments, count, words) == PFS_GO_ON &&
	       pfs_segments_parse(steps, result.segments, &result.segment_count);
}

static int replay(const struct pfs_scenario *scenario, struct pfs_machine *machine)
{
	pfs_search_show(machine, scenario, &result, stdout);
	pfs_history_print(stdout);
	return machine->end == PFS_END_FAILED || machine->end == PFS_END_DEADLOCK;
}

/* ---- searches ---- */

/* One search, with the faults that are set. false: it failed, or needs another thread. */
static bool search(const struct arguments *arguments, struct pfs_machine *machine,
		   const struct pfs_scenario *scenario, struct sums *sums)
{
	struct pfs_search_options options = {
		.kind = (enum pfs_search_kind)pfs_search_kind_of(arguments->search),
		.seed = arguments->seed, .preemption_max = (uint32_t)arguments->preemptions
	};
	double left = sums->deadline - seconds_now();
	sums->stopped |= (arguments->seconds > 0 && left <= 0) ||
			 (arguments->executions != 0 && sums->executions >= arguments->executions);
	if (sums->stopped)
		return true;
	if (arguments->executions != 0)
		options.execution_max = arguments->executions - sums->executions;
	if (arguments->seconds > 0)
		options.seconds_max = left;
	bool fine = pfs_search(machine, scenario, &options, &result);
	sums->executions += result.executions;
	sums->redundant += result.redundant;
	sums->incomplete += result.incomplete;
	sums->steps += result.steps;
	sums->complete &= result.complete;
	sums->stopped |= result.stopped;
	return fine;
}

/* All sets of up to `more` further faults, each behind those that are set. */
static bool search_faults(const struct arguments *arguments, struct pfs_machine *machine,
			  const struct pfs_scenario *scenario, uint64_t more, struct sums *sums)
{
	if (!search(arguments, machine, scenario, sums))
		return false;
	if (more == 0 || sums->stopped)
		return true;
	struct pfs_user_fault last = { 0, 0 };
	uint32_t at = pfs_user.fault_count;
	if (at != 0)
		last = pfs_user.faults[at - 1];
	for (uint32_t thread = last.thread; thread < PFS_USER_THREADS_MAX; thread++) {
		uint32_t first = at != 0 && thread == last.thread ? last.number + 1 : 0;
		for (uint32_t n = first; n < pfs_user.may_fail[thread]; n++) {
			pfs_user.faults[at] = (struct pfs_user_fault){ thread, n };
			pfs_user.fault_count = at + 1;
			if (!search_faults(arguments, machine, scenario, more - 1, sums))
				return false;
			pfs_user.fault_count = at;
			if (sums->stopped)
				return true;
		}
	}
	return true;
}

/* The failing schedule shorter, and with fewer preemptions if that is soon found. false: it did
 * not fail a second time. */
static bool shorten(struct pfs_machine *machine, const struct pfs_scenario *scenario)
{
	static struct pfs_search_result other;
	struct pfs_given given;
	pfs_given_init(&given, result.segments, result.segment_count);
	enum pfs_machine_end end = pfs_scenario_run(scenario, machine, &given.scheduler);
	if (!pfs_search_is_same(&result, end, machine->message))
		return false;
	(void)pfs_search_shrink(machine, scenario, &result);
	for (uint32_t bound = 0; bound <= SMALL_PREEMPTIONS; bound++) {
		const struct pfs_search_options options = { .kind = PFS_SEARCH_BOUNDED,
							    .execution_max = SMALL_EXECUTIONS,
							    .seconds_max = SMALL_SECONDS,
							    .preemption_max = bound };
		if (pfs_search(machine, scenario, &options, &other) ||
		    !pfs_search_is_same(&result, other.end, other.message))
			continue;
		(void)pfs_search_shrink(machine, scenario, &other);
		if (other.segment_count < result.segment_count)
			result = other;
		break;
	}
	return true;
}

static void report(const struct arguments *arguments, const struct pfs_scenario *scenario,
		   const struct sums *sums)
{
	const struct pfs_search_options options = {
		.kind = (enum pfs_search_kind)pfs_search_kind_of(arguments->search),
		.preemption_max = (uint32_t)arguments->preemptions
	};
	struct pfs_search_result all = { .complete = sums->complete && !sums->stopped,
					 .bounded = result.bounded };
	bool may_fail = false;
	for (uint32_t thread = 0; thread < PFS_USER_THREADS_MAX; thread++)
		may_fail |= pfs_user.may_fail[thread] != 0;
	(void)printf("%s %s %s: %llu executions (%llu repeated a class, %llu incomplete), "
		     "%llu steps, %s%s\n",
		     scenario->name, arguments->memory, arguments->search,
		     (unsigned long long)sums->executions, (unsigned long long)sums->redundant,
		     (unsigned long long)sums->incomplete, (unsigned long long)sums->steps,
		     result.failed ? "FAILED" : pfs_search_extent(&options, &all),
		     result.failed ? "" : ": no violation");
	if (may_fail)
		(void)printf("  with up to %llu weak compare-and-swaps or waits in an execution "
			     "that end by themselves (--spurious)\n",
			     (unsigned long long)arguments->spurious);
	if (arguments->no_races)
		(void)printf("  plain accesses were taken to be ordered: of a program that has a "
			     "data race, some\n  executions are not told apart (--no-races)\n");
	if (pfs_user.waits != 0)
		(void)printf("  loops that found the same %u times waited for a change (--looks)\n",
			     pfs_user.looks_max);
}

/* Of a search for all executions that did not come to its end: what to do. */
static void advise(const struct arguments *arguments, const struct sums *sums)
{
	if (strcmp(arguments->search, "exhaustive") != 0)
		return;
	if (sums->stopped)
		(void)printf("  stopped at --seconds or --executions: take more of them, a smaller "
			     "scenario, or --preemptions 2\n");
	else if (sums->incomplete != 0)
		(void)printf("  executions that were given up had more than --steps: a loop that "
			     "does not end?\n");
}

static int show_failure(const struct arguments *arguments, struct pfs_machine *machine,
			const struct pfs_scenario *scenario)
{
	(void)printf("found: %s\n", result.message);
	if (!shorten(machine, scenario))
		return refuse(scenario->name, "the same schedule did not fail again: the program "
			      "does what does not follow from its schedule, as by an address or "
			      "a state that is outside of it");
	if (!arguments->quiet) {
		pfs_search_show(machine, scenario, &result, stdout);
		pfs_history_print(stdout);
	}
	if (!pfs_library_has_lines())
		(void)refuse(arguments->program, "no line is known of it: compile it with -g");
	else if (!pfs_places_are_known())
		(void)refuse("addr2line", "is not in the PATH, and tells the lines: install "
			     "binutils");
	for (uint32_t i = 0; i < pfs_user.fault_count; i++)
		(void)printf("by itself: number %u of thread %u (--fault %u.%u)\n",
			     pfs_user.faults[i].number, pfs_user.faults[i].thread,
			     pfs_user.faults[i].thread, pfs_user.faults[i].number);
	return arguments->save != NULL ? save(arguments, scenario->name) : 1;
}

/* The exit status of one scenario. */
static int check(const struct arguments *arguments, struct pfs_machine *machine, uint32_t at)
{
	const struct pfs_scenario scenario = pfs_check_scenario_of(at);
	pfs_user.slots = (uint32_t)arguments->slots;
	if (arguments->schedule != NULL)
		return replay(&scenario, machine);
	for (;;) {
		struct sums sums = { .complete = true,
				     .deadline = seconds_now() + arguments->seconds };
		pfs_user.needs_slot = false;
		pfs_user.fault_count = 0;
		pfs_user.waits = 0;
		pfs_outcomes_reset();
		memset(pfs_user.may_fail, 0, sizeof(pfs_user.may_fail));
		bool fine = search_faults(arguments, machine, &scenario, arguments->spurious,
					  &sums);
		if (!fine && pfs_user.needs_slot && pfs_user.slots < PFS_USER_THREADS_MAX) {
			pfs_user.slots++;
			continue;
		}
		if (result.refusal != NULL)
			return refuse(arguments->search, result.refusal);
		report(arguments, &scenario, &sums);
		pfs_outcomes_print(stdout);
		if (fine)
			advise(arguments, &sums);
		if (!fine)
			return show_failure(arguments, machine, &scenario);
		return sums.executions == sums.incomplete;
	}
}

/* All scenarios, or the one that was named: the worst status. */
static int check_all(const struct arguments *arguments, struct pfs_machine *machine)
{
	int status = 0, met = 0;
	for (uint32_t at = 0; at < pfs_check_scenario_count(); at++) {
		const char *name = pfs_check_scenario_name(at);
		if (arguments->list) {
			(void)printf("%s\n", name);
			met++;
			continue;
		}
		if (arguments->scenario != NULL && strcmp(arguments->scenario, name) != 0)
			continue;
		int own = check(arguments, machine, at);
		status = own > status ? own : status;
		met++;
	}
	if (met == 0)
		return refuse(arguments->scenario != NULL ? arguments->scenario
							  : arguments->program,
			      arguments->scenario != NULL
				      ? "no such scenario; --list names them"
				      : "no PFS_CHECK_SCENARIO in it; see pfslab/check.h");
	return status;
}

/* NULL, or what is wrong with it. */
static const char *open_program(const struct arguments *arguments)
{
	const char *program_path = arguments->program;
	const char *error = NULL;
	if (pfs_compile_is_source(program_path))
		error = pfs_compile(arguments->words, arguments->word_count, &program_path);
	else if (arguments->word_count > 1)
		error = "one shared object at a time, or sources (.c, .cc, .cpp, .cxx)";
	return error != NULL ? error : pfs_library_open(program_path, pfs_names);
}

static int run(struct arguments *arguments)
{
	if (arguments->example)
		return fputs(pfs_check_example, stdout) < 0; /* told by pfs_command_end, too */
	if (arguments->program == NULL)
		return refuse("no program", "give a shared object or sources; pfs-check --example "
			      "prints one");
	if (arguments->schedule != NULL && !load(arguments))
		return refuse(arguments->schedule, "no schedule that pfs-check --save wrote");
	const struct pfs_memory_model *model = pfs_memory_model_of(arguments->memory);
	int kind = pfs_search_kind_of(arguments->search);
	if (model == NULL)
		return refuse(arguments->memory, "no such memory: " PFS_MEMORY_MODEL_NAMES);
	if (kind < 0 || kind == PFS_SEARCH_STATES)
		return refuse(arguments->search, "no such search; see pfs-check --help");
	bool known = strcmp(arguments->calls, "known") == 0;
	if (!known && strcmp(arguments->calls, "clock") != 0)
		return refuse(arguments->calls, "--calls by the clock, or by what is known");
	if (known && !model->keeps_old)
		return refuse("--calls known", "for --memory views: others know all by the clock");
	pfs_history_by_known(known);
	if (arguments->spurious > PFS_USER_FAULTS_MAX || arguments->looks > 16)
		return refuse("--spurious or --looks", "at most 4, and 16");
	pfs_fiber_stacks(STACK_BYTES, GUARD_BYTES);
	struct pfs_machine *machine = pfs_machine_create(model);
	if (machine == NULL || !pfs_check_heap_begin() || !pfs_outcomes_begin())
		return refuse("no memory", "for the machine");
	machine->step_max = (uint32_t)arguments->steps;
	machine->watch = !arguments->no_races;
	machine->has_fences = true;
	pfs_user.machine = machine;
	if (!pfs_check_signals_begin(arguments->patience) ||
	    !pfs_check_idle_begin(arguments->program, arguments->patience))
		return refuse("--patience", "no timer for it");
	pfs_user.looks_max = (uint32_t)arguments->looks;
	pfs_user.fault_max = (uint32_t)arguments->spurious;
	const char *error = open_program(arguments);
	if (error != NULL)
		return refuse(arguments->program, error);
	pfs_library_keep();
	return check_all(arguments, machine);
}

int main(int argc, char **argv)
{
	struct arguments arguments = { .memory = "views", .search = "exhaustive",
				       .calls = "clock", .spurious = 1,
				       .looks = 3, .seconds = 60, .steps = 5000, .seed = 1,
				       .patience = 10 };
	int status = read_arguments(&arguments, argc, argv);
	if (status == PFS_GO_ON)
		status = run(&arguments);
	pfs_compile_end();
	/* Destructors of the program's globals stay out: they would run outside of the machine. */
	_exit(pfs_command_end(program, status));
}
