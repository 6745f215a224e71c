#include "sim/run/soak_draw.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/workload.h"
#include "containers/variant.h"
#include "sim/timed/costs.h"

#define WORKLOADS_MAX 32u
#define THREADS_MAX 160u
#define RECORDS_MAX 8192u /* of all pages: filling them takes time, too */
#define OPS_BITS 13u
#define CROWD 40u /* more threads than that are not short of records */

struct draw {
	uint64_t random;
	struct pfs_soak_line *line;
};

static uint32_t below(struct draw *self, uint32_t bound)
{
	return pfs_random_below(&self->random, bound);
}

static bool one_in(struct draw *self, uint32_t count)
{
	return below(self, count) == 0;
}

/* 1 .. 2^bits - 1, each power of two as often as the next. */
static uint32_t spread(struct draw *self, uint32_t bits)
{
	uint32_t low = UINT32_C(1) << below(self, bits);
	return low + below(self, low);
}

static void add(struct draw *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct draw *self, const char *format, ...)
{
	size_t used = strlen(self->line->text);
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(self->line->text + used, sizeof(self->line->text) - used, format,
			arguments);
	va_end(arguments);
}

/* Returns the number of its PUs: 1 to a few hundred, on 1 to 8 nodes. */
static uint32_t draw_machine(struct draw *self)
{
	uint32_t nodes = one_in(self, 2) ? 1 : 1 + below(self, 8);
	uint32_t cores = spread(self, nodes == 1 ? 7 : 5), siblings = 1 + one_in(self, 4);
	add(self, "run --machine \"numa:%u core:%u pu:%u\"", nodes, cores, siblings);
	if (one_in(self, 2)) {
		uint32_t presets = 0;
		while (pfs_costs_preset(presets) != NULL)
			presets++;
		add(self, " --costs %s", pfs_costs_preset(below(self, presets)));
	}
	if (one_in(self, 4))
		add(self, " --placement scatter");
	return nodes * cores * siblings;
}

/* A few, or about as many as PUs; more take turns, by slices so short that they stop amid calls. */
static uint32_t draw_threads(struct draw *self, uint32_t pus, uint32_t multiple, uint32_t most)
{
	uint32_t threads = 1 + below(self, 6);
	if (one_in(self, 2))
		threads = 1 + below(self, 2 * pus);
	if (threads > most)
		threads = most;
	threads = (threads + multiple - 1) / multiple * multiple;
	add(self, " --threads %u", threads);
	if (threads > pus)
		add(self, " --slice-us %u", spread(self, 7));
	return threads;
}

static const struct pfs_workload *draw_workload(struct draw *self, const char *trace)
{
	const struct pfs_workload *fit[WORKLOADS_MAX];
	uint32_t count = 0;
	for (uint32_t i = 0; pfs_workload_at(i) != NULL && count < WORKLOADS_MAX; i++) {
		const struct pfs_workload *workload = pfs_workload_at(i);
		if (workload->has_policy && (!workload->has_trace || trace != NULL))
			fit[count++] = workload;
	}
	const struct pfs_workload *chosen = fit[below(self, count)];
	add(self, " --workload %s", chosen->name);
	if (chosen->has_trace)
		add(self, " --trace '%s'", trace);
	if (chosen->has_occupancy && one_in(self, 4))
		add(self, " --occupancy %s", one_in(self, 2) ? "0.999" : "1");
	else if (chosen->has_occupancy)
		add(self, " --occupancy 0.%03u", 1 + below(self, 999));
	return chosen;
}

/* Around the sizes of occupancy words (32) and of rings; or any number. */
static uint32_t draw_page_records(struct draw *self)
{
	static const uint32_t edges[] = { 1, 1, 2, 7, 31, 32, 33, 63, 64, 65, 256 };
	return one_in(self, 3) ? spread(self, 10)
			       : edges[below(self, sizeof(edges) / sizeof(edges[0]))];
}

/* Full containers matter most, so page_max is often just enough for the live set, or less: then
 * some calls must be refused. */
