/*
 * scarce_test.c - free records gather where no thread allocates, with many threads on few CPUs.
 *
 * Half of the threads allocate a record and put it into one of a few slots; the other half
 * take records out of the slots and free them. So free records gather with threads that never
 * allocate. There is one record for each thread and each slot, so an exact policy must never
 * refuse, wherever caches and hints hide the record. The number of operations is fixed, without
 * a clock: if threads took the last free records from each other forever, they would hang, and
 * the harness would end the test.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "containers/atomic.h"
#include "stress/harness/harness.h"

#define THREADS 64u
#define SLOTS 16u
#define PAGE_RECORDS 16u
#define CACHED 64u /* as many as a ring holds */
#define ROUNDS (PFS_SHORT ? 100u : 300u)

struct scarce {
	struct pfs_container *container;
	pthread_barrier_t begin;
	_Atomic(uint64_t *) slots[SLOTS];
};

static void begin(struct scarce *self)
{
	(void)pthread_barrier_wait(&self->begin);
}

/* So that threads stop with a record in hand, and with one just given back. */
static void pause_now_and_then(uint32_t round, uint32_t index)
{
	if ((round + index) % 3 == 0)
		(void)sched_yield();
}

static void give_back(struct pfs_thread *thread, uint64_t *record)
{
	if (record == NULL)
		return;
	PFS_CHECK_IS(*record, (uintptr_t)record);
	*record = 0;
	pfs_free(thread, record);
}

static void swap_again_and_again(void *context, uint32_t index)
{
	struct scarce *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	begin(self);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t slot = (round * 7 + index / 2) % SLOTS;
		uint64_t *record = NULL;
		if (index % 2 == 0) {
			record = pfs_allocate_or_fail(thread);
			*record = (uintptr_t)record;
		}
		pause_now_and_then(round, index);
		give_back(thread, pfs_exchange_seq(&self->slots[slot], record));
		pause_now_and_then(round, index + 1);
	}
	begin(self); /* no thread fills a slot any more */
	if (index < SLOTS)
		give_back(thread, pfs_exchange_seq(&self->slots[index], NULL));
	pfs_thread_detach(thread);
}

static struct pfs_container *create(const struct pfs_case *at, uint32_t records, bool fences)
{
	struct pfs_config config = pfs_case_config(at);
	config.page_records = PAGE_RECORDS;
	config.page_prealloc = records / PAGE_RECORDS;
	config.page_max = config.page_prealloc;
	config.owner_fences = fences;
	return pfs_case_create(at, &config);
}

static void run(struct scarce *self, void (*body)(void *context, uint32_t index))
{
	(void)pthread_barrier_init(&self->begin, NULL, THREADS);
	pfs_run_threads(THREADS, body, self);
	(void)pthread_barrier_destroy(&self->begin);
}

static void one_each(const struct pfs_case *at, bool fences)
{
	struct scarce self = { .container = create(at, THREADS + SLOTS, fences) };
	run(&self, swap_again_and_again);
	PFS_CHECK_IS(pfs_counts_of(self.container).lost, 0);
	pfs_container_destroy(self.container);
}

static void a_record_for_each(const struct pfs_case *at)
{
	one_each(at, false);
}

static void a_record_for_each_by_fences(const struct pfs_case *at)
{
	one_each(at, true);
}

/* Two are wanted and one is free: each thread is refused now and then, and each progresses. */
static void greedy(void *context, uint32_t index)
{
	struct scarce *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	begin(self);
	for (uint32_t got = 0; got < ROUNDS;) {
		struct pfs_claim claims[2];
		uint32_t count = 0;
		while (count < 2 && (claims[count] = pfs_allocate(thread)).record != NULL) {
			*(uint64_t *)claims[count].record = index;
			pfs_publish(thread, claims[count++]);
		}
		pause_now_and_then(got, index);
		got += count;
		while (count-- > 0) {
			PFS_CHECK_IS(*(uint64_t *)claims[count].record, index);
			pfs_free(thread, claims[count].record);
		}
	}
	pfs_thread_detach(thread);
}

static void more_wanted_than_there_are(const struct pfs_case *at)
{
	struct scarce self = { .container = create(at, THREADS, false) };
	run(&self, greedy);
	pfs_container_destroy(self.container);
}

static void check_stranded(struct pfs_container *container, uint64_t now, uint64_t peak)
{
	struct pfs_counts counts = pfs_counts_of(container);
	PFS_CHECK_IS(counts.stranded, counts.counted ? now : 0);
	PFS_CHECK_IS(counts.stranded_peak, counts.counted ? peak : 0);
}

/* The metric: what lies in other threads' caches, and only that. */
static void what_others_hold_is_counted(const struct pfs_case *at)
{
	uint64_t cached = strcmp(pfs_variant_name(at->variant), "magazine") == 0 ? CACHED : 0;
	struct pfs_container *container = create(at, 2 * CACHED, false);
	struct pfs_thread *first = pfs_attach_or_fail(container);
	void *records[CACHED];
	for (uint32_t i = 0; i < CACHED; i++)
		records[i] = pfs_allocate_or_fail(first);
	for (uint32_t i = 0; i < CACHED / 2; i++)
		pfs_free(first, records[i]);
	check_stranded(container, 0, 0); /* the only thread may allocate what it holds */
	struct pfs_thread *second = pfs_attach_or_fail(container);
	for (uint32_t i = CACHED / 2; i < CACHED; i++)
		pfs_free(first, records[i]);
	check_stranded(container, cached, cached);
	pfs_thread_detach(first);
	check_stranded(container, 0, cached);
	pfs_thread_detach(second);
	pfs_container_destroy(container);
}

static const struct pfs_test tests[] = {
	{ .name = "a record for each",
	  .run = a_record_for_each,
	  .each = true,
	  .traits = PFS_TRAIT_EXACT,
	  .threads = true },
	{ .name = "a record for each, by fences",
	  .run = a_record_for_each_by_fences,
	  .each = true,
	  .traits = PFS_TRAIT_EXACT | PFS_TRAIT_RECLAIM,
	  .threads = true },
	{ .name = "what others hold is counted",
	  .run = what_others_hold_is_counted,
	  .each = true,
	  .traits = PFS_TRAIT_EXACT },
	{ .name = "more wanted than there are",
	  .run = more_wanted_than_there_are,
	  .each = true,
	  .traits = PFS_TRAIT_EXACT,
	  .threads = true },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
