/*
 * dpor_test.c - compares the reductions with the naive search: the same set of classes, on programs
 * whose counts are known, and on thousands of random ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/atomic_backend.h"
#include "check/machine/mutex_backend.h"
#include "base/random.h"
#include "check/search/dpor.h"
#include "check/tests/dpor_classes.h"
#include "check/tests/expect.h"
#include "check/search/jobs.h"
#include "check/tests/program.h"
#include "check/search/search.h"

static struct pfs_classes found;
static uint64_t deadlocks; /* executions */

static void finish(struct pfs_machine *machine, void *context)
{
	(void)context;
	pfs_classes_add(&found, machine);
}

/* A deadlock is a class like any other, so that all of them are looked for. */
static void settle(struct pfs_machine *machine, void *context)
{
	(void)context;
	deadlocks += machine->run.end == PFS_END_DEADLOCK;
	if (machine->run.end == PFS_END_DEADLOCK)
		machine->run.end = PFS_END_DONE;
}

static const struct pfs_scenario scenario = { .name = "program",
					      .setup = pfs_program_setup,
					      .finish = finish,
					      .context = &pfs_program,
					      .settle = settle };
static struct pfs_search_result result;
static bool append_only; /* views */
static bool watched;     /* data races are looked for, and drains may end calls */
static bool in_parts;    /* of one execution, then of 2, 4, ... */
static const struct pfs_jobs_sums no_sums;

static void search(const struct pfs_memory_model *model, enum pfs_search_kind kind, uint64_t most)
{
	struct pfs_machine *machine = pfs_machine_create(model);
	struct pfs_search_options options = { .kind = kind,
					      .execution_max = most,
					      .append_only = append_only,
					      .part_executions = 1 };
	pfs_classes_clear(&found);
	machine->setup.tracing = true;
	machine->setup.watch = machine->setup.drains_end = watched;
	if (in_parts)
		(void)pfs_jobs_search(machine, &scenario, &options, 1, &no_sums, &result);
	else
		(void)pfs_search(machine, &scenario, &options, &result);
	pfs_machine_destroy(machine);
}

/* A cursor by fetch-add, so that no threads meet: claim, publish, free. */
static void fetch_add_body(void *opaque)
{
	struct pfs_program *self = opaque;
	uint32_t turn = pfs_fetch_add_relaxed(&self->cursor, 1), seen = 0;
	if (!pfs_cas_acquire(&self->slots[turn % 3], &seen, 1))
		return;
	pfs_store_release(&self->slots[turn % 3], 2);
	pfs_store_release(&self->slots[turn % 3], 0);
}

/* A cursor by load and store: two threads may try the same slot. */
static void scan_body(void *opaque)
{
	struct pfs_program *self = opaque;
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
	struct pfs_program *self = opaque;
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
	struct pfs_program *self = opaque;
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
	struct pfs_program *self = opaque;
	(void)pfs_fetch_add_relaxed(&self->cursor, 1);
	pfs_mutex_lock(&self->lock);
	pfs_store_relaxed(&self->slots[0], pfs_load_relaxed(&self->cursor));
	pfs_mutex_unlock(&self->lock);
}

/* It waits from the moment it has its number. */
static void ticket_body(void *opaque)
{
	struct pfs_program *self = opaque;
	uint32_t own = pfs_fetch_add_relaxed(&self->cursor, 1);
	while (pfs_load_acquire(&self->slots[0]) != own)
		pfs_yield();
	pfs_store_relaxed(&self->slots[1], own);
	pfs_store_release(&self->slots[0], own + 1);
}

