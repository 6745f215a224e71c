/*
 * command_soak.c - see command_soak.h. Each run is a process of `pfs-sim run` with the line that is
 * printed if it fails, so that the line repeats the judged run byte for byte.
 */
#include "sim/command/command_soak.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/command_line.h"
#include "base/json.h"
#include "base/output.h"
#include "containers/message.h"
#include "containers/variant.h"
#include "check/search/jobs.h"
#include "sim/run/soak_draw.h"

#define OUTPUT_BYTES 16384u
#define ATTEMPTS_MAX 1000u
#define BARS 4u
#define SUMS 6u

static const char program[] = "pfs-sim soak";

/* Counters that must be at most 0, if a run has them. */
static const char *const bars[BARS] = { "needless_growths", "false_full", "refused_early",
					"grown_early" };
/* How much the runs did: a bar that no run came near proves nothing. */
static const char *const sums[SUMS] = { "ops",       "growths",     "lost",
					"reclaimed", "preemptions", "live_peak" };

/* Of one policy. */
struct score {
	uint64_t runs, failed;
	double bars[BARS]; /* sums over the runs */
	double sums[SUMS];
};

/* A run in progress. */
struct job {
	FILE *pipe; /* NULL: none */
	uint64_t run;
	uint32_t attempt;
	struct pfs_soak_line line;
	char output[OUTPUT_BYTES];
	size_t used;
};

static struct soak {
	struct pfs_soak_plan plan;
	uint64_t runs, first, jobs, seconds;
	const char *out_name;
	struct pfs_output out;
	uint64_t started, redrawn;
	struct score scores[PFS_SOAK_POLICIES_MAX];
	struct job all[PFS_JOBS_MAX];
	char program[PATH_MAX];
} soak;

/* ---- one run ---- */

/* The bound on CPU time ends runs that would never end. */
static bool launch(struct job *job)
{
	char command[PATH_MAX + PFS_SOAK_LINE_BYTES + 64];
	pfs_soak_draw(&soak.plan, job->run, job->attempt, &job->line);
	(void)snprintf(command, sizeof(command), "ulimit -t %llu; exec '%s' %s --format json 2>&1",
		       (unsigned long long)soak.seconds, soak.program, job->line.text);
	job->used = 0;
	(void)fflush(NULL); /* so that the child does not write it again */
	job->pipe = popen(command, "r");
	return job->pipe != NULL;
}

static void write_run(const struct job *job, const char *fault, const json_t *found)
{
	if (soak.out.file == NULL)
		return;
	struct pfs_json json = { .out = soak.out.file, .is_compact = true };
	pfs_json_object(&json, NULL);
	pfs_json_count(&json, "run", job->run);
	pfs_json_text(&json, "line", job->line.text);
	pfs_json_text(&json, "fault", fault);
	for (size_t i = 0; i < BARS + SUMS; i++) {
		const char *name = i < BARS ? bars[i] : sums[i - BARS];
		const json_t *value = json_object_get(found, name);
		if (value != NULL)
			pfs_json_real(&json, name, 17, json_number_value(value));
	}
	pfs_json_end(&json);
}

/* The first bar that a run misses, in *text; NULL: none. Its counters go into the score. */
static const char *judge_counters(struct score *score, const json_t *found, char *text,
				  size_t text_bytes)
{
	const char *fault = NULL;
	for (size_t i = 0; i < BARS; i++) {
		double value = json_number_value(json_object_get(found, bars[i]));
		if (value <= 0)
			continue;
		score->bars[i] += value;
		if (fault == NULL)
			(void)snprintf(text, text_bytes, "%s %.0f", bars[i], value);
		fault = text;
	}
	for (size_t i = 0; i < SUMS; i++)
		score->sums[i] += json_number_value(json_object_get(found, sums[i]));
	return fault;
}

static const char *judge(struct score *score, const struct job *job, int state, char *text,
			 size_t text_bytes, json_t **found)
{
	json_error_t error;
	if (WIFSIGNALED(state) && (WTERMSIG(state) == SIGXCPU || WTERMSIG(state) == SIGKILL)) {
		(void)snprintf(text, text_bytes, "no end in %llu s of CPU time",
			       (unsigned long long)soak.seconds);
		return text;
	}
	if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
		(void)snprintf(text, text_bytes, "%s %d: %.300s",
			       WIFEXITED(state) ? "exit" : "signal",
			       WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state),
			       pfs_one_line((char *)job->output));
		return text;
	}
	*found = json_loads(job->output, 0, &error);
	if (*found == NULL) {
		(void)snprintf(text, text_bytes, "no JSON: %.300s", job->output);
		return text;
	}
	return judge_counters(score, *found, text, text_bytes);
}

