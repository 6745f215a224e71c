#include "check/front/scenario.h"

#include <pfslab/check.h>

#include "check/front/barriers.h"
#include "check/front/calls.h"
#include "check/front/clock.h"
#include "check/front/debug.h"
#include "check/front/heap.h"
#include "check/front/history.h"
#include "check/front/idle.h"
#include "check/front/futex.h"
#include "check/front/library.h"
#include "check/front/limit.h"
#include "check/front/locals.h"
#include "check/front/locks.h"
#include "check/front/places.h"
#include "check/front/shared.h"
#include "check/front/signals.h"
#include "check/front/threads.h"
#include "check/front/user.h"
#include "check/machine/current.h"
#include "check/machine/grow.h"

#define PFS_CHOICES_MAX 16u /* DPOR keeps 64 options: of up to four threads */

static struct registered {
	const char *name;
	void (*function)(void);
} * registered;
static uint32_t registered_count, registered_room;

void pfs_check_register(const char *name, void (*scenario)(void))
{
	if (!pfs_grow((void **)&registered, &registered_room, registered_count + 1,
		      sizeof(*registered)))
		abort();
	registered[registered_count++] = (struct registered){ name, scenario };
}

uint32_t pfs_check_scenario_count(void)
{
	return registered_count;
}

const char *pfs_check_scenario_name(uint32_t at)
{
	return registered[at].name;
}

/* ---- what a scenario calls ---- */

void pfs_check_thread(void (*body)(void *argument), void *argument)
{
	struct pfs_user_thread *thread = pfs_user.in_setup ? pfs_user_add() : NULL;
	if (thread == NULL) {
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "pfs_check_thread: call it in a scenario's function only; in a "
				 "thread, call pthread_create");
		return;
	}
	thread->body = body;
	thread->argument = argument;
}

void pfs_check_at_rest(void (*check)(void *argument), void *argument)
{
	pfs_user.at_rest = check;
	pfs_user.at_rest_argument = argument;
}

void pfs_check_assert_at(int holds, const char *text, const char *file, int line)
{
	if (holds == 0)
		pfs_machine_find(PFS_FOUND_ASSERTION,
				 PFS_SIDES(pfs_side_here(
					 "asserts",
					 &(const struct pfs_sim_place){ file, NULL, text, line })),
				 "assertion %s (" PFS_SIDE_1 ")", text);
}

/* Only the thread stops, and at the end the execution does not count: what others do until then can
 * be part of executions that do. */
void pfs_check_assume_at(int holds, const char *text, const char *file, int line)
{
	static const struct pfs_sim_place place = { "assume", "assume", "pfs_check_assume", 0 };
	struct pfs_user_thread *thread = pfs_user_current();
	(void)text, (void)file, (void)line;
	if (holds != 0)
		return;
	thread->is_pruned = true;
	if (pfs_user.machine->run.running == NULL)
		pfs_machine_end_here(pfs_user.machine, PFS_END_PRUNED);
	for (;;)
		pfs_user_await(&thread->assumed, PFS_SIM_RELAXED, pfs_call_is_not, 0, &place);
}

unsigned pfs_check_choose(unsigned count)
{
	const struct pfs_sim_place *place = PFS_CALL("pfs_check_choose");
	if (count == 0 || count > PFS_CHOICES_MAX)
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_SIDES(pfs_side_here("calls", place)),
				 "pfs_check_choose(%u) at " PFS_SIDE_1
				 ": choose from 1 to %u values",
				 count, PFS_CHOICES_MAX);
	if (!pfs_call_runs())
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_SIDES(pfs_side_here("calls", place)),
				 "pfs_check_choose at " PFS_SIDE_1
				 ", where no thread runs: choose in a thread");
	const struct pfs_sim_operation operation = {
		.operand = count, .place = place, .kind = PFS_SIM_CHOOSE, .order = PFS_SIM_RELAXED
	};
	return (unsigned)pfs_user_execute(&operation);
}

/* ---- an execution ---- */

static void setup(struct pfs_machine *machine, void *context)
{
	const struct registered *self = context;
	(void)machine;
	pfs_check_heap_reset();
	pfs_locals_begin();
	pfs_clock_begin();
	pfs_futex_begin();
	pfs_user_begin();
	pfs_barriers_begin();
	pfs_history_begin();
	pfs_library_restore();
	pfs_user.in_setup = true;
	pfs_limit_setup(true);
	self->function();
	pfs_limit_setup(false);
	pfs_user.in_setup = false;
	if (pfs_user.thread_count == 0)
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "scenario %s has no threads: call pfs_check_thread in it",
				 self->name);
	pfs_threads_add_slots();
}

/* Of the next operation of the thread that made the last step. */
static const struct pfs_sim_place *last_place(const struct pfs_machine *machine)
{
	uint32_t thread = machine->run.last_actor.thread;
	return thread < machine->thread_count ? machine->threads[thread]->pending.place : NULL;
}

