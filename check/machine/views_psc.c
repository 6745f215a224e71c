/*
 * views_psc.c - what RC11's psc forbids if there are seq fences: views_psc.h.
 *
 * Places at a location are numbers: 2n for the write at position n of modification order, 2n + 1
 * for its readers. A higher number is later in eco; an exchange has both of its numbers.
 */
#include "check/machine/views_psc.h"

#include <stdlib.h>
#include <string.h>

#include "check/machine/snapshot.h"
#include "check/machine/views.h"

void pfs_psc_fini(struct pfs_psc *self)
{
	free(self->events);
	free(self->fences);
	free(self->last);
	free(self->reached);
	free(self->done);
	free(self->least);
	pfs_scratch_fini(&self->arena);
}

void pfs_psc_begin(struct pfs_psc *self, uint32_t threads)
{
	self->last = pfs_widen(self->last, &self->last_room, threads, sizeof(uint32_t));
	self->reached = pfs_widen(self->reached, &self->reached_room, threads, sizeof(uint32_t));
	self->done = pfs_widen(self->done, &self->done_room, threads, sizeof(uint32_t));
	memset(self->last, 0xFF, threads * sizeof(uint32_t)); /* PFS_PSC_NONE */
	self->threads = threads;
	self->count = self->fence_count = 0;
	pfs_scratch_clear(&self->arena);
}

void pfs_psc_keep(struct pfs_psc *self, struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &self->count, sizeof(self->count));
	pfs_snapshot_put(snapshot, &self->fence_count, sizeof(self->fence_count));
	pfs_snapshot_put(snapshot, self->last, self->threads * sizeof(*self->last));
	pfs_snapshot_put_scratch(snapshot, &self->arena);
}

/* The thread's clock at this moment; usually equal to its last event's for other threads. */
static const uint32_t *clock_now(struct pfs_psc *self, const struct pfs_clocks *clocks,
				 const struct pfs_psc_event *event)
{
	const uint32_t *now = pfs_clock_of(clocks, event->thread);
	const uint32_t *before = event->before != PFS_PSC_NONE ? self->events[event->before].clock
							       : NULL;
	bool same = before != NULL;
	for (uint32_t other = 0; same && other < self->threads; other++)
		same = other == event->thread || before[other] == now[other];
	if (same)
		return before;
	uint32_t *copy = pfs_scratch_take(&self->arena, self->threads * sizeof(*copy));
	memcpy(copy, now, self->threads * sizeof(*copy));
	return copy;
}

void pfs_psc_add(struct pfs_psc *self, const struct pfs_clocks *clocks,
		 const struct pfs_psc_event *event)
{
	uint32_t number = self->count;
	self->events = pfs_widen(self->events, &self->room, number + 1, sizeof(*self->events));
	struct pfs_psc_event *made = &self->events[number];
	*made = *event;
	made->before = made->elsewhere = self->last[event->thread];
	if (made->before != PFS_PSC_NONE && self->events[made->before].location == made->location)
		made->elsewhere = self->events[made->before].elsewhere;
	made->clock = clock_now(self, clocks, made);
	self->last[event->thread] = number;
	self->count++;
	if (event->location != PFS_TABLE_NONE) {
		self->least = pfs_widen(self->least, &self->least_room, event->location + 1,
					sizeof(*self->least));
		return;
	}
	self->fences = pfs_widen(self->fences, &self->fence_room, self->fence_count + 1,
				 sizeof(*self->fences));
	self->fences[self->fence_count++] = number;
}

/* ---- relations ---- */

struct walk {
	const struct pfs_views *views;
	const struct pfs_psc *psc;
	const struct pfs_psc_choice *choice;
	const uint32_t *now; /* the clock of the choice's thread */
	uint32_t place;      /* the choice comes after this place */
};

static bool is_fence(const struct pfs_psc_event *event)
{
	return event->location == PFS_TABLE_NONE;
}

/* Does event a happen before event b? */
static bool happens_before(const struct walk *walk, uint32_t a, uint32_t b)
{
	const struct pfs_psc_event *first = &walk->psc->events[a], *second = &walk->psc->events[b];
	if (first->thread == second->thread)
		return a < b;
	return second->clock[first->thread] >= first->epoch;
}

