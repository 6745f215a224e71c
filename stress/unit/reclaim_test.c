/*
 * reclaim_test.c - which pages are given back, when, and what may delay them.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "containers/container.h"
#include "base/random.h"
#include "stress/harness/fixture.h"

#define PAGES 12u
#define SLOTS 32u
#define CAPACITY (PAGES * SLOTS)
#define WAIT_TRIES 5000u /* of a millisecond */

static void prepare(struct pfs_fixture *self, const struct pfs_case *at)
{
	pfs_fixture_prepare(self, at, PAGES, SLOTS);
	self->config.reclaim.headroom_percent = 0;
	self->config.reclaim.spare_pages = 0;
	self->config.reclaim.decay_passes = 0; /* the curve has tests of its own: decay_test.c */
}

static void empty_pages_go(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	it.config.source = NULL; /* from the operating system */
	it.config.record_size_bytes = 4096;
	it.config.reclaim.spare_pages = 1;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++)
		memset(it.records[i], 1, 4096);
	uint64_t resident = pfs_counts_of(it.container).resident_bytes;
	PFS_CHECK(resident >= CAPACITY * 4096u);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), 0); /* all live */
	pfs_fixture_empty(&it, 0, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), PAGES - 1);
	struct pfs_counts counts = pfs_counts_of(it.container);
	PFS_CHECK_IS(counts.pages, 1);
	PFS_CHECK_IS(counts.pages_peak, PAGES);
	PFS_CHECK_IS(counts.reclaimed, PAGES - 1);
	PFS_CHECK_IS(counts.pages_waiting, 0);
	PFS_CHECK(counts.resident_bytes <= resident / PAGES + 4096);
	pfs_fixture_fill(&it, CAPACITY); /* and come again */
	PFS_CHECK_IS(pfs_fixture_pages(&it), PAGES);
	PFS_CHECK_IS(pfs_counts_of(it.container).lost, 0);
	pfs_fixture_empty(&it, 0, CAPACITY);
	pfs_fixture_tear_down(&it);
}

static void a_pass_waits_idle_passes(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	it.config.reclaim.idle_passes = 3;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_empty(&it, 0, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
	PFS_CHECK_IS(pfs_fixture_pages(&it), PAGES);
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), PAGES);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	pfs_fixture_fill(&it, 1); /* use in between starts the count anew */
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
	pfs_fixture_empty(&it, 0, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 1);
	pfs_fixture_tear_down(&it);
}

static void in_the_background(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	it.config.reclaim.period_ms = 2;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_empty(&it, 0, CAPACITY);
	for (uint32_t try = 0; pfs_fixture_pages(&it) != 0 && try < WAIT_TRIES; try++)
		(void)usleep(1000);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	pfs_fixture_fill(&it, 5);
	(void)usleep(20000);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 1);
	pfs_fixture_empty(&it, 0, CAPACITY);
	pfs_fixture_tear_down(&it);
}

static void off_unless_asked(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	PFS_CHECK_IS(it.config.reclaim.period_ms, 0);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_empty(&it, 0, CAPACITY);
	(void)usleep(50000);
	PFS_CHECK_IS(pfs_fixture_pages(&it), PAGES);
	bool gives = (pfs_variant_traits(at->variant) & PFS_TRAIT_RECLAIM) != 0;
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), gives ? PAGES : 0);
	PFS_CHECK_IS(pfs_fixture_pages(&it), gives ? 0 : PAGES);
	pfs_fixture_tear_down(&it);
}

static void never_below_preallocation(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	it.config.page_prealloc = 4;
	pfs_fixture_set_up(&it);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), 0);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 4);
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_empty(&it, 0, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), PAGES - 4);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), 0);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 4);
	pfs_fixture_tear_down(&it);
}

/* One record holds its page, and no other; whether it is ALLOCATED or still DIRTY. */
static void a_used_page_stays(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	void *live = it.records[5 * SLOTS + 3];
	struct pfs_claim dirty = pfs_reopen(it.thread, it.records[8 * SLOTS + 31]);
	it.records[5 * SLOTS + 3] = NULL;
	it.records[8 * SLOTS + 31] = NULL;
	pfs_fixture_empty(&it, 0, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), PAGES - 2);
	PFS_CHECK_IS(pfs_index(it.thread, live), 5 * SLOTS + 3);
	PFS_CHECK(pfs_lookup(it.thread, 5 * SLOTS + 3) == live);
	pfs_free(it.thread, live);
	pfs_publish(it.thread, dirty);
	PFS_CHECK(pfs_lookup(it.thread, 8 * SLOTS + 31) == dirty.record);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), 1);
	pfs_free(it.thread, dirty.record);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), 1);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	pfs_fixture_tear_down(&it);
}

