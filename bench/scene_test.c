/*
 * scene_test.c - the checks after a trial, with calls that are broken on purpose.
 *
 * Sound calls must pass; each broken one must be refused by the check that is named.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"
#include "trace_load.h"

static int failures;
static const struct pfs_variant *variant; /* of all containers */
static const struct pfs_calls *sound;
static struct pfs_outcome outcome;
static struct pfs_replays replays;
static _Thread_local uint64_t calls;
static uint32_t page_records = 64, pages = 4, window_ms = 5;
static bool touched; /* memory, in advance */

/* One record more than the live set knows of. */
static uint64_t fill_and_lose(struct pfs_thread *thread, struct pfs_live *live, uint32_t target)
{
	struct pfs_claim claim = sound->allocate(thread);

	sound->publish(thread, claim);
	return sound->fill(thread, live, target);
}

/* Every hundredth record is never given back. */
static void free_sometimes(struct pfs_thread *thread, void *record)
{
	if (++calls % 100 != 0)
		sound->free(thread, record);
}

/* A refusal that nobody counted as lost. */
static uint64_t pair_refused(struct pfs_thread *thread, uint64_t count)
{
	return sound->pair(thread, count - 1) + 1;
}

/* Another owner writes into a live record. */
static uint64_t churn_spoiled(struct pfs_thread *thread, struct pfs_live *live, uint64_t count)
{
	*(uint64_t *)live->records[0] += 1;
	return sound->churn(thread, live, count);
}

/* The bytes change after publish, the version does not. */
static void publish_early(struct pfs_thread *thread, struct pfs_claim claim)
{
	uint64_t other = 1;

	sound->publish(thread, claim);
	pfs_bytes_store((char *)claim.record + 24, &other, sizeof(other));
}

static void play(const char *workload, const struct pfs_calls *calls_used, uint32_t threads,
		 const char *wanted)
{
	/* clang-format off */
	struct pfs_options options = {
		.page_prealloc = UINT32_MAX,
		.full_flags = true, .page_records = page_records, .pages = pages,
		.window_ms = window_ms,
		.latency_ms = UINT32_MAX,
		.reclaim_period_ms = UINT32_MAX, .reclaim_decay_passes = UINT32_MAX,
		.seed = 1,
	};
	/* clang-format on */
	struct pfs_clock clock = { .ns_per_tick = 1.0, .cost_ns = 20.0 };
	struct pfs_placement placement;
	struct pfs_message message = { .text = "" };
	/* clang-format off */
	struct pfs_scene_plan plan = {
		.options = &options, .workload = pfs_workload_find(workload),
		.variant = variant, .calls = calls_used,
		.placement = &placement, .topology = pfs_topology_load(),
		.replay = strcmp(workload, "replay") == 0 ? &replays.list[0] : NULL,
		.records = pfs_workload_find(workload)->has_records ? 1000 : 0,
		.touched = touched && pfs_workload_find(workload)->has_records,
		.pu_allowed = 1, .clock = &clock, .name = workload, .occupancy = 0.5,
	};
	/* clang-format on */

	if (pfs_placement_init(&placement, plan.topology, "none", threads, &message) != PFS_OK) {
		fprintf(stderr, "scene_test: %s\n", message.text);
		exit(1);
	}
	enum pfs_status status;
	do { /* a busy machine may give the threads no CPU in a short window */
		calls = 0;
		status = pfs_scene_run(&plan, &outcome, &message);
		options.window_ms *= 10;
	} while (status == PFS_OK && (outcome.ops == 0 || wanted != NULL) &&
		 options.window_ms <= 5000);
	bool as_wanted = wanted == NULL ? status == PFS_OK
					: status == PFS_BAD_VARIANT &&
						  strstr(message.text, wanted) != NULL;
	if (!as_wanted) {
		failures++;
		fprintf(stderr, "scene_test: %s: status %d '%s', wanted '%s'\n", workload,
			(int)status, message.text, wanted != NULL ? wanted : "no fault");
	}
	if (status == PFS_OK && outcome.ops == 0) {
		failures++;
		fprintf(stderr, "scene_test: %s did nothing\n", workload);
	}
	pfs_placement_fini(&placement);
	hwloc_topology_destroy(plan.topology);
}

/* Three threads hand objects on, so that each worker waits for the others; one object is older
 * than the window, two outlive it. */
