/*
 * pfs_check.c - the command: loads a program, searches its scenarios, shows what failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/front/arguments.h"
#include "check/front/assembly.h"
#include "check/front/clock.h"
#include "check/front/compile.h"
#include "check/front/debug.h"
#include "check/front/heap.h"
#include "check/front/history.h"
#include "check/front/idle.h"
#include "check/front/json.h"
#include "check/front/libc.h"
#include "check/front/library.h"
#include "check/front/limit.h"
#include "check/front/loops.h"
#include "check/front/names.h"
#include "check/front/outcomes.h"
#include "check/front/pages.h"
#include "check/front/places.h"
#include "check/front/refuse.h"
#include "check/front/report.h"
#include "check/front/saved.h"
#include "check/front/scenario.h"
#include "check/front/shared.h"
#include "check/front/signals.h"
#include "check/front/user.h"
#include "check/front/volatile.h"
#include "check/front/warn.h"
#include "base/command_line.h"
#include "base/output.h"
#include "check/machine/model.h"
#include "check/search/jobs.h"

#define SMALL_EXECUTIONS 4000u /* of a search for a shorter schedule */
#define SMALL_SECONDS 2.0
#define SMALL_PREEMPTIONS 2u
#define SHORTER_SECONDS 10.0 /* for all of it, if --seconds are fewer */
#define LIMIT_BEHIND 0.05    /* so that the search finds that its time is over, too */

/* Of each thread; and what a frame of the program may skip. */
#define STACK_BYTES ((size_t)1 << 20)
#define GUARD_BYTES ((size_t)16 << 20)

/* Of all searches of a scenario together. */
struct sums {
	struct pfs_check_report report;
	double begun, deadline;
	const char *error; /* of the search, or NULL */
	const char *cut;   /* the place of a loop, or "" */
};

#define refuse(what, why) pfs_check_refuse((what), (why))

static struct pfs_search_result result; /* too large for a stack */

/* Were the steps of the schedule executed in its order, as far as it has any? */
static bool was_followed(const struct pfs_machine *machine)
{
	uint32_t step = 0;
	for (uint32_t i = 0; i < result.segment_count; i++) {
		for (uint32_t n = 0; n < result.segments[i].steps; n++, step++) {
			if (step == machine->run.step_count)
				return true;
			if (machine->run.schedule[step] != result.segments[i].actor)
				return false;
		}
	}
	return true;
}

/* After an execution: 1, it failed; 2, it could not be executed. */
static int status_of(const struct pfs_machine *machine)
{
	if (machine->run.end != PFS_END_FAILED && machine->run.end != PFS_END_DEADLOCK)
		return 0;
	return machine->run.finding.kind == PFS_FOUND_UNCHECKED ? PFS_EXIT_WRONG_USE : 1;
}

static void print_name(void *out, const char *name, const char *whole)
{
	(void)fprintf(out, "%s is %s\n", name, whole);
}

/* The failing schedule, as it was traced. */
static void show(const struct pfs_scenario *scenario, struct pfs_machine *machine, FILE *out)
{
	pfs_search_show(machine, scenario, &result, out);
	pfs_finding_short_names(&machine->run.finding, print_name, out);
	pfs_library_short_names(print_name, out);
	pfs_history_print(out);
}

static int replay(const struct pfs_scenario *scenario, struct pfs_machine *machine)
{
	static char saved[sizeof(result.message)];
	memcpy(saved, result.message, sizeof(saved));
	show(scenario, machine, stdout);
	int status = status_of(machine);
	if (!was_followed(machine))
		(void)printf("the program did not follow this schedule: it is another program, or "
			     "was changed since\n");
	if (saved[0] != '\0' && (status == 0 || strcmp(saved, machine->run.message) != 0))
		(void)printf("%swhen it was saved: %s\n", status != 0 ? "" : "it did not fail; ",
			     saved);
	return status;
}

/* ---- searches ---- */

