#define _GNU_SOURCE
#include "check/front/user.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check/front/heap.h"
#include "check/front/limit.h"
#include "check/front/loops.h"
#include "check/front/places.h"
#include "check/front/sizes.h"
#include "check/front/shared.h"
#include "check/front/thread_local.h"
#include "check/machine/model.h"
#include "check/machine/races.h"
#include "check/machine/snapshot.h"
#include "check/machine/trace.h"

#define PLAIN_MAX (1u << 21) /* accesses, between two steps of a thread */
#define RANGE_PART ((size_t)1 << 20)

static void forget(struct pfs_user_thread *self)
{
	pfs_user_zero(self, offsetof(struct pfs_user_thread, look));
}

void pfs_user_begin(void)
{
	pfs_user.closes = NULL; /* of the last execution */
	/* Of the last execution. */
	for (uint32_t id = 0; id < pfs_user.thread_count; id++)
		forget(&pfs_user.threads[id]);
	forget(&pfs_user.threads[PFS_USER_THREADS_MAX]);
	pfs_user.executions++;
	pfs_user.thread_count = 0;
	pfs_user.at_rest = NULL;
	pfs_loops_begin();
	pfs_user.threads[PFS_USER_THREADS_MAX].id = PFS_USER_THREADS_MAX;
}

static void put_thread(struct pfs_machine_snapshot *snapshot, struct pfs_user_thread *thread)
{
	uint32_t depth = thread->call_depth < PFS_USER_CALLS_MAX ? thread->call_depth
								 : PFS_USER_CALLS_MAX;
	pfs_snapshot_put(snapshot, thread, offsetof(struct pfs_user_thread, shared));
	pfs_snapshot_put(snapshot, thread->shared,
			 thread->shared_count * sizeof(thread->shared[0]));
	pfs_snapshot_put(snapshot, thread->calls, depth * sizeof(thread->calls[0]));
}

void pfs_user_put(struct pfs_machine_snapshot *snapshot)
{
	for (uint32_t id = 0; id < pfs_user.thread_count; id++)
		put_thread(snapshot, &pfs_user.threads[id]);
	put_thread(snapshot, &pfs_user.threads[PFS_USER_THREADS_MAX]);
	pfs_loops_put(snapshot);
	pfs_snapshot_put_count(snapshot, &pfs_user.executions, 1);
	pfs_snapshot_put(snapshot, &pfs_user.at_rest, sizeof(pfs_user.at_rest));
	pfs_snapshot_put(snapshot, &pfs_user.at_rest_argument, sizeof(pfs_user.at_rest_argument));
}

struct pfs_user_thread *pfs_user_add(void)
{
	if (pfs_user.thread_count == PFS_USER_THREADS_MAX) {
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "the scenario starts more than %u threads, the most that "
				 "pfs-check runs: start fewer",
				 PFS_USER_THREADS_MAX);
		return NULL;
	}
	struct pfs_user_thread *self = &pfs_user.threads[pfs_user.thread_count];
	self->id = pfs_user.thread_count++;
	return self;
}

/* From the lowest stack to the end of the highest: most addresses are not in between. */
static struct {
	uintptr_t first, bytes;
} stacks;

static void cover(const struct pfs_fiber *fiber)
{
	uintptr_t first = (uintptr_t)fiber->stack, end = first + fiber->stack_bytes;
	uintptr_t old_end = stacks.first + stacks.bytes;
	if (stacks.bytes == 0 || first < stacks.first)
		stacks.first = first;
	stacks.bytes = (end > old_end ? end : old_end) - stacks.first;
}

void pfs_user_cover_stacks(void)
{
	const struct pfs_machine *machine = pfs_user.machine;
	cover(&machine->aside.fiber);
	for (uint32_t id = 0; id < machine->thread_count; id++)
		cover(&machine->threads[id]->fiber);
}

static bool has(const struct pfs_fiber *fiber, const void *address)
{
	return (uintptr_t)address - (uintptr_t)fiber->stack < fiber->stack_bytes;
}

static uint32_t find_stack(const void *address)
{
	const struct pfs_machine *machine = pfs_user.machine;
	if (machine->run.running != NULL && has(&machine->run.running->fiber, address))
		return machine->run.running->id;
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		if (has(&machine->threads[id]->fiber, address))
			return id;
	}
	return has(&machine->aside.fiber, address) ? PFS_USER_THREADS_MAX : PFS_THREAD_NONE;
}

static inline uint32_t stack_of(const void *address)
{
	bool may_be = (uintptr_t)address - stacks.first < stacks.bytes;
	return may_be ? find_stack(address) : PFS_THREAD_NONE;
}

