/*
 * timed.c - a machine in virtual time: create, run, aside.
 */
#include "sim/timed/timed.h"

#include <stdlib.h>
#include <string.h>

#include "containers/message.h"
#include "sim/timed/timed_engine.h"

static int by_neighbour(const struct pfs_topology *topology, uint32_t a, uint32_t b)
{
	const struct pfs_pu *x = &topology->pu[a], *y = &topology->pu[b];
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* No core gets a second thread while another core has none; then one node after the other. */
static int by_distance(const struct pfs_topology *topology, uint32_t a, uint32_t b)
{
	const struct pfs_pu *x = &topology->pu[a], *y = &topology->pu[b];
	if (x->smt_rank != y->smt_rank)
		return x->smt_rank < y->smt_rank ? -1 : 1;
	if (x->core_rank != y->core_rank)
		return x->core_rank < y->core_rank ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The PUs in the order in which threads take them; thread t gets seat t modulo their count. */
static void seat(const struct pfs_timed_plan *plan, uint32_t *seats)
{
	const struct pfs_topology *topology = plan->topology;
	for (uint32_t pu = 0; pu < topology->pu_count; pu++) { /* insertion: it is short */
		uint32_t at = pu;
		for (; at > 0; at--) {
			int order = plan->placement == PFS_TIMED_COMPACT
					    ? by_neighbour(topology, seats[at - 1], pu)
					    : by_distance(topology, seats[at - 1], pu);
			if (order <= 0)
				break;
			seats[at] = seats[at - 1];
		}
		seats[at] = pu;
	}
}

static enum pfs_status check_plan(const struct pfs_timed_plan *plan, struct pfs_message *message)
{
	if (plan->thread_count == 0 || plan->thread_count > PFS_MACHINE_THREADS_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG, "threads %u: must be 1 to %u",
				       plan->thread_count, PFS_MACHINE_THREADS_MAX);
	if (plan->tick != NULL && plan->tick_ns == 0)
		return pfs_message_set(message, PFS_BAD_CONFIG, "tick_ns must not be 0");
	return PFS_OK;
}

static bool make_arrays(struct pfs_timed *self)
{
	const struct pfs_topology *topology = self->plan.topology;
	uint32_t seats[PFS_TOPOLOGY_PU_MAX];
	self->threads = aligned_alloc(64, self->plan.thread_count * sizeof(*self->threads));
	self->heap = calloc((size_t)self->plan.thread_count + 3, sizeof(*self->heap));
	self->pus = calloc(topology->pu_count, sizeof(*self->pus));
	self->l3_of_core = calloc(topology->core_count, sizeof(*self->l3_of_core));
	if (self->threads == NULL || self->heap == NULL || self->pus == NULL ||
	    self->l3_of_core == NULL ||
	    !pfs_lines_init(&self->lines, topology->core_count, topology->l3_count) ||
	    !pfs_timed_price(&self->prices, &self->plan))
		return false;
	memset(self->threads, 0, self->plan.thread_count * sizeof(*self->threads));
	for (uint32_t pu = 0; pu < topology->pu_count; pu++)
		self->l3_of_core[topology->pu[pu].core] = topology->pu[pu].l3;
	seat(&self->plan, seats);
	for (uint32_t id = 0; id < self->plan.thread_count; id++) {
		struct pfs_timed_thread *thread = &self->threads[id];
		const struct pfs_pu *pu = &topology->pu[seats[id % topology->pu_count]];
		thread->pu = (uint16_t)(pu - topology->pu);
		thread->core = pu->core;
		thread->node = pu->node;
		thread->l3 = pu->l3;
		self->pus[thread->pu].threads++;
	}
	return true;
}

struct pfs_timed *pfs_timed_create(const struct pfs_timed_plan *plan, struct pfs_message *message)
{
	if (check_plan(plan, message) != PFS_OK)
		return NULL;
	struct pfs_timed *self = calloc(1, sizeof(*self));
	if (self != NULL) {
		self->plan = *plan;
		self->random = (plan->seed + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
		self->machine = pfs_machine_create(&pfs_model_sc);
	}
	if (self == NULL || self->machine == NULL || !make_arrays(self)) {
		pfs_timed_destroy(self);
		(void)pfs_message_set(message, PFS_NO_MEMORY, "no memory for the machine");
		return NULL;
	}
	self->kernel = pfs_timed_kernel;
	self->machine->engine.execute = pfs_timed_execute;
	self->machine->engine.context = self;
	self->machine->hooks.plain = pfs_timed_plain;
	self->machine->hooks.plain_context = self;
	self->machine->setup.node_count = plan->topology->node_count;
	self->machine->memory.node_count = plan->topology->node_count;
	self->machine->memory.on_map = pfs_timed_mapped;
	self->machine->memory.on_map_context = self;
	return self;
}

void pfs_timed_destroy(struct pfs_timed *self)
{
	if (self == NULL)
		return;
	pfs_machine_destroy(self->machine);
	pfs_lines_fini(&self->lines);
	free(self->threads);
	free(self->heap);
	free(self->pus);
	free(self->l3_of_core);
	free(self->prices.transfer);
	free(self->prices.memory);
	free(self->prices.place_of_l3);
	free(self->prices.package_of_l3);
	free(self);
}

bool pfs_timed_aside(struct pfs_timed *self, uint32_t thread, void (*call)(void *argument),
		     void *argument)
{
	struct pfs_machine *machine = self->machine;
	if (machine->run.end != PFS_END_DONE)
		return false;
	machine->aside.node = self->plan.topology->pu[self->threads[thread].pu].node;
	pfs_machine_aside(machine, call, argument);
	return machine->run.end == PFS_END_DONE;
}

static void run_body(void *argument)
{
	struct pfs_timed_thread *thread = argument;
	struct pfs_timed *self = pfs_machine_current()->engine.context;
	self->body(thread->argument);
	pfs_timed_finish(self, thread);
}

bool pfs_timed_run(struct pfs_timed *self, void (*body)(void *argument), void **arguments)
{
	struct pfs_machine *machine = self->machine;
	if (machine->run.end != PFS_END_DONE)
		return false;
	machine->thread_count = 0;
	self->body = body;
	memset(&self->stats, 0, sizeof(self->stats));
	self->next_tick = self->plan.tick != NULL ? self->plan.tick_ns * PFS_TIMED_PS
						  : PFS_TIMED_NEVER;
	for (uint32_t id = 0; id < self->plan.thread_count; id++) {
		struct pfs_timed_thread *thread = &self->threads[id];
		thread->argument = arguments[id];
		if (pfs_machine_spawn(machine, thread->node, run_body, thread) == PFS_THREAD_NONE) {
			pfs_machine_fail("no memory for the stack of thread %u", id);
			return false;
		}
		thread->own = machine->threads[id];
	}
	pfs_lines_settle(&self->lines, self->plan.topology->core_count);
	pfs_timed_begin(self);
	machine->run.running = machine->threads[self->heap[0] & ((1u << PFS_TIMED_ID_BITS) - 1)];
	pfs_fiber_switch(&machine->run.caller, &machine->run.running->fiber);
	machine->run.running = NULL;
	return machine->run.end == PFS_END_DONE;
}

const char *pfs_timed_message(const struct pfs_timed *self)
{
	return self->machine->run.message;
}

void pfs_timed_get_stats(const struct pfs_timed *self, struct pfs_timed_stats *stats)
{
	*stats = self->stats;
	stats->queue_ns /= PFS_TIMED_PS;
}

uint32_t pfs_timed_pu_of(const struct pfs_timed *self, uint32_t thread)
{
	return self->threads[thread].pu;
}

__attribute__((noinline)) int pfs_timed_in_place(int (*call)(int argc, char **argv), int argc,
						 char **argv)
{
	size_t off = (uintptr_t)__builtin_frame_address(0) % 64;
	volatile char *padding = __builtin_alloca(off + 16);
	padding[0] = 0;
	int status = call(argc, argv);
	padding[0] = (char)status; /* keeps it alive until here */
	return status;
}
