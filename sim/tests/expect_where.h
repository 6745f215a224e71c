/*
 * expect_where.h - a check of the tests in virtual time: a check that fails is counted, and printed
 * with its place. The test continues.
 */
#ifndef PFS_SIM_EXPECT_WHERE_H
#define PFS_SIM_EXPECT_WHERE_H

#include <stdio.h>

static int failures;

#define EXPECT(condition, ...)                                              \
	do {                                                                \
		if (!(condition)) {                                         \
			failures++;                                         \
			(void)printf("FAILED %s:%d: ", __FILE__, __LINE__); \
			(void)printf(__VA_ARGS__);                          \
			(void)putchar('\n');                                \
		}                                                           \
	} while (0)

#endif
