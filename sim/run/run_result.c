#include "sim/run/run_result.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "bench/layout_option.h"
#include "bench/traits.h"
#include "bench/workload.h"
#include "containers/variant.h"
#include "sim/run/trial_backend.h"

void pfs_run_result_put(struct pfs_run_result *self, const char *name, double value)
{
	if (self->count == PFS_RESULT_COUNTERS_MAX || isnan(value))
		return;
	(void)snprintf(self->counters[self->count].name, PFS_RESULT_NAME_BYTES, "%s", name);
	self->counters[self->count++].value = value;
}

double pfs_run_result_get(const struct pfs_run_result *self, const char *name)
{
	for (uint32_t i = 0; i < self->count; i++) {
		if (strcmp(self->counters[i].name, name) == 0)
			return self->counters[i].value;
	}
	return (double)NAN;
}

/* Counts as whole numbers. */
static void put_number(struct pfs_json *json, const char *key, double value)
{
	if (value == floor(value) && fabs(value) < 9007199254740992.0)
		pfs_json_integer(json, key, (int64_t)value);
	else
		pfs_json_real(json, key, 9, value);
}

static const char *memory_name(enum pfs_memory memory)
{
	static const char *const names[] = {
		[PFS_MEMORY_FIRST_TOUCH] = "first-touch",
		[PFS_MEMORY_LOCAL] = "local",
		[PFS_MEMORY_INTERLEAVE] = "interleave",
		[PFS_MEMORY_NODE] = "node",
	};
	return names[memory];
}

static void put_policy(struct pfs_json *json, const struct pfs_variant *variant)
{
	char traits[PFS_TRAITS_CHARS];
	pfs_traits_text(variant->traits, traits);
	pfs_json_text(json, "policy", variant->name);
	pfs_json_text(json, "traits", traits);
}

/* The options of the run. */
static void put_plan(struct pfs_json *json, const struct pfs_run_options *options)
{
	const struct pfs_topology *topology = options->topology;
	pfs_json_text(json, "machine", options->machine);
	pfs_json_count(json, "machine_pus", topology->pu_count);
	pfs_json_count(json, "machine_nodes", topology->node_count);
	pfs_json_text(json, "costs", options->costs.name);
	pfs_json_text(json, "workload", options->workload->name);
	if (options->replays.count != 0)
		pfs_json_text(json, "trace", options->replays.list[0].name);
	if (options->variant != NULL)
		put_policy(json, options->variant);
	if (options->workload->has_occupancy)
		put_number(json, "occupancy", options->occupancy);
	if (options->workload->has_records)
		put_number(json, "records_wanted", options->records);
	pfs_json_count(json, "threads", options->threads);
	pfs_json_text(json, "placement",
		      options->placement == PFS_TIMED_SCATTER ? "scatter" : "compact");
	pfs_json_count(json, "pages", options->bench.pages);
	pfs_json_count(json, "page_records", options->bench.page_records);
	if (options->bench.record_size != 0)
		pfs_json_count(json, "record_size", options->bench.record_size);
	pfs_json_text(json, "layout",
		      pfs_layout_option_name(options->bench.layout, options->bench.bare_words));
	pfs_json_text(json, "memory", memory_name(options->bench.memory));
	if (options->workload->tick == NULL && options->workload->ended == NULL) {
		pfs_json_count(json, "ops_wanted", options->ops);
		pfs_json_count(json, "warm_up_wanted", options->ops / PFS_WARM_UP_PARTS);
	}
	if (options->pass_ns != 0)
		pfs_json_count(json, "pass_us", options->pass_ns / 1000);
}

