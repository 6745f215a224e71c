/*
 * check.h - CHECK for the tests of the allocator's code: a line on stderr, and abort.
 */
#ifndef PFS_MALLOC_CODE_CHECK_H
#define PFS_MALLOC_CODE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition, ...)                                                 \
	do {                                                                  \
		if (!(condition)) {                                           \
			(void)fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
			(void)fprintf(stderr, __VA_ARGS__);                   \
			(void)fputc('\n', stderr);                            \
			abort();                                              \
		}                                                             \
	} while (0)

#endif
