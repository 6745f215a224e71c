#include "check/machine/depends.h"

#include "check/machine/actors.h"

static uintptr_t bytes_of(const struct pfs_sim_operation *operation)
{
	return operation->kind == PFS_SIM_UNMAP ? operation->operand : operation->size_bytes;
}

static bool overlap(const struct pfs_sim_operation *a, const struct pfs_sim_operation *b)
{
	uintptr_t a_first = (uintptr_t)a->address, b_first = (uintptr_t)b->address;
	return a_first < b_first + bytes_of(b) && b_first < a_first + bytes_of(a);
}

static bool was_read(const struct pfs_news_read *read, const struct pfs_sim_operation *ran)
{
	uintptr_t first = (uintptr_t)ran->address, read_first = (uintptr_t)read->address;
	return first < read_first + read->size_bytes && read_first < first + bytes_of(ran);
}

static bool writes_what_was_read(const struct pfs_effect *write, const struct pfs_effect *yield)
{
	if (!write->wrote || write->buffered || write->ran.kind == PFS_SIM_NOTE)
		return false;
	for (uint32_t i = 0; i < yield->looks.count; i++) {
		if (was_read(&yield->looks.reads[i], &write->ran))
			return true;
	}
	return false;
}

bool pfs_effect_is_news(const struct pfs_effect *write, uint32_t at, const struct pfs_effect *yield,
			bool views)
{
	if (write->thread == yield->thread || !write->wrote || write->buffered ||
	    write->ran.kind == PFS_SIM_NOTE)
		return false;
	for (uint32_t i = 0; i < yield->looks.count; i++) {
		const struct pfs_news_read *read = &yield->looks.reads[i];
		if (!was_read(read, &write->ran) || (!views && at < read->since))
			continue;
		if (write->ran.kind == PFS_SIM_UNMAP ||
		    pfs_news_is(read, write->ran.address, write->ran.size_bytes, write->written))
			return true;
	}
	return false;
}

static bool is_begin_to_drain(const struct pfs_effect *a, const struct pfs_effect *b)
{
	return a->ran.kind == PFS_SIM_NOTE && a->ran.operand == PFS_NOTE_BEGIN && b->ends;
}

static bool is_barrier(const struct pfs_effect *effect)
{
	return effect->ran.kind == PFS_SIM_BARRIER;
}

/* Is it the part of a barrier that stops the other's thread? */
static bool interrupts(const struct pfs_effect *part, const struct pfs_effect *other)
{
	return is_barrier(part) && part->ran.operand == other->thread;
}

bool pfs_effects_depend(const struct pfs_effect *a, const struct pfs_effect *b)
{
	const struct pfs_sim_operation *one = &a->ran, *other = &b->ran;
	if (a->thread == b->thread)
		return false;
	if (a->fence || b->fence)
		return (a->fence && b->fence && (is_barrier(a) || is_barrier(b))) ||
		       interrupts(a, b) || interrupts(b, a);
	if (one->kind == PFS_SIM_YIELD || other->kind == PFS_SIM_YIELD)
		return writes_what_was_read(b, a) || writes_what_was_read(a, b);
	if (a->barrier || b->barrier)
		return (pfs_effect_moves_buffer(a) && interrupts(b, a)) ||
		       (pfs_effect_moves_buffer(b) && interrupts(a, b));
	if (a->buffered || b->buffered)
		return false;
	if (is_begin_to_drain(a, b) || is_begin_to_drain(b, a))
		return true;
	if (one->kind == PFS_SIM_NOTE && other->kind == PFS_SIM_NOTE && one->operand != 0 &&
	    one->operand == other->operand)
		return false;
	return (a->wrote || b->wrote) && overlap(one, other);
}

bool pfs_effect_chooses(const struct pfs_effect *self)
{
	uint8_t kind = self->ran.kind;
	return kind == PFS_SIM_LOAD || kind == PFS_SIM_STORE || kind == PFS_SIM_CAS ||
	       kind == PFS_SIM_EXCHANGE || kind == PFS_SIM_ADD || kind == PFS_SIM_OR ||
	       kind == PFS_SIM_XOR || kind == PFS_SIM_NAND || kind == PFS_SIM_AND ||
	       kind == PFS_SIM_AWAIT;
}

bool pfs_effects_meet(const struct pfs_effect *a, const struct pfs_effect *b)
{
	return a->ran.address == b->ran.address && pfs_effect_chooses(a) && pfs_effect_chooses(b);
}

static void set_kind(const struct pfs_machine *machine, struct pfs_effect *effect)
{
	bool barrier = effect->ran.kind == PFS_SIM_BARRIER;
	effect->buffered = pfs_model_buffers(machine, &effect->ran);
	effect->barrier = machine->model->buffers && barrier;
	effect->fence = machine->model->keeps_old && (barrier || effect->ran.kind == PFS_SIM_FENCE);
	effect->ends = machine->setup.drains_end && effect->ran.kind == PFS_SIM_DRAIN;
	if (effect->ran.kind == PFS_SIM_YIELD)
		effect->looks = machine->threads[effect->thread]->looks;
}

/* A read-modify-write that leaves the value unchanged: a load, unless data races are looked for,
 * which depend on its release and acquire. */
static bool changes_nothing(const struct pfs_machine *machine, const struct pfs_step *step)
{
	return pfs_kind_is_rmw(step->operation.kind) && step->seen == step->written &&
	       !machine->model->keeps_old && !machine->setup.watch;
}

/* Written directly into the effect: a copy would have to wait for the partial stores just made. */
void pfs_effect_of(const struct pfs_machine *machine, const struct pfs_step *step,
		   struct pfs_effect *effect)
{
	uint8_t kind = step->operation.kind;
	effect->ran = step->operation;
	effect->thread = step->thread;
	effect->source = step->source;
	effect->older = step->older;
	effect->written = step->written;
	effect->wrote = (step->wrote && !changes_nothing(machine, step)) || kind == PFS_SIM_NOTE ||
			kind == PFS_SIM_UNMAP;
	effect->looks = (struct pfs_looks){ 0 };
	set_kind(machine, effect);
}

static bool will_write(const struct pfs_machine *machine, struct pfs_actor actor,
		       const struct pfs_sim_operation *operation)
{
	switch (operation->kind) {
	case PFS_SIM_LOAD:
	case PFS_SIM_AWAIT:
	case PFS_SIM_BARRIER:
	case PFS_SIM_FENCE:
	case PFS_SIM_YIELD: return false;
	case PFS_SIM_CAS: {
		enum pfs_sim_memory_state state;
		if (pfs_sim_memory_has(&machine->memory, operation->address, &state) &&
		    state != PFS_SIM_MAPPED)
			return true;
		return machine->model->peek(machine->threads[actor.thread], operation,
					    actor.choice) == operation->expected;
	}
	default: return true;
	}
}

struct pfs_effect pfs_effect_pending(const struct pfs_machine *machine, struct pfs_actor actor)
{
	struct pfs_effect effect = { .ran = pfs_machine_pending(machine, actor),
				     .thread = actor.thread };
	effect.wrote = will_write(machine, actor, &effect.ran);
	set_kind(machine, &effect);
	return effect;
}
