#define _GNU_SOURCE
#include "check/front/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "check/front/calls.h"
#include "check/front/clock.h"
#include "check/machine/snapshot.h"

#define QUEUES 16u
#define QUEUE_OF(word) ((uint32_t)((uintptr_t)(word) / 4 % QUEUES))

static struct queue {
	uint32_t lock;
	uint32_t count;
	struct {
		const uint32_t *word;
		uint32_t bits, thread;
	} waiters[PFS_USER_THREADS_MAX]; /* the longest waiting first */
} queues[QUEUES];

void pfs_futex_begin(void)
{
	for (uint32_t i = 0; i < QUEUES; i++)
		queues[i].lock = queues[i].count = 0;
}

void pfs_futex_put(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, queues, sizeof(queues));
}

static long fail_as(int error)
{
	errno = error;
	return -1;
}

static void unlock(struct queue *self, const struct pfs_sim_place *place)
{
	(void)pfs_call_act(PFS_SIM_UNLOCK, &self->lock, 0, PFS_SIM_RELEASE, place);
}

static long sleep_on(struct queue *self, const uint32_t *word, uint32_t bits, bool has_limit,
		     const struct pfs_sim_place *place)
{
	struct pfs_user_thread *thread = pfs_user_current();
	self->waiters[self->count].word = word;
	self->waiters[self->count].bits = bits;
	self->waiters[self->count++].thread = thread->id;
	thread->has_limit = has_limit;
	thread->sleeps++;
	thread->awaited = word;
	unlock(self, place);
	pfs_call_sleep(thread, place);
	thread->has_limit = false;
	thread->awaited = NULL;
	return 0;
}

static long wait_for(uint32_t *word, uint32_t value, uint32_t bits, bool has_limit, bool may_end,
		     const struct pfs_sim_place *place)
{
	struct queue *self = &queues[QUEUE_OF(word)];
	if (!pfs_call_runs())
		pfs_call_fail_alone(place);
	(void)pfs_call_act(PFS_SIM_LOCK, &self->lock, 0, PFS_SIM_ACQUIRE, place);
	/* The kernel has a full barrier before it. */
	if (pfs_call_act(PFS_SIM_LOAD, word, 0, PFS_SIM_SEQ, place) != value) {
		unlock(self, place);
		return fail_as(EAGAIN);
	}
	if (!may_end || !pfs_user_fails())
		return sleep_on(self, word, bits, has_limit, place);
	unlock(self, place);
	if (!has_limit)
		return 0;
	pfs_clock_pass_limit();
	return fail_as(ETIMEDOUT);
}

static long wake(const uint32_t *word, uint32_t most, uint32_t bits,
		 const struct pfs_sim_place *place)
{
	struct queue *self = &queues[QUEUE_OF(word)];
	uint32_t woken[PFS_USER_THREADS_MAX], count = 0, left = 0;
	if (!pfs_call_runs())
		return 0;
	(void)pfs_call_act(PFS_SIM_LOCK, &self->lock, 0, PFS_SIM_ACQUIRE, place);
	for (uint32_t i = 0; i < self->count; i++) {
		bool is_meant = self->waiters[i].word == word &&
				(self->waiters[i].bits & bits) != 0 && count < most;
		if (is_meant)
			woken[count++] = self->waiters[i].thread;
		else
			self->waiters[left++] = self->waiters[i];
	}
	self->count = left;
	for (uint32_t i = 0; i < count; i++)
		pfs_call_wake(woken[i], place);
	unlock(self, place);
	return (long)count;
}

/* Or called from there, by other functions of the library. */
bool pfs_futex_is_of_atomic(const void *code)
{
	const struct pfs_user_thread *self = pfs_user_current();
	uint32_t depth = self->call_depth < PFS_USER_CALLS_MAX ? self->call_depth
							       : PFS_USER_CALLS_MAX;
	bool is_foreign = true;
	while (!pfs_places_is_spin(code)) {
		(void)pfs_places_of(code, &is_foreign);
		if (!is_foreign || depth == 0)
			return false;
		code = self->calls[--depth].code;
	}
	return true;
}

long pfs_futex_syscall(long number, uint32_t *word, long operation, long value, const void *limit,
		       void *other, long bits)
{
	const void *code = __builtin_return_address(0);
	const struct pfs_sim_place *place = pfs_call_place(code, "a futex");
	bool of_atomic = pfs_futex_is_of_atomic(code);
	long what = operation & ~(long)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	(void)other;
	if (number != SYS_futex) {
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_SIDES(pfs_side_here("calls", place)),
				 "system call %ld at " PFS_SIDE_1
				 " is not modelled: leave it out of the "
				 "scenario",
				 number);
		return fail_as(ENOSYS);
	}
	if (of_atomic)
		place = pfs_places_named(place, "std::atomic::wait");
	switch (what) {
	case FUTEX_WAIT: bits = FUTEX_BITSET_MATCH_ANY; /* fall through */
	case FUTEX_WAIT_BITSET:
		return wait_for(word, (uint32_t)value, (uint32_t)bits, limit != NULL,
				!of_atomic || limit != NULL, place);
	case FUTEX_WAKE: bits = FUTEX_BITSET_MATCH_ANY; /* fall through */
	case FUTEX_WAKE_BITSET: return wake(word, (uint32_t)value, (uint32_t)bits, place);
	default:
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_SIDES(pfs_side_here("calls", place)),
				 "futex operation %ld at " PFS_SIDE_1
				 " is not modelled: use FUTEX_WAIT and "
				 "FUTEX_WAKE, or their _BITSET variants",
				 what);
		return fail_as(ENOSYS);
	}
}

bool pfs_futex_looks_again(const void *address, const struct pfs_sim_place *place, const void *code,
			   uint64_t *seen)
{
	const struct pfs_user_thread *self = pfs_user_current();
	const struct pfs_user_look *last = &self->look;
	if (!self->has_look || last->address != address || last->place != place ||
	    !pfs_futex_is_of_atomic(code))
		return false;
	*seen = last->seen;
	return true;
}
