/*
 * corner_threads.c - very many threads, small stacks, signals: what a thread costs and leaves, and
 * which threads may receive a signal.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corner.h"

#define SHORT_LIVED 5000
#define AT_ONCE 400

static void use(unsigned seed)
{
	unsigned char *blocks[50];
	for (unsigned i = 0; i < 50; i++) {
		size_t size = 1 + (seed + i * 61) % 3000;
		blocks[i] = malloc(size);
		CORNER_CHECK(blocks[i] != NULL, "malloc(%zu)", size);
		corner_stamp(blocks[i], size < 64 ? size : 64, i);
	}
	for (unsigned i = 0; i < 50; i++) {
		size_t size = 1 + (seed + i * 61) % 3000;
		size = size < 64 ? size : 64;
		CORNER_CHECK(corner_stamp_differs(blocks[i], size, i) == size, "a block changed");
		free(blocks[i]);
	}
}

static void *use_once(void *unused)
{
	(void)unused;
	use(17);
	return NULL;
}

CORNER(threads_short_lived)
{
	corner_threads(4, use_once, NULL);
	size_t before = corner_resident_bytes(), address = corner_address_bytes();
	for (int i = 0; i < SHORT_LIVED / 4; i++)
		corner_threads(4, use_once, NULL);
	size_t after = corner_resident_bytes();
	CORNER_CHECK(after < before + ((size_t)8 << 20), "%d threads left %zu bytes", SHORT_LIVED,
		     after - before);
	corner_note("left %zd KiB resident, %zd KiB address space",
		    (ssize_t)(after - before) / 1024,
		    (ssize_t)(corner_address_bytes() - address) / 1024);
}

/* Blocks of ended threads stay valid and can be freed. */
static void *left_blocks[AT_ONCE];
static unsigned left_count;
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;

static void *leave_one(void *unused)
{
	void *block = malloc(1000);
	(void)unused;
	use(5);
	(void)pthread_mutex_lock(&left_lock);
	corner_stamp(block, 1000, left_count);
	left_blocks[left_count++] = block;
	(void)pthread_mutex_unlock(&left_lock);
	return NULL;
}

CORNER(threads_leave_blocks)
{
	for (unsigned round = 0; round < 5; round++) {
		left_count = 0;
		corner_threads(AT_ONCE, leave_one, NULL);
		for (unsigned i = 0; i < left_count; i++) {
			CORNER_CHECK(corner_stamp_differs(left_blocks[i], 1000, i) == 1000,
				     "block %u changed", i);
			free(left_blocks[i]);
		}
	}
}

static pthread_barrier_t met;

static void *use_and_meet(void *unused)
{
	(void)unused;
	use(1);
	(void)pthread_barrier_wait(&met);
	for (unsigned i = 0; i < 20; i++)
		use(i);
	(void)pthread_barrier_wait(&met);
	return NULL;
}

CORNER(threads_at_once)
{
	(void)pthread_barrier_init(&met, NULL, AT_ONCE);
	corner_threads(AT_ONCE, use_and_meet, NULL);
}

static void *use_all_sizes(void *unused)
{
	(void)unused;
	for (size_t size = 1; size < (size_t)4 << 20; size = size * 3 / 2 + 1) {
		unsigned char *block = malloc(size);
		block = realloc(block, size * 2);
		CORNER_CHECK(block != NULL, "realloc(%zu)", size * 2);
		block[size] = 1;
		free(block);
		free(calloc(size, 1));
	}
	return NULL;
}

/* Thread-local data of libraries is placed on the stack; a large amount would leave no stack here.
 * */
CORNER(threads_smallest_stack)
{
	pthread_attr_t attributes;
	(void)pthread_attr_init(&attributes);
	CORNER_CHECK(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) == 0,
		     "stack of %zu bytes", (size_t)PTHREAD_STACK_MIN);
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		int error = pthread_create(&thread, &attributes, use_all_sizes, NULL);
		CORNER_CHECK(error == 0, "pthread_create: %s", strerror(error));
		(void)pthread_join(thread, NULL);
	}
}

static sem_t go_on;

