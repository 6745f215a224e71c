/*
 * locks.c - reader-writer locks, semaphores and spin locks of pthread: each a word or two of the
 * machine in the first bytes of the program's own object, which zero initializes.
 *
 * A call with a time limit gives up only if it would have to wait, and only as one of the faults of
 * pfs_user_fails.
 */
#define _GNU_SOURCE
#include "check/front/locks.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "check/front/calls.h"
#include "check/front/clock.h"
#include "check/front/lives.h"
#include "check/machine/trace.h"

#define HERE __builtin_return_address(0)
#define WRITTEN 0x80000000u /* of a reader-writer lock: with it 1 + writer; else readers */

/* Behind the word of a reader-writer lock or a semaphore. */
struct behind {
	uint32_t word, unused;
	struct pfs_life life;
	/* Of a reader-writer lock. */
	uint8_t reads[PFS_USER_THREADS_MAX]; /* of each thread that holds it */
	/* A reader synchronizes with earlier writers, by `released`, and not with other readers. A
	 * writer synchronizes with both, by `word`. */
	uint32_t writes;   /* so far; read by code that holds the lock */
	uint32_t released; /* the same as a word of the machine */
	int32_t kind;      /* where glibc's static initializers have it */
};
_Static_assert(sizeof(struct behind) <= sizeof(pthread_rwlock_t), "a lock must fit");
_Static_assert(offsetof(struct behind, reads) <= sizeof(sem_t), "a semaphore must fit");

static const struct pfs_life_kind rwlocks = { "reader-writer lock", true };
static const struct pfs_life_kind semaphores = { "semaphore", false };

enum how { HOW_TRY, HOW_WAIT, HOW_LIMIT };

static struct pfs_life *life_of(uint32_t *word)
{
	return &((struct behind *)(void *)word)->life;
}

static void make(uint32_t *word, size_t bytes, uint32_t first, struct pfs_life *life,
		 const struct pfs_life_kind *kind, const struct pfs_sim_place *place)
{
	pfs_life_begin(life, word, kind, place);
	memset(word, 0, bytes);
	*word = first;
	*life = pfs_life_begun(place);
}

static int end(const uint32_t *word, struct pfs_life *life, const struct pfs_life_kind *kind,
	       const struct pfs_sim_place *place)
{
	pfs_life_use(life, word, kind, place);
	if (*word != 0 && kind != &semaphores)
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("destroys", place)),
				 "%s: it is still in use, at " PFS_SIDE_1, place->text);
	*life = pfs_life_ended(place);
	return 0;
}

static bool is_not_written(uint64_t value, uint64_t argument)
{
	(void)argument;
	return (value & WRITTEN) == 0;
}

static bool is_equal(uint64_t value, uint64_t argument)
{
	return value == argument;
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

/* A second read lock waits forever where a writer waits in between, and the lock prefers it. Of a
 * std::shared_mutex it is undefined; glibc's usual locks allow it. */
static void look_for_own_read(const struct behind *self, const struct pfs_sim_place *place,
			      const void *code)
{
	uint32_t thread = pfs_user_current()->id;
	bool is_cxx = self->reads[thread] != 0 && pfs_places_is_shared_mutex(code);
	if (self->reads[thread] == 0 ||
	    (self->kind != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP && !is_cxx))
		return;
	pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("locks", place)),
			 "%s: thread %u holds a read lock already, and takes another at " PFS_SIDE_1
			 ": %s",
			 place->text, thread,
			 is_cxx ? "a std::shared_mutex does not allow that"
				: "if a writer waits in between, both wait forever");
}

