/*
 * load.c - pfs-malloc-load: a workload for whatever allocator this process has; see load.h.
 *
 * usage: pfs-malloc-load WORKLOAD [--threads=N] [--count=N] [--seed=N] [--idle_ms=N] [--trace=FILE]
 * Exit 0: done; stdout has what the workload says of itself. 1: it went wrong. 2: bad usage.
 */
#define _GNU_SOURCE 1
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 4096u

static const struct load *const loads[] = {
	&load_tiny, &load_pair, &load_handoff, &load_drain, &load_server, &load_burst, &load_idle,
	&load_idle_foreign, &load_free_only, &load_dying, &load_large, &load_mixed, &load_replay,
};

void load_fail(const char *what)
{
	dprintf(STDERR_FILENO, "pfs-malloc-load: %s\n", what);
	_exit(1);
}

void load_say(const char *name, uint64_t value)
{
	dprintf(STDOUT_FILENO, "%s %llu\n", name, (unsigned long long)value);
}

uint64_t load_resident(void)
{
	char text[2048] = "";
	int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
	const char *line = size > 0 ? strstr(text, "Rss:") : NULL;

	if (file >= 0)
		close(file);
	return line == NULL ? 0 : strtoull(line + 4, NULL, 10) * 1024;
}

void load_settle(const struct load_options *options)
{
	struct timespec left = {.tv_sec = options->idle_ms / 1000,
				.tv_nsec = (long)(options->idle_ms % 1000) * 1000000};

	if (options->idle_ms == 0)
		return;
	load_say("idle", 1);
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
	load_say("idle_bytes", load_resident());
}

void *load_map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED)
		load_fail("no memory for the workload itself");
	return memory;
}

void load_unmap(void *memory, size_t bytes)
{
	(void)munmap(memory, bytes);
}

void load_threads(uint32_t count, void *(*body)(void *), void *contexts, size_t size)
{
	static pthread_t threads[THREADS_MAX];

	for (uint32_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, body, (char *)contexts + i * size) != 0)
			load_fail("a thread cannot be started");
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static int usage(const char *what)
{
	fprintf(stderr, "pfs-malloc-load: %s; usage: WORKLOAD [--threads=N] [--count=N] [--seed=N] "
		"[--idle_ms=N] [--trace=FILE]; workloads, with threads and count:\n", what);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		fprintf(stderr, "  %-13s %3u %9llu  %s\n", loads[i]->name, loads[i]->threads,
			(unsigned long long)loads[i]->count, loads[i]->summary);
	return 2;
}

/* --name=number with a number of at most most. */
static bool take_number(const char *argument, const char *name, uint64_t most, uint64_t *value)
{
	size_t length = strlen(name);
	char *end;

	if (strncmp(argument, name, length) != 0 || argument[length] < '0' ||
	    argument[length] > '9')
		return false;
	errno = 0;
	unsigned long long number = strtoull(argument + length, &end, 10);
	if (errno != 0 || *end != '\0' || number > most)
		return false;
	*value = number;
	return true;
}

int main(int argc, char **argv)
{
	const struct load *load = NULL;
	uint64_t threads, count, seed = 1, idle_ms = 0;
	struct load_options options = {.trace = NULL};

	for (size_t i = 0; argc > 1 && i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strcmp(loads[i]->name, argv[1]) == 0)
			load = loads[i];
	if (load == NULL)
		return usage(argc > 1 ? "unknown workload" : "name a workload");
	threads = load->threads;
	count = load->count;
	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], "--trace=", 8) == 0)
			options.trace = argv[i] + 8;
		else if (!take_number(argv[i], "--threads=", THREADS_MAX, &threads) &&
			 !take_number(argv[i], "--count=", UINT64_C(1) << 40, &count) &&
			 !take_number(argv[i], "--seed=", UINT32_MAX, &seed) &&
			 !take_number(argv[i], "--idle_ms=", 600000, &idle_ms))
			return usage("an option that cannot be understood");
	}
	if (threads == 0 || count == 0)
		return usage("threads and count must be above 0");
	options.threads = (uint32_t)threads;
	options.count = count;
	options.seed = seed;
	options.idle_ms = (uint32_t)idle_ms;
	load->run(&options);
	return 0;
}