uint32_t pfs_user_stack_of(const void *address)
{
	return stack_of(address);
}

bool pfs_user_stack_name(const void *address, char *name, size_t name_bytes)
{
	uint32_t owner = pfs_user_stack_of(address);
	if (owner == PFS_THREAD_NONE)
		return false;
	const struct pfs_user_thread *self = &pfs_user.threads[owner];
	uint32_t depth = self->call_depth < PFS_USER_CALLS_MAX ? self->call_depth
							       : PFS_USER_CALLS_MAX;
	char who[32], function[PFS_SHORT_BYTES];
	(void)snprintf(who, sizeof(who),
		       owner == PFS_USER_THREADS_MAX ? "the scenario's stack" : "T%u's stack",
		       owner);
	/* The function that has the variable: below it are those that it called. */
	for (uint32_t at = 0; at < depth; at++) {
		const struct pfs_user_call *call = &self->calls[at];
		bool is_foreign;
		if ((uintptr_t)address < call->frame)
			continue;
		pfs_finding_shorten(pfs_places_of(call->inside, &is_foreign)->function, function);
		(void)snprintf(name, name_bytes, "%s+%zu on %s", function,
			       (size_t)((uintptr_t)address - call->frame), who);
		return true;
	}
	(void)snprintf(name, name_bytes, "%s", who);
	return true;
}

/* Has the function returned that had this variable? What lies below the stack pointer of a thread
 * is in use by nothing; but a later call may have put its own variables there. */
static void look_at_stack(uint32_t owner, const void *address, bool writes,
			  const struct pfs_sim_place *place)
{
	const struct pfs_machine *machine = pfs_user.machine;
	const struct pfs_vthread *running = machine->run.running;
	bool is_gone = true;
	if (owner == running->id)
		is_gone = (uintptr_t)address < (uintptr_t)__builtin_frame_address(0);
	else if (owner != PFS_USER_THREADS_MAX &&
		 machine->threads[owner]->state != PFS_VTHREAD_FINISHED)
		is_gone = (uintptr_t)address <
			  (uintptr_t)machine->threads[owner]->fiber.stack_pointer;
	if (!is_gone)
		return;
	char whose[48] = "the scenario's function";
	if (owner != PFS_USER_THREADS_MAX)
		(void)snprintf(whose, sizeof(whose), "a function of thread %u", owner);
	pfs_machine_find(
		PFS_FOUND_STACK, PFS_SIDES(pfs_side_here(writes ? "writes" : "reads", place)),
		"use after return: %s at " PFS_SIDE_1 " of a variable of %s that has returned",
		writes ? "write" : "read", whose);
}

void pfs_user_fail(enum pfs_finding_kind kind, const char *what)
{
	const struct pfs_vthread *running = pfs_user.machine->run.running;
	if (running == NULL) {
		pfs_machine_find(kind, PFS_NO_SIDES, "set-up or final check: %s", what);
		return;
	}
	struct pfs_finding_side side;
	uint32_t count = pfs_side_after(running, &side);
	pfs_machine_find(kind, &side, count, "thread %u: %s, %s", running->id, what,
			 pfs_trace_after(running->pending.place));
}

void pfs_user_fail_late(void)
{
	pfs_user.is_late = 0;
	pfs_user_fail(PFS_FOUND_ENDLESS, "it reaches no further operation (--patience)");
}

/* Its first use, or foreign. */
static const struct pfs_sim_place *find_place(const void *code, const void **own)
{
	const struct pfs_user_thread *self = pfs_user_current();
	bool is_foreign;
	const struct pfs_sim_place *place = pfs_places_of(code, &is_foreign);
	uint32_t depth = self->call_depth < PFS_USER_CALLS_MAX ? self->call_depth
							       : PFS_USER_CALLS_MAX;
	*own = code;
	/* A call from another library, whose own caller is not known: in this function. */
	if (is_foreign && depth != 0 && pfs_places_is_outside(code)) {
		*own = self->calls[depth - 1].inside;
		place = pfs_places_of(*own, &is_foreign);
	}
	while (is_foreign && depth-- > 0) {
		bool outer_is_foreign;
		const struct pfs_sim_place *outer = pfs_places_of(self->calls[depth].code,
								  &outer_is_foreign);
		if (outer_is_foreign)
			continue;
		*own = self->calls[depth].code;
		return outer;
	}
	return place;
}

const struct pfs_sim_place *pfs_user_place(const void *code, const void **own)
{
	const struct pfs_sim_place *place = pfs_places_again(code);
	if (__builtin_expect(place == NULL || pfs_user.closes != NULL, 0))
		return find_place(code, own);
	*own = code;
	return place;
}

