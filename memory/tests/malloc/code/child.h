/*
 * child.h - a step of a test of the allocator's code, in a forked child.
 */
#ifndef PFS_MALLOC_CODE_CHILD_H
#define PFS_MALLOC_CODE_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

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
