/*
 * model_tso.c - store buffers.
 *
 * A store that is not seq waits in its thread's buffer, where the thread's own loads find it; it
 * reaches memory when the scheduler drains it. A seq store, compare-and-swap, exchange, fetch-add,
 * the mutex and unmap wait until the buffer is empty, as locked instructions and system calls do.
 * This is x86-64's model, except that plain (non-atomic) stores are not buffered here. C11 allows
 * every execution.
 */
#include <stdlib.h>
#include <string.h>

#include "check/machine/model.h"

static bool thread_init(struct pfs_vthread *thread)
{
	thread->buffer = calloc(PFS_BUFFER_MAX, sizeof(*thread->buffer));
	return thread->buffer != NULL;
}

static void thread_fini(struct pfs_vthread *thread)
{
	free(thread->buffer);
}

/* The thread's newest store to the address that has not reached memory, or NULL. */
static const struct pfs_buffered *newest(const struct pfs_vthread *thread, const void *address)
{
	for (uint32_t i = thread->buffer_count; i-- > 0;) {
		const struct pfs_buffered *entry =
			&thread->buffer[(thread->buffer_first + i) % PFS_BUFFER_MAX];
		if (entry->address == address)
			return entry;
	}
	return NULL;
}

static uint64_t peek(const struct pfs_vthread *thread, const struct pfs_sim_operation *operation,
		     uint32_t choice)
{
	const struct pfs_buffered *own = newest(thread, operation->address);
	(void)choice;
	return own != NULL ? own->value
			   : pfs_model_bytes(operation->address, operation->size_bytes);
}

static bool can(const struct pfs_machine *machine, const struct pfs_vthread *thread,
		uint32_t choice)
{
	const struct pfs_sim_operation *next = &thread->pending;
	if (choice != 0)
		return false;
	if (next->kind == PFS_SIM_AWAIT)
		return pfs_model_may_return(next, peek(thread, next, 0));
	if (next->kind == PFS_SIM_BARRIER)
		return machine->threads[next->operand]->buffer_count == 0;
	if (pfs_model_buffers(machine, next))
		return thread->buffer_count < PFS_BUFFER_MAX;
	return next->kind == PFS_SIM_LOAD || next->kind == PFS_SIM_NOTE ||
	       thread->buffer_count == 0;
}

/* A store into the buffer carries the clock of this moment, not of when it reaches memory. */
static void buffer_store(struct pfs_machine *machine, struct pfs_vthread *thread,
			 const struct pfs_step *step)
{
	const struct pfs_sim_operation *operation = &step->operation;
	uint32_t last = (thread->buffer_first + thread->buffer_count++) % PFS_BUFFER_MAX;
	thread->buffer[last] =
		(struct pfs_buffered){ operation->address,
				       step->written,
				       operation->size_bytes,
				       machine->run.step_count,
				       operation->place,
				       pfs_order_releases(operation->order) && machine->run.watching
					       ? pfs_clock_release(&machine->clocks, thread->id)
					       : pfs_fences_released(machine, thread->id) };
}

static void execute(struct pfs_machine *machine, struct pfs_vthread *thread, struct pfs_step *step,
		    uint32_t choice)
{
	const struct pfs_sim_operation *operation = &step->operation;
	step->source = PFS_STEP_NONE;
	if (!pfs_model_has_bytes(operation))
		return;
	const struct pfs_buffered *own = newest(thread, operation->address);
	step->seen = peek(thread, operation, choice);
	if (own != NULL)
		step->source = own->step;
	step->wrote = pfs_model_result(operation, thread->id, step->seen, &step->written);
	if (pfs_model_buffers(machine, operation)) {
		buffer_store(machine, thread, step);
		return;
	}
	if (machine->run.watching && own == NULL)
		pfs_model_synchronise(machine, thread->id, step);
	if (step->wrote)
		pfs_model_put(operation, step->written);
}

static struct pfs_sim_operation oldest(const struct pfs_vthread *thread)
{
	const struct pfs_buffered *entry = &thread->buffer[thread->buffer_first];
	if (thread->buffer_count == 0)
		return (struct pfs_sim_operation){ .kind = PFS_SIM_YIELD };
	return (struct pfs_sim_operation){
		entry->address, entry->value,    0, entry->place, entry->size_bytes,
		PFS_SIM_DRAIN,  PFS_SIM_RELAXED, 0
	};
}

static void drain(struct pfs_machine *machine, struct pfs_vthread *thread, struct pfs_step *step)
{
	const struct pfs_buffered *entry = &thread->buffer[thread->buffer_first];
	step->operation = oldest(thread);
	step->thread = thread->id;
	step->source = entry->step;
	step->seen = pfs_model_bytes(step->operation.address, step->operation.size_bytes);
	step->written = step->operation.operand;
	step->wrote = true;
	memcpy(step->operation.address, &step->written, step->operation.size_bytes);
	if (machine->run.watching)
		pfs_clock_carry(&machine->clocks, step->operation.address, entry->clock);
	thread->buffer_first = (thread->buffer_first + 1) % PFS_BUFFER_MAX;
	thread->buffer_count--;
}

/* clang-format off */
const struct pfs_memory_model pfs_model_tso = {
	.name = "tso", .buffers = true,
	.thread_init = thread_init, .thread_fini = thread_fini,
	.can = can, .peek = peek, .execute = execute,
	.oldest = oldest, .drain = drain
};
/* clang-format on */
