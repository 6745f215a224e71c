/*
 * fixpoint_test.c - the search to a fixpoint on programs whose states can be counted by hand, and
 * on bugs that need an unbounded history.
 */
#include <stdio.h>
#include <string.h>

#include "check/machine/atomic_backend.h"
#include "check/machine/mutex_backend.h"
#include "containers/compiler.h"
#include "check/search/image.h"
#include "check/tests/expect.h"
#include "check/search/search.h"

static struct world {
	_Atomic(uint64_t) words[4];
	uint64_t counter;
	struct pfs_mutex locks[2];
	uint64_t note;
	void (*bodies[3])(void *);
	uint32_t threads;
	uint64_t cap; /* of distances, in the normal form */
	bool is_normal;
} world;

static struct pfs_search_result result;

static void setup(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	machine->setup.free_yields = machine->memory.reuses = true;
	memset((void *)self->words, 0, sizeof(self->words));
	self->counter = 0;
	pfs_mutex_init(&self->locks[0]);
	pfs_mutex_init(&self->locks[1]);
	for (uint32_t id = 0; id < self->threads; id++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[id], NULL);
}

static void keep(struct pfs_machine_snapshot *snapshot, void *context)
{
	struct world *self = context;
	pfs_snapshot_put(snapshot, self, offsetof(struct world, bodies));
}

/* Numbers from BASE on only grow: that of words[0] is the newest. */
#define BASE (UINT64_C(0x5A5A) << 48)

static void begin_normal(void *context)
{
	(void)context;
}

static bool is_relative(void *context, const void *place, uint64_t word)
{
	const struct world *self = context;
	(void)place;
	return self->is_normal && word >> 48 == BASE >> 48;
}

static uint64_t normal_of(void *context, const void *place, uint64_t word)
{
	const struct world *self = context;
	if (!is_relative(context, place, word))
		return word;
	uint64_t distance = pfs_load_relaxed(&world.words[0]) - word;
	return BASE + (distance < self->cap ? distance : self->cap);
}

static const struct pfs_normal normal = { begin_normal, normal_of, is_relative };

static const struct pfs_scenario scenario = { .name = "loops",
					      .setup = setup,
					      .context = &world,
					      .keep = keep,
					      .normal = &normal,
					      .is_endless = true };

static uint32_t preemption_max = PFS_PREEMPTIONS_ANY;

static void search(const struct pfs_memory_model *model, void (*first)(void *),
		   void (*second)(void *), uint64_t memory_max)
{
	struct pfs_machine *machine = pfs_machine_create(model);
	struct pfs_search_options options = { .kind = PFS_SEARCH_FIXPOINT,
					      .seed = 1,
					      .seconds_max = 20,
					      .memory_max = memory_max,
					      .preemption_max = preemption_max };
	machine->setup.watch = false;
	machine->setup.step_max = 20000;
	world.bodies[0] = first;
	world.bodies[1] = second;
	world.threads = second == NULL ? 1 : world.bodies[2] == NULL ? 2 : 3;
	(void)pfs_search(machine, &scenario, &options, &result);
	if (result.refusal != NULL)
		(void)printf("refused: %s\n", result.refusal);
	(void)printf("%llu states, depth %u, %s%s %s\n", (unsigned long long)result.states,
		     result.depth, result.failed ? "failed: " : "", result.message,
		     result.complete ? "all" : "cut");
	if (result.failed) { /* it can be shown */
		struct pfs_search_result again = result;
		(void)pfs_search_shrink(machine, &scenario, &again);
		pfs_expect(again.failed && again.segment_count != 0, "the failure is replayed");
	}
	pfs_machine_destroy(machine);
}

/* ---- states by hand ---- */

static uint32_t own_id(void)
{
	return pfs_machine_current()->run.running->id;
}

PFS_BODY(toggle)
{
	for (uint64_t bit = UINT64_C(1) << own_id();;)
		(void)pfs_sim_change(PFS_SIM_XOR, &world.words[0], 8, bit, PFS_SIM_RELAXED,
				     PFS_SIM_PLACE("word"));
}

/* Two bits, and each thread is always before the same step. */
static void count_states(void)
{
	search(&pfs_model_sc, toggle, toggle, 0);
	pfs_expect(result.complete && !result.failed && result.states == 4, "two bits: 4 states");
	search(&pfs_model_tso, toggle, toggle, 0);
	pfs_expect(result.complete && result.states == 4, "and as many with store buffers");
}

/* ---- a bug that needs a history ---- */

PFS_BODY(add_for_ever)
{
	for (;;) { /* a position that wraps around after 64 */
		uint64_t seen = pfs_load_relaxed(&world.words[1]);
		pfs_store_relaxed(&world.words[1], (seen + 1) % 64);
	}
}

