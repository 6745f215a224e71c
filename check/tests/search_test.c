/*
 * search_test.c - a search that was cut says so; and what cuts the mode views.
 */
#include <stdio.h>
#include <string.h>

#include "check/machine/atomic_backend.h"
#include "check/machine/mutex_backend.h"
#include "check/machine/model.h"
#include "check/tests/expect.h"
#include "check/search/search.h"

static struct world {
	_Atomic(uint32_t) x;
	_Atomic(uint64_t) wide;
	uint32_t seen;
	void (*bodies[2])(void *);
	uint32_t threads;
	uint32_t wanted; /* the value that is counted */
	uint64_t met;
} world;

static void setup(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	pfs_store_relaxed(&self->x, 0);
	pfs_store_relaxed(&self->wide, 0);
	self->seen = 0;
	for (uint32_t i = 0; i < self->threads; i++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[i % 2], self);
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	(void)machine;
	self->met += self->seen == self->wanted;
}

static struct pfs_search_result result;

/* second: NULL: one thread. Returns how often `seen` was `wanted`. */
static uint64_t search(const struct pfs_memory_model *model,
		       const struct pfs_search_options *options, void (*first)(void *),
		       void (*second)(void *), uint32_t wanted)
{
	const struct pfs_scenario scenario = {
		.name = "world", .setup = setup, .finish = finish, .context = &world
	};
	struct pfs_machine *machine = pfs_machine_create(model);
	machine->setup.step_max = 200;
	world.bodies[0] = first, world.bodies[1] = second;
	world.threads = second != NULL ? 2 : 1;
	world.wanted = wanted;
	world.met = 0;
	(void)pfs_search(machine, &scenario, options, &result);
	pfs_machine_destroy(machine);
	return world.met;
}

PFS_BODY(spin)
{
	while (pfs_load_relaxed(&world.x) == 0)
		pfs_yield();
}
PFS_BODY(spin_hard)
{
	while (pfs_load_relaxed(&world.x) == 0)
		continue;
}
PFS_BODY(wake)
{
	pfs_store_relaxed(&world.x, 1);
}

static void test_cut(enum pfs_search_kind kind)
{
	const struct pfs_search_options options = { .kind = kind };
	(void)search(&pfs_model_sc, &options, spin_hard, NULL, 0);
	pfs_expect(!result.failed && result.incomplete == 1 && !result.complete,
		   "an execution that met the bound on steps is not a pass");
	for (uint32_t model = 0; model < PFS_MEMORY_MODELS; model++) {
		(void)search(pfs_memory_models[model], &options, spin_hard, wake, 0);
		pfs_expect(!result.failed && result.executions > result.incomplete &&
				   result.incomplete != 0 && !result.complete,
			   "the search goes on behind one that met the bound");
	}
}

static void test_yields(void)
{
	struct pfs_search_options options = { .kind = PFS_SEARCH_ALL };
	for (uint32_t model = 0; model < PFS_MEMORY_MODELS; model++) {
		(void)search(pfs_memory_models[model], &options, spin, wake, 0);
		pfs_expect(!result.failed && result.executions > 1 && result.executions < 4 &&
				   result.complete && result.steps <= 5 * result.executions,
			   "who yields reads something newer next");
	}
	const struct pfs_scenario crowd = {
		.name = "crowd", .setup = setup, .finish = finish, .context = &world
	};
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	world.threads = 33;
	options = (struct pfs_search_options){ .kind = PFS_SEARCH_DPOR, .execution_max = 10 };
	(void)pfs_search(machine, &crowd, &options, &result);
	pfs_expect(result.refusal != NULL && !result.complete, "a refused search knows nothing");
	options.kind = PFS_SEARCH_ALL;
	(void)pfs_search(machine, &crowd, &options, &result);
	pfs_expect(result.refusal == NULL && result.executions == 10, "sleep sets take over");
	pfs_machine_destroy(machine);
}

PFS_BODY(look_often)
{
	for (uint32_t i = 0; i < PFS_VIEWS_REPEATS_MAX + 2; i++)
		world.seen += pfs_load_relaxed(&world.x) == 0;
}
PFS_BODY(wake_and_look)
{
	pfs_store_relaxed(&world.x, 1);
	(void)pfs_load_relaxed(&world.wide);
}

/* The reader of the second store reads after the first one, whatever the order of classes. */
PFS_BODY(wake_and_tell)
{
	pfs_store_relaxed(&world.x, 1);
	pfs_store_relaxed(&world.wide, 1);
}
PFS_BODY(hear_and_look)
{
	if (pfs_load_relaxed(&world.wide) == 1)
		look_often(NULL);
}

