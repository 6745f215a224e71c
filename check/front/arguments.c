#define _GNU_SOURCE
#include "check/front/arguments.h"

#include <stdio.h>
#include <string.h>

#include "check/front/places.h"
#include "check/front/user.h"
#include "base/command_line.h"
#include "check/machine/model.h"
#include "check/search/jobs.h"

#define WORDS_MOST 1000 /* sources and flags */

int pfs_check_refuse(const char *what, const char *why)
{
	return pfs_command_refuse(PFS_CHECK_NAME, PFS_EXIT_WRONG_USE, "%s: %s", what, why);
}

static enum pfs_status read_rule(void *context, const struct pfs_option *option, const char *text,
				 struct pfs_message *message)
{
	(void)context;
	if (pfs_places_rule(text, strcmp(option->name, "own") == 0))
		return PFS_OK;
	(void)snprintf(message->text, sizeof(message->text), "more than %u of --own and --foreign",
		       PFS_PLACES_RULES_MAX);
	return PFS_BAD_CONFIG;
}

/* PFS_GO_ON, or the exit status. */
static int read_line(struct pfs_arguments *self, int argc, char **argv)
{
	/* clang-format off */
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("scenario", "NAME", &self->scenario, "one of the program's "
				"scenarios; default: all"),
		PFS_TEXT_OPTION("memory", "M", &self->memory, "sc, tso (store buffers) or views "
				"(C11's orders); default views"),
		PFS_TEXT_OPTION("search", "K", &self->search, "exhaustive, dpor, optimal, sleep, "
				"bounded, naive, random, pct, pos, urw, slow or rotate, as "
				"pfs-sim; default exhaustive"),
		PFS_TEXT_OPTION("calls", "K", &self->calls, "of a specification: a call comes "
				"before another by the clock, or, with views, only if that is "
				"known to who makes the other; default clock"),
		PFS_NUMBER_OPTION("preemptions", "N", &self->preemptions, 0, 1000, "every schedule "
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
		PFS_NUMBER_OPTION("jobs", "N", &self->jobs, 1, PFS_JOBS_MAX, "so many processes, "
				  "which find what one does; default: one for each CPU, and 1 "
				  "where --executions cuts an exhaustive search"),
		PFS_TEXT_OPTION("save", "FILE", &self->save, "write a failing schedule there"),
		PFS_TEXT_OPTION("schedule", "FILE", &self->schedule, "run one that was saved"),
		PFS_SWITCH_OPTION("gdb", &self->gdb, "run it in gdb, which stops where it fails, "
				  "and has the stack of each thread: pfs-threads, pfs-bt N"),
		PFS_SWITCH_OPTION("list", &self->list, "name the scenarios"),
		PFS_SWITCH_OPTION("example", &self->example, "print a program to begin with, "
				  "in C"),
		PFS_TEXT_OPTION("format", "F", &self->format, "text or json: one document with all "
				"that was found; default text"),
		PFS_SWITCH_OPTION("quiet", &self->quiet, "do not show a failing schedule"),
	};
	const struct pfs_command_line line = {
		.program = PFS_CHECK_NAME, .words = "PROGRAM.so | SOURCE... [-- FLAG...]",
		.words_max = WORDS_MOST, .options = options,
		.option_count = sizeof(options) / sizeof(options[0]),
		.about = "searches the schedules of a program of one's own for one that fails",
		.after = "Sources are compiled first, by $CC or $CXX, with FLAGs after those that "
			 "pfs-check needs.\n"
			 "exit 0: no schedule failed. 1: one did, as printed; or none ended. 2: "
			 "bad usage, or a\nprogram that cannot be checked.\n",
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
static int choose_search(struct pfs_arguments *self)
{
	bool bound = self->preemptions != UINT64_MAX;
	if (self->search == NULL)
		self->search = bound ? "bounded" : "exhaustive";
	if (bound && strcmp(self->search, "bounded") != 0)
		return pfs_check_refuse("--preemptions", "is for --search bounded; leave out one "
							 "of them");
	if (!bound)
		self->preemptions = 2;
	int kind = pfs_search_kind_of(self->search);
	if (kind == (int)PFS_SEARCH_STATES)
		return pfs_check_refuse("--search states",
					"not for a program of one's own: what "
					"it has in a library, beside memory and stacks, is in no "
					"state; leave it out");
	if (kind < 0)
		return pfs_check_refuse(self->search, "no such search; see pfs-check --help");
	self->kind = (enum pfs_search_kind)kind;
	bool ordered = self->executions != 0 && self->kind < PFS_SEARCH_RANDOM;
	if (ordered && self->jobs > 1)
		return pfs_check_refuse("--executions with --jobs",
					"which are the first is known "
					"to one job only; leave out one of them");
	if (self->jobs == 0)
		self->jobs = ordered ? 1 : pfs_jobs_default();
	return PFS_GO_ON;
}

/* A schedule is run as it was saved. */
static int judge_replay(const struct pfs_arguments *self)
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
		       { "--scenario with --schedule", self->scenario != NULL } };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].given)
			return pfs_check_refuse(others[i].name, "one schedule is run, as it was "
								"saved; leave out one of them");
	}
	return PFS_GO_ON;
}

int pfs_check_arguments_read(struct pfs_arguments *self, int argc, char **argv)
{
	*self = (struct pfs_arguments){ .spurious = 1,
					.looks = 3,
					.seconds = 60,
					.calls = "clock",
					.format = "text",
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
	self->json = strcmp(self->format, "json") == 0;
	if (!self->json && strcmp(self->format, "text") != 0)
		return pfs_check_refuse(self->format, "--format text or json");
	if (self->json && (self->schedule != NULL || self->list || self->example))
		return pfs_check_refuse("--format json", "is of a search: leave out --schedule, "
							 "--list or --example");
	if (self->memory == NULL)
		self->memory = "views";
	self->model = pfs_memory_model_of(self->memory);
	if (self->model == NULL)
		return pfs_check_refuse(self->memory, "no such memory: " PFS_MEMORY_MODEL_NAMES);
	self->calls_known = strcmp(self->calls, "known") == 0;
	if (!self->calls_known && strcmp(self->calls, "clock") != 0)
		return pfs_check_refuse(self->calls, "--calls by the clock, or by what is known");
	if (self->calls_known && !self->model->keeps_old)
		return pfs_check_refuse("--calls known", "for --memory views: others know all by "
							 "the clock");
	if (self->spurious > PFS_USER_FAULTS_MAX || self->looks > 16)
		return pfs_check_refuse("--spurious or --looks", "at most 4, and 16");
	return PFS_GO_ON;
}
