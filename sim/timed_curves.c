#include "sim/timed_curves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/atomic.h"
#include "sim/timed.h"

#define WINDOW_NS 200000u
#define THREADS_MAX 64u

/* Transfers (l3_ns, node_ns) follow from the turns published for each machine as in costs.c. */
static const struct pfs_curve curves[] = {
	{ "xeon-w2145-pass", "wtarreau/atomic-tests, results/xeon-op2: 41 of 39..44", "core:8 pu:2",
	  "two-socket", "l3_ns=58", PFS_CURVE_PASS_CAS, 0.15, { { 2, 39, 44 } } },
	{ "xeon-w2145-load", "the same, results/xeon-op3: 88 of 82..97", "core:8 pu:2",
	  "two-socket", "l3_ns=58", PFS_CURVE_PASS_LOAD, 0.15, { { 2, 82, 97 } } },
	{ "epyc-74f3-pass", "the same, lat-epyc-74F3: op 2 inside an L3", "l3:8 core:3 pu:1",
	  "epyc", "l3_ns=29", PFS_CURVE_PASS_CAS, 0.25, { { 2, 18, 25 } } },
	{ "epyc-74f3-load", "the same, op 3 inside an L3", "l3:8 core:3 pu:1", "epyc", "l3_ns=29",
	  PFS_CURVE_PASS_LOAD, 0.35, { { 2, 19, 36 } } },
	{ "here-add", "Intel at 2.3 GHz in a guest, two CPUs: fetch-add", "core:2 pu:1",
	  "two-socket", "l3_ns=80", PFS_CURVE_ADD, 0.25, { { 1, 6, 6 }, { 2, 20, 20 } } },
	{ "here-cas", "the same: load, CAS; success 75..90 %", "core:2 pu:1", "two-socket",
	  "l3_ns=80", PFS_CURVE_LOAD_CAS, 0.25, { { 2, 30, 38 } } },
	{ "x86-add", "gist of jwbee: fetch-add at 1, 2, 4, 8 CPUs", "core:8 pu:1", "desktop",
	  "rmw_ns=7 l3_ns=27", PFS_CURVE_ADD, 0.25,
	  { { 1, 7, 7 }, { 2, 21, 21 }, { 4, 18, 18 }, { 8, 16, 16 } } },
	{ "x86-cas", "the same: CAS loop", "core:8 pu:1", "desktop", "rmw_ns=7 l3_ns=27",
	  PFS_CURVE_CAS, 0.7, { { 1, 8.9, 8.9 }, { 2, 51, 51 }, { 4, 65, 65 }, { 8, 104, 104 } } },
	{ "m4-add", "v-code01/atomcliff, Apple M4: 542, 260, 74, 37 million/s", "l3:2 core:4 pu:1",
	  "graviton", "rmw_ns=1.84 l3_ns=40 node_ns=200 hold_share=0.4 late_share=0",
	  PFS_CURVE_ADD, 1.2,
	  { { 1, 1.84, 1.84 }, { 2, 3.85, 3.85 }, { 4, 13.5, 13.5 }, { 8, 27, 27 } } },
	{ "ryzen-cas", "wtarreau/atomic-tests, cas-bench-ryzen: 16 threads, success 7..30 %",
	  "l3:2 core:4 pu:2", "desktop", "l3_ns=36 node_ns=157", PFS_CURVE_LOAD_CAS, 0.35,
	  { { 16, 88, 88 } } },
};

const struct pfs_curve *pfs_curve_at(uint32_t at)
{
	return at < sizeof(curves) / sizeof(curves[0]) ? &curves[at] : NULL;
}

/* Static: the line must begin where a line begins. */
static struct {
	_Alignas(64) _Atomic(uint64_t) word;
	_Alignas(64) uint64_t done[THREADS_MAX];
	uint64_t tried[THREADS_MAX];
	uint32_t threads;
} shared;

static void add(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
	for (; pfs_timed_now_ns() < WINDOW_NS; shared.done[id]++)
		(void)pfs_fetch_add_relaxed(&shared.word, 1);
}

static void cas(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
	for (; pfs_timed_now_ns() < WINDOW_NS; shared.done[id]++) {
		uint64_t seen = pfs_load_relaxed(&shared.word);
		do
			shared.tried[id]++;
		while (!pfs_cas_relaxed(&shared.word, &seen, seen + 1));
	}
}

