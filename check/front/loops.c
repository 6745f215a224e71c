#include "check/front/loops.h"

#include <errno.h>
#include <string.h>

#include "check/front/library.h"
#include "check/front/places.h"
#include "check/front/shared.h"
#include "check/machine/actors.h"
#include "check/machine/model.h"
#include "check/machine/snapshot.h"

#define SAME_MAX 8u /* earlier visits of a place that are compared */
#define RUSH_MAX 100000u
#define BACK_MAX 64u /* visits of any place that are looked through for them */
/* Below a stack pointer: a variable that the program has not written yet has what was left there,
 * which must be the same whenever a schedule is executed. */
#define DEAD_BYTES 512u
#define KEPT_BYTES 256u /* of these, in a snapshot */

uint64_t pfs_loops_entry[PFS_LOOPS_REGISTERS];

/* The state of a thread when it called an operation. */
struct pfs_user_visit {
	const struct pfs_user_visit *before; /* since the last effect */
	uint64_t code;                       /* the return address */
	struct pfs_loops_visit at;
	uint32_t sections;         /* locks that the thread has taken so far */
	uint32_t held;             /* of these; a recursive one as often as it was locked */
	uint32_t readings;         /* of its clock */
	uint32_t inputs, releases; /* plain reads, and what may order them before others' writes */
	int error;                 /* errno, which is the thread's own */
	uint32_t bytes;
	char stack[];
};

static struct pfs_scratch arena;
static const int *own_errno; /* its address is found by a call */
static bool has_trials;      /* some thread may see that a mutex is held */

void pfs_loops_begin(void)
{
	pfs_scratch_clear(&arena);
	pfs_unseen_calls = 0;
}

void pfs_loops_put(struct pfs_machine_snapshot *snapshot)
{
	const struct pfs_machine *machine = pfs_user.machine;
	pfs_snapshot_put_scratch(snapshot, &arena);
	pfs_snapshot_put(snapshot, &pfs_unseen_calls, sizeof(pfs_unseen_calls));
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		const struct pfs_fiber *fiber = &machine->threads[id]->fiber;
		char *used = fiber->stack_pointer;
		if (machine->threads[id]->state != PFS_VTHREAD_FINISHED &&
		    used - fiber->stack >= (ptrdiff_t)KEPT_BYTES)
			pfs_snapshot_put(snapshot, used - KEPT_BYTES, KEPT_BYTES);
	}
}

__attribute__((noinline)) void pfs_loops_wipe(void)
{
	char dead[DEAD_BYTES];
	pfs_user_zero(dead, sizeof(dead));
	__asm__ volatile("" : : "r"(dead) : "memory");
}

void pfs_loops_enter(struct pfs_user_thread *self, const void *frame)
{
	self->stack_end = frame;
	own_errno = &errno;
	pfs_loops_wipe();
}

void pfs_loops_find_trials(void)
{
	static const char *const trials[] = { "pthread_mutex_trylock",
					      "pthread_mutex_timedlock",
					      "pthread_mutex_clocklock",
					      "pthread_spin_trylock",
					      "mtx_trylock",
					      "mtx_timedlock" };
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		has_trials |= pfs_library_calls(trials[i]);
}

/* ---- stacks that others write ---- */

static bool overlaps(const struct pfs_user_range *range, const char *first, size_t bytes)
{
	return first < range->first + range->bytes && range->first < first + bytes;
}

static bool is_shared(const struct pfs_user_thread *self, const void *address, size_t bytes)
{
	for (uint32_t i = 0; i < self->shared_count; i++) {
		if (overlaps(&self->shared[i], address, bytes))
			return true;
	}
	return false;
}

/* If there are too many, no states of the thread are equal. */
static void share(struct pfs_user_thread *self, const void *address, size_t bytes)
{
	for (uint32_t i = 0; i < self->shared_count; i++) {
		const struct pfs_user_range *range = &self->shared[i];
		if (range->first <= (const char *)address &&
		    (const char *)address + bytes <= range->first + range->bytes)
			return;
	}
	if (self->shared_count == PFS_USER_SHARED_MAX)
		self->stack_end = NULL;
	else
		self->shared[self->shared_count++] = (struct pfs_user_range){ (const char *)address,
									      bytes };
}

