#include "sim/timed/timed_contend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/atomic.h"
#include "containers/message.h"

#define WINDOW_NS 200000u
#define BEGIN_NS 5000u
#define THREADS_MAX 256u
#define PAUSE_NS 20u /* a pause instruction or two, in a loop that waits for a lock */
/* After an unlock, so that others see it before the thread comes back (as David et al. do). */
#define AWAY_NS 100u

struct link {
	_Alignas(64) _Atomic(uint64_t) next; /* 1 + thread, or 0 */
	_Atomic(uint64_t) waits;
};

/* Static: the line must begin where a line begins. */
static struct {
	_Alignas(64) _Atomic(uint64_t) word;
	_Atomic(uint64_t) served; /* in the line of `word`: the ticket whose turn it is */
	_Alignas(64) _Atomic(uint64_t) served_apart;
	_Alignas(64) _Atomic(uint64_t) data;
	_Alignas(64) uint64_t done[THREADS_MAX];
	uint64_t tried[THREADS_MAX];
	uint64_t entered[THREADS_MAX];
	struct link links[THREADS_MAX];
	uint32_t threads;
} shared;

static void add(uintptr_t id)
{
	for (; pfs_timed_now_ns() < WINDOW_NS; shared.done[id]++)
		(void)pfs_fetch_add_relaxed(&shared.word, 1);
}

static void cas(uintptr_t id)
{
	for (; pfs_timed_now_ns() < WINDOW_NS; shared.done[id]++) {
		uint64_t seen = pfs_load_relaxed(&shared.word);
		do
			shared.tried[id]++;
		while (!pfs_cas_relaxed(&shared.word, &seen, seen + 1));
	}
}

static void load_cas(uintptr_t id)
{
	for (; pfs_timed_now_ns() < WINDOW_NS; shared.done[id]++) {
		uint64_t seen;
		do {
			shared.tried[id]++;
			seen = pfs_load_relaxed(&shared.word);
		} while (!pfs_cas_relaxed(&shared.word, &seen, seen + 1));
	}
}

/* All stop at the end of the window: the turn may never come again. */
static void pass_cas(uintptr_t id)
{
	for (uint64_t turn = id; pfs_timed_now_ns() < WINDOW_NS; turn += shared.threads) {
		uint64_t seen = turn;
		while (!pfs_cas_relaxed(&shared.word, &seen, turn + 1)) {
			seen = turn;
			if (pfs_timed_now_ns() >= WINDOW_NS)
				return;
		}
		shared.done[id]++;
	}
}

static void pass_load(uintptr_t id)
{
	for (uint64_t turn = id; pfs_timed_now_ns() < WINDOW_NS; turn += shared.threads) {
		uint64_t seen;
		while ((seen = pfs_load_relaxed(&shared.word)) != turn) {
			if (pfs_timed_now_ns() >= WINDOW_NS)
				return;
		}
		(void)pfs_cas_relaxed(&shared.word, &seen, turn + 1);
		shared.done[id]++;
	}
}

static void take_tas(uintptr_t id)
{
	(void)id;
	while (pfs_exchange_acquire(&shared.word, 1) != 0)
		pfs_timed_work_ns(PAUSE_NS);
}

static void give_tas(uintptr_t id)
{
	(void)id;
	pfs_store_release(&shared.word, 0);
}

/* Of a ticket lock: the ticket whose turn it is. */
static _Atomic(uint64_t) *served;

static void take_ticket(uintptr_t id)
{
	(void)id;
	uint64_t ticket = pfs_fetch_add_relaxed(&shared.word, 1);
	while (pfs_load_acquire(served) != ticket)
		pfs_timed_work_ns(PAUSE_NS);
}

static void give_ticket(uintptr_t id)
{
	(void)id;
	pfs_store_release(served, pfs_load_relaxed(served) + 1);
}

static void take_mcs(uintptr_t id)
{
	struct link *own = &shared.links[id];
	pfs_store_relaxed(&own->next, 0);
	pfs_store_relaxed(&own->waits, 1);
	uint64_t before = pfs_exchange_acq_rel(&shared.word, id + 1);
	if (before == 0)
		return;
	pfs_store_release(&shared.links[before - 1].next, id + 1);
	while (pfs_load_acquire(&own->waits) != 0)
		pfs_timed_work_ns(PAUSE_NS);
}

static void give_mcs(uintptr_t id)
{
	struct link *own = &shared.links[id];
	uint64_t next = pfs_load_acquire(&own->next), self = id + 1;
	if (next == 0 && pfs_cas_release(&shared.word, &self, 0))
		return;
	while (next == 0) {
		pfs_timed_work_ns(PAUSE_NS);
		next = pfs_load_acquire(&own->next);
	}
	pfs_store_release(&shared.links[next - 1].waits, 0);
}

