/*
 * steps_test.c - the costs of the slow paths of exact and magazine on forced schedules, in steps,
 * locks and barriers of the simulated machine. Times would show the same, but with noise.
 */
#include <stdio.h>
#include <string.h>

#include "containers/container.h"
#include "variants/magazine/magazine.h"
#include "sim/cases/balance.h"
#include "check/machine/actors.h"
#include "sim/seams/seams.h"

#include <pfslab/variant.h>

#define HANDLES_MAX 100u
#define RECORDS_MAX 8u
#define THREADS_MAX 5u

static int failures;

static void expect_at_most(uint64_t got, uint64_t most, const char *what)
{
	if (got <= most)
		return;
	failures++;
	(void)printf("FAILED: %s: %llu, must be at most %llu\n", what, (unsigned long long)got,
		     (unsigned long long)most);
}

/* Operations since the last reset. */
struct cost {
	uint64_t steps, locks, tries, barriers;
};

static struct world {
	struct pfs_container *container;
	struct pfs_thread *handles[HANDLES_MAX];
	void *records[RECORDS_MAX];
	uint32_t count;
	struct cost cost[THREADS_MAX]; /* by thread */
	uint32_t looks; /* steps of a waiting thread before the first thread continues */
	uint32_t phase;
} world;

static void count(struct pfs_scheduler *self, struct pfs_machine *machine,
		  const struct pfs_step *step)
{
	struct cost *cost = &world.cost[step->thread];
	enum pfs_sim_kind kind = (enum pfs_sim_kind)step->operation.kind;
	(void)self, (void)machine;
	cost->steps++;
	cost->locks += kind == PFS_SIM_LOCK;
	cost->tries += kind == PFS_SIM_TRY_LOCK;
	cost->barriers += kind == PFS_SIM_BARRIER;
}

static struct pfs_actor first(struct pfs_scheduler *self, struct pfs_machine *machine)
{
	(void)self;
	return pfs_machine_first_from(machine, 0);
}

static void run(struct pfs_machine *machine, struct pfs_scheduler *scheduler)
{
	if (pfs_machine_run(machine, scheduler) == PFS_END_DONE)
		return;
	failures++;
	(void)printf("FAILED: %s\n", machine->run.message);
}

static struct cost cost_of(struct pfs_machine *machine, void (*body)(void *argument))
{
	struct pfs_scheduler scheduler = { .choose = first, .ran = count };
	memset(world.cost, 0, sizeof(world.cost));
	(void)pfs_machine_spawn(machine, 0, body, NULL);
	run(machine, &scheduler);
	struct cost sum = world.cost[0];
	for (uint32_t i = 1; i < THREADS_MAX; i++) {
		sum.steps += world.cost[i].steps;
		sum.locks += world.cost[i].locks;
		sum.tries += world.cost[i].tries;
		sum.barriers += world.cost[i].barriers;
	}
	return sum;
}

static void make(struct pfs_machine *machine, const char *policy, uint32_t handles,
		 uint32_t page_records, uint32_t pages, uint32_t most)
{
	struct pfs_config config;
	struct pfs_message message;
	pfs_machine_reset(machine);
	memset(&world, 0, sizeof(world));
	pfs_sim_proof_looks_set(PFS_SIM_PROOF_LOOKS);
	pfs_config_init(&config);
	config.page_records = page_records;
	config.page_prealloc = pages;
	config.page_max = most;
	if (pfs_container_create(pfs_variant_find(policy), &config, &world.container, &message) !=
	    PFS_OK) {
		failures++;
		(void)printf("FAILED: %s\n", message.text);
		return;
	}
	for (; world.count < handles; world.count++)
		(void)pfs_thread_attach(world.container, &world.handles[world.count]);
}

static void destroy(void)
{
	for (uint32_t i = 0; i < world.count; i++)
		pfs_thread_detach(world.handles[i]);
	pfs_container_destroy(world.container);
}

static void *take(uint32_t handle)
{
	struct pfs_claim claim = pfs_allocate(world.handles[handle]);
	if (claim.record != NULL)
		pfs_publish(world.handles[handle], claim);
	return claim.record;
}

static void take_all(void)
{
	for (uint32_t i = 0; i < RECORDS_MAX; i++)
		world.records[i] = take(0);
}

