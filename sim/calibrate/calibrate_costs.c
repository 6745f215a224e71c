/*
 * calibrate_costs.c - from measurements to the fields of costs.h, and the file that holds both.
 */
#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json.h"
#include "sim/calibrate/calibrate.h"

/* A field is the median of a measurement, minus those of the others if given; never below 0. */
struct rule {
	const char *field, *series, *less[2];
	bool least; /* take the least round instead of the median */
};

static const struct rule rules[] = {
	{ "rmw_ns", "fetch_add_owned", { NULL, NULL }, false },
	/* Other cores also use the L3: lines that they evicted come from memory and are no hits. */
	{ "l3_hit_ns", "chase_l3", { NULL, NULL }, true },
	{ "memory_near_ns", "chase_memory", { NULL, NULL }, false },
	{ "smt_ns", "smt_load_modified", { NULL, NULL }, false },
	{ "l3_ns", "l3_load_modified", { NULL, NULL }, false },
	{ "node_ns", "node_load_modified", { NULL, NULL }, false },
	{ "package_ns", "package_load_modified", { NULL, NULL }, false },
	{ "remote_ns", "remote_load_modified", { NULL, NULL }, false },
	{ "barrier_ns", "membarrier_alone", { NULL, NULL }, false },
	/* It includes the caller's own part for each CPU, which two CPUs cannot separate. */
	{ "ipi_ns", "membarrier_busy", { "membarrier_alone", "interrupt" }, false },
	{ "interrupt_ns", "interrupt", { NULL, NULL }, false },
	{ "futex_wake_ns", "futex_wake", { NULL, NULL }, false },
	{ "wake_ns", "futex_way", { "futex_wake", NULL }, false },
	{ "futex_sleep_ns", "handoff_same_pu", { "futex_wake_nobody", "yield_switch" }, false },
	{ "switch_ns", "yield_switch", { "yield_alone", NULL }, false },
	{ "yield_ns", "yield_alone", { NULL, NULL }, false },
	{ "map_ns", "map", { NULL, NULL }, false },
	{ "unmap_ns", "unmap", { NULL, NULL }, false },
	{ "fault_ns", "fault", { NULL, NULL }, false },
	{ "slice_ns", "slice", { NULL, NULL }, false },
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

struct field {
	const char *name;
	double value;
	char from[120];
};

struct fields {
	struct field field[64];
	uint32_t count;
};

static bool is_field(const char *name)
{
	struct pfs_costs costs;
	const char *known;
	double *value;
	for (size_t at = 0; pfs_costs_field(&costs, at, &known, &value); at++) {
		if (strcmp(known, name) == 0)
			return true;
	}
	return false;
}

static void set(struct fields *fields, const char *name, double value, const char *from)
{
	if (!(value >= 0) || fields->count == 64 || !is_field(name))
		return; /* not a number: not measured */
	struct field *field = &fields->field[fields->count++];
	field->name = name;
	field->value = value;
	(void)snprintf(field->from, sizeof(field->from), "%s", from);
}

static void apply(struct pfs_calibration *self, const struct rule *rule, struct fields *fields)
{
	const struct pfs_series_of *series = pfs_series_find(self, rule->series);
	char from[120];
	if (series == NULL)
		return;
	double value = rule->least ? series->values[0] : series->mid;
	(void)snprintf(from, sizeof(from), "%s%s", rule->least ? "least " : "", rule->series);
	for (uint32_t i = 0; i < 2 && rule->less[i] != NULL; i++) {
		const struct pfs_series_of *less = pfs_series_find(self, rule->less[i]);
		if (less == NULL)
			return;
		value -= less->mid;
		(void)snprintf(from + strlen(from), sizeof(from) - strlen(from), " - %s",
			       rule->less[i]);
	}
	set(fields, rule->field, fmax(value, 0), from);
}

static double value_of(struct pfs_calibration *self, const char *name)
{
	const struct pfs_series_of *series = pfs_series_find(self, name);
	return series != NULL ? series->mid : (double)NAN;
}

/*
 * A thread that gets a line keeps it for a hold and works on it all that time. Then the line goes
 * to the other thread, which takes 1 - request_share of a transfer, because the request is already
 * there. So two threads that add to one line need
 *	(hold + (1 - request_share) * transfer) / (hold / rmw + 1)
 * for each add. This is solved for the hold.
 */
static void fit_hold(struct pfs_calibration *self, const char *preset, struct fields *fields)
{
	struct pfs_costs costs;
	const char *name;
	double *value, request = NAN, near_ns = value_of(self, "l3_load_modified");
	if (pfs_costs_find(&costs, preset, NULL) != PFS_OK)
		return;
	for (size_t at = 0; pfs_costs_field(&costs, at, &name, &value); at++) {
		if (strcmp(name, "request_share") == 0)
			request = *value;
		if (strcmp(name, "l3_ns") == 0 && isnan(near_ns))
			near_ns = *value;
	}
	for (uint32_t kind = PFS_PAIR_L3; kind < PFS_PAIR_KINDS; kind++) {
		char two[48], transfer[48], from[120];
		const char *pair = pfs_pair_kind_name(kind);
		(void)snprintf(two, sizeof(two), "%s_fetch_add_two", pair);
		(void)snprintf(transfer, sizeof(transfer), "%s_load_modified", pair);
		double add_ns = value_of(self, two), way_ns = value_of(self, transfer);
		double rmw_ns = value_of(self, "fetch_add_owned");
		double hold_ns = ((1 - request) * way_ns - add_ns) / (add_ns / rmw_ns - 1);
		if (!isfinite(hold_ns) || add_ns <= rmw_ns)
			continue;
		(void)snprintf(from, sizeof(from), "%s, %s, fetch_add_owned", two, transfer);
		set(fields, "hold_share", fmin(fmax(hold_ns / near_ns, 0), 1), from);
		return;
	}
}

/* A locked instruction hides the cost of loads and stores that hit; without one they cost their own
 * time. The fields are the mean of both. */
static void find_cheap(struct pfs_calibration *self, struct fields *fields)
{
	double add_ns = value_of(self, "fetch_add_owned");
	double beside = fmax((value_of(self, "fetch_add_and_loads") - add_ns) / 8, 0);
	double load_ns = (value_of(self, "load_parallel") + beside) / 2;
	set(fields, "load_ns", load_ns, "mean of load_parallel and of one in fetch_add_and_loads");
	set(fields, "plain_ns", load_ns, "mean of load_parallel and of one in fetch_add_and_loads");
	beside = fmax((value_of(self, "fetch_add_and_stores") - add_ns) / 2, 0);
	set(fields, "store_ns", (value_of(self, "store_owned") + beside) / 2,
	    "mean of store_owned and of one in fetch_add_and_stores");
	/* A core runs far enough ahead to hide an L2 hit as well, but not a miss to memory. */
	set(fields, "l2_ns", (value_of(self, "chase_l2") + value_of(self, "parallel_l2")) / 2,
	    "mean of chase_l2 and parallel_l2");
}

static void find_fields(struct pfs_calibration *self, const char *preset, struct fields *fields)
{
	static const char *const sizes[3] = { "l1_kib", "l2_kib", "l3_kib" };
	fields->count = 0;
	for (size_t i = 0; i < RULES; i++)
		apply(self, &rules[i], fields);
	find_cheap(self, fields);
	set(fields, "stream_share",
	    fmin(value_of(self, "stream_memory") / value_of(self, "chase_memory"), 1),
	    "stream_memory / chase_memory");
	fit_hold(self, preset, fields);
	double way_ns = value_of(self, "l3_load_modified"), hit_ns = value_of(self, "chase_l1");
	set(fields, "read_takes",
	    fmin(fmax((value_of(self, "l3_load_back") - hit_ns) / (way_ns - hit_ns), 0), 1),
	    "(l3_load_back - chase_l1) / (l3_load_modified - chase_l1)");
	for (uint32_t i = 0; i < 3; i++) {
		if (self->cache_kib[i] > 0)
			set(fields, sizes[i], self->cache_kib[i], "hwloc");
	}
}

static void write_costs(struct pfs_json *json, const struct fields *fields)
{
	pfs_json_object(json, "costs");
	pfs_json_lines(json);
	for (uint32_t i = 0; i < fields->count; i++)
		pfs_json_real(json, fields->field[i].name, 6, fields->field[i].value);
	pfs_json_end(json);
	pfs_json_object(json, "taken_from");
	pfs_json_lines(json);
	for (uint32_t i = 0; i < fields->count; i++)
		pfs_json_text(json, fields->field[i].name, fields->field[i].from);
	pfs_json_end(json);
}

/* Fields that the file does not have come from the preset. */
static void write_left(struct pfs_json *json, const struct fields *fields)
{
	struct pfs_costs costs;
	const char *name;
	double *value;
	pfs_json_array(json, "left_to_preset");
	for (size_t at = 0; pfs_costs_field(&costs, at, &name, &value); at++) {
		bool told = false;
		for (uint32_t i = 0; i < fields->count; i++)
			told |= strcmp(fields->field[i].name, name) == 0;
		if (!told)
			pfs_json_text(json, NULL, name);
	}
	pfs_json_end(json);
}

static void write_measured(struct pfs_json *json, struct pfs_calibration *self)
{
	pfs_json_object(json, "measured");
	pfs_json_lines(json);
	for (uint32_t i = 0; i < self->series_count; i++) {
		const struct pfs_series_of *series = &self->series[i];
		pfs_json_object(json, series->name);
		pfs_json_text(json, "what", series->what);
		pfs_json_text(json, "unit", series->unit);
		pfs_json_count(json, "rounds", series->count);
		pfs_json_count(json, "rejected", series->rejected);
		if (series->count != 0) {
			pfs_json_real(json, "median", 6, series->mid);
			pfs_json_real(json, "low", 6, series->low);
			pfs_json_real(json, "high", 6, series->high);
			pfs_json_real(json, "least", 6, series->values[0]);
		}
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

static bool first_line(const char *path, const char *key, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	bool found = false;
	while (file != NULL && !found && fgets(text, (int)size, file) != NULL) {
		const char *colon = strchr(text, ':');
		found = key == NULL || (strncmp(text, key, strlen(key)) == 0 && colon != NULL);
		if (found && key != NULL)
			memmove(text, colon + 1, strlen(colon));
	}
	if (file != NULL)
		(void)fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return found;
}

static void write_fact(struct pfs_json *json, const char *key, const char *path, const char *inside)
{
	char text[512] = "", *at = text;
	bool found = first_line(path, inside, text, sizeof(text));
	while (*at == ' ')
		at++;
	pfs_json_text(json, key, found ? at : "absent");
}

static void write_count(struct pfs_json *json, const char *key, hwloc_topology_t topology,
			hwloc_obj_type_t type)
{
	pfs_json_integer(json, key, hwloc_get_nbobjs_by_type(topology, type));
}

static void write_pairs(struct pfs_json *json, struct pfs_calibration *self)
{
	for (uint32_t kind = 0; kind < PFS_PAIR_KINDS; kind++) {
		char key[40];
		(void)snprintf(key, sizeof(key), "pair_%s", pfs_pair_kind_name(kind));
		if (self->pairs[kind] == NULL) {
			pfs_json_null(json, key);
			continue;
		}
		pfs_json_array(json, key);
		pfs_json_count(json, NULL, self->pairs[kind]->pu_logical[0]);
		pfs_json_count(json, NULL, self->pairs[kind]->pu_logical[1]);
		pfs_json_end(json);
	}
}

static void write_machine(struct pfs_json *json, struct pfs_calibration *self)
{
	struct utsname name;
	pfs_json_object(json, "machine");
	pfs_json_lines(json);
	pfs_json_count(json, "allowed_pus", self->pu_count);
	write_count(json, "packages", self->topology, HWLOC_OBJ_PACKAGE);
	write_count(json, "numa_nodes", self->topology, HWLOC_OBJ_NUMANODE);
	write_count(json, "l3_caches", self->topology, HWLOC_OBJ_L3CACHE);
	write_count(json, "cores", self->topology, HWLOC_OBJ_CORE);
	write_pairs(json, self);
	if (uname(&name) == 0)
		pfs_json_text(json, "kernel", name.release);
	write_fact(json, "cpu_model", "/proc/cpuinfo", "model name");
	write_fact(json, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", NULL);
	write_fact(json, "smt", "/sys/devices/system/cpu/smt/active", NULL);
	write_fact(json, "pressure_cpu", "/proc/pressure/cpu", NULL);
	write_fact(json, "load", "/proc/loadavg", NULL);
	pfs_json_text(json, "timer", self->clock.tsc ? "tsc" : "CLOCK_MONOTONIC");
	pfs_json_fixed(json, "timer_cost_ns", 2, self->clock.cost_ns);
	pfs_json_real(json, "seconds", 6, self->seconds);
	pfs_json_end(json);
}

void pfs_calibrate_write(struct pfs_calibration *self, const char *preset, FILE *out)
{
	struct pfs_json json = { .out = out };
	struct fields fields;
	char host[64] = "";
	find_fields(self, preset, &fields);
	(void)gethostname(host, sizeof(host) - 1);
	pfs_json_object(&json, NULL);
	pfs_json_lines(&json);
	pfs_json_text(&json, "name", host[0] != '\0' ? host : "this machine");
	pfs_json_text(&json, "preset", preset);
	write_costs(&json, &fields);
	write_left(&json, &fields);
	write_measured(&json, self);
	write_machine(&json, self);
	pfs_json_end(&json);
}

/* The same as text: the measurements, then the fields of the table. */
void pfs_calibrate_print(struct pfs_calibration *self, const char *preset, FILE *out)
{
	struct fields fields;
	(void)fprintf(out, "%-28s %10s %10s %10s  %s\n", "measured", "quartile", "median",
		      "quartile", "what");
	for (uint32_t i = 0; i < self->series_count; i++) {
		const struct pfs_series_of *series = &self->series[i];
		if (series->count == 0)
			(void)fprintf(out, "%-28s %32s  ", series->name, "never undisturbed");
		else
			(void)fprintf(out, "%-28s %10.4g %10.4g %10.4g  ", series->name,
				      series->low, series->mid, series->high);
		(void)fprintf(out, "%s%s%s\n", strcmp(series->unit, "ns") == 0 ? "" : series->unit,
			      strcmp(series->unit, "ns") == 0 ? "" : ": ", series->what);
	}
	find_fields(self, preset, &fields);
	(void)fprintf(out, "\n%-16s %10s  %s\n", "cost", "value", "taken from");
	for (uint32_t i = 0; i < fields.count; i++)
		(void)fprintf(out, "%-16s %10.4g  %s\n", fields.field[i].name,
			      fields.field[i].value, fields.field[i].from);
	for (uint32_t kind = 0; kind < PFS_PAIR_KINDS; kind++) {
		static const char *const lacks[PFS_PAIR_KINDS] = {
			"no core with two PUs: smt_ns is the preset's",
			"no two cores on one L3: l3_ns is the preset's",
			"no two L3 in a node: node_ns is the preset's",
			"no two nodes in a package: package_ns is the preset's",
			"no two packages: remote_ns and memory_far_ns are the preset's",
		};
		if (self->pairs[kind] == NULL)
			(void)fprintf(out, "%s\n", lacks[kind]);
	}
}
