/*
 * counts.c - loops that come back with the same registers and stack, and have had an effect
 * nevertheless: what stands behind them must be found.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include <pfslab/check.h>

static atomic_int word, other, met_once;
static int counter; /* not atomic */
static int met;

/* They give up after three looks. Only what they call counts: registers and stack come back. */
static _Thread_local int own_tries;
static _Thread_local atomic_int own_atomic;
static pthread_key_t tries_key;

static char text[16]; /* that libc writes, unseen */

enum counted { IN_ERRNO, IN_GLOBAL, IN_LOCAL, IN_ATOMIC, IN_TEXT, BY_POINTER, BY_CHOSEN, IN_KEY };

/* No call of its own reads or writes text, only this. */
static int (*volatile print)(char *, size_t, const char *, ...) = snprintf;

/* libc chooses for the processor which functions these are. */
static wchar_t *(*volatile fill)(wchar_t *, wchar_t, size_t) = wmemset;
static size_t (*volatile length)(const wchar_t *) = wcslen;
static wchar_t letters[8];

static __attribute__((noinline)) int next_try(enum counted where)
{
	switch (where) {
	case IN_ERRNO: return ++errno;
	case IN_GLOBAL: return ++met;
	case IN_LOCAL: return ++own_tries;
	case IN_ATOMIC: return atomic_fetch_add(&own_atomic, 1) + 1;
	case BY_POINTER:
		return print(text, sizeof(text), "%.*s", print(NULL, 0, "%s", text) + 1, "aaa");
	case BY_CHOSEN: (void)fill(letters + length(letters), L'a', 1); return (int)length(letters);
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
COUNTS(counts_by_chosen_fails, BY_CHOSEN)
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

/* It frees the barrier, too, or initializes another one there, which both use. */
static pthread_barrier_t *own_barrier;

static void meets_and_frees(void *argument)
{
	pthread_barrier_t *own = own_barrier;
	if (pthread_barrier_wait(own) != PTHREAD_BARRIER_SERIAL_THREAD)
		return;
	if (argument == NULL)
		(void)pthread_barrier_destroy(own);
	own_barrier = NULL;
	free(own);
}

static void meets_again(void *argument)
{
	(void)argument;
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
		(void)pthread_barrier_destroy(&barrier);
		(void)pthread_barrier_init(&barrier, NULL, 2);
		atomic_store(&word, 1);
	}
	while (atomic_load(&word) == 0)
		;
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		counter++;
}

static void met_twice(void *argument)
{
	(void)argument;
	pfs_check_assert(counter == 1);
}

#define FREES(name, destroyed)                                              \
	PFS_CHECK_SCENARIO(name)                                            \
	{                                                                   \
		own_barrier = malloc(sizeof(*own_barrier));                 \
		(void)pthread_barrier_init(own_barrier, NULL, 2);           \
		pfs_check_thread(meets_and_frees, (destroyed) ? NULL : ""); \
		pfs_check_thread(meets_and_frees, (destroyed) ? NULL : ""); \
	}
FREES(frees_met, true)
FREES(frees_undestroyed_fails, false)

PFS_CHECK_SCENARIO(meets_again)
{
	(void)pthread_barrier_init(&barrier, NULL, 2);
	pfs_check_thread(meets_again, 0);
	pfs_check_thread(meets_again, 0);
	pfs_check_at_rest(met_twice, 0);
}

/* Nothing orders the wait before the end, whichever thread is first. */
static void destroys(void *argument)
{
	(void)argument;
	(void)pthread_barrier_destroy(&barrier);
}

static void waits_alone(void *argument)
{
	(void)argument;
	(void)pthread_barrier_wait(&barrier);
}

PFS_CHECK_SCENARIO(waits_beside_end_fails)
{
	(void)pthread_barrier_init(&barrier, NULL, 1);
	pfs_check_thread(waits_alone, 0);
	pfs_check_thread(destroys, 0);
}

PFS_CHECK_SCENARIO(ends_beside_wait_fails)
{
	(void)pthread_barrier_init(&barrier, NULL, 1);
	pfs_check_thread(destroys, 0);
	pfs_check_thread(waits_alone, 0);
}

/* One that a constructor initialized, in each execution anew, beside one of the set-up. */
static pthread_barrier_t constructed;

static __attribute__((constructor)) void construct(void)
{
	(void)pthread_barrier_init(&constructed, NULL, 2);
}

static void meets_twice(void *argument)
{
	(void)argument;
	pthread_barrier_wait(&constructed);
	pthread_barrier_wait(&barrier);
}

PFS_CHECK_SCENARIO(meets_constructed)
{
	(void)pthread_barrier_init(&barrier, NULL, 2);
	pfs_check_thread(meets_twice, 0);
	pfs_check_thread(meets_twice, 0);
}

/* Where it is, it only passes to the next load. */
static atomic_uint chain[4];

static void follows(void *argument)
{
	unsigned at = 0;
	(void)argument;
	do
		at = atomic_load(&chain[at]);
	while (at != 3);
	pfs_check_assert(!"it is at the end");
}

PFS_CHECK_SCENARIO(follows_fails)
{
	for (unsigned at = 0; at < 3; at++)
		atomic_init(&chain[at], at + 1);
	pfs_check_thread(follows, 0);
	pfs_check_thread(sets_word, 0);
}

/* It gives up by a clock, whose value it does not keep. */
static void waits_a_while(void *argument)
{
	(void)argument;
	while (atomic_load(&word) == 0) {
		if (clock() >= 4)
			pfs_check_assert(!"it is late");
	}
}

PFS_CHECK_SCENARIO(waits_a_while_fails)
{
	pfs_check_thread(waits_a_while, 0);
	pfs_check_thread(sets_word, 0);
}

/* It sleeps while it waits, and reads the clock when it has waited. */
static void sleeps_a_while(void *argument)
{
	(void)argument;
	struct timespec time = { 1, 0 };
	while (atomic_load(&word) == 0)
		nanosleep(&time, NULL);
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	pfs_check_assert(time.tv_sec < 1000000002);
}

PFS_CHECK_SCENARIO(sleeps_a_while_fails)
{
	pfs_check_thread(sleeps_a_while, 0);
	pfs_check_thread(sets_word, 0);
}

/* A compare-and-swap that fails has written what it saw where others may read it. */
static struct node {
	struct node *next;
} nodes[2];
static _Atomic(struct node *) top;

static void pushes(void *argument)
{
	struct node *own = argument;
	own->next = NULL;
	while (!atomic_compare_exchange_strong(&top, &own->next, own))
		;
}

static void has_both(void *argument)
{
	struct node *first = atomic_load(&top);
	(void)argument;
	pfs_check_assert(first->next == &nodes[first == &nodes[0]] && first->next->next == NULL);
}

PFS_CHECK_SCENARIO(pushes)
{
	pfs_check_thread(pushes, &nodes[0]);
	pfs_check_thread(pushes, &nodes[1]);
	pfs_check_at_rest(has_both, 0);
}

static void swaps_met(void *argument)
{
	(void)argument;
	(void)atomic_compare_exchange_strong(&word, &met, 2);
}

static void sets_met(void *argument)
{
	(void)argument;
	met = 1;
}

PFS_CHECK_SCENARIO(swaps_met_fails)
{
	pfs_check_thread(swaps_met, 0);
	pfs_check_thread(sets_met, 0);
}

static void reads_met(void *argument)
{
	(void)argument;
	counter = met;
}

PFS_CHECK_SCENARIO(swaps_in_vain_fails)
{
	met = 1;
	pfs_check_thread(swaps_met, 0);
	pfs_check_thread(reads_met, 0);
}

PFS_CHECK_SCENARIO(swaps_and_reads)
{
	pfs_check_thread(swaps_met, 0); /* it succeeds, and writes nothing there */
	pfs_check_thread(reads_met, 0);
}

/* Its count is where a function that has returned had shared a variable. */
static void *(*volatile set)(void *, int, size_t) = memset; /* no compiler expands it */

static void *clears(void *variable)
{
	return set(variable, 0, 480);
}

static __attribute__((noipa)) void shares(void)
{
	char variable[480];
	pthread_t thread;
	(void)pthread_create(&thread, NULL, clears, variable);
	(void)pthread_join(thread, NULL);
}

static __attribute__((noipa)) int looks(int kept)
{
	int seen = atomic_load(&word);
	return seen + (kept > 1000 ? kept : 0);
}

static __attribute__((noipa)) void counts_where_shared(void)
{
	int tries = 0;
	while (looks(5) == 0) {
		if (++tries == 3)
			pfs_check_assert(!"it gives up");
	}
}

static __attribute__((noipa)) void calls_deeper(void)
{
	volatile char room[64];
	room[0] = 1;
	counts_where_shared();
	room[1] = room[0];
}

static void shares_and_counts(void *argument)
{
	(void)argument;
	shares();
	calls_deeper();
}

PFS_CHECK_SCENARIO(shares_and_counts_fails)
{
	pfs_check_thread(shares_and_counts, 0);
	pfs_check_thread(sets_word, 0);
}

/* It counts in a mutex that it holds already. */
static pthread_mutex_t recursive;

static void locks_again(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&recursive);
	while (atomic_load(&word) == 0)
		pthread_mutex_lock(&recursive);
	pthread_mutex_unlock(&recursive);
	atomic_store(&other, 1);
}

static void finds_it_held(void *argument)
{
	sets_word(argument);
	while (atomic_load(&other) == 0)
		;
	pfs_check_assert(pthread_mutex_trylock(&recursive) == 0);
}

PFS_CHECK_SCENARIO(locks_again_fails)
{
	pthread_mutexattr_t kind;
	(void)pthread_mutexattr_init(&kind);
	(void)pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	(void)pthread_mutex_init(&recursive, &kind);
	pfs_check_thread(locks_again, 0);
	pfs_check_thread(finds_it_held, 0);
}

/* A chance to fail that only another thread's failure opens, which is the higher one: --spurious 2.
 */
static void fails_second(void *argument)
{
	int zero = 0;
	(void)argument;
	if (atomic_load(&other) == 1 && !atomic_compare_exchange_weak(&word, &zero, 1))
		pfs_check_assert(!"both fail");
}

static void fails_first(void *argument)
{
	int zero = 0;
	(void)argument;
	if (!atomic_compare_exchange_weak(&met_once, &zero, 1))
		atomic_store(&other, 1);
}

PFS_CHECK_SCENARIO(chance_of_chance)
{
	pfs_check_thread(fails_second, 0);
	pfs_check_thread(fails_first, 0);
}
