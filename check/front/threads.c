#define _GNU_SOURCE
#include "check/front/threads.h"

#include <errno.h>
#include <string.h>
#include <unwind.h>

#include <pfslab/check.h>

#include "check/front/calls.h"
#include "check/front/clock.h"
#include "check/front/futex.h"
#include "check/front/limit.h"
#include "check/front/lives.h"
#include "check/front/locals.h"
#include "check/front/loops.h"
#include "check/front/mutexes.h"
#include "check/machine/trace.h"

#define HERE __builtin_return_address(0)
#define WAITERS_MAX 24u /* as many as fit into a pthread_cond_t */

/* In place of a pthread_cond_t. */
struct pfs_user_condition {
	/* The machine's mutex for the fields below. Its operations are relaxed: a condition
	 * variable orders nothing, only the program's own mutex does. */
	uint32_t word;
	uint32_t count;
	struct pfs_life life;
	uint8_t threads[WAITERS_MAX];
};

static const struct pfs_life_kind conditions = { "condition variable", true };

_Static_assert(sizeof(struct pfs_user_condition) <= sizeof(pthread_cond_t), "a condition must fit");

/* ---- threads ---- */

static void body_of_thread(void *opaque)
{
	struct pfs_user_thread *self = opaque;
	pfs_loops_enter(self, __builtin_frame_address(0));
	pfs_user_arrive();
	self->body(self->argument);
	pfs_locals_end();
}

/* A thread that pthread_create may take. */
static void body_of_slot(void *opaque)
{
	static const struct pfs_sim_place begin = { "thread", "thread", "begin", 0 };
	static const struct pfs_sim_place end = { "thread", "thread", "end", 0 };
	struct pfs_user_thread *self = opaque;
	pfs_loops_enter(self, __builtin_frame_address(0));
	pfs_user_await(&self->begun, PFS_SIM_ACQUIRE, pfs_call_is_not, 0, &begin);
	self->result = self->start(self->argument);
	pfs_locals_end();
	pfs_sim_store(&self->ended, sizeof(self->ended), 1, PFS_SIM_RELEASE, &end);
}

void pfs_threads_add_slots(void)
{
	uint32_t named = pfs_user.thread_count;
	for (uint32_t i = 0; i < pfs_user.slots; i++) {
		struct pfs_user_thread *self = pfs_user_add();
		if (self != NULL)
			self->is_slot = true;
	}
	for (uint32_t id = 0; id < pfs_user.thread_count; id++) {
		void (*body)(void *) = id < named && pfs_user.threads[id].start == NULL
					       ? body_of_thread
					       : body_of_slot;
		if (pfs_machine_spawn(pfs_user.machine, 0, body, &pfs_user.threads[id]) ==
		    PFS_THREAD_NONE)
			pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
					 "no memory for a thread");
	}
	pfs_user_cover_stacks();
}

/* The first free slot; if there is none the search starts again with one more. */
static struct pfs_user_thread *take_slot(void)
{
	for (uint32_t id = 0; id < pfs_user.thread_count; id++) {
		struct pfs_user_thread *slot = &pfs_user.threads[id];
		if (!slot->is_slot || slot->is_taken)
			continue;
		slot->is_taken = true;
		return slot;
	}
	pfs_machine_fail(PFS_USER_SLOT_WANTED);
	return NULL;
}

static int create(pthread_t *id, void *(*start)(void *), void *argument, bool detached,
		  const struct pfs_sim_place *place)
{
	struct pfs_user_thread *thread = NULL;
	if (pfs_call_runs())
		thread = take_slot();
	else if (pfs_user.in_setup)
		thread = pfs_user_add();
	if (thread == NULL)
		return EAGAIN;
	thread->start = start;
	thread->argument = argument;
	thread->is_slot = thread->is_taken = true;
	thread->is_detached = detached;
	*id = (pthread_t)thread->id + 1;
	(void)pfs_call_act(PFS_SIM_STORE, &thread->begun, 1, PFS_SIM_RELEASE, place);
	return 0;
}

int pfs_thread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *),
		      void *argument)
{
	int state = PTHREAD_CREATE_JOINABLE;
	if (attributes != NULL)
		(void)pthread_attr_getdetachstate(attributes, &state);
	pfs_user_plain(id, sizeof(*id), true, HERE);
	return create(id, start, argument, state == PTHREAD_CREATE_DETACHED,
		      PFS_CALL("pthread_create"));
}

