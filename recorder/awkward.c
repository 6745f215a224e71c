/*
 * awkward.c - a program for the tests of the recorder that is hard to record.
 *
 * usage: awkward descriptors closefrom|close_range|loop FILE
 *        awkward end exit|_exit|_Exit|quick_exit|exec|handler|crowd|
 *                     raw|abort|term|kill
 *        awkward child exec_fails|vfork|clone|nobody|renamed [TRACE]
 * It allocates and frees objects of 1500 bytes, prints how many in one line of `threads allocations
 * frees`, and then does what its second word says.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECT_BYTES 1500
#define OBJECTS 60000u /* their events fill several chunks */
#define HANDFUL 700u   /* fewer than a drain takes at a time */
#define DESCRIPTORS 1024
#define NOBODY 65534
#define LINE "a line of the user's own file\n"

static unsigned long made;

static void make(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void *volatile object = malloc(OBJECT_BYTES);
		if (object == NULL)
			abort();
		free(object);
	}
	made += count;
}

static void say(void)
{
	dprintf(STDOUT_FILENO, "1 %lu %lu\n", made, made);
}

/* As daemons do: close all inherited descriptors, then open an own file. */
static int run_descriptors(const char *how, const char *path)
{
	make(HANDFUL);
	if (strcmp(how, "closefrom") == 0)
		closefrom(STDERR_FILENO + 1);
	else if (strcmp(how, "close_range") == 0)
		close_range(STDERR_FILENO + 1, ~0u, 0);
	else
		for (int i = STDERR_FILENO + 1; i < DESCRIPTORS; i++)
			close(i);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	for (unsigned i = 0; i < 100; i++) {
		if (write(file, LINE, strlen(LINE)) != (ssize_t)strlen(LINE))
			return 1;
		make(OBJECTS / 100);
	}
	for (int i = file + 1; i < DESCRIPTORS; i++) /* and wherever else one may be looked for */
		dup2(file, i);
	make(OBJECTS);
	say();
	return 0;
}

static void leave(int number)
{
	(void)number;
	_exit(0);
}

static void *make_for_ever(void *context)
{
	for (;;) {
		void *volatile object = malloc(OBJECT_BYTES);
		free(object);
	}
	return context;
}

static int run_end(const char *how)
{
	pthread_t thread;

	for (int i = 0; i < 3 && strcmp(how, "crowd") == 0; i++)
		if (pthread_create(&thread, NULL, make_for_ever, NULL) != 0)
			return 1;
	make(OBJECTS);
	make(HANDFUL);
	say();
	if (strcmp(how, "crowd") == 0)
		_exit(0);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "_Exit") == 0)
		_Exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(how, "exec") == 0)
		execlp("true", "true", "and", "more", (char *)NULL);
	if (strcmp(how, "raw") == 0)
		syscall(SYS_exit_group, 0);
	if (strcmp(how, "handler") == 0) {
		signal(SIGTERM, leave);
		raise(SIGTERM);
	}
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "term") == 0)
		raise(SIGTERM);
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	return strcmp(how, "exit") != 0;
}

/* Children that share the memory, or have a copy of it that was made without the handlers of
 * fork(). */
static int run_child(const char *how, const char *trace)
{
	char *none[] = { "/nonexistent/program", NULL };

	make(OBJECTS);
	if (strcmp(how, "exec_fails") == 0) {
		execv(none[0], none);
		execlp("nonexistent-program", "x", (char *)NULL);
	} else if (strcmp(how, "vfork") == 0) {
		pid_t child = vfork();
		if (child == 0) {
			execve(none[0], none, environ);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	} else if (strcmp(how, "clone") == 0) {
		long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (child == 0) {
			make(OBJECTS);
			exit(0);
		}
		waitpid((pid_t)child, NULL, 0);
	} else if (strcmp(how, "nobody") == 0) { /* as servers do that began as root */
		if (setuid(NOBODY) != 0)
			return 1;
	} else if (strcmp(how, "renamed") == 0) {
		char other[4096];
		snprintf(other, sizeof(other), "%s.moved", trace);
		if (rename(trace, other) != 0)
			return 1;
		int mine = open(trace, O_WRONLY | O_CREAT, 0644);
		if (write(mine, LINE, strlen(LINE)) != (ssize_t)strlen(LINE))
			return 1;
	}
	make(OBJECTS);
	say();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "descriptors") == 0)
		return run_descriptors(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "end") == 0)
		return run_end(argv[2]);
	if (argc >= 3 && strcmp(argv[1], "child") == 0)
		return run_child(argv[2], argc == 4 ? argv[3] : "");
	return 2;
}