/* Two records on each page, replaced one by one: they must gather on few pages. */
static void thin_load_drains(const struct pfs_case *at)
{
	struct pfs_fixture it;
	uint64_t random = 11;
	void *thin[2 * PAGES];
	prepare(&it, at);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t page = 0; page < PAGES; page++) {
		for (uint32_t i = 0; i < 2; i++) {
			thin[2 * page + i] = it.records[page * SLOTS + 7 * i];
			it.records[page * SLOTS + 7 * i] = NULL;
		}
	}
	pfs_fixture_empty(&it, 0, CAPACITY);
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 2 * PAGES; i++) {
			uint32_t which = pfs_random_below(&random, 2 * PAGES);
			pfs_free(it.thread, thin[which]);
			thin[which] = pfs_allocate_or_fail(it.thread);
		}
		(void)pfs_reclaim_pass(it.thread);
	}
	/* 24 records fit one page of 32; one more for what a policy may cache for its thread. */
	PFS_CHECK(pfs_fixture_pages(&it) <= 2);
	for (uint32_t i = 0; i < 2 * PAGES; i++)
		pfs_free(it.thread, thin[i]);
	pfs_fixture_tear_down(&it);
}

/* Load swings between 6 and 8 pages; with headroom of half, no page moves. */
static void hysteresis(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	it.config.reclaim.headroom_percent = 50;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, 8 * SLOTS);
	for (uint32_t swing = 0; swing < 30; swing++) {
		pfs_fixture_empty(&it, 6 * SLOTS, 8 * SLOTS);
		for (uint32_t i = 0; i < 4; i++)
			PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
		pfs_fixture_fill(&it, 2 * SLOTS);
	}
	PFS_CHECK_IS(pfs_fixture_pages(&it), 8);
	PFS_CHECK_IS(pfs_counts_of(it.container).growths, 8);
	pfs_fixture_empty(&it, 2 * SLOTS, CAPACITY); /* far below: pages go */
	for (uint32_t i = 0; i < 4; i++)
		(void)pfs_reclaim_pass(it.thread);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 3);
	pfs_fixture_empty(&it, 0, CAPACITY);
	pfs_fixture_tear_down(&it);
}

/* The pass runs while a reader is in its section. If epochs waited for readers, the pass would
 * wait. */
static void run_pass(void *context, uint32_t index)
{
	struct pfs_fixture *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	if (index == 0) {
		(void)pfs_reclaim_now(thread);
		pfs_thread_detach(thread);
		return;
	}
	/* The reader: looked a record up, and it was freed meanwhile. */
	uint64_t word = 0;
	struct pfs_thread *reader = self->thread;
	for (uint32_t try = 0; pfs_fixture_pages(self) != 0 && try < WAIT_TRIES; try++)
		(void)usleep(1000);
	PFS_CHECK_IS(pfs_fixture_pages(self), 0);
	PFS_CHECK_IS(pfs_counts_of(self->container).pages_waiting, 1);
	PFS_CHECK_IS(pfs_test_source_out(&self->source), 1);
	pfs_bytes_load(&word, self->records[0], sizeof(word));
	PFS_CHECK_IS(word, 4711); /* the memory is still there */
	/* Nobody waits: callers go on, on a page of their own. */
	for (uint32_t i = 0; i < 3 * SLOTS; i++)
		pfs_free(thread, pfs_allocate_or_fail(thread));
	PFS_CHECK_IS(pfs_test_source_out(&self->source), 2);
	pfs_leave(reader);
	pfs_thread_detach(thread);
}

static void a_reader_delays_memory_alone(const struct pfs_case *at)
{
	struct pfs_fixture it;
	const uint64_t word = 4711;
	prepare(&it, at);
	pfs_fixture_set_up(&it);
	struct pfs_claim claim = pfs_allocate(it.thread);
	pfs_bytes_store(claim.record, &word, sizeof(word));
	pfs_publish(it.thread, claim);
	pfs_enter(it.thread);
	it.records[0] = pfs_lookup(it.thread, pfs_index(it.thread, claim.record));
	PFS_CHECK(it.records[0] == claim.record);
	pfs_free(it.thread, claim.record);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), 0); /* not from inside a section */
	PFS_CHECK_IS(pfs_fixture_pages(&it), 1);
	pfs_run_threads(2, run_pass, &it);
	(void)pfs_reclaim_now(it.thread);
	struct pfs_counts counts = pfs_counts_of(it.container);
	PFS_CHECK_IS(counts.pages_waiting, 0);
	PFS_CHECK_IS(counts.pages, 0);
	PFS_CHECK_IS(counts.reclaimed, 2);
	PFS_CHECK_IS(pfs_test_source_out(&it.source), 0);
	pfs_fixture_tear_down(&it);
}

