#include "check/machine/model.h"

#include <string.h>

static uint64_t cut(uint64_t value, uint32_t size_bytes)
{
	return size_bytes >= 8 ? value : value & ((UINT64_C(1) << size_bytes * 8) - 1);
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

static bool result_of_wide(const struct pfs_sim_operation *operation, uint64_t *written)
{
	struct pfs_sim_wide *wide = (struct pfs_sim_wide *)(uintptr_t)operation->operand;
	memcpy(&wide->seen, operation->address, PFS_SIM_WIDE_BYTES);
	wide->wrote = true;
	switch (operation->kind) {
	case PFS_SIM_STORE:
	case PFS_SIM_EXCHANGE: wide->written = wide->operand; break;
	case PFS_SIM_ADD: wide->written = wide->seen + wide->operand; break;
	case PFS_SIM_OR: wide->written = wide->seen | wide->operand; break;
	case PFS_SIM_XOR: wide->written = wide->seen ^ wide->operand; break;
	case PFS_SIM_NAND: wide->written = ~(wide->seen & wide->operand); break;
	case PFS_SIM_AND: wide->written = wide->seen & wide->operand; break;
	case PFS_SIM_CAS:
		wide->written = wide->operand;
		wide->wrote = wide->seen == wide->expected;
		break;
	default: wide->wrote = false; break;
	}
	*written = (uint64_t)wide->written;
	return wide->wrote;
}

void pfs_model_put(const struct pfs_sim_operation *operation, uint64_t written)
{
	const struct pfs_sim_wide *wide = (struct pfs_sim_wide *)(uintptr_t)operation->operand;
	if (operation->size_bytes == PFS_SIM_WIDE_BYTES)
		memcpy(operation->address, &wide->written, PFS_SIM_WIDE_BYTES);
	else
		memcpy(operation->address, &written, operation->size_bytes);
}

bool pfs_model_result(const struct pfs_sim_operation *operation, uint32_t id, uint64_t seen,
		      uint64_t *written)
{
	if (operation->size_bytes == PFS_SIM_WIDE_BYTES)
		return result_of_wide(operation, written);
	bool writes = result_of(operation, id, seen, written);
	if (writes)
		*written = cut(*written, operation->size_bytes);
	return writes;
}

void pfs_model_synchronise(struct pfs_machine *self, uint32_t thread, const struct pfs_step *step)
{
	struct pfs_clocks *clocks = &self->clocks;
	const void *address = step->operation.address;
	uint8_t kind = step->operation.kind, order = pfs_order_of(&step->operation, step->wrote);
	const uint32_t *carried = pfs_clock_carried(clocks, address);
	if (kind != PFS_SIM_STORE && kind != PFS_SIM_UNLOCK && pfs_order_acquires(order))
		pfs_clock_acquire(clocks, thread, carried);
	else if (kind != PFS_SIM_STORE && kind != PFS_SIM_UNLOCK)
		(void)pfs_fences_read(self, thread, carried);
	if (!step->wrote)
		return;
	carried = pfs_kind_is_rmw(kind) ? carried : NULL;
	if (pfs_order_releases(order))
		carried = pfs_clock_join(clocks, carried, pfs_clock_release(clocks, thread));
	else
		carried = pfs_clock_join(clocks, carried, pfs_fences_released(self, thread));
	pfs_clock_carry(clocks, address, carried);
}

uint64_t pfs_model_at_once(struct pfs_vthread *thread, const struct pfs_sim_operation *operation)
{
	uint64_t written = 0;
	if (!pfs_model_has_bytes(operation))
		return 0;
	/* No thread runs meanwhile, so there is nothing to exclude; and a thread may hold the
	 * mutex. */
	if (operation->kind == PFS_SIM_LOCK || operation->kind == PFS_SIM_TRY_LOCK ||
	    operation->kind == PFS_SIM_UNLOCK)
		return 0;
	uint64_t seen = thread != NULL ? thread->machine->model->peek(thread, operation, 0)
				       : pfs_model_bytes(operation->address, operation->size_bytes);
	if (pfs_model_result(operation, 0, seen, &written))
		pfs_model_put(operation, written);
	return seen;
}
