/*
 * pass_counts_test.c - the accesses of a pass and of a growth. A pass reads each handle once per
 * attempt, however many pages wait; it reads no record's word if the policy has an index, and holds
 * no lock while it waits for readers. A growth reads no more of the directory because a low page
 * was given back and added again. A look-up by address reads one word.
 */
#include <stdio.h>
#include <string.h>

#include "variants/exact/occupancy.h"
#include "check/machine/schedule.h"

#define PAGES 8u
#define PAGE_RECORDS 4u
#define HANDLES 5u
#define TRIES 64u /* PFS_NOW_TRIES of reclaim.c */
#define MANY 200u /* pages, for growth */

static int failures;

static void expect(uint64_t got, uint64_t wanted, const char *policy, const char *what)
{
	if (got == wanted)
		return;
	failures++;
	(void)printf("FAILED: %s: %s is %llu, must be %llu\n", policy, what,
		     (unsigned long long)got, (unsigned long long)wanted);
}

static struct scene {
	struct pfs_container *container;
	struct pfs_thread *handles[HANDLES]; /* 0: the caller's; 1: stays in a section */
	void *records[MANY * PAGE_RECORDS];
} scene;

static bool make(const char *policy, uint32_t page_records, uint32_t page_max)
{
	struct pfs_config config;
	struct pfs_message message;
	pfs_config_init(&config);
	config.page_records = page_records;
	config.page_max = page_max;
	config.reclaim.spare_pages = 0;
	config.reclaim.headroom_percent = 0;
	if (pfs_container_create(pfs_variant_find(policy), &config, &scene.container, &message) !=
	    PFS_OK) {
		(void)printf("FAILED: %s\n", message.text);
		failures++;
		return false;
	}
	for (uint32_t i = 0; i < HANDLES; i++)
		(void)pfs_thread_attach(scene.container, &scene.handles[i]);
	return true;
}

static void destroy(void)
{
	for (uint32_t i = 0; i < HANDLES; i++)
		pfs_thread_detach(scene.handles[i]);
	pfs_container_destroy(scene.container);
}

/* By index, so that a page can be emptied. */
static void fill(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pfs_claim claim = pfs_allocate(scene.handles[0]);
		pfs_publish(scene.handles[0], claim);
		scene.records[pfs_index(scene.handles[0], claim.record)] = claim.record;
	}
}

static void run(struct pfs_machine *machine, void (*body)(void *))
{
	struct pfs_round_robin scheduler;
	pfs_round_robin_init(&scheduler);
	(void)pfs_machine_spawn(machine, 0, body, NULL);
	expect(pfs_machine_run(machine, &scheduler.scheduler), PFS_END_DONE, "machine", "end");
}

static uint64_t accesses(const struct pfs_machine *machine, const void *first, size_t bytes)
{
	uint64_t count = 0;
	for (uint32_t step = 0; step < machine->run.step_count; step++) {
		const void *address = machine->trace.steps[step].operation.address;
		count += (uintptr_t)address - (uintptr_t)first < bytes;
	}
	return count;
}

static void now_body(void *unused)
{
	(void)unused;
	expect(pfs_reclaim_now(scene.handles[0]), 0, "now", "pages whose memory went");
}

/* Yields made while `passing` was held. */
static uint64_t held_yields(const struct pfs_machine *machine)
{
	uint64_t held = 0, count = 0;
	for (uint32_t step = 0; step < machine->run.step_count; step++) {
		const struct pfs_sim_operation *operation = &machine->trace.steps[step].operation;
		bool is_passing = operation->address == (void *)&scene.container->passing.held;
		if (is_passing)
			held = operation->kind != PFS_SIM_UNLOCK;
		count += operation->kind == PFS_SIM_YIELD && held;
	}
	return count;
}

static void test_now(struct pfs_machine *machine, const char *policy)
{
	pfs_machine_reset(machine);
	if (!make(policy, PAGE_RECORDS, PAGES))
		return;
	fill(PAGES * PAGE_RECORDS);
	for (uint32_t i = 0; i < PAGES * PAGE_RECORDS; i++)
		pfs_free(scene.handles[0], scene.records[i]);
	pfs_enter(scene.handles[1]);
	uint32_t looks = 0;
	char *words[PAGES];
	for (uint32_t page = 0; page < PAGES; page++)
		words[page] = pfs_container_page(scene.container, page)->records;
	run(machine, now_body);
	for (uint32_t i = 0; i < HANDLES; i++)
		expect(accesses(machine, &scene.handles[i]->epoch.shown, 1), 1 + TRIES, policy,
		       "looks at a handle");
	for (uint32_t page = 0; page < PAGES; page++)
		looks += accesses(machine, words[page],
				  PAGE_RECORDS * scene.container->shape.record_stride) != 0;
	/* Unlinking a page reads the versions of its records, in every policy. */
	expect(looks, PAGES, policy, "pages whose versions were read");
	expect(held_yields(machine), 0, policy, "waits with the lock held");
	pfs_leave(scene.handles[1]);
	destroy();
}

