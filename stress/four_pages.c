/*
 * four_pages.c - two defects of the policy `original`, forced by fixed schedules.
 *
 * 1. Four pages; the first and the last are full, the two in the middle have room. Four
 *    threads allocate in lock-step. `original` adds a page; strict and exact policies don't.
 * 2. The stuck full flag: a search that failed sets the flag after a free has cleared it. The
 *    record is FREE and cannot be had. Forced by one schedule, then looked for in all of them.
 *
 * usage: four_pages [--trace [POLICY]]
 * Exit 0: all claims hold. 1: one does not. 2: bad usage.
 *
 * Source: the example of Database Kernel Monthly on PFS memory management.
 */
#include <stdio.h>
#include <string.h>

#include <pfslab/variant.h>

#include "check/machine/actors.h"
#include "sim/seams/probe.h"
#include "check/search/search.h"

#define THREADS 4u
#define PAGES 4u
#define PAGE_RECORDS 4u
#define SETUP_TRIES 64u

struct scene {
	const struct pfs_variant *variant;
	bool full_flags;
	struct pfs_container *container;
	struct pfs_thread *handle; /* of the set-up */
	struct pfs_thread *handles[THREADS];
	void *records[PAGES * PAGE_RECORDS + 1]; /* of the set-up */
	uint32_t record_count;
	uint32_t refused;
	struct pfs_counts before, counts; /* after the set-up, and at the end */
	uint32_t pages_after;
	uint32_t free_before[PAGES], free_after;
};

static int failures;

static void claim(bool holds, const char *policy, const char *what)
{
	if (holds)
		return;
	failures++;
	(void)printf("  DOES NOT HOLD: %s: %s\n", policy, what);
}

static bool name_address(void *context, const void *address, char *name, size_t name_bytes)
{
	const struct scene *scene = context;
	return pfs_probe_name(scene->container, address, name, name_bytes);
}

static void *take(struct pfs_thread *handle)
{
	struct pfs_claim taken = pfs_allocate(handle);
	if (taken.record != NULL)
		pfs_publish(handle, taken);
	return taken.record;
}

static void make(struct scene *scene, uint32_t pages, uint32_t page_max, uint32_t records)
{
	struct pfs_config config;
	struct pfs_message message;
	pfs_config_init(&config);
	config.page_records = records;
	config.page_max = page_max;
	config.page_prealloc = pages;
	config.full_flags = scene->full_flags;
	scene->record_count = 0;
	scene->refused = 0;
	if (pfs_container_create(scene->variant, &config, &scene->container, &message) != PFS_OK ||
	    pfs_thread_attach(scene->container, &scene->handle) != PFS_OK)
		pfs_machine_fail("set-up: %s", message.text);
	for (uint32_t i = 0; i < THREADS; i++)
		(void)pfs_thread_attach(scene->container, &scene->handles[i]);
}

/* The counts are kept, without those of the set-up. */
static void unmake(struct scene *scene)
{
	pfs_container_counts(scene->container, &scene->counts);
	scene->counts.growths -= scene->before.growths;
	scene->counts.needless_growths -= scene->before.needless_growths;
	scene->counts.page_skips -= scene->before.page_skips;
	scene->counts.record_skips -= scene->before.record_skips;
	for (uint32_t i = 0; i < THREADS; i++)
		pfs_thread_detach(scene->handles[i]);
	pfs_thread_detach(scene->handle);
	pfs_container_destroy(scene->container);
	scene->container = NULL;
}

static uint32_t page_of(const struct scene *scene, const void *record)
{
	return (uint32_t)(pfs_index(scene->handle, record) / PAGE_RECORDS);
}

/* Free a record of the page and allocate it again, until the shared cursor is at page 0. */
static void turn_cursor(struct scene *scene)
{
	for (uint32_t try = 0; try < SETUP_TRIES; try++) {
		if (pfs_probe_cursor(scene->container) % PAGES == 0)
			return;
		for (uint32_t i = 0; i < scene->record_count; i++) {
			if (page_of(scene, scene->records[i]) != try % PAGES)
				continue;
			pfs_free(scene->handle, scene->records[i]);
			scene->records[i] = take(scene->handle);
			break;
		}
	}
	pfs_machine_fail("set-up: the cursor never came to the first page");
}

static void allocate_one(void *opaque)
{
	struct pfs_thread **handle = opaque;
	(void)take(*handle);
}