/* False: refused as input; another line must be drawn. */
static bool end_run(struct job *job)
{
	struct score *score = &soak.scores[job->line.policy];
	char text[512];
	json_t *found = NULL;
	int state = pclose(job->pipe);
	job->pipe = NULL;
	if (WIFEXITED(state) && WEXITSTATUS(state) == 2)
		return false;
	const char *fault = judge(score, job, state, text, sizeof(text), &found);
	score->runs++;
	score->failed += fault != NULL;
	write_run(job, fault, found);
	json_decref(found);
	if (fault != NULL) {
		(void)printf("run %llu: %s\n  pfs-sim %s\n", (unsigned long long)job->run, fault,
			     job->line.text);
		(void)fflush(stdout);
	}
	return true;
}

/* ---- all of them ---- */

/* The job's next run, or the next attempt of its own; false: no process. */
static bool go_on(struct job *job, bool again)
{
	if (again) {
		soak.redrawn++;
		job->attempt++;
		return job->attempt < ATTEMPTS_MAX && launch(job);
	}
	if (soak.started == soak.runs)
		return true;
	job->run = soak.first + soak.started++;
	job->attempt = 0;
	return launch(job);
}

/* Reads the available output; at its end, starts the next run. */
static bool attend(struct job *job)
{
	size_t room = sizeof(job->output) - 1 - job->used;
	char rest[1024];
	ssize_t count = room != 0 ? read(fileno(job->pipe), job->output + job->used, room)
				  : read(fileno(job->pipe), rest, sizeof(rest));
	if (count > 0) {
		job->used += room != 0 ? (size_t)count : 0;
		return true;
	}
	job->output[job->used] = '\0';
	return go_on(job, !end_run(job));
}

static void show_progress(void)
{
	uint64_t runs = 0;
	for (uint32_t i = 0; i < soak.plan.policy_count; i++)
		runs += soak.scores[i].runs;
	if (isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\r%llu of %llu runs\r", (unsigned long long)runs,
			      (unsigned long long)soak.runs);
}

static bool run_all(void)
{
	struct pollfd polls[PFS_JOBS_MAX];
	bool good = true;
	for (uint64_t i = 0; i < soak.jobs && good; i++)
		good = go_on(&soak.all[i], false);
	for (;;) {
		nfds_t count = 0;
		for (uint64_t i = 0; i < soak.jobs; i++) {
			if (soak.all[i].pipe != NULL)
				polls[count++] = (struct pollfd){ fileno(soak.all[i].pipe), POLLIN,
								  0 };
		}
		if (count == 0 || !good)
			return good;
		if (poll(polls, count, -1) < 0 && errno != EINTR)
			return false;
		for (uint64_t i = 0, at = 0; i < soak.jobs && at < count; i++) {
			struct job *job = &soak.all[i];
			if (job->pipe == NULL || fileno(job->pipe) != polls[at].fd)
				continue;
			if (polls[at++].revents != 0)
				good = attend(job) && good;
		}
		show_progress();
	}
}

static int report(void)
{
	uint64_t runs = 0, failed = 0;
	for (uint32_t i = 0; i < soak.plan.policy_count; i++) {
		const struct score *score = &soak.scores[i];
		(void)printf("%s: %llu runs, %llu failed;", soak.plan.policies[i]->name,
			     (unsigned long long)score->runs, (unsigned long long)score->failed);
		for (size_t k = 0; k < BARS; k++)
			(void)printf(" %s %.0f", bars[k], score->bars[k]);
		(void)printf("; in all");
		for (size_t k = 0; k < SUMS; k++)
			(void)printf(" %s %.0f", sums[k], score->sums[k]);
		(void)printf("\n");
		runs += score->runs;
		failed += score->failed;
	}
	(void)printf("%llu runs of seed %llu, %llu failed; %llu refused as input were drawn anew\n",
		     (unsigned long long)runs, (unsigned long long)soak.plan.seed,
		     (unsigned long long)failed, (unsigned long long)soak.redrawn);
	return failed != 0;
}

/* ---- the command line ---- */