/* Metrics write at once, and are seen at once. */
PFS_BODY(write_quietly)
{
	(void)pfs_load_relaxed(&world.x);
	pfs_sim_quiet();
	pfs_store_relaxed(&world.x, 7);
	pfs_sim_loud();
	world.seen = pfs_load_relaxed(&world.x);
}

PFS_BODY(read_part)
{
	(void)pfs_load_relaxed(&world.wide);
	(void)pfs_sim_load(&world.wide, 4, PFS_SIM_RELAXED, PFS_SIM_PLACE("its half"));
}

static void test_views(enum pfs_search_kind kind)
{
	const struct pfs_search_options options = { .kind = kind };
	const struct pfs_memory_model *views = &pfs_model_views;
	(void)search(views, &options, hear_and_look, wake_and_tell, 0);
	pfs_expect(!result.failed && result.incomplete == 0 && !result.complete,
		   "an old value that was read too often cuts the search");
	(void)search(views, &options, look_often, wake_and_look, 0);
	pfs_expect(!result.failed && result.complete == (kind == PFS_SEARCH_DPOR),
		   "but not where it may as well have been read before there was a newer one");
	pfs_expect(search(views, &options, write_quietly, wake_and_look, 0) == 0 &&
			   search(views, &options, write_quietly, NULL, 7) == 1 &&
			   result.complete && result.executions == 1,
		   "nobody misses what a quiet store wrote");
	(void)search(views, &options, read_part, wake, 0);
	pfs_expect(result.failed && strstr(result.message, "sizes of 8 and 4 bytes") != NULL,
		   "a word is accessed as a whole");
}

/* ---- await ---- */

static enum pfs_sim_order await_order;
static uint32_t await_bytes;

static bool is_equal(uint64_t value, uint64_t wanted)
{
	return value == wanted;
}
PFS_BODY(send)
{
	pfs_store_relaxed(&world.x, 1);
	pfs_store_release(&world.wide, 1);
}
PFS_BODY(await_and_look)
{
	(void)pfs_machine_await(&world.wide, 8, await_order, is_equal, 1);
	world.seen = 1 + (pfs_load_relaxed(&world.x) == 0);
}
PFS_BODY(send_twice)
{
	pfs_store_relaxed(&world.x, 1);
	pfs_store_relaxed(&world.x, 2);
	pfs_store_relaxed(&world.wide, 1);
}
PFS_BODY(await_old)
{
	if (pfs_load_relaxed(&world.wide) == 0)
		return;
	world.seen = (uint32_t)pfs_machine_await(&world.x, 4, PFS_SIM_RELAXED, is_equal, 1);
}

static uint64_t filled(uint32_t bytes)
{
	return UINT64_C(0xF1E2D3C4B5A69788) >> (8 - bytes) * 8;
}
PFS_BODY(store_bytes)
{
	pfs_sim_store(&world.wide, await_bytes, filled(await_bytes), PFS_SIM_RELEASE,
		      PFS_SIM_PLACE("wide"));
}
PFS_BODY(await_some)
{
	uint64_t found = pfs_machine_await(&world.wide, await_bytes, PFS_SIM_RELAXED, is_equal,
					   filled(await_bytes));
	world.seen = found == filled(await_bytes) ? await_bytes : 0;
}

static void test_await(enum pfs_search_kind kind)
{
	struct pfs_search_options options = { .kind = kind };
	for (uint32_t model = 0; model < PFS_MEMORY_MODELS; model++) {
		const struct pfs_memory_model *mode = pfs_memory_models[model];
		await_order = PFS_SIM_RELAXED;
		uint64_t stale = search(mode, &options, send, await_and_look, 2);
		pfs_expect((stale != 0) == mode->keeps_old && result.complete,
			   "who awaits by a relaxed load may see what is stale");
		await_order = PFS_SIM_ACQUIRE;
		pfs_expect(search(mode, &options, send, await_and_look, 2) == 0 &&
				   search(mode, &options, send, await_and_look, 1) != 0 &&
				   result.complete,
			   "and by an acquire never");
		for (await_bytes = 1; await_bytes <= 8; await_bytes++)
			pfs_expect(search(mode, &options, store_bytes, await_some, await_bytes) !=
						   0 &&
					   result.complete && !result.failed,
				   "a word of any width is awaited");
	}
	pfs_expect(search(&pfs_model_views, &options, send_twice, await_old, 1) != 0 &&
			   result.complete && !result.failed,
		   "an await may return what is no longer the newest");
	(void)search(&pfs_model_sc, &options, send_twice, await_old, 1);
	pfs_expect(result.failed && result.end == PFS_END_DEADLOCK, "but not where all see that");
	options = (struct pfs_search_options){ .kind = PFS_SEARCH_ROTATE, .execution_max = 900 };
	pfs_expect(search(&pfs_model_views, &options, send_twice, await_old, 1) != 0 &&
			   !result.failed,
		   "random searches find that, too");
}