/* One search, with the faults that are set. false: it failed, or needs another thread. */
static bool search(const struct pfs_check_arguments *arguments, struct pfs_machine *machine,
		   const struct pfs_scenario *scenario, struct sums *sums)
{
	struct pfs_search_options options = { .kind = arguments->kind,
					      .seed = arguments->seed,
					      .preemption_max = (uint32_t)arguments->preemptions };
	struct pfs_check_report *report = &sums->report;
	double left = sums->deadline - pfs_limit_now();
	report->stopped |= (arguments->seconds > 0 && left <= 0) ||
			   (arguments->executions != 0 &&
			    report->executions >= arguments->executions);
	if (report->stopped)
		return true;
	if (arguments->executions != 0)
		options.execution_max = arguments->executions - report->executions;
	if (arguments->seconds > 0)
		options.seconds_max = left;
	const struct pfs_jobs_sums none = { .count = 0 };
	sums->error = pfs_jobs_search(machine, scenario, &options, (uint32_t)arguments->jobs, &none,
				      &result);
	pfs_shared_alone();
	pfs_shared_take(pfs_user.may_fail);
	report->executions += result.executions;
	report->repeated += result.redundant;
	report->incomplete += result.incomplete;
	report->pruned += result.pruned;
	report->steps += result.steps;
	report->complete &= result.complete && !pfs_shared_noted(PFS_NOTE_LOOKS)->is_noted &&
			    pfs_assembly_unseen()->count == 0 && pfs_assembly_drawn()->count == 0;
	report->stopped |= result.stopped;
	report->left_out |= result.left_out;
	return !result.failed && sums->error == NULL;
}

/* All sets of up to `more` further faults, each after those that are set. A set may show that a
 * thread has more chances to fail than were known, also one of those before; so it goes on until
 * there are no new ones. */
static bool search_faults(const struct pfs_check_arguments *arguments, struct pfs_machine *machine,
			  const struct pfs_scenario *scenario, uint64_t more, struct sums *sums)
{
	uint32_t tried[PFS_USER_THREADS_MAX] = { 0 };
	if (!search(arguments, machine, scenario, sums))
		return false;
	if (more == 0 || sums->report.stopped)
		return true;
	uint32_t at = pfs_user.fault_count, first = 0;
	if (at != 0) {
		first = pfs_user.faults[at - 1].thread;
		tried[first] = pfs_user.faults[at - 1].number + 1;
	}
	for (uint32_t thread = first; thread < PFS_USER_THREADS_MAX;) {
		if (tried[thread] >= pfs_user.may_fail[thread]) {
			thread++;
			continue;
		}
		pfs_user.faults[at] = (struct pfs_user_fault){ thread, tried[thread]++ };
		pfs_user.fault_count = at + 1;
		if (!search_faults(arguments, machine, scenario, more - 1, sums))
			return false;
		pfs_user.fault_count = at;
		if (sums->report.stopped)
			return true;
		thread = first;
	}
	return true;
}

static bool fails_again(struct pfs_machine *machine, const struct pfs_scenario *scenario)
{
	struct pfs_given given;
	pfs_given_init(&given, result.segments, result.segment_count);
	enum pfs_machine_end end = pfs_scenario_run(scenario, machine, &given.scheduler);
	return pfs_search_is_same(&result, end, machine->run.message);
}

static void trace(struct pfs_machine *machine, const struct pfs_scenario *scenario)
{
	machine->setup.tracing = true;
	(void)fails_again(machine, scenario);
	machine->setup.tracing = false;
}

/* The failing schedule shorter, and with fewer preemptions if that is soon found. */
static void shorten(struct pfs_machine *machine, const struct pfs_scenario *scenario)
{
	static struct pfs_search_result other;
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
}

static void report(const struct pfs_check_arguments *arguments, const struct pfs_scenario *scenario,
		   struct sums *sums)
{
	const struct pfs_search_options options = {
		.kind = arguments->kind, .preemption_max = (uint32_t)arguments->preemptions
	};
	struct pfs_check_report *self = &sums->report;
	struct pfs_search_result all = { .complete = self->complete && !self->stopped,
					 .bounded = result.bounded };
	self->scenario = scenario->name;
	self->extent = pfs_search_extent(&options, &all);
	self->complete = all.complete;
	self->seconds = pfs_limit_now() - sums->begun;
	if (!self->failed)
		pfs_report_reasons(self, arguments);
	pfs_report_print(self, arguments, stdout);
	pfs_check_json_search(self);
	pfs_outcomes_print(stdout);
	pfs_report_print_reasons(self, arguments, stdout);
}