/* Each handle in turn frees a record, and the first one takes it back: every ring was used. */
static void use_each(void *argument)
{
	(void)argument;
	take_all();
	for (uint32_t i = 1; i < world.count; i++) {
		pfs_free(world.handles[i], world.records[0]);
		world.records[0] = take(0);
	}
}

static void ask(void *argument)
{
	(void)argument;
	if (take(0) != NULL)
		pfs_machine_fail("a record, and all were in use");
}

static void free_by_last_and_ask(void *argument)
{
	(void)argument;
	pfs_free(world.handles[world.count - 1], world.records[1]);
	world.records[1] = take(0);
	ask(NULL);
}

/* A refusal with so many handles; the last ones were detached before. */
static struct cost refusal(struct pfs_machine *machine, const char *policy, uint32_t handles,
			   uint32_t attached)
{
	make(machine, policy, handles, 2, 4, 4);
	(void)cost_of(machine, use_each);
	while (world.count > attached)
		pfs_thread_detach(world.handles[--world.count]);
	(void)cost_of(machine, ask);
	struct cost cost = cost_of(machine, ask);
	destroy();
	return cost;
}

static struct cost refusal_by_take_back(struct pfs_machine *machine, uint32_t handles)
{
	make(machine, "magazine", handles, 2, 4, 4);
	(void)cost_of(machine, use_each);
	/* The owner of the last ring sees that it was closed, and would bypass it from now on. */
	(void)cost_of(machine, free_by_last_and_ask);
	struct pfs_magazine *ring = world.handles[world.count - 1]->policy;
	ring->bypass = 0;
	struct cost cost = cost_of(machine, free_by_last_and_ask);
	destroy();
	return cost;
}

/* The second refusal costs magazine as much as exact: it reads nothing of a handle. */
static void test_refusals(struct pfs_machine *machine)
{
	struct cost exact = refusal(machine, "exact", 3, 3);
	struct cost few = refusal(machine, "magazine", 3, 3);
	struct cost many = refusal(machine, "magazine", HANDLES_MAX, HANDLES_MAX);
	struct cost gone = refusal(machine, "magazine", HANDLES_MAX, 1);
	expect_at_most(few.locks + few.tries, 0, "locks of a refusal");
	expect_at_most(few.barriers, 0, "barriers of a refusal");
	expect_at_most(few.steps, exact.steps + 24, "steps of a refusal, to those of exact");
	expect_at_most(many.steps, few.steps, "steps of a refusal with many handles");
	expect_at_most(gone.steps, few.steps, "steps of a refusal with many handles detached");
	struct cost back = refusal_by_take_back(machine, 3);
	struct cost back_of_many = refusal_by_take_back(machine, HANDLES_MAX);
	expect_at_most(back.barriers, 1, "barriers of a refusal that closes a ring");
	expect_at_most(1, back.barriers, "a ring to close, barriers");
	expect_at_most(back_of_many.barriers, 1, "barriers with many handles, most of them closed");
	/* One more word of open rings, which each walk reads and clears separately. */
	expect_at_most(back_of_many.steps, back.steps + 40, "steps of a take-back, many closed");
}

#define TRADES 1000u

/* Two handles use the last record: each frees it for the other. */
static void trade(void *argument)
{
	(void)argument;
	take_all();
	for (uint32_t i = 0; i < TRADES; i++) {
		for (uint32_t by = 0; by < 2; by++) {
			pfs_free(world.handles[by], world.records[0]);
			world.records[0] = take(1 - by);
		}
	}
}

static void test_trades(struct pfs_machine *machine)
{
	make(machine, "magazine", 2, 2, 4, 4);
	struct cost cost = cost_of(machine, trade);
	/* Each ring is taken back at its first free, and after 64, 128, 256 and 512 more. */
	expect_at_most(cost.barriers, 10, "barriers of 2000 trades of the last record");
	destroy();
}

/* Free records of a draining page are not in rings, which would hide that they are free. */
static void test_draining(struct pfs_machine *machine)
{
	uint64_t first_entry, last;
	make(machine, "magazine", 1, 2, 4, 4);
	take_all();
	struct pfs_page *page = pfs_record_page(world.records[0]);
	*(uint32_t *)(void *)&page->draining = 1;
	pfs_free(world.handles[0], world.records[0]);
	pfs_magazine_content(world.handles[0]->policy, &first_entry, &last);
	expect_at_most(last - first_entry, 0, "records of a draining page in a ring");
	*(uint32_t *)(void *)&page->draining = 0;
	destroy();
}