PFS_BODY(look_for_ever)
{
	for (;;)
		PFS_MACHINE_CHECK(pfs_load_relaxed(&world.words[1]) != 50, "the 50th");
}

static void find_late(void)
{
	search(&pfs_model_sc, add_for_ever, look_for_ever, 0);
	pfs_expect(result.failed && strcmp(result.message, "the 50th") == 0,
		   "what needs fifty turns is found");
	pfs_expect(result.depth >= 50, "and not before");
}

/* ---- numbers that only grow ---- */

PFS_BODY(grow_for_ever)
{
	pfs_store_relaxed(&world.words[0], BASE);
	for (;;)
		(void)pfs_fetch_add_relaxed(&world.words[0], 1);
}

PFS_BODY(confirm_for_ever)
{
	for (;;) {
		uint64_t seen = pfs_load_relaxed(&world.words[0]);
		(void)pfs_cas_relaxed(&world.words[0], &seen, seen);
	}
}

/* The second thread is before its load, or its compare-and-swap, with the newest, an older one, or
 * the 0 from before the base in its registers; so is the first one before its store. */
static void tell_by_distance(void)
{
	world.cap = 1;
	world.is_normal = true;
	search(&pfs_model_sc, grow_for_ever, confirm_for_ever, 0);
	pfs_expect(result.complete && result.states <= 2 * 2 * 3,
		   "told by a distance, states are finitely many");
	world.is_normal = false;
	search(&pfs_model_sc, grow_for_ever, confirm_for_ever, UINT64_C(8) << 20);
	pfs_expect(!result.complete && !result.failed && result.stopped && result.frontier != 0 &&
			   result.memory_bytes > UINT64_C(8) << 20,
		   "else the search is cut, and says so");
}

/* ---- no thread can go on ---- */

static void lock_both(uint32_t first)
{
	for (;;) {
		pfs_mutex_lock(&world.locks[first]);
		pfs_mutex_lock(&world.locks[1 - first]);
		pfs_mutex_unlock(&world.locks[1 - first]);
		pfs_mutex_unlock(&world.locks[first]);
	}
}

PFS_BODY(lock_up)
{
	lock_both(0);
}
PFS_BODY(lock_down)
{
	lock_both(1);
}

static void find_deadlock(void)
{
	search(&pfs_model_sc, lock_up, lock_down, 0);
	pfs_expect(result.failed && result.end == PFS_END_DEADLOCK, "a deadlock is found");
	search(&pfs_model_sc, lock_up, lock_up, 0);
	pfs_expect(result.complete && !result.failed, "and none where there is none");
}

/* ---- threads that yield ---- */

PFS_BODY(spin_for_ever)
{
	for (;;) {
		while (pfs_load_relaxed(&world.words[0]) == 0)
			pfs_yield();
		pfs_machine_note(&world.note, "seen");
	}
}

static void spin(void)
{
	search(&pfs_model_sc, toggle, spin_for_ever, 0);
	pfs_expect(result.complete && !result.failed && result.states != 0,
		   "who spins comes back to a state that was met");
	search(&pfs_model_sc, spin_for_ever, NULL, 0);
	pfs_expect(result.complete && !result.failed, "also alone");
}

/* ---- no thread is delayed forever ---- */

PFS_BODY(calm_for_ever)
{
	for (;;)
		(void)pfs_sim_change(PFS_SIM_XOR, &world.words[2], 8, 1, PFS_SIM_RELAXED,
				     PFS_SIM_PLACE("own"));
}

PFS_BODY(choose_for_ever)
{
	for (;;)
		(void)pfs_machine_choose(2);
}

PFS_BODY(fail_at_three)
{
	for (;;) {
		uint64_t seen = pfs_fetch_add_relaxed(&world.words[3], 1);
		PFS_MACHINE_CHECK(seen != 3, "the third");
	}
}

/* So that it is shared. */
PFS_BODY(look_at_three)
{
	for (;;)
		(void)pfs_load_relaxed(&world.words[3]);
}

static void put_off(void)
{
	search(&pfs_model_sc, calm_for_ever, fail_at_three, 0);
	pfs_expect(result.failed, "calm steps without end put nobody off");
	world.bodies[2] = look_at_three;
	search(&pfs_model_sc, choose_for_ever, fail_at_three, 0);
	world.bodies[2] = NULL;
	pfs_expect(result.failed, "nor do choices");
}

/* ---- choices ---- */

PFS_BODY(choose_and_tell)
{
	for (;;) {
		uint32_t chosen = pfs_machine_choose(3);
		PFS_MACHINE_CHECK(chosen < 3, "no such choice");
		PFS_MACHINE_CHECK(chosen != 2 || pfs_load_relaxed(&world.words[1]) != 2,
				  "the third choice after the second");
		pfs_store_relaxed(&world.words[1], chosen + 1);
	}
}

