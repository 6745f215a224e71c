/*
 * report.c - see report.h. What a build or a policy cannot know is left out, never made 0.
 */
#include "report.h"

#include <math.h>
#include <stdio.h>

/* A percentile needs this many samples beyond it before it says something. */
#define SAMPLES_BEYOND 5

static void put(struct pfs_shim_state *state, const char *name, double value)
{
	pfs_shim_counter(state, name, value, PFS_SHIM_PLAIN);
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

static void put_latency(struct pfs_shim_state *state, const struct pfs_scene_plan *plan,
			const struct pfs_outcome *outcome)
{
	static const struct {
		const char *name;
		double share;
	} quantiles[] = {{"ns_p50", 0.5}, {"ns_p99", 0.99}, {"ns_p999", 0.999}};
	const struct pfs_histogram *histogram = &outcome->histogram;
	double ns = plan->clock->ns_per_tick;

	if (histogram->total == 0)
		return;
	put_count(state, "ns_samples", histogram->total);
	for (uint32_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		double beyond = (double)histogram->total * (1.0 - quantiles[i].share);
		if (beyond < SAMPLES_BEYOND)
			continue;
		put(state, quantiles[i].name,
		    ns * (double)pfs_histogram_quantile(histogram, quantiles[i].share));
	}
	put(state, "ns_max", ns * (double)histogram->max);
	if (plan->variant != NULL && (plan->variant->traits & PFS_TRAIT_RECLAIM) != 0)
		put_count(state, "reclaimed_timed", outcome->reclaimed_timed);
}

static void put_pages(struct pfs_shim_state *state, const struct pfs_scene_plan *plan,
		      const struct pfs_outcome *outcome)
{
	const struct pfs_counts *counts = &outcome->after;

	if (outcome->container_count == 0)
		return;
	if ((plan->variant->traits & PFS_TRAIT_BOUNDED) != 0)
		put_count(state, "lost", counts->lost);
	if ((plan->variant->traits & PFS_TRAIT_INDEX) == 0)
		return; /* no pages: malloc */
	put_count(state, "pages_peak", counts->pages_peak);
	put_count(state, "pages_end", counts->pages);
	put_count(state, "resident_bytes", counts->resident_bytes);
	put(state, "occupancy_end", outcome->occupancy);
	if ((plan->variant->traits & PFS_TRAIT_GROW) != 0)
		put_count(state, "growths", counts->growths);
	if ((plan->variant->traits & PFS_TRAIT_RECLAIM) != 0)
		put_count(state, "reclaimed", counts->reclaimed);
	if (outcome->page_ideal == UINT64_MAX)
		return;
	put_count(state, "pages_ideal", outcome->page_ideal);
	put(state, "excess_pages", (double)counts->pages_peak - (double)outcome->page_ideal);
}

/* Only a counting build has them, and only policies with words keep them. Sums are since the
 * container was made; what is per call is of the window. */
static void put_counting(struct pfs_shim_state *state, const struct pfs_scene_plan *plan,
			 const struct pfs_outcome *outcome)
{
	const struct pfs_counts *before = &outcome->before, *after = &outcome->after;
	double calls = (double)(after->allocations - before->allocations);

	if (!after->counted || (plan->variant->traits & PFS_TRAIT_INDEX) == 0)
		return;
	put_count(state, "page_skips", after->page_skips);
	put_count(state, "record_skips", after->record_skips);
	put_count(state, "flag_skips", after->flag_skips);
	put_count(state, "false_full_at_least", after->false_full_at_least);
	put_count(state, "needless_growths", after->needless_growths);
	put_count(state, "live_peak", after->live_peak);
	put_count(state, "allocations", after->allocations);
	if (calls <= 0.0)
		return;
	put(state, "probes", (double)(after->probes - before->probes) / calls);
	put(state, "page_probes", (double)(after->page_probes - before->page_probes) / calls);
	put(state, "cas_failures", (double)(after->cas_failures - before->cas_failures) / calls);
	put(state, "remote", (double)(after->remote - before->remote) / calls);
	put(state, "mixed", (double)(after->mixed - before->mixed) / calls);
}

void pfs_report(struct pfs_shim_state *state, const struct pfs_scene_plan *plan,
		const struct pfs_outcome *outcome, uint64_t items, double window_s,
		uint32_t attempts)
{
	put_trial(state, plan, outcome, items, window_s, attempts);
	put_latency(state, plan, outcome);
	for (uint32_t i = 0; i < outcome->extra_count; i++)
		put(state, outcome->extras[i].name, outcome->extras[i].value);
	if (plan->variant == NULL)
		return;
	put_pages(state, plan, outcome);
	put_counting(state, plan, outcome);
}