/* A result of type int is returned in the register of a pointer result. */
int pfs_thrd_create(pthread_t *id, thrd_start_t start, void *argument)
{
	void *(*as_pthread)(void *);
	memcpy(&as_pthread, &start, sizeof(as_pthread));
	pfs_user_plain(id, sizeof(*id), true, HERE);
	return create(id, as_pthread, argument, false, PFS_CALL("thrd_create")) == 0 ? thrd_success
										     : thrd_nomem;
}

static int join(pthread_t id, void **result, const struct pfs_sim_place *place)
{
	uint64_t at = (uint64_t)id - 1;
	if (at >= pfs_user.thread_count || !pfs_user.threads[at].is_taken) {
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("calls", place)),
				 "%s: no such thread: pass what pthread_create or thrd_create "
				 "stored, at " PFS_SIDE_1,
				 place->text);
		return ESRCH;
	}
	struct pfs_user_thread *thread = &pfs_user.threads[at];
	if (thread->is_detached) {
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("joins", place)),
				 "%s: thread %u is detached, so it cannot be joined at " PFS_SIDE_1,
				 place->text, thread->id);
		return EINVAL;
	}
	if (thread->is_joined) {
		pfs_machine_find(
			PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("joins", place)),
			"%s: thread %u was already joined: join it once, not at " PFS_SIDE_1,
			place->text, thread->id);
		return ESRCH;
	}
	if (!pfs_call_runs() && thread->ended == 0)
		pfs_machine_find(
			PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
			"%s in the set-up, where no thread runs yet: call it in a thread of "
			"pfs_check_thread",
			place->text);
	thread->is_joined = true;
	if (pfs_call_runs())
		pfs_user_await(&thread->ended, PFS_SIM_ACQUIRE, pfs_call_is_not, 0, place);
	if (result != NULL)
		*result = thread->result;
	return 0;
}

int pfs_thread_join(pthread_t id, void **result)
{
	int error = join(id, result, PFS_CALL("pthread_join"));
	if (error == 0 && result != NULL)
		pfs_user_plain(result, sizeof(*result), true, HERE);
	return error;
}

int pfs_thrd_join(pthread_t id, int *result)
{
	void *found = NULL;
	if (join(id, &found, PFS_CALL("thrd_join")) != 0)
		return thrd_error;
	if (result != NULL) {
		pfs_user_plain(result, sizeof(*result), true, HERE);
		*result = (int)(intptr_t)found;
	}
	return thrd_success;
}

int pfs_user_thread_detach(pthread_t id)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_detach");
	uint64_t at = (uint64_t)id - 1;
	struct pfs_user_thread *thread = at < pfs_user.thread_count ? &pfs_user.threads[at] : NULL;
	if (thread != NULL && thread->is_slot && (thread->is_joined || thread->is_detached))
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("detaches", place)),
				 "pthread_detach: thread %u was already %s: detach it once, not "
				 "at " PFS_SIDE_1,
				 thread->id, thread->is_joined ? "joined" : "detached");
	if (thread != NULL)
		thread->is_detached = true;
	return 0;
}

pthread_t pfs_thread_self(void)
{
	return (pthread_t)pfs_user_current()->id + 1;
}

/* It orders nothing and promises nothing: no step, but a place of a loop. */
static __attribute__((noinline)) void yield(const struct pfs_sim_place *place)
{
	pfs_limit_spend(PFS_LIMIT_STEP);
	if (!pfs_call_runs())
		return;
	struct pfs_user_thread *self = pfs_user_current();
	struct pfs_loops_visit visit;
	const struct pfs_sim_operation operation = { .place = place, .kind = PFS_SIM_YIELD };
	pfs_loops_visit(self, &operation, &visit);
	pfs_loops_keep(self, &visit);
}

int pfs_thread_yield(void)
{
	if (!pfs_futex_is_of_atomic(HERE)) /* a waiting thread ends up there */
		yield(PFS_CALL("sched_yield"));
	else
		pfs_loops_skip();
	pfs_loops_wipe();
	return 0;
}

void pfs_thread_check_yield(void)
{
	yield(PFS_CALL("pfs_check_yield"));
	pfs_loops_wipe();
}
PFS_LOOPS_ENTRY("pfs_check_yield", "pfs_thread_check_yield");

