/*
 * corner_fork_free.c - fork beside much free memory: a child does not pay for it, and can use it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corner.h"

#define HANG_SECONDS 20

#define MANY 2200 /* 132 MB: 258 KiB of page tables */
#define MANY_BYTES ((size_t)60000)

static unsigned char *many[MANY];
static long tables_before;

/* KiB of page tables that the process has. */
static long page_tables(void)
{
	char line[128];
	long tables = -1;
	FILE *status = fopen("/proc/self/status", "r");
	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		(void)sscanf(line, "VmPTE: %ld", &tables);
	if (status != NULL)
		(void)fclose(status);
	if (tables < 0)
		corner_skip("the system does not count page tables");
	return tables;
}

static void many_stamped(unsigned seed)
{
	for (unsigned i = 0; i < MANY; i++) {
		many[i] = calloc(1, MANY_BYTES);
		corner_check_zero(many[i], MANY_BYTES, "from calloc");
		corner_stamp(many[i], MANY_BYTES, seed + i);
	}
}

static void many_checked(void *seed)
{
	for (unsigned i = 0; i < MANY; i++)
		CORNER_CHECK(corner_stamp_differs(many[i], MANY_BYTES, *(unsigned *)seed + i) ==
				     MANY_BYTES,
			     "block %u changed", i);
}

static void many_freed(void)
{
	for (unsigned i = 0; i < MANY; i++)
		free(many[i]);
}

static void child_of_many(void *generations)
{
	unsigned left = *(unsigned *)generations, seed = left;
	long tables = page_tables();
	CORNER_CHECK(tables < tables_before / 2, "%ld KiB of page tables of %ld", tables,
		     tables_before);
	many_stamped(seed);
	corner_child(many_checked, &seed, HANG_SECONDS);
	many_freed();
	tables_before = page_tables();
	if (--left > 0)
		corner_child(child_of_many, &left, HANG_SECONDS);
}

/* A second thread: from now on there are fork handlers. */
static void *use_once(void *unused)
{
	free(malloc(100));
	return unused;
}

static void fork_rounds(void)
{
	unsigned generations = 2, seed = 7;
	for (unsigned round = 0; round < 2; round++) {
		many_stamped(seed);
		many_freed();
		tables_before = page_tables();
		corner_child(child_of_many, &generations, HANG_SECONDS);
	}
	many_stamped(seed);
	corner_child(many_checked, &seed, HANG_SECONDS);
}

/* A child does not get page tables of free memory, and can use that memory. */
CORNER(fork_beside_free)
{
	corner_threads(1, use_once, NULL);
	fork_rounds();
}

/* So in a program that never has a second thread. */
CORNER(fork_of_one_thread)
{
	fork_rounds();
}

/* The free that makes 16 MiB free registers fork handlers, and the program's dlerror stays. */
CORNER(free_keeps_dlerror)
{
	enum { BYTES = 64 << 20, PARTS = 300, PART_BYTES = 100000 };
	static char *parts[PARTS];
	char *large = malloc(BYTES);
	CORNER_CHECK(large != NULL, "no memory");
	memset(large, 1, BYTES);
	for (unsigned i = 0; i < PARTS; i++)
		parts[i] = malloc(PART_BYTES);
	CORNER_CHECK(dlopen("/none/here.so", RTLD_NOW) == NULL, "there is such a library");
	free(large);
	for (unsigned i = 0; i < PARTS; i++)
		free(parts[i]);
	const char *said = dlerror();
	CORNER_CHECK(said != NULL && strstr(said, "here.so") != NULL, "dlerror says nothing");
}

static void wait_for(pid_t child)
{
	int status = 0;
	CORNER_CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
	CORNER_CHECK(status == 0, "the child's status is %#x", (unsigned)status);
}

/* A child whose fork handlers do not run has all memory, also after a fork by the handlers. */
CORNER(fork_without_handlers)
{
	unsigned generations = 1, seed = 3;
	corner_threads(1, use_once, NULL);
	many_stamped(seed);
	many_freed();
	tables_before = LONG_MAX;
	corner_child(child_of_many, &generations, HANG_SECONDS);
	for (unsigned call = 0; call < 2; call++) {
		pid_t child = call == 0 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (child == 0) {
			(void)alarm(HANG_SECONDS);
			many_stamped(seed);
			many_checked(&seed);
			_exit(0);
		}
		wait_for(child);
	}
}
