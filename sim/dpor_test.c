/*
 * dpor_test.c - the reductions against the naive search: the same set of classes, on programs
 * whose counts are known, and on thousands of random ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/atomic.h"
#include "containers/barrier.h"
#include "containers/mutex.h"
#include "containers/random.h"
#include "containers/yield.h"
#include "sim/dpor.h"
#include "sim/dpor_classes.h"
#include "sim/expect.h"
#include "sim/jobs.h"
#include "sim/model.h"
#include "sim/search.h"

/* ---- programs ---- */

struct program {
	_Atomic(uint32_t) cursor, slots[4];
	_Atomic(uint64_t) head;
	_Atomic(uint32_t) next[4];
	struct pfs_mutex lock;
	uint64_t token;
	uint32_t threads;
	void (*bodies[3])(void *);
	uint32_t links;         /* in the list at first */
	struct pfs_classes classes;
};

static struct program program;
static uint64_t deadlocks; /* executions */

static void setup(struct pfs_machine *machine, void *context)
{
	struct program *self = context;
	pfs_store_relaxed(&self->cursor, 0);
	for (uint32_t i = 0; i < 4; i++) {
		pfs_store_relaxed(&self->slots[i], 0);
		pfs_store_relaxed(&self->next[i], i != 0 && i < self->links ? i + 1 : 0);
	}
	pfs_store_relaxed(&self->head, 1);
	pfs_mutex_init(&self->lock);
	self->token = 0;
	for (uint32_t i = 0; i < self->threads; i++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[i], self);
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct program *self = context;
	pfs_classes_add(&self->classes, machine);
}

/* A deadlock is a class as any other, so that all of them are looked for. */
static void settle(struct pfs_machine *machine, void *context)
{
	(void)context;
	deadlocks += machine->end == PFS_END_DEADLOCK;
	if (machine->end == PFS_END_DEADLOCK)
		machine->end = PFS_END_DONE;
}

static const struct pfs_scenario scenario = { "program", setup, finish, NULL, &program, settle };
static struct pfs_search_result result;
static bool append_only; /* views */
static bool watched;     /* data races are looked for, and drains may end calls */
static bool in_parts;    /* of one execution, then of 2, 4, ... */
static const struct pfs_jobs_sums no_sums;

static void search(enum pfs_machine_model model, enum pfs_search_kind kind, uint64_t most)
{
	struct pfs_machine *machine = pfs_machine_create(model);
	struct pfs_search_options options = { .kind = kind, .execution_max = most,
						.append_only = append_only,
						.part_executions = 1 };
	pfs_classes_clear(&program.classes);
	machine->tracing = true;
	machine->watch = machine->drains_end = watched;
	if (in_parts)
		(void)pfs_jobs_search(machine, &scenario, &options, 1, &no_sums, &result);
	else
		(void)pfs_search(machine, &scenario, &options, &result);
	pfs_machine_destroy(machine);
}

/* A cursor by fetch-add, so that nobody meets: claim, publish, free. */
static void fetch_add_body(void *opaque)
{
	struct program *self = opaque;
	uint32_t turn = pfs_fetch_add_relaxed(&self->cursor, 1), seen = 0;
	if (!pfs_cas_acquire(&self->slots[turn % 3], &seen, 1))
		return;
	pfs_store_release(&self->slots[turn % 3], 2);
	pfs_store_release(&self->slots[turn % 3], 0);
}

/* A cursor by load and store: two threads may try the same slot. */
static void scan_body(void *opaque)
{
	struct program *self = opaque;
	uint32_t first = pfs_load_relaxed(&self->cursor);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t at = (first + i) % 3, seen = 0;
		if (pfs_load_relaxed(&self->slots[at]) != 0 ||
		    !pfs_cas_acquire(&self->slots[at], &seen, 1))
			continue;
		pfs_store_release(&self->slots[at], 0);
		pfs_store_relaxed(&self->cursor, at);
		return;
	}
}

