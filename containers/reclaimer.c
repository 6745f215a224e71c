/*
 * reclaimer.c - the one background thread of the process, which runs the periodic reclaim passes of
 * all containers.
 *
 * The thread lives while a container with a period exists, is named pfs-reclaim and blocks all
 * signals. A period ends at a multiple of itself, so containers with the same period are due
 * together: 10,000 idle ones cost one wake-up a period. A container attaches a handle for its
 * passes, as a thread does. A long pass delays those of other containers.
 */
#define _GNU_SOURCE
#include "reclaimer.h"
#include "base/now.h"
#include "thread_signals.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define ROOM_FIRST 8u

struct pfs_reclaimer {
	struct pfs_thread *thread;
	uint64_t period_ns;
	uint64_t due_ns;
};

enum life { LIFE_NONE, LIFE_RUNS, LIFE_ENDS };

/* All under `lock`, which is the last one taken: under it the code only allocates memory. */
static struct background {
	struct pfs_reclaimer **heap; /* by due_ns, the earliest first: [0, count) */
	uint32_t count, room;
	struct pfs_reclaimer *active; /* its pass runs, without the lock; it is not in the heap */
	enum life life;
	pthread_t native;
} background;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake; /* the thread: the heap changed, or it must end */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* others: a pass or the thread ended */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_wake(void)
{
	pthread_condattr_t attributes;
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&wake, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

/* ---- the heap ---- */

static bool is_earlier(uint32_t one, uint32_t other)
{
	return background.heap[one]->due_ns < background.heap[other]->due_ns;
}

static void exchange(uint32_t one, uint32_t other)
{
	struct pfs_reclaimer *kept = background.heap[one];
	background.heap[one] = background.heap[other];
	background.heap[other] = kept;
}

static void rise(uint32_t at)
{
	for (; at != 0 && is_earlier(at, (at - 1) / 2); at = (at - 1) / 2)
		exchange(at, (at - 1) / 2);
}

static void sink(uint32_t at)
{
	for (;;) {
		uint32_t least = at;
		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
			if (child < background.count && is_earlier(child, least))
				least = child;
		}
		if (least == at)
			return;
		exchange(at, least);
		at = least;
	}
}

/* Room for every container, also the active one, so that it can always return to the heap. */
static bool make_room(void)
{
	uint32_t needed = background.count + (background.active != NULL) + 1;
	if (needed <= background.room)
		return true;
	uint32_t room = background.room != 0 ? 2 * background.room : ROOM_FIRST;
	struct pfs_reclaimer **heap = realloc(background.heap,
					      room * sizeof(struct pfs_reclaimer *));
	if (heap == NULL)
		return false;
	background.heap = heap;
	background.room = room;
	return true;
}

/* Due at the end of the current period. */
static void put(struct pfs_reclaimer *self)
{
	self->due_ns = (pfs_now_ns(CLOCK_MONOTONIC) / self->period_ns + 1) * self->period_ns;
	background.heap[background.count++] = self;
	rise(background.count - 1);
}

static void take_out(uint32_t at)
{
	exchange(at, --background.count);
	if (at == background.count)
		return;
	rise(at);
	sink(at);
}

/* ---- the thread ---- */

static void sleep_until(uint64_t due_ns)
{
	struct timespec at = { (time_t)(due_ns / NS_PER_S), (long)(due_ns % NS_PER_S) };
	(void)pthread_cond_timedwait(&wake, &lock, &at);
}

static void run_first(void)
{
	struct pfs_reclaimer *first = background.heap[0];
	take_out(0);
	background.active = first;
	(void)pthread_mutex_unlock(&lock);
	(void)first->thread->container->variant->reclaim(first->thread, PFS_RECLAIM_PASS);
	(void)pthread_mutex_lock(&lock);
	background.active = NULL;
	put(first);
	(void)pthread_cond_broadcast(&done);
}