PFS_BODY(claim_old)
{
	uint32_t seen = 0;
	(void)pfs_cas_relaxed(&world.x, &seen, 2);
}

/* What a search says about how much it searched. */
static bool says(const struct pfs_memory_model *model, enum pfs_search_kind kind, bool append_only,
		 void (*second)(void *), const char *text)
{
	const struct pfs_search_options options = {
		.kind = kind, .append_only = append_only, .preemption_max = 9, .execution_max = 1000
	};
	(void)search(model, &options, wake, second, 0);
	return strcmp(pfs_search_extent(&options, &result), text) == 0;
}

static void test_extent(void)
{
	static const char all[] = "all there are", append[] = "all in which writes only append";
	const struct pfs_memory_model *sc = &pfs_model_sc, *views = &pfs_model_views;
	pfs_expect(says(sc, PFS_SEARCH_BOUNDED, false, wake, all),
		   "a bound that leaves nothing out");
	pfs_expect(says(views, PFS_SEARCH_DPOR, false, wake, all) &&
			   says(views, PFS_SEARCH_SLEEP, false, wake, all),
		   "writes are put behind later ones");
	pfs_expect(says(views, PFS_SEARCH_DPOR, true, wake, append) &&
			   says(views, PFS_SEARCH_SLEEP, true, wake, append),
		   "a search that only appends says so");
	pfs_expect(says(views, PFS_SEARCH_DPOR, true, claim_old, append) &&
			   says(views, PFS_SEARCH_SLEEP, true, claim_old, append),
		   "a compare-and-swap that succeeds on an old value does not append");
	pfs_expect(!says(views, PFS_SEARCH_DPOR, true, look_often, all) && !result.bounded,
		   "a load of an old value is no write");
	pfs_expect(says(sc, PFS_SEARCH_RANDOM, false, wake, "not all there are"),
		   "a random search never says that there is no more");
}

/* Three reads: it fails if one of them is old, and, with another message, if all are. */
PFS_BODY(look_thrice)
{
	for (uint32_t i = 0; i < 3; i++)
		world.seen += pfs_load_relaxed(&world.x) == 0;
}

static void judge(struct pfs_machine *unused, void *context)
{
	const struct world *self = context;
	(void)unused;
	if (self->seen == 1)
		pfs_machine_fail("%u old", self->seen);
	if (self->seen == 3)
		pfs_machine_fail("all old");
}

/* A failing schedule is not shortened to one that fails for another reason. */
static void test_shrink(void)
{
	const struct pfs_scenario scenario = {
		.name = "world", .setup = setup, .finish = judge, .context = &world
	};
	static const struct pfs_segment segments[] = { { 0, 1 }, { 1, 1 }, { 0, 2 } };
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	struct pfs_given given;
	world.bodies[0] = look_thrice, world.bodies[1] = wake;
	world.threads = 2;
	pfs_given_init(&given, segments, 3);
	memset(&result, 0, sizeof(result));
	result.end = pfs_scenario_run(&scenario, machine, &given.scheduler);
	result.failed = result.end == PFS_END_FAILED;
	memcpy(result.message, machine->run.message, sizeof(result.message));
	memcpy(result.segments, segments, sizeof(segments));
	result.segment_count = 3;
	pfs_expect(result.failed && strcmp(result.message, "1 old") == 0, "it fails as it should");
	pfs_expect(pfs_search_shrink(machine, &scenario, &result) > 0 &&
			   strcmp(result.message, "1 old") == 0 && result.segment_count == 3,
		   "it still fails the same way");
	pfs_machine_destroy(machine);
}

int main(void)
{
	test_cut(PFS_SEARCH_SLEEP);
	test_cut(PFS_SEARCH_DPOR);
	test_yields();
	test_views(PFS_SEARCH_SLEEP);
	test_views(PFS_SEARCH_DPOR);
	test_await(PFS_SEARCH_SLEEP);
	test_await(PFS_SEARCH_DPOR);
	test_extent();
	test_shrink();
	return pfs_expect_report();
}