/* ---- a free is stopped halfway: its ring stays open ---- */

static void free_by_second(void *argument)
{
	(void)argument;
	pfs_free(world.handles[1], world.records[0]);
}

/* Thread 2 is stopped while it frees into the ring of the second handle. */
static void stop_amid_free(struct pfs_machine *machine)
{
	struct pfs_scheduler scheduler = { .choose = first, .ran = count };
	uint64_t tail = 0;
	make(machine, "magazine", 2, 2, 4, 4);
	(void)cost_of(machine, use_each);             /* thread 0 */
	(void)cost_of(machine, free_by_last_and_ask); /* thread 1 */
	struct pfs_magazine *ring = world.handles[1]->policy;
	ring->bypass = 0;
	(void)pfs_machine_spawn(machine, 0, free_by_second, NULL);
	for (uint32_t steps = 0; tail % 2 == 0 && steps < 100; steps++) {
		pfs_machine_stop_after(machine, 2, steps);
		(void)pfs_machine_run(machine, &scheduler);
		memcpy(&tail, (const void *)&ring->tail, sizeof(tail));
	}
}

static void go_on(struct pfs_machine *machine)
{
	struct pfs_scheduler scheduler = { .choose = first, .ran = count };
	pfs_machine_stop_after(machine, 2, UINT32_MAX);
	run(machine, &scheduler);
	destroy();
}

/* A refusal uses one barrier to revoke the ring, and one between the looks of its proof, because
 * the free may have returned by then while its store is still buffered. */
static void test_stays_open(struct pfs_machine *machine)
{
	stop_amid_free(machine);
	struct cost refused = cost_of(machine, ask);
	expect_at_most(2, refused.barriers, "a ring that stays open, barriers");
	expect_at_most(refused.barriers, 2, "barriers where a ring stays open");
	go_on(machine);
}

static void free_and_take(void *argument)
{
	(void)argument;
	pfs_free(world.handles[2], world.records[1]);
	world.records[1] = take(2);
}

/* Thread 3 up to the barrier of its proof, then thread 4, then the others. */
static struct pfs_actor between_looks(struct pfs_scheduler *self, struct pfs_machine *machine)
{
	(void)self;
	const struct pfs_actor asks = pfs_actor_step(3), frees = pfs_actor_step(4);
	if (world.cost[3].barriers >= 2 && pfs_machine_can_run(machine, frees))
		return frees;
	return pfs_machine_can_run(machine, asks) ? asks : PFS_NOBODY;
}

/* Between the looks, another ring is opened, filled and emptied: the proof restarts, although both
 * looks find all rings empty. */
static void test_opened_between_looks(struct pfs_machine *machine)
{
	struct pfs_scheduler scheduler = { .choose = between_looks, .ran = count };
	stop_amid_free(machine);
	(void)pfs_thread_attach(world.container, &world.handles[world.count++]);
	memset(world.cost, 0, sizeof(world.cost));
	(void)pfs_machine_spawn(machine, 0, ask, NULL);
	(void)pfs_machine_spawn(machine, 0, free_and_take, NULL);
	run(machine, &scheduler);
	expect_at_most(3, world.cost[3].barriers, "a ring opened between looks, barriers");
	go_on(machine);
}

/* ---- a ring is handed over at the wrong moment ---- */

static void ask_of_owner(void *argument)
{
	(void)argument;
	if (take(1) == NULL)
		pfs_machine_fail("refused, with a record in its own ring");
}

static void ask_any(void *argument)
{
	(void)argument;
	(void)take(0);
}

static void see_owner(struct pfs_scheduler *self, struct pfs_machine *machine,
		      const struct pfs_step *step)
{
	const struct pfs_magazine *ring = world.handles[1]->policy;
	(void)self, (void)machine;
	if (step->thread == 2 && step->operation.address == (const void *)&ring->owner)
		world.phase = 1;
}

/* The taker until it sees that the ring is out of reach, then the owner, then the taker. */
static struct pfs_actor at_that_moment(struct pfs_scheduler *self, struct pfs_machine *machine)
{
	(void)self;
	const struct pfs_actor owner = pfs_actor_step(1), taker = pfs_actor_step(2);
	if (world.phase == 1 && pfs_machine_can_run(machine, owner))
		return owner;
	return pfs_machine_can_run(machine, taker) ? taker : pfs_machine_first_from(machine, 0);
}

