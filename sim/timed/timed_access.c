/*
 * timed_access.c - an access that the core's own cache cannot serve: which holder gives the
 * line, when it leaves and arrives, and which threads wait.
 *
 * A request reaches the holder after request_share of the transfer. Until then, and until the
 * hold is over, the holder keeps using its copy. Requests for a line that is in transfer, or
 * for which others wait, queue; each is served when the line has arrived at the one before.
 * All waiting readers are served together, and their copies are made one by one. A hold is a
 * time of the holder's L3: the distance that the line came does not make it longer.
 */
#include "sim/timed/timed_engine.h"

#define QUEUE_LOOKS 16 /* requests among which the nearest is looked for */

enum source { FROM_SIBLING, FROM_L3, FROM_NODE, FROM_REMOTE, FROM_NEAR, FROM_FAR };

struct fetch {
	uint64_t latency;
	enum source source;
	bool held; /* a holder has to give it up or copy it */
};

static enum source source_of(const struct pfs_timed *self, uint32_t from, uint32_t to)
{
	const uint16_t *place = self->prices.place_of_l3;
	return from == to ? FROM_L3 : place[from] == place[to] ? FROM_NODE : FROM_REMOTE;
}

static struct fetch from_l3(const struct pfs_timed *self, const struct pfs_timed_thread *thread,
			    uint32_t group)
{
	uint32_t groups = self->plan.topology->l3_count;
	return (struct fetch){ self->prices.transfer[group * groups + thread->l3],
			       source_of(self, group, thread->l3), true };
}

static struct fetch from_memory(const struct pfs_timed *self, const struct pfs_timed_thread *thread,
				const struct pfs_line *line)
{
	uint32_t nodes = self->plan.topology->node_count;
	return (struct fetch){ self->prices.memory[line->home * nodes + thread->node],
			       line->home == thread->node ? FROM_NEAR : FROM_FAR, false };
}

static struct fetch from_owner(const struct pfs_timed *self, const struct pfs_timed_thread *thread,
			       const struct pfs_line *line)
{
	if (line->owner == thread->core)
		return (struct fetch){ self->prices.smt, FROM_SIBLING, true };
	uint32_t group = self->l3_of_core[line->owner];
	if (self->lines.cores[line->owner].fills[1] - line->stamps[1] < self->prices.l2_lines)
		return from_l3(self, thread, group);
	if (self->lines.l3s[group].fills[0] - line->stamps[2] >= self->prices.l3_lines)
		return from_memory(self, thread, line);
	if (group != thread->l3)
		return from_l3(self, thread, group);
	return (struct fetch){ self->prices.l3_hit, FROM_L3, true };
}

/* A reader takes the nearest copy; a writer waits until the farthest is invalid. Bit b of the
 * mask stands for the L3s b, b + 64, ... */
static struct fetch from_sharers(const struct pfs_timed *self,
				 const struct pfs_timed_thread *thread, const struct pfs_line *line,
				 bool exclusive)
{
	uint32_t groups = self->plan.topology->l3_count;
	bool here = (line->groups >> (thread->l3 % 64) & 1) != 0;
	struct fetch best = { self->prices.l3_hit, FROM_L3, true };
	if (here && !exclusive)
		return best;
	bool any = here && pfs_line_is_only(&self->lines, line, thread->core);
	for (uint64_t left = line->groups; left != 0; left &= left - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(left);
		for (uint32_t group = bit; group < groups; group += 64) {
			if (any && group == thread->l3)
				continue; /* its own copy is the only one there */
			struct fetch next = from_l3(self, thread, group);
			if (!any || (next.latency > best.latency) == exclusive)
				best = next;
			any = true;
		}
	}
	if (exclusive && pfs_line_has(&self->lines, line, thread->core))
		best.latency = best.latency * self->prices.upgrade_q16 >> 16;
	return best;
}