static void draw_pages(struct draw *self, uint32_t records, uint32_t threads, bool may_be_short)
{
	uint32_t pages = spread(self, 8), most = UINT32_MAX;
	if (pages > RECORDS_MAX / records)
		pages = RECORDS_MAX / records;
	if (threads > CROWD && pages < 32 * threads / records)
		pages = 32 * threads / records;
	add(self, " --pages %u --page-records %u", pages, records);
	if (may_be_short && one_in(self, 2)) {
		most = pages / 2 + 1 + below(self, pages / 2 + 2);
		add(self, " --page-max %u", most);
	}
	if (most < pages || one_in(self, 3))
		add(self, " --page-prealloc %u", below(self, 1 + (most < pages ? most : pages)));
}

static void draw_container(struct draw *self, const struct pfs_variant *variant)
{
	static const char *const layouts[] = { "side-by-side", "bare-words", "bare" };
	uint32_t layout_count = (pfs_variant_traits(variant) & PFS_TRAIT_BARE) != 0 ? 3 : 1;
	if (one_in(self, 2))
		add(self, " --layout %s", layouts[below(self, layout_count)]);
	if (one_in(self, 3))
		add(self, " --owner-fences on");
	if (one_in(self, 4))
		add(self, " --record-size %u", 8 * spread(self, 6));
	if (one_in(self, 4))
		add(self, " --memory %s", one_in(self, 2) ? "local" : "interleave");
}

/* Background passes: as the workload has them, none, or so often that they meet every call. */
static void draw_reclaim(struct draw *self, const struct pfs_variant *variant)
{
	if ((pfs_variant_traits(variant) & PFS_TRAIT_RECLAIM) == 0 || one_in(self, 2))
		return;
	if (one_in(self, 4)) {
		add(self, " --reclaim-period-ms 0");
		return;
	}
	add(self, " --reclaim-period-ms 1 --reclaim-decay-passes %u --pass-us %u", below(self, 4),
	    spread(self, 5));
}

/* Workloads that change with time end by time. */
static void draw_length(struct draw *self, const struct pfs_workload *workload)
{
	if (workload->tick != NULL)
		add(self, " --window-us %u", 100 + spread(self, 12));
	else
		add(self, " --ops %u", 50 + spread(self, OPS_BITS));
}

void pfs_soak_draw(const struct pfs_soak_plan *plan, uint64_t run, uint32_t attempt,
		   struct pfs_soak_line *line)
{
	struct draw self = { .line = line };
	self.random = (plan->seed + 1) * UINT64_C(0x9E3779B97F4A7C15) ^
		      (run + 1) * UINT64_C(0xBF58476D1CE4E5B9) ^
		      (attempt + 1) * UINT64_C(0x94D049BB133111EB);
	self.random += self.random == 0;
	for (uint32_t i = 0; i < 8; i++) /* neighbours part */
		(void)pfs_random_next(&self.random);
	line->text[0] = '\0';
	uint32_t pus = draw_machine(&self);
	line->policy = below(&self, plan->policy_count);
	add(&self, " --policy %s", pfs_variant_name(plan->policies[line->policy]));
	const struct pfs_workload *workload = draw_workload(&self, plan->trace);
	uint32_t records = draw_page_records(&self);
	/* with several containers a thread holds hundreds of records: bound the pages */
	bool single = workload->container_count == 1;
	uint32_t most = single || records >= THREADS_MAX / 8 ? THREADS_MAX : 8 * records;
	uint32_t threads = draw_threads(&self, pus, workload->threads_multiple, most);
	/* Not where a run would not end: a step of several containers would hardly ever succeed,
	 * and who counts waits forever for records of somebody who never frees. Nor with a
	 * crowd, who all ask the same lock again and again. */
	bool waits = workload->has_occupancy && workload->is_counted != NULL;
	if (workload->has_records)
		add(&self, " --page-records %u --records %u", records, spread(&self, 12));
	else
		draw_pages(&self, records, threads, !waits && threads <= (single ? CROWD : 4));
	draw_container(&self, plan->policies[line->policy]);
	draw_reclaim(&self, plan->policies[line->policy]);
	draw_length(&self, workload);
	add(&self, " --seed %u", 1 + below(&self, 1000000));
}
