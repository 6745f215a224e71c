/*
 * run.c - pfs-malloc-run: runs a program with a library preloaded, and reports what it used.
 *
 * usage: pfs-malloc-run [--preload=LIBRARY] [--sample-ms=N] [--out=FILE] -- PROGRAM ARGUMENT...
 * The library is preloaded into the program only. FILE (default: stderr) gets one JSON object: exit
 * code, user and system time, wall time, peak resident set, the program's mean resident set over
 * all samples, page faults. Times include those children that the program waited for. This process
 * is small, because a child's peak resident set begins with its parent's at the fork; a Python
 * program would be too large. Exit: the program's; 128 + N where signal N ended it; 126: it could
 * not be started; 2: bad usage.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/command_line.h"
#include "base/json.h"
#include "base/now.h"

struct wish {
	const char *preload, *out;
	int sample_ms;
	char **program;
};

static pid_t child;

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* A signal to this process is meant for the program. */
static void pass_on(int signal)
{
	if (child > 0)
		kill(child, signal);
}

static uint64_t resident_bytes(int statm)
{
	char text[128] = "";
	char *field = text;

	if (pread(statm, text, sizeof(text) - 1, 0) <= 0)
		return 0;
	(void)strtoull(field, &field, 10);
	return strtoull(field, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void hold_back(int how)
{
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(how, &ended, NULL);
}

static void become(const struct wish *wish)
{
	hold_back(SIG_UNBLOCK);
	if (wish->preload != NULL)
		setenv("LD_PRELOAD", wish->preload, 1);
	execvp(wish->program[0], wish->program);
	dprintf(STDERR_FILENO, "pfs-malloc-run: %s: %s\n", wish->program[0], strerror(errno));
	_exit(126);
}

/* Wait until the program ends. Returns its mean resident set; 0: it ended before the first sample.
 * */
static double watch(const struct wish *wish, int *status, struct rusage *usage)
{
	struct timespec pause = { .tv_nsec = (long)wish->sample_ms * 1000000 };
	sigset_t ended;
	char path[64];
	double sum = 0;
	uint64_t samples = 0;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)child);
	int statm = open(path, O_RDONLY | O_CLOEXEC);
	while (wait4(child, status, WNOHANG, usage) == 0) {
		sigtimedwait(&ended, NULL, &pause);
		uint64_t bytes = statm < 0 ? 0 : resident_bytes(statm);
		sum += (double)bytes;
		samples += bytes != 0;
	}
	return samples == 0 ? 0 : sum / (double)samples;
}

static bool report(const struct wish *wish, int status, const struct rusage *usage, double wall,
		   double mean)
{
	struct pfs_json json = { .out = wish->out == NULL ? stderr : fopen(wish->out, "we") };
	bool good = json.out != NULL;
	if (good) {
		pfs_json_object(&json, NULL);
		pfs_json_integer(&json, "exit", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		pfs_json_integer(&json, "signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		pfs_json_fixed(&json, "user_s", 6, seconds(usage->ru_utime));
		pfs_json_fixed(&json, "system_s", 6, seconds(usage->ru_stime));
		pfs_json_fixed(&json, "wall_s", 6, wall);
		pfs_json_integer(&json, "peak_bytes", (int64_t)usage->ru_maxrss * 1024);
		pfs_json_fixed(&json, "mean_bytes", 0, mean);
		pfs_json_integer(&json, "minor_faults", usage->ru_minflt);
		pfs_json_end(&json);
		good = ferror(json.out) == 0;
	}
	if (good && wish->out != NULL)
		good = fclose(json.out) == 0;
	if (!good)
		perror("pfs-malloc-run: the result cannot be written");
	return good;
}

/* PFS_GO_ON, or the exit status. */
static int parse(int argc, char **argv, struct wish *wish)
{
	uint64_t sample_ms = 10;
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("preload", "LIBRARY", &wish->preload, "into the program only"),
		PFS_NUMBER_OPTION("sample-ms", "N", &sample_ms, 1, 999,
				  "between two samples of "
				  "its resident set; default 10"),
		PFS_TEXT_OPTION("out", "FILE", &wish->out,
				"gets the JSON; default: standard "
				"error"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-malloc-run", .words = "-- PROGRAM [ARGUMENT...]", .words_min = 1,
		.stops = true, .options = options, .option_count = 3,
		.about = "a program with a library preloaded, and what it took",
		.after = "exit: the program's; 128 + N where signal N ended it; 126: it could "
			 "not be started;\n2: bad usage\n",
	};
	/* clang-format on */
	int next = 0;

	*wish = (struct wish){ .out = NULL };
	int status = pfs_command_line_read(&line, argc, argv, &next);
	wish->sample_ms = (int)sample_ms;
	wish->program = argv + next;
	return status;
}

int main(int argc, char **argv)
{
	struct wish wish;
	struct rusage usage;
	int status = parse(argc, argv, &wish);

	if (status != PFS_GO_ON)
		return status;
	double begin = pfs_now_seconds(CLOCK_MONOTONIC);
	hold_back(SIG_BLOCK); /* watch() waits for it */
	child = fork();
	if (child == 0)
		become(&wish);
	if (child < 0) {
		perror("pfs-malloc-run: fork");
		return 126;
	}
	signal(SIGTERM, pass_on);
	signal(SIGINT, pass_on);
	double mean = watch(&wish, &status, &usage);
	if (!report(&wish, status, &usage, pfs_now_seconds(CLOCK_MONOTONIC) - begin, mean))
		return 126;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