/* Fill all, then free two records of each of the middle pages. */
static void lock_step_setup(struct pfs_machine *machine, void *context)
{
	struct scene *scene = context;
	make(scene, PAGES, 2 * PAGES, PAGE_RECORDS);
	while (scene->record_count < PAGES * PAGE_RECORDS)
		scene->records[scene->record_count++] = take(scene->handle);
	turn_cursor(scene);
	uint32_t freed[PAGES] = { 0 };
	for (uint32_t i = 0; i < scene->record_count; i++) {
		uint32_t page = page_of(scene, scene->records[i]);
		if ((page == 1 || page == 2) && freed[page]++ < 2)
			pfs_free(scene->handle, scene->records[i]);
	}
	pfs_container_counts(scene->container, &scene->before);
	for (uint32_t page = 0; page < PAGES; page++)
		scene->free_before[page] = pfs_probe_page_free(scene->container, page);
	for (uint32_t i = 0; i < THREADS; i++)
		(void)pfs_machine_spawn(machine, 0, allocate_one, &scene->handles[i]);
}

static void lock_step_finish(struct pfs_machine *machine, void *context)
{
	struct scene *scene = context;
	struct pfs_probe_states states;
	(void)machine;
	pfs_probe_states(scene->container, &states);
	scene->pages_after = states.pages;
	scene->free_after = states.free;
}

static void print_lock_step(const struct pfs_machine *machine, const struct scene *scene,
			    const char *name)
{
	const struct pfs_counts *counts = &scene->counts;
	(void)printf("%-24s %5u %9llu %9llu %11llu %13llu %12u\n", name, scene->pages_after,
		     (unsigned long long)counts->growths,
		     (unsigned long long)counts->needless_growths,
		     (unsigned long long)counts->page_skips,
		     (unsigned long long)counts->record_skips, scene->free_after);
	(void)machine;
}

static void run_lock_step(struct pfs_machine *machine, const struct pfs_variant *variant,
			  bool full_flags, bool trace)
{
	struct scene scene = { .variant = variant, .full_flags = full_flags };
	struct pfs_scenario scenario = { .name = "four pages",
					 .setup = lock_step_setup,
					 .finish = lock_step_finish,
					 .name_address = name_address,
					 .context = &scene };
	struct pfs_round_robin turn;
	bool original = strcmp(pfs_variant_name(variant), "original") == 0;
	char name[64];
	(void)snprintf(name, sizeof(name), "%s%s", pfs_variant_name(variant),
		       !original    ? ""
		       : full_flags ? ", full flags"
				    : ", no flags");
	pfs_round_robin_init(&turn);
	machine->setup.tracing = trace;
	enum pfs_machine_end end = pfs_scenario_run(&scenario, machine, &turn.scheduler);
	if (trace)
		pfs_trace_print(machine, stdout);
	machine->setup.tracing = false;
	claim(end == PFS_END_DONE, name, machine->run.message);
	if (end != PFS_END_DONE)
		return;
	unmake(&scene);
	print_lock_step(machine, &scene, name);
	claim(scene.free_before[0] == 0 && scene.free_before[3] == 0 && scene.free_before[1] == 2 &&
		      scene.free_before[2] == 2,
	      name, "pages 1 and 4 are full, 2 and 3 have room for two each");
	if (original) {
		claim(scene.counts.growths > 0, name, "it adds a page");
		claim(scene.counts.needless_growths > 0, name, "nobody needed the page");
		claim(scene.counts.page_skips > 0, name, "it skips pages");
		claim(scene.free_after > 0, name, "free records are left");
	} else {
		claim(scene.counts.growths == 0, name, "it adds no page");
		claim(scene.counts.page_skips == 0, name, "it skips no page");
		claim(scene.free_after == 0, name, "all four threads find the four free records");
	}
}

/* ---- the stuck full flag ---- */

static void free_one(void *opaque)
{
	struct scene *scene = opaque;
	pfs_free(scene->handles[1], scene->records[0]);
}

/* One page with one record, which is in use; thread 0 allocates, thread 1 frees the record. */
static void stuck_setup(struct pfs_machine *machine, void *context)
{
	struct scene *scene = context;
	make(scene, 1, 1, 1);
	scene->records[0] = take(scene->handle);
	(void)pfs_machine_spawn(machine, 0, allocate_one, &scene->handles[0]);
	(void)pfs_machine_spawn(machine, 0, free_one, scene);
}

/* Whoever asks now, alone, must get a record that is FREE. */
static void stuck_finish(struct pfs_machine *machine, void *context)
{
	struct scene *scene = context;
	uint32_t free = pfs_probe_page_free(scene->container, 0);
	void *record = take(scene->handle);
	scene->free_after = free;
	(void)machine;
	unmake(scene);
	if (free != 0 && record == NULL)
		pfs_machine_fail("a record is FREE, nothing is in use, and allocate says full");
}

/* Thread 0 up to its store to the page's full flag; thread 1; the rest of thread 0. */
struct late_flag {
	struct pfs_scheduler scheduler;
	const struct scene *scene;
	bool waited; /* thread 0 stood before the flag */
};

