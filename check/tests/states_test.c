/*
 * states_test.c - compares the search by states with the naive one: on a thousand random programs
 * its executions end in the same ways.
 */
#include <stdio.h>

#include "check/tests/expect.h"
#include "check/tests/program.h"
#include "check/search/search.h"
#include "check/search/states.h"

#define RANDOM_PROGRAMS 600u
#define RANDOM_SEED 20260102
#define NAIVE_MAX 2000u

static struct pfs_hash_table ends; /* what executions ended with; hashes */
static uint64_t end_sum;
static bool knows; /* an end includes what threads have seen */
static struct pfs_search_result result;

static uint64_t known(struct pfs_machine *machine, void *context)
{
	const struct pfs_program *self = context;
	uint64_t sum = 0;
	(void)machine;
	for (uint32_t i = 0; knows && i < 3; i++)
		sum = pfs_states_mix(sum, self->seen[i]);
	return sum;
}

static void leave(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
}

static void keep(struct pfs_machine_snapshot *snapshot, void *context)
{
	pfs_snapshot_put(snapshot, context, sizeof(struct pfs_program));
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct pfs_program *self = context;
	uint64_t sum = pfs_states_mix(known(machine, self), self->token * 8 + machine->run.end);
	uint32_t count = ends.count;
	for (uint32_t i = 0; i < 4; i++)
		sum = pfs_states_mix(sum, pfs_load_relaxed(&self->slots[i]));
	if (pfs_table_add(&ends, sum) == count)
		end_sum += sum;
}

/* A deadlock is an end like any other. */
static void settle(struct pfs_machine *machine, void *context)
{
	struct pfs_program *self = context;
	self->token += machine->run.end == PFS_END_DEADLOCK ? 100 : 0;
	if (machine->run.end == PFS_END_DEADLOCK)
		machine->run.end = PFS_END_DONE;
}

/* clang-format off */
static const struct pfs_scenario scenario = {
	.name = "program", .setup = pfs_program_setup, .finish = finish, .context = &pfs_program,
	.settle = settle, .known = known, .leave = leave, .keep = keep
};
/* clang-format on */

static void search(const struct pfs_memory_model *model, enum pfs_search_kind kind, uint64_t most)
{
	struct pfs_machine *machine = pfs_machine_create(model);
	struct pfs_search_options options = { .kind = kind, .execution_max = most };
	pfs_table_clear(&ends);
	end_sum = 0;
	machine->setup.watch = machine->setup.drains_end = false;
	(void)pfs_search(machine, &scenario, &options, &result);
	pfs_machine_destroy(machine);
}

/* The ends of all executions are those of the naive search: the memory, and in every second program
 * also what threads have seen on the way. */
static void random_programs(const struct pfs_memory_model *model, const char *name)
{
	uint64_t random = RANDOM_SEED, paths[2] = { 0 }, states = 0, different = 0;
	uint32_t compared = 0;
	for (uint32_t n = 0; n < RANDOM_PROGRAMS && pfs_failures == 0; n++) {
		pfs_program_draw(&random, model);
		knows = n % 2 != 0;
		search(model, PFS_SEARCH_NAIVE, NAIVE_MAX);
		if (!result.complete)
			continue;
		uint64_t naive = result.executions, sum = end_sum;
		uint32_t count = ends.count;
		search(model, PFS_SEARCH_STATES, 0);
		pfs_expect(result.refusal == NULL && result.complete, "states, to the end");
		pfs_expect(end_sum == sum && ends.count == count,
			   "random program, states: the ends of the naive search");
		if (pfs_failures != 0)
			pfs_program_print();
		compared++;
		paths[0] += naive, paths[1] += result.executions + result.redundant;
		states += result.states, different += count;
	}
	(void)printf("%s: %u random programs: naive %llu executions, by states %llu paths, %llu "
		     "states, %llu ends\n",
		     name, compared, (unsigned long long)paths[0], (unsigned long long)paths[1],
		     (unsigned long long)states, (unsigned long long)different);
	pfs_expect(compared > RANDOM_PROGRAMS / 3, "random programs are of use");
}

int main(void)
{
	random_programs(&pfs_model_sc, "sc");
	random_programs(&pfs_model_tso, "tso");
	pfs_table_fini(&ends);
	return pfs_expect_report();
}
