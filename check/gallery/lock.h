/*
 * lock.h - the scenario of a lock: threads 0, 1 .. enter, count and leave, ROUNDS(me) times. The
 * count is plain: two threads inside are a data race.
 */
#include <stdint.h>

#include <pfslab/check.h>

static void enter(int me);
static void leave(int me);
static int entries;

static void count(void *argument)
{
	int me = (int)(intptr_t)argument;
	for (int round = 0; round < ROUNDS(me); round++) {
		enter(me);
		entries++;
		leave(me);
	}
}

#define LOCK_SCENARIO(name, threads, entries_wanted)           \
	static void check(void *argument)                      \
	{                                                      \
		(void)argument;                                \
		pfs_check_assert(entries == (entries_wanted)); \
	}                                                      \
	PFS_CHECK_SCENARIO(name)                               \
	{                                                      \
		for (intptr_t me = 0; me < (threads); me++)    \
			pfs_check_thread(count, (void *)me);   \
		pfs_check_at_rest(check, 0);                   \
	}