static void put_hot(struct pfs_json *json, const struct pfs_run_result *result)
{
	pfs_json_array(json, "hot");
	pfs_json_lines(json);
	for (uint32_t i = 0; i < result->hot_count; i++) {
		const struct pfs_hot_line *hot = &result->hot[i];
		pfs_json_object(json, NULL);
		pfs_json_text(json, "place", hot->place);
		pfs_json_count(json, "ns", hot->ns);
		pfs_json_count(json, "accesses", hot->accesses);
		pfs_json_count(json, "ns_max", hot->ns_max);
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

static void put_part_column(struct pfs_json *json, const struct pfs_parts *parts, const char *name,
			    size_t offset)
{
	pfs_json_array(json, name);
	for (uint32_t i = 0; i < parts->count; i++)
		pfs_json_count(json, NULL,
			       *(const uint64_t *)((const char *)&parts->list[i] + offset));
	pfs_json_end(json);
}

static void put_parts(struct pfs_json *json, const struct pfs_parts *parts)
{
	pfs_json_object(json, "parts");
	pfs_json_lines(json);
	put_part_column(json, parts, "allocations", offsetof(struct pfs_part, allocations));
	put_part_column(json, parts, "ns", offsetof(struct pfs_part, ns));
	put_part_column(json, parts, "pages", offsetof(struct pfs_part, pages));
	put_part_column(json, parts, "record_skips", offsetof(struct pfs_part, record_skips));
	pfs_json_end(json);
}

static void put_object(struct pfs_json *json, const struct pfs_run_options *options,
		       const struct pfs_run_result *result)
{
	pfs_json_object(json, NULL);
	pfs_json_lines(json);
	pfs_json_bool(json, "simulated", true);
	put_plan(json, options);
	pfs_json_count(json, "seed", result->seed);
	for (uint32_t i = 0; i < result->count; i++)
		put_number(json, result->counters[i].name, result->counters[i].value);
	if (result->parts.count != 0)
		put_parts(json, &result->parts);
	if (options->hot != 0)
		put_hot(json, result);
	pfs_json_end(json);
}

static void write_json(const struct pfs_run_options *options, const struct pfs_run_result *results,
		       uint32_t count)
{
	struct pfs_json json = { .out = stdout };
	if (count == 1) {
		put_object(&json, options, &results[0]);
		return;
	}
	pfs_json_object(&json, NULL);
	pfs_json_lines(&json);
	pfs_json_bool(&json, "simulated", true);
	pfs_json_array(&json, "runs");
	pfs_json_lines(&json);
	for (uint32_t i = 0; i < count; i++)
		put_object(&json, options, &results[i]);
	pfs_json_end(&json);
	pfs_json_end(&json);
}

static void write_head(const struct pfs_run_options *options, uint32_t runs)
{
	(void)printf("simulated: %s", options->workload->name);
	if (options->replays.count != 0)
		(void)printf(" %s", options->replays.list[0].name);
	if (options->variant != NULL)
		(void)printf(", policy %s", options->variant->name);
	if (options->workload->has_occupancy)
		(void)printf(", occupancy %g", options->occupancy);
	(void)printf("\nmachine:   %s, costs %s, %u threads, %s, %u pages of %u records\n",
		     options->machine, options->costs.name, options->threads,
		     options->placement == PFS_TIMED_SCATTER ? "scatter" : "compact",
		     options->bench.pages, options->bench.page_records);
	(void)printf("runs:      %u, virtual time; all counts are exact\n\n", runs);
}

static void write_hot(const struct pfs_run_result *result)
{
	(void)printf("\nlines on which threads spent most time, by atomic operations and mutexes\n"
		     "%14s %12s %12s  %s\n",
		     "ns", "accesses", "ns_max", "most of it at");
	for (uint32_t i = 0; i < result->hot_count; i++)
		(void)printf("%14llu %12llu %12llu  %s\n", (unsigned long long)result->hot[i].ns,
			     (unsigned long long)result->hot[i].accesses,
			     (unsigned long long)result->hot[i].ns_max, result->hot[i].place);
}

/* One row for each counter and one column for each seed, as many as fit into a terminal. */
static void write_text(const struct pfs_run_options *options, const struct pfs_run_result *results,
		       uint32_t count)
{
	const uint32_t columns = 4;
	write_head(options, count);
	for (uint32_t first = 0; first < count; first += columns) {
		uint32_t end = first + columns < count ? first + columns : count;
		(void)printf("%-22s", "seed");
		for (uint32_t i = first; i < end; i++)
			(void)printf(" %14llu", (unsigned long long)results[i].seed);
		(void)putchar('\n');
		for (uint32_t k = 0; k < results[first].count; k++) {
			const char *name = results[first].counters[k].name;
			(void)printf("%-22s", name);
			for (uint32_t i = first; i < end; i++) {
				double value = pfs_run_result_get(&results[i], name);
				bool whole = value == floor(value) && fabs(value) < 1e14;
				(void)printf(whole ? " %14.0f" : " %14.6g", value);
			}
			(void)putchar('\n');
		}
		for (uint32_t i = first; i < end; i++)
			if (options->hot != 0)
				write_hot(&results[i]);
		if (end != count)
			(void)putchar('\n');
	}
}

void pfs_run_results_write(const struct pfs_run_options *options,
			   const struct pfs_run_result *results, uint32_t count)
{
	if (options->json)
		write_json(options, results, count);
	else
		write_text(options, results, count);
}
