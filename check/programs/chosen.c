/*
 * chosen.c - pfs_check_choose and pfs_check_assume: each value is tried with each order, executions
 * whose assumption does not hold do not count, and what fails in them is a failure.
 */
#include <stdatomic.h>
#include <pfslab/check.h>

static atomic_uint shared;
static unsigned seen[2];

static void stores(void *argument)
{
	(void)argument;
	atomic_store(&shared, pfs_check_choose(3) + 1);
}

static void loads(void *argument)
{
	(void)argument;
	seen[0] = atomic_load(&shared);
}

static void tell(void *argument)
{
	(void)argument;
	pfs_check_outcome("%u %u", seen[0], seen[1]);
}

/* 0, or one of three values. */
PFS_CHECK_SCENARIO(four)
{
	pfs_check_thread(stores, 0);
	pfs_check_thread(loads, 0);
	pfs_check_at_rest(tell, 0);
}

static void chooses(void *argument)
{
	unsigned *own = argument;
	*own = pfs_check_choose(2 + (own == &seen[1]));
}

PFS_CHECK_SCENARIO(six)
{
	pfs_check_thread(chooses, &seen[0]);
	pfs_check_thread(chooses, &seen[1]);
	pfs_check_at_rest(tell, 0);
}

static void loads_third(void *argument)
{
	(void)argument;
	seen[0] = atomic_load(&shared);
	pfs_check_assume(seen[0] == 3);
}

PFS_CHECK_SCENARIO(one_of_four)
{
	pfs_check_thread(stores, 0);
	pfs_check_thread(loads_third, 0);
	pfs_check_at_rest(tell, 0);
}

static void refuses(void *argument)
{
	(void)argument;
	pfs_check_assume(seen[0] != 0);
}

/* The same at rest. */
PFS_CHECK_SCENARIO(three_of_four)
{
	pfs_check_thread(stores, 0);
	pfs_check_thread(loads, 0);
	pfs_check_at_rest(refuses, 0);
}

static void never(void *argument)
{
	(void)argument;
	pfs_check_assume(atomic_load(&shared) == 9);
}

PFS_CHECK_SCENARIO(none_left)
{
	pfs_check_thread(stores, 0);
	pfs_check_thread(never, 0);
}

static void second_value(void *argument)
{
	(void)argument;
	pfs_check_assert(atomic_load(&shared) != 2);
}

PFS_CHECK_SCENARIO(second_value_fails)
{
	pfs_check_thread(stores, 0);
	pfs_check_thread(second_value, 0);
}

/* The load that follows a false assumption in another thread is in no execution that counts; but
 * the failure does not need it. */
PFS_CHECK_SCENARIO(beside_fails)
{
	pfs_check_thread(stores, 0);
	pfs_check_thread(second_value, 0);
	pfs_check_thread(never, 0);
}

static void too_many(void *argument)
{
	(void)argument;
	(void)pfs_check_choose(17);
}

PFS_CHECK_SCENARIO(too_many_values)
{
	pfs_check_thread(too_many, 0);
}

/* In one execution of two. */
static void chooses_late(void *argument)
{
	(void)argument;
	if (atomic_load(&shared) == 3)
		(void)pfs_check_choose(17);
}

PFS_CHECK_SCENARIO(too_many_late)
{
	pfs_check_thread(chooses_late, 0);
	pfs_check_thread(stores, 0);
}
