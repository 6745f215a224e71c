/*
 * state.c - what a program keeps is its own: names, thread-local variables, errno, memory that libc
 * allocates; and what calls of libc order, or write. Scenarios that end in _race have one.
 * REFUSED: with a scenario that cannot be checked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pfslab/check.h>

/* ---- functions with names of libc's ---- */

static atomic_int calls;

int remove(const char *unused)
{
	(void)unused;
	return atomic_fetch_add(&calls, 1);
}

void sync(void)
{
	atomic_fetch_add(&calls, 2);
}

int (*volatile pointed)(const char *) = remove;

static void call(void *argument)
{
	(void)argument;
	sync();
	(void)remove("/none");
	(void)pointed("/none");
}

static void called(void *argument)
{
	(void)argument;
	pfs_check_assert(calls == 8);
}

PFS_CHECK_SCENARIO(names)
{
	pfs_check_thread(call, NULL);
	pfs_check_thread(call, NULL);
	pfs_check_at_rest(called, NULL);
}

/* ---- thread-local variables ---- */

struct node {
	_Atomic(struct node *) next;
	atomic_int locked;
};

static _Thread_local struct node own;
static _Thread_local int plain = 3;
static _Atomic(struct node *) tail;
static _Atomic(int *) shown;
static int count;

/* The lock of Mellor-Crummey and Scott: another thread's node, by its address. */
static void lock_and_count(void *argument)
{
	struct node *expected = &own, *next;
	(void)argument;
	pfs_check_assert(own.next == NULL && own.locked == 0);
	atomic_store_explicit(&own.locked, 1, memory_order_relaxed);
	struct node *before = atomic_exchange(&tail, &own);
	if (before != NULL) {
		atomic_store_explicit(&before->next, &own, memory_order_release);
		while (atomic_load_explicit(&own.locked, memory_order_acquire) != 0)
			;
	}
	count++;
	if (atomic_load_explicit(&own.next, memory_order_acquire) == NULL &&
	    atomic_compare_exchange_strong(&tail, &expected, NULL))
		return;
	while ((next = atomic_load_explicit(&own.next, memory_order_acquire)) == NULL)
		;
	atomic_store_explicit(&next->locked, 0, memory_order_release);
}

static void counted(void *argument)
{
	(void)argument;
	pfs_check_assert(count == 2);
}

PFS_CHECK_SCENARIO(local_lock)
{
	pfs_check_thread(lock_and_count, NULL);
	pfs_check_thread(lock_and_count, NULL);
	pfs_check_at_rest(counted, NULL);
}

static void show(void *order)
{
	pfs_check_assert(plain == 3);
	plain = 4;
	if (order != NULL)
		atomic_store_explicit(&shown, &plain, memory_order_release);
	else
		atomic_store_explicit(&shown, &plain, memory_order_relaxed);
}

static void look(void *argument)
{
	(void)argument;
	const int *other = atomic_load_explicit(&shown, memory_order_acquire);
	pfs_check_assert(plain == 3 && other != &plain && (other == NULL || *other == 4));
}

PFS_CHECK_SCENARIO(local_shown)
{
	pfs_check_thread(show, &count);
	pfs_check_thread(look, NULL);
}

PFS_CHECK_SCENARIO(local_race)
{
	pfs_check_thread(show, NULL);
	pfs_check_thread(look, NULL);
}

static _Thread_local int looks;

/* A counter of its own makes no progress: the loop waits. */
static void wait_and_count(void *argument)
{
	(void)argument;
	while (atomic_load(&calls) == 0)
		looks++;
	pfs_check_assert(looks > 0 || calls == 1);
}

static void count_call(void *argument)
{
	(void)argument;
	atomic_fetch_add(&calls, 1);
}

PFS_CHECK_SCENARIO(local_spin)
{
	pfs_check_thread(wait_and_count, NULL);
	pfs_check_thread(count_call, NULL);
}

static void set_errno(void *argument)
{
	errno = (int)(intptr_t)argument;
	atomic_fetch_add(&calls, 1);
	pfs_check_assert(errno == (int)(intptr_t)argument);
}

PFS_CHECK_SCENARIO(own_errno)
{
	pfs_check_thread(set_errno, (void *)5);
	pfs_check_thread(set_errno, (void *)7);
}

/* ---- memory that libc allocates ---- */

static void copy_text(void *argument)
{
	char *printed = NULL, *text = strdup(argument);
	pfs_check_assert(asprintf(&printed, "<%s>", text) == 5);
	for (int i = 0; i < 2; i++)
		atomic_fetch_add(&calls, 1);
	pfs_check_assert(strcmp(text, argument) == 0 && printed[4] == '>');
	free(text);
	atomic_fetch_add(&calls, 1);
	free(printed);
}

PFS_CHECK_SCENARIO(texts)
{
	pfs_check_thread(copy_text, "one");
	pfs_check_thread(copy_text, "two");
}

static char *made_early;

__attribute__((constructor)) static void make_early(void)
{
	made_early = malloc(100000);
	memset(made_early, 1, 100000);
	free(realloc(malloc(10), 20));
}

static void change_early(void *argument)
{
	char *at = made_early + (intptr_t)argument;
	atomic_fetch_add(&calls, 1); /* the search returns to before the first write of the page */
	pfs_check_assert(*at == 1);
	*at = 2;
	atomic_fetch_add(&calls, 1);
}

