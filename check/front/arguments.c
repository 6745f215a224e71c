#define _GNU_SOURCE
#include "check/front/arguments.h"

#include <stdio.h>
#include <string.h>

#include "check/front/places.h"
#include "check/front/user.h"
#include "check/front/warn.h"
#include "base/command_line.h"
#include "check/machine/model.h"
#include "check/search/jobs.h"

#define WORDS_MOST 1000 /* sources and flags */

static int refuse_value(const char *option, const char *value, const char *why)
{
	return pfs_command_refuse(PFS_CHECK_NAME, PFS_EXIT_WRONG_USE, "--%s '%.80s': %s", option,
				  value, why);
}

int pfs_check_refuse(const char *what, const char *why)
{
	pfs_warn("%s: %s", what, why);
	return PFS_EXIT_WRONG_USE;
}

static enum pfs_status read_rule(void *context, const struct pfs_option *option, const char *text,
				 struct pfs_message *message)
{
	(void)context;
	if (pfs_places_rule(text, strcmp(option->name, "own") == 0))
		return PFS_OK;
	(void)snprintf(message->text, sizeof(message->text),
		       "--own and --foreign: at most %u in all", PFS_PLACES_RULES_MAX);
	return PFS_BAD_CONFIG;
}

static const char after[] =
	"Sources are compiled first, by $CC or $CXX, with FLAGs after those that "
	"pfs-check needs.\n"
	"exit 0: nothing was found in what the report says was searched. 1: a "
	"schedule failed, and is\nprinted. 2: it could not be checked: bad "
	"usage, what is not modelled, no execution\nthat ended, or, with --complete, a search that "
	"was not complete.\n";

/* PFS_GO_ON, or the exit status. */
static int read_line(struct pfs_check_arguments *self, int argc, char **argv)
{
	/* clang-format off */
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("scenario", "NAME", &self->scenario, "one of the program's "
				"scenarios; default: all"),
		PFS_TEXT_OPTION("memory", "M", &self->memory,
				PFS_MEMORY_HELP "default views"),
		PFS_TEXT_OPTION("search", "K", &self->search,
				PFS_SEARCH_HELP_OF(PFS_SEARCH_NOTHING) "default exhaustive"),
		PFS_TEXT_OPTION("calls", "K", &self->calls,
			"order of a specification's calls: clock, or known: by happens-before, for "
			"--memory views; default clock"),
		PFS_NUMBER_OPTION("preemptions", "N", &self->preemptions, 0, 1000, "every schedule "
				  "of up to N preemptions (--search bounded)"),
		PFS_NUMBER_OPTION("spurious", "N", &self->spurious, 0, PFS_USER_FAULTS_MAX,
			"up to N spurious failures of weak compare-and-swaps and spurious wakeups "
			"in each execution, 0 to 4; default 1"),
		PFS_NUMBER_OPTION("looks", "N", &self->looks, 0, 1000000,
			"a loop that only reads and counts is cut after N iterations; 0: never; "
			"default 100"),
		PFS_NUMBER_OPTION("executions", "N", &self->executions, 0, UINT64_MAX,
			"stop after N executions; default 0: no limit"),
		PFS_REAL_OPTION("seconds", "S", &self->seconds, 0, 1e9, "time limit; default 60"),
		PFS_REAL_OPTION("patience", "S", &self->patience, 0, 1e6,
			"seconds of CPU time without an operation, or of sleep in a call, after "
			"which a thread fails; 0: never; default 10"),
		PFS_NUMBER_OPTION("steps", "N", &self->steps, 0, UINT64_MAX,
			"steps after which an execution is abandoned; default 5000"),
		PFS_NUMBER_OPTION("seed", "N", &self->seed, 0, UINT64_MAX,
			"seed of random searches; default 1"),
		PFS_SWITCH_OPTION("complete", &self->complete, "fail if the search is incomplete"),
		PFS_SWITCH_OPTION("no-races", &self->no_races, "do not look for data races"),
		PFS_SWITCH_OPTION("uninitialized", &self->uninitialized,
			"look for reads of allocated memory that nothing has written"),
		PFS_SWITCH_OPTION("volatile", &self->relaxed_volatile,
			"treat accesses to volatile objects as relaxed atomics"),
		PFS_READ_OPTION("own", "TEXT", read_rule,
			"show frames of files with TEXT in their path, even in /usr"),
		PFS_READ_OPTION("foreign", "TEXT", read_rule,
			"do not show frames of such files, but their callers"),
		PFS_NUMBER_OPTION("jobs", "N", &self->jobs, 1, PFS_JOBS_MAX,
			"search in N processes, with the same result; default: one per CPU, but 1 "
			"if --executions bounds an exhaustive search"),
		PFS_TEXT_OPTION("save", "FILE", &self->save, "write a failing schedule to FILE"),
		PFS_TEXT_OPTION("schedule", "FILE", &self->schedule, "run a saved schedule"),
		PFS_SWITCH_OPTION("gdb", &self->gdb,
			"run it in gdb, which stops at the failure; pfs-threads and pfs-bt N show "
			"each thread's stack"),
		PFS_SWITCH_OPTION("list", &self->list, "name the scenarios"),
		PFS_SWITCH_OPTION("example", &self->example, "print an example program in C"),
		PFS_TEXT_OPTION("json", "FILE", &self->json,
			"write the result as JSON to FILE, such as /dev/fd/3, too"),
		PFS_SWITCH_OPTION("quiet", &self->quiet, "do not show a failing schedule"),
	};
	const struct pfs_command_line line = {
		.program = PFS_CHECK_NAME, .words = "PROGRAM.so | SOURCE... [-- FLAG...]",
		.words_max = WORDS_MOST, .option_count = sizeof(options) / sizeof(options[0]),
		.about = "searches the schedules of your program for one that fails",
		.options = options, .after = after,
	};
	/* clang-format on */
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);
	if (status == PFS_GO_ON && next < argc) {
		self->program = argv[next];
		self->words = &argv[next];
		self->word_count = argc - next;
	}
	return status;
}