static void compare(const struct pfs_memory_model *model, const char *name, void (*body)(void *),
		    uint32_t threads, uint64_t naive_max, uint32_t classes)
{
	uint32_t sleep_classes;
	uint64_t executions[3] = { 0 }, cut[3] = { 0 }, sum;
	pfs_program.threads = threads;
	pfs_program.bodies[0] = pfs_program.bodies[1] = pfs_program.bodies[2] = body;
	search(model, PFS_SEARCH_DPOR, 0);
	pfs_expect(result.complete, name);
	executions[0] = result.executions, cut[0] = result.redundant;
	uint32_t own = found.table.count;
	sum = found.sum;
	search(model, PFS_SEARCH_SLEEP, 0);
	executions[1] = result.executions, cut[1] = result.redundant;
	sleep_classes = found.table.count;
	pfs_expect(sum == found.sum && own == sleep_classes, "source sets and sleep sets "
							     "meet the same classes");
	char naive[32] = "not run";
	if (naive_max != 0) {
		search(model, PFS_SEARCH_NAIVE, naive_max);
		(void)snprintf(naive, sizeof(naive), "%llu", (unsigned long long)result.executions);
		pfs_expect(result.complete && sum == found.sum,
			   "source sets and the naive search meet the same classes");
	}
	pfs_expect(classes == 0 || own == classes, "as many classes as are known");
	(void)printf("%-28s naive %9s  sleep sets %7llu (%6llu cut)  source sets %7llu "
		     "(%5llu cut)  classes %u\n",
		     name, naive, (unsigned long long)executions[1], (unsigned long long)cut[1],
		     (unsigned long long)executions[0], (unsigned long long)cut[0], own);
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
/* In three threads of seq operations a load of an old value excludes one of another thread. What
 * that would lead to is in no execution where the first is tried: 1 of 209 classes. */
static void program_with_rivals(void)
{
	/* clang-format off */
	static const struct pfs_program_drawn rivals = {
		{ 3, 4, 3 },
		{ { { PFS_OP_LOAD, 0, 0, PFS_SIM_RELAXED, 1 },
		    { PFS_OP_STORE, 0, 2, PFS_SIM_SEQ, 2 },
		    { PFS_OP_LOAD, 1, 2, PFS_SIM_SEQ, 2 } },
		  { { PFS_OP_STORE, 0, 2, PFS_SIM_SEQ, 1 }, { PFS_OP_STORE, 1, 2, PFS_SIM_SEQ, 2 },
		    { PFS_OP_LOAD, 1, 1, PFS_SIM_SEQ, 2 }, { PFS_OP_LOAD, 0, 2, PFS_SIM_SEQ, 2 } },
		  { { PFS_OP_LOAD, 1, 1, PFS_SIM_SEQ, 2 }, { PFS_OP_STORE, 0, 1, PFS_SIM_SEQ, 1 },
		    { PFS_OP_EXCHANGE, 1, 1, PFS_SIM_SEQ, 2 } } }
	};
	/* clang-format on */
	pfs_program_drawn = rivals;
	pfs_program.threads = 3;
	pfs_program_take_bodies();
	search(&pfs_model_views, PFS_SEARCH_SLEEP, 0);
	uint64_t sum = found.sum;
	pfs_expect(result.complete && found.table.count == 209, "program with rivals");
	search(&pfs_model_views, PFS_SEARCH_DPOR, 0);
	pfs_expect(result.complete && found.sum == sum, "program with rivals, source sets");
}

static void random_programs(const struct pfs_memory_model *model, const char *name)
{
	uint64_t random = RANDOM_SEED, executions[4] = { 0 }, classes = 0, more = 0;
	uint32_t compared = 0, with_deadlock = 0;
	uint32_t programs = pfs_program_yields ? RANDOM_PROGRAMS / 2 : RANDOM_PROGRAMS;
	for (uint32_t n = 0; n < programs && pfs_failures == 0; n++) {
		pfs_program_draw(&random, model);
		watched = n % 2 != 0;
		deadlocks = 0;
		search(model, PFS_SEARCH_NAIVE, NAIVE_MAX);
		if (!result.complete)
			continue;
		with_deadlock += deadlocks != 0;
		uint64_t naive = result.executions, sum = found.sum;
		uint32_t naive_classes = found.table.count;
		search(model, PFS_SEARCH_SLEEP, 0);
		executions[0] += naive, executions[1] += result.executions;
		pfs_expect(found.sum == sum, "random program, sleep sets");
		search(model, PFS_SEARCH_DPOR, 0);
		pfs_expect(found.sum == sum && result.complete, "random program, source sets");
		uint64_t whole = result.executions;
		if (model != &pfs_model_views) { /* with tso, if nothing is buffered */
			search(model, PFS_SEARCH_OPTIMAL, 0);
			pfs_expect(found.sum == sum && result.complete,
				   "random program, wakeup trees");
			executions[3] += result.executions;
		}
		in_parts = true;
		search(model, PFS_SEARCH_DPOR, 0);
		pfs_expect(found.sum == sum && result.complete,
			   "random program, source sets in parts");
		more += result.executions - whole;
		search(model, PFS_SEARCH_SLEEP, 0);
		pfs_expect(found.sum == sum && result.complete,
			   "random program, sleep sets in parts");
		in_parts = false;
		if (pfs_failures != 0) {
			(void)printf("naive %u classes, source sets %u\n", naive_classes,
				     found.table.count);
			pfs_program_print();
		}
		compared++;
		executions[2] += whole, classes += naive_classes;
	}
	(void)printf("%s: %u random programs, %u with deadlocks: naive %llu executions, sleep sets "
		     "%llu, source sets %llu (in parts %+lld), wakeup trees %llu, classes %llu\n",
		     name, compared, with_deadlock, (unsigned long long)executions[0],
		     (unsigned long long)executions[1], (unsigned long long)executions[2],
		     (long long)more, (unsigned long long)executions[3],
		     (unsigned long long)classes);
	pfs_expect(compared > programs / 3 && (pfs_program_yields || pfs_program_simple ||
					       with_deadlock >= programs / 100),
		   "random programs are of use");
}

int main(void)
{
	compare(&pfs_model_sc, "fetch-add cursor", fetch_add_body, 3, 50000, 6);
	compare(&pfs_model_sc, "scan, load and store cursor", scan_body, 3, 0, 1494);
	pfs_program.links = 2;
	compare(&pfs_model_sc, "tagged list, 2 threads", list_body, 2, 50000, 0);
	pfs_program.links = 3;
	compare(&pfs_model_sc, "tagged list, 3 threads", list_body, 3, 0, 0);
	compare(&pfs_model_sc, "await lock", await_body, 3, 10000, 144);
	compare(&pfs_model_sc, "mutex", mutex_body, 3, 10000, 0);
	compare(&pfs_model_sc, "ticket lock, 2 threads", ticket_body, 2, 50000, 0);
	compare(&pfs_model_tso, "ticket lock, 2 threads, tso", ticket_body, 2, 50000, 0);
	compare(&pfs_model_views, "ticket lock, 2 threads, views", ticket_body, 2, 50000, 0);
	compare(&pfs_model_sc, "ticket lock, 3 threads", ticket_body, 3, 0, 0);
	compare(&pfs_model_tso, "ticket lock, 3 threads, tso", ticket_body, 3, 0, 0);
	compare(&pfs_model_views, "ticket lock, 3 threads, views", ticket_body, 3, 0, 0);
	compare(&pfs_model_tso, "fetch-add cursor, tso", fetch_add_body, 2, 50000, 0);
	compare(&pfs_model_tso, "mutex, tso", mutex_body, 2, 10000, 0);
	program_with_rivals();
	random_programs(&pfs_model_sc, "sc");
	random_programs(&pfs_model_tso, "tso");
	pfs_program_simple = true;
	random_programs(&pfs_model_sc, "sc, simple");
	pfs_program_simple = false;
	random_programs(&pfs_model_views, "views");
	pfs_program_half_seq = true;
	random_programs(&pfs_model_views, "views, half seq");
	append_only = true;
	random_programs(&pfs_model_views, "views, append only");
	append_only = pfs_program_half_seq = false;
	pfs_program_yields = true;
	random_programs(&pfs_model_sc, "sc, yields");
	random_programs(&pfs_model_tso, "tso, yields");
	random_programs(&pfs_model_views, "views, yields");
	pfs_table_fini(&found.table);
	return pfs_expect_report();
}