/* Report a failure, with a short schedule. Returns the exit status. */
static int show_failure(const struct pfs_check_arguments *arguments, struct pfs_machine *machine,
			const struct pfs_scenario *scenario, struct sums *sums)
{
	bool again = fails_again(machine, scenario);
	int status = again ? status_of(machine) : PFS_EXIT_WRONG_USE;
	sums->report.failed = true;
	sums->report.unchecked = status != 1;
	report(arguments, scenario, sums);
	(void)printf("%s: %s\n", status == 1 ? "found" : "cannot be checked", result.message);
	if (again && arguments->seconds > 0)
		pfs_limit_set(pfs_limit_now() + (arguments->seconds > SHORTER_SECONDS
							 ? arguments->seconds
							 : SHORTER_SECONDS));
	if (again)
		shorten(machine, scenario);
	pfs_limit_set(0);
	if (again && !arguments->quiet)
		show(scenario, machine, stdout);
	else if (again)
		trace(machine, scenario);
	pfs_check_json_finding(machine, &result);
	if (!again)
		return refuse(scenario->name,
			      "the same schedule did not fail again: the program depends on more "
			      "than its schedule, such as addresses or outside state");
	if (!pfs_library_has_lines())
		(void)refuse(arguments->program, "no source lines: compile it with -g");
	else if (pfs_places_unknown() != NULL)
		(void)refuse("addr2line", pfs_places_unknown());
	for (uint32_t i = 0; i < pfs_user.fault_count; i++)
		(void)printf("by itself: number %u of thread %u\n", pfs_user.faults[i].number,
			     pfs_user.faults[i].thread);
	bool fine = arguments->save == NULL || pfs_check_save(arguments, scenario->name, &result);
	return fine ? status : PFS_EXIT_WRONG_USE;
}

static int refuse_search(const struct pfs_check_arguments *arguments)
{
	pfs_warn("--search %s does not support %s; try --search exhaustive", arguments->search,
		 result.refusal);
	return PFS_EXIT_WRONG_USE;
}

/* Not of those that look at each schedule as it is. */
static bool seeks_classes(const struct pfs_check_arguments *arguments)
{
	static const char *const names[] = { "exhaustive", "dpor", "optimal", "sleep" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(arguments->search, names[i]) == 0)
			return true;
	}
	return false;
}

/* The search must start again, because an execution needs more than was known before it. */
static bool wants_more(void)
{
	if (strcmp(result.message, PFS_USER_MEETS_WANTED) == 0) {
		pfs_shared_take_meets(pfs_user.meets);
		return true;
	}
	if (strcmp(result.message, PFS_USER_STACKS_WANTED) == 0) {
		pfs_user.meets_on_stacks = true;
		return true;
	}
	if (strcmp(result.message, PFS_USER_SLOT_WANTED) != 0 ||
	    pfs_user.slots >= PFS_USER_THREADS_MAX)
		return false;
	pfs_user.slots++;
	return true;
}

/* The exit status of one scenario. */
static int check(const struct pfs_check_arguments *arguments, struct pfs_machine *machine,
		 uint32_t at)
{
	const struct pfs_scenario scenario = pfs_check_scenario_of(at);
	pfs_user.slots = (uint32_t)arguments->slots;
	pfs_library_forget_names();
	pfs_user.meets_on_stacks = arguments->schedule != NULL || arguments->no_races;
	if (arguments->schedule != NULL)
		return replay(&scenario, machine);
	memset(pfs_user.meets, seeks_classes(arguments) ? 0 : 0xFF, sizeof(pfs_user.meets));
	double begun = pfs_limit_now();
	for (;;) {
		struct sums sums = { .report.complete = true, .begun = begun };
		sums.deadline = sums.begun + arguments->seconds;
		pfs_limit_set(arguments->seconds > 0 ? sums.deadline + LIMIT_BEHIND : 0);
		pfs_user.fault_count = 0;
		pfs_outcomes_reset();
		memset(pfs_user.may_fail, 0, sizeof(pfs_user.may_fail));
		pfs_shared_reset(scenario.name);
		bool fine = search_faults(arguments, machine, &scenario, arguments->spurious,
					  &sums);
		pfs_shared_progress_end();
		pfs_limit_set(0);
		if (sums.error != NULL)
			return refuse("--jobs", sums.error);
		if (!fine && wants_more())
			continue;
		if (result.refusal != NULL)
			return refuse_search(arguments);
		if (!fine)
			return show_failure(arguments, machine, &scenario, &sums);
		report(arguments, &scenario, &sums);
		return pfs_report_status(&sums.report, arguments);
	}
}

/* All scenarios, or the one that was named: the worst status. */
static int check_all(const struct pfs_check_arguments *arguments, struct pfs_machine *machine)
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
	if (met == 0 && arguments->schedule != NULL)
		return refuse(arguments->schedule,
			      "this program does not have the schedule's scenario; give the "
			      "program for which it was saved");
	if (met == 0)
		return refuse(arguments->scenario != NULL ? arguments->scenario
							  : arguments->program,
			      arguments->scenario != NULL
				      ? "no such scenario; --list names them"
				      : "no PFS_CHECK_SCENARIO in it; see pfslab/check.h");
	return status;
}