/* Does event a happen before event b, or is it b, or is there no b? */
static bool is_known(const struct walk *walk, uint32_t a, uint32_t b)
{
	return a != PFS_PSC_NONE && b != PFS_PSC_NONE && (a == b || happens_before(walk, a, b));
}

static bool happens_before_choice(const struct walk *walk, uint32_t a)
{
	const struct pfs_psc_event *event = &walk->psc->events[a];
	const struct pfs_psc_choice *choice = walk->choice;
	return event->thread == choice->thread || walk->now[event->thread] >= event->epoch ||
	       (choice->acquired != NULL && choice->acquired[event->thread] >= event->epoch);
}

static uint32_t position(const struct walk *walk, const struct pfs_psc_event *event,
			 uint32_t message)
{
	return walk->views->locations[event->location].messages[message].at;
}

/* The first place of an event: what is later than this is later than the event. */
static uint32_t first_place(const struct walk *walk, uint32_t id)
{
	const struct pfs_psc_event *event = &walk->psc->events[id];
	return event->read != PFS_PSC_NONE ? 2 * position(walk, event, event->read) + 1
					   : 2 * position(walk, event, event->written);
}

/* 0: it writes nothing. */
static uint32_t write_place(const struct walk *walk, uint32_t id)
{
	const struct pfs_psc_event *event = &walk->psc->events[id];
	return event->written != PFS_PSC_NONE ? 2 * position(walk, event, event->written) : 0;
}

static uint32_t last_place(const struct walk *walk, uint32_t id)
{
	uint32_t place = write_place(walk, id);
	return place != 0 ? place : first_place(walk, id);
}

/* ---- forward through psc ---- */

static void reach(const struct walk *walk, uint32_t node)
{
	uint32_t *reached = &walk->psc->reached[walk->psc->events[node].thread];
	if (node < *reached)
		*reached = node;
}

/* The fences that an event happens before. */
static void reach_fences(const struct walk *walk, uint32_t event)
{
	for (uint32_t i = 0; i < walk->psc->fence_count; i++) {
		if (happens_before(walk, event, walk->psc->fences[i]))
			reach(walk, walk->psc->fences[i]);
	}
}

/* Mark what comes after an event, if the event comes after a node. */
static void arrive(const struct walk *walk, uint32_t event)
{
	if (walk->psc->events[event].seq)
		reach(walk, event);
	reach_fences(walk, event);
}

/* The first event after this one in its thread; at another location, if `elsewhere`. */
static uint32_t next_of(const struct walk *walk, uint32_t id, bool elsewhere)
{
	const struct pfs_psc_event *event = &walk->psc->events[id];
	for (uint32_t next = id + 1; next < walk->psc->count; next++) {
		const struct pfs_psc_event *other = &walk->psc->events[next];
		if (other->thread == event->thread &&
		    (!elsewhere || other->location != event->location))
			return next;
	}
	return PFS_PSC_NONE;
}

static void leave_operation(const struct walk *walk, uint32_t node)
{
	const struct pfs_psc_event *event = &walk->psc->events[node];
	uint32_t next = next_of(walk, node, false), other = next_of(walk, node, true);
	uint32_t place = first_place(walk, node);
	for (uint32_t id = 0; id < walk->psc->count; id++) {
		const struct pfs_psc_event *behind = &walk->psc->events[id];
		if (id == node)
			continue;
		if (behind->location == event->location &&
		    (write_place(walk, id) > place || happens_before(walk, node, id)))
			arrive(walk, id);
		if (is_fence(behind) ? is_known(walk, next, id)
				     : behind->seq && is_known(walk, other, behind->elsewhere))
			reach(walk, id);
		if (behind->seq && behind->thread == event->thread && id > node)
			reach(walk, id);
	}
}

/* Is there an operation at the event's location, after the fence and before the event? */
static bool is_through_location(const struct walk *walk, uint32_t fence, uint32_t event)
{
	for (uint32_t id = 0; id < walk->psc->count; id++) {
		if (walk->psc->events[id].location == walk->psc->events[event].location &&
		    happens_before(walk, fence, id) && happens_before(walk, id, event))
			return true;
	}
	return false;
}

