/*
 * load_tails.c - how long the longest calls take: tails.
 *
 * The main thread alone fills a heap, frees three quarters of it at random, and goes on with other
 * sizes, some of which do not fit the holes. Then threads do the same together, while the main
 * thread forks, and starts and ends other threads. So calls meet what earlier ones and others left
 * behind: much free memory, busy threads, ended threads. Each call is timed by itself; the first
 * write to a page is not part of it. A call that waits for a processor looks long, so the thread's
 * own CPU time in the longest call is reported, too.
 */
#define _GNU_SOURCE 1
#include "load.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "containers/atomic.h"

#define CALLS_EACH 100000u /* of a thread, after the heap is filled */
#define FORK_EVERY_MS 5
#define STARTS 400u
#define LARGE_EVERY 500u /* a block that hardly fits a hole */
#define FINE 16u         /* buckets a doubling */
#define BUCKETS (60u * FINE)

enum { MALLOC, FREE, REALLOC, FORK, START, END, KINDS };

static const char *const kind_names[KINDS] = {
	"malloc", "free", "realloc", "fork", "start", "end"
};

struct times {
	uint64_t counts[BUCKETS]; /* by elapsed nanoseconds, logarithmic */
	uint64_t calls, longest_ns, longest_cpu_ns;
};

struct slot {
	void *block;
	size_t size;
};

struct worker {
	uint64_t state;
	struct slot *slots;
	uint32_t slot_count;
	uint64_t lived_ns; /* when the thread that is being timed had done its work */
	struct times times[KINDS];
};

struct moment {
	uint64_t elapsed_ns, cpu_ns;
};

static pthread_barrier_t filled;
static _Atomic(uint32_t) working;

static struct moment now(void)
{
	uint64_t cpu_ns = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID);

	return (struct moment){ pfs_now_ns(CLOCK_MONOTONIC), cpu_ns };
}