static void pass_body(void *unused)
{
	(void)unused;
	(void)pfs_reclaim_pass(scene.handles[0]);
}

/* Pages in use stay, so a pass reads their records only to count. */
static void test_pass(struct pfs_machine *machine, const char *policy, uint64_t wanted)
{
	pfs_machine_reset(machine);
	if (!make(policy, PAGE_RECORDS, PAGES))
		return;
	fill(PAGES * PAGE_RECORDS);
	run(machine, pass_body);
	uint64_t looks = 0;
	for (uint32_t page = 0; page < PAGES; page++)
		looks += accesses(machine, pfs_container_page(scene.container, page)->records,
				  PAGE_RECORDS * scene.container->shape.record_stride);
	expect(looks, wanted, policy, "records' words that a pass reads");
	for (uint32_t i = 0; i < PAGES * PAGE_RECORDS; i++)
		pfs_free(scene.handles[0], scene.records[i]);
	destroy();
}

static void allocate_body(void *unused)
{
	(void)unused;
	struct pfs_claim claim = pfs_allocate(scene.handles[0]);
	pfs_publish(scene.handles[0], claim);
	scene.records[pfs_index(scene.handles[0], claim.record)] = claim.record;
}

/* Steps of one growth on the directory and on the tree of holes. */
static uint64_t growth_looks(struct pfs_machine *machine)
{
	const struct pfs_container *container = scene.container;
	uint32_t before = machine->run.step_count;
	run(machine, allocate_body);
	uint64_t count = 0;
	for (uint32_t step = before; step < machine->run.step_count; step++) {
		uintptr_t at = (uintptr_t)machine->trace.steps[step].operation.address;
		count += at - (uintptr_t)container->directory <
				 container->page_capacity * sizeof(*container->directory) ||
			 at - (uintptr_t)container->holes.words < 8 * sizeof(uint64_t);
	}
	return count;
}

/* As many with MANY pages as with few, after the two lowest were given back and added again. */
static void test_holes(struct pfs_machine *machine, const char *policy)
{
	pfs_machine_reset(machine);
	if (!make(policy, 1, MANY))
		return;
	fill(5);
	uint64_t few = growth_looks(machine);
	fill(MANY - 20);
	pfs_free(scene.handles[0], scene.records[0]);
	pfs_free(scene.handles[0], scene.records[1]);
	expect(pfs_reclaim_now(scene.handles[0]), 2, policy, "pages that went");
	fill(2);
	uint64_t many = growth_looks(machine);
	if (many > few + 2) /* one more level */
		expect(many, few + 2, policy, "looks of a growth behind a hole that was filled");
	struct pfs_counts counts;
	pfs_container_counts(scene.container, &counts);
	for (uint32_t i = 0; i < counts.pages; i++)
		pfs_free(scene.handles[0], scene.records[i]);
	destroy();
}

static void owns_body(void *unused)
{
	(void)unused;
	expect(pfs_owns(scene.handles[0], scene.records[0]), false, "bare", "owns a free record");
}

/* A look-up of a free record reads its own word and no other. */
static void test_owns(struct pfs_machine *machine)
{
	struct pfs_config config;
	struct pfs_message message;
	pfs_machine_reset(machine);
	memset(&scene, 0, sizeof(scene));
	pfs_config_init(&config);
	config.layout = PFS_LAYOUT_BARE;
	config.page_records = MANY;
	config.page_max = 1;
	(void)pfs_container_create(pfs_variant_find("exact"), &config, &scene.container, &message);
	(void)pfs_thread_attach(scene.container, &scene.handles[0]);
	for (uint32_t i = 0; i < MANY; i++) {
		struct pfs_claim claim = pfs_allocate(scene.handles[0]);
		scene.records[pfs_index(scene.handles[0], claim.record)] = claim.record;
	}
	for (uint32_t i = 0; i + 1 < MANY; i++)
		pfs_free(scene.handles[0], scene.records[i]);
	run(machine, owns_body);
	struct pfs_occupancy_page *entry = pfs_occupancy_page_at(scene.container, 0);
	expect(accesses(machine, entry->words, entry->word_count * sizeof(*entry->words)), 1,
	       "bare", "words that a look-up of a free record reads");
	pfs_free(scene.handles[0], scene.records[MANY - 1]);
	pfs_thread_detach(scene.handles[0]);
	pfs_container_destroy(scene.container);
}

int main(void)
{
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	if (machine == NULL)
		return 1;
	machine->setup.tracing = true;
	test_now(machine, "reclaiming");
	test_now(machine, "exact");
	test_pass(machine, "reclaiming", PAGES * PAGE_RECORDS);
	test_pass(machine, "exact", 0);
	test_holes(machine, "exact");
	test_owns(machine);
	pfs_machine_destroy(machine);
	(void)printf(failures == 0 ? "passes look at what they need\n" : "%d failed\n", failures);
	return failures != 0;
}
