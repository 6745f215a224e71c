/*
 * volatile.c - variables of the kernel's kind: volatile accesses, and fences. With --volatile they
 * are relaxed atomics; scenarios fails_ fail then, too.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <pfslab/check.h>

#define READ_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))

static int flag, data, other, seen[2];
static uint8_t small;

static void publishes(void *argument)
{
	(void)argument;
	data = 1;
	atomic_thread_fence(memory_order_release);
	WRITE_ONCE(flag, 1);
}

static void reads(void *argument)
{
	(void)argument;
	if (READ_ONCE(flag) == 0)
		return;
	atomic_thread_fence(memory_order_acquire);
	pfs_check_assert(data == 1);
}

PFS_CHECK_SCENARIO(fences)
{
	pfs_check_thread(publishes, 0);
	pfs_check_thread(reads, 0);
}

static void reads_without(void *argument)
{
	(void)argument;
	if (READ_ONCE(flag) != 0)
		pfs_check_assert(data == 1);
}

PFS_CHECK_SCENARIO(fails_without)
{
	pfs_check_thread(publishes, 0);
	pfs_check_thread(reads_without, 0);
}

/* Store buffering: both may read 0, with tso and views. */
static void first(void *argument)
{
	(void)argument;
	WRITE_ONCE(flag, 1);
	seen[0] = READ_ONCE(other);
}

static void second(void *argument)
{
	(void)argument;
	WRITE_ONCE(other, 1);
	seen[1] = READ_ONCE(flag);
}

static void tell(void *argument)
{
	(void)argument;
	pfs_check_outcome("%d %d", seen[0], seen[1]);
}

PFS_CHECK_SCENARIO(buffers)
{
	pfs_check_thread(first, 0);
	pfs_check_thread(second, 0);
	pfs_check_at_rest(tell, 0);
}

/* A byte, and a loop that waits. */
static void counts(void *argument)
{
	(void)argument;
	for (uint8_t i = 1; i <= 2; i++)
		WRITE_ONCE(small, i);
}

static void waits(void *argument)
{
	(void)argument;
	while (READ_ONCE(small) != 2)
		;
	pfs_check_assert(READ_ONCE(small) == 2);
}

PFS_CHECK_SCENARIO(loop)
{
	pfs_check_thread(counts, 0);
	pfs_check_thread(waits, 0);
}

/* It is two steps. */
static void adds(void *argument)
{
	volatile int *counter = &other;
	(void)argument;
	*counter = *counter + 1;
}

static void both_counted(void *argument)
{
	(void)argument;
	pfs_check_assert(other == 2);
}

PFS_CHECK_SCENARIO(fails_adds)
{
	pfs_check_thread(adds, 0);
	pfs_check_thread(adds, 0);
	pfs_check_at_rest(both_counted, 0);
}
