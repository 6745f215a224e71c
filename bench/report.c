/*
 * report.c - see report.h.
 */
#include "report.h"

#include "counters.h"

static void put(struct pfs_shim_state *state, const char *name, double value)
{
	pfs_shim_counter(state, name, value);
}

static void put_count(struct pfs_shim_state *state, const char *name, uint64_t value)
{
	put(state, name, (double)value);
}

static void put_trial(struct pfs_shim_state *state, const struct pfs_scene_plan *plan,
		      const struct pfs_outcome *outcome, uint64_t items, double window_s,
		      uint32_t attempts)
{
	const struct pfs_trial *trial = &outcome->trial;
	const char *label = "";

	if (items != 0)
		put(state, "items_per_second", (double)items / window_s);
	if (outcome->ops_max != 0 && !plan->workload->paced)
		put(state, "fairness", (double)outcome->ops_min / (double)outcome->ops_max);
	put_count(state, "ops", outcome->ops);
	put_count(state, "window_ns", trial->window_ns);
	put(state, "util_min", trial->util_min);
	put(state, "util_total", trial->util_total);
	put_count(state, "nivcsw", trial->switches);
	put(state, "pressure", trial->pressure);
	put(state, "steal", trial->steal);
	put_count(state, "attempts", attempts);
	put(state, "disturbed", trial->disturbed);
	put(state, "oversubscribed", outcome->crowded);
	if (trial->disturbed && outcome->crowded)
		label = "disturbed oversubscribed";
	else if (trial->disturbed)
		label = "disturbed";
	else if (outcome->crowded)
		label = "oversubscribed";
	if (label[0] != '\0')
		pfs_shim_label(state, label);
}

static void put_plain(void *state, const char *name, double value)
{
	put(state, name, value);
}

void pfs_report(struct pfs_shim_state *state, const struct pfs_scene_plan *plan,
		const struct pfs_outcome *outcome, uint64_t items, double window_s,
		uint32_t attempts)
{
	put_trial(state, plan, outcome, items, window_s, attempts);
	const struct pfs_counter_sink sink = { .put = put_plain, .context = state };
	pfs_counters_put(&sink, plan, outcome);
}
