/*
 * load_handoff.c - producers allocate and consumers free, through bounded queues: handoff, drain.
 *
 * A queue passes batches, so that its own cost stays small; a thread that must wait sleeps. The
 * workload prints the peak of live bytes: what is resident beyond that is the allocator's.
 */
#include "load.h"

#include <pthread.h>

#define BATCH 64u

struct batch {
	void *blocks[BATCH];
	uint32_t sizes[BATCH];
	uint32_t bytes;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct batch *ring;
	uint32_t capacity, head, tail; /* in batches; they only increase */
	uint32_t producers;            /* not yet done */
	uint64_t bytes, bytes_peak;    /* in the queue */
};

struct part {
	struct queue *queue;
	uint64_t batches; /* to produce; 0 in a consumer */
	uint64_t state;
};

static void put(struct queue *self, const struct batch *batch)
{
	pthread_mutex_lock(&self->lock);
	while (self->head - self->tail == self->capacity)
		pthread_cond_wait(&self->emptied, &self->lock);
	self->ring[self->head++ % self->capacity] = *batch;
	self->bytes += batch->bytes;
	if (self->bytes > self->bytes_peak)
		self->bytes_peak = self->bytes;
	pthread_cond_signal(&self->filled);
	pthread_mutex_unlock(&self->lock);
}

static int get(struct queue *self, struct batch *batch)
{
	pthread_mutex_lock(&self->lock);
	while (self->head == self->tail && self->producers != 0)
		pthread_cond_wait(&self->filled, &self->lock);
	int found = self->head != self->tail;
	if (found) {
		*batch = self->ring[self->tail++ % self->capacity];
		self->bytes -= batch->bytes;
		pthread_cond_signal(&self->emptied);
	}
	pthread_mutex_unlock(&self->lock);
	return found;
}

static void produce(struct part *self)
{
	struct batch batch;

	for (uint64_t i = 0; i < self->batches; i++) {
		batch.bytes = 0;
		for (uint32_t k = 0; k < BATCH; k++) {
			batch.sizes[k] = (uint32_t)load_size(&self->state, 4, 8);
			batch.blocks[k] = load_take(batch.sizes[k]);
			batch.bytes += batch.sizes[k];
		}
		put(self->queue, &batch);
	}
	pthread_mutex_lock(&self->queue->lock);
	self->queue->producers--;
	pthread_cond_broadcast(&self->queue->filled);
	pthread_mutex_unlock(&self->queue->lock);
}

static void *play(void *opaque)
{
	struct part *self = opaque;
	struct batch batch;

	if (self->batches != 0) {
		produce(self);
		return NULL;
	}
	while (get(self->queue, &batch))
		for (uint32_t k = 0; k < BATCH; k++)
			load_give(batch.blocks[k], batch.sizes[k]);
	return NULL;
}

/* Each producer makes count blocks; producers are spread over the queues. */
static void run(const struct load_options *options, uint32_t queue_count, uint32_t capacity)
{
	uint32_t threads = options->threads + queue_count;
	struct queue *queues = load_map(queue_count * sizeof(*queues));
	struct part *parts = load_map(threads * sizeof(*parts));
	uint64_t peak = 0;

	for (uint32_t i = 0; i < queue_count; i++) {
		queues[i].capacity = capacity;
		queues[i].ring = load_map(capacity * sizeof(struct batch));
		pthread_mutex_init(&queues[i].lock, NULL);
		pthread_cond_init(&queues[i].filled, NULL);
		pthread_cond_init(&queues[i].emptied, NULL);
	}
	for (uint32_t i = 0; i < threads; i++) {
		parts[i].queue = &queues[i % queue_count];
		parts[i].state = options->seed + i;
		if (i >= options->threads)
			continue;
		parts[i].batches = options->count / BATCH + 1;
		parts[i].queue->producers++;
	}
	load_threads(threads, play, parts, sizeof(*parts));
	for (uint32_t i = 0; i < queue_count; i++) {
		peak += queues[i].bytes_peak;
		load_unmap(queues[i].ring, capacity * sizeof(struct batch));
	}
	load_say("live_bytes", peak);
	load_say("own_bytes", (uint64_t)queue_count * capacity * sizeof(struct batch));
}

static void run_handoff(const struct load_options *options)
{
	run(options, options->threads, 64);
}

static void run_drain(const struct load_options *options)
{
	run(options, 1, 2500);
}

const struct load load_handoff = {
	"handoff",   "each producer has a consumer that frees; blocks a producer", 2, 1000000,
	run_handoff,
};
const struct load load_drain = {
	"drain",   "one thread frees what the others allocate; blocks a producer", 16, 100000,
	run_drain,
};