static void free_early(void *argument)
{
	(void)argument;
	free(made_early);
	made_early = NULL;
}

PFS_CHECK_SCENARIO(constructed)
{
	pfs_check_thread(change_early, (void *)10);
	pfs_check_thread(change_early, (void *)50000);
	pfs_check_at_rest(free_early, NULL);
}

/* The scenario's own, too: its thread-local variables and its errno are as at the start. */
PFS_CHECK_SCENARIO(set_up)
{
	pfs_check_assert(plain == 3 && errno == 0);
	plain = 5;
	errno = ERANGE;
	pfs_check_thread(lock_and_count, NULL);
	pfs_check_thread(lock_and_count, NULL);
}

#ifdef REFUSED
static void set_environment(void *argument)
{
	(void)argument;
	setenv("name", "value", 1);
}

PFS_CHECK_SCENARIO(sets_environment)
{
	pfs_check_thread(set_environment, NULL);
}
#endif

/* ---- what calls order ---- */

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int told;
int data, seen; /* not static: neither is dropped */

static void signal_first(void *argument)
{
	(void)argument;
	data = 1;
	pthread_cond_signal(&condition);
	atomic_store_explicit(&told, 1, memory_order_relaxed);
}

static void signal_then(void *argument)
{
	(void)argument;
	if (atomic_load_explicit(&told, memory_order_relaxed) == 0)
		return;
	pthread_cond_signal(&condition);
	seen = data;
}

PFS_CHECK_SCENARIO(condition_race)
{
	pfs_check_thread(signal_first, NULL);
	pfs_check_thread(signal_then, NULL);
}

static void read_first(void *argument)
{
	(void)argument;
	pthread_rwlock_rdlock(&lock);
	data = 1;
	pthread_rwlock_unlock(&lock);
	atomic_store_explicit(&told, 1, memory_order_relaxed);
}

static void read_then(void *argument)
{
	(void)argument;
	if (atomic_load_explicit(&told, memory_order_relaxed) == 0)
		return;
	pthread_rwlock_rdlock(&lock);
	seen = data;
	pthread_rwlock_unlock(&lock);
}

PFS_CHECK_SCENARIO(readers_race)
{
	pfs_check_thread(read_first, NULL);
	pfs_check_thread(read_then, NULL);
}

static void write_locked(void *argument)
{
	(void)argument;
	pthread_rwlock_wrlock(&lock);
	data++;
	pthread_rwlock_unlock(&lock);
}

static void read_locked(void *argument)
{
	(void)argument;
	pthread_rwlock_rdlock(&lock);
	int found = data;
	pthread_rwlock_unlock(&lock);
	pfs_check_assert(found <= 2);
}

PFS_CHECK_SCENARIO(writers)
{
	pfs_check_thread(write_locked, NULL);
	pfs_check_thread(write_locked, NULL);
	pfs_check_thread(read_locked, NULL);
}

/* ---- what calls write ---- */

struct bytes {
	char at[16];
} bytes, others;

static void fill(void *argument)
{
	(void)argument;
	memset(&bytes, 0, sizeof(bytes));
}

static void copy(void *argument)
{
	(void)argument;
	memcpy(&bytes, &others, sizeof(bytes));
}

static void copy_some(void *argument)
{
	memcpy(bytes.at, others.at, (size_t)atomic_load((atomic_int *)argument));
}

PFS_CHECK_SCENARIO(fill_race)
{
	pfs_check_thread(fill, NULL);
	pfs_check_thread(fill, NULL);
}

PFS_CHECK_SCENARIO(copy_race)
{
	pfs_check_thread(copy, NULL);
	pfs_check_thread(copy, NULL);
}

static void fill_others(void *argument)
{
	(void)argument;
	memset(&others, 1, sizeof(others));
}

PFS_CHECK_SCENARIO(copy_source_race)
{
	pfs_check_thread(copy, NULL);
	pfs_check_thread(fill_others, NULL);
}

static atomic_int some = 9;

PFS_CHECK_SCENARIO(copy_some_race)
{
	pfs_check_thread(copy_some, &some);
	pfs_check_thread(copy_some, &some);
}

static char text[16];

static void put_text(void *argument)
{
	strcpy(text, argument);
}

PFS_CHECK_SCENARIO(text_race)
{
	pfs_check_thread(put_text, "one");
	pfs_check_thread(put_text, "two");
}

/* ---- time ---- */

static struct timespec when;

static int64_t read_clock(struct timespec *now)
{
	(void)clock_gettime(CLOCK_MONOTONIC, now);
	return now->tv_sec * INT64_C(1000000000) + now->tv_nsec;
}

static void read_clock_first(void *argument)
{
	(void)argument;
	for (int i = 0; i < 5; i++)
		(void)read_clock(&when);
	atomic_store_explicit(&told, 1, memory_order_release);
}

static void read_clock_then(void *argument)
{
	struct timespec now;
	(void)argument;
	if (atomic_load_explicit(&told, memory_order_acquire) == 0)
		return;
	int64_t then = when.tv_sec * INT64_C(1000000000) + when.tv_nsec;
	pfs_check_assert(read_clock(&now) > then);
}

PFS_CHECK_SCENARIO(clocks)
{
	pfs_check_thread(read_clock_first, NULL);
	pfs_check_thread(read_clock_then, NULL);
}
