/*
 * pfs_check.c - the command: loads a program, searches its scenarios, shows what failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/heap.h"
#include "check/library.h"
#include "check/scenario.h"
#include "check/user.h"

#define SMALL_EXECUTIONS 4000u /* of a search for a shorter schedule */
#define SMALL_SECONDS 2.0
#define SMALL_PREEMPTIONS 2u

static const char usage_text[] =
	"usage: pfs-check PROGRAM.so [options]\n"
	"       pfs-check PROGRAM.so --schedule FILE\n"
	"       pfs-check PROGRAM.so --list\n"
	"\n"
	"  --scenario NAME   one of the program's scenarios; default: all\n"
	"  --memory M        sc, tso (store buffers) or views (C11's orders); default views\n"
	"  --search K        exhaustive, dpor, sleep, bounded, naive, random, pct, pos, urw, slow\n"
	"                    or rotate, as pfs-sim; default exhaustive\n"
	"  --preemptions N   every schedule of up to N preemptions (--search bounded)\n"
	"  --spurious N      weak compare-and-swaps and waits of condition variables that end by\n"
	"                    themselves, in each execution up to N, 0 .. 4; default 1\n"
	"  --looks N         a loop that has looked N times and found the same waits until that\n"
	"                    changes; 0: never; default 3\n"
	"  --executions N    stop after so many; default 0: no bound\n"
	"  --seconds S       stop after so long; default 60\n"
	"  --steps N         of one execution, after which it is given up; default 5000\n"
	"  --seed N          of searches at random; default 1\n"
	"  --no_races        do not look for data races\n"
	"  --save FILE       write a failing schedule there\n"
	"  --quiet           do not show it\n"
	"\n"
	"exit 0: no schedule failed. 1: one did, as printed; or none ended. 2: bad usage, or a\n"
	"program that cannot be checked.\n";

struct arguments {
	const char *program, *scenario, *memory, *search, *save, *schedule;
	uint64_t preemptions, spurious, looks, executions, steps, seed, slots;
	double seconds;
	bool no_races, quiet, list;
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
	(void)fprintf(stderr, "pfs-check: %s: %s\n", what, why);
	return 2;
}

static double seconds_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- arguments ---- */

static bool read_number(const char *text, uint64_t *number)
{
	char *end;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static bool read_fault(const char *text)
{
	unsigned thread, number;
	int length = 0;
	if (sscanf(text, "%u.%u%n", &thread, &number, &length) != 2 || text[length] != '\0' ||
	    thread >= PFS_USER_THREADS_MAX || pfs_user.fault_count == PFS_USER_FAULTS_MAX)
		return false;
	pfs_user.faults[pfs_user.fault_count++] = (struct pfs_user_fault){ thread, number };
	return true;
}

/* An option with a value; false: there is none of this name, or the value is none. */
static bool read_option(struct arguments *self, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **text;
		uint64_t *number;
	} known[] = { { "--scenario", &self->scenario, NULL },
		      { "--memory", &self->memory, NULL },
		      { "--search", &self->search, NULL },
		      { "--save", &self->save, NULL },
		      { "--schedule", &self->schedule, NULL },
		      { "--preemptions", NULL, &self->preemptions },
		      { "--spurious", NULL, &self->spurious },
		      { "--looks", NULL, &self->looks },
		      { "--executions", NULL, &self->executions },
		      { "--steps", NULL, &self->steps },
		      { "--slots", NULL, &self->slots },
		      { "--seed", NULL, &self->seed } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		if (known[i].number != NULL)
			return read_number(value, known[i].number);
		*known[i].text = value;
		return true;
	}
	if (strcmp(name, "--fault") == 0)
		return read_fault(value);
	if (strcmp(name, "--seconds") != 0)
		return false;
	char *end;
	self->seconds = strtod(value, &end);
	return end != value && *end == '\0' && self->seconds >= 0;
}

static bool read_flag(struct arguments *self, const char *name)
{
	bool *flag = strcmp(name, "--no_races") == 0 ? &self->no_races
		     : strcmp(name, "--quiet") == 0  ? &self->quiet
		     : strcmp(name, "--list") == 0   ? &self->list : NULL;
	if (flag != NULL)
		*flag = true;
	return flag != NULL;
}

/* 0, or the exit status. */
static int read_arguments(struct arguments *self, int count, char **texts)
{
	for (int at = 0; at < count; at++) {
		const char *text = texts[at];
		if (strncmp(text, "--", 2) != 0) {
			if (self->program != NULL)
				return refuse(text, "one program at a time");
			self->program = text;
			continue;
		}
		if (read_flag(self, text))
			continue;
		if (at + 1 == count || !read_option(self, text, texts[at + 1]))
			return refuse(text, "no such option, or a value that it cannot have; see "
					    "pfs-check --help");
		if (strcmp(text, "--preemptions") == 0)
			self->search = "bounded";
		at++;
	}
	return 0;
}

