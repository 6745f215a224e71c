/*
 * counts_test.c - counts with hand-computed values on forced schedules: false full, needless
 * growth, skips, live records.
 */
#include <stdio.h>
#include <string.h>

#include "containers/container.h"
#include "check/machine/actors.h"
#include "sim/seams/probe.h"

static int failures;

static void expect(uint64_t got, uint64_t wanted, const char *scene, const char *what)
{
	if (got == wanted)
		return;
	failures++;
	(void)printf("FAILED: %s: %s is %llu, must be %llu\n", scene, what, (unsigned long long)got,
		     (unsigned long long)wanted);
}

#define RECORDS_MAX 16u

/* A container whose records are all in use, and two threads. */
struct scene {
	struct pfs_container *container;
	struct pfs_thread *searcher, *other;
	void *records[RECORDS_MAX];
	uint32_t page_records;
	uint32_t target; /* the record that the other thread uses */
	void (*other_does)(struct scene *self);
	bool looked; /* the searcher has looked at the target's word */
};

static struct scene scene;

static void make(const char *policy, uint32_t pages, uint32_t page_records)
{
	struct pfs_config config;
	struct pfs_message message;
	memset(&scene, 0, sizeof(scene));
	scene.page_records = page_records;
	pfs_config_init(&config);
	config.page_records = page_records;
	config.page_prealloc = pages;
	config.page_max = pages + 2;
	if (pfs_container_create(pfs_variant_find(policy), &config, &scene.container, &message) !=
	    PFS_OK) {
		(void)printf("FAILED: %s\n", message.text);
		failures++;
		return;
	}
	(void)pfs_thread_attach(scene.container, &scene.searcher);
	(void)pfs_thread_attach(scene.container, &scene.other);
	for (uint32_t i = 0; i < pages * page_records; i++) {
		struct pfs_claim claim = pfs_allocate(scene.searcher);
		pfs_publish(scene.searcher, claim);
		uint32_t at = pfs_record_page(claim.record)->index * page_records +
			      pfs_record_slot(claim.record);
		scene.records[at] = claim.record;
	}
}

static void *line_of(uint32_t page, const char *name)
{
	return (void *)(uintptr_t)pfs_probe_line(scene.container, page, name);
}

static struct pfs_counts counts_of(void)
{
	struct pfs_counts counts;
	pfs_container_counts(scene.container, &counts);
	return counts;
}

static void destroy(void)
{
	pfs_thread_detach(scene.searcher);
	pfs_thread_detach(scene.other);
	pfs_container_destroy(scene.container);
}

/*
 * Four pages of two records, all in use. A record of each of the first three is freed, and then
 * their full flags are set, as by a late thread: `original` skips all three and adds a needless
 * page. It visits its first page, which is the last one, twice, because its first advance of the
 * cursor returns the same place. First it finds both records in use and sets the flag; then it
 * skips the page because of the flag.
 */
static void test_stuck_flags(void)
{
	make("original", 4, 2);
	struct pfs_counts before = counts_of();
	for (uint32_t page = 0; page < 3; page++) {
		pfs_free(scene.other, scene.records[page * 2]);
		*(uint32_t *)line_of(page, "full") = 1;
	}
	*(uint64_t *)line_of(PFS_PROBE_CONTAINER, "cursor") = 3;
	struct pfs_claim claim = pfs_allocate(scene.searcher);
	pfs_publish(scene.searcher, claim);
	struct pfs_counts after = counts_of();
	const char *name = "stuck flags";
	expect(pfs_record_page(claim.record)->index, 4, name, "page of the record");
	expect(after.false_full_at_least - before.false_full_at_least, 3, name, "false_full");
	expect(after.flag_skips - before.flag_skips, 3 + 1, name, "flag_skips");
	expect(after.record_skips - before.record_skips, 4 * 2, name, "record_skips");
	expect(after.page_skips - before.page_skips, 0, name, "page_skips");
	expect(after.growths, 1, name, "growths");
	expect(after.needless_growths, 1, name, "needless_growths");
	expect(after.live_peak, 8, name, "live_peak");
	destroy();
}

/* When the searcher has looked at the target, the other thread runs to its end. */
static struct pfs_actor choose(struct pfs_scheduler *self, struct pfs_machine *machine)
{
	(void)self;
	const struct pfs_actor searcher = pfs_actor_step(0), other = pfs_actor_step(1);
	if (scene.looked && pfs_machine_can_run(machine, other))
		return other;
	return pfs_machine_can_run(machine, searcher) ? searcher : PFS_NOBODY;
}

static void ran(struct pfs_scheduler *self, struct pfs_machine *machine,
		const struct pfs_step *step)
{
	const void *word = &pfs_record_lock(scene.records[scene.target])->word;
	(void)self, (void)machine;
	scene.looked |= step->thread == 0 && step->operation.address == word;
}

static void search_once(void *argument)
{
	(void)argument;
	struct pfs_claim claim = pfs_allocate(scene.searcher);
	pfs_publish(scene.searcher, claim);
}

static void other(void *argument)
{
	(void)argument;
	scene.other_does(&scene);
}