/* Pop a link, then push it; the head carries a tag. */
static void list_body(void *opaque)
{
	struct program *self = opaque;
	uint64_t head = pfs_load_acquire(&self->head);
	uint32_t link, next;
	do {
		link = (uint32_t)head;
		if (link == 0)
			return;
		next = pfs_load_relaxed(&self->next[link]);
	} while (!pfs_cas_acquire(&self->head, &head, ((head >> 32) + 1) << 32 | next));
	head = pfs_load_relaxed(&self->head);
	do
		pfs_store_relaxed(&self->next[link], (uint32_t)head);
	while (!pfs_cas_release(&self->head, &head, ((head >> 32) + 1) << 32 | link));
}

static bool is_zero(uint64_t value, uint64_t argument)
{
	(void)argument;
	return value == 0;
}

/* A lock that waits until it is free, then tries. */
static void await_body(void *opaque)
{
	struct program *self = opaque;
	_Atomic(uint64_t) *lock = (_Atomic(uint64_t) *)(void *)&self->token;
	uint64_t seen = 0;
	do {
		(void)pfs_machine_await(&self->token, 8, PFS_SIM_ACQUIRE, is_zero, 0);
		seen = 0;
	} while (!pfs_cas_acquire(lock, &seen, 1));
	(void)pfs_fetch_add_relaxed(&self->cursor, 1);
	pfs_store_release(lock, 0);
}

static void mutex_body(void *opaque)
{
	struct program *self = opaque;
	(void)pfs_fetch_add_relaxed(&self->cursor, 1);
	pfs_mutex_lock(&self->lock);
	pfs_store_relaxed(&self->slots[0], pfs_load_relaxed(&self->cursor));
	pfs_mutex_unlock(&self->lock);
}

/* Its looks begin when it has its number. */
static void ticket_body(void *opaque)
{
	struct program *self = opaque;
	uint32_t own = pfs_fetch_add_relaxed(&self->cursor, 1);
	while (pfs_load_acquire(&self->slots[0]) != own)
		pfs_yield();
	pfs_store_relaxed(&self->slots[1], own);
	pfs_store_release(&self->slots[0], own + 1);
}

static void compare(enum pfs_machine_model model, const char *name, void (*body)(void *),
		    uint32_t threads, uint64_t naive_max, uint32_t classes)
{
	uint32_t sleep_classes;
	uint64_t executions[3] = { 0 }, cut[3] = { 0 }, sum;
	program.threads = threads;
	program.bodies[0] = program.bodies[1] = program.bodies[2] = body;
	search(model, PFS_SEARCH_DPOR, 0);
	pfs_expect(result.complete, name);
	executions[0] = result.executions, cut[0] = result.redundant;
	uint32_t own = program.classes.count;
	sum = program.classes.sum;
	search(model, PFS_SEARCH_SLEEP, 0);
	executions[1] = result.executions, cut[1] = result.redundant;
	sleep_classes = program.classes.count;
	pfs_expect(sum == program.classes.sum && own == sleep_classes, "source sets and sleep sets "
								       "meet the same classes");
	char naive[32] = "not run";
	if (naive_max != 0) {
		search(model, PFS_SEARCH_NAIVE, naive_max);
		(void)snprintf(naive, sizeof(naive), "%llu",
			       (unsigned long long)result.executions);
		pfs_expect(result.complete && sum == program.classes.sum,
			   "source sets and the naive search meet the same classes");
	}
	pfs_expect(classes == 0 || own == classes, "as many classes as are known");
	(void)printf("%-28s naive %9s  sleep sets %7llu (%6llu cut)  source sets %7llu "
		     "(%5llu cut)  classes %u\n", name, naive, (unsigned long long)executions[1],
		     (unsigned long long)cut[1], (unsigned long long)executions[0],
		     (unsigned long long)cut[0], own);
}

/* ---- random programs ---- */

#ifndef RANDOM_PROGRAMS
#define RANDOM_PROGRAMS 600u
#endif
#ifndef RANDOM_SEED
#define RANDOM_SEED 20260101
#endif
#ifndef NAIVE_MAX
#define NAIVE_MAX 2000u
#endif
#define OPS_MAX 4u

enum { OP_LOAD, OP_STORE, OP_CAS, OP_ADD, OP_SECTION, OP_TRY, OP_AWAIT, OP_BEGIN, OP_END,
       OP_BARRIER, OP_COUNT };
enum { OP_EXCHANGE = OP_COUNT, OP_COUNT_VIEWS, OP_YIELD, OP_SPIN };
static bool half_seq;    /* of the orders, with views */
static bool with_yields; /* in place of barriers, notes, and half of the rest */