/* The thread of a slot that pthread_create did not take still waits to be taken. */
static void settle(struct pfs_machine *machine, void *context)
{
	(void)context;
	pfs_shared_progress();
	pfs_user_arrive();
	pfs_limit_setup(false);
	if (pfs_limit_was_met()) {
		machine->run.end = PFS_END_STEPS;
		machine->run.message[0] = '\0';
	}
	if (machine->run.end == PFS_END_STEPS && machine->run.step_count >= machine->setup.step_max)
		pfs_shared_note(PFS_NOTE_STEPS, last_place(machine));
	if (machine->run.end != PFS_END_DEADLOCK)
		return;
	bool waits = false;
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		if (pfs_user.threads[id].is_pruned)
			machine->run.end = PFS_END_PRUNED;
	}
	if (machine->run.end == PFS_END_PRUNED)
		return;
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		const struct pfs_user_thread *thread = &pfs_user.threads[id];
		const struct pfs_sim_operation *next = &machine->threads[id]->pending;
		if (machine->threads[id]->state == PFS_VTHREAD_FINISHED ||
		    (thread->is_slot && !thread->is_taken))
			continue;
		if (next->kind == PFS_SIM_YIELD && next->operand >= PFS_YIELD_COUNTED) {
			machine->run.end = PFS_END_STEPS; /* it may give up later */
			machine->run.message[0] = '\0';
			return;
		}
		if (thread->has_limit) {
			/* Its time limit passes then: as in an execution with one more fault. */
			machine->run.end = PFS_END_STEPS;
			if (pfs_user.fault_count < pfs_user.fault_max)
				machine->run.end = PFS_END_KNOWN;
			else
				pfs_shared_note(PFS_NOTE_LIMIT,
						machine->threads[id]->pending.place);
			machine->run.message[0] = '\0';
			return;
		}
		waits = true;
	}
	if (waits) {
		pfs_check_stopped();
		return;
	}
	machine->run.end = PFS_END_DONE;
	machine->run.message[0] = '\0';
}

static void look_for_leaks(void)
{
	struct pfs_check_root roots[PFS_LIBRARY_ROOTS_MAX];
	const struct pfs_sim_place *place;
	size_t size;
	if (pfs_check_heap_leak(roots, pfs_library_roots(roots), &place, &size))
		pfs_machine_find(
			PFS_FOUND_LEAK, PFS_SIDES(pfs_side(PFS_THREAD_NONE, "allocated", place)),
			"leak: nothing points to %zu bytes that were allocated at " PFS_SIDE_1,
			size);
}

static void finish(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
	if (pfs_user.at_rest != NULL)
		pfs_user.at_rest(pfs_user.at_rest_argument);
	pfs_history_check();
	pfs_check_heap_end();
	look_for_leaks();
}

static bool name_address(void *context, const void *address, char *name, size_t name_bytes)
{
	const struct pfs_machine *machine = pfs_user.machine;
	const void *in_barrier = pfs_barriers_object(address);
	(void)context;
	if (address == NULL)
		return false;
	if (in_barrier != NULL)
		address = in_barrier;
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		const struct pfs_user_thread *thread = &pfs_user.threads[id];
		const char *what = address == &thread->begun   ? "begin of"
				   : address == &thread->ended ? "end of"
				   : address == &thread->woken ? "sleep of"
							       : NULL;
		if (what == NULL)
			continue;
		(void)snprintf(name, name_bytes, "%s T%u", what, id);
		return true;
	}
	return pfs_user_stack_name(address, name, name_bytes) ||
	       pfs_check_heap_name(address, name, name_bytes) ||
	       pfs_library_name(address, name, name_bytes);
}

/* A slot that no call took waits for one, which is no failure. */
static bool awaits(void *context, uint32_t thread, struct pfs_awaited *awaited)
{
	const struct pfs_machine *machine = pfs_user.machine;
	const struct pfs_user_thread *self = &pfs_user.threads[thread];
	const struct pfs_sim_operation *pending = &machine->threads[thread]->pending;
	const void *object = self->awaited != NULL ? self->awaited : pending->address;
	if (self->is_slot && !self->is_taken)
		return false;
	if (name_address(context, object, awaited->object, sizeof(awaited->object)))
		pfs_check_heap_origin(object, awaited->object, sizeof(awaited->object));
	if (pending->kind == PFS_SIM_AWAIT)
		awaited->holder = pfs_locks_holder(pending);
	return true;
}

static void keep_whole(struct pfs_machine_snapshot *snapshot, void *context)
{
	(void)context;
	pfs_user_put(snapshot);
	pfs_barriers_put(snapshot);
	pfs_locals_put(snapshot);
	pfs_clock_put(snapshot);
	pfs_futex_put(snapshot);
	pfs_library_put(snapshot);
	pfs_check_heap_put(snapshot);
	pfs_history_put(snapshot);
}

static void forked(void *context)
{
	(void)context;
	pfs_places_forked();
	pfs_check_signals_forked();
	pfs_check_idle_forked();
}

struct pfs_scenario pfs_check_scenario_of(uint32_t at)
{
	return (struct pfs_scenario){ .name = registered[at].name,
				      .setup = setup,
				      .finish = finish,
				      .name_address = name_address,
				      .awaits = awaits,
				      .context = &registered[at],
				      .settle = settle,
				      .keep_whole = keep_whole,
				      .forked = forked };
}
