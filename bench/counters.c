/*
 * counters.c - see counters.h. What a build or a policy cannot know is left out, never made 0.
 */
#include "counters.h"

/* A percentile is reported only with this many samples beyond it. */
#define SAMPLES_BEYOND 5

static void put(const struct pfs_counter_sink *sink, const char *name, double value)
{
	sink->put(sink->context, name, value);
}

static void put_count(const struct pfs_counter_sink *sink, const char *name, uint64_t value)
{
	put(sink, name, (double)value);
}

static void put_latency(const struct pfs_counter_sink *sink, const struct pfs_scene_plan *plan,
			const struct pfs_outcome *outcome)
{
	static const struct {
		const char *name;
		double share;
	} quantiles[] = { { "ns_p50", 0.5 }, { "ns_p99", 0.99 }, { "ns_p999", 0.999 } };
	const struct pfs_histogram *histogram = &outcome->histogram;
	double ns = plan->clock->ns_per_tick;

	if (histogram->total == 0)
		return;
	put_count(sink, "ns_samples", histogram->total);
	if (plan->clock->step_ns != 0) /* virtual time has none */
		put(sink, "ns_step", plan->clock->step_ns);
	for (uint32_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		double beyond = (double)histogram->total * (1.0 - quantiles[i].share);
		if (beyond < SAMPLES_BEYOND)
			continue;
		put(sink, quantiles[i].name,
		    ns * (double)pfs_histogram_quantile(histogram, quantiles[i].share));
	}
	put(sink, "ns_max", ns * (double)histogram->max);
	if (plan->variant != NULL && (pfs_variant_traits(plan->variant) & PFS_TRAIT_RECLAIM) != 0)
		put_count(sink, "reclaimed_timed", outcome->reclaimed_timed);
}

/* Bytes other than the users': per record that the pages hold, and per record in use. */
static void put_overhead(const struct pfs_counter_sink *sink, const struct pfs_scene_plan *plan,
			 const struct pfs_outcome *outcome)
{
	const struct pfs_counts *counts = &outcome->after;
	double records = (double)counts->pages * plan->options->page_records;

	put_count(sink, "overhead_bytes", counts->overhead_bytes);
	if (counts->pages == 0)
		return;
	put(sink, "overhead_per_record", (double)counts->overhead_bytes / records);
	if (outcome->occupancy > 0.0)
		put(sink, "overhead_per_live",
		    (double)counts->overhead_bytes / (records * outcome->occupancy));
}

static void put_pages(const struct pfs_counter_sink *sink, const struct pfs_scene_plan *plan,
		      const struct pfs_outcome *outcome)
{
	const struct pfs_counts *counts = &outcome->after;

	if (outcome->container_count == 0)
		return;
	if ((pfs_variant_traits(plan->variant) & PFS_TRAIT_BOUNDED) != 0)
		put_count(sink, "lost", counts->lost);
	if ((pfs_variant_traits(plan->variant) & PFS_TRAIT_INDEX) == 0)
		return; /* no pages: malloc */
	put_count(sink, "pages_peak", counts->pages_peak);
	put_count(sink, "pages_end", counts->pages);
	put_count(sink, "resident_bytes", counts->resident_bytes);
	put(sink, "occupancy_end", outcome->occupancy);
	put_overhead(sink, plan, outcome);
	if ((pfs_variant_traits(plan->variant) & PFS_TRAIT_GROW) != 0)
		put_count(sink, "growths", counts->growths);
	if ((pfs_variant_traits(plan->variant) & PFS_TRAIT_RECLAIM) != 0)
		put_count(sink, "reclaimed", counts->reclaimed);
	if (outcome->page_ideal == UINT64_MAX)
		return;
	put_count(sink, "pages_ideal", outcome->page_ideal);
	put(sink, "excess_pages", (double)counts->pages_peak - (double)outcome->page_ideal);
}

/* Only a counting build has these counters, and only policies with words keep them. Sums begin with
 * the container; values per call are of the window. */
static void put_counting(const struct pfs_counter_sink *sink, const struct pfs_scene_plan *plan,
			 const struct pfs_outcome *outcome)
{
	const struct pfs_counts *before = &outcome->before, *after = &outcome->after;
	double calls = (double)(after->allocations - before->allocations);

	if (!after->counted || (pfs_variant_traits(plan->variant) & PFS_TRAIT_INDEX) == 0)
		return;
	put_count(sink, "page_skips", after->page_skips);
	put_count(sink, "record_skips", after->record_skips);
	put_count(sink, "flag_skips", after->flag_skips);
	put_count(sink, sink->exact ? "false_full" : "false_full_at_least",
		  after->false_full_at_least);
	put_count(sink, "needless_growths", after->needless_growths);
	put_count(sink, "live_peak", after->live_peak);
	put_count(sink, "stranded", after->stranded);
	put_count(sink, "stranded_peak", after->stranded_peak);
	put_count(sink, "allocations", after->allocations);
	if (calls <= 0.0)
		return;
	put(sink, "probes", (double)(after->probes - before->probes) / calls);
	put(sink, "page_probes", (double)(after->page_probes - before->page_probes) / calls);
	put(sink, "cas_failures", (double)(after->cas_failures - before->cas_failures) / calls);
	put(sink, "remote", (double)(after->remote - before->remote) / calls);
	put(sink, "mixed", (double)(after->mixed - before->mixed) / calls);
}

void pfs_counters_put(const struct pfs_counter_sink *sink, const struct pfs_scene_plan *plan,
		      const struct pfs_outcome *outcome)
{
	put_latency(sink, plan, outcome);
	for (uint32_t i = 0; i < outcome->extra_count; i++)
		put(sink, outcome->extras[i].name, outcome->extras[i].value);
	if (plan->variant == NULL)
		return;
	put_pages(sink, plan, outcome);
	put_counting(sink, plan, outcome);
}
