/*
 * assembly.c - one statement of asm, whose accesses pfs-check does not see.
 */
#include <pfslab/check.h>

#ifndef ASSEMBLY
#define ASSEMBLY __asm__ volatile("movl $1, %0" : "=m"(count))
#endif

static int count;

static void body(void *argument)
{
	count++;
	ASSEMBLY;
}

PFS_CHECK_SCENARIO(one)
{
	pfs_check_thread(body, 0);
}
