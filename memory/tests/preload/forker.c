/*
 * forker.c - a program that makes other processes in every way, or becomes another program; its box
 * and theirs are compared with what it says.
 *
 * usage: forker fork | _Fork | clone | vfork | short | thread | exec HOW | drop | leak BYTES
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile kept[2000];

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	(void)fprintf(stderr, "forker: %s: %s\n", what, strerror(errno));
	_exit(3);
}

static void keep(unsigned from, unsigned count, size_t bytes)
{
	for (unsigned i = from; i < from + count; i++)
		kept[i] = malloc(bytes);
}

/* Prints "forker BYTES CHILD PID", and waits until the caller has looked. */
static void say(size_t bytes, pid_t child)
{
	char byte;
	(void)printf("forker %zu %d %d\n", bytes, (int)child, (int)getpid());
	(void)fflush(stdout);
	must(read(STDIN_FILENO, &byte, 1) >= 0, "the caller has gone");
}

/* ---- children ---- */

static int ready[2]; /* a pipe: the child has done its part */

static void begin_wait(void)
{
	must(pipe2(ready, O_CLOEXEC) == 0, "pipe");
}

static void tell(void)
{
	must(write(ready[1], "x", 1) == 1, "the parent has gone");
}

static void wait_for_child(void)
{
	char byte;
	(void)close(ready[1]);
	must(read(ready[0], &byte, 1) == 1, "the child has ended");
}

static pid_t make_child(const char *how)
{
	if (strcmp(how, "_Fork") == 0)
		return _Fork();
	if (strcmp(how, "clone") == 0)
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	return fork();
}

/* The child allocates, frees what it inherited, and waits to be killed. */
static void by(const char *how)
{
	keep(0, 1000, 1000);
	begin_wait();
	pid_t child = make_child(how);
	must(child >= 0, how);
	if (child == 0) {
		keep(1000, 500, 2000);
		for (unsigned i = 0; i < 100; i++)
			free(kept[i]);
		tell();
		(void)pause();
		_exit(0);
	}
	wait_for_child();
	keep(1500, 10, 1000);
	say(1010000, child);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	say(1010000, child);
}

/* What a vfork's child allocates is its parent's, as the memory is. */
static void by_vfork(void)
{
	keep(0, 1000, 1000);
	pid_t child = vfork(); /* NOLINT: this is what is tested */
	if (child == 0) {
		kept[1000] = malloc(2000);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	say(1002000, child);
}

/* Address space for little more than there is. */
static void short_of_memory(void)
{
	char text[64];
	keep(0, 1000, 100);
	begin_wait();
	int file = open("/proc/self/statm", O_RDONLY);
	ssize_t got = read(file, text, sizeof(text) - 1);
	must(got > 0, "statm");
	text[got] = '\0';
	rlim_t bytes = strtoull(text, NULL, 10) * 4096 + 16384;
	struct rlimit limit = { bytes, bytes };
	must(setrlimit(RLIMIT_AS, &limit) == 0, "RLIMIT_AS");
	pid_t child = fork();
	must(child >= 0, "fork");
	if (child == 0) {
		free(kept[0]);
		kept[0] = malloc(200);
		pid_t grandchild = fork();
		if (grandchild == 0)
			_exit(kept[0] != NULL ? 0 : 5);
		int status = 1;
		(void)waitpid(grandchild, &status, 0);
		if (status != 0)
			_exit(6);
		tell();
		(void)pause();
	}
	wait_for_child();
	say(100000, child);
	(void)kill(child, SIGKILL);
}

static void *allocate_first(void *unused)
{
	keep(1000, 100, 3000);
	tell();
	(void)pause();
	return unused;
}

static void *idle(void *unused)
{
	free(malloc(10));
	return unused;
}

/* The child's first calls come from a thread that it starts. */
static void by_thread(void)
{
	pthread_t thread;
	keep(0, 10, 100);
	must(pthread_create(&thread, NULL, idle, NULL) == 0 && pthread_join(thread, NULL) == 0,
	     "no thread");
	begin_wait();
	pid_t child = fork();
	if (child == 0) {
		(void)pthread_create(&thread, NULL, allocate_first, NULL);
		(void)pause();
	}
	wait_for_child();
	say(301000, child);
	(void)kill(child, SIGKILL);
}

/* A server that gives up its rights, and then makes a child. */
static void drop(void)
{
	keep(0, 10, 100);
	must(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0, "setuid");
	(void)prctl(PR_SET_DUMPABLE, 1);
	begin_wait();
	pid_t child = fork();
	if (child == 0) {
		keep(10, 10, 100);
		tell();
		(void)pause();
	}
	wait_for_child();
	say(2000, child);
	(void)kill(child, SIGKILL);
}

/* ---- another program ---- */

static void become(const char *how)
{
	static char *arguments[] = { (char *)"sleep", (char *)"60", NULL }, *none[] = { NULL };
	environ = none;
	keep(0, 10, 100);
	say(1000, 0);
	if (strcmp(how, "execve") == 0)
		(void)execve("/bin/sleep", arguments, none);
	else if (strcmp(how, "execv") == 0)
		(void)execv("/bin/sleep", arguments);
	else if (strcmp(how, "execvp") == 0)
		(void)execvp("sleep", arguments);
	else if (strcmp(how, "execvpe") == 0)
		(void)execvpe("sleep", arguments, none);
	else if (strcmp(how, "execl") == 0)
		(void)execl("/bin/sleep", "sleep", "60", (char *)NULL);
	else if (strcmp(how, "execlp") == 0)
		(void)execlp("sleep", "sleep", "60", (char *)NULL);
	else if (strcmp(how, "execle") == 0)
		(void)execle("/bin/sleep", "sleep", "60", (char *)NULL, none);
	else if (strcmp(how, "execveat") == 0)
		(void)execveat(AT_FDCWD, "/bin/sleep", arguments, none, 0);
	else if (strcmp(how, "fexecve") == 0)
		(void)fexecve(open("/bin/sleep", O_RDONLY | O_CLOEXEC), arguments, none);
	else if (strcmp(how, "syscall") == 0)
		(void)syscall(SYS_execve, "/bin/sleep", arguments, none);
	else if (strcmp(how, "nothing") == 0)
		(void)execl("/nothing/there", "nothing", (char *)NULL);
	say(1000, 0); /* only if it failed */
}

static void leak(size_t bytes)
{
	char *all = malloc(bytes);
	must(all != NULL, "no memory");
	memset(all, 1, bytes);
	(void)kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "vfork") == 0)
		by_vfork();
	else if (strcmp(what, "short") == 0)
		short_of_memory();
	else if (strcmp(what, "thread") == 0)
		by_thread();
	else if (strcmp(what, "drop") == 0)
		drop();
	else if (strcmp(what, "exec") == 0 && argc > 2)
		become(argv[2]);
	else if (strcmp(what, "leak") == 0 && argc > 2)
		leak((size_t)atoll(argv[2]));
	else
		by(what);
	return 0;
}
