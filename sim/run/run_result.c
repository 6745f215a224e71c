#include "sim/run/run_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/layout_option.h"
#include "bench/traits.h"
#include "bench/workload.h"
#include "containers/variant.h"

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
static void put_number(double value)
{
	if (value == floor(value) && fabs(value) < 9007199254740992.0)
		(void)printf("%.0f", value);
	else
		(void)printf("%.9g", value);
}

static void put_text(const char *text)
{
	(void)putchar('"');
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20)
			(void)printf("\\u%04x", (unsigned)*text);
		else if (*text == '"' || *text == '\\')
			(void)printf("\\%c", *text);
		else
			(void)putchar(*text);
	}
	(void)putchar('"');
}

static void put_key(const char *indent, const char *key)
{
	(void)printf(",\n%s\"%s\": ", indent, key);
}

static void put_key_text(const char *indent, const char *key, const char *text)
{
	put_key(indent, key);
	put_text(text);
}

static void put_key_number(const char *indent, const char *key, double value)
{
	put_key(indent, key);
	put_number(value);
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

static void put_policy(const char *indent, const struct pfs_variant *variant)
{
	char traits[PFS_TRAITS_CHARS];
	pfs_traits_text(variant->traits, traits);
	put_key_text(indent, "policy", variant->name);
	put_key_text(indent, "traits", traits);
}

/* The options of the run. */
static void put_plan(const struct pfs_run_options *options, const char *indent)
{
	const struct pfs_topology *topology = options->topology;
	put_key_text(indent, "machine", options->machine);
	put_key_number(indent, "machine_pus", topology->pu_count);
	put_key_number(indent, "machine_nodes", topology->node_count);
	put_key_text(indent, "costs", options->costs.name);
	put_key_text(indent, "workload", options->workload->name);
	if (options->replays.count != 0)
		put_key_text(indent, "trace", options->replays.list[0].name);
	if (options->variant != NULL)
		put_policy(indent, options->variant);
	if (options->workload->has_occupancy)
		put_key_number(indent, "occupancy", options->occupancy);
	if (options->workload->has_records)
		put_key_number(indent, "records_wanted", options->records);
	put_key_number(indent, "threads", options->threads);
	put_key_text(indent, "placement",
		     options->placement == PFS_TIMED_SCATTER ? "scatter" : "compact");
	put_key_number(indent, "pages", options->bench.pages);
	put_key_number(indent, "page_records", options->bench.page_records);
	if (options->bench.record_size != 0)
		put_key_number(indent, "record_size", options->bench.record_size);
	put_key_text(indent, "layout",
		     pfs_layout_option_name(options->bench.layout, options->bench.bare_words));
	put_key_text(indent, "memory", memory_name(options->bench.memory));
	if (options->workload->tick == NULL && options->workload->ended == NULL)
		put_key_number(indent, "ops_wanted", (double)options->ops);
}

static void put_hot(const struct pfs_run_result *result, const char *indent)
{
	put_key(indent, "hot");
	(void)printf("[");
	for (uint32_t i = 0; i < result->hot_count; i++) {
		const struct pfs_hot_line *hot = &result->hot[i];
		(void)printf("%s\n%s {\"place\": ", i != 0 ? "," : "", indent);
		put_text(hot->place);
		(void)printf(", \"ns\": %llu, \"accesses\": %llu, \"ns_max\": %llu}",
			     (unsigned long long)hot->ns, (unsigned long long)hot->accesses,
			     (unsigned long long)hot->ns_max);
	}
	(void)printf("]");
}

/* A seed may be any 64-bit number, which a double would round. */
static void put_object(const struct pfs_run_options *options, const struct pfs_run_result *result,
		       const char *indent)
{
	(void)printf("{\n%s\"simulated\": true", indent);
	put_plan(options, indent);
	put_key(indent, "seed");
	(void)printf("%llu", (unsigned long long)result->seed);
	for (uint32_t i = 0; i < result->count; i++)
		put_key_number(indent, result->counters[i].name, result->counters[i].value);
	if (options->hot != 0)
		put_hot(result, indent);
	(void)printf("\n%.*s}", (int)strlen(indent) - 1, indent);
}

static void write_json(const struct pfs_run_options *options, const struct pfs_run_result *results,
		       uint32_t count)
{
	if (count > 1)
		(void)printf("{\n \"simulated\": true,\n \"runs\": [\n  ");
	for (uint32_t i = 0; i < count; i++) {
		(void)printf("%s", i != 0 ? ",\n  " : "");
		put_object(options, &results[i], count > 1 ? "   " : " ");
	}
	(void)printf("%s\n", count > 1 ? "\n ]\n}" : "");
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
