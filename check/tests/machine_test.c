/*
 * machine_test.c - the machine and its searches on cases whose answers are known.
 */
#include <stdlib.h>
#include <string.h>

#include "check/machine/atomic_backend.h"
#include "check/machine/mutex_backend.h"
#include "check/tests/dpor_classes.h"
#include "check/tests/expect.h"
#include "check/search/explore.h"
#include "check/search/search.h"

/* A litmus test: up to three threads on x and y, registers, and the outcome looked for. */
struct litmus {
	_Atomic(uint32_t) x, y;
	_Atomic(uint64_t) wide;
	struct pfs_mutex lock, other;
	uint32_t r[4];
	uint32_t threads;
	void (*bodies[3])(void *);
	bool (*outcome)(const struct litmus *self);
	struct pfs_classes classes;
	bool keep_classes;
	bool outcome_fails;
	uint64_t met;
};

static struct litmus litmus;

static void litmus_setup(struct pfs_machine *machine, void *context)
{
	struct litmus *self = context;
	pfs_store_relaxed(&self->x, 0);
	pfs_store_relaxed(&self->y, 0);
	pfs_store_relaxed(&self->wide, 0);
	self->lock.held = self->other.held = 0;
	memset(self->r, 0, sizeof(self->r));
	for (uint32_t i = 0; i < self->threads; i++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[i], self);
}

static void litmus_finish(struct pfs_machine *machine, void *context)
{
	struct litmus *self = context;
	bool met = self->outcome != NULL && self->outcome(self);
	self->met += met;
	if (met && self->outcome_fails)
		pfs_machine_fail("the outcome looked for");
	if (self->keep_classes)
		pfs_classes_add(&self->classes, machine);
}

static const struct pfs_scenario litmus_scenario = {
	.name = "litmus", .setup = litmus_setup, .finish = litmus_finish, .context = &litmus
};

static struct pfs_search_result result;

/* Search exhaustively; how often was the outcome met? */
static uint64_t count_met(const struct pfs_memory_model *model, enum pfs_search_kind kind,
			  void (*a)(void *), void (*b)(void *), void (*c)(void *),
			  bool (*outcome)(const struct litmus *))
{
	struct pfs_machine *machine = pfs_machine_create(model);
	struct pfs_search_options options = { .kind = kind, .preemption_max = 2 };
	litmus.threads = c != NULL ? 3 : 2;
	litmus.bodies[0] = a, litmus.bodies[1] = b, litmus.bodies[2] = c;
	litmus.outcome = outcome;
	litmus.met = 0;
	pfs_classes_clear(&litmus.classes);
	machine->setup.tracing = litmus.keep_classes;
	(void)pfs_search(machine, &litmus_scenario, &options, &result);
	pfs_machine_destroy(machine);
	return litmus.met;
}

/* Store buffering. */
PFS_BODY(sb_left)
{
	pfs_store_release(&litmus.x, 1);
	litmus.r[0] = pfs_load_seq(&litmus.y);
}
PFS_BODY(sb_right)
{
	pfs_store_release(&litmus.y, 1);
	litmus.r[1] = pfs_load_seq(&litmus.x);
}
PFS_BODY(sb_left_swap)
{
	(void)pfs_exchange_seq(&litmus.x, 1);
	litmus.r[0] = pfs_load_seq(&litmus.y);
}
PFS_BODY(sb_right_swap)
{
	(void)pfs_exchange_seq(&litmus.y, 1);
	litmus.r[1] = pfs_load_seq(&litmus.x);
}
static bool both_zero(const struct litmus *self)
{
	return self->r[0] == 0 && self->r[1] == 0;
}

/* Message passing. */
PFS_BODY(mp_write)
{
	pfs_store_relaxed(&litmus.x, 1);
	pfs_store_release(&litmus.y, 1);
}
PFS_BODY(mp_read)
{
	litmus.r[0] = pfs_load_acquire(&litmus.y);
	litmus.r[1] = pfs_load_relaxed(&litmus.x);
}
static bool stale(const struct litmus *self)
{
	return self->r[0] == 1 && self->r[1] == 0;
}

/* A thread's own store is seen before it leaves the buffer. */
PFS_BODY(forward)
{
	pfs_store_relaxed(&litmus.x, 1);
	litmus.r[0] = pfs_load_relaxed(&litmus.x);
	litmus.r[1] = pfs_load_relaxed(&litmus.y);
}
PFS_BODY(forward_other)
{
	pfs_store_relaxed(&litmus.y, 1);
	litmus.r[2] = pfs_load_relaxed(&litmus.y);
	litmus.r[3] = pfs_load_relaxed(&litmus.x);
}
static bool forwarded(const struct litmus *self)
{
	return self->r[0] == 1 && self->r[1] == 0 && self->r[2] == 1 && self->r[3] == 0;
}
static bool own_lost(const struct litmus *self)
{
	return self->r[0] != 1 || self->r[2] != 1;
}

