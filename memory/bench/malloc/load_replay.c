/*
 * load_replay.c - replays a recorded trace with its sizes and threads: replay.
 *
 * Each recorded thread is a thread. The trace is played in windows of 2048 events: all threads play
 * their events of a window, then meet. If a thread frees what another one allocated in the same
 * window, it does so at the start of the next window. So no thread waits in between, a free never
 * comes before its allocation, every allocator does the same work in the same order, and at most
 * one window's objects are alive beyond the trace's own. At the end of each round everything is
 * freed.
 */
#include "load.h"
#include "recorded.h"

#include <pthread.h>
#include <stdbool.h>

#define WINDOW 2048u

struct stage {
	void **blocks; /* [object] */
	pthread_barrier_t barrier;
	uint64_t rounds;
};

/* What a thread does, in order. */
struct step {
	uint32_t object;
	uint32_t size;
	bool frees;
};

struct part {
	struct stage *stage;
	struct step *steps;
	uint32_t *ends; /* [window]: of the steps in it */
	uint32_t windows;
};

static void do_step(const struct stage *stage, const struct step *step)
{
	if (step->frees)
		load_give(stage->blocks[step->object], step->size);
	else
		stage->blocks[step->object] = load_take(step->size);
}

static void *play(void *opaque)
{
	struct part *self = opaque;

	for (uint64_t round = 0; round < self->stage->rounds; round++) {
		uint32_t at = 0;
		for (uint32_t window = 0; window < self->windows; window++) {
			for (; at < self->ends[window]; at++)
				do_step(self->stage, &self->steps[at]);
			pthread_barrier_wait(&self->stage->barrier);
		}
	}
	return NULL;
}

/* The window in which an event is played: one later for a free of a foreign object of the same
 * window. */
static uint32_t window_of(const struct recorded *recorded, uint32_t position)
{
	const struct recorded_event *event = &recorded->events[position];
	const struct recorded_object *object = &recorded->objects[event->object];
	uint32_t window = position / WINDOW;

	bool foreign = event->frees && event->thread != object->thread;

	return foreign && object->born / WINDOW == window ? window + 1 : window;
}

static struct step step_of(const struct recorded *recorded, uint32_t object, bool frees)
{
	return (struct step){ object, recorded->objects[object].size, frees };
}

/* Plan a thread's steps, with deferred ones first in their window, then the frees of what it left.
 * */
static void plan(struct part *self, const struct recorded *recorded, uint32_t thread)
{
	uint32_t used = 0;

	for (uint32_t window = 0; window < self->windows; window++) {
		uint32_t from = window == 0 ? 0 : (window - 1) * WINDOW;
		uint32_t to = (window + 1) * WINDOW;
		for (uint32_t i = from; i < to && i < recorded->event_count; i++)
			if (recorded->events[i].thread == thread &&
			    window_of(recorded, i) == window)
				self->steps[used++] = step_of(recorded, recorded->events[i].object,
							      recorded->events[i].frees);
		if (window == self->windows - 1)
			for (uint32_t i = 0; i < recorded->object_count; i++)
				if (recorded->objects[i].dies == RECORDED_NONE &&
				    recorded->objects[i].thread == thread)
					self->steps[used++] = step_of(recorded, i, true);
		self->ends[window] = used;
	}
}

static void run(const struct load_options *options)
{
	struct recorded recorded;

	recorded_read(&recorded, options->trace);
	uint32_t threads = recorded.thread_count;
	uint32_t windows = (recorded.event_count + WINDOW - 1) / WINDOW + 1;
	struct part *parts = load_map(threads * sizeof(*parts));
	struct stage stage = {
		.rounds = options->count,
		.blocks = load_map(recorded.object_count * sizeof(*stage.blocks)),
	};
	pthread_barrier_init(&stage.barrier, NULL, threads);
	for (uint32_t i = 0; i < threads; i++) {
		parts[i] = (struct part){
			.stage = &stage,
			.windows = windows,
			.steps = load_map(2 * (size_t)recorded.object_count * sizeof(struct step)),
			.ends = load_map(windows * sizeof(uint32_t)),
		};
		plan(&parts[i], &recorded, i);
	}
	recorded_drop(&recorded);
	load_threads(threads, play, parts, sizeof(*parts));
	load_settle(options);
}

const struct load load_replay = {
	"replay", "a --trace with its sizes and its threads; rounds", 1, 20, run,
};