/* A bound on preemptions selects the bounded search. A bound on executions of an exhaustive search
 * selects one process, because the order decides which ones are the first. */
static int choose_search(struct pfs_check_arguments *self)
{
	bool bound = self->preemptions != UINT64_MAX;
	if (self->search == NULL)
		self->search = bound ? "bounded" : "exhaustive";
	if (bound && strcmp(self->search, "bounded") != 0)
		return pfs_check_refuse("--preemptions",
					"is only for --search bounded; leave out one of them");
	if (!bound)
		self->preemptions = 2;
	int kind = pfs_search_kind_of(self->search);
	if (kind < 0)
		return refuse_value(
			"search", self->search,
			"no such search; choose from" PFS_SEARCH_NAMES_OF(PFS_SEARCH_NOTHING));
	self->kind = (enum pfs_search_kind)kind;
	if (pfs_search_is_by_states(self->kind))
		return refuse_value("search", self->search,
				    "a search by states is not for user programs, whose libraries "
				    "hold more than memory and stacks; leave it out");
	bool ordered = self->executions != 0 && !pfs_search_is_random(self->kind);
	if (ordered && self->jobs > 1)
		return pfs_check_refuse(
			"--executions with --jobs",
			"only one job can count the first executions; leave out one of them");
	if (self->jobs == 0)
		self->jobs = ordered ? 1 : pfs_jobs_default();
	return PFS_GO_ON;
}

/* A schedule is run as it was saved. */
static int judge_replay(const struct pfs_check_arguments *self)
{
	if (self->schedule == NULL)
		return !self->gdb ? PFS_GO_ON
				  : pfs_check_refuse("--gdb", "runs a schedule that --save wrote; "
							      "add --schedule FILE");
	const struct {
		const char *name;
		bool given;
	} others[] = { { "--save with --schedule", self->save != NULL },
		       { "--search with --schedule", self->search != NULL },
		       { "--preemptions with --schedule", self->preemptions != UINT64_MAX },
		       { "--memory with --schedule", self->memory != NULL },
		       { "--scenario with --schedule", self->scenario != NULL },
		       { "--complete with --schedule", self->complete } };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].given)
			return pfs_check_refuse(others[i].name,
						"a saved schedule runs with its own options; leave "
						"out one of them");
	}
	return PFS_GO_ON;
}

int pfs_check_arguments_read(struct pfs_check_arguments *self, int argc, char **argv)
{
	*self = (struct pfs_check_arguments){ .spurious = 1,
					      .looks = 100,
					      .seconds = 60,
					      .calls = "clock",
					      .steps = 5000,
					      .seed = 1,
					      .patience = 10,
					      .preemptions = UINT64_MAX };
	int status = read_line(self, argc, argv);
	if (status == PFS_GO_ON)
		status = judge_replay(self);
	if (status == PFS_GO_ON)
		status = choose_search(self);
	if (status != PFS_GO_ON)
		return status;
	if (self->json != NULL && (self->schedule != NULL || self->list || self->example))
		return pfs_check_refuse(
			"--json", "is for searches: leave out --schedule, --list or --example");
	if (self->memory == NULL)
		self->memory = "views";
	self->model = pfs_memory_model_of(self->memory);
	if (self->model == NULL)
		return refuse_value("memory", self->memory,
				    "no such memory model; choose from" PFS_MEMORY_NAMES);
	self->calls_known = strcmp(self->calls, "known") == 0;
	if (!self->calls_known && strcmp(self->calls, "clock") != 0)
		return refuse_value("calls", self->calls,
				    "no such order of calls; choose clock or known");
	if (self->calls_known && !self->model->keeps_old)
		return pfs_check_refuse(
			"--calls known",
			"is only for --memory views; leave it out, or choose views");
	return PFS_GO_ON;
}