static void *wait_for_cancel(void *unused)
{
	(void)unused;
	use(3);
	(void)sem_post(&go_on);
	for (;;) {
		use(4);
		pthread_testcancel();
	}
	return NULL;
}

CORNER(threads_cancelled)
{
	(void)sem_init(&go_on, 0, 0);
	for (int i = 0; i < 200; i++) {
		pthread_t thread;
		CORNER_CHECK(pthread_create(&thread, NULL, wait_for_cancel, NULL) == 0, "create");
		(void)sem_wait(&go_on);
		(void)pthread_cancel(thread);
		(void)pthread_join(thread, NULL);
	}
}

/* ---- a process ends with its last thread, and the allocator's does not count ---- */

static void *work_on(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 20; i++) {
		use(i);
		(void)usleep(10000);
	}
	return NULL;
}

static void leave_workers(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		CORNER_CHECK(pthread_create(&thread, NULL, work_on, NULL) == 0, "create");
		(void)pthread_detach(thread);
	}
	use(1);
	pthread_exit(NULL);
}

CORNER(threads_outlive_main)
{
	corner_child(leave_workers, NULL, 10);
}

/* The thread that forks is the child's only one: when it returns, the child ends. */
static void *fork_and_return(void *status)
{
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(10);
		corner_threads(2, work_on, NULL);
		return NULL;
	}
	CORNER_CHECK(waitpid(child, status, 0) == child, "waitpid");
	return NULL;
}

CORNER(threads_fork_and_return)
{
	int status = 1;
	pthread_t thread;
	corner_threads(2, work_on, NULL);
	CORNER_CHECK(pthread_create(&thread, NULL, fork_and_return, &status) == 0, "create");
	(void)pthread_join(thread, NULL);
	CORNER_CHECK(status == 0, "the child's thread has returned, and the child ends by %#x",
		     (unsigned)status);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled_on;

static void handler(int signal_number)
{
	(void)signal_number;
	handled_on = (sig_atomic_t)gettid();
}

static void *work_a_while(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 300; i++) {
		use(i);
		(void)usleep(5000);
	}
	return NULL;
}

/* All threads of the program block the signal: it must stay pending. */
CORNER(signals_stay_pending)
{
	static const int signals[] = { SIGUSR1, SIGTERM, SIGALRM, SIGCHLD, SIGPROF };
	sigset_t set, pending;
	(void)sigfillset(&set);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 5; i++)
		(void)signal(signals[i], handler);
	corner_threads(4, work_a_while, NULL);
	for (int i = 0; i < 5; i++)
		(void)kill(getpid(), signals[i]);
	(void)usleep(300000);
	CORNER_CHECK(handled_on == 0, "handled on thread %d, which is not the program's",
		     (int)handled_on);
	(void)sigpending(&pending);
	for (int i = 0; i < 5; i++)
		CORNER_CHECK(sigismember(&pending, signals[i]) == 1, "%d is lost", signals[i]);
}

static unsigned long long blocked_by(const char *task)
{
	char path[300], line[200];
	unsigned long long mask = 0;
	(void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	if (file != NULL)
		(void)fclose(file);
	return mask;
}

/* The allocator's own thread blocks every signal that can be blocked, except faults. */
CORNER(signals_masked)
{
	unsigned others = 0;
	const unsigned long long faults = (1ULL << (SIGSEGV - 1)) | (1ULL << (SIGBUS - 1)) |
					  (1ULL << (SIGFPE - 1)) | (1ULL << (SIGILL - 1)) |
					  (1ULL << (SIGTRAP - 1)) | (1ULL << (SIGABRT - 1)) |
					  (1ULL << (SIGSYS - 1)) | (1ULL << (SIGKILL - 1)) |
					  (1ULL << (SIGSTOP - 1)) | (3ULL << 31);
	corner_threads(4, work_a_while, NULL);
	DIR *tasks = opendir("/proc/self/task");
	for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
		if (task->d_name[0] == '.' || atoi(task->d_name) == getpid())
			continue;
		others++;
		CORNER_CHECK((~blocked_by(task->d_name) & ~faults) == 0,
			     "thread %s blocks only %#llx", task->d_name, blocked_by(task->d_name));
	}
	(void)closedir(tasks);
	corner_note("%u threads of its own", others);
}