/* NULL, or what is wrong with it. */
static const char *open_program(const struct pfs_check_arguments *arguments)
{
	static const struct pfs_name *const lists[] = { pfs_names, pfs_libc_names, NULL };
	const char *program_path = arguments->program;
	const char *error = NULL;
	if (pfs_compile_is_source(program_path))
		error = pfs_compile(arguments->words, arguments->word_count,
				    arguments->relaxed_volatile, &program_path);
	else if (arguments->word_count > 1)
		error = "one shared object at a time, or sources (.c, .cc, .cpp, .cxx)";
	return error != NULL ? error : pfs_library_open(program_path, lists);
}

/* As it is before each execution; NULL, or why not. */
static const char *keep_program(void)
{
	pfs_names_begin();
	pfs_loops_find_trials();
	pfs_clock_find_readers();
	return pfs_library_keep();
}

static int run_program(struct pfs_check_arguments *arguments)
{
	if (arguments->save != NULL && !pfs_output_could(arguments->save))
		return refuse(arguments->save, strerror(errno));
	pfs_history_by_known(arguments->calls_known);
	pfs_fiber_stacks(STACK_BYTES, GUARD_BYTES);
	struct pfs_machine *machine = pfs_machine_create(arguments->model);
	if (machine == NULL || !pfs_check_heap_begin() || !pfs_shared_begin() ||
	    !pfs_outcomes_begin())
		return refuse("no memory", "for the machine");
	machine->setup.step_max = (uint32_t)arguments->steps;
	machine->setup.watch = !arguments->no_races;
	machine->setup.repeats_max = UINT32_MAX - 1; /* loops.h has a bound */
	machine->setup.has_fences = true;
	pfs_user.machine = machine;
	if (!pfs_check_signals_begin(arguments->patience) ||
	    !pfs_check_idle_begin(arguments->patience))
		return refuse("--patience", "no timer for it");
	pfs_user.one_size = machine->model->buffers || machine->model->keeps_old;
	pfs_user.looks_max = (uint32_t)arguments->looks;
	pfs_user.fault_max = (uint32_t)arguments->spurious;
	pfs_refuse_begin(arguments->program);
	machine->hooks.fault = pfs_pages_fault;
	if (arguments->relaxed_volatile)
		pfs_volatile_begin();
	if (arguments->uninitialized)
		pfs_check_heap_uninitialized();
	const char *error = open_program(arguments);
	if (error == NULL)
		error = keep_program();
	if (error != NULL)
		return refuse(arguments->program, error);
	if (arguments->relaxed_volatile && !pfs_library_calls("__tsan_volatile_") &&
	    !pfs_library_calls("__tsan_unaligned_volatile_"))
		pfs_warn(
			"--volatile: the program has no volatile accesses, or was compiled without "
			"--param=tsan-distinguish-volatile=1 (clang: -mllvm "
			"-tsan-distinguish-volatile=1)");
	return check_all(arguments, machine);
}

static int run(struct pfs_check_arguments *arguments)
{
	if (arguments->example)
		return fputs(pfs_check_example, stdout) < 0; /* pfs_command_end reports failures,
							      * too */
	if (arguments->program == NULL)
		return refuse("no program", "give a shared object or sources; pfs-check --example "
					    "prints one");
	if (arguments->schedule != NULL && !pfs_check_load(arguments, &result))
		return PFS_EXIT_WRONG_USE;
	return pfs_check_json_begin(arguments) ? pfs_check_json_end(run_program(arguments))
					       : PFS_EXIT_WRONG_USE;
}

int main(int argc, char **argv)
{
	struct pfs_check_arguments arguments;
	char **words = calloc((size_t)argc + 1, sizeof(*words)); /* getopt sorts the others */
	if (words != NULL)
		memcpy(words, argv, (size_t)argc * sizeof(*words));
	int status = pfs_check_arguments_read(&arguments, argc, argv);
	if (status == PFS_GO_ON && arguments.gdb && words != NULL)
		status = pfs_check_debug(argc, words);
	if (status == PFS_GO_ON)
		status = run(&arguments);
	pfs_compile_end();
	/* Destructors of the program's globals are skipped: they would run outside the machine. */
	_exit(pfs_command_end(PFS_CHECK_NAME, status));
}