static void choices(void)
{
	search(&pfs_model_sc, choose_and_tell, NULL, 0);
	pfs_expect(result.failed && result.depth <= 3, "every choice is tried");
}

/* ---- store buffers ---- */

/* Each sets its flag, and reads the other's: with store buffers both may miss each other. */
PFS_BODY(exclude)
{
	for (uint32_t own = own_id();;) {
		pfs_store_relaxed(&world.words[own], 1);
		if (pfs_load_relaxed(&world.words[1 - own]) == 0) {
			PFS_MACHINE_CHECK(world.counter == 0, "two are inside");
			world.counter = 1;
			pfs_machine_note(&world.note, "inside");
			world.counter = 0;
		}
		pfs_store_relaxed(&world.words[own], 0);
	}
}

static void buffers(void)
{
	search(&pfs_model_sc, exclude, exclude, 0);
	pfs_expect(result.complete && !result.failed, "at once, nobody misses the other");
	search(&pfs_model_tso, exclude, exclude, 0);
	pfs_expect(result.failed && strcmp(result.message, "two are inside") == 0,
		   "with store buffers both do");
}

/* ---- pages that come and go ---- */

PFS_BODY(map_for_ever)
{
	struct pfs_sim_memory *memory = &pfs_machine_current()->memory;
	for (;;) {
		_Atomic(uint64_t) *page = pfs_sim_memory_map(memory, PFS_SIM_OS_PAGE, 0);
		pfs_store_relaxed(&world.words[1], (uint64_t)(uintptr_t)page);
		pfs_store_relaxed(page, 1);
		pfs_store_relaxed(&world.words[1], 0);
		pfs_sim_memory_unmap(memory, (void *)(uintptr_t)page, PFS_SIM_OS_PAGE);
		pfs_machine_note(&world.note, "gone"); /* before the next one comes */
	}
}

PFS_BODY(read_for_ever)
{
	for (;;) {
		uintptr_t page = (uintptr_t)pfs_load_relaxed(&world.words[1]);
		if (page != 0)
			(void)pfs_load_relaxed((_Atomic(uint64_t) *)page);
	}
}

static void pages(void)
{
	search(&pfs_model_sc, map_for_ever, NULL, 0);
	pfs_expect(result.complete && !result.failed, "addresses are used again");
	search(&pfs_model_sc, map_for_ever, read_for_ever, 0);
	pfs_expect(result.failed && strstr(result.message, "given back") != NULL,
		   "an access to a page that went is found");
}

/* ---- preemptions ---- */

static _Atomic(uint64_t) *const ours = &world.words[0];

/* In a call words[0] is odd for a moment. */
PFS_BODY(call_for_ever)
{
	for (;;) {
		(void)pfs_machine_choose(1);
		pfs_store_relaxed(ours, 1);
		pfs_store_relaxed(&world.words[1], 0);
		pfs_store_relaxed(ours, 0);
	}
}

/* Sees that, and within the same call that it is over, and that it has begun again. */
PFS_BODY(peek_for_ever)
{
	for (;;) {
		(void)pfs_machine_choose(1);
		uint64_t first = pfs_load_relaxed(ours);
		uint64_t second = pfs_load_relaxed(ours);
		uint64_t third = pfs_load_relaxed(ours);
		PFS_MACHINE_CHECK(first == 0 || second != 0 || third == 0, "it was seen");
	}
}

/* The path is only as long as needed: a call in the middle of which the other one is preempted
 * too. */
static void preemptions(void)
{
	uint64_t states = 0;
	for (preemption_max = 0; preemption_max < 5; preemption_max++) {
		search(&pfs_model_sc, call_for_ever, peek_for_ever, 0);
		pfs_expect(result.failed || result.states > states, "a wider bound, more states");
		pfs_expect(result.failed == (preemption_max == 4), "found with four");
		pfs_expect(result.failed || (result.complete && result.bounded),
			   "all there are within the bound, which left some out");
		states = result.states;
	}
	preemption_max = PFS_PREEMPTIONS_ANY;
	search(&pfs_model_sc, call_for_ever, peek_for_ever, 0);
	pfs_expect(result.failed, "found without a bound");
	search(&pfs_model_sc, call_for_ever, call_for_ever, 0);
	pfs_expect(result.complete && !result.bounded, "without a bound nothing is left out");
}

int main(void)
{
	count_states();
	find_late();
	tell_by_distance();
	find_deadlock();
	spin();
	put_off();
	choices();
	buffers();
	pages();
	preemptions();
	return pfs_expect_report();
}
