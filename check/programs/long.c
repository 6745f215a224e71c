/*
 * long.c - executions that take minutes themselves: of --seconds and --patience, whichever ends
 * them first.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <pfslab/check.h>

#define BYTES ((size_t)1 << 20)

static atomic_uint count;
static char *block;

static void fill_often(void *argument)
{
	block = malloc(BYTES);
	for (int i = 0; i < 1000000; i++) {
		memset(block, i, BYTES);
		__asm__ volatile("" : : "r"(block) : "memory"); /* it is not made again */
	}
	free(block);
	block = NULL;
}

static void count_often(void *argument)
{
	for (int i = 0; i < 100000000; i++)
		atomic_fetch_add(&count, 1);
}

PFS_CHECK_SCENARIO(accesses)
{
	pfs_check_thread(fill_often, 0);
}

PFS_CHECK_SCENARIO(steps)
{
	pfs_check_thread(count_often, 0);
	pfs_check_thread(count_often, 0);
}

PFS_CHECK_SCENARIO(set_up)
{
	fill_often(0);
	pfs_check_thread(count_often, 0);
}
