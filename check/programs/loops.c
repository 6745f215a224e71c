/*
 * loops.c - yields that are in no loop, loops that give up, and loops that only wait: what stands
 * behind them must be found, and right ones must pass. SPIN: iterations of those that give up.
 * SECTIONS: with a scenario that needs --steps 200.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pfslab/check.h>

#ifndef SPIN
#define SPIN 40
#endif

static atomic_int busy, word, other, turn, arrived;
static int counter; /* not atomic */
static int met;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

/* One yield, and no loop. */
static void busy_once(void *argument)
{
	atomic_store(&busy, 1);
	atomic_store(&busy, 0);
}

static void looks_twice(void *argument)
{
	if (atomic_load(&busy) != 1)
		return;
	sched_yield();
	if (atomic_load(&busy) == 1)
		pfs_check_assert(!"it is still busy");
}

PFS_CHECK_SCENARIO(yield_once_fails)
{
	pfs_check_thread(busy_once, 0);
	pfs_check_thread(looks_twice, 0);
}

#ifndef NO_TRIALS
static void tries_twice(void *argument)
{
	if (pthread_mutex_trylock(&mutex) != 0) {
		sched_yield();
		if (pthread_mutex_trylock(&mutex) != 0) {
			counter++;
			return;
		}
	}
	counter++;
	pthread_mutex_unlock(&mutex);
}

PFS_CHECK_SCENARIO(try_twice_fails)
{
	pfs_check_thread(tries_twice, 0);
	pfs_check_thread(tries_twice, 0);
}
#endif

/* Four loads and a store: how often may the loads have seen nothing? */
static void answers(void *argument)
{
	met = atomic_load(&other);
	atomic_store(&word, 1);
}

static void four_loads(void *argument)
{
	int seen = 0;
	for (volatile int i = 0; i < 4; i++)
		seen += atomic_load(&word);
	counter = seen;
	atomic_store(&other, 1);
}

static void says_both(void *argument)
{
	pfs_check_outcome("%d %d", met, counter);
}

PFS_CHECK_SCENARIO(four_loads)
{
	pfs_check_thread(answers, 0);
	pfs_check_thread(four_loads, 0);
	pfs_check_at_rest(says_both, 0);
}

/* A lock that gives up after SPIN looks and sleeps: without saying so, nobody wakes it. */
static void spin_then_sleep(int says_so)
{
	int seen = 0;
	if (atomic_compare_exchange_strong(&word, &seen, 1))
		return;
	for (int i = 0; i < SPIN; i++) {
		seen = 0;
		if (atomic_load_explicit(&word, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&word, &seen, 1))
			return;
	}
	while (atomic_exchange(&word, says_so ? 2 : 1) != 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, says_so ? 2 : 1, NULL, NULL, 0);
}