/* Counting by load and store, and by fetch-add. */
PFS_BODY(count_badly)
{
	uint32_t seen = pfs_load_relaxed(&litmus.x);
	pfs_store_relaxed(&litmus.x, seen + 1);
}
PFS_BODY(count_well)
{
	(void)pfs_fetch_add_relaxed(&litmus.x, 1);
}
static bool lost_one(const struct litmus *self)
{
	return pfs_load_relaxed(&((struct litmus *)(uintptr_t)self)->x) != self->threads;
}

/* clang-format off */
static void test_litmus(void)
{
	pfs_expect(count_met(&pfs_model_sc, PFS_SEARCH_SLEEP, sb_left, sb_right, NULL,
			     both_zero) == 0 && result.complete, "SB is forbidden under SC");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_SLEEP, sb_left, sb_right, NULL,
			     both_zero) > 0, "SB is allowed with store buffers");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_NAIVE, sb_left, sb_right, NULL,
			     both_zero) > 0, "SB is allowed with store buffers, naive search");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_NAIVE, sb_left_swap, sb_right_swap, NULL,
			     both_zero) == 0 && result.complete, "SB by exchange is forbidden");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_NAIVE, mp_write, mp_read, NULL,
			     stale) == 0, "MP is forbidden with store buffers");
	pfs_expect(count_met(&pfs_model_views, PFS_SEARCH_SLEEP, sb_left, sb_right, NULL,
			     both_zero) > 0 && result.complete, "SB is allowed with views");
	pfs_expect(count_met(&pfs_model_views, PFS_SEARCH_NAIVE, sb_left_swap, sb_right_swap, NULL,
			     both_zero) == 0 && result.complete,
		   "SB by exchange is forbidden with views");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_SLEEP, forward, forward_other, NULL,
			     forwarded) > 0, "a thread sees its own buffered store first");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_NAIVE, forward, forward_other, NULL,
			     own_lost) == 0, "a thread never misses its own store");
	pfs_expect(count_met(&pfs_model_sc, PFS_SEARCH_SLEEP, count_badly, count_badly,
			     count_badly, lost_one) > 0, "load and store lose a count");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_SLEEP, count_well, count_well, count_well,
			     lost_one) == 0 && result.complete, "fetch-add loses none");
}
/* clang-format on */

/* Three threads that claim by CAS what a cursor points to, and free it. */
PFS_BODY(claim_and_free)
{
	uint32_t turn = pfs_fetch_add_relaxed(&litmus.x, 1);
	_Atomic(uint32_t) *slot = turn % 2 == 0 ? &litmus.y : (_Atomic(uint32_t) *)&litmus.wide;
	uint32_t seen = 0;
	if (pfs_cas_acquire(slot, &seen, 1))
		pfs_store_release(slot, 0);
	(void)pfs_load_relaxed(&litmus.x);
}

static void test_reduction(const struct pfs_memory_model *model, void (*a)(void *),
			   void (*b)(void *), void (*c)(void *), const char *name)
{
	litmus.keep_classes = true;
	(void)count_met(model, PFS_SEARCH_NAIVE, a, b, c, NULL);
	uint64_t naive = result.executions;
	uint32_t classes = litmus.classes.table.count;
	bool complete = result.complete;
	(void)count_met(model, PFS_SEARCH_SLEEP, a, b, c, NULL);
	(void)printf("%-24s naive %8llu executions, sleep sets %6llu (%llu cut), classes %u, %u\n",
		     name, (unsigned long long)naive, (unsigned long long)result.executions,
		     (unsigned long long)result.redundant, classes, litmus.classes.table.count);
	pfs_expect(complete && result.complete, "both searches end");
	pfs_expect(litmus.classes.table.count == classes, "sleep sets meet every class");
	pfs_expect(result.executions <= naive, "sleep sets do not execute more");
	litmus.keep_classes = false;
}

/* Two mutexes taken in opposite orders. */
PFS_BODY(lock_left)
{
	pfs_mutex_lock(&litmus.lock);
	pfs_mutex_lock(&litmus.other);
	pfs_mutex_unlock(&litmus.other);
	pfs_mutex_unlock(&litmus.lock);
}
PFS_BODY(lock_right)
{
	pfs_mutex_lock(&litmus.other);
	pfs_mutex_lock(&litmus.lock);
	pfs_mutex_unlock(&litmus.lock);
	pfs_mutex_unlock(&litmus.other);
}
PFS_BODY(spin)
{
	while (pfs_load_relaxed(&litmus.x) == 0)
		pfs_yield();
}
PFS_BODY(look_often)
{
	for (uint32_t look = 0; look < 64 && pfs_load_relaxed(&litmus.x) == 0; look++)
		pfs_yield();
	litmus.r[3] = 1;
}
static bool gave_up(const struct litmus *self)
{
	return self->r[3] == 1;
}
PFS_BODY(wake)
{
	pfs_store_relaxed(&litmus.x, 1);
}