static struct pfs_counts play(struct pfs_machine *machine, uint32_t target,
			      void (*other_does)(struct scene *self))
{
	struct pfs_scheduler scheduler = { .choose = choose, .ran = ran };
	scene.target = target;
	scene.other_does = other_does;
	(void)pfs_machine_spawn(machine, 0, search_once, NULL);
	(void)pfs_machine_spawn(machine, 0, other, NULL);
	if (pfs_machine_run(machine, &scheduler) != PFS_END_DONE) {
		failures++;
		(void)printf("FAILED: %s\n", machine->run.message);
	}
	return counts_of();
}

static void free_target(struct scene *self)
{
	pfs_free(self->other, self->records[self->target]);
}

/* A record that becomes FREE after the search has passed was not FREE throughout: there is no false
 * full, but the page that is then added is needless. */
static void test_freed_behind(struct pfs_machine *machine)
{
	const char *name = "freed behind the search";
	pfs_machine_reset(machine);
	make("local_scan", 1, 8);
	struct pfs_counts after = play(machine, 5, free_target);
	expect(scene.looked, true, name, "looked");
	expect(after.false_full_at_least, 0, name, "false_full");
	expect(after.record_skips, 0, name, "record_skips");
	expect(after.growths, 1, name, "growths");
	expect(after.needless_growths, 1, name, "needless_growths");
	expect(after.live_peak, 8, name, "live_peak");
	destroy();
}

/* Meanwhile the record changes its owner and is free only for a moment. */
static void free_and_take_back(struct scene *self)
{
	pfs_free(self->other, self->records[self->target]);
	struct pfs_claim claim = pfs_allocate(self->other);
	pfs_publish(self->other, claim);
	expect(claim.record == self->records[self->target], true, "taken back", "same record");
}

static void test_taken_back(struct pfs_machine *machine)
{
	const char *name = "taken back";
	pfs_machine_reset(machine);
	make("local_scan", 1, 8);
	struct pfs_counts after = play(machine, 5, free_and_take_back);
	expect(after.false_full_at_least, 0, name, "false_full");
	expect(after.growths, 1, name, "growths");
	expect(after.needless_growths, 0, name, "needless_growths");
	expect(after.live_peak, 9, name, "live_peak");
	destroy();
}

/* `exact` in the same place: the proof sees the free, and no page is added. */
static void test_exact(struct pfs_machine *machine)
{
	const char *name = "exact";
	pfs_machine_reset(machine);
	make("exact", 1, 8);
	pfs_free(scene.other, scene.records[3]);
	struct pfs_claim claim = pfs_allocate(scene.searcher);
	pfs_publish(scene.searcher, claim);
	expect(counts_of().growths, 0, name, "growths");
	claim = pfs_allocate(scene.searcher);
	pfs_publish(scene.searcher, claim);
	expect(counts_of().growths, 1, name, "growths when full");
	expect(counts_of().needless_growths, 0, name, "needless_growths");
	expect(counts_of().live_peak, 9, name, "live_peak");
	destroy();
}

/* Metrics are not steps: a schedule has as many steps with a failing search as without one. */
static void test_quiet(struct pfs_machine *machine)
{
	pfs_machine_reset(machine);
	make("local_scan", 1, 8);
	(void)play(machine, 5, free_target);
	for (uint32_t step = 0; step < machine->run.step_count; step++)
		expect(machine->run.schedule[step] < 2, true, "quiet", "actor");
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t looks = 0;
		const void *word = &pfs_record_lock(scene.records[i])->word;
		for (uint32_t step = 0; step < machine->run.step_count; step++)
			looks += machine->trace.steps[step].operation.address == word &&
				 machine->trace.steps[step].thread == 0;
		expect(looks, 1, "quiet", "looks at a record");
	}
	destroy();
}

/* The step in which the searcher first accessed an address, or the number of steps. */
static uint32_t first_step(const struct pfs_machine *machine, const void *address)
{
	uint32_t step = 0;
	const struct pfs_step *steps = machine->trace.steps;
	while (step < machine->run.step_count &&
	       (steps[step].thread != 0 || steps[step].operation.address != address))
		step++;
	return step;
}

/* `original` reads the container's full flag and then counts the pages, as the real one does. A
 * page added between the two is found by the search, not by growing. */
static void test_flag_before_count(struct pfs_machine *machine)
{
	const char *name = "flag before count";
	pfs_machine_reset(machine);
	make("original", 1, 2);
	(void)play(machine, 1, free_target);
	uint32_t flag = first_step(machine, line_of(PFS_PROBE_CONTAINER, "full"));
	uint32_t count = first_step(machine, &scene.container->page_limit);
	expect(count < machine->run.step_count, true, name, "the count is looked at");
	expect(flag < count, true, name, "the flag is looked at before the count");
	destroy();
}

int main(void)
{
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	if (machine == NULL)
		return 1;
	test_stuck_flags();
	test_freed_behind(machine);
	test_taken_back(machine);
	test_exact(machine);
	machine->setup.tracing = true;
	test_quiet(machine);
	test_flag_before_count(machine);
	pfs_machine_destroy(machine);
	(void)printf(failures == 0 ? "counts are exact\n" : "%d failed\n", failures);
	return failures != 0;
}
