/*
 * workload_replay.c - the life of a real program's objects, played from a recorded trace.
 *
 * Each object of the trace is one record of the container, whatever its size was. The trace's
 * threads are dealt out to the workers; with more workers than threads several copies of the
 * trace are played at the same time. A trace is played as fast as possible, and starts again when
 * it ends (trace_load.h). prepare allocates the objects that are alive before its first event.
 *
 * The order of events is kept within a worker and for each object, whichever workers execute its
 * events: a free waits for its allocation. No worker is more than DRIFT events of the trace ahead
 * of another, so at most DRIFT objects live beyond the trace's own peak. The first event that is
 * left can always be executed, so there is no deadlock.
 */
#include <stdlib.h>

#include "containers/yield.h"
#include "trace_load.h"
#include "workload.h"

#define DRIFT 256
#define SAMPLE_EVENTS_MAX 64
#define STALLS_MAX 256 /* looks at an event that must wait, before the CPU is given away */

/* Where the record of an id is. */
struct place {
	struct pfs_turn turn;
	void *record; /* whose turn it is; NULL: none, or its allocation was refused */
};

struct stage {
	uint32_t copy_count;
	struct place *places;     /* [copy][object] */
	struct pfs_track *tracks; /* first for copies of `few` workers, then for few + 1 */
	uint32_t few;
};

/* A worker's state; in its own cache lines. */
struct player {
	const struct pfs_track *track;
	struct place *places;     /* of its copy */
	struct pfs_worker *mates; /* all workers; those of its copy are copy_count apart */
	uint32_t first_mate, mate_count, copy_count;
	uint32_t next;   /* event of the track */
	uint64_t base;   /* position of the cycle's first event, over all cycles */
	uint64_t limit;  /* no event from this position on may be executed yet */
	uint64_t held;   /* records allocated less those freed; wraps */
	uint64_t odd;    /* half of an item that is not reported yet */
	uint32_t stalls; /* in a row */
};

static uint32_t copies_of(const struct pfs_scene *scene)
{
	uint32_t threads = scene->replay->info.threads;

	return (scene->thread_count + threads - 1) / threads;
}

static void configure(const struct pfs_scene *scene, uint32_t container, struct pfs_config *config)
{
	uint64_t copies = copies_of(scene);
	uint64_t drift = scene->thread_count > copies ? DRIFT : 0;
	uint64_t most = scene->replay->info.objects + drift;
	uint64_t need = (most * copies + config->page_records - 1) / config->page_records;

	(void)container;
	pfs_scene_pages(scene, config, 1, need < UINT32_MAX / 4 ? (uint32_t)need : UINT32_MAX / 4);
}

static bool start(struct pfs_scene *scene)
{
	const struct pfs_replay *replay = scene->replay;
	struct stage *stage = calloc(1, sizeof(*stage));

	scene->shared = stage;
	if (stage == NULL)
		return false;
	stage->copy_count = copies_of(scene);
	stage->few = scene->thread_count / stage->copy_count;
	stage->places = calloc((size_t)stage->copy_count * replay->info.objects + 1,
			       sizeof(*stage->places));
	stage->tracks = calloc(2 * (size_t)stage->few + 1, sizeof(*stage->tracks));
	return stage->places != NULL && stage->tracks != NULL &&
	       pfs_tracks_deal(replay, stage->tracks, stage->few) &&
	       (scene->thread_count % stage->copy_count == 0 ||
		pfs_tracks_deal(replay, stage->tracks + stage->few, stage->few + 1));
}

static void stop(struct pfs_scene *scene)
{
	struct stage *stage = scene->shared;

	if (stage == NULL)
		return;
	for (uint32_t i = 0; stage->tracks != NULL && i < 2 * stage->few + 1; i++)
		free(stage->tracks[i].events);
	free(stage->tracks);
	free(stage->places);
	free(stage);
	scene->shared = NULL;
}

static void put(struct pfs_worker *worker, struct player *self, struct place *place,
		struct pfs_claim claim)
{
	place->record = claim.record;
	if (claim.record == NULL) {
		worker->refused++;
		return;
	}
	pfs_stamp_set(claim.record, pfs_worker_salt((uint32_t)(place - self->places)));
	worker->scene->calls->publish(worker->threads[0], claim);
	self->held++;
}

static void drop(struct pfs_worker *worker, struct player *self, struct place *place)
{
	if (place->record == NULL)
		return; /* refused */
	if (!pfs_stamp_ok(place->record, pfs_worker_salt((uint32_t)(place - self->places))))
		pfs_worker_fault(worker, "a live record had two owners");
	worker->scene->calls->free(worker->threads[0], place->record);
	place->record = NULL;
	self->held--;
}

