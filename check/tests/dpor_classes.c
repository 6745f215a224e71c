#include "check/tests/dpor_classes.h"

#include "check/machine/depends.h"
#include "check/machine/actors.h"

void pfs_classes_clear(struct pfs_classes *self)
{
	pfs_table_clear(&self->table);
	self->sum = 0;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

static bool writes_memory(const struct pfs_machine *machine, const struct pfs_step *step)
{
	if (step->operation.kind == PFS_SIM_NOTE)
		return true;
	/* An operation that leaves a value unchanged is a load, if orders do not matter. */
	if (!machine->setup.watch && !machine->model->keeps_old && step->written == step->seen &&
	    step->operation.kind > PFS_SIM_STORE && step->operation.kind <= PFS_SIM_AND)
		return false;
	return step->wrote && !pfs_model_buffers(machine, &step->operation);
}

static bool is_begin(const struct pfs_sim_operation *operation)
{
	return operation->kind == PFS_SIM_NOTE && operation->operand == PFS_NOTE_BEGIN;
}

static bool is_ordered(const struct pfs_machine *machine, const struct pfs_step *a,
		       const struct pfs_step *b)
{
	uint8_t one = a->operation.kind, other = b->operation.kind;
	if (one == PFS_SIM_YIELD || other == PFS_SIM_YIELD)
		return false; /* what it waited for is shown by what its thread reads next */
	/* A free that is still buffered ends when it is drained. */
	if (machine->setup.drains_end && ((is_begin(&a->operation) && other == PFS_SIM_DRAIN) ||
					  (is_begin(&b->operation) && one == PFS_SIM_DRAIN)))
		return a->thread != b->thread;
	bool buffers = pfs_model_buffers(machine, &a->operation) ||
		       pfs_model_buffers(machine, &b->operation);
	if (one == PFS_SIM_BARRIER || other == PFS_SIM_BARRIER) {
		bool met = (one == PFS_SIM_BARRIER && a->operation.operand == b->thread) ||
			   (other == PFS_SIM_BARRIER && b->operation.operand == a->thread);
		if (machine->model->keeps_old) /* it ends choices */
			return a->thread != b->thread && (met || one == other);
		return a->thread != b->thread && met && buffers;
	}
	if (buffers)
		return false;
	if (a->operation.address != b->operation.address || a->thread == b->thread)
		return false;
	if (one == PFS_SIM_NOTE && other == PFS_SIM_NOTE && a->operation.operand != 0)
		return a->operation.operand != b->operation.operand;
	return writes_memory(machine, a) || writes_memory(machine, b);
}

static uint64_t class_of(const struct pfs_machine *machine)
{
	static uint64_t name[4096];
	uint32_t local[32] = { 0 }, count = pfs_machine_actor_count(machine);
	uint64_t sum = 0;
	for (uint32_t j = 0; j < machine->run.step_count; j++) {
		uint32_t actor = pfs_actor_first_of(count, machine->run.schedule[j]);
		name[j] = machine->run.schedule[j] * UINT64_C(4096) + ++local[actor];
		sum += mix(name[j] * 2 + machine->trace.steps[j].wrote);
		for (uint32_t i = 0; i < j; i++) {
			if (pfs_actor_first_of(count, machine->run.schedule[i]) != actor &&
			    is_ordered(machine, &machine->trace.steps[i], &machine->trace.steps[j]))
				sum += mix(name[i] * UINT64_C(1000003) + name[j]);
		}
	}
	return sum;
}

/* With views: an atomic operation that chooses what it reads, or where it writes. */
static bool chooses(const struct pfs_step *step)
{
	uint8_t kind = step->operation.kind;
	return kind <= PFS_SIM_AND || kind == PFS_SIM_AWAIT;
}

/* With views the order of two such steps is not part of the execution; what is read, and the order
 * of writes, are hashed separately. */
static bool is_kept(const struct pfs_machine *machine, const struct pfs_step *a,
		    const struct pfs_step *b)
{
	return !(chooses(a) && chooses(b)) && is_ordered(machine, a, b);
}

static uint64_t writes_of(const struct pfs_machine *machine, const void *address,
			  const uint64_t *name)
{
	uint32_t steps[256];
	uint32_t count = machine->model->order(machine, address, steps, 256);
	uint64_t sum = 0, before = 0;
	for (uint32_t i = 1; i < count; i++) { /* the first was there before */
		sum += mix(before * UINT64_C(1000033) + name[steps[i]]);
		before = name[steps[i]];
	}
	return sum;
}

static uint64_t class_of_views(const struct pfs_machine *machine)
{
	static uint64_t name[4096];
	uint32_t local[32] = { 0 };
	uint64_t sum = 0;
	for (uint32_t j = 0; j < machine->run.step_count; j++) {
		const struct pfs_step *step = &machine->trace.steps[j];
		name[j] = step->thread * UINT64_C(4096) + ++local[step->thread];
		sum += mix(name[j] * 2 + step->wrote);
		if (step->operation.kind != PFS_SIM_STORE && step->source != PFS_STEP_NONE)
			sum += mix(name[step->source] * UINT64_C(1000037) + name[j]);
		for (uint32_t i = 0; i < j; i++) {
			const struct pfs_step *other = &machine->trace.steps[i];
			if (other->thread != step->thread && is_kept(machine, other, step))
				sum += mix(name[i] * UINT64_C(1000003) + name[j]);
		}
	}
	for (uint32_t at = 0; at < machine->views.table.count; at++)
		sum += writes_of(machine, machine->views.locations[at].address, name);
	return sum;
}

void pfs_classes_add(struct pfs_classes *self, const struct pfs_machine *machine)
{
	uint64_t class = machine->model->keeps_old ? class_of_views(machine) : class_of(machine);
	uint32_t count = self->table.count;
	if (pfs_table_add(&self->table, class) == count)
		self->sum += mix(class);
}