void pfs_loops_unshare(struct pfs_user_thread *self, uintptr_t frame)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < self->shared_count; i++) {
		struct pfs_user_range range = self->shared[i];
		uintptr_t first = (uintptr_t)range.first, below = first < frame ? frame - first : 0;
		if (below >= range.bytes)
			continue;
		self->shared[left++] = (struct pfs_user_range){ range.first + below,
								range.bytes - below };
	}
	self->shared_count = left;
}

void pfs_loops_on_stack(struct pfs_user_thread *self, uint32_t owner, const void *address,
			size_t size_bytes, bool writes)
{
	bool own = owner == self->id && !is_shared(self, address, size_bytes);
	if (owner < PFS_USER_THREADS_MAX && owner != self->id && writes)
		share(&pfs_user.threads[owner], address, size_bytes);
	if (!own && writes)
		pfs_loops_effect(self);
	self->inputs += !own && !writes;
}

/* ---- operations ---- */

/* Nothing was changed: true also for a test-and-set of a word that is set. */
static bool only_looked(const struct pfs_user_thread *self,
			const struct pfs_sim_operation *operation, uint64_t seen)
{
	uint64_t written = seen;
	if (operation->kind == PFS_SIM_LOAD)
		return true;
	if (operation->size_bytes == PFS_SIM_WIDE_BYTES)
		return !((const struct pfs_sim_wide *)(uintptr_t)operation->operand)->wrote;
	if (operation->kind == PFS_SIM_AWAIT || operation->kind == PFS_SIM_FENCE ||
	    (operation->kind == PFS_SIM_TRY_LOCK && seen != 0) ||
	    (operation->kind == PFS_SIM_CAS && seen != operation->expected))
		return true;
	return pfs_kind_is_rmw(operation->kind) && operation->kind != PFS_SIM_LOCK &&
	       operation->kind != PFS_SIM_TRY_LOCK &&
	       pfs_model_result(operation, self->id, seen, &written) && written == seen;
}

/* Where the call returns to. */
static uint64_t code_of(const struct pfs_loops_visit *visit)
{
	uint64_t code;
#if defined(__x86_64__)
	memcpy(&code, (const char *)(uintptr_t)visit->registers[0], sizeof(code));
#else
	code = visit->registers[1];
#endif
	return code;
}