/* Prefetchers run ahead of a thread that walks over lines that no other core holds. */
static void shorten_stream(struct pfs_timed *self, struct pfs_timed_thread *thread,
			   const struct pfs_line *line, struct fetch *fetch)
{
	thread->streak = line->tag == thread->last_miss + 1 ? thread->streak + 1 : 0;
	thread->last_miss = line->tag;
	if (thread->streak >= 2 && !fetch->held)
		fetch->latency = fetch->latency * self->prices.stream_q16 >> 16;
}

static struct fetch find_source(struct pfs_timed *self, struct pfs_timed_thread *thread,
				const struct pfs_line *line, bool exclusive)
{
	struct fetch fetch = line->owner != PFS_LINE_NOBODY ? from_owner(self, thread, line)
			     : line->shared ? from_sharers(self, thread, line, exclusive)
					    : from_memory(self, thread, line);
	shorten_stream(self, thread, line, &fetch);
	fetch.latency = pfs_timed_vary(self, fetch.latency);
	switch (fetch.source) {
	case FROM_SIBLING: self->stats.transfers_core++; break;
	case FROM_L3: self->stats.transfers_l3++; break;
	case FROM_NODE: self->stats.transfers_node++; break;
	case FROM_REMOTE: self->stats.transfers_remote++; break;
	case FROM_NEAR: self->stats.memory_near++; break;
	case FROM_FAR: self->stats.memory_far++; break;
	}
	return fetch;
}

/* When the line arrives: the request starts at `asked`, and the line may leave from line->hold on.
 */
static uint64_t serve(struct pfs_timed *self, struct pfs_timed_thread *thread,
		      struct pfs_line *line, bool exclusive, uint64_t asked)
{
	struct fetch fetch = find_source(self, thread, line, exclusive);
	thread->latency = fetch.latency;
	uint64_t request = fetch.latency * self->prices.request_q16 >> 16;
	uint64_t leave = asked + request;
	if (fetch.held && leave < line->hold) {
		self->stats.queue_ns += line->hold - leave;
		leave = line->hold;
	}
	if (line->moving == 0) {
		line->lease = leave;
		line->moving_for_reading = !exclusive;
	}
	line->moving++;
	if (!exclusive && fetch.held)
		line->hold = leave + self->prices.read_gap; /* copies are made one by one */
	return leave + (fetch.latency - request);
}

static void fill(struct pfs_timed *self, const struct pfs_timed_thread *thread,
		 struct pfs_line *line)
{
	struct pfs_cpu_cache *core = &self->lines.cores[thread->core];
	struct pfs_cpu_cache *l3 = &self->lines.l3s[thread->l3];
	if ((line->groups >> (thread->l3 % 64) & 1) == 0)
		l3->fills[0]++;
	line->stamps[0] = ++core->fills[0];
	line->stamps[1] = ++core->fills[1];
	line->stamps[2] = l3->fills[0];
}

/* The thread gets the line. */
static void land(struct pfs_timed *self, struct pfs_timed_thread *thread, struct pfs_line *line,
		 bool exclusive)
{
	fill(self, thread, line);
	if (exclusive || (line->owner == PFS_LINE_NOBODY && !line->shared)) {
		pfs_line_unshare(&self->lines, line);
		line->owner = thread->core;
		line->groups = 0;
	} else if (line->owner != thread->core) {
		if (line->owner != PFS_LINE_NOBODY)
			(void)pfs_line_share(&self->lines, line, line->owner);
		line->owner = PFS_LINE_NOBODY;
		(void)pfs_line_share(&self->lines, line, thread->core);
	}
	line->written = exclusive && !thread->peeks;
	line->groups |= UINT64_C(1) << (thread->l3 % 64);
	line->user = thread->pu;
	if (line->hold < thread->clock)
		line->hold = thread->clock;
	if (--line->moving != 0)
		return;
	line->lease = PFS_TIMED_NEVER;
	line->moving_for_reading = false;
}

