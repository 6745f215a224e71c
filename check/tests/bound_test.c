/*
 * bound_test.c - a bound on preemptions is a guarantee: the search executes each schedule within
 * it. They are counted among all schedules of programs that never wait.
 */
#include <string.h>

#include "check/machine/atomic_backend.h"
#include "check/machine/actors.h"
#include "check/tests/expect.h"
#include "check/search/search.h"

static struct world {
	_Atomic(uint32_t) x, y;
	uint32_t threads;
	void (*bodies[3])(void *);
	uint64_t with_preemptions[16]; /* executions */
} world;

static void setup(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	pfs_store_relaxed(&self->x, 0);
	pfs_store_relaxed(&self->y, 0);
	for (uint32_t i = 0; i < self->threads; i++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[i], self);
}

/* How often another thread went on although this one had not ended. Drains belong to no thread. */
static uint32_t preemptions_of(const struct pfs_machine *machine)
{
	uint32_t left[3] = { 0 }, last = PFS_THREAD_NONE, count = 0;
	for (uint32_t step = 0; step < machine->run.step_count; step++) {
		struct pfs_actor actor = pfs_actor_of(machine, machine->run.schedule[step]);
		left[actor.thread] += actor.kind == PFS_ACTOR_STEP;
	}
	for (uint32_t step = 0; step < machine->run.step_count; step++) {
		struct pfs_actor actor = pfs_actor_of(machine, machine->run.schedule[step]);
		if (actor.kind != PFS_ACTOR_STEP)
			continue;
		count += last != PFS_THREAD_NONE && last != actor.thread && left[last] != 0;
		left[actor.thread]--;
		last = actor.thread;
	}
	return count;
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	self->with_preemptions[preemptions_of(machine) % 16]++;
}

PFS_BODY(add_twice)
{
	(void)pfs_fetch_add_relaxed(&world.x, 1);
	(void)pfs_fetch_add_relaxed(&world.y, 1);
	(void)pfs_load_relaxed(&world.x);
}
PFS_BODY(add_badly)
{
	pfs_store_relaxed(&world.x, pfs_load_relaxed(&world.x) + 1);
}
PFS_BODY(send)
{
	pfs_store_relaxed(&world.x, 1);
	pfs_store_relaxed(&world.y, 1);
}
PFS_BODY(receive)
{
	(void)pfs_load_relaxed(&world.y);
	(void)pfs_load_relaxed(&world.x);
}

static void check(const struct pfs_memory_model *model, void (*a)(void *), void (*b)(void *),
		  void (*c)(void *))
{
	static struct pfs_search_result result;
	const struct pfs_scenario scenario = {
		.name = "bound", .setup = setup, .finish = finish, .context = &world
	};
	struct pfs_search_options options = { .kind = PFS_SEARCH_NAIVE };
	struct pfs_machine *machine = pfs_machine_create(model);
	uint64_t expected = 0, all[16];
	char says[64];
	world = (struct world){ .threads = c != NULL ? 3 : 2, .bodies = { a, b, c } };
	(void)pfs_search(machine, &scenario, &options, &result);
	memcpy(all, world.with_preemptions, sizeof(all));
	options.kind = PFS_SEARCH_BOUNDED;
	for (uint32_t bound = 0; bound < 3; bound++) {
		expected += all[bound];
		options.preemption_max = bound;
		(void)pfs_search(machine, &scenario, &options, &result);
		pfs_expect(result.executions == expected && expected != 0 && result.complete,
			   "a bound on preemptions leaves no schedule out that has so few");
		(void)snprintf(says, sizeof(says), "every schedule of up to %u preemptions", bound);
		pfs_expect(strcmp(pfs_search_extent(&options, &result),
				  result.bounded ? says : "all there are") == 0,
			   "and it says so");
		options.execution_max = 1;
		(void)pfs_search(machine, &scenario, &options, &result);
		pfs_expect(strcmp(pfs_search_extent(&options, &result), "not all there are") == 0,
			   "but not where it was cut");
		options.execution_max = 0;
	}
	pfs_machine_destroy(machine);
}

int main(void)
{
	check(&pfs_model_sc, add_twice, add_twice, NULL);
	check(&pfs_model_sc, add_badly, add_badly, add_badly);
	check(&pfs_model_tso, send, receive, NULL);
	check(&pfs_model_tso, send, receive, send);
	check(&pfs_model_views, send, receive, NULL);
	check(&pfs_model_views, add_badly, add_badly, NULL);
	return pfs_expect_report();
}