static struct random_program {
	uint32_t count[3];
	struct random_op {
		uint32_t kind, at, value, order;
		uint32_t unless; /* what was seen last has this parity: skipped; 2: never */
	} ops[3][OPS_MAX];
} drawn;

static bool is_at_most(uint64_t value, uint64_t argument)
{
	return value <= argument;
}

static void note(void *cell, uint64_t operand)
{
	(void)pfs_sim_change(PFS_SIM_NOTE, cell, 1, operand, PFS_SIM_RELAXED,
			     PFS_SIM_PLACE("note"));
}

/* Until it is what it shall be, or some looks at it, and at the other, were in vain. */
static uint64_t spin_on(_Atomic(uint32_t) *slot, const struct random_op *op)
{
	static const struct pfs_sim_place place = { "random", "spin", "spin", 0 };
	uint64_t seen = pfs_sim_load(slot, 4, (enum pfs_sim_order)op->order, &place);
	for (uint32_t look = 0; look < 2 && seen != op->value; look++) {
		if (op->unless == 0)
			(void)pfs_load_relaxed(&program.slots[1 - op->at]);
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
static uint64_t run_op(struct program *self, const struct random_op *op)
{
	static const struct pfs_sim_place place = { "random", "random", "random", 0 };
	_Atomic(uint32_t) *slot = &self->slots[op->at];
	enum pfs_sim_order order = (enum pfs_sim_order)op->order;
	uint32_t seen = op->value / 2;
	switch (op->kind) {
	case OP_LOAD: return pfs_sim_load(slot, 4, order, &place);
	case OP_STORE: pfs_sim_store(slot, 4, op->value, order, &place); break;
	case OP_CAS: (void)pfs_sim_cas(slot, 4, &seen, op->value, order, &place); return seen;
	case OP_ADD: return pfs_sim_change(PFS_SIM_ADD, slot, 4, 1, order, &place);
	case OP_EXCHANGE:
		return pfs_sim_change(PFS_SIM_EXCHANGE, slot, 4, op->value, order, &place);
	case OP_SECTION:
		pfs_mutex_lock(&self->lock);
		pfs_store_relaxed(slot, pfs_load_relaxed(slot) + 1);
		pfs_mutex_unlock(&self->lock);
		break;
	case OP_TRY:
		if (!pfs_mutex_try_lock(&self->lock))
			break;
		pfs_store_relaxed(slot, op->value);
		pfs_mutex_unlock(&self->lock);
		break;
	case OP_AWAIT:
		(void)pfs_machine_await(&self->token, 8, await_order(op->order), is_at_most,
					op->value);
		(void)pfs_fetch_add_relaxed((_Atomic(uint64_t) *)(void *)&self->token,
					    op->at == 0 ? UINT64_MAX : 1);
		break;
	case OP_BEGIN: note(&self->classes, PFS_NOTE_BEGIN); break;
	case OP_YIELD: pfs_yield(); break;
	case OP_SPIN: return spin_on(slot, op);
	case OP_END: note(&self->classes, PFS_NOTE_END); break;
	default: (void)pfs_barrier_heavy();
	}
	return 0;
}

static void run_thread(struct program *self, uint32_t thread)
{
	uint64_t seen = 0;
	for (uint32_t i = 0; i < drawn.count[thread]; i++) {
		if (seen % 2 != drawn.ops[thread][i].unless)
			seen = run_op(self, &drawn.ops[thread][i]);
	}
}
static void run_first(void *opaque)
{
	run_thread(opaque, 0);
}
static void run_second(void *opaque)
{
	run_thread(opaque, 1);
}
static void run_third(void *opaque)
{
	run_thread(opaque, 2);
}

/* Orders matter with views; with buffers, a seq store has none. */
static struct random_op draw_op(uint64_t *random, enum pfs_machine_model model)
{
	static const uint32_t kinds[] = { [PFS_MACHINE_SC] = OP_COUNT,
					  [PFS_MACHINE_TSO] = OP_COUNT,
					  [PFS_MACHINE_VIEWS] = OP_COUNT_VIEWS };
	struct random_op op = { pfs_random_below(random, kinds[model]),
				pfs_random_below(random, 2), pfs_random_below(random, 3),
				PFS_SIM_ACQ_REL, 2 };
	if (pfs_random_below(random, 4) == 0)
		op.unless = pfs_random_below(random, 2);
	if (with_yields && (op.kind == OP_BARRIER || op.kind == OP_BEGIN))
		op.kind = OP_YIELD;
	else if (with_yields && pfs_random_below(random, 3) == 0)
		op.kind = OP_SPIN;
	if (model == PFS_MACHINE_VIEWS)
		op.order = half_seq && pfs_random_below(random, 2) == 0
				   ? (uint32_t)PFS_SIM_SEQ
				   : pfs_random_below(random, PFS_SIM_SEQ + 1);
	else if (model == PFS_MACHINE_TSO && pfs_random_below(random, 3) == 0)
		op.order = PFS_SIM_SEQ;
	return op;
}

static void draw(uint64_t *random, enum pfs_machine_model model)
{
	static void (*const bodies[3])(void *) = { run_first, run_second, run_third };
	program.threads = 2 + pfs_random_below(random, 2);
	for (uint32_t t = 0; t < program.threads; t++) {
		program.bodies[t] = bodies[t];
		drawn.count[t] = 1 + pfs_random_below(random, model == PFS_MACHINE_TSO ? 3
									 : OPS_MAX);
		for (uint32_t i = 0; i < drawn.count[t]; i++)
			drawn.ops[t][i] = draw_op(random, model);
	}
}

static void print_drawn(void)
{
	for (uint32_t t = 0; t < program.threads; t++) {
		(void)printf("  T%u:", t);
		for (uint32_t i = 0; i < drawn.count[t]; i++)
			(void)printf(" %u(%u,%u,%u,%u)", drawn.ops[t][i].kind,
				     drawn.ops[t][i].at, drawn.ops[t][i].value,
				     drawn.ops[t][i].order, drawn.ops[t][i].unless);
		(void)printf("\n");
	}
}

/* In three threads of seq operations a load of an old value excludes one of another thread, and
 * what that would lead to is in no execution where the first is tried: 1 of 209 classes. */
static void program_with_rivals(void)
{
	static const struct random_program program_drawn = {
		{ 3, 4, 3 },
		{ { { OP_LOAD, 0, 0, PFS_SIM_RELAXED, 1 }, { OP_STORE, 0, 2, PFS_SIM_SEQ, 2 },
		    { OP_LOAD, 1, 2, PFS_SIM_SEQ, 2 } },
		  { { OP_STORE, 0, 2, PFS_SIM_SEQ, 1 }, { OP_STORE, 1, 2, PFS_SIM_SEQ, 2 },
		    { OP_LOAD, 1, 1, PFS_SIM_SEQ, 2 }, { OP_LOAD, 0, 2, PFS_SIM_SEQ, 2 } },
		  { { OP_LOAD, 1, 1, PFS_SIM_SEQ, 2 }, { OP_STORE, 0, 1, PFS_SIM_SEQ, 1 },
		    { OP_EXCHANGE, 1, 1, PFS_SIM_SEQ, 2 } } }
	};
	drawn = program_drawn;
	program.threads = 3;
	program.bodies[0] = run_first, program.bodies[1] = run_second;
	program.bodies[2] = run_third;
	search(PFS_MACHINE_VIEWS, PFS_SEARCH_SLEEP, 0);
	uint64_t sum = program.classes.sum;
	pfs_expect(result.complete && program.classes.count == 209, "program with rivals");
	search(PFS_MACHINE_VIEWS, PFS_SEARCH_DPOR, 0);
	pfs_expect(result.complete && program.classes.sum == sum,
		   "program with rivals, source sets");
}

static void random_programs(enum pfs_machine_model model, const char *name)
{
	uint64_t random = RANDOM_SEED, executions[3] = { 0 }, classes = 0, more = 0;
	uint32_t compared = 0, with_deadlock = 0;
	uint32_t programs = with_yields ? RANDOM_PROGRAMS / 2 : RANDOM_PROGRAMS;
	for (uint32_t n = 0; n < programs && pfs_failures == 0; n++) {
		draw(&random, model);
		watched = n % 2 != 0;
		deadlocks = 0;
		search(model, PFS_SEARCH_NAIVE, NAIVE_MAX);
		if (!result.complete)
			continue;
		with_deadlock += deadlocks != 0;
		uint64_t naive = result.executions, sum = program.classes.sum;
		uint32_t naive_classes = program.classes.count;
		search(model, PFS_SEARCH_SLEEP, 0);
		executions[0] += naive, executions[1] += result.executions;
		pfs_expect(program.classes.sum == sum, "random program, sleep sets");
		search(model, PFS_SEARCH_DPOR, 0);
		pfs_expect(program.classes.sum == sum && result.complete,
			   "random program, source sets");
		uint64_t whole = result.executions;
		in_parts = true;
		search(model, PFS_SEARCH_DPOR, 0);
		pfs_expect(program.classes.sum == sum && result.complete,
			   "random program, source sets in parts");
		more += result.executions - whole;
		search(model, PFS_SEARCH_SLEEP, 0);
		pfs_expect(program.classes.sum == sum && result.complete,
			   "random program, sleep sets in parts");
		in_parts = false;
		if (pfs_failures != 0) {
			(void)printf("naive %u classes, source sets %u\n", naive_classes,
				     program.classes.count);
			print_drawn();
		}
		compared++;
		executions[2] += whole, classes += naive_classes;
	}
	(void)printf("%s: %u random programs, %u with deadlocks: naive %llu executions, sleep sets "
		     "%llu, source sets %llu (in parts %+lld), classes %llu\n", name, compared,
		     with_deadlock,
		     (unsigned long long)executions[0], (unsigned long long)executions[1],
		     (unsigned long long)executions[2], (long long)more,
		     (unsigned long long)classes);
	pfs_expect(compared > programs / 3 && (with_yields || with_deadlock >= programs / 100),
		   "random programs are of use");
}

int main(void)
{
	if (!pfs_classes_init(&program.classes))
		return 1;
	compare(PFS_MACHINE_SC, "fetch-add cursor", fetch_add_body, 3, 50000, 6);
	compare(PFS_MACHINE_SC, "scan, load and store cursor", scan_body, 3, 0, 1494);
	program.links = 2;
	compare(PFS_MACHINE_SC, "tagged list, 2 threads", list_body, 2, 50000, 0);
	program.links = 3;
	compare(PFS_MACHINE_SC, "tagged list, 3 threads", list_body, 3, 0, 0);
	compare(PFS_MACHINE_SC, "await lock", await_body, 3, 10000, 144);
	compare(PFS_MACHINE_SC, "mutex", mutex_body, 3, 10000, 0);
	compare(PFS_MACHINE_SC, "ticket lock, 2 threads", ticket_body, 2, 50000, 0);
	compare(PFS_MACHINE_TSO, "ticket lock, 2 threads, tso", ticket_body, 2, 50000, 0);
	compare(PFS_MACHINE_VIEWS, "ticket lock, 2 threads, views", ticket_body, 2, 50000, 0);
	compare(PFS_MACHINE_SC, "ticket lock, 3 threads", ticket_body, 3, 0, 0);
	compare(PFS_MACHINE_TSO, "ticket lock, 3 threads, tso", ticket_body, 3, 0, 0);
	compare(PFS_MACHINE_VIEWS, "ticket lock, 3 threads, views", ticket_body, 3, 0, 0);
	compare(PFS_MACHINE_TSO, "fetch-add cursor, tso", fetch_add_body, 2, 50000, 0);
	compare(PFS_MACHINE_TSO, "mutex, tso", mutex_body, 2, 10000, 0);
	program_with_rivals();
	random_programs(PFS_MACHINE_SC, "sc");
	random_programs(PFS_MACHINE_TSO, "tso");
	random_programs(PFS_MACHINE_VIEWS, "views");
	half_seq = true;
	random_programs(PFS_MACHINE_VIEWS, "views, half seq");
	append_only = true;
	random_programs(PFS_MACHINE_VIEWS, "views, append only");
	append_only = half_seq = false;
	with_yields = true;
	random_programs(PFS_MACHINE_SC, "sc, yields");
	random_programs(PFS_MACHINE_TSO, "tso, yields");
	random_programs(PFS_MACHINE_VIEWS, "views, yields");
	pfs_classes_fini(&program.classes);
	return pfs_expect_report();
}