static struct pfs_actor late_flag_choose(struct pfs_scheduler *scheduler,
					 struct pfs_machine *machine)
{
	struct late_flag *self = (struct late_flag *)scheduler;
	const struct pfs_actor one = pfs_actor_step(0), other = pfs_actor_step(1);
	struct pfs_sim_operation next = pfs_machine_pending(machine, one);
	bool at_flag = next.kind == PFS_SIM_STORE &&
		       next.address == pfs_probe_line(self->scene->container, 0, "full");
	if (pfs_machine_can_run(machine, one) && (!at_flag || self->waited))
		return one;
	if (pfs_machine_can_run(machine, other))
		return other;
	self->waited |= at_flag;
	return pfs_machine_can_run(machine, one) ? one : PFS_NOBODY;
}

static void run_stuck(struct pfs_machine *machine, const struct pfs_variant *variant,
		      bool full_flags, bool trace)
{
	static struct pfs_search_result result;
	struct scene scene = { .variant = variant, .full_flags = full_flags };
	struct pfs_scenario scenario = { .name = "stuck flag",
					 .setup = stuck_setup,
					 .finish = stuck_finish,
					 .name_address = name_address,
					 .context = &scene };
	struct pfs_search_options options = { .kind = PFS_SEARCH_SLEEP, .seconds_max = 20 };
	struct late_flag late = { { .choose = late_flag_choose }, &scene, false };
	const char *name = pfs_variant_name(variant);
	bool original = strcmp(name, "original") == 0;
	machine->setup.tracing = trace;
	bool forced = pfs_scenario_run(&scenario, machine, &late.scheduler) == PFS_END_FAILED;
	if (trace)
		pfs_trace_print(machine, stdout);
	machine->setup.tracing = false;
	bool fine = pfs_search(machine, &scenario, &options, &result);
	(void)printf("%-24s %-10s %-22s %llu schedules%s\n", name,
		     !original    ? ""
		     : full_flags ? "flags"
				  : "no flags",
		     forced ? "stuck" : "the record is had", (unsigned long long)result.executions,
		     !fine             ? ", the last one stuck"
		     : result.complete ? ", all there are: none stuck"
				       : ", not all: none stuck");
	if (original && full_flags) {
		claim(forced, name, "the forced schedule leaves the flag stuck");
		claim(!fine, name, "the search finds it too");
	} else {
		claim(!forced, name, "the forced schedule leaves nothing stuck");
		claim(fine && result.complete, name,
		      "no schedule leaves a free record that cannot be had");
	}
}

static bool is_wanted(const struct pfs_variant *variant)
{
	const uint32_t needed = PFS_TRAIT_C11 | PFS_TRAIT_WORDS | PFS_TRAIT_GROW;
	return (pfs_variant_traits(variant) & needed) == needed;
}

static int usage(void)
{
	(void)fprintf(stderr, "usage: four_pages [--trace [POLICY]], POLICY a policy that grows "
			      "by pages and is written in C11 alone\n");
	return 2;
}

int main(int argc, char **argv)
{
	bool trace = argc > 1;
	const char *policy = argc > 2 ? argv[2] : "original";
	const struct pfs_variant *named = pfs_variant_find(policy);
	if (argc > 3 || (argc > 1 && strcmp(argv[1], "--trace") != 0) || named == NULL ||
	    !is_wanted(named))
		return usage();
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	if (machine == NULL) {
		(void)fprintf(stderr, "four_pages: no memory for the machine\n");
		return 2;
	}
	(void)printf("four pages of four records; 1 and 4 full, 2 and 3 with two free each;\n"
		     "four threads allocate in lock-step, one operation each in turn\n");
	(void)printf("%-24s %5s %9s %9s %11s %13s %12s\n", "policy", "pages", "growths", "needless",
		     "page skips", "record skips", "still free");
	const struct pfs_variant *variant;
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		if (!is_wanted(variant))
			continue;
		run_lock_step(machine, variant, false, trace && variant == named);
		if (strcmp(pfs_variant_name(variant), "original") == 0)
			run_lock_step(machine, variant, true, trace && variant == named);
	}
	(void)printf("\none page of one record, in use; one thread allocates, one frees it;\n"
		     "the free falls between the failed search and its full flag\n");
	for (size_t at = 0; (variant = pfs_variant_at(at)) != NULL; at++) {
		if (!is_wanted(variant))
			continue;
		run_stuck(machine, variant, true, trace && variant == named);
		if (strcmp(pfs_variant_name(variant), "original") == 0)
			run_stuck(machine, variant, false, trace && variant == named);
	}
	pfs_machine_destroy(machine);
	(void)printf("%d claims do not hold\n", failures);
	return failures != 0;
}
