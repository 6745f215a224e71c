/*
 * corner_single.c - programs with one thread: unshare and setns fail in a process with a second
 * thread, so malloc must not start one before the program does. And those whose other threads have
 * ended, or do nothing. Nor may malloc ask for barriers in other threads while there are none,
 * because a sandbox may know no such call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corner.h"

#define BLOCKS 5000
#define FREED_LATE 3000 /* 60 MB */

static void work_once(void)
{
	static _Thread_local void *blocks[BLOCKS];
	for (unsigned i = 0; i < BLOCKS; i++) {
		size_t size = 1 + i * 7919u % (i % 50 == 0 ? 300000 : 6000);
		blocks[i] = malloc(size);
		memset(blocks[i], 1, size);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

/* Allocate and free much for a while, so that whatever starts late has started. */
static void work(void)
{
	for (int round = 0; round < 10; round++) {
		work_once();
		(void)usleep(150000);
	}
}

CORNER(one_thread)
{
	work();
	CORNER_CHECK(corner_task_count() == 1, "%u threads", corner_task_count());
}

/* A sandbox may end a process for a call that its filter does not know. These are not known here:
 * mallocs of a program of one thread must not make them. */
static void enter_sandbox(void)
{
#define ENDS_FOR(call)                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ENDS_FOR(membarrier),
		ENDS_FOR(prlimit64),
		ENDS_FOR(rt_sigaction),
		ENDS_FOR(gettid),
		ENDS_FOR(prctl),
		ENDS_FOR(clone),
		ENDS_FOR(clone3),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		corner_skip("no seccomp: %s", strerror(errno));
}

/* One's own rings are emptied without a barrier. */
CORNER(no_membarrier)
{
	enter_sandbox();
	work();
	(void)malloc_trim(0);
}

CORNER(guarded_in_sandbox)
{
	static const char option[] = "guard_rate:100";
	const char *options = getenv("PFS_MALLOC_CONF");
	if (options == NULL || strcmp(options, option) != 0)
		corner_again("PFS_MALLOC_CONF", option);
	enter_sandbox();
	work();
}

static void must_unshare(int flags, const char *what)
{
	work();
	if (unshare(flags) == 0)
		return;
	CORNER_CHECK(errno != EINVAL, "unshare(%s): EINVAL, with %u threads", what,
		     corner_task_count());
	corner_skip("unshare(%s): %s", what, strerror(errno));
}

CORNER(unshare_user)
{
	must_unshare(CLONE_NEWUSER, "CLONE_NEWUSER");
	work();
}

CORNER(unshare_memory)
{
	must_unshare(CLONE_VM, "CLONE_VM");
}

CORNER(unshare_thread)
{
	must_unshare(CLONE_THREAD, "CLONE_THREAD");
}

CORNER(setns_user)
{
	int ready[2], done[2], status = 0;
	char byte = 0, path[64];
	CORNER_CHECK(pipe(ready) == 0 && pipe(done) == 0, "pipe");
	pid_t child = fork();
	if (child == 0) {
		byte = unshare(CLONE_NEWUSER) == 0;
		(void)!write(ready[1], &byte, 1);
		(void)close(done[1]);
		(void)!read(done[0], &byte, 1);
		_exit(0);
	}
	work();
	(void)!read(ready[0], &byte, 1);
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)child);
	int space = open(path, O_RDONLY | O_CLOEXEC);
	int answer = byte == 1 && space >= 0 ? setns(space, CLONE_NEWUSER) : -2;
	int error = errno;
	(void)close(done[1]);
	(void)waitpid(child, &status, 0);
	if (answer == -2 || (answer == -1 && error != EINVAL))
		corner_skip("no user namespace: %s", strerror(error));
	CORNER_CHECK(answer == 0, "setns: EINVAL, with %u threads", corner_task_count());
}

/* As a daemon: the child is also a program with one thread. */
static void unshare_in_child(void *unused)
{
	(void)unused;
	must_unshare(CLONE_NEWUSER, "CLONE_NEWUSER");
}

CORNER(unshare_after_fork)
{
	if (unshare(0) != 0)
		corner_skip("no unshare");
	work();
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		unshare_in_child(NULL);
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		_exit(77);
	CORNER_CHECK(status == 0, "the child's status is %#x", (unsigned)status);
}

/* ---- after other threads: the allocator's own must not be noticed ---- */

static void *work_in_thread(void *unused)
{
	work_once();
	return unused;
}

/* The last other thread was joined, so the process may do what needs a single thread. One that was
 * joined may still count for a moment. CLONE_VM does nothing more. */
static void must_be_alone(const char *when)
{
	int error = EINVAL;
	for (unsigned i = 0; i < 50 && error == EINVAL; i++) {
		error = unshare(CLONE_VM) == 0 ? 0 : errno;
		if (error == EINVAL)
			(void)usleep(2000);
	}
	CORNER_CHECK(error != EINVAL, "%s: unshare: EINVAL, with %u threads", when,
		     corner_task_count());
}

CORNER(unshare_after_join)
{
	for (unsigned round = 0; round < 3; round++) {
		corner_threads(2, work_in_thread, NULL);
		must_be_alone("after a join");
		work_once();
		must_be_alone("after a join, and more work");
	}
	if (unshare(CLONE_NEWUSER) != 0)
		corner_skip("unshare: %s", strerror(errno));
}

static void tick_often(void)
{
	if (getenv("PFS_MALLOC_CONF") == NULL)
		corner_again("PFS_MALLOC_CONF", "tick_ms:20");
}

static void *work_and_vanish(void *unused)
{
	work_once();
	(void)syscall(SYS_exit, 0);
	return unused;
}

static void vanish(void *unused)
{
	corner_start(3, work_and_vanish, NULL);
	work_once();
	(void)usleep(100000);
	(void)syscall(SYS_exit, 0);
	(void)unused;
}

/* Threads that leave by the system call run no destructors, but the process ends with the last. */
CORNER(threads_vanish)
{
	tick_often();
	corner_child(vanish, NULL, 5);
}

static void *work_and_stay(void *unused)
{
	work_once();
	for (;;)
		(void)pause();
	return unused;
}

static long switches(void)
{
	struct rusage usage;
	(void)getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static void come_to_rest(void)
{
	long least = LONG_MAX;
	for (unsigned i = 0; i < 15 && least > 2; i++) {
		long before = switches();
		(void)usleep(200000);
		long now = switches() - before;
		least = now < least ? now : least;
	}
	CORNER_CHECK(least <= 2, "at least %ld wake-ups in 10 ticks of an idle process", least);
}

/* A process that does nothing is not woken up. It comes to rest after some ticks. */
CORNER(idle_is_idle)
{
	tick_often();
	corner_start(1, work_and_stay, NULL);
	work_once();
	come_to_rest();
}

/* What a process at rest frees goes, even if it allocates nothing more. */
CORNER(idle_frees)
{
	static void *blocks[FREED_LATE];
	tick_often();
	corner_start(1, work_and_stay, NULL);
	for (unsigned i = 0; i < FREED_LATE; i++)
		blocks[i] = memset(malloc(20000), 1, 20000);
	come_to_rest();
	size_t before = corner_resident_bytes();
	for (unsigned i = 0; i < FREED_LATE; i++)
		free(blocks[i]);
	size_t after = corner_resident_bytes();
	for (unsigned i = 0; i < 20 && after > before / 2; i++) {
		(void)usleep(50000);
		after = corner_resident_bytes();
	}
	CORNER_CHECK(after <= before / 2, "%zu MiB of %zu stay", after >> 20, before >> 20);
}