/* ---- condition variables ---- */

int pfs_cond_init(struct pfs_user_condition *self)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_cond_init");
	pfs_user_plain(self, sizeof(pthread_cond_t), true, HERE);
	pfs_life_begin(&self->life, self, &conditions, place);
	memset(self, 0, sizeof(pthread_cond_t));
	self->life = pfs_life_begun(place);
	return 0;
}

int pfs_cond_destroy(struct pfs_user_condition *self)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_cond_destroy");
	pfs_user_plain(self, sizeof(pthread_cond_t), true, HERE);
	pfs_life_use(&self->life, self, &conditions, place);
	if (self->count != 0)
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("destroys", place)),
				 "pthread_cond_destroy: %u threads still wait for the condition, "
				 "at " PFS_SIDE_1,
				 self->count);
	self->life = pfs_life_ended(place);
	return 0;
}

/* false: it ended spuriously. */
static bool wait_on(struct pfs_user_condition *self, struct pfs_user_mutex *mutex,
		    const struct pfs_sim_place *place)
{
	struct pfs_user_thread *thread = pfs_user_current();
	pfs_life_use(&self->life, self, &conditions, place);
	if (!pfs_call_runs()) {
		pfs_call_fail_alone(place);
		return true;
	}
	bool wakes = pfs_user_fails();
	if (!wakes) {
		(void)pfs_call_act(PFS_SIM_LOCK, &self->word, 0, PFS_SIM_RELAXED, place);
		if (self->count == WAITERS_MAX)
			pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
					 "%s: more than %u threads wait for one condition: start "
					 "fewer",
					 place->text, WAITERS_MAX);
		self->threads[self->count++] = (uint8_t)thread->id;
		thread->sleeps++;
		thread->awaited = self;
		(void)pfs_call_act(PFS_SIM_UNLOCK, &self->word, 0, PFS_SIM_RELAXED, place);
	}
	pfs_mutex_give(mutex, place);
	if (!wakes)
		pfs_call_sleep(thread, place);
	thread->awaited = NULL;
	(void)pfs_call_act(PFS_SIM_LOCK, &mutex->word, 0, PFS_SIM_ACQUIRE, place);
	return !wakes;
}

int pfs_cond_wait(struct pfs_user_condition *self, struct pfs_user_mutex *mutex)
{
	(void)wait_on(self, mutex, PFS_CALL("pthread_cond_wait"));
	return 0;
}

/* Only its time limit may end it spuriously. */
static bool wait_timed(struct pfs_user_condition *self, struct pfs_user_mutex *mutex,
		       const struct pfs_sim_place *place)
{
	struct pfs_user_thread *thread = pfs_user_current();
	thread->has_limit = true;
	bool woken = wait_on(self, mutex, place);
	thread->has_limit = false;
	if (!woken)
		pfs_clock_pass_limit();
	return woken;
}

int pfs_cond_timedwait(struct pfs_user_condition *self, struct pfs_user_mutex *mutex)
{
	return wait_timed(self, mutex, PFS_CALL("pthread_cond_timedwait")) ? 0 : ETIMEDOUT;
}

int pfs_cnd_timedwait(struct pfs_user_condition *self, struct pfs_user_mutex *mutex)
{
	return wait_timed(self, mutex, PFS_CALL("cnd_timedwait")) ? thrd_success : thrd_timedout;
}

/* A signal wakes any of the waiting threads. */
static uint32_t choose_one(uint32_t count, const struct pfs_sim_place *place)
{
	struct pfs_sim_operation choose = { .operand = count,
					    .place = place,
					    .kind = PFS_SIM_CHOOSE };
	return (uint32_t)pfs_user_execute(&choose);
}

static void wake(struct pfs_user_condition *self, bool all, const struct pfs_sim_place *place)
{
	uint8_t woken[WAITERS_MAX];
	pfs_life_use(&self->life, self, &conditions, place);
	if (!pfs_call_runs())
		return;
	(void)pfs_call_act(PFS_SIM_LOCK, &self->word, 0, PFS_SIM_RELAXED, place);
	uint32_t count = self->count == 0 || all ? self->count : 1;
	uint32_t first = count < self->count ? choose_one(self->count, place) : 0;
	memcpy(woken, self->threads + first, count);
	self->count -= count;
	memmove(self->threads + first, self->threads + first + count, self->count - first);
	for (uint32_t i = 0; i < count; i++)
		pfs_call_wake(woken[i], place);
	(void)pfs_call_act(PFS_SIM_UNLOCK, &self->word, 0, PFS_SIM_RELAXED, place);
}