/* By location: the first place of what happens after the fence. */
static void find_least(const struct walk *walk, uint32_t fence)
{
	uint32_t *least = walk->psc->least;
	memset(least, 0xFF, walk->psc->least_room * sizeof(*least));
	for (uint32_t id = 0; id < walk->psc->count; id++) {
		const struct pfs_psc_event *event = &walk->psc->events[id];
		if (!happens_before(walk, fence, id))
			continue;
		if (is_fence(event)) {
			reach(walk, id);
			continue;
		}
		uint32_t place = first_place(walk, id);
		if (place < least[event->location])
			least[event->location] = place;
	}
}

static void leave_fence(const struct walk *walk, uint32_t fence)
{
	find_least(walk, fence);
	for (uint32_t id = 0; id < walk->psc->count; id++) {
		const struct pfs_psc_event *event = &walk->psc->events[id];
		if (is_fence(event))
			continue;
		uint32_t least = walk->psc->least[event->location];
		if (last_place(walk, id) > least)
			reach_fences(walk, id);
		if (event->seq &&
		    (write_place(walk, id) > least || is_known(walk, fence, event->before) ||
		     (happens_before(walk, fence, id) && is_through_location(walk, fence, id))))
			reach(walk, id);
	}
}

/* ---- the choice ---- */

/* Does a seq fence come before the choice, because it happens before it? */
static bool is_behind_fence(const struct walk *walk)
{
	for (uint32_t i = 0; i < walk->psc->fence_count; i++) {
		if (happens_before_choice(walk, walk->psc->fences[i]))
			return true;
	}
	return false;
}

/* Does an event of the choice's location that is after the fence come before its write? */
static bool writes_behind(const struct walk *walk, uint32_t fence)
{
	for (uint32_t id = 0; walk->choice->writes && id < walk->psc->count; id++) {
		if (walk->psc->events[id].location == walk->choice->location &&
		    happens_before(walk, fence, id) && first_place(walk, id) <= walk->place)
			return true;
	}
	return false;
}

static bool operation_precedes(const struct walk *walk, uint32_t node)
{
	const struct pfs_psc_event *event = &walk->psc->events[node];
	const struct pfs_psc_choice *choice = walk->choice;
	uint32_t elsewhere = walk->psc->last[choice->thread];
	if (event->thread == choice->thread)
		return true;
	if (event->location == choice->location &&
	    (happens_before_choice(walk, node) ||
	     (choice->writes && first_place(walk, node) <= walk->place)))
		return true;
	if (elsewhere != PFS_PSC_NONE && walk->psc->events[elsewhere].location == choice->location)
		elsewhere = walk->psc->events[elsewhere].elsewhere;
	return is_known(walk, next_of(walk, node, true), elsewhere);
}

/* Does the node come before the choice; or, if only `fences` count, before a fence that does? */
static bool precedes(const struct walk *walk, uint32_t node, bool fences)
{
	if (is_fence(&walk->psc->events[node]) && happens_before_choice(walk, node))
		return true;
	if (fences || !walk->choice->seq)
		return false;
	return is_fence(&walk->psc->events[node]) ? writes_behind(walk, node)
						  : operation_precedes(walk, node);
}

/* Does anything that can be reached from the reached events come before the choice? */
static bool leads_back(const struct walk *walk, bool fences)
{
	const struct pfs_psc *psc = walk->psc;
	for (uint32_t thread = 0; thread < psc->threads;) {
		uint32_t first = psc->reached[thread], end = psc->done[thread];
		if (first >= end) {
			thread++;
			continue;
		}
		psc->done[thread] = first;
		for (uint32_t node = first; node < end; node++) {
			const struct pfs_psc_event *event = &psc->events[node];
			if (event->thread != thread || (!event->seq && !is_fence(event)))
				continue;
			if (precedes(walk, node, fences))
				return true;
			if (is_fence(event))
				leave_fence(walk, node);
			else
				leave_operation(walk, node);
		}
		thread = 0;
	}
	return false;
}