static void *run(void *unused)
{
	(void)pthread_setname_np(pthread_self(), "pfs-reclaim");
	(void)pthread_mutex_lock(&lock);
	while (background.life == LIFE_RUNS) {
		if (background.heap[0]->due_ns <= pfs_now_ns(CLOCK_MONOTONIC))
			run_first();
		else
			sleep_until(background.heap[0]->due_ns);
	}
	(void)pthread_mutex_unlock(&lock);
	return unused;
}

static bool start_native(void)
{
	sigset_t before;
	pfs_thread_signals_block(&before);
	background.life = LIFE_RUNS;
	if (pthread_create(&background.native, NULL, run, NULL) != 0)
		background.life = LIFE_NONE;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return background.life == LIFE_RUNS;
}

/* Add a container; start the thread if it is the first one. False: no memory, or no thread. */
static bool enter(struct pfs_reclaimer *self)
{
	(void)pthread_once(&once, init_wake);
	(void)pthread_mutex_lock(&lock);
	while (background.life == LIFE_ENDS)
		(void)pthread_cond_wait(&done, &lock);
	bool is_made = make_room();
	if (is_made) {
		put(self);
		if (background.life == LIFE_NONE && !start_native()) {
			take_out(0); /* it is the only one */
			is_made = false;
		}
		(void)pthread_cond_signal(&wake);
	}
	(void)pthread_mutex_unlock(&lock);
	return is_made;
}

/* The last container is gone; when this returns the thread has ended. */
static void end_native(void)
{
	background.life = LIFE_ENDS;
	(void)pthread_cond_signal(&wake);
	(void)pthread_mutex_unlock(&lock);
	(void)pthread_join(background.native, NULL);
	(void)pthread_mutex_lock(&lock);
	free(background.heap);
	background = (struct background){ .life = LIFE_NONE };
	(void)pthread_cond_broadcast(&done);
}

static void leave(struct pfs_reclaimer *self)
{
	uint32_t at = 0;
	(void)pthread_mutex_lock(&lock);
	while (background.active == self)
		(void)pthread_cond_wait(&done, &lock);
	while (background.heap[at] != self)
		at++;
	take_out(at);
	if (background.count == 0 && background.active == NULL)
		end_native();
	(void)pthread_mutex_unlock(&lock);
}

/* ---- of a container ---- */

enum pfs_status pfs_reclaimer_start(struct pfs_container *self)
{
	struct pfs_reclaimer *reclaimer = calloc(1, sizeof(*reclaimer));
	if (reclaimer == NULL)
		return PFS_NO_MEMORY;
	reclaimer->period_ns = self->config.reclaim.period_ms * NS_PER_MS;
	enum pfs_status status = pfs_handle_attach(self, &reclaimer->thread);
	if (status == PFS_OK)
		reclaimer->thread->owner = 0; /* no fork copies the background thread */
	self->reclaimer = reclaimer;          /* a child forked from here on starts it again */
	if (status == PFS_OK && !enter(reclaimer)) {
		pfs_handle_detach(reclaimer->thread);
		status = PFS_NO_MEMORY;
	}
	if (status != PFS_OK)
		pfs_reclaimer_forget(self);
	return status;
}

void pfs_reclaimer_stop(struct pfs_container *self)
{
	struct pfs_reclaimer *reclaimer = self->reclaimer;
	if (reclaimer == NULL)
		return;
	leave(reclaimer);
	pfs_handle_detach(reclaimer->thread);
	free(reclaimer);
	self->reclaimer = NULL;
}

void pfs_reclaimer_forget(struct pfs_container *self)
{
	free(self->reclaimer);
	self->reclaimer = NULL;
}

/* ---- fork ---- */

void pfs_reclaimer_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void pfs_reclaimer_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}

/* The threads that waited on the conditions do not exist here. The heap's memory is kept. */
void pfs_reclaimer_in_child(void)
{
	background.count = 0;
	background.active = NULL;
	background.life = LIFE_NONE;
	init_wake();
	done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}