static enum pfs_status read_policies(void *context, const struct pfs_option *option,
				     const char *text, struct pfs_message *message)
{
	char names[512];
	(void)context;
	(void)snprintf(names, sizeof(names), "%s", text);
	soak.plan.policy_count = 0;
	for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
		const struct pfs_variant *variant = pfs_variant_find(name);
		if (variant == NULL || (~variant->traits & (PFS_TRAIT_C11 | PFS_TRAIT_INDEX)) != 0)
			return pfs_message_set(message, PFS_BAD_VARIANT,
					       "--%s '%.80s': not a policy that the machine can "
					       "simulate; pfs-sim list shows them",
					       option->name, name);
		if (soak.plan.policy_count == PFS_SOAK_POLICIES_MAX)
			return pfs_message_set(message, PFS_BAD_CONFIG,
					       "--%s '%.80s': give %u at "
					       "most",
					       option->name, name, PFS_SOAK_POLICIES_MAX);
		soak.plan.policies[soak.plan.policy_count++] = variant;
	}
	if (soak.plan.policy_count != 0)
		return PFS_OK;
	return pfs_message_set(message, PFS_BAD_CONFIG, "--%s '%.80s': name one", option->name,
			       text);
}

static enum pfs_status read_trace(void *context, const struct pfs_option *option, const char *text,
				  struct pfs_message *message)
{
	(void)context;
	if (strchr(text, '\'') != NULL || strlen(text) > 200 || access(text, R_OK) != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--%s '%.120s': cannot be read; "
				       "give a trace of results/traces",
				       option->name, text);
	soak.plan.trace = text;
	return PFS_OK;
}

static int read_arguments(int argc, char **argv)
{
	const struct pfs_option options[] = {
		PFS_NUMBER_OPTION("runs", "N", &soak.runs, 1, UINT64_C(1) << 40, "default 10000"),
		PFS_READ_OPTION("policies", "A,B", read_policies, "default exact,magazine"),
		PFS_NUMBER_OPTION("seed", "S", &soak.plan.seed, 0, UINT64_MAX,
				  "default 1; the "
				  "same runs, whatever --jobs is"),
		PFS_NUMBER_OPTION("first", "N", &soak.first, 0, UINT64_C(1) << 40,
				  "the number of "
				  "the first run, default 0"),
		PFS_NUMBER_OPTION("jobs", "N", &soak.jobs, 1, PFS_JOBS_MAX,
				  "processes at a time; "
				  "default: one for each CPU"),
		PFS_NUMBER_OPTION("seconds", "S", &soak.seconds, 1, 1000000,
				  "of CPU time, in "
				  "which each run must have ended; default 120"),
		PFS_READ_OPTION("trace", "FILE", read_trace,
				"of workload replay, which is left "
				"out otherwise"),
		PFS_TEXT_OPTION("out", "FILE", &soak.out_name, "a line of JSON for each run"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = program, .words = "", .options = options,
		.option_count = sizeof(options) / sizeof(options[0]),
		.about = "Random runs (pfs-sim run) over machines, threads, workloads, containers "
			 "and seeds. Each must end, pass its own checks, and have 0 of: "
			 "needless_growths, false_full; refused_early and grown_early, which are "
			 "judged by the calls alone. The line that repeats a failing run is "
			 "printed. Runs that are refused as input are drawn anew, and are not "
			 "counted.",
		.after = "exit 0: all held. 1: one did not. 2: bad usage.\n",
	};
	/* clang-format on */
	return pfs_command_line_read(&line, argc, argv, NULL);
}

/* PFS_GO_ON, or the exit status. */
static int prepare(int argc, char **argv)
{
	soak.runs = 10000;
	soak.plan.seed = 1;
	soak.jobs = pfs_jobs_default();
	soak.seconds = 120;
	soak.plan.policies[0] = pfs_variant_find("exact");
	soak.plan.policies[1] = pfs_variant_find("magazine");
	soak.plan.policy_count = 2;
	int status = read_arguments(argc, argv);
	if (status != PFS_GO_ON)
		return status;
	ssize_t count = readlink("/proc/self/exe", soak.program, sizeof(soak.program) - 1);
	if (count <= 0 || strchr(soak.program, '\'') != NULL)
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "'%.200s': its own path "
					  "has a quote; move it",
					  soak.program);
	if (soak.out_name != NULL && !pfs_output_begin(&soak.out, soak.out_name))
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "--out '%.120s': cannot be "
					  "written (%s); give another file",
					  soak.out_name, strerror(errno));
	return PFS_GO_ON;
}

int pfs_command_soak(int argc, char **argv)
{
	int status = prepare(argc, argv);
	if (status != PFS_GO_ON)
		return status;
	bool good = run_all();
	status = report();
	if (!good)
		status = pfs_command_refuse(program, 1,
					    "no process for a run, or none that is "
					    "not refused; give fewer --jobs");
	if (soak.out.file != NULL && !pfs_output_end(&soak.out))
		return pfs_command_refuse(program, PFS_EXIT_OUTPUT,
					  "--out '%.120s': cannot be "
					  "written (%s); free some space",
					  soak.out_name, strerror(errno));
	return status;
}
