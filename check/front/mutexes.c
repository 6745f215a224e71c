#define _GNU_SOURCE
#include "check/front/mutexes.h"

#include <errno.h>
#include <string.h>
#include <threads.h>

#include "check/front/calls.h"
#include "check/front/clock.h"
#include "check/front/loops.h"

#define HERE __builtin_return_address(0)

_Static_assert(sizeof(struct pfs_user_mutex) <= sizeof(pthread_mutex_t), "a mutex must fit");

static const struct pfs_life_kind mutexes = { "mutex", true };

static uint32_t own_mark(void)
{
	return pfs_user_current()->id + 1;
}

static void begin_mutex(struct pfs_user_mutex *self, int kind, const struct pfs_sim_place *place,
			const void *code)
{
	pfs_user_plain(self, sizeof(pthread_mutex_t), true, code);
	pfs_life_begin(&self->life, self, &mutexes, place);
	memset(self, 0, sizeof(pthread_mutex_t));
	self->kind = kind;
	self->life = pfs_life_begun(place);
}

int pfs_mutex_init(struct pfs_user_mutex *self, const pthread_mutexattr_t *attributes)
{
	int kind = PTHREAD_MUTEX_NORMAL;
	if (attributes != NULL)
		(void)pthread_mutexattr_gettype(attributes, &kind);
	begin_mutex(self, kind, PFS_CALL("pthread_mutex_init"), HERE);
	return 0;
}

int pfs_mutex_destroy(struct pfs_user_mutex *self)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_mutex_destroy");
	pfs_user_plain(self, sizeof(pthread_mutex_t), true, HERE);
	pfs_life_use(&self->life, self, &mutexes, place);
	if (self->word != 0)
		pfs_machine_find(
			PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("destroys", place)),
			"pthread_mutex_destroy: the mutex is still locked, at " PFS_SIDE_1);
	self->life = pfs_life_ended(place);
	return 0;
}

/* What a thread does with a mutex that it holds. -1: it does not. */
static int lock_own(struct pfs_user_mutex *self)
{
	if (self->word != own_mark() || self->kind == PTHREAD_MUTEX_NORMAL)
		return -1;
	if (self->kind == PTHREAD_MUTEX_ERRORCHECK)
		return EDEADLK;
	self->count++;
	pfs_user_current()->held++;
	return 0;
}

int pfs_mtx_init(struct pfs_user_mutex *self, int type)
{
	begin_mutex(self,
		    (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL,
		    PFS_CALL("mtx_init"), HERE);
	return thrd_success;
}

int pfs_mutex_lock(struct pfs_user_mutex *self)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_mutex_lock");
	pfs_life_use(&self->life, self, &mutexes, place);
	int own = pfs_call_runs() ? lock_own(self) : 0;
	if (own < 0)
		(void)pfs_call_act(PFS_SIM_LOCK, &self->word, 0, PFS_SIM_ACQUIRE, place);
	return own < 0 ? 0 : own;
}

/* It gives up only if it would have to wait. */
static int lock_timed(struct pfs_user_mutex *self, const struct pfs_sim_place *place)
{
	pfs_life_use(&self->life, self, &mutexes, place);
	int own = pfs_call_runs() ? lock_own(self) : 0;
	if (own >= 0)
		return pfs_loops_skip(), own;
	if (pfs_call_act(PFS_SIM_TRY_LOCK, &self->word, 0, PFS_SIM_ACQUIRE, place) == 0)
		return 0;
	if (pfs_user_fails()) {
		pfs_clock_pass_limit();
		return ETIMEDOUT;
	}
	struct pfs_user_thread *thread = pfs_user_current();
	thread->has_limit = true;
	(void)pfs_call_act(PFS_SIM_LOCK, &self->word, 0, PFS_SIM_ACQUIRE, place);
	thread->has_limit = false;
	return 0;
}

static int try_lock(struct pfs_user_mutex *self, const struct pfs_sim_place *place)
{
	pfs_life_use(&self->life, self, &mutexes, place);
	int own = pfs_call_runs() ? lock_own(self) : 0;
	if (own >= 0)
		return pfs_loops_skip(), own == EDEADLK ? EBUSY : own;
	return pfs_call_act(PFS_SIM_TRY_LOCK, &self->word, 0, PFS_SIM_ACQUIRE, place) == 0 ? 0
											   : EBUSY;
}

int pfs_mutex_timedlock(struct pfs_user_mutex *self)
{
	return lock_timed(self, PFS_CALL("pthread_mutex_timedlock"));
}

int pfs_mutex_trylock(struct pfs_user_mutex *self)
{
	return try_lock(self, PFS_CALL("pthread_mutex_trylock"));
}

int pfs_mtx_timedlock(struct pfs_user_mutex *self)
{
	return lock_timed(self, PFS_CALL("mtx_timedlock")) == 0 ? thrd_success : thrd_timedout;
}

int pfs_mtx_trylock(struct pfs_user_mutex *self)
{
	return try_lock(self, PFS_CALL("mtx_trylock")) == 0 ? thrd_success : thrd_busy;
}

void pfs_mutex_give(struct pfs_user_mutex *self, const struct pfs_sim_place *place)
{
	pfs_life_use(&self->life, self, &mutexes, place);
	if (!pfs_call_runs())
		return;
	if (self->word != own_mark())
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("unlocks", place)),
				 "thread %u unlocks a mutex that it does not hold, at " PFS_SIDE_1,
				 pfs_user_current()->id);
	if (self->count != 0) {
		self->count--;
		pfs_user_current()->held--;
		return;
	}
	(void)pfs_call_act(PFS_SIM_UNLOCK, &self->word, 0, PFS_SIM_RELEASE, place);
}

int pfs_mutex_unlock(struct pfs_user_mutex *self)
{
	pfs_mutex_give(self, PFS_CALL("pthread_mutex_unlock"));
	return 0;
}
