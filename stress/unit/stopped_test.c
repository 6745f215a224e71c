/*
 * stopped_test.c - a signal stops a thread at a random moment of its allocates and frees. Its
 * handler waits while other threads fill the container.
 *
 * These threads must get every record except those that the stopped thread owns, and at most one
 * that it is allocating or freeing. Only then may they be refused, and they must never wait. Then
 * they free all records, the stopped thread continues, and the next round begins.
 *
 * Pages are made in advance and there is room whenever the thread runs, so it takes no lock. A
 * filler that waits would wait forever, and the harness would end the test. The simulator stops
 * threads that hold a lock, at each step (pfs-sim progress --fill).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "containers/atomic.h"
#include "base/random.h"
#include "stress/harness/harness.h"

#define PAGES 3u
#define PAGE_RECORDS 40u
#define RECORDS (PAGES * PAGE_RECORDS)
#define HELD_MAX 24u
#define FILLERS 2u
#define ROUNDS (PFS_SHORT ? 60u : 300u)
#define RUN_NS_MAX 200000u

/* A record counts as in the victim's hands from the beginning to the end of allocate or free. */
struct victim {
	struct pfs_container *container;
	pthread_t thread;
	/* Records that it owns. Only the victim writes this and in_call; others read them while it
	 * is stopped. No fence: it would order the victim's calls, too, and hide their faults. */
	_Atomic(uint32_t) held;
	_Atomic(uint32_t) in_call;
	_Atomic(uint32_t) is_over;
	_Atomic(uint32_t) calls;
};

/* Of the signal's handler, which has no argument. */
static _Atomic(uint32_t) parked;
static int pipe_ends[2];

/* Waits for a byte: read is safe in handlers, and locks nothing. */
static void on_signal(int number)
{
	char byte;
	int error = errno;
	(void)number;
	(void)pfs_exchange_seq(&parked, 1); /* after all that the victim wrote */
	while (read(pipe_ends[0], &byte, 1) != 1)
		;
	(void)pfs_exchange_seq(&parked, 0);
	errno = error;
}

static void set_up_signal(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	(void)sigemptyset(&action.sa_mask);
	PFS_CHECK_IS(pipe(pipe_ends), 0);
	PFS_CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
}

static void take(struct victim *self, struct pfs_thread *thread, uint64_t **records)
{
	uint32_t held = pfs_load_seq(&self->held);
	pfs_store_release(&self->in_call, 1);
	records[held] = pfs_allocate_or_fail(thread);
	*records[held] = (uintptr_t)records[held];
	pfs_store_release(&self->held, held + 1);
	pfs_store_release(&self->in_call, 0);
}

static void give(struct victim *self, struct pfs_thread *thread, uint64_t **records)
{
	uint32_t held = pfs_load_seq(&self->held) - 1;
	PFS_CHECK_IS(*records[held], (uintptr_t)records[held]);
	pfs_store_release(&self->in_call, 1);
	pfs_store_release(&self->held, held);
	pfs_free(thread, records[held]);
	pfs_store_release(&self->in_call, 0);
}

/* Up and down, so that a ring is filled and emptied, and its overflow goes to the words. */
static void *run_victim(void *opaque)
{
	struct victim *self = opaque;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	uint64_t *records[HELD_MAX];
	uint64_t random = 12345;
	while (pfs_load_seq(&self->is_over) == 0) {
		uint32_t goal = pfs_random_below(&random, HELD_MAX + 1);
		while (pfs_load_seq(&self->held) < goal)
			take(self, thread, records);
		while (pfs_load_seq(&self->held) > goal)
			give(self, thread, records);
		pfs_store_release(&self->calls, pfs_load_seq(&self->calls) + 1);
	}
	while (pfs_load_seq(&self->held) > 0)
		give(self, thread, records);
	pfs_thread_detach(thread);
	return NULL;
}

/* ---- the others ---- */

