#include "check/tests/program.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "check/machine/mutex_backend.h"
#include "check/machine/depends.h"
#include "check/machine/model.h"
#include "check/search/states.h"

struct pfs_program pfs_program;
struct pfs_program_drawn pfs_program_drawn;
bool pfs_program_half_seq, pfs_program_yields, pfs_program_simple;

void pfs_program_setup(struct pfs_machine *machine, void *context)
{
	struct pfs_program *self = context;
	pfs_store_relaxed(&self->cursor, 0);
	for (uint32_t i = 0; i < 4; i++) {
		pfs_store_relaxed(&self->slots[i], 0);
		pfs_store_relaxed(&self->next[i], i != 0 && i < self->links ? i + 1 : 0);
	}
	pfs_store_relaxed(&self->head, 1);
	pfs_mutex_init(&self->lock);
	self->token = 0;
	memset(self->seen, 0, sizeof(self->seen));
	for (uint32_t i = 0; i < self->threads; i++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[i], self);
}

static bool is_at_most(uint64_t value, uint64_t argument)
{
	return value <= argument;
}

static void note(void *cell, uint64_t operand)
{
	(void)pfs_sim_change(PFS_SIM_NOTE, cell, 1, operand, PFS_SIM_RELAXED,
			     PFS_SIM_PLACE("note"));
}

/* Until it has the wanted value, or a few reads of it, and of the other word, have not shown it. */
static uint64_t spin_on(_Atomic(uint32_t) *slot, const struct pfs_program_op *op)
{
	static const struct pfs_sim_place place = { "random", "spin", "spin", 0 };
	uint64_t seen = pfs_sim_load(slot, 4, (enum pfs_sim_order)op->order, &place);
	for (uint32_t look = 0; look < 2 && seen != op->value; look++) {
		if (op->unless == 0)
			(void)pfs_load_relaxed(&pfs_program.slots[1 - op->at]);
		pfs_yield();
		seen = pfs_sim_load(slot, 4, (enum pfs_sim_order)op->order, &place);
	}
	return seen;
}

static enum pfs_sim_order await_order(uint32_t order)
{
	return order == PFS_SIM_SEQ || order == PFS_SIM_RELAXED ? (enum pfs_sim_order)order
								: PFS_SIM_ACQUIRE;
}

/* Returns what it saw. */
static uint64_t run_op(struct pfs_program *self, const struct pfs_program_op *op)
{
	static const struct pfs_sim_place place = { "random", "random", "random", 0 };
	_Atomic(uint32_t) *slot = &self->slots[op->at];
	enum pfs_sim_order order = (enum pfs_sim_order)op->order;
	uint32_t seen = op->value / 2;
	switch (op->kind) {
	case PFS_OP_LOAD: return pfs_sim_load(slot, 4, order, &place);
	case PFS_OP_STORE: pfs_sim_store(slot, 4, op->value, order, &place); break;
	case PFS_OP_CAS: (void)pfs_sim_cas(slot, 4, &seen, op->value, order, &place); return seen;
	case PFS_OP_ADD: return pfs_sim_change(PFS_SIM_ADD, slot, 4, 1, order, &place);
	case PFS_OP_EXCHANGE:
		return pfs_sim_change(PFS_SIM_EXCHANGE, slot, 4, op->value, order, &place);
	case PFS_OP_SECTION:
		pfs_mutex_lock(&self->lock);
		pfs_store_relaxed(slot, pfs_load_relaxed(slot) + 1);
		pfs_mutex_unlock(&self->lock);
		break;
	case PFS_OP_TRY:
		if (!pfs_mutex_try_lock(&self->lock))
			break;
		pfs_store_relaxed(slot, op->value);
		pfs_mutex_unlock(&self->lock);
		break;
	case PFS_OP_AWAIT:
		(void)pfs_machine_await(&self->token, 8, await_order(op->order), is_at_most,
					op->value);
		(void)pfs_fetch_add_relaxed((_Atomic(uint64_t) *)(void *)&self->token,
					    op->at == 0 ? UINT64_MAX : 1);
		break;
	case PFS_OP_BEGIN: note(&self->note, PFS_NOTE_BEGIN); break;
	case PFS_OP_YIELD: pfs_yield(); break;
	case PFS_OP_SPIN: return spin_on(slot, op);
	case PFS_OP_END: note(&self->note, PFS_NOTE_END); break;
	default: pfs_machine_barrier();
	}
	return 0;
}