static void load_cas(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
	for (; pfs_timed_now_ns() < WINDOW_NS; shared.done[id]++) {
		uint64_t seen;
		do {
			shared.tried[id]++;
			seen = pfs_load_relaxed(&shared.word);
		} while (!pfs_cas_relaxed(&shared.word, &seen, seen + 1));
	}
}

/* Both stop at the end of the window: the turn may never come again. */
static void pass_cas(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
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

static void pass_load(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
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

static bool run(const struct pfs_curve *curve, const struct pfs_timed_plan *plan)
{
	static void (*const bodies[])(void *) = { add, cas, load_cas, pass_cas, pass_load };
	void *arguments[THREADS_MAX];
	struct pfs_message message;
	struct pfs_timed *timed = pfs_timed_create(plan, &message);
	if (timed == NULL) {
		(void)fprintf(stderr, "pfs-sim: %s\n", message.text);
		return false;
	}
	memset(&shared, 0, sizeof(shared));
	shared.threads = plan->thread_count;
	for (uintptr_t id = 0; id < plan->thread_count; id++)
		arguments[id] = (void *)id;
	bool fine = pfs_timed_run(timed, bodies[curve->kind], arguments);
	if (!fine)
		(void)fprintf(stderr, "pfs-sim: %s\n", pfs_timed_message(timed));
	pfs_timed_destroy(timed);
	return fine;
}

bool pfs_curve_measure(const struct pfs_curve *curve, uint32_t threads, uint64_t seed,
		       struct pfs_curve_answer *answer)
{
	struct pfs_topology *topology;
	struct pfs_costs costs;
	struct pfs_message message;
	if (pfs_topology_create(&topology, curve->machine, &message) != PFS_OK ||
	    pfs_costs_find(&costs, curve->preset, &message) != PFS_OK) {
		(void)fprintf(stderr, "pfs-sim: %s\n", message.text);
		return false;
	}
	/* Where there are siblings, two threads are to be on two cores, as in the original. */
	struct pfs_timed_plan plan = { .topology = topology, .costs = &costs,
				       .thread_count = threads, .seed = seed,
				       .placement = PFS_TIMED_COMPACT };
	if (threads <= topology->core_count && topology->core_count < topology->pu_count)
		plan.placement = PFS_TIMED_SCATTER;
	bool fine = change(&costs, curve->changes) && run(curve, &plan);
	uint64_t sum = 0;
	*answer = (struct pfs_curve_answer){ 0, 1, 0 };
	for (uint32_t id = 0; fine && id < threads; id++) {
		double share = shared.tried[id] == 0 ? 1
						     : (double)shared.done[id] /
							       (double)shared.tried[id];
		sum += shared.done[id];
		if (share < answer->success_least)
			answer->success_least = share;
		if (share > answer->success_most)
			answer->success_most = share;
	}
	answer->ns = sum != 0 ? (double)WINDOW_NS / (double)sum : 0;
	pfs_topology_destroy(topology);
	return fine && sum != 0;
}

int pfs_command_curves(char **arguments)
{
	const struct pfs_curve *curve;
	int outside = 0;
	if (arguments[0] != NULL) {
		(void)fprintf(stderr, "pfs-sim: curves takes no option: %s\n",
			      pfs_one_line(arguments[0]));
		return 2;
	}
	(void)printf("%-16s %7s %12s %8s %6s  %s\n", "curve", "threads", "published", "model",
		     "CAS ok", "source");
	for (uint32_t at = 0; (curve = pfs_curve_at(at)) != NULL; at++) {
		for (uint32_t i = 0; i < 4 && curve->points[i].threads != 0; i++) {
			const struct pfs_curve_point *point = &curve->points[i];
			struct pfs_curve_answer answer;
			char published[32];
			if (!pfs_curve_measure(curve, point->threads, 1, &answer))
				return 2;
			bool fits = answer.ns >= point->low_ns / (1 + curve->tolerance) &&
				    answer.ns <= point->high_ns * (1 + curve->tolerance);
			outside += !fits;
			(void)snprintf(published, sizeof(published),
				       point->low_ns < point->high_ns ? "%.4g..%.4g" : "%.4g",
				       point->low_ns, point->high_ns);
			(void)printf("%-16s %7u %12s %8.1f %2.0f..%-3.0f%s %s\n", curve->name,
				     point->threads, published, answer.ns,
				     100 * answer.success_least, 100 * answer.success_most,
				     fits ? " " : "*", i == 0 ? curve->source : "");
		}
	}
	(void)printf("ns between two operations of all threads together; * outside of the "
		     "tolerance\n");
	return outside != 0;
}