struct fill {
	struct pfs_container *container;
	pthread_barrier_t refused;
	_Atomic(uint32_t) got;
};

/* Up to the last record. No record is freed before all fillers were refused. */
static void fill_and_give_back(void *context, uint32_t index)
{
	struct fill *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	uint64_t *records[RECORDS + 1];
	uint32_t count = 0;
	struct pfs_claim claim;
	while ((claim = pfs_allocate(thread)).record != NULL) {
		PFS_CHECK(count < RECORDS);
		records[count] = claim.record;
		*records[count++] = index;
		pfs_publish(thread, claim);
	}
	PFS_CHECK_IS(pfs_thread_status(thread), PFS_FULL);
	(void)pfs_fetch_add_relaxed(&self->got, count); /* relaxed: the barrier orders it */
	(void)pthread_barrier_wait(&self->refused);
	while (count > 0) {
		PFS_CHECK_IS(*records[--count], index);
		pfs_free(thread, records[count]);
	}
	pfs_thread_detach(thread);
}

static void fill(struct victim *victim)
{
	struct fill self = { .container = victim->container };
	(void)pthread_barrier_init(&self.refused, NULL, FILLERS);
	pfs_run_threads(FILLERS, fill_and_give_back, &self);
	(void)pthread_barrier_destroy(&self.refused);
	uint32_t owned = pfs_load_seq(&victim->held) + pfs_load_seq(&self.got);
	uint32_t in_hands = pfs_load_seq(&victim->in_call);
	PFS_CHECK(owned <= RECORDS);
	PFS_CHECK(owned + in_hands >= RECORDS); /* else refused too early */
}

static void sleep_ns(uint32_t ns)
{
	const struct timespec span = { .tv_nsec = ns };
	(void)nanosleep(&span, NULL);
}

static void await(_Atomic(uint32_t) *what, uint32_t wanted)
{
	while (pfs_load_seq(what) != wanted)
		sleep_ns(1000);
}

static void stop_and_fill(const struct pfs_case *at, bool fences)
{
	struct pfs_config config = pfs_case_config(at);
	config.page_records = PAGE_RECORDS;
	config.page_prealloc = config.page_max = PAGES;
	config.owner_fences = fences;
	struct victim victim = { .container = pfs_case_create(at, &config) };
	uint64_t random = 1;
	uint32_t in_calls = 0;
	set_up_signal();
	PFS_CHECK_IS(pthread_create(&victim.thread, NULL, run_victim, &victim), 0);
	while (pfs_load_seq(&victim.calls) == 0)
		sleep_ns(1000);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		sleep_ns(pfs_random_below(&random, RUN_NS_MAX));
		PFS_CHECK_IS(pthread_kill(victim.thread, SIGUSR1), 0);
		await(&parked, 1);
		in_calls += pfs_load_seq(&victim.in_call);
		fill(&victim);
		PFS_CHECK_IS(write(pipe_ends[1], "", 1), 1);
		await(&parked, 0);
	}
	PFS_CHECK(in_calls != 0); /* it was stopped amid calls, and not only between them */
	pfs_store_release(&victim.is_over, 1);
	PFS_CHECK_IS(pthread_join(victim.thread, NULL), 0);
	pfs_container_destroy(victim.container);
}

static void by_barrier(const struct pfs_case *at)
{
	stop_and_fill(at, false);
}

static void by_fences(const struct pfs_case *at)
{
	stop_and_fill(at, true);
}

/* Not mutex_list, whose every call is under a lock. */
static const struct pfs_test tests[] = {
	{ .name = "a stopped thread strands one record at most",
	  .run = by_barrier,
	  .each = true,
	  .traits = PFS_TRAIT_EXACT | PFS_TRAIT_RECLAIM,
	  .threads = true },
	{ .name = "a stopped thread strands one record at most, by fences",
	  .run = by_fences,
	  .each = true,
	  .traits = PFS_TRAIT_EXACT | PFS_TRAIT_RECLAIM,
	  .threads = true },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
