/*
 * sizes.c - atomics of two sizes in one place.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <pfslab/check.h>

static union {
	_Atomic(uint32_t) whole;
	_Atomic(uint16_t) half[2];
} word;
static struct {
	_Atomic(uint16_t) one, other;
	_Atomic(uint32_t) third;
} apart;

static void halves(void *argument)
{
	atomic_store(&word.half[1], 1);
}

static void whole(void *argument)
{
	uint32_t seen = atomic_load(&word.whole);
	pfs_check_assert(seen == 0 || seen == 0x10000);
}

PFS_CHECK_SCENARIO(overlap)
{
	pfs_check_thread(halves, NULL);
	pfs_check_thread(whole, NULL);
}

static void both(void *argument)
{
	atomic_fetch_add(&apart.one, 1);
	atomic_fetch_add(&apart.other, 1);
	atomic_fetch_add(&apart.third, 1);
}

PFS_CHECK_SCENARIO(side_by_side)
{
	pfs_check_thread(both, NULL);
	pfs_check_thread(both, NULL);
}

/* Which block is where follows from the schedule: of one size in this execution, of another in the
 * next. */
static void small(void *argument)
{
	_Atomic(uint16_t) *own = malloc(8);
	atomic_init(own, 0);
	atomic_fetch_add(own, 1);
	free((void *)own);
}

static void large(void *argument)
{
	_Atomic(uint64_t) *own = malloc(8);
	atomic_init(own, 0);
	atomic_fetch_add(own, 1);
	free((void *)own);
}

PFS_CHECK_SCENARIO(blocks)
{
	pfs_check_thread(small, NULL);
	pfs_check_thread(large, NULL);
	pfs_check_thread(small, NULL);
}
