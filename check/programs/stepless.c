/*
 * stepless.c - what fails is wrong before any thread does something that others could see.
 */
#include <pfslab/check.h>

static int told;

static void nothing(void *argument) {}

static void at_rest(void *argument)
{
	pfs_check_assert(told == 1);
}

PFS_CHECK_SCENARIO(stepless)
{
	pfs_check_thread(nothing, 0);
	pfs_check_at_rest(at_rest, 0);
}