static void adapts(void *argument)
{
	spin_then_sleep(argument == NULL);
	counter++;
	if (atomic_exchange(&word, 0) == 2)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

PFS_CHECK_SCENARIO(adaptive)
{
	pfs_check_thread(adapts, 0);
	pfs_check_thread(adapts, 0);
}

PFS_CHECK_SCENARIO(adaptive_untold)
{
	pfs_check_thread(adapts, &counter);
	pfs_check_thread(adapts, &counter);
}

/* A semaphore that looks often before it sleeps; nobody posts. */
static sem_t semaphore;

static void signals(void *argument)
{
	counter = 1;
	if (atomic_fetch_add(&word, 1) < 0 && argument == NULL)
		sem_post(&semaphore);
}

static void awaits(void *argument)
{
	int seen;
	for (int i = 0; i < 10000; i++) {
		seen = atomic_load_explicit(&word, memory_order_relaxed);
		if (seen > 0 && atomic_compare_exchange_strong(&word, &seen, seen - 1)) {
			pfs_check_assert(counter == 1);
			return;
		}
	}
	if (atomic_fetch_sub(&word, 1) <= 0)
		sem_wait(&semaphore);
	pfs_check_assert(counter == 1);
}

PFS_CHECK_SCENARIO(looks_often)
{
	sem_init(&semaphore, 0, 0);
	pfs_check_thread(signals, 0);
	pfs_check_thread(awaits, 0);
}

PFS_CHECK_SCENARIO(looks_often_untold)
{
	sem_init(&semaphore, 0, 0);
	pfs_check_thread(signals, &counter);
	pfs_check_thread(awaits, 0);
}

/* Right: it gives up, since nobody sets the word. */
static void stores_other(void *argument)
{
	atomic_store(&other, 1);
}

static void gives_up(void *argument)
{
	for (int i = 0; i < 1000; i++) {
		if (atomic_load(&word) != 0)
			return;
		if (argument != NULL)
			sched_yield();
	}
}

PFS_CHECK_SCENARIO(gives_up)
{
	pfs_check_thread(stores_other, 0);
	pfs_check_thread(gives_up, 0);
}

PFS_CHECK_SCENARIO(gives_up_with_yields)
{
	pfs_check_thread(stores_other, 0);
	pfs_check_thread(gives_up, &counter);
}

/* It counts without end how often it has waited. */
static void backs_off(void *argument)
{
	for (unsigned waits = 1; atomic_exchange(&word, 1) != 0; waits++) {
		for (unsigned i = 0; i < waits % 8; i++)
			sched_yield();
	}
	counter++;
	atomic_store(&word, 0);
}

PFS_CHECK_SCENARIO(backs_off)
{
	pfs_check_thread(backs_off, 0);
	pfs_check_thread(backs_off, 0);
}

/* It waits by sections of a mutex. */
static void waits_by_sections(void *argument)
{
	int seen = 0;
	while (seen == 0) {
		pthread_mutex_lock(&mutex);
		seen = met;
		pthread_mutex_unlock(&mutex);
		sched_yield();
	}
}

static void sets_in_section(void *argument)
{
	pthread_mutex_lock(&mutex);
	met = 1;
	pthread_mutex_unlock(&mutex);
}

#ifndef NO_TRIALS
/* Another thread sees that the mutex is held: the loop has an effect. */
static void sees_held(void *argument)
{
	if (pthread_mutex_trylock(&mutex) == 0)
		pthread_mutex_unlock(&mutex);
	else if (atomic_load(&other) == 0)
		pfs_check_assert(!"held, and nothing else was done");
	atomic_store(&other, 1);
	sets_in_section(argument);
}

PFS_CHECK_SCENARIO(sees_held_fails)
{
	pfs_check_thread(waits_by_sections, 0);
	pfs_check_thread(sees_held, 0);
}

#ifdef SECTIONS
static int is_held(void)
{
	if (pthread_mutex_trylock(&mutex) != 0)
		return 1;
	pthread_mutex_unlock(&mutex);
	return 0;
}

/* Three sections of the loop, one after the other. */
static void sees_sections(void *argument)
{
	if (is_held() && !is_held() && is_held() && !is_held() && is_held())
		pfs_check_assert(!"held three times");
	sets_in_section(argument);
}

PFS_CHECK_SCENARIO(sees_sections_fails)
{
	pfs_check_thread(waits_by_sections, 0);
	pfs_check_thread(sees_sections, 0);
}
#endif
#else
PFS_CHECK_SCENARIO(waits_by_sections)
{
	pfs_check_thread(waits_by_sections, 0);
	pfs_check_thread(sets_in_section, 0);
}

PFS_CHECK_SCENARIO(waits_for_nothing)
{
	pfs_check_thread(waits_by_sections, 0);
	pfs_check_thread(stores_other, 0);
}
#endif

/* Two waiters for different things, and a signal that may wake either. The first waits before the
 * second does. */
static int first_may, second_may;

static void first_waiter(void *argument)
{
	pthread_mutex_lock(&mutex);
	met = 1;
	while (!first_may)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void second_waiter(void *argument)
{
	pthread_mutex_lock(&mutex);
	while (met == 1 && !second_may)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void signals_twice(void *argument)
{
	pthread_mutex_lock(&mutex);
	first_may = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	second_may = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

PFS_CHECK_SCENARIO(wrong_waiter)
{
	pfs_check_thread(first_waiter, 0);
	pfs_check_thread(second_waiter, 0);
	pfs_check_thread(signals_twice, 0);
}

/* The same with atomic flags: a thread that was woken in vain is among the waiters again. */
static atomic_int first_told, second_told;

static void waits_until(void *argument)
{
	atomic_int *flag = argument;
	pthread_mutex_lock(&mutex);
	while (atomic_load(flag) == 0)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void tells_both(void *argument)
{
	atomic_int *const flags[] = { &first_told, &second_told };
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&mutex);
		atomic_store(flags[i], 1);
		pthread_cond_signal(&condition);
		pthread_mutex_unlock(&mutex);
	}
}

PFS_CHECK_SCENARIO(woken_in_vain)
{
	pfs_check_thread(waits_until, &first_told);
	pfs_check_thread(waits_until, &second_told);
	pfs_check_thread(tells_both, 0);
}

/* A barrier whose sense turns, Drepper's mutex, and two compare-and-swaps: right, and few classes.
 */
static void sense(void *argument)
{
	for (int round = 0; round < 2; round++) {
		int own = !atomic_load_explicit(&turn, memory_order_relaxed);
		if (atomic_fetch_add(&arrived, 1) == 1) {
			counter++;
			atomic_store(&arrived, 0);
			atomic_store(&turn, own);
		} else {
			while (atomic_load(&turn) != own)
				;
		}
	}
}

PFS_CHECK_SCENARIO(sense)
{
	pfs_check_thread(sense, 0);
	pfs_check_thread(sense, 0);
}

static void drepper(void *argument)
{
	int seen = 0;
	if (!atomic_compare_exchange_strong(&word, &seen, 1)) {
		if (seen != 2)
			seen = atomic_exchange(&word, 2);
		while (seen != 0) {
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
			seen = atomic_exchange(&word, 2);
		}
	}
	counter++;
	if (atomic_fetch_sub(&word, 1) != 1) {
		atomic_store(&word, 0);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

PFS_CHECK_SCENARIO(drepper)
{
	pfs_check_thread(drepper, 0);
	pfs_check_thread(drepper, 0);
#ifdef THREE
	pfs_check_thread(drepper, 0);
#endif
}

static void swaps(void *argument)
{
	int from = argument != NULL, seen;
	for (;;) {
		seen = from;
		if (atomic_compare_exchange_strong(&word, &seen, 1 - from))
			break;
		seen = 2;
		if (atomic_compare_exchange_strong(&word, &seen, 0))
			break;
	}
}

PFS_CHECK_SCENARIO(two_swaps)
{
	pfs_check_thread(swaps, 0);
	pfs_check_thread(swaps, &counter);
}