static bool prepare(struct pfs_worker *worker)
{
	const struct stage *stage = worker->scene->shared;
	uint32_t copy = worker->index % stage->copy_count;
	uint32_t mates = (uint32_t)pfs_part(worker->scene->thread_count, stage->copy_count, copy);
	size_t size = (sizeof(struct player) + PFS_BENCH_LINE - 1) / PFS_BENCH_LINE;
	struct player *self = aligned_alloc(PFS_BENCH_LINE, size * PFS_BENCH_LINE);

	worker->own = self;
	if (self == NULL)
		return false;
	*self = (struct player){
		.track = &stage->tracks[(mates == stage->few ? 0 : stage->few) +
					worker->index / stage->copy_count],
		.places = stage->places + (size_t)copy * worker->scene->replay->info.objects,
		.mates = worker->scene->workers,
		.first_mate = copy,
		.mate_count = mates,
		.copy_count = stage->copy_count,
	};
	for (uint32_t i = 0; i < self->track->prelude_count; i++)
		put(worker, self, &self->places[self->track->events[i].id_and_kind],
		    worker->scene->calls->allocate(worker->threads[0]));
	pfs_mark_set(&worker->live_mark, self->track->event_count != 0 ? 0 : UINT64_MAX);
	return true;
}

/* Position of the slowest of those that play the same copy, and DRIFT. */
static uint64_t limit_of(const struct player *self)
{
	uint64_t least = UINT64_MAX - DRIFT;

	for (uint32_t i = 0; i < self->mate_count; i++) {
		struct pfs_worker *mate = &self->mates[self->first_mate + i * self->copy_count];
		uint64_t position = pfs_mark_get(&mate->live_mark);
		least = position < least ? position : least;
	}
	return least + DRIFT;
}

/* Execute the next event if it is its turn, with the allocate call timed on request. */
static bool play(struct pfs_worker *worker, struct player *self, bool timed, bool *allocated)
{
	const struct pfs_track *track = self->track;
	const struct pfs_track_event *event = &track->events[track->prelude_count + self->next];
	struct place *place = &self->places[event->id_and_kind & ~PFS_TRACK_FREES];
	uint64_t position = self->base + event->position;

	pfs_mark_set(&worker->live_mark, position);
	if (position >= self->limit) {
		self->limit = limit_of(self);
		if (position >= self->limit)
			return false;
	}
	if (!pfs_turn_is(&place->turn, event->turn))
		return false;
	*allocated = (event->id_and_kind & PFS_TRACK_FREES) == 0;
	if (!*allocated)
		drop(worker, self, place);
	else if (timed)
		put(worker, self, place, pfs_timed_allocate(worker, worker->threads[0]));
	else
		put(worker, self, place, worker->scene->calls->allocate(worker->threads[0]));
	pfs_turn_pass(&place->turn, event->next);
	if (++self->next == track->event_count) {
		self->next = 0;
		self->base += worker->scene->replay->event_count;
	}
	return true;
}

/* With more workers than CPUs, the worker that this one waits for may not be running. */
static void stall(struct player *self)
{
	if (++self->stalls < STALLS_MAX)
		return;
	self->stalls = 0;
	pfs_yield();
}

/* An item is an allocation and a free, whichever workers do them: two events. */
static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	struct player *self = worker->own;
	uint64_t done = self->odd;
	bool allocated;

	if (self->track->event_count == 0)
		return 0;
	while (done < 2 * count && play(worker, self, false, &allocated))
		done++;
	if (done == self->odd)
		stall(self);
	else
		self->stalls = 0;
	self->odd = done % 2;
	return done / 2;
}

static void sample(struct pfs_worker *worker)
{
	struct player *self = worker->own;
	bool allocated = false;

	if (self->track->event_count == 0)
		return;
	for (uint32_t i = 0; i < SAMPLE_EVENTS_MAX && !allocated; i++)
		if (!play(worker, self, true, &allocated)) {
			stall(self);
			return;
		}
}

static uint64_t held(const struct pfs_worker *worker, uint32_t container)
{
	(void)container;
	return ((const struct player *)worker->own)->held;
}

static void finish(struct pfs_worker *worker)
{
	struct player *self = worker->own;
	uint32_t objects = worker->scene->replay->info.objects;
	uint32_t rank = worker->index / self->copy_count;

	for (uint32_t id = rank; id < objects; id += self->mate_count)
		drop(worker, self, &self->places[id]);
	free(self);
	worker->own = NULL;
}

static void report(struct pfs_scene *scene, const uint64_t *ops, double window_s)
{
	const struct pfs_trace_info *info = &scene->replay->info;
	uint64_t cycles = UINT64_MAX;

	(void)ops, (void)window_s;
	for (uint32_t i = 0; i < scene->thread_count; i++) {
		const struct player *player = scene->workers[i].own;
		uint64_t done = player->base / scene->replay->event_count;
		if (player->track->event_count != 0 && done < cycles)
			cycles = done;
	}
	pfs_scene_extra(scene, "trace_threads", info->threads);
	pfs_scene_extra(scene, "trace_objects", info->objects);
	pfs_scene_extra(scene, "trace_copies", copies_of(scene));
	pfs_scene_extra(scene, "cycles", (double)cycles);
	if (scene->thread_count == 1 && cycles != 0) /* then the trace's peak was met, exactly */
		scene->live_peak[0] = info->objects;
}

const struct pfs_workload pfs_workload_replay = {
	.name = "replay",
	.summary = "a recorded trace of a real program, one record for each of its objects",
	.counters = "trace_threads trace_objects trace_copies cycles",
	.has_policy = true,
	.has_trace = true,
	.threads_multiple = 1,
	.window_ms = PFS_WINDOW_MS,
	.container_count = 1,
	.configure = configure,
	.start = start,
	.stop = stop,
	.prepare = prepare,
	.step = step,
	.sample = sample,
	.held = held,
	.finish = finish,
	.report = report,
};
