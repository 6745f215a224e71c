/*
 * model_sc.c - sequential consistency: memory holds one value, and all threads see every operation
 * at once.
 */
#include <string.h>

#include "check/machine/model.h"

static uint64_t peek(const struct pfs_vthread *thread, const struct pfs_sim_operation *operation,
		     uint32_t choice)
{
	(void)thread, (void)choice;
	return pfs_model_bytes(operation->address, operation->size_bytes);
}

static bool can(const struct pfs_machine *machine, const struct pfs_vthread *thread,
		uint32_t choice)
{
	const struct pfs_sim_operation *next = &thread->pending;
	(void)machine;
	return choice == 0 &&
	       (next->kind != PFS_SIM_AWAIT || pfs_model_may_return(next, peek(thread, next, 0)));
}

static void execute(struct pfs_machine *machine, struct pfs_vthread *thread, struct pfs_step *step,
		    uint32_t choice)
{
	const struct pfs_sim_operation *operation = &step->operation;
	step->source = PFS_STEP_NONE;
	if (!pfs_model_has_bytes(operation))
		return;
	step->seen = peek(thread, operation, choice);
	step->wrote = pfs_model_result(operation, thread->id, step->seen, &step->written);
	if (machine->run.watching)
		pfs_model_synchronise(machine, thread->id, step);
	if (step->wrote)
		pfs_model_put(operation, step->written);
}

const struct pfs_memory_model pfs_model_sc = {
	.name = "sc", .can = can, .peek = peek, .execute = execute
};
