/*
 * calibrate_kernel.c - the costs of the kernel: membarrier, futex, yield, pages.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "containers/barrier.h"
#include "sim/calibrate/calibrate.h"

#define BARRIERS 24u
#define WAKES 10u
#define YIELDS 200u
#define HANDOFFS 50u
#define OS_PAGES 8u
#define SETTLE_NS 30000.0    /* until a thread that is about to sleep is asleep */
#define NOTICE_NS 150.0      /* a look at the clock that took longer was interrupted */
#define PREEMPTED_NS 50000.0 /* in a longer one, the thread lost its CPU */
#define SLICE_WINDOW_NS 200e6
#define SLICE_GAP_NS 100e3

struct round {
	struct pfs_calibration *calibration;
	struct pfs_pair *pair;
	double gaps_ns;    /* of thread 1, during the barriers of thread 0 */
	uint64_t woken_at; /* ticks */
};

static void *address_of(_Atomic(uint64_t) *word)
{
	return word; /* its low half on little-endian machines; both halves stay below 2^32 */
}

static long futex(_Atomic(uint64_t) *word, int operation, uint32_t value)
{
	char *half = address_of(word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	half += 4;
#endif
	return syscall(SYS_futex, half, operation, value, NULL, NULL, 0);
}

static void wait_ns(const struct pfs_calibration *self, double ns)
{
	uint64_t begin = pfs_clock_ticks(&self->clock);
	while (pfs_ns_since(self, begin) < ns)
		pfs_pause();
}

static void measure_memory(struct pfs_calibration *self)
{
	double faults[OS_PAGES];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t begin = pfs_clock_ticks(&self->clock);
	char *memory = mmap(NULL, OS_PAGES * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	pfs_series_add(self, "map", "ns", "mmap", pfs_ns_since(self, begin));
	for (uint32_t i = 0; i < OS_PAGES; i++) {
		begin = pfs_clock_ticks(&self->clock);
		*(volatile char *)&memory[i * page] = 1;
		faults[i] = pfs_ns_since(self, begin) - self->clock.cost_ns;
	}
	pfs_series_add(self, "fault", "ns", "first touch of an OS page",
		       pfs_median_of(faults, OS_PAGES));
	begin = pfs_clock_ticks(&self->clock);
	(void)munmap(memory, OS_PAGES * page);
	pfs_series_add(self, "unmap", "ns", "munmap of 8 touched OS pages, no other thread runs",
		       pfs_ns_since(self, begin));
}

/* Thread 0 alone: the other thread sleeps in the pool. */
static void alone_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	double barriers[BARRIERS];
	if (thread != 0)
		return;
	for (uint32_t i = 0; i < BARRIERS && pfs_barrier_available(); i++) {
		uint64_t begin = pfs_clock_ticks(&self->clock);
		(void)pfs_barrier_heavy();
		barriers[i] = pfs_ns_since(self, begin) - self->clock.cost_ns;
	}
	if (pfs_barrier_available())
		pfs_series_add(self, "membarrier_alone", "ns", "membarrier, no other thread runs",
			       pfs_median_of(barriers, BARRIERS));
	uint64_t begin = pfs_clock_ticks(&self->clock);
	for (uint32_t i = 0; i < YIELDS; i++)
		(void)sched_yield();
	pfs_series_add(self, "yield_alone", "ns", "sched_yield with nobody waiting",
		       pfs_ns_since(self, begin) / YIELDS);
	begin = pfs_clock_ticks(&self->clock);
	for (uint32_t i = 0; i < YIELDS; i++)
		(void)futex(&round->pair->word, FUTEX_WAKE_PRIVATE, 1);
	pfs_series_add(self, "futex_wake_nobody", "ns", "futex wake where nobody sleeps",
		       pfs_ns_since(self, begin) / YIELDS);
	measure_memory(self);
}

/* Thread 1 reads the clock without pause; the excess of a long read is due to interrupts. */
static void barrier_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	_Atomic(uint64_t) *word = &round->pair->word;
	double barriers[BARRIERS];
	pfs_store_relaxed(word, 0); /* relaxed: meet() orders */
	pfs_pair_meet(round->pair, thread);
	if (thread == 1) {
		uint64_t last = pfs_clock_ticks(&self->clock);
		round->gaps_ns = 0;
		while (pfs_load_relaxed(word) == 0) { /* relaxed: a sign to stop */
			uint64_t now = pfs_clock_ticks(&self->clock);
			double gap = (double)(now - last) * self->clock.ns_per_tick;
			last = now;
			if (gap > NOTICE_NS)
				round->gaps_ns += gap > PREEMPTED_NS ? NAN : gap;
		}
		return;
	}
	wait_ns(self, 2000);
	for (uint32_t i = 0; i < BARRIERS; i++) {
		uint64_t begin = pfs_clock_ticks(&self->clock);
		(void)pfs_barrier_heavy();
		barriers[i] = pfs_ns_since(self, begin) - self->clock.cost_ns;
		wait_ns(self, 3000); /* one interrupt at a time */
	}
	pfs_store_relaxed(word, 1); /* relaxed: a sign to stop */
	pfs_series_add(self, "membarrier_busy", "ns", "membarrier while one other thread runs",
		       pfs_median_of(barriers, BARRIERS));
}

