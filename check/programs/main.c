/*
 * main.c - a program with a main of its own, and with names that pfs-check has, too. Its scenario
 * is that main is called.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int count;
int pfs_library_restore, pfs_user; /* pfs-check's own are others */

int pfs_machine_create(void);
int pfs_machine_create(void)
{
	return atomic_fetch_add(&count, 1);
}

static void *add(void *argument)
{
	(void)pfs_machine_create();
	return argument;
}

int main(void)
{
	pthread_t threads[2];
	pfs_user = 1;
	for (int i = 0; i < 2; i++)
		(void)pthread_create(&threads[i], 0, add, 0);
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], 0);
	assert(count == 2 && pfs_user == 1 && pfs_library_restore == 0);
	return 0;
}

static void call_main(void *argument)
{
	(void)main();
}

PFS_CHECK_SCENARIO(main_of_its_own)
{
	pfs_check_thread(call_main, 0);
}
