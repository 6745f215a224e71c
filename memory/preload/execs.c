/*
 * execs.c - the calls by which a process becomes another program. Its memory goes, so its box is
 * marked: it is no trace of a program that was killed. A new program that counts replaces it.
 *
 * A vfork's child has its parent's memory and process id of its own: it marks nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter.h"
#include "memory/malloc/next.h"

#define PUBLIC __attribute__((visibility("default")))

extern char **environ;

/* A failed call has no other effect. */
static int failed(bool is_marked)
{
	if (is_marked)
		pfs_program_exec(false);
	return -1;
}

static int by_path(const char *path, char *const *arguments, char *const *environment)
{
	bool is_marked = pfs_program_exec(true);
	(void)syscall(SYS_execve, path, arguments, environment);
	return failed(is_marked);
}

/* glibc's looks along PATH, and calls its own execve. */
static int by_name(const char *name, char *const *arguments, char *const *environment)
{
	typedef int call(const char *, char *const *, char *const *);
	static _Atomic(void *) known;
	call *next = (call *)pfs_next("execvpe", &known);
	if (next == NULL) {
		errno = ENOSYS;
		return -1;
	}
	bool is_marked = pfs_program_exec(true);
	(void)next(name, arguments, environment);
	return failed(is_marked);
}

PUBLIC int execve(const char *path, char *const *arguments, char *const *environment)
{
	return by_path(path, arguments, environment);
}

PUBLIC int execv(const char *path, char *const *arguments)
{
	return by_path(path, arguments, environ);
}

PUBLIC int execvpe(const char *name, char *const *arguments, char *const *environment)
{
	return by_name(name, arguments, environment);
}

PUBLIC int execvp(const char *name, char *const *arguments)
{
	return by_name(name, arguments, environ);
}

PUBLIC int execveat(int folder, const char *path, char *const *arguments, char *const *environment,
		    int flags)
{
	bool is_marked = pfs_program_exec(true);
	(void)syscall(SYS_execveat, folder, path, arguments, environment, flags);
	return failed(is_marked);
}

PUBLIC int fexecve(int file, char *const *arguments, char *const *environment)
{
	return execveat(file, "", arguments, environment, AT_EMPTY_PATH);
}

/* ---- arguments one by one ---- */

/* Up to the one that is NULL, which is counted. */
static size_t count_from(va_list list)
{
	size_t count = 2;
	va_list copy;
	va_copy(copy, list);
	while (va_arg(copy, char *) != NULL)
		count++;
	va_end(copy);
	return count;
}

static void fill(char **arguments, size_t count, const char *first, va_list list)
{
	arguments[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i < count; i++)
		arguments[i] = va_arg(list, char *);
}

PUBLIC int execl(const char *path, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	size_t count = count_from(list);
	char *arguments[count];
	fill(arguments, count, first, list);
	va_end(list);
	return by_path(path, arguments, environ);
}

PUBLIC int execlp(const char *name, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	size_t count = count_from(list);
	char *arguments[count];
	fill(arguments, count, first, list);
	va_end(list);
	return by_name(name, arguments, environ);
}

PUBLIC int execle(const char *path, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	size_t count = count_from(list);
	char *arguments[count];
	fill(arguments, count, first, list);
	char *const *environment = va_arg(list, char *const *);
	va_end(list);
	return by_path(path, arguments, environment);
}