static int model_of(const char *name)
{
	static const char *const models[] = { [PFS_MACHINE_SC] = "sc", [PFS_MACHINE_TSO] = "tso",
					      [PFS_MACHINE_VIEWS] = "views" };
	for (int i = 0; i < 3; i++) {
		if (strcmp(models[i], name) == 0)
			return i;
	}
	return -1;
}

/* ---- a schedule in a file ---- */

static int save(const struct arguments *arguments, const char *scenario)
{
	FILE *file = fopen(arguments->save, "w");
	if (file == NULL)
		return refuse(arguments->save, strerror(errno));
	(void)fprintf(file, "pfs-check 1\n--scenario %s --memory %s --slots %u --looks %u",
		      scenario, arguments->memory, pfs_user.slots, pfs_user.looks_max);
	if (arguments->no_races)
		(void)fprintf(file, " --no_races");
	for (uint32_t i = 0; i < pfs_user.fault_count; i++)
		(void)fprintf(file, " --fault %u.%u", pfs_user.faults[i].thread,
			      pfs_user.faults[i].number);
	(void)fprintf(file, "\n");
	for (uint32_t i = 0; i < result.segment_count; i++)
		(void)fprintf(file, "%ux%u ", result.segments[i].actor, result.segments[i].steps);
	(void)fprintf(file, "\n");
	return fclose(file) == 0 ? 1 : refuse(arguments->save, strerror(errno));
}

#define WORDS_MAX 32

/* Reads what save wrote, into arguments and the result. */
static bool load(struct arguments *arguments)
{
	static char head[32], options[4096], steps[65536];
	char *words[WORDS_MAX], *rest = options;
	int count = 0;
	FILE *file = fopen(arguments->schedule, "r");
	if (file == NULL)
		return false;
	bool fine = fgets(head, sizeof(head), file) != NULL &&
		    strcmp(head, "pfs-check 1\n") == 0 &&
		    fgets(options, sizeof(options), file) != NULL &&
		    fgets(steps, sizeof(steps), file) != NULL;
	(void)fclose(file);
	for (char *word; fine && (word = strsep(&rest, " \n")) != NULL;) {
		if (*word != '\0' && count < WORDS_MAX)
			words[count++] = word;
	}
	return fine && read_arguments(arguments, count, words) == 0 &&
	       pfs_segments_parse(steps, result.segments, &result.segment_count);
}

static int replay(const struct pfs_scenario *scenario, struct pfs_machine *machine)
{
	pfs_search_show(machine, scenario, &result, stdout);
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
	if (pfs_user.waits != 0)
		(void)printf("  loops that found the same %u times waited for a change (--looks)\n",
			     pfs_user.looks_max);
}

static int show_failure(const struct arguments *arguments, struct pfs_machine *machine,
			const struct pfs_scenario *scenario)
{
	(void)printf("found: %s\n", result.message);
	if (!shorten(machine, scenario))
		return refuse(scenario->name, "the same schedule did not fail again: the program "
			      "does what does not follow from its schedule, as by an address or "
			      "a state that is outside of it");
	if (!arguments->quiet)
		pfs_search_show(machine, scenario, &result, stdout);
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

static int run(struct arguments *arguments)
{
	if (arguments->program == NULL)
		return refuse("no program", "see pfs-check --help");
	if (arguments->schedule != NULL && !load(arguments))
		return refuse(arguments->schedule, "no schedule that pfs-check --save wrote");
	int model = model_of(arguments->memory), kind = pfs_search_kind_of(arguments->search);
	if (model < 0)
		return refuse(arguments->memory, "no such memory: sc, tso or views");
	if (kind < 0 || kind == PFS_SEARCH_STATES)
		return refuse(arguments->search, "no such search; see pfs-check --help");
	if (arguments->spurious > PFS_USER_FAULTS_MAX || arguments->looks > 16)
		return refuse("--spurious or --looks", "at most 4, and 16");
	struct pfs_machine *machine = pfs_machine_create((enum pfs_machine_model)model);
	if (machine == NULL || !pfs_check_heap_begin())
		return refuse("no memory", "for the machine");
	machine->step_max = (uint32_t)arguments->steps;
	machine->watch = !arguments->no_races;
	machine->has_fences = true;
	pfs_user.machine = machine;
	pfs_user.looks_max = (uint32_t)arguments->looks;
	const char *error = pfs_library_open(arguments->program);
	if (error != NULL)
		return refuse(arguments->program, error);
	pfs_library_keep();
	return check_all(arguments, machine);
}

int main(int argc, char **argv)
{
	struct arguments arguments = { .memory = "views", .search = "exhaustive", .spurious = 1,
				       .looks = 3, .seconds = 60, .steps = 5000, .seed = 1 };
	if (argc < 2 || strcmp(argv[1], "--help") == 0) {
		(void)fputs(usage_text, stdout);
		return argc < 2 ? 2 : 0;
	}
	int status = read_arguments(&arguments, argc - 1, argv + 1);
	if (status == 0)
		status = run(&arguments);
	/* Destructors of the program's globals stay out: they would run outside of the machine. */
	if (fflush(stdout) != 0)
		status = refuse("standard output", strerror(errno));
	_exit(status);
}
