/*
 * rewind_test.c - a search that rewinds by snapshots makes the same executions, with the same ends,
 * as one that restarts each of them.
 */
#include <stdio.h>
#include <string.h>

#include "sim/cases/cases.h"
#include "check/machine/model.h"
#include "check/search/states.h"
#include "check/tests/program.h"

#define PROGRAMS 150u /* of each memory */
#define EXECUTIONS_MAX 250u

static int failures;

/* What a search has seen. */
struct seen {
	uint64_t executions, redundant, incomplete, steps;
	uint64_t ends;       /* of all executions, in order; a hash */
	uint64_t counted[3]; /* by a case, over all executions */
	uint64_t failed, segments;
};

static uint64_t ends;

static void program_finish(struct pfs_machine *machine, void *context)
{
	const struct pfs_program *self = context;
	ends = pfs_states_mix_words(pfs_states_mix(ends, machine->run.step_count), self->seen,
				    sizeof(self->seen));
	ends = pfs_states_mix_words(ends, (const void *)self->slots, sizeof(self->slots));
}

static void program_keep(struct pfs_machine_snapshot *snapshot, void *context)
{
	pfs_snapshot_put(snapshot, context, sizeof(struct pfs_program));
}

static struct seen search(struct pfs_machine *machine, const struct pfs_scenario *scenario,
			  struct pfs_case *counting)
{
	struct pfs_search_options options = { .kind = PFS_SEARCH_DPOR,
					      .execution_max = EXECUTIONS_MAX };
	static struct pfs_search_result result;
	ends = 0;
	if (counting != NULL)
		counting->fulls = counting->reads = counting->reclaimed = 0;
	(void)pfs_search(machine, scenario, &options, &result);
	struct seen seen = { result.executions,
			     result.redundant,
			     result.incomplete,
			     result.steps,
			     ends,
			     { 0 },
			     result.failed,
			     result.segment_count };
	if (counting != NULL) {
		seen.counted[0] = counting->fulls;
		seen.counted[1] = counting->reads;
		seen.counted[2] = counting->reclaimed;
	}
	return seen;
}

static void compare(const struct pfs_memory_model *model, const char *name,
		    const struct pfs_scenario *scenario, struct pfs_case *counting)
{
	struct pfs_scenario plain = *scenario;
	struct seen anew, back;
	plain.keep_whole = NULL;
	struct pfs_machine *machine = pfs_machine_create(model);
	anew = search(machine, &plain, counting);
	back = search(machine, scenario, counting);
	pfs_machine_destroy(machine);
	if (memcmp(&anew, &back, sizeof(anew)) == 0)
		return;
	failures++;
	(void)printf("FAILED: %s, memory %s: %llu executions of %llu steps anew, %llu of %llu by "
		     "snapshots, %s ends and %s counts\n",
		     name, model->name, (unsigned long long)anew.executions,
		     (unsigned long long)anew.steps, (unsigned long long)back.executions,
		     (unsigned long long)back.steps, anew.ends != back.ends ? "other" : "the same",
		     memcmp(anew.counted, back.counted, sizeof(anew.counted)) != 0 ? "other"
										   : "the same");
}

static void try_programs(const struct pfs_memory_model *model, uint64_t random)
{
	const struct pfs_scenario scenario = { .name = "random",
					       .setup = pfs_program_setup,
					       .finish = program_finish,
					       .keep_whole = program_keep,
					       .context = &pfs_program };
	for (uint32_t i = 0; i < PROGRAMS && failures < 5; i++) {
		pfs_program_yields = i % 3 == 1;
		pfs_program_half_seq = i % 2 == 1;
		pfs_program_draw(&random, model);
		int before = failures;
		compare(model, "random program", &scenario, NULL);
		if (failures != before)
			pfs_program_print();
	}
}

/* With pages that are added and given back, plain accesses, answers of full, and reads. */
static void try_case(const struct pfs_memory_model *model, const char *policy, const char *name)
{
	static struct pfs_case self;
	struct pfs_scenario scenario;
	const char *fault = pfs_case_init(&self, name, pfs_variant_find(policy), &scenario);
	if (fault != NULL) {
		failures++;
		(void)printf("FAILED: %s: %s\n", name, fault);
		return;
	}
	compare(model, name, &scenario, &self);
}

int main(void)
{
	static const char *const cases[] = {
		"churn", "full", "growth", "handoff", "levels", "word"
	};
	static const char *const reclaiming[] = { "reclaim", "read", "section", "newpage" };
	for (uint32_t at = 0; at < PFS_MEMORY_MODELS; at++) {
		const struct pfs_memory_model *model = pfs_memory_models[at];
		try_programs(model, 7 + at);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			try_case(model, i % 2 == 0 ? "exact" : "magazine", cases[i]);
		for (size_t i = 0; i < sizeof(reclaiming) / sizeof(reclaiming[0]); i++)
			try_case(model, "exact", reclaiming[i]);
		try_case(model, "original", "token"); /* fails */
	}
	if (failures == 0)
		(void)printf("the same by snapshots\n");
	return failures != 0;
}