/* A reader that stays in its section delays at most one capacity of pages, however often pages come
 * and go. When it leaves, they are given back. */
static void limbo_is_bounded(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	pfs_fixture_set_up(&it);
	struct pfs_thread *reader = pfs_attach_or_fail(it.container);
	pfs_enter(reader);
	for (uint32_t cycle = 0; cycle < 5 * PAGES; cycle++) {
		pfs_fixture_fill(&it, CAPACITY);
		pfs_fixture_empty(&it, 0, CAPACITY);
		(void)pfs_reclaim_now(it.thread);
		PFS_CHECK(pfs_counts_of(it.container).pages_waiting <= PAGES);
		PFS_CHECK(pfs_test_source_out(&it.source) <= 2 * PAGES + 1); /* and one spare */
	}
	PFS_CHECK_IS(pfs_counts_of(it.container).pages_waiting, PAGES);
	PFS_CHECK_IS(pfs_counts_of(it.container).lost, 0);
	pfs_leave(reader);
	pfs_thread_detach(reader);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), 2 * PAGES);
	PFS_CHECK_IS(pfs_counts_of(it.container).pages_waiting, 0);
	pfs_fixture_tear_down(&it);
}

/* What now keeps for the next wave, trim does not. */
static void trim_gives_back_all(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	it.config.reclaim.headroom_percent = 100;
	it.config.reclaim.spare_pages = 2;
	it.config.page_prealloc = 3;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_empty(&it, 1, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), PAGES - 3);
	PFS_CHECK_IS(pfs_reclaim_trim(it.thread), 2);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 1);
	pfs_fixture_empty(&it, 0, 1);
	PFS_CHECK_IS(pfs_reclaim_trim(it.thread), 1);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	PFS_CHECK_IS(pfs_test_source_out(&it.source), 0);
	pfs_fixture_fill(&it, CAPACITY); /* and come again */
	pfs_fixture_empty(&it, 0, CAPACITY);
	pfs_fixture_tear_down(&it);
}

/* From inside a section nothing is given back, so nothing is taken out of caches for it. */
static void a_refused_pass_costs_nothing(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	pfs_fixture_set_up(&it);
	struct pfs_thread *other = pfs_attach_or_fail(it.container);
	pfs_free(other, pfs_allocate_or_fail(other));
	uint64_t stranded = pfs_counts_of(it.container).stranded;
	pfs_enter(it.thread);
	PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
	PFS_CHECK_IS(pfs_reclaim_trim(it.thread), 0);
	pfs_leave(it.thread);
	PFS_CHECK_IS(pfs_counts_of(it.container).stranded, stranded);
	(void)pfs_reclaim_pass(it.thread);
	PFS_CHECK_IS(pfs_counts_of(it.container).stranded, 0);
	pfs_thread_detach(other);
	pfs_fixture_tear_down(&it);
}

/* Passes while other threads allocate. */
struct passes {
	struct pfs_fixture it;
	_Atomic(uint32_t) given; /* pages that passes of this test gave back */
	_Atomic(uint32_t) busy;  /* threads that still allocate */
	struct timespec begin;
};

/* All relaxed: the threads must see no order but the container's own. */
static bool is_busy(struct passes *self)
{
	return atomic_load_explicit(&self->busy, memory_order_relaxed) != 0;
}

static void done(struct passes *self)
{
	(void)atomic_fetch_sub_explicit(&self->busy, 1, memory_order_relaxed);
}

#define HASTE_SECONDS 4

/* Allocators continue until `goal` pages were given back meanwhile; on a busy machine, until at
 * least one was and the time is up. */
static bool have_gone(struct passes *self, uint32_t goal)
{
	struct timespec now;
	uint32_t given = atomic_load_explicit(&self->given, memory_order_relaxed);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return given >= goal || (given > 0 && now.tv_sec - self->begin.tv_sec > HASTE_SECONDS);
}

static void pass_while_busy(struct passes *self, struct pfs_thread *thread)
{
	while (is_busy(self))
		(void)atomic_fetch_add_explicit(&self->given, pfs_reclaim_now(thread),
						memory_order_relaxed);
}

static void prepare_passes(struct passes *self, const struct pfs_case *at, uint32_t busy)
{
	memset(self, 0, sizeof(*self));
	prepare(&self->it, at);
	(void)clock_gettime(CLOCK_MONOTONIC, &self->begin);
	self->busy = busy;
}