/* Most places have one of their own. */
static uint64_t bit_of(uint64_t code)
{
	return UINT64_C(1) << (code * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

/* The thread's state at the visit, which nothing has changed. */
void pfs_loops_keep(struct pfs_user_thread *self, const struct pfs_loops_visit *visit)
{
	const char *now = (const char *)(uintptr_t)visit->registers[0];
	if (visit->count == 0 || self->stack_end == NULL)
		return;
	uint32_t bytes = (uint32_t)(self->stack_end - now);
	struct pfs_user_visit *kept = pfs_scratch_take(&arena, sizeof(*kept) + bytes);
	kept->before = self->visits;
	kept->code = code_of(visit);
	self->visited = (self->visits != NULL ? self->visited : 0) | bit_of(kept->code);
	kept->at = *visit;
	kept->sections = self->sections;
	kept->held = self->held;
	kept->readings = self->readings;
	kept->inputs = self->inputs;
	kept->releases = self->releases;
	kept->error = *own_errno;
	kept->bytes = bytes;
	memcpy(kept->stack, now, bytes);
	self->visits = kept;
}

/* A section's begin or end. */
static bool is_of_section(struct pfs_user_thread *self, const struct pfs_sim_operation *operation,
			  const struct pfs_loops_visit *visit)
{
	bool locks = operation->kind == PFS_SIM_LOCK || operation->kind == PFS_SIM_TRY_LOCK;
	if (!locks && operation->kind != PFS_SIM_UNLOCK)
		return false;
	pfs_loops_keep(self, visit);
	self->sections += locks;
	self->held += locks ? 1u : UINT32_MAX;
	return !has_trials;
}

void pfs_loops_note(struct pfs_user_thread *self, const struct pfs_sim_operation *operation,
		    uint64_t seen, uint32_t owner, const struct pfs_loops_visit *visit)
{
	if (owner < PFS_USER_THREADS_MAX)
		share(&pfs_user.threads[owner], operation->address, operation->size_bytes);
	if (only_looked(self, operation, seen)) {
		pfs_loops_keep(self, visit);
		self->look = (struct pfs_user_look){ operation->address, operation->place, seen,
						     operation->size_bytes };
		self->has_look = true;
		self->releases += pfs_kind_is_rmw(operation->kind) &&
				  (self->fenced || pfs_order_releases(operation->order));
	} else if (!is_of_section(self, operation, visit)) {
		pfs_loops_effect(self);
	}
}

void pfs_loops_fence(struct pfs_user_thread *self, enum pfs_sim_order order)
{
	self->fenced |= pfs_order_releases((uint8_t)order);
}

bool pfs_loops_repeats(struct pfs_user_thread *self, const struct pfs_sim_operation *operation,
		       uint64_t *seen)
{
	if (!self->has_look || operation->address != self->look.address ||
	    operation->place != self->look.place || operation->size_bytes > sizeof(*seen) ||
	    operation->size_bytes == 0 || !only_looked(self, operation, self->look.seen))
		return false;
	*seen = self->look.seen; /* no other thread has made a step since */
	self->plain_count = 0;
	self->rushes--;
	return true;
}

/* ---- visits ---- */

static bool is_same_stack(const struct pfs_user_thread *self, const struct pfs_user_visit *visit)
{
	const char *now = (const char *)(uintptr_t)visit->at.registers[0];
	if (memcmp(now, visit->stack, visit->bytes) == 0)
		return true;
	for (uint32_t i = 0; i < visit->bytes; i++) {
		if (now[i] != visit->stack[i] && !is_shared(self, &now[i], 1))
			return false;
	}
	return true;
}

/* May it have read plain memory that others change without news of it, and without a race? */
static bool has_inputs(const struct pfs_user_thread *self, const struct pfs_user_visit *visit)
{
	return visit->inputs != self->inputs && visit->releases != self->releases;
}

/* If races are not looked for, others may change plain memory that it reads, without news. */
static bool may_go_on(const struct pfs_user_thread *self, const struct pfs_user_visit *visit)
{
	return visit->inputs != self->inputs && !pfs_user.machine->setup.watch;
}

static bool is_same(const struct pfs_user_thread *self, const struct pfs_user_visit *visit,
		    const struct pfs_loops_visit *now)
{
	return (visit->sections == self->sections || self->held == 0) &&
	       visit->held == self->held && visit->readings == self->readings &&
	       !has_inputs(self, visit) && visit->error == errno &&
	       memcmp(visit->at.registers, now->registers, sizeof(now->registers)) == 0 &&
	       memcmp(visit->at.given, now->given, sizeof(now->given)) == 0 &&
	       is_same_stack(self, visit);
}

/* The last visit in the same state, or NULL; *last: the last of this place. */
static const struct pfs_user_visit *find(const struct pfs_user_thread *self,
					 const struct pfs_loops_visit *now,
					 const struct pfs_user_visit **last)
{
	const struct pfs_user_visit *visit = self->visits;
	uint64_t code = code_of(now);
	uint32_t same = 0;
	*last = NULL;
	for (uint32_t back = 0; visit != NULL && back < BACK_MAX && same < SAME_MAX;
	     back++, visit = visit->before) {
		if (visit->code != code || visit->at.registers[0] != now->registers[0])
			continue;
		if (same++ == 0)
			*last = visit;
		if (is_same(self, visit, now))
			return visit;
	}
	return NULL;
}

/* Can another thread make a step, or the thread's own buffer be emptied? */
static bool has_others(const struct pfs_user_thread *self)
{
	const struct pfs_machine *machine = pfs_user.machine;
	uint32_t count = pfs_machine_actor_count(machine);
	for (uint32_t number = 0; number < count; number++) {
		struct pfs_actor actor = pfs_actor_of(machine, number);
		if ((actor.thread != self->id || actor.kind == PFS_ACTOR_DRAIN) &&
		    pfs_machine_can_move(machine, actor))
			return true;
	}
	return false;
}

/* Has it read an old value? */
static bool has_newer(const struct pfs_user_thread *self)
{
	const struct pfs_machine *machine = pfs_user.machine;
	struct pfs_sim_operation load = { .address = (void *)(uintptr_t)self->look.address,
					  .size_bytes = self->look.size_bytes,
					  .kind = PFS_SIM_LOAD };
	return self->has_look && machine->model->keeps_old &&
	       machine->model->peek(machine->threads[self->id], &load, 0) != self->look.seen;
}

/* Another thread may run, and the execution may end here. */
static uint64_t step(const struct pfs_sim_operation *operation)
{
	uint64_t seen = pfs_sim_execute(operation);
	pfs_user_arrive();
	return seen;
}

static void wait(const struct pfs_user_visit *since, uint64_t how,
		 const struct pfs_sim_place *place)
{
	struct pfs_sim_operation yield = { .place = pfs_places_named(place, "its loop"),
					   .operand = how,
					   .expected = since->at.step,
					   .kind = PFS_SIM_YIELD };
	(void)step(&yield);
}

/* It has only read and counted for long. Either it waits as long as others can go on, or it goes on
 * at once until it gives up. */
static void cut(struct pfs_user_thread *self, const struct pfs_user_visit *last,
		const struct pfs_sim_place *place)
{
	struct pfs_sim_operation choose = { .place = pfs_places_named(place, "its loop"),
					    .operand = 2,
					    .kind = PFS_SIM_CHOOSE };
	bool waits = has_others(self) || has_newer(self);
	if (waits) {
		pfs_shared_note(PFS_NOTE_LOOKS, place);
		waits = step(&choose) == 0;
	}
	if (waits)
		wait(last, PFS_YIELD_COUNTED, place);
	if (!waits || !has_others(self))
		self->rushes = RUSH_MAX;
	self->has_look = false;
}

/* How often it has come to this place since the last effect. */
static __attribute__((noinline)) uint32_t look_back(struct pfs_user_thread *self,
						    const struct pfs_sim_place *place,
						    const struct pfs_loops_visit *visit)
{
	const struct pfs_user_visit *last;
	if (self->rushes == 1) {
		pfs_shared_note(PFS_NOTE_LOOKS, place);
		wait(self->visits, PFS_YIELD_SPENT, place);
	}
	const struct pfs_user_visit *same = find(self, visit, &last);
	uint32_t count = last != NULL ? last->at.count + 1 : 1;
	if (same == NULL && count <= pfs_user.looks_max)
		return count;
	if (same != NULL)
		wait(same, may_go_on(self, same) ? PFS_YIELD_AGAIN : PFS_YIELD_LOOP, place);
	else
		cut(self, last, place);
	self->visits = NULL;
	return 1;
}

static void note_given(struct pfs_loops_visit *visit, const struct pfs_sim_operation *operation)
{
	const uint64_t given[PFS_LOOPS_GIVEN] = { (uintptr_t)operation->address, operation->operand,
						  operation->expected };
	memcpy(visit->given, given, sizeof(given));
	if (operation->size_bytes != PFS_SIM_WIDE_BYTES)
		return;
	const struct pfs_sim_wide *wide = (const void *)(uintptr_t)operation->operand;
	memcpy(&visit->given[1], &wide->operand, sizeof(wide->operand));
	memcpy(&visit->given[3], &wide->expected, sizeof(wide->expected));
}

void pfs_loops_look(struct pfs_user_thread *self, const struct pfs_sim_operation *operation,
		    struct pfs_loops_visit *visit)
{
	const struct pfs_machine *machine = pfs_user.machine;
	uintptr_t stack = (uintptr_t)machine->run.running->fiber.stack;
	memcpy(visit->registers, pfs_loops_entry, sizeof(visit->registers));
	note_given(visit, operation);
	pfs_loops_skip();
	if (pfs_user.looks_max == 0 || self->rushes > 1 || self->stack_end == NULL ||
	    visit->registers[0] - stack >= (uintptr_t)self->stack_end - stack)
		return;
	bool may_be_again = (self->visited & bit_of(code_of(visit))) != 0 || self->rushes == 1;
	visit->count = self->visits != NULL && may_be_again
			       ? look_back(self, operation->place, visit)
			       : 1;
	visit->step = machine->run.step_count;
}