int pfs_cond_signal(struct pfs_user_condition *self)
{
	wake(self, false, PFS_CALL("pthread_cond_signal"));
	return 0;
}

int pfs_cond_broadcast(struct pfs_user_condition *self)
{
	wake(self, true, PFS_CALL("pthread_cond_broadcast"));
	return 0;
}

/* ---- once ---- */

enum { ONCE_NOT_YET = 0, ONCE_RUNS = 1, ONCE_DONE = 2 };

/* true: the caller is the first, and ends it. */
static bool begin_once(uint32_t *word, const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = {
		word,          ONCE_RUNS,   ONCE_NOT_YET,    place,
		sizeof(*word), PFS_SIM_CAS, PFS_SIM_ACQUIRE, PFS_SIM_ACQUIRE
	};
	uint64_t seen = pfs_user_execute(&operation);
	while (seen == ONCE_RUNS) {
		pfs_user_await(word, PFS_SIM_ACQUIRE, pfs_call_is_not, ONCE_RUNS, operation.place);
		seen = pfs_user_execute(&operation);
	}
	return seen == ONCE_NOT_YET;
}

/* A routine that runs, on the stack of its thread. */
struct pfs_user_once {
	struct pfs_user_once *outer;
	uint32_t *word;
	const struct pfs_sim_place *place;
};

/* Of the innermost one. If its routine throws, the next caller tries again. */
static void end_once(uint32_t ends_as)
{
	struct pfs_user_thread *self = pfs_user_current();
	const struct pfs_user_once *once = self->once;
	self->once = once->outer;
	(void)pfs_call_act(PFS_SIM_STORE, once->word, ends_as, PFS_SIM_RELEASE, once->place);
}

/* An exception of the program leaves pfs_once. The compiler's own way to say so would need a
 * library besides libc. */
__attribute__((used)) static _Unwind_Reason_Code pfs_once_leave(int version, _Unwind_Action actions,
								_Unwind_Exception_Class class,
								struct _Unwind_Exception *exception,
								struct _Unwind_Context *context)
{
	(void)version, (void)class, (void)exception, (void)context;
	if ((actions & _UA_CLEANUP_PHASE) != 0)
		end_once(ONCE_NOT_YET);
	return _URC_CONTINUE_UNWIND;
}

__attribute__((noinline)) int pfs_once(pthread_once_t *once, void (*routine)(void))
{
	/* Relative to the place, in 4 bytes. */
	__asm__ volatile(".cfi_personality 0x1b, pfs_once_leave");
	const struct pfs_sim_place *place = PFS_CALL("pthread_once");
	uint32_t *word = (uint32_t *)(void *)once;
	if (!begin_once(word, place))
		return 0;
	struct pfs_user_thread *self = pfs_user_current();
	struct pfs_user_once own = { self->once, word, place };
	self->once = &own;
	routine();
	end_once(ONCE_DONE);
	return 0;
}

/* The initialization of a function's static variable, in C++: the first byte says that it is done,
 * and the program itself reads it. */
int pfs_guard_acquire(uint64_t *guard)
{
	return begin_once((uint32_t *)(void *)guard + 1, PFS_CALL("the first use of"));
}

static void end_guard(uint64_t *guard, bool done, const struct pfs_sim_place *place)
{
	if (done) {
		struct pfs_sim_operation operation = { guard,           1, 0,
						       place,           1, PFS_SIM_STORE,
						       PFS_SIM_RELEASE, 0 };
		(void)pfs_user_execute(&operation);
	}
	(void)pfs_call_act(PFS_SIM_STORE, (uint32_t *)(void *)guard + 1,
			   done ? ONCE_DONE : ONCE_NOT_YET, PFS_SIM_RELEASE, place);
}

void pfs_guard_release(uint64_t *guard)
{
	end_guard(guard, true, PFS_CALL("the first use of"));
}

void pfs_guard_abort(uint64_t *guard)
{
	end_guard(guard, false, PFS_CALL("the first use of"));
}