/* Does a path lead from the choice to what is newer at its location, and back? */
static bool closes_cycle(const struct walk *walk)
{
	const struct pfs_psc *psc = walk->psc;
	bool behind_fence = is_behind_fence(walk);
	if (!behind_fence && !walk->choice->seq)
		return false;
	for (uint32_t thread = 0; thread < psc->threads; thread++) {
		psc->reached[thread] = PFS_PSC_NONE;
		psc->done[thread] = psc->count;
	}
	for (uint32_t id = 0; id < psc->count; id++) {
		if (psc->events[id].location == walk->choice->location &&
		    write_place(walk, id) > walk->place)
			arrive(walk, id);
	}
	if (leads_back(walk, false))
		return true;
	if (!behind_fence)
		return false;
	/* From fence to fence the path may also use readers of what is newer. */
	for (uint32_t id = 0; id < psc->count; id++) {
		if (psc->events[id].location == walk->choice->location &&
		    last_place(walk, id) > walk->place)
			reach_fences(walk, id);
	}
	return leads_back(walk, true);
}

static struct walk walk_of(const struct pfs_views *views, const struct pfs_clocks *clocks,
			   const struct pfs_psc_choice *choice)
{
	return (struct walk){ views, &views->psc, choice, pfs_clock_of(clocks, choice->thread),
			      2 * choice->at + 1 };
}

bool pfs_psc_allows(const struct pfs_views *views, const struct pfs_clocks *clocks,
		    const struct pfs_psc_choice *choice)
{
	struct walk walk = walk_of(views, clocks, choice);
	return !closes_cycle(&walk);
}

/* ---- steps of cycles ---- */

/* Is event b later at its location, or does a happen before it? All edges of psc consist of
 * these. */
static bool is_later(const struct walk *walk, uint32_t a, uint32_t b)
{
	if (happens_before(walk, a, b))
		return true;
	uint32_t location = walk->psc->events[a].location;
	return a != b && location != PFS_TABLE_NONE && location == walk->psc->events[b].location &&
	       first_place(walk, a) < last_place(walk, b);
}

static bool is_later_than_choice(const struct walk *walk, uint32_t id)
{
	return walk->psc->events[id].location == walk->choice->location &&
	       last_place(walk, id) > walk->place;
}

static bool is_before_choice(const struct walk *walk, uint32_t id)
{
	const struct pfs_psc_choice *choice = walk->choice;
	return happens_before_choice(walk, id) ||
	       (walk->psc->events[id].location == choice->location &&
		(choice->writes ? first_place(walk, id) <= walk->place
				: first_place(walk, id) < walk->place));
}

enum mark { UNMARKED, MARKED, SPREAD };

/* Mark what follows the marked events, or what they follow. */
static void spread(const struct walk *walk, uint8_t *marks, bool forward)
{
	uint32_t count = walk->psc->count;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t from = forward ? i : count - 1 - i; /* once is usually enough */
			if (marks[from] != MARKED)
				continue;
			marks[from] = SPREAD;
			more = true;
			for (uint32_t id = 0; id < count; id++) {
				if (marks[id] == UNMARKED &&
				    (forward ? is_later(walk, from, id) : is_later(walk, id, from)))
					marks[id] = MARKED;
			}
		}
	}
}

uint32_t pfs_psc_cycle(const struct pfs_views *views, const struct pfs_clocks *clocks,
		       const struct pfs_psc_choice *choice, uint32_t *steps, uint32_t room)
{
	struct walk walk = walk_of(views, clocks, choice);
	uint32_t found = 0, count = walk.psc->count;
	uint8_t *marks = closes_cycle(&walk) ? calloc(2, count) : NULL; /* [2][count] */
	if (marks == NULL)
		return 0;
	for (uint32_t id = 0; id < count; id++) {
		marks[id] = is_later_than_choice(&walk, id) ? MARKED : UNMARKED;
		marks[count + id] = is_before_choice(&walk, id) ? MARKED : UNMARKED;
	}
	spread(&walk, marks, true);
	spread(&walk, marks + count, false);
	for (uint32_t id = 0; id < count && found < room; id++) {
		if (marks[id] != UNMARKED && marks[count + id] != UNMARKED)
			steps[found++] = walk.psc->events[id].step;
	}
	free(marks);
	return found;
}