static void remove_waiting(struct pfs_timed *self, struct pfs_line *line, uint16_t before,
			   const struct pfs_timed_thread *thread)
{
	if (before == PFS_LINE_NOBODY)
		line->first = thread->next;
	else
		self->threads[before].next = thread->next;
	if (line->last == pfs_timed_id(self, thread))
		line->last = before;
	line->waiting--;
	line->readers -= !thread->wants_exclusive;
	self->lines.cores[thread->core].waiting--;
}

/* May nearer requests pass this one? Caches of one package serve their own cores first; requests
 * between packages are served in order. */
static bool may_be_passed(const struct pfs_timed *self, const struct pfs_line *line,
			  const struct pfs_timed_thread *thread)
{
	const uint16_t *package = self->prices.package_of_l3;
	return line->owner != PFS_LINE_NOBODY && thread->bypassed < self->prices.bypass_max &&
	       package[self->l3_of_core[line->owner]] == package[thread->l3];
}

/* Dequeues the next request: the nearest of the first few, unless the first one was passed too
 * often. */
static struct pfs_timed_thread *choose(struct pfs_timed *self, struct pfs_line *line)
{
	struct pfs_timed_thread *first = &self->threads[line->first], *best = first;
	uint16_t before_best = PFS_LINE_NOBODY, before = PFS_LINE_NOBODY, at = line->first;
	uint32_t groups = self->plan.topology->l3_count;
	uint32_t from = line->owner != PFS_LINE_NOBODY ? self->l3_of_core[line->owner] : 0;
	uint32_t nearest = UINT32_MAX;
	for (int looked = 0; looked < QUEUE_LOOKS && at != PFS_LINE_NOBODY; looked++) {
		struct pfs_timed_thread *thread = &self->threads[at];
		uint32_t distance = line->owner == thread->core
					    ? 0
					    : self->prices.transfer[from * groups + thread->l3];
		if (distance < nearest) {
			nearest = distance;
			best = thread;
			before_best = before;
		}
		if (!may_be_passed(self, line, first))
			break;
		before = at;
		at = thread->next;
	}
	if (best != first)
		first->bypassed++;
	remove_waiting(self, line, before_best, best);
	return best;
}

static void send(struct pfs_timed *self, struct pfs_line *line, struct pfs_timed_thread *thread)
{
	thread->clock = serve(self, thread, line, thread->wants_exclusive, thread->asked);
	pfs_timed_push(self, pfs_timed_key(thread->clock, pfs_timed_id(self, thread)));
}

/* Serves the readers of the queue, except the first `skip` of them. */
static void send_from(struct pfs_timed *self, struct pfs_line *line, uint32_t skip)
{
	uint16_t before = PFS_LINE_NOBODY, at = line->first;
	while (line->readers != 0 && at != PFS_LINE_NOBODY && line->moving < UINT8_MAX - 1) {
		struct pfs_timed_thread *thread = &self->threads[at];
		uint16_t next = thread->next;
		if (thread->wants_exclusive || skip > 0) {
			before = at;
			skip -= !thread->wants_exclusive;
		} else {
			remove_waiting(self, line, before, thread);
			send(self, line, thread);
		}
		at = next;
	}
}

/* All waiting readers are served with the first of them, which is random, as their requests race.
 */
static void send_readers(struct pfs_timed *self, struct pfs_line *line,
			 struct pfs_timed_thread *first)
{
	send_from(self, line, (uint32_t)((line->readers + 1ull) * pfs_timed_random(self) >> 32));
	send(self, line, first);
	send_from(self, line, 0);
}

/* The line has arrived at the core: its waiting threads need no request any more. */
static void wake_siblings(struct pfs_timed *self, const struct pfs_timed_thread *thread,
			  struct pfs_line *line)
{
	uint16_t before = PFS_LINE_NOBODY, at = line->first;
	while (at != PFS_LINE_NOBODY) {
		struct pfs_timed_thread *waiting = &self->threads[at];
		uint16_t next = waiting->next;
		if (waiting->core != thread->core) {
			before = at;
		} else {
			remove_waiting(self, line, before, waiting);
			waiting->by_sibling = true;
			line->siblings = true;
			waiting->clock = line->hold;
			pfs_timed_push(self, pfs_timed_key(line->hold, at));
		}
		at = next;
	}
}