static bool lock_to_read(uint32_t *word, enum how how, const struct pfs_sim_place *place,
			 const void *code)
{
	uint64_t seen = 0, found;
	struct behind *self = (struct behind *)(void *)word;
	pfs_life_use(&self->life, word, &rwlocks, place);
	if (!pfs_call_runs())
		return true;
	look_for_own_read(self, place, code);
	while ((found = pfs_call_cas(word, seen, seen + 1, PFS_SIM_RELAXED, place)) != seen) {
		seen = found;
		if (is_not_written(seen, 0))
			continue;
		if (!wait_for(word, is_not_written, how, place))
			return false;
		seen = 0;
	}
	if (self->writes != 0)
		pfs_user_await(&self->released, PFS_SIM_ACQUIRE, is_equal, self->writes, place);
	self->reads[pfs_user_current()->id]++;
	return true;
}

static bool lock_to_write(uint32_t *word, enum how how, const struct pfs_sim_place *place)
{
	pfs_life_use(life_of(word), word, &rwlocks, place);
	if (!pfs_call_runs())
		return true;
	while (pfs_call_cas(word, 0, own_mark(), PFS_SIM_ACQUIRE, place) != 0) {
		if (!wait_for(word, is_zero, how, place))
			return false;
	}
	return true;
}

int pfs_rwlock_init(uint32_t *word, const pthread_rwlockattr_t *attributes)
{
	int kind = PTHREAD_RWLOCK_DEFAULT_NP;
	if (attributes != NULL)
		(void)pthread_rwlockattr_getkind_np(attributes, &kind);
	pfs_user_plain(word, sizeof(pthread_rwlock_t), true, HERE);
	make(word, sizeof(pthread_rwlock_t), 0, life_of(word), &rwlocks,
	     PFS_CALL("pthread_rwlock_init"));
	((struct behind *)(void *)word)->kind = kind;
	return 0;
}

int pfs_rwlock_destroy(uint32_t *word)
{
	pfs_user_plain(word, sizeof(pthread_rwlock_t), true, HERE);
	return end(word, life_of(word), &rwlocks, PFS_CALL("pthread_rwlock_destroy"));
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
	(void)lock_to_read(word, HOW_WAIT, PFS_CALL("pthread_rwlock_rdlock"), HERE);
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
	return lock_to_read(word, HOW_TRY, PFS_CALL("pthread_rwlock_tryrdlock"), HERE) ? 0 : EBUSY;
}

int pfs_rwlock_trywrlock(uint32_t *word)
{
	return lock_to_write(word, HOW_TRY, PFS_CALL("pthread_rwlock_trywrlock")) ? 0 : EBUSY;
}

int pfs_rwlock_timedrdlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_rwlock_timedrdlock");
	return lock_to_read(word, HOW_LIMIT, place, HERE) ? 0 : ETIMEDOUT;
}

int pfs_rwlock_timedwrlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_rwlock_timedwrlock");
	return lock_to_write(word, HOW_LIMIT, place) ? 0 : ETIMEDOUT;
}

int pfs_rwlock_unlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_rwlock_unlock");
	uint8_t *reads = &((struct behind *)(void *)word)->reads[pfs_user_current()->id];
	pfs_life_use(life_of(word), word, &rwlocks, place);
	if (!pfs_call_runs())
		return 0;
	struct behind *self = (struct behind *)(void *)word;
	bool writes = (*word & WRITTEN) != 0;
	if (writes ? *word != own_mark() : *reads == 0) {
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("unlocks", place)),
				 "thread %u unlocks a reader-writer lock that it does not hold, "
				 "at " PFS_SIDE_1,
				 pfs_user_current()->id);
	} else if (writes) {
		(void)pfs_call_act(PFS_SIM_STORE, &self->released, ++self->writes, PFS_SIM_RELEASE,
				   place);
		(void)pfs_call_act(PFS_SIM_STORE, word, 0, PFS_SIM_RELEASE, place);
	} else {
		--*reads;
		(void)pfs_call_act(PFS_SIM_ADD, word, UINT32_MAX, PFS_SIM_RELEASE, place);
	}
	return 0;
}