static uint32_t bucket_of(uint64_t ns)
{
	if (ns < FINE)
		return (uint32_t)ns;
	uint32_t bits = 63u - (uint32_t)__builtin_clzll(ns);
	uint32_t bucket = (bits - 3) * FINE + (uint32_t)(ns >> (bits - 4) & (FINE - 1));
	return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static uint64_t bucket_ns(uint32_t bucket)
{
	if (bucket < 2 * FINE)
		return bucket;
	return (FINE + bucket % FINE) << (bucket / FINE - 1);
}

static void note_elapsed(struct times *times, uint64_t elapsed_ns)
{
	times->calls++;
	times->counts[bucket_of(elapsed_ns)]++;
	if (elapsed_ns > times->longest_ns)
		times->longest_ns = elapsed_ns;
}

static void note(struct times *times, struct moment begin)
{
	uint64_t elapsed_ns = pfs_now_ns(CLOCK_MONOTONIC) - begin.elapsed_ns;

	note_elapsed(times, elapsed_ns);
	if (elapsed_ns <= times->longest_cpu_ns)
		return; /* not longer on a processor either */
	uint64_t cpu_ns = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin.cpu_ns;
	if (cpu_ns > times->longest_cpu_ns)
		times->longest_cpu_ns = cpu_ns;
}

static void touch(const struct slot *slot)
{
	if (slot->block == NULL)
		load_fail("no memory");
	for (size_t at = 0; at < slot->size; at += 4096)
		((volatile char *)slot->block)[at] = 1;
}

static void take(struct worker *self, struct slot *slot, size_t size)
{
	struct moment begin = now();

	slot->block = malloc(size);
	note(&self->times[MALLOC], begin);
	slot->size = size;
	touch(slot);
}

static void give(struct worker *self, struct slot *slot)
{
	struct moment begin = now();

	free(slot->block);
	note(&self->times[FREE], begin);
	slot->block = NULL;
}

/* Its copy is part of the call, so only small blocks are resized. */
static void resize(struct worker *self, struct slot *slot)
{
	size_t size = load_size(&self->state, 4, 14);
	struct moment begin = now();

	slot->block = realloc(slot->block, size);
	note(&self->times[REALLOC], begin);
	slot->size = size;
	touch(slot);
}

#define MEAN_FILL_BYTES (47u << 10)

/* Most bytes are in large blocks, most blocks are small. */
static size_t fill_size(uint64_t *state)
{
	return load_size(state, 4, load_below(state, 4) == 0 ? 21 : 14);
}

static void change(struct worker *self)
{
	struct slot *slot = &self->slots[load_below(&self->state, self->slot_count)];

	if (slot->block != NULL && slot->size < 1 << 14 && load_below(&self->state, 4) == 0) {
		resize(self, slot);
		return;
	}
	if (slot->block != NULL)
		give(self, slot);
	if (load_below(&self->state, LARGE_EVERY) == 0)
		take(self, slot, load_size(&self->state, 21, 23));
	else if (load_below(&self->state, 4) == 0)
		take(self, slot, load_size(&self->state, 4, 13));
}

static void fill(struct worker *self)
{
	for (uint32_t i = 0; i < self->slot_count; i++)
		take(self, &self->slots[i], fill_size(&self->state));
	for (uint32_t i = 0; i < self->slot_count; i++)
		if (load_below(&self->state, 4) != 0)
			give(self, &self->slots[i]);
}

static void go_on(struct worker *self)
{
	for (uint32_t i = 0; i < CALLS_EACH; i++)
		change(self);
	for (uint32_t i = 0; i < self->slot_count; i++)
		if (self->slots[i].block != NULL)
			give(self, &self->slots[i]);
}

static void *work(void *opaque)
{
	struct worker *self = opaque;

	fill(self);
	pthread_barrier_wait(&filled);
	go_on(self);
	(void)pfs_fetch_add_relaxed(&working, UINT32_MAX); /* relaxed: join orders */
	return NULL;
}

static void time_fork(struct worker *self)
{
	struct moment begin = now();
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	note(&self->times[FORK], begin);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		load_fail("no child");
}

static void *live(void *opaque)
{
	struct worker *self = opaque;
	struct slot slots[16];

	for (uint32_t i = 0; i < 16; i++)
		take(self, &slots[i], load_size(&self->state, 4, 12));
	for (uint32_t i = 0; i < 16; i++)
		give(self, &slots[i]);
	self->lived_ns = pfs_now_ns(CLOCK_MONOTONIC);
	return NULL;
}

static void time_thread(struct worker *self)
{
	pthread_t thread;
	struct moment begin = now();

	if (pthread_create(&thread, NULL, live, self) != 0)
		load_fail("a thread cannot be started");
	note(&self->times[START], begin);
	pthread_join(thread, NULL);
	note_elapsed(&self->times[END], pfs_now_ns(CLOCK_MONOTONIC) - self->lived_ns);
}

/* The main thread's part, as long as the others work. */
static void disturb(struct worker *self)
{
	struct timespec pause = { .tv_nsec = FORK_EVERY_MS * 1000000L };

	/* relaxed: a hint */
	for (uint32_t i = 0; pfs_load_relaxed(&working) != 0; i++) {
		if (i % 2 == 0)
			time_fork(self);
		else
			time_thread(self);
		nanosleep(&pause, NULL);
	}
	for (uint32_t i = 0; i < STARTS; i++)
		time_thread(self);
}

static void add(struct times *sum, const struct times *one)
{
	sum->calls += one->calls;
	for (uint32_t i = 0; i < BUCKETS; i++)
		sum->counts[i] += one->counts[i];
	if (one->longest_ns > sum->longest_ns)
		sum->longest_ns = one->longest_ns;
	if (one->longest_cpu_ns > sum->longest_cpu_ns)
		sum->longest_cpu_ns = one->longest_cpu_ns;
}

/* Of every `of` calls one is longer. */
static uint64_t all_but_one(const struct times *times, uint32_t of)
{
	uint64_t above = times->calls / of, seen = 0;
	uint32_t bucket = BUCKETS;

	while (bucket > 0 && seen <= above)
		seen += times->counts[--bucket];
	return bucket_ns(bucket);
}

static void say(const char *kind, const char *what, uint64_t value)
{
	char name[48];

	snprintf(name, sizeof(name), "%s_%s", kind, what);
	load_say(name, value);
}

static void report(const struct times *times)
{
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		say(kind_names[kind], "calls", times[kind].calls);
		say(kind_names[kind], "p99_ns", all_but_one(&times[kind], 100));
		say(kind_names[kind], "p9999_ns", all_but_one(&times[kind], 10000));
		say(kind_names[kind], "longest_ns", times[kind].longest_ns);
		if (kind != END) /* another thread's work */
			say(kind_names[kind], "longest_cpu_ns", times[kind].longest_cpu_ns);
	}
}

static void run(const struct load_options *options)
{
	size_t heap_bytes = (size_t)options->count << 20;
	uint32_t each = (uint32_t)(heap_bytes / options->threads / MEAN_FILL_BYTES) + 1;
	uint32_t all = options->threads * each;
	struct worker *workers = load_map((options->threads + 1) * sizeof(*workers));
	struct slot *slots = load_map(all * sizeof(*slots));
	struct worker *own = &workers[options->threads];
	static pthread_t threads[LOAD_THREADS_MAX];

	*own = (struct worker){ .state = options->seed, .slots = slots, .slot_count = all };
	fill(own);
	go_on(own);

	pthread_barrier_init(&filled, NULL, options->threads + 1);
	pfs_store_relaxed(&working, options->threads); /* relaxed: no threads yet */
	for (uint32_t i = 0; i < options->threads; i++) {
		workers[i].state = options->seed + 1 + i;
		workers[i].slots = slots + (size_t)i * each;
		workers[i].slot_count = each;
		if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
			load_fail("a thread cannot be started");
	}
	pthread_barrier_wait(&filled);
	disturb(own);
	for (uint32_t i = 0; i < options->threads; i++) {
		pthread_join(threads[i], NULL);
		for (uint32_t kind = 0; kind < KINDS; kind++)
			add(&own->times[kind], &workers[i].times[kind]);
	}
	report(own->times);
}

const struct load load_tails = {
	"tails", "the longest calls, beside forks and new threads; MiB of heap", 4, 512, run,
};