static void lock(uintptr_t id, void (*take)(uintptr_t), void (*give)(uintptr_t))
{
	while (pfs_timed_now_ns() < WINDOW_NS) {
		take(id);
		pfs_store_relaxed(&shared.data, pfs_load_relaxed(&shared.data) + 1);
		shared.entered[id]++;
		shared.done[id] += pfs_timed_now_ns() < WINDOW_NS;
		give(id);
		pfs_timed_work_ns(AWAY_NS);
	}
}

static enum pfs_contend_kind kind;

/* Threads begin in random order: if each one followed its neighbour, that order would persist. */
static void begin(uintptr_t id)
{
	uint64_t mixed = (id + 1) * UINT64_C(0x9E3779B97F4A7C15);
	pfs_timed_work_ns((mixed ^ mixed >> 29) % (BEGIN_NS + 1));
}

static void body(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
	if (kind != PFS_CONTEND_PASS_CAS && kind != PFS_CONTEND_PASS_LOAD)
		begin(id);
	switch (kind) {
	case PFS_CONTEND_ADD: add(id); break;
	case PFS_CONTEND_CAS: cas(id); break;
	case PFS_CONTEND_LOAD_CAS: load_cas(id); break;
	case PFS_CONTEND_PASS_CAS: pass_cas(id); break;
	case PFS_CONTEND_PASS_LOAD: pass_load(id); break;
	case PFS_CONTEND_TAS: lock(id, take_tas, give_tas); break;
	case PFS_CONTEND_APART:
	case PFS_CONTEND_TICKET: lock(id, take_ticket, give_ticket); break;
	case PFS_CONTEND_MCS: lock(id, take_mcs, give_mcs); break;
	}
}

/* "field=value field=value" */
static bool change(struct pfs_costs *costs, const char *changes)
{
	const char *name;
	double *value;
	while (*changes != '\0') {
		size_t at = 0, length = strcspn(changes, "=");
		while (pfs_costs_field(costs, at, &name, &value) &&
		       (strlen(name) != length || strncmp(name, changes, length) != 0))
			at++;
		if (!pfs_costs_field(costs, at, &name, &value))
			return false;
		char *end;
		*value = strtod(changes + length + 1, &end);
		changes = end + strspn(end, " ");
	}
	return true;
}

static bool run(const struct pfs_timed_plan *plan)
{
	void *arguments[THREADS_MAX];
	struct pfs_message message;
	struct pfs_timed *timed = pfs_timed_create(plan, &message);
	if (timed == NULL) {
		(void)fprintf(stderr, "pfs-sim: %s\n", message.text);
		return false;
	}
	memset(&shared, 0, sizeof(shared));
	shared.threads = plan->thread_count;
	uint64_t entered = 0;
	for (uintptr_t id = 0; id < plan->thread_count; id++)
		arguments[id] = (void *)id;
	bool fine = pfs_timed_run(timed, body, arguments);
	if (!fine)
		(void)fprintf(stderr, "pfs-sim: %s\n", pfs_timed_message(timed));
	for (uint32_t id = 0; id < plan->thread_count; id++)
		entered += shared.entered[id];
	if (fine && PFS_SIM_RAW(&shared.data) != entered) {
		(void)fprintf(stderr, "pfs-sim: two threads were in one lock\n");
		fine = false;
	}
	pfs_timed_destroy(timed);
	return fine;
}

static bool sum_up(uint32_t threads, struct pfs_contend_answer *answer)
{
	uint64_t sum = 0;
	*answer = (struct pfs_contend_answer){ 0, 1, 0 };
	for (uint32_t id = 0; id < threads; id++) {
		double share = shared.tried[id] == 0
				       ? 1
				       : (double)shared.done[id] / (double)shared.tried[id];
		sum += shared.done[id];
		if (share < answer->success_least)
			answer->success_least = share;
		if (share > answer->success_most)
			answer->success_most = share;
	}
	answer->ns = sum != 0 ? (double)WINDOW_NS / (double)sum : 0;
	return sum != 0;
}

bool pfs_contend(const struct pfs_contend *what, uint64_t seed, struct pfs_contend_answer *answer)
{
	struct pfs_topology *topology;
	struct pfs_costs costs;
	struct pfs_message message;
	if (what->threads > THREADS_MAX ||
	    pfs_topology_create(&topology, what->machine, &message) != PFS_OK) {
		(void)fprintf(stderr, "pfs-sim: %s\n", message.text);
		return false;
	}
	bool fine = pfs_costs_find(&costs, what->preset, &message) == PFS_OK &&
		    change(&costs, what->changes);
	if (!fine)
		(void)fprintf(stderr, "pfs-sim: no such costs: %s %s\n", what->preset,
			      what->changes);
	const struct pfs_timed_plan plan = { .topology = topology,
					     .costs = &costs,
					     .thread_count = what->threads,
					     .seed = seed,
					     .placement = what->placement };
	kind = what->kind;
	served = kind == PFS_CONTEND_APART ? &shared.served_apart : &shared.served;
	fine = fine && run(&plan) && sum_up(what->threads, answer);
	pfs_topology_destroy(topology);
	return fine;
}