bool pfs_user_fails(void)
{
	struct pfs_user_thread *self = pfs_user_current();
	uint32_t number = self->may_fail++;
	if (pfs_user.machine == NULL || pfs_user.machine->run.running == NULL)
		return false;
	if (self->may_fail > pfs_user.may_fail[self->id]) {
		pfs_user.may_fail[self->id] = self->may_fail;
		pfs_shared_may_fail(self->id, self->may_fail);
	}
	for (uint32_t i = 0; i < pfs_user.fault_count; i++) {
		if (pfs_user.faults[i].thread == self->id && pfs_user.faults[i].number == number) {
			pfs_loops_effect(self);
			return true;
		}
	}
	return false;
}

/* ---- operations ---- */

/* A thread accesses what is on the stack of `owner`. See is_private. */
static inline void look_at_owner(const struct pfs_user_thread *self, uint32_t owner)
{
	if (owner != self->id && owner < PFS_USER_THREADS_MAX && !pfs_user.meets_on_stacks)
		pfs_machine_fail(PFS_USER_STACKS_WANTED);
}

uint64_t pfs_user_execute(const struct pfs_sim_operation *operation)
{
	struct pfs_user_thread *self = pfs_user_current();
	bool runs = pfs_user.machine != NULL && pfs_user.machine->run.running != NULL;
	pfs_limit_spend(PFS_LIMIT_STEP);
	if (!runs)
		return pfs_sim_execute(operation);
	bool has_bytes = operation->size_bytes != 0 && operation->kind != PFS_SIM_NOTE;
	bool accesses = operation->kind <= PFS_SIM_UNLOCK;
	uint32_t owner = has_bytes ? stack_of(operation->address) : PFS_THREAD_NONE;
	look_at_owner(self, owner);
	if (accesses) {
		if (owner != PFS_THREAD_NONE)
			look_at_stack(owner, operation->address, operation->kind != PFS_SIM_LOAD,
				      operation->place);
		pfs_check_heap_note_atomic(operation->address);
		pfs_check_heap_look(operation->address, operation->size_bytes,
				    operation->kind != PFS_SIM_LOAD, operation->place);
	}
	struct pfs_loops_visit visit;
	pfs_loops_visit(self, operation, &visit);
	if (accesses && pfs_user.one_size)
		pfs_sizes_look(operation, owner);
	uint64_t seen;
	if (pfs_loops_rushes(self, operation, &seen))
		return seen;
	seen = pfs_sim_execute(operation);
	self->plain_count = 0;
	/* Others ran meanwhile, and may have freed it. */
	if (accesses)
		pfs_check_heap_look(operation->address, operation->size_bytes,
				    operation->kind != PFS_SIM_LOAD, operation->place);
	pfs_tls_switch(self->id);
	pfs_loops_note(self, operation, seen, owner, &visit);
	pfs_loops_leave(&visit);
	return seen;
}

uint64_t pfs_user_await_at(void *address, uint8_t size_bytes, enum pfs_sim_order order,
			   pfs_machine_predicate *predicate, uint64_t argument,
			   const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = {
		address,        argument,   (uint64_t)(uintptr_t)predicate,
		place,          size_bytes, PFS_SIM_AWAIT,
		(uint8_t)order, 0
	};
	return pfs_user_execute(&operation);
}

void pfs_user_await(uint32_t *word, enum pfs_sim_order order, pfs_machine_predicate *predicate,
		    uint64_t argument, const struct pfs_sim_place *place)
{
	(void)pfs_user_await_at(word, sizeof(*word), order, predicate, argument, place);
}

/* A plain access goes to memory itself: the thread's own atomic store to the same place must not be
 * in its buffer then. */
static void drain_own(const void *address, size_t size_bytes, const struct pfs_sim_place *place)
{
	const struct pfs_vthread *thread = pfs_user.machine->run.running;
	uintptr_t first = (uintptr_t)address;
	for (uint32_t i = 0; i < thread->buffer_count; i++) {
		const struct pfs_buffered *entry =
			&thread->buffer[(thread->buffer_first + i) % PFS_BUFFER_MAX];
		uintptr_t stored = (uintptr_t)entry->address;
		if (stored >= first + size_bytes || first >= stored + entry->size_bytes)
			continue;
		struct pfs_sim_operation drain = { .place = place,
						   .kind = PFS_SIM_FENCE,
						   .order = PFS_SIM_SEQ };
		uint64_t call[PFS_LOOPS_REGISTERS]; /* of an operation that comes next */
		memcpy(call, pfs_loops_entry, sizeof(call));
		pfs_loops_skip();
		pfs_loops_call(pfs_user_current());
		(void)pfs_sim_execute(&drain); /* the step alone, which orders nothing else */
		pfs_user_arrive();
		memcpy(pfs_loops_entry, call, sizeof(call));
		return;
	}
}