uint32_t pfs_locks_holder(const struct pfs_sim_operation *waiting)
{
	pfs_machine_predicate *predicate;
	memcpy(&predicate, &waiting->expected, sizeof(predicate));
	if (predicate != is_not_written && predicate != is_zero)
		return PFS_THREAD_NONE;
	const struct behind *self = waiting->address;
	if ((self->word & WRITTEN) != 0)
		return (self->word & ~WRITTEN) - 1;
	for (uint32_t thread = 0; thread < PFS_USER_THREADS_MAX; thread++) {
		if (self->reads[thread] != 0)
			return thread;
	}
	return PFS_THREAD_NONE;
}

/* ---- semaphores ---- */

int pfs_sem_init(uint32_t *word, int shared, unsigned value)
{
	(void)shared;
	pfs_user_plain(word, sizeof(sem_t), true, HERE);
	make(word, sizeof(sem_t), value, life_of(word), &semaphores, PFS_CALL("sem_init"));
	return 0;
}

int pfs_sem_destroy(uint32_t *word)
{
	pfs_user_plain(word, sizeof(sem_t), true, HERE);
	return end(word, life_of(word), &semaphores, PFS_CALL("sem_destroy"));
}

static int fail_as(int error)
{
	errno = error;
	return -1;
}

static bool take(uint32_t *word, enum how how, const struct pfs_sim_place *place)
{
	pfs_life_use(life_of(word), word, &semaphores, place);
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
	const struct pfs_sim_place *place = PFS_CALL("sem_post");
	pfs_life_use(life_of(word), word, &semaphores, place);
	(void)pfs_call_act(PFS_SIM_ADD, word, 1, PFS_SIM_RELEASE, place);
	return 0;
}

int pfs_sem_getvalue(uint32_t *word, int *value)
{
	const struct pfs_sim_place *place = PFS_CALL("sem_getvalue");
	pfs_life_use(life_of(word), word, &semaphores, place);
	int seen = (int)pfs_call_act(PFS_SIM_LOAD, word, 0, PFS_SIM_RELAXED, place);
	pfs_user_plain(value, sizeof(*value), true, HERE);
	*value = seen;
	return 0;
}

/* ---- spin locks ---- */

/* A spin lock has room for its word only: that of one that was destroyed is this. */
#define SPIN_ENDED 0x0DEAD0FFu

static void look_at_spin(const uint32_t *word, const struct pfs_sim_place *place)
{
	if (*word == SPIN_ENDED)
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("uses", place)),
				 "%s: the spin lock is used at " PFS_SIDE_1
				 ", after it was destroyed",
				 place->text);
	else if (*word > PFS_USER_THREADS_MAX)
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("uses", place)),
				 "%s: the spin lock is used at " PFS_SIDE_1
				 ", but was not initialized",
				 place->text);
}

int pfs_spin_init(uint32_t *word)
{
	pfs_user_plain(word, sizeof(pthread_spinlock_t), true, HERE);
	*word = 0;
	return 0;
}

int pfs_spin_destroy(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_spin_destroy");
	pfs_user_plain(word, sizeof(pthread_spinlock_t), true, HERE);
	look_at_spin(word, place);
	if (*word != 0)
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("destroys", place)),
				 "pthread_spin_destroy: it is still in use, at " PFS_SIDE_1);
	*word = SPIN_ENDED;
	return 0;
}

int pfs_spin_lock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_spin_lock");
	look_at_spin(word, place);
	if (pfs_call_runs())
		(void)pfs_call_act(PFS_SIM_LOCK, word, 0, PFS_SIM_ACQUIRE, place);
	return 0;
}

int pfs_spin_trylock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_spin_trylock");
	look_at_spin(word, place);
	if (!pfs_call_runs())
		return 0;
	return pfs_call_act(PFS_SIM_TRY_LOCK, word, 0, PFS_SIM_ACQUIRE, place) == 0 ? 0 : EBUSY;
}

int pfs_spin_unlock(uint32_t *word)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_spin_unlock");
	look_at_spin(word, place);
	if (pfs_call_runs())
		(void)pfs_call_act(PFS_SIM_UNLOCK, word, 0, PFS_SIM_RELEASE, place);
	return 0;
}