static void make_trace(const char *path)
{
	static struct pfs_trace_writer writer;
	struct pfs_message message = { .text = "" };
	bool made = pfs_trace_writer_open(&writer, path, "scene_test", 100);

	for (uint32_t i = 0; made && i < 300; i++) {
		/* clang-format off */
		struct pfs_trace_event event = {
			.time = i, .thread = i % 3, .id = i % 101, .size = 8,
		};
		/* clang-format on */
		event.kind = i / 101 % 2 == 0 ? PFS_TRACE_ALLOCATE : PFS_TRACE_FREE;
		pfs_trace_writer_add(&writer, &event, i < 1);
	}
	if (!made || !pfs_trace_writer_close(&writer) ||
	    pfs_replays_load(&replays, &path, 1, "", &message) != PFS_OK) {
		fprintf(stderr, "scene_test: %s cannot be written and read: %s\n", path,
			message.text);
		exit(1);
	}
	remove(path);
}

/* More threads than records: the ideal must not exceed the pages that there were. */
static void play_scarce(const char *workload)
{
	page_records = pages = 1;
	play(workload, sound, 8, NULL);
	if (outcome.page_ideal > outcome.after.pages_peak) {
		failures++;
		fprintf(stderr, "scene_test: %s: ideal %llu pages, at most %llu\n", workload,
			(unsigned long long)outcome.page_ideal,
			(unsigned long long)outcome.after.pages_peak);
	}
	page_records = 64;
	pages = 4;
}

static double extra(const char *name)
{
	for (uint32_t i = 0; i < outcome.extra_count; i++)
		if (strcmp(outcome.extras[i].name, name) == 0)
			return outcome.extras[i].value;
	return -1.0;
}

static void expect_count(const char *what, double found, double wanted)
{
	if (found == wanted)
		return;
	failures++;
	fprintf(stderr, "scene_test: %s: %g, wanted %g\n", what, found, wanted);
}

/* 1000 records in pages of 64: 16 pages, none of which is there before the window. */
static void play_sizes(void)
{
	for (uint32_t i = 0; i < 4; i++) {
		touched = i % 2 == 1;
		window_ms = 5000; /* which it does not use up: the work has an end */
		play("fill", sound, 1 + i / 2, NULL);
		expect_count("filled", extra("filled"), 1000);
		expect_count("finished", extra("finished"), 1);
		expect_count("calls that were timed", (double)outcome.histogram.total, 1000);
		expect_count("pages before", (double)outcome.before.pages, 0);
		expect_count("pages added", (double)outcome.after.growths, 16);
		expect_count("ideal", (double)outcome.page_ideal, 16);
		expect_count("fresh bytes", extra("fresh_bytes"), touched ? 0 : -1);
		window_ms = 5;
		play("refuse", sound, 1 + i / 2, NULL);
		expect_count("pages of a full container", (double)outcome.after.pages, 16);
		expect_count("growths of a full one", (double)outcome.after.growths, 0);
	}
	touched = false;
}

int main(int argc, char **argv)
{
	struct pfs_calls broken;

	make_trace(argc > 1 ? argv[1] : "scene_test.pfstrace");

	variant = pfs_variant_find("local_scan");
	sound = pfs_calls_of(variant, PFS_API_INLINED);
	play("churn", sound, 2, NULL);
	play("pair", sound, 2, NULL);
	play("handoff", sound, 2, NULL);
	play("storm", sound, 2, NULL);
	play("scan", sound, 2, NULL);
	play("tide", sound, 2, NULL);
	play("ebb", sound, 2, NULL);
	for (uint32_t threads = 1; threads <= 7; threads++)
		play("replay", sound, threads, NULL);
	play_scarce("churn");
	play_scarce("pair");
	play_sizes();

	broken = *sound;
	broken.fill = fill_and_lose;
	play("churn", &broken, 1, "live records of a walk");
	broken.fill = sound->fill;
	broken.free = free_sometimes;
	play("handoff", &broken, 2, "live records of a walk");
	play("replay", &broken, 2, "live records of a walk");
	play("refuse", &broken, 1, "live records of a walk");
	play("fill", &broken, 1, "live records of a walk");
	broken.free = sound->free;
	broken.pair = pair_refused;
	play("pair", &broken, 1, "lost");
	broken.pair = sound->pair;
	broken.churn = churn_spoiled;
	play("churn", &broken, 1, "two owners");
	broken.churn = sound->churn;
	broken.publish = publish_early;
	play("scan", &broken, 2, "torn");
	return failures == 0 ? 0 : 1;
}
