/*
 * costs.c - the table of costs: presets, and files in their place.
 *
 * Sources. [C] nviennot/core-to-core-latency, medians of a turn passed by CAS: Ice Lake 8375C 51
 * (other socket 108, siblings 8.1), Ryzen 5950X 17 and 85, EPYC 7R13 (Milan) 23, 107 and 197
 * (siblings 9.8), Graviton2 and 3 47 and 46; Graviton4's other socket 139 from chipsandcheese.com.
 * [W] wtarreau/atomic-tests: the same on a Xeon W-2145 (41), an EPYC 74F3 (20 and 97..131), and
 * with loads instead of CAS while waiting. [M] measured in a guest on an Intel at 2.3 GHz: load
 * 1.7, owned fetch-add 6, line modified by the other core 75..84, a turn passed 50..62, fetch-add
 * by two 20 each, membarrier 140. [E] estimates: from the cores' clocks and cycles (caches), from
 * memory of reviews (memory, sizes), and of Linux on such machines (kernel); for figures of one's
 * own machine: pfs-sim calibrate.
 *
 * A turn of [C] is turned into a transfer by the model's own equation, turn = (1 - request_share)
 * * transfer + (hold_share + late_share / 2) * l3_ns: 51 becomes 74, and 108 between sockets 188.
 * On the desktop no hold was seen (fetch-add of 2, 4, 8 threads, see timed_curves.c), and the
 * operation itself counts: turn = 0.5 * transfer + 0.06 * l3_ns + rmw. request_share, hold_share,
 * late_share and bypass_max are fitted to the curves of timed_curves.c, read_gap_ns to its ticket
 * locks: that of the desktop to one, that of two-socket to the other, which the last two share.
 */
#include "sim/timed/costs.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "containers/message.h"

#define PRESETS 4u

/* One row a field: its greatest value, and its value in each preset. */
struct row {
	const char *name;
	size_t offset;
	double most;
	double presets[PRESETS];
};

static const char *const preset_names[PRESETS] = { "two-socket", "desktop", "epyc", "graviton" };