/* The line has just arrived at `thread`. */
static void hand_on(struct pfs_timed *self, const struct pfs_timed_thread *thread,
		    struct pfs_line *line)
{
	if (line->moving != 0 || line->first == PFS_LINE_NOBODY)
		return;
	if (self->lines.cores[thread->core].waiting != 0 && line->owner == thread->core)
		wake_siblings(self, thread, line);
	if (line->first == PFS_LINE_NOBODY)
		return;
	/* The more requests wait, the sooner one is served; but sometimes all are late. */
	uint64_t mean = self->prices.hold / line->waiting;
	uint64_t kept = mean / 2 + (mean * pfs_timed_random(self) >> 32);
	if (pfs_timed_random(self) < self->prices.late_q32)
		kept += self->prices.late * pfs_timed_random(self) >> 32;
	if (line->owner != PFS_LINE_NOBODY && line->hold < thread->clock + kept)
		line->hold = thread->clock + kept;
	struct pfs_timed_thread *next = choose(self, line);
	if (next->wants_exclusive)
		send(self, line, next);
	else
		send_readers(self, line, next);
}

static void stand_in_queue(struct pfs_timed *self, struct pfs_timed_thread *thread,
			   struct pfs_line *line)
{
	uint16_t id = (uint16_t)pfs_timed_id(self, thread);
	thread->next = PFS_LINE_NOBODY;
	thread->bypassed = 0;
	if (line->first == PFS_LINE_NOBODY)
		line->first = id;
	else
		self->threads[line->last].next = id;
	line->last = id;
	line->waiting++;
	line->readers += !thread->wants_exclusive;
	self->lines.cores[thread->core].waiting++;
}

/* May this request be served together with the current ones? Readers with readers. */
static bool may_join(const struct pfs_line *line, bool exclusive)
{
	if (line->moving == 0)
		return line->first == PFS_LINE_NOBODY;
	return !exclusive && line->moving_for_reading && line->first == PFS_LINE_NOBODY &&
	       line->moving != UINT8_MAX;
}

bool pfs_timed_fetch(struct pfs_timed *self, struct pfs_timed_thread *thread, struct pfs_line *line,
		     bool exclusive, uint64_t use_ps)
{
	uint64_t tag = line->tag;
	thread->asked = thread->clock;
	thread->wants_exclusive = exclusive;
	if (may_join(line, exclusive)) {
		thread->clock = serve(self, thread, line, exclusive, thread->clock);
		pfs_timed_let_earlier(self, thread);
	} else {
		stand_in_queue(self, thread, line);
		pfs_timed_park(self, thread);
		if (thread->by_sibling) {
			thread->by_sibling = false;
			return false;
		}
	}
	line = pfs_lines_find(&self->lines, tag);
	land(self, thread, line, exclusive);
	if (line->hold < thread->clock + use_ps)
		line->hold = thread->clock + use_ps; /* the access that fetched it is served */
	hand_on(self, thread, line);
	return true;
}

bool pfs_timed_fetch_behind(struct pfs_timed *self, struct pfs_timed_thread *thread,
			    struct pfs_line *line)
{
	if (!may_join(line, true))
		return false;
	uint64_t arrive = serve(self, thread, line, true, thread->clock);
	uint64_t latency = arrive - thread->clock;
	land(self, thread, line, true);
	line->hold = arrive;
	/* About ten fetches are under way at once, and the store buffer has room for fifty. */
	thread->drain += latency / 10;
	if (thread->drain < arrive)
		thread->drain = arrive;
	if (thread->drain > thread->clock + 5 * latency)
		thread->clock = thread->drain - 5 * latency;
	return true;
}
