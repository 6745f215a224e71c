/*
 * load_idle.c - threads fill memory, free it and stay idle: idle, idle-foreign, free-only. With
 * --idle-ms it prints what is resident then.
 */
#include "load.h"

#include <pthread.h>

struct heap {
	void **blocks;
	uint32_t *sizes;
	uint32_t count, capacity;
};

struct stage {
	pthread_barrier_t started, filled, freed, seen;
	const struct load_options *options;
	/* filled by the watcher, one for each thread; NULL: each thread fills its own */
	struct heap *heaps;
};

struct part {
	struct stage *stage;
	struct heap own;
	struct heap *frees;
	uint64_t bytes, state; /* bytes: to fill; 0: nothing */
};

/* Allocate blocks of 16 to 8191 bytes, until they have `bytes` bytes together. */
static void fill(struct heap *self, uint64_t bytes, uint64_t *state)
{
	self->capacity = (uint32_t)(bytes / 64 + 1);
	self->blocks = load_map(self->capacity * sizeof(*self->blocks));
	self->sizes = load_map(self->capacity * sizeof(*self->sizes));
	for (uint64_t sum = 0; sum < bytes && self->count < self->capacity; self->count++) {
		self->sizes[self->count] = (uint32_t)load_size(state, 4, 13);
		self->blocks[self->count] = load_take(self->sizes[self->count]);
		sum += self->sizes[self->count];
	}
}

static void empty(struct heap *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		load_give(self->blocks[i], self->sizes[i]);
	load_unmap(self->blocks, self->capacity * sizeof(*self->blocks));
	load_unmap(self->sizes, self->capacity * sizeof(*self->sizes));
	self->count = 0;
}

static void *play(void *opaque)
{
	struct part *self = opaque;

	pthread_barrier_wait(&self->stage->started);
	if (self->bytes != 0)
		fill(&self->own, self->bytes, &self->state);
	pthread_barrier_wait(&self->stage->filled);
	empty(self->frees);
	pthread_barrier_wait(&self->stage->freed);
	pthread_barrier_wait(&self->stage->seen); /* alive while the watcher measures */
	return NULL;
}

static void *watch(void *opaque)
{
	struct stage *stage = opaque;
	const struct load_options *options = stage->options;
	uint64_t state = options->seed;

	pthread_barrier_wait(&stage->started);
	if (stage->heaps != NULL) /* with the threads' stacks */
		load_say("before_bytes", load_resident());
	for (uint32_t i = 0; stage->heaps != NULL && i < options->threads; i++)
		fill(&stage->heaps[i], options->count, &state);
	pthread_barrier_wait(&stage->filled);
	pthread_barrier_wait(&stage->freed);
	load_settle(options);
	pthread_barrier_wait(&stage->seen);
	return NULL;
}

static void play_all(struct stage *stage, struct part *parts)
{
	uint32_t threads = stage->options->threads;
	pthread_t watcher;

	pthread_barrier_init(&stage->started, NULL, threads + 1);
	pthread_barrier_init(&stage->filled, NULL, threads + 1);
	pthread_barrier_init(&stage->freed, NULL, threads + 1);
	pthread_barrier_init(&stage->seen, NULL, threads + 1);
	if (pthread_create(&watcher, NULL, watch, stage) != 0)
		load_fail("a thread cannot be started");
	load_threads(threads, play, parts, sizeof(*parts));
	pthread_join(watcher, NULL);
}

static void run(const struct load_options *options, uint32_t step)
{
	struct stage stage = { .options = options };
	struct part *parts = load_map(options->threads * sizeof(*parts));

	for (uint32_t i = 0; i < options->threads; i++)
		parts[i] = (struct part){
			.stage = &stage,
			.bytes = options->count,
			.state = options->seed + i,
			.frees = &parts[(i + step) % options->threads].own,
		};
	play_all(&stage, parts);
}

static void run_own(const struct load_options *options)
{
	run(options, 0);
}

static void run_foreign(const struct load_options *options)
{
	run(options, 1);
}

/* One thread allocates everything; each other thread frees its part and may cache any of it. */
static void run_free_only(const struct load_options *options)
{
	struct stage stage = { .options = options,
			       .heaps = load_map(options->threads * sizeof(struct heap)) };
	struct part *parts = load_map(options->threads * sizeof(*parts));

	for (uint32_t i = 0; i < options->threads; i++)
		parts[i] = (struct part){ .stage = &stage, .frees = &stage.heaps[i] };
	play_all(&stage, parts);
}

const struct load load_idle = {
	"idle",  "threads fill, free what they filled, and idle; bytes a thread", 8, 32u << 20,
	run_own,
};
/* clang-format off */
const struct load load_idle_foreign = {
	"idle-foreign", "the same, each frees what another one filled; bytes a thread", 8,
	32u << 20, run_foreign,
};
/* clang-format on */
const struct load load_free_only = {
	"free-only",   "threads that only free what one other allocated, and idle; bytes a thread",
	400,           500000,
	run_free_only,
};
