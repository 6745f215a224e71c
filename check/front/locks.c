/*
 * locks.c - reader-writer locks, semaphores, spin locks and barriers of pthread: each a word or two
 * of the machine in the first bytes of the program's own object, which zero initializes.
 *
 * A call with a time limit gives up only if it would have to wait, and only as one of the faults of
 * pfs_user_fails.
 */
#define _GNU_SOURCE
#include "check/front/locks.h"

#include <errno.h>
#include <string.h>

#include "check/front/calls.h"
#include "check/front/clock.h"
#include "check/machine/trace.h"

#define HERE __builtin_return_address(0)
#define WRITTEN 0x80000000u /* of a reader-writer lock: with it 1 + writer; else readers */

struct pfs_barrier {
	uint32_t word, generation, total;
};
_Static_assert(sizeof(uint32_t) <= sizeof(pthread_rwlock_t), "a lock must fit");
_Static_assert(sizeof(uint32_t) <= sizeof(sem_t), "a semaphore must fit");
_Static_assert(sizeof(struct pfs_barrier) <= sizeof(pthread_barrier_t), "a barrier must fit");

enum how { HOW_TRY, HOW_WAIT, HOW_LIMIT };

static void make(uint32_t *word, size_t bytes, uint32_t first, const void *code)
{
	pfs_user_plain(word, bytes, true, code);
	memset(word, 0, bytes);
	*word = first;
}

static int end(const uint32_t *word, size_t bytes, const char *what, const void *code)
{
	pfs_user_plain(word, bytes, true, code);
	if (*word != 0)
		pfs_machine_fail("%s: it is still in use", what);
	return 0;
}

static bool is_not_written(uint64_t value, uint64_t argument)
{
	(void)argument;
	return (value & WRITTEN) == 0;
}

static bool is_zero(uint64_t value, uint64_t argument)
{
	(void)argument;
	return value == 0;
}

static bool is_above_zero(uint64_t value, uint64_t argument)
{
	(void)argument;
	return value != 0;
}

/* Until the predicate holds; false: the caller must give up. */
static bool wait_for(uint32_t *word, pfs_machine_predicate *predicate, enum how how,
		     const struct pfs_sim_place *place)
{
	if (how == HOW_TRY)
		return false;
	if (how == HOW_LIMIT && pfs_user_fails()) {
		pfs_clock_pass_limit();
		return false;
	}
	struct pfs_user_thread *self = pfs_user_current();
	self->has_limit = how == HOW_LIMIT;
	pfs_user_await(word, PFS_SIM_RELAXED, predicate, 0, place);
	self->has_limit = false;
	return true;
}

/* ---- reader-writer locks ---- */

static uint32_t own_mark(void)
{
	return WRITTEN | (pfs_user_current()->id + 1);
}

static bool lock_to_read(uint32_t *word, enum how how, const struct pfs_sim_place *place)
{
	uint64_t seen = 0, found;
	if (!pfs_call_runs())
		return true;
	while ((found = pfs_call_cas(word, seen, seen + 1, PFS_SIM_ACQUIRE, place)) != seen) {
		seen = found;
		if (is_not_written(seen, 0))
			continue;
		if (!wait_for(word, is_not_written, how, place))
			return false;
		seen = 0;
	}
	return true;
}

static bool lock_to_write(uint32_t *word, enum how how, const struct pfs_sim_place *place)
{
	if (!pfs_call_runs())
		return true;
	while (pfs_call_cas(word, 0, own_mark(), PFS_SIM_ACQUIRE, place) != 0) {
		if (!wait_for(word, is_zero, how, place))
			return false;
	}
	return true;
}

int pfs_rwlock_init(uint32_t *word)
{
	make(word, sizeof(pthread_rwlock_t), 0, HERE);
	return 0;
}

int pfs_rwlock_destroy(uint32_t *word)
{
	return end(word, sizeof(pthread_rwlock_t), "pthread_rwlock_destroy", HERE);
}

/* glibc reports this to the thread that holds the write lock; a thread with a read lock waits for
 * ever. */
static bool is_own(const uint32_t *word)
{
	return pfs_call_runs() && *word == own_mark();
}

int pfs_rwlock_rdlock(uint32_t *word)
{
	if (is_own(word))
		return EDEADLK;
	(void)lock_to_read(word, HOW_WAIT, PFS_CALL("pthread_rwlock_rdlock"));
	return 0;
}

int pfs_rwlock_wrlock(uint32_t *word)
{
	if (is_own(word))
		return EDEADLK;
	(void)lock_to_write(word, HOW_WAIT, PFS_CALL("pthread_rwlock_wrlock"));
	return 0;
}

int pfs_rwlock_tryrdlock(uint32_t *word)
{
	return lock_to_read(word, HOW_TRY, PFS_CALL("pthread_rwlock_tryrdlock")) ? 0 : EBUSY;
}

int pfs_rwlock_trywrlock(uint32_t *word)
{
	return lock_to_write(word, HOW_TRY, PFS_CALL("pthread_rwlock_trywrlock")) ? 0 : EBUSY;
}

int pfs_rwlock_timedrdlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_rwlock_timedrdlock");
	return lock_to_read(word, HOW_LIMIT, place) ? 0 : ETIMEDOUT;
}

int pfs_rwlock_timedwrlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_rwlock_timedwrlock");
	return lock_to_write(word, HOW_LIMIT, place) ? 0 : ETIMEDOUT;
}

