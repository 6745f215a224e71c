/*
 * expect.h - checks of the machine's own tests: a check that fails is printed and counted.
 *
 * The test continues. For one program and one thread: each file that includes this has its own
 * count.
 */
#ifndef PFS_SIM_EXPECT_H
#define PFS_SIM_EXPECT_H

#include <stdbool.h>
#include <stdio.h>

static int pfs_failures;

static inline void pfs_expect(bool condition, const char *what)
{
	if (condition)
		return;
	pfs_failures++;
	(void)printf("FAILED: %s\n", what);
}

/* The body of a thread that ignores its argument. */
#define PFS_BODY(name) static void name(__attribute__((unused)) void *argument)

/* The last line of the output; the exit code. */
static inline int pfs_expect_report(void)
{
	(void)printf("%s: %d failed\n", pfs_failures == 0 ? "fine" : "FAILED", pfs_failures);
	return pfs_failures != 0;
}

#endif