/*
 * A plain access of a thread to its own stack, which nothing needs to know of.
 *
 * A race on a stack needs an access of another thread. The first such access of an execution, of
 * any kind, ends it as failed (look_at_owner), before it is executed; the search then starts again
 * with meets_on_stacks, and each access to a stack is kept. So a search that ends without
 * meets_on_stacks has seen no execution in which threads meet on a stack. In the others, up to such
 * an access, what is not kept here makes no difference to what is executed.
 *
 * The other conditions leave to look_at_plain what is not usual: a variable of a function that has
 * returned; bytes that are shared for loops.h; stores that wait in the thread's buffer; and
 * searches that look at plain accesses for other reasons than races.
 */
static inline bool is_private(const struct pfs_machine *machine, const void *address,
			      size_t size_bytes, const void *frame)
{
	const struct pfs_vthread *running = machine->run.running;
	if (running == NULL || pfs_user.meets_on_stacks || pfs_user.closes != NULL)
		return false;
	const struct pfs_user_thread *self = &pfs_user.threads[running->id];
	uintptr_t begin = (uintptr_t)running->fiber.stack;
	uintptr_t end = begin + running->fiber.stack_bytes;
	/* The program may have stacks of its own, which it switches to. */
	return (uintptr_t)frame - begin < end - begin &&
	       (uintptr_t)address - (uintptr_t)frame < end - (uintptr_t)frame &&
	       end - (uintptr_t)address >= size_bytes && self->shared_count == 0 &&
	       running->buffer_count == 0 && self->plain_count < PLAIN_MAX &&
	       machine->hooks.plain == pfs_races_plain;
}

static __attribute__((noinline)) void look_at_plain(const void *address, size_t size_bytes,
						    bool writes, const void *code)
{
	struct pfs_machine *machine = pfs_user.machine;
	const void *own;
	if (__builtin_expect(pfs_user.is_late, 0))
		pfs_user_fail_late();
	if (machine == NULL || (machine->run.running == NULL && !machine->aside.is_on) ||
	    address == &errno)
		return;
	pfs_limit_spend(PFS_LIMIT_ACCESS + size_bytes / PFS_LIMIT_BYTES);
	const struct pfs_sim_place *place = pfs_user_place(code, &own);
	if (machine->run.running != NULL)
		drain_own(address, size_bytes, place);
	pfs_check_heap_look(address, size_bytes, writes, place);
	if (machine->run.running == NULL)
		return;
	uint32_t owner = stack_of(address);
	if (owner != PFS_THREAD_NONE)
		look_at_stack(owner, address, writes, place);
	struct pfs_user_thread *self = pfs_user_current();
	look_at_owner(self, owner);
	pfs_loops_plain(self, owner, address, size_bytes, writes);
	if (self->plain_count++ == PLAIN_MAX)
		pfs_machine_find(
			PFS_FOUND_ENDLESS, PFS_SIDES(pfs_side_here("accesses", place)),
			"thread %u reaches no atomic access after its plain ones: a loop that "
			"reads plain memory, or what assembly writes, never ends at " PFS_SIDE_1,
			self->id);
	for (size_t done = 0; done < size_bytes; done += RANGE_PART) {
		size_t rest = size_bytes - done;
		struct pfs_plain access = { (const char *)address + done, own,
					    (uint32_t)(rest < RANGE_PART ? rest : RANGE_PART),
					    writes };
		machine->hooks.plain(machine, &access);
	}
}

void pfs_user_plain(const void *address, size_t size_bytes, bool writes, const void *code)
{
	const struct pfs_machine *machine = pfs_user.machine;
	bool is_usual = (uintptr_t)address - stacks.first < stacks.bytes && pfs_user.is_late == 0 &&
			size_bytes <= PFS_LIMIT_BYTES;
	if (!is_usual || !is_private(machine, address, size_bytes, __builtin_frame_address(0))) {
		look_at_plain(address, size_bytes, writes, code);
		return;
	}
	/* The next operation looks at the clock: what it leaves on the stack must not depend on it.
	 */
	pfs_limit_left -= pfs_limit_left != 0;
	pfs_user.threads[machine->run.running->id].plain_count++;
}