static void run_thread(void *opaque)
{
	struct pfs_program *self = opaque;
	uint32_t thread = pfs_machine_current()->run.running->id;
	uint64_t seen = 0;
	for (uint32_t i = 0; i < pfs_program_drawn.count[thread]; i++) {
		if (seen % 2 == pfs_program_drawn.ops[thread][i].unless)
			continue;
		seen = run_op(self, &pfs_program_drawn.ops[thread][i]);
		self->seen[thread] = pfs_states_mix(self->seen[thread], seen);
	}
}
void pfs_program_take_bodies(void)
{
	for (uint32_t thread = 0; thread < 3; thread++)
		pfs_program.bodies[thread] = run_thread;
}

/* Loads, stores, adds, exchanges, notes. */
static uint32_t simple_kind(uint32_t kind)
{
	switch (kind) {
	case PFS_OP_CAS:
	case PFS_OP_SECTION: return PFS_OP_EXCHANGE;
	case PFS_OP_TRY: return PFS_OP_STORE;
	case PFS_OP_AWAIT:
	case PFS_OP_BARRIER: return PFS_OP_LOAD;
	default: return kind;
	}
}

/* Orders matter with views; with buffers, a seq store is not buffered. */
static struct pfs_program_op draw_op(uint64_t *random, const struct pfs_memory_model *model)
{
	uint32_t kinds = model->keeps_old ? PFS_OP_COUNT_VIEWS : PFS_OP_COUNT;
	struct pfs_program_op op = { pfs_random_below(random, kinds), pfs_random_below(random, 2),
				     pfs_random_below(random, 3), PFS_SIM_ACQ_REL, 2 };
	if (pfs_random_below(random, 4) == 0)
		op.unless = pfs_random_below(random, 2);
	if (pfs_program_simple)
		op.kind = simple_kind(op.kind);
	if (pfs_program_yields && (op.kind == PFS_OP_BARRIER || op.kind == PFS_OP_BEGIN))
		op.kind = PFS_OP_YIELD;
	else if (pfs_program_yields && pfs_random_below(random, 3) == 0)
		op.kind = PFS_OP_SPIN;
	if (model->keeps_old)
		op.order = pfs_program_half_seq && pfs_random_below(random, 2) == 0
				   ? (uint32_t)PFS_SIM_SEQ
				   : pfs_random_below(random, PFS_SIM_SEQ + 1);
	else if (model->buffers && pfs_random_below(random, 3) == 0)
		op.order = PFS_SIM_SEQ;
	return op;
}

void pfs_program_draw(uint64_t *random, const struct pfs_memory_model *model)
{
	struct pfs_program_drawn *drawn = &pfs_program_drawn;
	uint32_t most = model->buffers ? 3 : PFS_PROGRAM_OPS_MAX;
	pfs_program_take_bodies();
	pfs_program.threads = 2 + pfs_random_below(random, 2);
	for (uint32_t t = 0; t < pfs_program.threads; t++) {
		drawn->count[t] = 1 + pfs_random_below(random, most);
		for (uint32_t i = 0; i < drawn->count[t]; i++)
			drawn->ops[t][i] = draw_op(random, model);
	}
}

void pfs_program_print(void)
{
	for (uint32_t t = 0; t < pfs_program.threads; t++) {
		(void)printf("  T%u:", t);
		for (uint32_t i = 0; i < pfs_program_drawn.count[t]; i++) {
			const struct pfs_program_op *op = &pfs_program_drawn.ops[t][i];
			(void)printf(" %u(%u,%u,%u,%u)", op->kind, op->at, op->value, op->order,
				     op->unless);
		}
		(void)printf("\n");
	}
}
