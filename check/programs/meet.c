/*
 * meet.c - threads that meet at barriers, or wait in spin loops: check/tests/meet_test.py has the
 * number of executions of each scenario.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <pfslab/check.h>

static pthread_barrier_t barrier;
static atomic_int word, next_ticket, served, sequence, left, right, ready;
static int counter;  /* guarded */
static int cells[2]; /* between meetings, each of one thread */
static int serial;   /* who was told so: a thread's number from 1 */

static const int numbers[] = { 1, 2, 3, 4 };

static void start(void (*run)(void *), unsigned threads)
{
	for (unsigned n = 0; n < threads; n++)
		pfs_check_thread(run, (void *)&numbers[n]);
}

/* ---- barriers ---- */

static void once(void *argument)
{
	pthread_barrier_wait(&barrier);
}

static void twice(void *argument)
{
	once(argument);
	once(argument);
}

static void tells_serial(void *argument)
{
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		serial = *(const int *)argument;
}

static void swaps(void *argument)
{
	int free = 0;
	while (!atomic_compare_exchange_strong(&word, &free, 1))
		free = 0;
	atomic_store(&word, 0);
}

static void must_be_serial(void *argument)
{
	pfs_check_assert(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void writes_first(void *argument)
{
	atomic_store_explicit(&word, 1, memory_order_relaxed);
	once(argument);
}

static void reads_after(void *argument)
{
	once(argument);
	pfs_check_assert(atomic_load_explicit(&word, memory_order_relaxed) == 1);
}

static void writes_and_reads(void *argument)
{
	int own = *(const int *)argument - 1;
	for (int round = 1; round <= 2; round++) {
		cells[own] = round;
		once(argument);
		pfs_check_assert(cells[0] == round && cells[1] == round);
		once(argument);
	}
	cells[own] = 0;
	once(argument);
	pfs_check_assert(cells[0] == 0 && cells[1] == 0);
}

static void *partner(void *argument)
{
	writes_and_reads((void *)&numbers[1]);
	return NULL;
}

/* Two lives of a barrier, each with another thread. */
static void main_thread(void *argument)
{
	for (int life = 0; life < 2; life++) {
		pthread_t other;
		pthread_barrier_init(&barrier, NULL, 2);
		pthread_create(&other, NULL, partner, NULL);
		writes_and_reads((void *)&numbers[0]);
		pthread_join(other, NULL);
		pthread_barrier_destroy(&barrier);
	}
}

static void some_serial(void *argument)
{
	pfs_check_assert(serial != 0);
}

static void not_this_one(void *argument)
{
	pfs_check_assert(serial != *(const int *)argument);
}

static void meet(void (*run)(void *), unsigned threads)
{
	pthread_barrier_init(&barrier, NULL, threads);
	start(run, threads);
}

PFS_CHECK_SCENARIO(once_2)
{
	meet(once, 2);
}
PFS_CHECK_SCENARIO(once_3)
{
	meet(once, 3);
}
PFS_CHECK_SCENARIO(once_4)
{
	meet(once, 4);
}
PFS_CHECK_SCENARIO(twice_2)
{
	meet(twice, 2);
}
PFS_CHECK_SCENARIO(twice_3)
{
	meet(twice, 3);
}
PFS_CHECK_SCENARIO(twice_4)
{
	meet(twice, 4);
}

PFS_CHECK_SCENARIO(beside_swaps_2)
{
	start(swaps, 2);
	meet(once, 2);
}

PFS_CHECK_SCENARIO(serial_3)
{
	meet(tells_serial, 3);
	pfs_check_at_rest(some_serial, NULL);
}

/* Each of the three may be told. */
PFS_CHECK_SCENARIO(serial_first_fails)
{
	meet(tells_serial, 3);
	pfs_check_at_rest(not_this_one, (void *)&numbers[0]);
}

PFS_CHECK_SCENARIO(serial_second_fails)
{
	meet(tells_serial, 3);
	pfs_check_at_rest(not_this_one, (void *)&numbers[1]);
}

PFS_CHECK_SCENARIO(serial_third_fails)
{
	meet(tells_serial, 3);
	pfs_check_at_rest(not_this_one, (void *)&numbers[2]);
}

/* Another one may be told. */
PFS_CHECK_SCENARIO(told_always_fails)
{
	pthread_barrier_init(&barrier, NULL, 2);
	start(once, 1);
	start(must_be_serial, 1);
}

/* Four threads meet in pairs: any two of them. */
PFS_CHECK_SCENARIO(pairs)
{
	pthread_barrier_init(&barrier, NULL, 2);
	start(once, 4);
}

PFS_CHECK_SCENARIO(pairs_fails)
{
	pthread_barrier_init(&barrier, NULL, 2);
	start(writes_first, 1);
	start(reads_after, 1);
	start(once, 2);
}

PFS_CHECK_SCENARIO(rounds_2)
{
	meet(writes_and_reads, 2);
}

PFS_CHECK_SCENARIO(lives)
{
	pfs_check_thread(main_thread, NULL);
}

/* ---- spin loops ---- */

static void by_ticket(void *argument)
{
	int mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
	while (atomic_load_explicit(&served, memory_order_acquire) != mine)
		;
	counter++;
	atomic_store_explicit(&served, mine + 1, memory_order_release);
}

static void by_ttas(void *argument)
{
	do {
		while (atomic_load_explicit(&word, memory_order_relaxed) != 0)
			;
	} while (atomic_exchange_explicit(&word, 1, memory_order_acquire) != 0);
	counter++;
	atomic_store_explicit(&word, 0, memory_order_release);
}

static void writes_pair(void *argument)
{
	atomic_store(&sequence, 1);
	atomic_store(&left, 1);
	atomic_store(&right, 1);
	atomic_store(&sequence, 2);
}

static void reads_pair(void *argument)
{
	int before, first, second;
	do {
		while ((before = atomic_load(&sequence)) & 1)
			;
		first = atomic_load(&left);
		second = atomic_load(&right);
	} while (atomic_load(&sequence) != before);
	pfs_check_assert(first == second);
}

static void yields(void *argument)
{
	while (atomic_load_explicit(&ready, memory_order_acquire) == 0)
		pfs_check_yield();
}

/* Nobody reads a clock, so it does not matter how often it sleeps. */
static void sleeps(void *argument)
{
	while (atomic_load_explicit(&ready, memory_order_acquire) == 0)
		usleep(10);
}

static void tells(void *argument)
{
	atomic_store_explicit(&ready, 1, memory_order_release);
}

PFS_CHECK_SCENARIO(ticket_2)
{
	start(by_ticket, 2);
}
PFS_CHECK_SCENARIO(ticket_4)
{
	start(by_ticket, 4);
}

PFS_CHECK_SCENARIO(ticket_3)
{
	start(by_ticket, 3);
}
PFS_CHECK_SCENARIO(ttas_2)
{
	start(by_ttas, 2);
}
PFS_CHECK_SCENARIO(ttas_3)
{
	start(by_ttas, 3);
}

PFS_CHECK_SCENARIO(seqlock_2)
{
	start(writes_pair, 1);
	start(reads_pair, 1);
}

PFS_CHECK_SCENARIO(seqlock_3)
{
	start(writes_pair, 1);
	start(reads_pair, 2);
}

PFS_CHECK_SCENARIO(yield_3)
{
	start(tells, 1);
	start(yields, 2);
}

PFS_CHECK_SCENARIO(sleeps_2)
{
	start(tells, 1);
	start(sleeps, 1);
}