/* At its maximum, with one free record: a record is free at every moment, so a pass that looks at
 * its page must not make an allocation fail. */
#define TURNS 300u
#define SMALL_PAGE 4u /* so that pages come and go all the time */

static void allocate_or_pass(void *context, uint32_t index)
{
	struct passes *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->it.container);
	if (index == 0) {
		while (!have_gone(self, TURNS))
			pfs_free(thread, pfs_allocate_or_fail(thread));
		done(self);
	} else {
		pass_while_busy(self, thread);
	}
	pfs_thread_detach(thread);
}

static void a_pass_costs_no_allocation(const struct pfs_case *at)
{
	struct passes self;
	prepare_passes(&self, at, 1);
	self.it.config.page_max = 2;
	self.it.config.page_records = SMALL_PAGE;
	pfs_fixture_set_up(&self.it);
	for (uint32_t i = 0; i < SMALL_PAGE; i++) /* one page full; the other comes and goes */
		(void)pfs_allocate_or_fail(self.it.thread);
	pfs_run_threads(2, allocate_or_pass, &self);
	PFS_CHECK_IS(pfs_counts_of(self.it.container).lost, 0);
	pfs_fixture_tear_down(&self.it);
}

/* Waves of records, written without atomics, while passes run all the time: a record of a
 * page that is being given back would be a use after free. */
#define WAVE_PAGES (PFS_SHORT ? 150u : 600u)

static void wave(struct pfs_thread *thread, uint32_t size, uint64_t stamp)
{
	uint64_t *records[CAPACITY];
	uint32_t count = 0;
	for (; count < size; count++) {
		struct pfs_claim claim = pfs_allocate(thread);
		if (claim.record == NULL)
			break;
		records[count] = claim.record;
		*records[count] = stamp + count;
		pfs_publish(thread, claim);
	}
	while (count-- > 0) {
		PFS_CHECK_IS(*records[count], stamp + count);
		*records[count] = ~stamp;
		pfs_free(thread, records[count]);
	}
}

static void wave_or_pass(void *context, uint32_t index)
{
	struct passes *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->it.container);
	uint64_t random = pfs_random_seed(3, index);
	if (index == 0) {
		pass_while_busy(self, thread);
	} else {
		for (uint64_t i = 0; !have_gone(self, WAVE_PAGES); i++)
			wave(thread, pfs_random_below(&random, CAPACITY / 3),
			     (uint64_t)index << 50 | i << 20);
		done(self);
	}
	pfs_thread_detach(thread);
}

static void waves_and_passes(const struct pfs_case *at)
{
	struct passes self;
	prepare_passes(&self, at, 3);
	pfs_fixture_set_up(&self.it);
	pfs_run_threads(4, wave_or_pass, &self);
	(void)pfs_reclaim_now(self.it.thread);
	PFS_CHECK_IS(pfs_fixture_pages(&self.it), 0);
	pfs_fixture_fill(&self.it, CAPACITY);
	PFS_CHECK(pfs_allocate(self.it.thread).record == NULL);
	pfs_fixture_empty(&self.it, 0, CAPACITY);
	pfs_fixture_tear_down(&self.it);
}

#define GIVES(title, function)                                                                \
	{                                                                                     \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_RECLAIM \
	}
#define GIVES_WITH_THREADS(title, function)                                                    \
	{                                                                                      \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_RECLAIM, \
		.threads = true                                                                \
	}

static const struct pfs_test tests[] = {
	GIVES("empty pages go", empty_pages_go),
	GIVES("a pass waits idle passes", a_pass_waits_idle_passes),
	GIVES_WITH_THREADS("in the background", in_the_background),
	{ .name = "off unless asked",
	  .run = off_unless_asked,
	  .each = true,
	  .traits = PFS_TRAIT_INDEX },
	GIVES("never below preallocation", never_below_preallocation),
	GIVES("a used page stays", a_used_page_stays),
	GIVES("thin load drains", thin_load_drains),
	GIVES("hysteresis", hysteresis),
	GIVES_WITH_THREADS("a reader delays memory alone", a_reader_delays_memory_alone),
	GIVES("limbo is bounded", limbo_is_bounded),
	GIVES("trim gives back all", trim_gives_back_all),
	GIVES("a refused pass costs nothing", a_refused_pass_costs_nothing),
	GIVES_WITH_THREADS("a pass costs no allocation", a_pass_costs_no_allocation),
	GIVES_WITH_THREADS("waves and passes", waves_and_passes),
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