static void test_ends(void)
{
	(void)count_met(&pfs_model_sc, PFS_SEARCH_SLEEP, lock_left, lock_left, NULL, NULL);
	pfs_expect(!result.failed && result.complete, "mutexes in one order end well");
	(void)count_met(&pfs_model_sc, PFS_SEARCH_BOUNDED, lock_left, lock_right, NULL, NULL);
	pfs_expect(result.failed && result.end == PFS_END_DEADLOCK, "opposite orders deadlock");
	(void)count_met(&pfs_model_sc, PFS_SEARCH_SLEEP, spin, wake, NULL, NULL);
	pfs_expect(!result.failed && result.complete, "a yielding spin ends when it is woken");
	(void)count_met(&pfs_model_sc, PFS_SEARCH_DPOR, spin, count_well, NULL, NULL);
	pfs_expect(!result.failed && result.complete && result.executions == 2,
		   "it looks once too early, or it does not");
	(void)count_met(&pfs_model_sc, PFS_SEARCH_DPOR, spin, mp_read, NULL, NULL);
	pfs_expect(result.failed && result.end == PFS_END_DEADLOCK &&
			   strstr(result.message, "livelock: thread 0 calls") != NULL,
		   "and if nobody wakes it, a search of all says so");
	pfs_expect(count_met(&pfs_model_tso, PFS_SEARCH_DPOR, look_often, mp_read, NULL, gave_up) ==
				   1 &&
			   result.complete,
		   "who counts its looks gives up, when nobody else can go on");

	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	struct pfs_round_robin turn;
	pfs_round_robin_init(&turn);
	litmus.threads = 2;
	litmus.bodies[0] = spin, litmus.bodies[1] = spin;
	pfs_expect(pfs_scenario_run(&litmus_scenario, machine, &turn.scheduler) ==
				   PFS_END_DEADLOCK &&
			   machine->run.step_count < 2000,
		   "two threads that spin for ever are found soon");
	litmus.bodies[1] = wake;
	pfs_machine_reset(machine);
	litmus_setup(machine, &litmus);
	pfs_machine_stop_after(machine, 1, 0);
	pfs_expect(pfs_machine_run(machine, &turn.scheduler) == PFS_END_DEADLOCK,
		   "nobody wakes the spin while the other thread is stopped");
	pfs_machine_destroy(machine);
}

/* Memory that was given back. */
static _Atomic(uint32_t) *block;
static struct pfs_sim_memory *memory;
PFS_BODY(give_back)
{
	pfs_sim_memory_unmap(memory, block, 4096);
}
PFS_BODY(touch_atomic)
{
	pfs_store_relaxed(block, 1);
}
PFS_BODY(look_behind)
{
	(void)pfs_load_relaxed(block + 512);
}
PFS_BODY(touch_plain)
{
	(void)pfs_load_relaxed(&litmus.x);
	*(volatile uint32_t *)(void *)block = 1;
}
static void memory_setup(struct pfs_machine *machine, void *context)
{
	memory = &machine->memory;
	block = pfs_sim_memory_map(memory, 4096, 0);
	litmus_setup(machine, context);
}

static void touch_gone(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
	give_back(NULL);
	*(volatile uint32_t *)(void *)block = 1;
}

/* After the first execution of a search it is not hidden: that took up to 20 % of its time. */
static void touch_gone_later(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
	give_back(NULL);
	if (result.executions > 0)
		*(volatile uint32_t *)(void *)block = 1;
}

/* Does the search find a failure with this text in its message? */
static bool finds(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		  const struct pfs_search_options *options, const char *text)
{
	return !pfs_search(machine, scenario, options, &result) &&
	       strstr(result.message, text) != NULL;
}