#define FIELD(name) #name, offsetof(struct pfs_costs, name)
static const struct row rows[] = {
	/*                         most   two-socket desktop  epyc    graviton */
	{ FIELD(load_ns), 1e6, { 1.7, 1.2, 1.2, 1.5 } },                  /* [M] [E] */
	{ FIELD(store_ns), 1e6, { 1.0, 0.6, 0.6, 0.8 } },                 /* [E] */
	{ FIELD(rmw_ns), 1e6, { 6.0, 4.0, 4.5, 5.0 } },                   /* [M] [E] */
	{ FIELD(plain_ns), 1e6, { 0.4, 0.25, 0.3, 0.4 } },                /* [E] */
	{ FIELD(l2_ns), 1e6, { 4.8, 3.2, 3.5, 4.5 } },                    /* [E] */
	{ FIELD(smt_ns), 1e6, { 8.1, 8.0, 9.8, 8.0 } },                   /* [C] */
	{ FIELD(l3_ns), 1e6, { 74.0, 24.0, 33.0, 67.0 } },                /* [C] */
	{ FIELD(node_ns), 1e6, { 74.0, 159.0, 201.0, 67.0 } },            /* [C] */
	{ FIELD(package_ns), 1e6, { 87.0, 159.0, 201.0, 67.0 } },         /* [C] [E] */
	{ FIELD(remote_ns), 1e6, { 188.0, 200.0, 381.0, 253.0 } },        /* [C] [E] */
	{ FIELD(l3_hit_ns), 1e6, { 22.0, 12.0, 13.0, 30.0 } },            /* [E] */
	{ FIELD(memory_near_ns), 1e6, { 85.0, 75.0, 105.0, 115.0 } },     /* [E] */
	{ FIELD(memory_far_ns), 1e6, { 140.0, 120.0, 200.0, 220.0 } },    /* [E] */
	{ FIELD(request_share), 1.0, { 0.5, 0.5, 0.5, 0.5 } },            /* fitted */
	{ FIELD(hold_share), 1.0, { 0.13, 0.0, 0.13, 0.13 } },            /* fitted */
	{ FIELD(read_takes), 1.0, { 0.0, 0.0, 0.0, 0.0 } },               /* calibrate */
	{ FIELD(late_share), 1.0, { 0.12, 0.12, 0.12, 0.12 } },           /* fitted */
	{ FIELD(upgrade_share), 1.0, { 0.8, 0.8, 0.8, 0.8 } },            /* [W] */
	{ FIELD(stream_share), 1.0, { 0.2, 0.2, 0.2, 0.2 } },             /* [E] */
	{ FIELD(jitter), 1.0, { 0.2, 0.2, 0.2, 0.2 } },                   /* [E] */
	{ FIELD(bypass_max), 1e6, { 2.0, 2.0, 2.0, 2.0 } },               /* fitted */
	{ FIELD(read_gap_ns), 1e6, { 4.0, 8.0, 4.0, 4.0 } },              /* fitted */
	{ FIELD(futex_sleep_ns), 1e9, { 900.0, 700.0, 900.0, 900.0 } },   /* [E] */
	{ FIELD(futex_wake_ns), 1e9, { 1100.0, 800.0, 1100.0, 1100.0 } }, /* [E] */
	{ FIELD(wake_ns), 1e9, { 3000.0, 2500.0, 3000.0, 3000.0 } },      /* [E] */
	{ FIELD(switch_ns), 1e9, { 1500.0, 1200.0, 1500.0, 1500.0 } },    /* [E] */
	{ FIELD(slice_ns), 1e12, { 3e6, 3e6, 3e6, 3e6 } },                /* [E] */
	{ FIELD(yield_ns), 1e9, { 300.0, 250.0, 300.0, 300.0 } },         /* [E] */
	{ FIELD(barrier_ns), 1e9, { 140.0, 140.0, 140.0, 140.0 } },       /* [M] */
	{ FIELD(barrier_cpu_ns), 1e9, { 60.0, 50.0, 60.0, 60.0 } },       /* [E] */
	{ FIELD(ipi_ns), 1e9, { 500.0, 400.0, 500.0, 500.0 } },           /* [E] */
	{ FIELD(interrupt_ns), 1e9, { 700.0, 600.0, 700.0, 700.0 } },     /* [E] */
	{ FIELD(map_ns), 1e9, { 900.0, 700.0, 900.0, 900.0 } },           /* [E] */
	{ FIELD(unmap_ns), 1e9, { 900.0, 700.0, 900.0, 900.0 } },         /* [E] */
	{ FIELD(fault_ns), 1e9, { 500.0, 400.0, 500.0, 600.0 } },         /* [E] */
	{ FIELD(l1_kib), 1e6, { 48.0, 32.0, 32.0, 64.0 } },               /* [E] */
	{ FIELD(l2_kib), 1e7, { 1280.0, 512.0, 512.0, 1024.0 } },         /* [E] */
	{ FIELD(l3_kib), 1e9, { 55296.0, 32768.0, 32768.0, 32768.0 } },   /* [E] */
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static double *value_at(struct pfs_costs *costs, const struct row *row)
{
	return (double *)(void *)((char *)costs + row->offset);
}

const char *pfs_costs_preset(size_t at)
{
	return at < PRESETS ? preset_names[at] : NULL;
}

bool pfs_costs_field(struct pfs_costs *costs, size_t at, const char **name, double **value)
{
	if (at >= ROWS)
		return false;
	*name = rows[at].name;
	*value = value_at(costs, &rows[at]);
	return true;
}

static bool find_preset(struct pfs_costs *costs, const char *name)
{
	for (size_t preset = 0; preset < PRESETS; preset++) {
		if (strcmp(preset_names[preset], name) != 0)
			continue;
		memset(costs, 0, sizeof(*costs));
		(void)snprintf(costs->name, sizeof(costs->name), "%s", name);
		for (size_t at = 0; at < ROWS; at++)
			*value_at(costs, &rows[at]) = rows[at].presets[preset];
		return true;
	}
	return false;
}

/* One key of the object of numbers. */
static enum pfs_status read_field(struct pfs_costs *costs, const char *path, const char *key,
				  const json_t *value, struct pfs_message *message)
{
	for (size_t at = 0; at < ROWS; at++) {
		if (strcmp(rows[at].name, key) != 0)
			continue;
		double number = json_number_value(value);
		if (!json_is_number(value) || !(number >= 0) || number > rows[at].most)
			return pfs_message_set(message, PFS_BAD_CONFIG,
					       "costs %.120s: %.40s must be a number from 0 to "
					       "%g",
					       path, key, rows[at].most);
		*value_at(costs, &rows[at]) = number;
		return PFS_OK;
	}
	return pfs_message_set(message, PFS_BAD_CONFIG,
			       "costs %.120s: unknown key %.40s; the keys are the fields in "
			       "sim/timed/costs.h",
			       path, key);
}

static bool is_label(const char *key)
{
	return strcmp(key, "name") == 0 || strcmp(key, "preset") == 0;
}

static enum pfs_status read_object(struct pfs_costs *costs, const char *path, json_t *root,
				   struct pfs_message *message)
{
	const char *preset = json_string_value(json_object_get(root, "preset"));
	const char *name = json_string_value(json_object_get(root, "name"));
	json_t *numbers = json_object_get(root, "costs");
	const char *key;
	json_t *value;
	if (!find_preset(costs, preset != NULL ? preset : PFS_COSTS_DEFAULT))
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "costs %.120s: unknown preset %.40s", path, preset);
	memset(costs->name, 0, sizeof(costs->name));
	(void)snprintf(costs->name, sizeof(costs->name), "%s", name != NULL ? name : path);
	if (numbers != NULL && !json_is_object(numbers))
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "costs %.120s: costs must be an object of numbers", path);
	bool nested = numbers != NULL; /* then the rest of the file is the writer's own */
	json_object_foreach(nested ? numbers : root, key, value)
	{
		if (!nested && is_label(key))
			continue;
		enum pfs_status status = read_field(costs, path, key, value, message);
		if (status != PFS_OK)
			return status;
	}
	return PFS_OK;
}

enum pfs_status pfs_costs_find(struct pfs_costs *costs, const char *preset_or_file,
			       struct pfs_message *message)
{
	struct pfs_costs found;
	json_error_t error;
	if (find_preset(&found, preset_or_file)) {
		*costs = found;
		return PFS_OK;
	}
	FILE *file = fopen(preset_or_file, "r");
	if (file == NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "costs %.120s: no preset (two-socket, desktop, epyc, "
				       "graviton) and no file: %s",
				       preset_or_file, strerror(errno));
	json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	(void)fclose(file);
	if (!json_is_object(root)) {
		json_decref(root);
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "costs %.120s: no JSON object: line %d: %.60s",
				       preset_or_file, root != NULL ? 1 : error.line,
				       root != NULL ? "it begins otherwise" : error.text);
	}
	enum pfs_status status = read_object(&found, preset_or_file, root, message);
	json_decref(root);
	if (status == PFS_OK)
		*costs = found;
	return status;
}
