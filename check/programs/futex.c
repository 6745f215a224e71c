/*
 * futex.c - waiting by the system call itself: U. Drepper's mutex of three values ("Futexes are
 * tricky"), right and with bugs, and others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <pfslab/check.h>

static atomic_uint lock_word, word;
static int counter;

static long wait_while(atomic_uint *at, unsigned value)
{
	return syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static long wake(atomic_uint *at, int count)
{
	return syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void count_locked(void *argument)
{
	unsigned seen = 0;
	const unsigned waits = argument == NULL ? 2 : 1; /* 1: hides that a thread waits */
	if (!atomic_compare_exchange_strong(&lock_word, &seen, 1)) {
		if (seen != waits)
			seen = atomic_exchange(&lock_word, waits);
		while (seen != 0) {
			wait_while(&lock_word, waits);
			seen = atomic_exchange(&lock_word, waits);
		}
	}
	counter++;
	if (atomic_fetch_sub(&lock_word, 1) != 1) {
		atomic_store(&lock_word, 0);
		wake(&lock_word, 1);
	}
}

static void is_two(void *argument)
{
	pfs_check_assert(counter == 2);
}

PFS_CHECK_SCENARIO(mutex)
{
	pfs_check_thread(count_locked, NULL);
	pfs_check_thread(count_locked, NULL);
	pfs_check_at_rest(is_two, NULL);
}

PFS_CHECK_SCENARIO(mutex_untold)
{
	pfs_check_thread(count_locked, &counter);
	pfs_check_thread(count_locked, &counter);
}

static void await(void *argument)
{
	while (atomic_load(&word) == 0)
		wait_while(&word, 0);
}

static void tell(void *argument)
{
	atomic_store(&word, 1);
	wake(&word, argument == NULL ? INT_MAX : 1);
}

PFS_CHECK_SCENARIO(all_told)
{
	pfs_check_thread(await, NULL);
	pfs_check_thread(await, NULL);
	pfs_check_thread(tell, NULL);
}

PFS_CHECK_SCENARIO(one_too_few)
{
	pfs_check_thread(await, NULL);
	pfs_check_thread(await, NULL);
	pfs_check_thread(tell, &word);
}

/* A wait may end by itself. */
static void await_once(void *argument)
{
	if (atomic_load(&word) == 0 && wait_while(&word, 0) == 0)
		pfs_check_assert(atomic_load(&word) == 1);
}

PFS_CHECK_SCENARIO(awaits_once_fails)
{
	pfs_check_thread(await_once, NULL);
	pfs_check_thread(tell, NULL);
}

/* Wakes before it changes the word. */
static void tell_early(void *argument)
{
	wake(&word, 1);
	atomic_store(&word, 1);
}

PFS_CHECK_SCENARIO(told_early)
{
	pfs_check_thread(await, NULL);
	pfs_check_thread(tell_early, NULL);
}

static void await_bits(void *argument)
{
	unsigned bits = argument == NULL ? 1 : 2;
	while (atomic_load(&word) == 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, bits);
}

static void tell_bits(void *argument)
{
	unsigned bits = argument == NULL ? 3 : 1;
	atomic_store(&word, 1);
	syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, bits);
}

PFS_CHECK_SCENARIO(bits)
{
	pfs_check_thread(await_bits, NULL);
	pfs_check_thread(await_bits, &word);
	pfs_check_thread(tell_bits, NULL);
}

PFS_CHECK_SCENARIO(other_bits)
{
	pfs_check_thread(await_bits, NULL);
	pfs_check_thread(await_bits, &word);
	pfs_check_thread(tell_bits, &word);
}

/* It gives up, so no other thread has to wake it. */
static void await_a_while(void *argument)
{
	const struct timespec soon = { .tv_sec = 1 };
	if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0) != 0)
		pfs_check_assert(errno == ETIMEDOUT || (errno == EAGAIN && word == 1));
}

PFS_CHECK_SCENARIO(limit)
{
	pfs_check_thread(await_a_while, NULL);
	pfs_check_thread(tell, NULL);
}

PFS_CHECK_SCENARIO(limit_alone)
{
	pfs_check_thread(await_a_while, NULL);
}

static void other_call(void *argument)
{
	syscall(SYS_gettid);
}

PFS_CHECK_SCENARIO(other_system_call)
{
	pfs_check_thread(other_call, NULL);
}
