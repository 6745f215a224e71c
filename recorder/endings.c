/*
 * endings.c - ends of a program that no destructor sees: _exit, and exec.
 *
 * The C library's own calls of these do not come here: system and posix_spawn make a child, which
 * is not recorded, and exit has run the destructors. A process that ends without any function, by a
 * signal or the bare system call, leaves an unfinished trace, which can be read.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

#define VISIBLE __attribute__((visibility("default")))

VISIBLE void _exit(int status)
{
	pfs_recorder_finish();
	for (;;)
		syscall(SYS_exit_group, status);
}

VISIBLE void _Exit(int status)
{
	_exit(status);
}

/* The real functions, for those that do more than the system call; set before there are threads. */
static struct {
	int (*execvpe)(const char *file, char *const *arguments, char *const *environment);
	int (*fexecve)(int file, char *const *arguments, char *const *environment);
} real;

__attribute__((constructor)) static void look_up(void)
{
	*(void **)&real.execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&real.fexecve = dlsym(RTLD_NEXT, "fexecve");
}

/* The recorded trace is finished; if this returns, the recording continues. */
static int go_on(bool paused, int status)
{
	int error = errno;

	if (paused)
		pfs_recorder_resume();
	errno = error;
	return status;
}

VISIBLE int execve(const char *path, char *const *arguments, char *const *environment)
{
	bool paused = pfs_recorder_pause();

	return go_on(paused, (int)syscall(SYS_execve, path, arguments, environment));
}

VISIBLE int execvpe(const char *file, char *const *arguments, char *const *environment)
{
	bool paused = pfs_recorder_pause();

	return go_on(paused, real.execvpe(file, arguments, environment));
}

VISIBLE int fexecve(int file, char *const *arguments, char *const *environment)
{
	bool paused = pfs_recorder_pause();

	return go_on(paused, real.fexecve(file, arguments, environment));
}

VISIBLE int execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

VISIBLE int execvp(const char *file, char *const *arguments)
{
	return execvpe(file, arguments, environ);
}

static size_t count(va_list rest)
{
	size_t words = 2; /* the first, and NULL */
	va_list copy;

	va_copy(copy, rest);
	while (va_arg(copy, char *) != NULL)
		words++;
	va_end(copy);
	return words;
}

/* The words up to NULL, on the caller's stack: there may be no memory in a child of vfork. */
static void collect(char **words, const char *first, va_list *rest)
{
	words[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; words[i - 1] != NULL; i++)
		words[i] = va_arg(*rest, char *);
}

VISIBLE int execl(const char *path, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	char *words[count(rest)];
	collect(words, first, &rest);
	va_end(rest);
	return execve(path, words, environ);
}

VISIBLE int execlp(const char *file, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	char *words[count(rest)];
	collect(words, first, &rest);
	va_end(rest);
	return execvpe(file, words, environ);
}

VISIBLE int execle(const char *path, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	char *words[count(rest)];
	collect(words, first, &rest);
	char *const *environment = va_arg(rest, char *const *);
	va_end(rest);
	return execve(path, words, environment);
}