/* Thread 1 sleeps; thread 0 wakes it. */
static void wake_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	_Atomic(uint64_t) *word = &round->pair->word;
	double calls[WAKES], ways[WAKES];
	pfs_store_relaxed(word, 0); /* relaxed: meet() orders */
	for (uint32_t i = 0; i < WAKES; i++) {
		pfs_pair_meet(round->pair, thread);
		if (thread == 1) {
			while (pfs_load_relaxed(word) == i) /* relaxed: meet() orders the rest */
				(void)futex(word, FUTEX_WAIT_PRIVATE, i);
			round->woken_at = pfs_clock_ticks(&self->clock);
			pfs_pair_meet(round->pair, thread);
			continue;
		}
		wait_ns(self, SETTLE_NS);
		uint64_t begin = pfs_clock_ticks(&self->clock);
		pfs_store_relaxed(word, i + 1); /* relaxed: the value is the message */
		(void)futex(word, FUTEX_WAKE_PRIVATE, 1);
		calls[i] = pfs_ns_since(self, begin) - self->clock.cost_ns;
		pfs_pair_meet(round->pair, thread);
		ways[i] = (double)(round->woken_at - begin) * self->clock.ns_per_tick;
	}
	if (thread != 0)
		return;
	pfs_series_add(self, "futex_wake", "ns", "futex wake of one sleeper, on another PU",
		       pfs_median_of(calls, WAKES));
	pfs_series_add(self, "futex_way", "ns",
		       "from the begin of that call until the sleeper "
		       "runs",
		       pfs_median_of(ways, WAKES));
}

void pfs_calibrate_kernel(struct pfs_calibration *self, struct pfs_pair *pair)
{
	struct round round = { .calibration = self, .pair = pair };
	pfs_pool_each(pair->pool, alone_job, &round);
	if (pfs_barrier_available()) {
		pfs_pool_each(pair->pool, barrier_job, &round);
		pfs_series_add(self, "interrupt", "ns",
			       "what a running thread loses to one "
			       "membarrier of another",
			       round.gaps_ns / BARRIERS);
	}
	pfs_pool_each(pair->pool, wake_job, &round);
}

/* On one PU: each wakes the other and sleeps. */
static void handoff_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	_Atomic(uint64_t) *word = &round->pair->word;
	uint64_t begin = pfs_clock_ticks(&self->clock);
	/* relaxed: the value is the message, here and below; word is 0 or whose turn it is + 1 */
	for (uint32_t i = 0; i < HANDOFFS; i++) {
		uint64_t seen;
		while ((seen = pfs_load_relaxed(word)) != thread + 1)
			(void)futex(word, FUTEX_WAIT_PRIVATE, (uint32_t)seen);
		pfs_store_relaxed(word, 2 - thread);
		(void)futex(word, FUTEX_WAKE_PRIVATE, 1);
	}
	if (thread == 0)
		pfs_series_add(self, "handoff_same_pu", "ns",
			       "two threads of one PU: wake the "
			       "other, sleep, switch",
			       pfs_ns_since(self, begin) / (2 * HANDOFFS));
}

/* On one PU: both yield. Only yields after which the other has run are counted. */
static void yield_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	_Atomic(uint64_t) *word = &round->pair->word, *counts = round->pair->counts;
	uint64_t begin = pfs_clock_ticks(&self->clock);
	/* relaxed: one PU; numbers to look at */
	for (uint32_t i = 0; i < YIELDS; i++) {
		if (pfs_load_relaxed(word) != thread)
			pfs_store_relaxed(&counts[0], pfs_load_relaxed(&counts[0]) + 1);
		pfs_store_relaxed(word, thread);
		(void)sched_yield();
	}
	if (thread != 0)
		return;
	double switches = (double)pfs_load_relaxed(&counts[0]);
	double ns = switches >= YIELDS / 2 ? pfs_ns_since(self, begin) / switches : NAN;
	pfs_series_add(self, "yield_switch", "ns",
		       "two threads of one PU yield: time over "
		       "switches",
		       ns);
}

void pfs_calibrate_same_pu(struct pfs_calibration *self, struct pfs_pair *same)
{
	struct round round = { .calibration = self, .pair = same };
	pfs_store_relaxed(&same->word, 1); /* relaxed: the pool's mutex orders, here and below */
	pfs_pool_each(same->pool, handoff_job, &round);
	pfs_store_relaxed(&same->counts[0], 0);
	pfs_pool_each(same->pool, yield_job, &round);
}

/* On one PU: both read the clock; a long gap was the other thread's slice. */
static void slice_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	double runs[64];
	uint32_t count = 0;
	uint64_t begin = pfs_clock_ticks(&self->clock), last = begin, from = 0;
	while (pfs_ns_since(self, begin) < SLICE_WINDOW_NS) {
		uint64_t now = pfs_clock_ticks(&self->clock);
		if ((double)(now - last) * self->clock.ns_per_tick > SLICE_GAP_NS) {
			if (from != 0 && count < 64)
				runs[count++] = (double)(last - from) * self->clock.ns_per_tick;
			from = now;
		}
		last = now;
	}
	if (thread == 0)
		pfs_series_add(self, "slice", "ns",
			       "how long a thread runs while another one "
			       "waits for its CPU",
			       pfs_median_of(runs, count));
}

void pfs_calibrate_slice(struct pfs_calibration *self, struct pfs_pair *same)
{
	struct round round = { .calibration = self, .pair = same };
	pfs_pool_each(same->pool, slice_job, &round);
}