static void test_memory(void)
{
	const struct pfs_scenario scenario = { .name = "memory",
					       .setup = memory_setup,
					       .context = &litmus };
	struct pfs_search_options options = { .kind = PFS_SEARCH_SLEEP };
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	litmus.threads = 2;
	litmus.bodies[0] = touch_atomic, litmus.bodies[1] = give_back;
	pfs_expect(finds(machine, &scenario, &options, "data race"),
		   "an access that is not ordered with the page's end is found where it comes "
		   "first");
	machine->setup.watch = false;
	pfs_expect(finds(machine, &scenario, &options, "given back"),
		   "an atomic access to a page given back is found");
	for (int i = 0; i < 4; i++) {
		litmus.bodies[i % 2] = look_behind, litmus.bodies[1 - i % 2] = give_back;
		options.kind = i < 2 ? PFS_SEARCH_SLEEP : PFS_SEARCH_DPOR;
		pfs_expect(finds(machine, &scenario, &options, "given back"),
			   "so is a load of its second half, whoever comes first");
	}
	litmus.bodies[0] = touch_plain, litmus.bodies[1] = give_back;
	options.kind = PFS_SEARCH_NAIVE; /* the plain access is no step of its own */
	pfs_expect(finds(machine, &scenario, &options, "given back"),
		   "a plain access to a page given back is found");
	litmus.bodies[0] = touch_atomic, litmus.bodies[1] = touch_atomic;
	const struct pfs_scenario late = {
		.name = "late", .setup = memory_setup, .finish = touch_gone, .context = &litmus
	};
	pfs_expect(finds(machine, &late, &options, "final check: plain access to a page"),
		   "a bad access of the final check ends the execution, not the process");
	const struct pfs_scenario later = { .name = "later",
					    .setup = memory_setup,
					    .finish = touch_gone_later,
					    .context = &litmus };
	pfs_expect(pfs_search(machine, &later, &options, &result) && result.executions > 1,
		   "what a final check gives back is hidden in the first execution only");
	pfs_machine_destroy(machine);
}

/* A failing schedule is shortened, replayed from its token, and fails the same way. */
static void test_shrink(void)
{
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	struct pfs_search_options options = { .kind = PFS_SEARCH_RANDOM, .seed = 7 };
	char token[256] = "";
	litmus.threads = 3;
	litmus.bodies[0] = litmus.bodies[1] = litmus.bodies[2] = count_badly;
	litmus.outcome = lost_one;
	litmus.outcome_fails = true;
	pfs_expect(!pfs_search(machine, &litmus_scenario, &options, &result), "random finds it");
	(void)pfs_search_shrink(machine, &litmus_scenario, &result);
	/* T0 loads | T1 loads, stores | T0 stores | T2: three switches at least */
	pfs_expect(result.segment_count <= 4, "the shortest schedule has three switches");
	for (uint32_t i = 0, at = 0; i < result.segment_count; i++)
		at += (uint32_t)snprintf(token + at, sizeof(token) - at, "%ux%u ",
					 result.segments[i].actor, result.segments[i].steps);
	struct pfs_segment segments[16];
	static struct pfs_segment parsed[PFS_SEARCH_SEGMENTS_MAX];
	uint32_t count = 0;
	pfs_expect(pfs_segments_parse(token, parsed, &count) && count == result.segment_count,
		   "the token is read back");
	pfs_expect(!pfs_segments_parse("0x3 hello", parsed, &count), "a bad token is refused");
	memcpy(segments, result.segments, result.segment_count * sizeof(segments[0]));
	struct pfs_given given;
	pfs_given_init(&given, segments, result.segment_count);
	pfs_expect(pfs_scenario_run(&litmus_scenario, machine, &given.scheduler) == PFS_END_FAILED,
		   "the replay fails too");
	litmus.outcome_fails = false;
	pfs_machine_destroy(machine);
}

/* 1,024 threads; the same seed gives the same schedule, another one does not. */
static uint64_t crowd_hash(uint64_t seed)
{
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	struct pfs_random_walk walk;
	uint64_t hash = 0;
	pfs_random_walk_init(&walk, seed, 0, PFS_ACTOR_NONE);
	pfs_store_relaxed(&litmus.x, 0);
	for (uint32_t i = 0; i < PFS_MACHINE_THREADS_MAX; i++)
		(void)pfs_machine_spawn(machine, 0, count_well, &litmus);
	pfs_expect(pfs_machine_run(machine, &walk.scheduler) == PFS_END_DONE &&
			   pfs_load_relaxed(&litmus.x) == PFS_MACHINE_THREADS_MAX,
		   "1024 threads each count once");
	for (uint32_t step = 0; step < machine->run.step_count; step++)
		hash = hash * 31 + machine->run.schedule[step];
	pfs_machine_destroy(machine);
	return hash;
}

int main(void)
{
	test_litmus();
	test_reduction(&pfs_model_sc, claim_and_free, claim_and_free, claim_and_free,
		       "claim and free, sc");
	test_reduction(&pfs_model_sc, count_badly, count_badly, count_badly, "count badly, sc");
	test_reduction(&pfs_model_tso, sb_left, sb_right, NULL, "SB, tso");
	test_reduction(&pfs_model_tso, forward, forward_other, NULL, "forwarding, tso");
	test_reduction(&pfs_model_tso, mp_write, mp_read, mp_read, "MP, tso");
	test_ends();
	test_memory();
	test_shrink();
	pfs_expect(crowd_hash(1) == crowd_hash(1), "the same seed gives the same schedule");
	pfs_expect(crowd_hash(1) != crowd_hash(2), "another seed gives another schedule");
	return pfs_expect_report();
}