static void free_two_by_owner(void *argument)
{
	(void)argument;
	take_all();
	for (uint32_t i = 0; i < 2; i++)
		pfs_free(world.handles[1], world.records[i]);
}

/* The heavy barrier fails. A taker leaves a ring alone, and the owner then hands it over: its
 * records are for the next taker. */
static void test_handed_in_between(struct pfs_machine *machine)
{
	struct pfs_scheduler scheduler = { .choose = at_that_moment, .ran = see_owner };
	make(machine, "magazine", 2, 2, 4, 4);
	(void)cost_of(machine, free_two_by_owner);
	pfs_seams_barriers = 0;
	(void)pfs_machine_spawn(machine, 0, ask_of_owner, NULL);
	(void)pfs_machine_spawn(machine, 0, ask_any, NULL);
	run(machine, &scheduler);
	pfs_balance_check(world.container, NULL);
	expect_at_most(1, world.phase, "the taker met the ring, of one");
	expect_at_most(machine->run.end != PFS_END_DONE, 0, "records lost by a hand-over");
	pfs_seams_barriers = PFS_SEAMS_BARRIERS_ALWAYS;
	destroy();
}

/* ---- threads that wait for a page ---- */

static void keep_one(void *argument)
{
	if (take((uint32_t)(uintptr_t)argument) == NULL)
		pfs_machine_fail("refused, and a page could be added");
}

static bool waits(const struct pfs_machine *machine, uint32_t thread)
{
	return machine->threads[thread]->pending.kind == PFS_SIM_YIELD;
}

/* Thread 0 runs until it has `mapping`, and the others run until they wait. Then thread 0 runs to
 * its end, and the others one by one; only these steps are counted. */
static struct pfs_actor in_phases(struct pfs_scheduler *self, struct pfs_machine *machine)
{
	(void)self;
	const struct pfs_actor mapper = pfs_actor_step(0);
	if (world.phase == 0 && world.cost[0].tries == 0)
		return mapper;
	if (world.phase == 0) {
		world.phase = 1;
		memset(world.cost, 0, sizeof(world.cost));
	}
	for (uint32_t id = 1; world.phase == 1 && id < machine->thread_count; id++) {
		if (world.cost[id].steps < world.looks || !waits(machine, id))
			return pfs_actor_step(id);
	}
	world.phase = 2;
	if (pfs_machine_can_run(machine, mapper)) {
		memset(world.cost, 0, sizeof(world.cost));
		return mapper;
	}
	return pfs_machine_first_from(machine, 1);
}

static void wait_for_page(struct pfs_machine *machine, const char *policy, uint32_t page_records,
			  uint32_t looks)
{
	struct pfs_scheduler scheduler = { .choose = in_phases, .ran = count };
	make(machine, policy, 3, page_records, 0, 3);
	world.looks = looks;
	for (uint32_t id = 0; id < 3; id++)
		(void)pfs_machine_spawn(machine, 0, keep_one, (void *)(uintptr_t)id);
	run(machine, &scheduler);
}

/* A page of three records: two threads wait, and each is granted one. */
static void test_grants(struct pfs_machine *machine, const char *policy)
{
	wait_for_page(machine, policy, 3, 600);
	expect_at_most(world.cost[1].tries + world.cost[2].tries, 0, "tries of who was granted");
	expect_at_most(world.cost[1].steps + world.cost[2].steps, 40, "steps of who was granted");
	destroy();
}

/* Pages of one record: the thread that makes one calls the next. */
static void test_calls(struct pfs_machine *machine, const char *policy)
{
	/* One that is not called looks for the lock once in 64 looks: not all these are before
	 * it. */
	for (uint32_t looks = 600; looks < 760; looks += 20) {
		wait_for_page(machine, policy, 1, looks);
		expect_at_most(world.cost[1].steps, 110, "steps of who is called");
		expect_at_most(world.cost[2].steps, 110, "steps of who is called next");
		destroy();
	}
}

int main(void)
{
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	test_refusals(machine);
	test_trades(machine);
	test_draining(machine);
	test_stays_open(machine);
	test_opened_between_looks(machine);
	test_handed_in_between(machine);
	test_grants(machine, "exact");
	test_grants(machine, "magazine");
	test_calls(machine, "exact");
	test_calls(machine, "magazine");
	pfs_machine_destroy(machine);
	(void)printf("%s: %d failed\n", failures == 0 ? "fine" : "FAILED", failures);
	return failures != 0;
}
