/*
 * cut.c - a program whose box is truncated while it runs, and programs with actions of their own
 * for SIGBUS.
 *
 * usage: cut threads SEED BYTES   threads that allocate and free each other's blocks; the box is
 *                                 truncated to BYTES meanwhile; then threads and a child begin
 *        cut actions              its own handlers see its own faults, before and after
 *        cut default | ignored    a fault of its own; a SIGBUS that is sent
 * Prints "survived".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define SHARED 64

static _Atomic(void *) shared[SHARED];
static atomic_bool is_over;

static void must(int fine, const char *what)
{
	if (fine)
		return;
	(void)fprintf(stderr, "cut: %s\n", what);
	exit(1);
}

static void cut_box(off_t bytes)
{
	char pattern[512];
	glob_t found;
	(void)snprintf(pattern, sizeof(pattern), "%s/%d-*.box", getenv("PFS_MEM_DIR"), getpid());
	must(glob(pattern, 0, NULL, &found) == 0, "there is no box");
	must(truncate(found.gl_pathv[0], bytes) == 0, "the box cannot be truncated");
	globfree(&found);
}

/* ---- threads ---- */

static void allocate(unsigned *seed, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		size_t bytes = (size_t)1 << (rand_r(seed) % 17);
		char *block = malloc(bytes + (size_t)rand_r(seed) % 100);
		must(block != NULL, "malloc refused");
		memset(block, 1, bytes);
		if (rand_r(seed) % 4 == 0)
			block = realloc(block, bytes * 2);
		free(atomic_exchange(&shared[rand_r(seed) % SHARED], block));
	}
}

static void *work(void *opaque)
{
	unsigned seed = (unsigned)(size_t)opaque;
	while (!is_over)
		allocate(&seed, 100);
	return NULL;
}

static void *work_once(void *opaque)
{
	unsigned seed = (unsigned)(size_t)opaque;
	allocate(&seed, 1000);
	return NULL;
}

static void begin_and_join(unsigned seed)
{
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, work_once, (void *)(seed + i)) == 0,
		     "no thread");
	for (size_t i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

static int fork_one(unsigned seed)
{
	pid_t child = fork();
	int status = 1;
	if (child == 0) {
		begin_and_join(seed);
		exit(0);
	}
	must(child > 0 && waitpid(child, &status, 0) == child, "no child");
	return status;
}

static void run_threads(unsigned seed, off_t bytes)
{
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, work, (void *)(seed + i)) == 0, "no thread");
	(void)usleep(20000 + seed % 7 * 5000);
	cut_box(bytes);
	begin_and_join(seed + 10);
	must(fork_one(seed + 20) == 0, "a child died");
	is_over = true;
	for (size_t i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	allocate(&seed, 1000);
}

/* ---- actions ---- */

static sigjmp_buf back;
static volatile int handled, sent;

static void on_fault(int number)
{
	handled += number == SIGBUS;
	siglongjmp(back, 1);
}

static void on_info(int number, siginfo_t *info, void *context)
{
	handled += number == SIGBUS && info->si_code == BUS_ADRERR && context != NULL;
	siglongjmp(back, 1);
}

static void on_sent(int number)
{
	sent += number == SIGBUS;
}

/* An access beyond the end of a file of its own. */
static void fault(void)
{
	char name[] = "/tmp/pfslab-cut-XXXXXX";
	int file = mkstemp(name);
	must(file >= 0 && ftruncate(file, 8192) == 0, "no file");
	volatile char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	must(page != MAP_FAILED && ftruncate(file, 0) == 0 && unlink(name) == 0, "no mapping");
	(void)close(file);
	if (sigsetjmp(back, 1) == 0)
		page[4096] = 1;
	(void)munmap((void *)(size_t)page, 8192);
}

static void see(int count, const char *what)
{
	handled = 0;
	fault();
	must(handled == count, what);
}

static void check_actions(void)
{
	struct sigaction before, with = { .sa_flags = SA_SIGINFO | SA_RESTART };
	with.sa_sigaction = on_info;
	must(sigaction(SIGBUS, NULL, &before) == 0 && before.sa_handler == SIG_DFL,
	     "at first there is no handler");
	must(signal(SIGBUS, on_fault) == SIG_DFL, "signal says the one before");
	see(1, "signal's handler");
	must(sigaction(SIGBUS, &with, &before) == 0 && before.sa_handler == on_fault &&
		     before.sa_flags == SA_RESTART,
	     "sigaction says the one before");
	see(1, "sigaction's handler");
	must(sigaction(SIGBUS, NULL, &before) == 0 && before.sa_sigaction == on_info &&
		     before.sa_flags == with.sa_flags,
	     "what was set is what is there");
	must(signal(SIGUSR1, SIG_IGN) == SIG_DFL && signal(SIGUSR1, SIG_DFL) == SIG_IGN,
	     "other signals are not concerned");
	(void)signal(SIGBUS, SIG_DFL);
}

/* A child that sets its actions before it execs, as shells do. */
static void check_children(void)
{
	int status = 1;
	(void)signal(SIGBUS, on_fault);
	pid_t child = vfork();
	if (child == 0)
		_exit(signal(SIGBUS, SIG_DFL) == on_fault && signal(SIGBUS, SIG_IGN) == SIG_DFL
			      ? 0
			      : 1);
	must(waitpid(child, &status, 0) == child && status == 0, "a vfork's child");
	see(1, "its parent's handler stays");
	child = fork();
	if (child == 0) {
		see(1, "a child has its parent's handler");
		must(signal(SIGBUS, SIG_DFL) == on_fault, "a child's action");
		exit(signal(SIGBUS, on_fault) == SIG_DFL ? 0 : 1);
	}
	must(waitpid(child, &status, 0) == child && status == 0, "a fork's child");
	see(1, "its parent's handler stays, too");
	(void)signal(SIGBUS, SIG_DFL);
}

static void check_sent(void)
{
	struct sigaction once = { .sa_handler = on_sent, .sa_flags = (int)SA_RESETHAND };
	struct sigaction after;
	must(sigaction(SIGBUS, &once, NULL) == 0 && raise(SIGBUS) == 0 && sent == 1, "a sent one");
	must(sigaction(SIGBUS, NULL, &after) == 0 && after.sa_handler == SIG_DFL,
	     "it was reset to the default");
	(void)signal(SIGBUS, SIG_IGN);
	must(raise(SIGBUS) == 0 && sent == 1, "an ignored one");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	free(malloc(100));
	if (strcmp(mode, "threads") == 0) {
		run_threads(seed, argc > 3 ? atol(argv[3]) : 0);
	} else if (strcmp(mode, "actions") == 0) {
		check_actions();
		check_children();
		cut_box(0);
		allocate(&seed, 10000);
		check_actions();
		check_children();
		check_sent();
	} else if (strcmp(mode, "default") == 0) {
		cut_box(0);
		allocate(&seed, 1000);
		fault();
	} else if (strcmp(mode, "ignored") == 0) {
		(void)signal(SIGBUS, SIG_IGN);
		(void)raise(SIGBUS);
		cut_box(0);
		allocate(&seed, 1000);
	}
	(void)puts("survived");
	return 0;
}