int pfs_rwlock_unlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_rwlock_unlock");
	if (!pfs_call_runs())
		return 0;
	if (*word == 0 || ((*word & WRITTEN) != 0 && *word != own_mark()))
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("unlocks", place)),
				 "thread %u unlocks a reader-writer lock that it does not hold, "
				 "at " PFS_SIDE_1,
				 pfs_user_current()->id);
	else if ((*word & WRITTEN) != 0)
		(void)pfs_call_act(PFS_SIM_STORE, word, 0, PFS_SIM_RELEASE, place);
	else
		(void)pfs_call_act(PFS_SIM_ADD, word, UINT32_MAX, PFS_SIM_RELEASE, place);
	return 0;
}

uint32_t pfs_locks_writer(const struct pfs_sim_operation *waiting)
{
	pfs_machine_predicate *predicate;
	memcpy(&predicate, &waiting->expected, sizeof(predicate));
	if (predicate != is_not_written && predicate != is_zero)
		return PFS_THREAD_NONE;
	uint32_t word = *(const uint32_t *)waiting->address;
	return (word & WRITTEN) != 0 ? (word & ~WRITTEN) - 1 : PFS_THREAD_NONE;
}

/* ---- semaphores ---- */

int pfs_sem_init(uint32_t *word, int shared, unsigned value)
{
	(void)shared;
	make(word, sizeof(sem_t), value, HERE);
	return 0;
}

int pfs_sem_destroy(uint32_t *word)
{
	pfs_user_plain(word, sizeof(sem_t), true, HERE);
	return 0;
}

static int fail_as(int error)
{
	errno = error;
	return -1;
}

static bool take(uint32_t *word, enum how how, const struct pfs_sim_place *place)
{
	uint64_t seen = pfs_call_act(PFS_SIM_LOAD, word, 0, PFS_SIM_RELAXED, place);
	if (seen == 0 && !pfs_call_runs()) {
		if (how == HOW_WAIT)
			pfs_call_fail_alone(place);
		return false;
	}
	for (;;) {
		if (seen == 0 && !wait_for(word, is_above_zero, how, place))
			return false;
		if (seen == 0)
			seen = 1;
		uint64_t found = pfs_call_cas(word, seen, seen - 1, PFS_SIM_ACQUIRE, place);
		if (found == seen)
			return true;
		seen = found;
	}
}

int pfs_sem_wait(uint32_t *word)
{
	(void)take(word, HOW_WAIT, PFS_CALL("sem_wait"));
	return 0;
}

int pfs_sem_trywait(uint32_t *word)
{
	return take(word, HOW_TRY, PFS_CALL("sem_trywait")) ? 0 : fail_as(EAGAIN);
}

int pfs_sem_timedwait(uint32_t *word)
{
	return take(word, HOW_LIMIT, PFS_CALL("sem_timedwait")) ? 0 : fail_as(ETIMEDOUT);
}

int pfs_sem_post(uint32_t *word)
{
	(void)pfs_call_act(PFS_SIM_ADD, word, 1, PFS_SIM_RELEASE, PFS_CALL("sem_post"));
	return 0;
}

int pfs_sem_getvalue(uint32_t *word, int *value)
{
	const struct pfs_sim_place *place = PFS_CALL("sem_getvalue");
	*value = (int)pfs_call_act(PFS_SIM_LOAD, word, 0, PFS_SIM_RELAXED, place);
	return 0;
}

/* ---- spin locks ---- */

int pfs_spin_init(uint32_t *word)
{
	make(word, sizeof(pthread_spinlock_t), 0, HERE);
	return 0;
}

int pfs_spin_destroy(uint32_t *word)
{
	return end(word, sizeof(pthread_spinlock_t), "pthread_spin_destroy", HERE);
}

int pfs_spin_lock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_spin_lock");
	if (pfs_call_runs())
		(void)pfs_call_act(PFS_SIM_LOCK, word, 0, PFS_SIM_ACQUIRE, place);
	return 0;
}

int pfs_spin_trylock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_spin_trylock");
	if (!pfs_call_runs())
		return 0;
	return pfs_call_act(PFS_SIM_TRY_LOCK, word, 0, PFS_SIM_ACQUIRE, place) == 0 ? 0 : EBUSY;
}

int pfs_spin_unlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_spin_unlock");
	if (pfs_call_runs())
		(void)pfs_call_act(PFS_SIM_UNLOCK, word, 0, PFS_SIM_RELEASE, place);
	return 0;
}

/* ---- barriers ---- */

int pfs_barrier_init(struct pfs_barrier *self, const pthread_barrierattr_t *attributes,
		     unsigned total)
{
	(void)attributes;
	if (total == 0)
		return EINVAL;
	make(&self->word, sizeof(pthread_barrier_t), 0, HERE);
	self->total = total;
	return 0;
}

int pfs_barrier_destroy(struct pfs_barrier *self)
{
	return end(&self->word, sizeof(pthread_barrier_t), "pthread_barrier_destroy", HERE);
}

int pfs_barrier_wait(struct pfs_barrier *self)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_barrier_wait");
	if (!pfs_call_runs()) {
		if (self->total > 1)
			pfs_call_fail_alone(place);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	uint64_t generation = pfs_call_act(PFS_SIM_LOAD, &self->generation, 0, PFS_SIM_RELAXED,
					   place);
	uint64_t before = pfs_call_act(PFS_SIM_ADD, &self->word, 1, PFS_SIM_ACQ_REL, place);
	if (before + 1 < self->total) {
		struct pfs_user_thread *thread = pfs_user_current();
		thread->awaited = self;
		pfs_user_await(&self->generation, PFS_SIM_ACQUIRE, pfs_call_is_not, generation,
			       place);
		thread->awaited = NULL;
		return 0;
	}
	(void)pfs_call_act(PFS_SIM_STORE, &self->word, 0, PFS_SIM_RELAXED, place);
	(void)pfs_call_act(PFS_SIM_ADD, &self->generation, 1, PFS_SIM_RELEASE, place);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}
