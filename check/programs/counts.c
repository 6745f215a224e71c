/*
 * counts.c - loops that come back with the same registers and stack, and have had an effect
 * nevertheless: what stands behind them must be found.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pfslab/check.h>

static atomic_int word, other;
static int counter; /* not atomic */
static int met;

/* They give up after three looks. Only what they call counts: registers and stack come back. */
static _Thread_local int own_tries;
static _Thread_local atomic_int own_atomic;
static pthread_key_t tries_key;

static char text[16]; /* that libc writes, unseen */

enum counted { IN_ERRNO, IN_GLOBAL, IN_LOCAL, IN_ATOMIC, IN_TEXT, BY_POINTER, IN_KEY };

/* No call of its own reads or writes text, only this. */
static int (*volatile print)(char *, size_t, const char *, ...) = snprintf;

static __attribute__((noinline)) int next_try(enum counted where)
{
	switch (where) {
	case IN_ERRNO: return ++errno;
	case IN_GLOBAL: return ++met;
	case IN_LOCAL: return ++own_tries;
	case IN_ATOMIC: return atomic_fetch_add(&own_atomic, 1) + 1;
	case BY_POINTER:
		return print(text, sizeof(text), "%.*s", print(NULL, 0, "%s", text) + 1, "aaa");
	case IN_TEXT: (void)snprintf(text, sizeof(text), "%d", atoi(text) + 1); return atoi(text);
	default:
		pthread_setspecific(tries_key, (char *)pthread_getspecific(tries_key) + 1);
		return (int)(intptr_t)pthread_getspecific(tries_key);
	}
}

static void counts(void *argument)
{
	enum counted where = (enum counted)(intptr_t)argument;
	errno = 0;
	while (atomic_load(&word) == 0) {
		if (next_try(where) == 3)
			pfs_check_assert(!"it gives up");
	}
}

static void sets_word(void *argument)
{
	atomic_store(&word, 1);
}

#define COUNTS(name, where)                                        \
	PFS_CHECK_SCENARIO(name)                                   \
	{                                                          \
		pthread_key_create(&tries_key, NULL);              \
		pfs_check_thread(counts, (void *)(intptr_t)where); \
		pfs_check_thread(sets_word, 0);                    \
	}
COUNTS(counts_in_errno_fails, IN_ERRNO)
COUNTS(counts_in_global_fails, IN_GLOBAL)
COUNTS(counts_in_local_fails, IN_LOCAL)
COUNTS(counts_in_atomic_fails, IN_ATOMIC)
COUNTS(counts_in_text_fails, IN_TEXT)
COUNTS(counts_by_pointer_fails, BY_POINTER)
COUNTS(counts_in_key_fails, IN_KEY)

/* It reads plain memory, which is a race; with --no-races it comes to an end. */
static void reads_plain(void *argument)
{
	while (*(volatile int *)&counter == 0)
		(void)atomic_load(&word);
}

static void writes_plain(void *argument)
{
	(void)atomic_load(&other);
	counter = 1;
	atomic_store(&other, 1);
}

PFS_CHECK_SCENARIO(reads_plain_fails)
{
	pfs_check_thread(reads_plain, 0);
	pfs_check_thread(writes_plain, 0);
}

/* A compare-and-swap that fails spuriously is tried again. */
static void swaps_weakly(void *argument)
{
	int seen = 0;
	while (!atomic_compare_exchange_weak(&word, &seen, 1))
		seen = 0;
	atomic_store(&word, 0);
}

PFS_CHECK_SCENARIO(swaps_weakly)
{
	pfs_check_thread(swaps_weakly, 0);
	pfs_check_thread(swaps_weakly, 0);
}

/* It prints nothing, and writes. */
static int printed = 1;

static void counts_in_print(void *argument)
{
	(void)argument;
	while (atomic_load(&word) == 0)
		(void)printf("%n", &printed);
	pfs_check_assert(printed == 1);
}

PFS_CHECK_SCENARIO(counts_in_print_fails)
{
	pfs_check_thread(counts_in_print, 0);
	pfs_check_thread(sets_word, 0);
}

/* One of those that met destroys their barrier while the others return. */
static pthread_barrier_t barrier;

static void meets(void *argument)
{
	(void)argument;
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		(void)pthread_barrier_destroy(&barrier);
}

PFS_CHECK_SCENARIO(destroys_met)
{
	(void)pthread_barrier_init(&barrier, NULL, 2);
	pfs_check_thread(meets, 0);
	pfs_check_thread(meets, 0);
}

/* A compare-and-swap that fails writes what it has seen to memory, and is tried again. */
struct node {
	struct node *next;
};
static _Atomic(struct node *) top;

static void frees_all(void *argument)
{
	struct node *node = atomic_exchange(&top, NULL);
	(void)argument;
	while (node != NULL) {
		struct node *next = node->next;
		free(node);
		node = next;
	}
}

static void pushes(void *argument)
{
	struct node *node = malloc(sizeof(*node));
	node->next = atomic_load(&top);
	while (!atomic_compare_exchange_strong(&top, &node->next, node))
		;
	frees_all(argument);
}

PFS_CHECK_SCENARIO(pushes)
{
	pfs_check_thread(pushes, 0);
	pfs_check_thread(pushes, 0);
	pfs_check_thread(pushes, 0);
	pfs_check_at_rest(frees_all, 0);
}

/* What is expected is plain memory: it is read, and written when it differs. */
static int expected;

static void swaps_expected(void *argument)
{
	(void)argument;
	atomic_compare_exchange_strong(&word, &expected, 2);
}

static void writes_expected(void *argument)
{
	(void)argument;
	expected = 3;
}

static void reads_expected(void *argument)
{
	(void)argument;
	pfs_check_assert(expected <= 1);
}

PFS_CHECK_SCENARIO(reads_expected)
{
	pfs_check_thread(swaps_expected, 0);
	pfs_check_thread(reads_expected, 0);
}

PFS_CHECK_SCENARIO(differs_from_expected_fails)
{
	atomic_store(&word, 1);
	pfs_check_thread(swaps_expected, 0);
	pfs_check_thread(reads_expected, 0);
}

PFS_CHECK_SCENARIO(writes_expected_fails)
{
	pfs_check_thread(swaps_expected, 0);
	pfs_check_thread(writes_expected, 0);
}

/* Its time passes, whoever sets the word: a clock writes to memory, too. */
static struct timespec now;

static void waits_for_time(void *argument)
{
	(void)argument;
	do
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_nsec < 4000 && atomic_load(&word) == 0);
}

PFS_CHECK_SCENARIO(waits_for_time)
{
	pfs_check_thread(waits_for_time, 0);
}
