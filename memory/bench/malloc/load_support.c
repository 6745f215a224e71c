/*
 * load_support.c - shared by the workloads: memory of their own, threads, and their output.
 */
#define _GNU_SOURCE 1
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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
	struct timespec left = { .tv_sec = options->idle_ms / 1000,
				 .tv_nsec = (long)(options->idle_ms % 1000) * 1000000 };

	if (options->idle_ms == 0)
		return;
	load_say("idle", 1);
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
	load_say("idle_bytes", load_resident());
}

void *load_map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);

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
	static pthread_t threads[LOAD_THREADS_MAX];

	for (uint32_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, body, (char *)contexts + i * size) != 0)
			load_fail("a thread cannot be started");
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}
