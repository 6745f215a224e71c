/*
 * child.h - a step of a test of the allocator's code, in a forked child; and having had a thread.
 */
#ifndef PFS_MALLOC_CODE_CHILD_H
#define PFS_MALLOC_CODE_CHILD_H

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static inline void *return_at_once(void *unused)
{
	return unused;
}

/* A fork in the middle of a call is then one by another thread (containers/alone.h). */
static inline void be_not_alone(void)
{
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, return_at_once, NULL) == 0, "no thread");
	(void)pthread_join(thread, NULL);
}

static inline void in_child(void (*action)(void))
{
	int status = 1;
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(60);
		action();
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child failed");
}

#endif
