/*
 * result.h - does the code behind a call read its result?
 */
#ifndef PFS_CHECK_RESULT_H
#define PFS_CHECK_RESULT_H

#include <stdbool.h>

/* false: it does not, whatever it does. code: the return address of a call that returns an int.
 * Knows the few instructions that compilers put between such a call and the next one. */
bool pfs_result_may_be_read(const void *code);

#endif
