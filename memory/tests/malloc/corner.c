/*
 * corner.c - runs subtests by name, reports failures by write(2), and waits for threads and
 * children.
 */
#define _GNU_SOURCE
#include "corner.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES 400
#define THREADS_MAX 512
#define STACK_BYTES ((size_t)128 << 10)

static const char *running = "?";
static char note[LINE_BYTES];

static void say(const char *verdict, const char *why)
{
	char line[LINE_BYTES + 100];
	int end = snprintf(line, sizeof(line), "%s %s%s%.*s\n", verdict, running,
			   why[0] != '\0' ? ": " : "", LINE_BYTES, why);
	if (write(STDOUT_FILENO, line, (size_t)end) < 0)
		_exit(1);
}

__attribute__((noreturn, format(printf, 3, 0))) static void
say_and_exit(int code, const char *verdict, const char *format, va_list arguments)
{
	char why[LINE_BYTES];
	(void)vsnprintf(why, sizeof(why), format, arguments);
	say(verdict, why);
	_exit(code);
}

void corner_fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say_and_exit(1, "failed", format, arguments);
}

void corner_skip(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say_and_exit(77, "skipped", format, arguments);
}

void corner_late(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say_and_exit(0, "late", format, arguments);
}

void corner_note(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(note, sizeof(note), format, arguments);
	va_end(arguments);
}

static struct corner *first, **end = &first;

void corner_add(struct corner *corner)
{
	*end = corner;
	end = &corner->next;
}

int corner_main(int argc, char **argv)
{
	static const struct rlimit no_core;
	bool lists = argc == 2 && strcmp(argv[1], "--list") == 0;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	for (struct corner *corner = first; corner != NULL; corner = corner->next) {
		if (lists) {
			(void)printf("%s\n", corner->name);
		} else if (argc == 2 && strcmp(argv[1], corner->name) == 0) {
			running = corner->name;
			if (corner->before != NULL)
				corner->before();
			corner->run();
			say("ok", note);
			return 0;
		}
	}
	if (lists)
		return 0;
	(void)fprintf(stderr, "usage: %s NAME | --list\n", argv[0]);
	return 2;
}

__attribute__((weak)) int main(int argc, char **argv)
{
	return corner_main(argc, argv);
}

static pthread_t threads[THREADS_MAX];
static unsigned thread_count;

void corner_start(unsigned count, void *(*body)(void *), void *argument)
{
	pthread_attr_t attributes;
	CORNER_CHECK(count <= THREADS_MAX, "%u threads are too many", count);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (unsigned i = 0; i < count; i++) {
		int error = pthread_create(&threads[i], &attributes, body, argument);
		CORNER_CHECK(error == 0, "thread %u: %s", i, strerror(error));
	}
	(void)pthread_attr_destroy(&attributes);
	thread_count = count;
}

void corner_join(void)
{
	for (unsigned i = 0; i < thread_count; i++)
		(void)pthread_join(threads[i], NULL);
}

void corner_threads(unsigned count, void *(*body)(void *), void *argument)
{
	corner_start(count, body, argument);
	corner_join();
}

void corner_again(const char *name, const char *value)
{
	char path[] = "/proc/self/exe";
	char *arguments[] = { path, strdup(running), NULL };
	(void)setenv(name, value, 1);
	(void)execv(path, arguments);
	corner_fail("execv: %s", strerror(errno));
}

unsigned corner_task_count(void)
{
	unsigned count = 0;
	DIR *tasks = opendir("/proc/self/task");
	for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks))
		count += task->d_name[0] != '.';
	(void)closedir(tasks);
	return count;
}

void corner_check_zero(const unsigned char *block, size_t size, const char *when)
{
	CORNER_CHECK(block != NULL, "calloc of %zu bytes: NULL", size);
	for (size_t i = 0; i < size; i++)
		CORNER_CHECK(block[i] == 0, "%s: byte %zu of %zu is %d", when, i, size, block[i]);
}

void corner_child(void (*body)(void *), void *argument, unsigned seconds)
{
	int status = 0;
	pid_t child = fork();
	CORNER_CHECK(child >= 0, "fork");
	if (child == 0) {
		(void)alarm(seconds);
		body(argument);
		exit(0);
	}
	CORNER_CHECK(waitpid(child, &status, 0) == child, "waitpid");
	CORNER_CHECK(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM, "the child hung for %u s",
		     seconds);
	CORNER_CHECK(!WIFSIGNALED(status), "the child died by signal %d", WTERMSIG(status));
	CORNER_CHECK(WEXITSTATUS(status) == 0, "the child exited with %d", WEXITSTATUS(status));
}

static void statm(unsigned long long *address, unsigned long long *resident)
{
	FILE *file = fopen("/proc/self/statm", "re");
	CORNER_CHECK(file != NULL && fscanf(file, "%llu %llu", address, resident) == 2, "statm");
	(void)fclose(file);
}

size_t corner_resident_bytes(void)
{
	unsigned long long address = 0, resident = 0;
	statm(&address, &resident);
	return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

size_t corner_address_bytes(void)
{
	unsigned long long address = 0, resident = 0;
	statm(&address, &resident);
	return (size_t)address * (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned char byte_of(unsigned seed, size_t at)
{
	uint64_t mixed = (at / 8 + seed) * UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned char)((mixed ^ (mixed >> 29)) >> (at % 8 * 7));
}

void corner_stamp(void *block, size_t length, unsigned seed)
{
	unsigned char *bytes = block;
	for (size_t i = 0; i < length; i++)
		bytes[i] = byte_of(seed, i);
}

size_t corner_stamp_differs(const void *block, size_t length, unsigned seed)
{
	const unsigned char *bytes = block;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != byte_of(seed, i))
			return i;
	return length;
}
