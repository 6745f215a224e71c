#include "sim/machine/model.h"

#include <string.h>

#include "sim/machine/depends.h"

uint64_t pfs_model_bytes(const void *address, uint32_t size_bytes)
{
	uint64_t value = 0;
	memcpy(&value, address, size_bytes); /* little endian */
	return value;
}

static uint64_t cut(uint64_t value, uint32_t size_bytes)
{
	return size_bytes >= 8 ? value : value & ((UINT64_C(1) << size_bytes * 8) - 1);
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

uint64_t pfs_model_peek(const struct pfs_vthread *thread,
			const struct pfs_sim_operation *operation)
{
	const struct pfs_buffered *own =
		thread != NULL ? newest(thread, operation->address) : NULL;
	return own != NULL ? own->value
			   : pfs_model_bytes(operation->address, operation->size_bytes);
}

bool pfs_model_is_ready(const struct pfs_machine *self, const struct pfs_vthread *thread)
{
	const struct pfs_sim_operation *next = &thread->pending;
	if (next->kind == PFS_SIM_YIELD)
		return thread->looks.news;
	if (next->kind == PFS_SIM_LOCK && pfs_model_bytes(next->address, 4) != 0)
		return false;
	if (next->kind == PFS_SIM_AWAIT && self->model != PFS_MACHINE_VIEWS)
		return pfs_model_may_return(next, pfs_model_peek(thread, next));
	if (self->model != PFS_MACHINE_TSO)
		return true;
	if (next->kind == PFS_SIM_BARRIER)
		return self->threads[next->operand]->buffer_count == 0;
	if (pfs_model_buffers(self, next))
		return thread->buffer_count < PFS_BUFFER_MAX;
	return next->kind == PFS_SIM_LOAD || next->kind == PFS_SIM_NOTE ||
	       thread->buffer_count == 0;
}

bool pfs_model_may_return(const struct pfs_sim_operation *operation, uint64_t value)
{
	pfs_machine_predicate *holds = (pfs_machine_predicate *)(uintptr_t)operation->expected;
	return operation->kind != PFS_SIM_AWAIT || holds(value, operation->operand);
}

static bool result_of(const struct pfs_sim_operation *operation, uint32_t id, uint64_t seen,
		      uint64_t *written)
{
	switch (operation->kind) {
	case PFS_SIM_STORE:
	case PFS_SIM_EXCHANGE: *written = operation->operand; return true;
	case PFS_SIM_ADD: *written = seen + operation->operand; return true;
	case PFS_SIM_OR: *written = seen | operation->operand; return true;
	case PFS_SIM_XOR: *written = seen ^ operation->operand; return true;
	case PFS_SIM_NAND: *written = ~(seen & operation->operand); return true;
	case PFS_SIM_AND: *written = seen & operation->operand; return true;
	case PFS_SIM_CAS: *written = operation->operand; return seen == operation->expected;
	case PFS_SIM_LOCK:
	case PFS_SIM_TRY_LOCK: *written = id + 1; return seen == 0;
	case PFS_SIM_UNLOCK: *written = 0; return true;
	default: return false;
	}
}

bool pfs_model_result(const struct pfs_sim_operation *operation, uint32_t id, uint64_t seen,
		      uint64_t *written)
{
	bool writes = result_of(operation, id, seen, written);
	if (writes)
		*written = cut(*written, operation->size_bytes);
	return writes;
}

static bool has_bytes(const struct pfs_sim_operation *operation)
{
	return operation->kind != PFS_SIM_YIELD && operation->kind != PFS_SIM_NOTE &&
	       operation->kind != PFS_SIM_UNMAP && operation->kind != PFS_SIM_BARRIER &&
	       operation->kind != PFS_SIM_FENCE;
}

/* A store into the buffer carries the clock of now, not of when it reaches memory. */
static void buffer_store(struct pfs_machine *self, struct pfs_vthread *thread,
			 const struct pfs_step *step)
{
	const struct pfs_sim_operation *operation = &step->operation;
	uint32_t last = (thread->buffer_first + thread->buffer_count++) % PFS_BUFFER_MAX;
	thread->buffer[last] = (struct pfs_buffered){
		operation->address, step->written, operation->size_bytes, self->step_count,
		operation->place,
		pfs_order_releases(operation->order) && self->watching
			? pfs_clock_release(&self->clocks, thread->id)
			: pfs_fences_released(self, thread->id)
	};
}

/* Happens-before, where memory holds one value at a time. */
static void synchronise(struct pfs_machine *self, uint32_t thread, const struct pfs_step *step)
{
	struct pfs_clocks *clocks = &self->clocks;
	const void *address = step->operation.address;
	uint8_t kind = step->operation.kind, order = pfs_order_of(&step->operation, step->wrote);
	const uint32_t *carried = pfs_clock_carried(clocks, address);
	if (kind != PFS_SIM_STORE && kind != PFS_SIM_UNLOCK && pfs_order_acquires(order))
		pfs_clock_acquire(clocks, thread, carried);
	else if (kind != PFS_SIM_STORE && kind != PFS_SIM_UNLOCK)
		pfs_fences_read(self, thread, carried, NULL);
	if (!step->wrote)
		return;
	carried = pfs_kind_is_rmw(kind) ? carried : NULL;
	if (pfs_order_releases(order))
		carried = pfs_clock_join(clocks, carried, pfs_clock_release(clocks, thread));
	else
		carried = pfs_clock_join(clocks, carried, pfs_fences_released(self, thread));
	pfs_clock_carry(clocks, address, carried);
}

static void execute_views(struct pfs_machine *self, struct pfs_vthread *thread,
			  struct pfs_step *step)
{
	if (has_bytes(&step->operation))
		pfs_views_execute(self, thread, step, self->choice);
	else if (step->operation.kind == PFS_SIM_BARRIER)
		pfs_views_fence(self, (uint32_t)step->operation.operand);
	else if (step->operation.kind == PFS_SIM_YIELD)
		pfs_views_yield(self, thread);
	else if (step->operation.kind == PFS_SIM_NOTE && step->operation.operand != 0)
		pfs_views_tick(self, thread->id, step->operation.operand == PFS_NOTE_BEGIN);
}

void pfs_model_execute(struct pfs_machine *self, struct pfs_vthread *thread,
		       struct pfs_step *step)
{
	const struct pfs_sim_operation *operation = &step->operation;
	step->source = PFS_STEP_NONE;
	if (self->model == PFS_MACHINE_VIEWS) {
		execute_views(self, thread, step);
		return;
	}
	if (!has_bytes(operation))
		return;
	const struct pfs_buffered *own = newest(thread, operation->address);
	step->seen = pfs_model_peek(thread, operation);
	if (own != NULL)
		step->source = own->step;
	step->wrote = pfs_model_result(operation, thread->id, step->seen, &step->written);
	if (pfs_model_buffers(self, operation)) {
		buffer_store(self, thread, step);
		return;
	}
	if (self->watching && own == NULL)
		synchronise(self, thread->id, step);
	if (step->wrote)
		memcpy(operation->address, &step->written, operation->size_bytes);
}

uint64_t pfs_model_at_once(struct pfs_vthread *thread, const struct pfs_sim_operation *operation)
{
	uint64_t written = 0;
	if (!has_bytes(operation))
		return 0;
	/* Nobody runs meanwhile: there is nothing to exclude; and a thread may hold the mutex. */
	if (operation->kind == PFS_SIM_LOCK || operation->kind == PFS_SIM_TRY_LOCK ||
	    operation->kind == PFS_SIM_UNLOCK)
		return 0;
	uint64_t seen = pfs_model_peek(thread, operation);
	if (pfs_model_result(operation, 0, seen, &written))
		memcpy(operation->address, &written, operation->size_bytes);
	return seen;
}

struct pfs_sim_operation pfs_model_oldest(const struct pfs_vthread *thread)
{
	const struct pfs_buffered *entry = &thread->buffer[thread->buffer_first];
	if (thread->buffer_count == 0)
		return (struct pfs_sim_operation){ .kind = PFS_SIM_YIELD };
	return (struct pfs_sim_operation){ entry->address,    entry->value, 0, entry->place,
					   entry->size_bytes, PFS_SIM_DRAIN, PFS_SIM_RELAXED, 0 };
}

void pfs_model_drain(struct pfs_machine *self, struct pfs_vthread *thread, struct pfs_step *step)
{
	const struct pfs_buffered *entry = &thread->buffer[thread->buffer_first];
	step->operation = pfs_model_oldest(thread);
	step->thread = thread->id;
	step->source = entry->step;
	step->seen = pfs_model_bytes(step->operation.address, step->operation.size_bytes);
	step->written = step->operation.operand;
	step->wrote = true;
	memcpy(step->operation.address, &step->written, step->operation.size_bytes);
	if (self->watching)
		pfs_clock_carry(&self->clocks, step->operation.address, entry->clock);
	thread->buffer_first = (thread->buffer_first + 1) % PFS_BUFFER_MAX;
	thread->buffer_count--;
}
