#define _GNU_SOURCE
#include "background.h"
#include "containers/thread_signals.h"

#include <errno.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)

enum { NONE, STARTING, RUNS, ENDING, LEFT };

static void lock(struct pfs_background *self)
{
	(void)pthread_mutex_lock(&self->lock);
}

static void unlock(struct pfs_background *self)
{
	(void)pthread_mutex_unlock(&self->lock);
}

/* Under lock. */
static void set_state(struct pfs_background *self, uint32_t state)
{
	self->state = state;
	/* relaxed: a hint */
	pfs_store_relaxed(&self->is_there, state != NONE && state != LEFT);
	(void)pthread_cond_broadcast(&self->changed);
}

static void *body(void *context)
{
	struct pfs_background *self = context;
	(void)pthread_setname_np(pthread_self(), self->name);
	lock(self);
	while (self->state == STARTING) /* `thread` is not written yet */
		(void)pthread_cond_wait(&self->changed, &self->lock);
	unlock(self);
	self->run();
	return NULL;
}

/* Wait for a thread that has left or will soon. The caller may be about to be cancelled. */
static void join(pthread_t thread)
{
	int before;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	(void)pthread_join(thread, NULL);
	(void)pthread_setcancelstate(before, NULL);
}

/* It may allocate, and so come here again, in STARTING. */
static bool create(struct pfs_background *self, pthread_t *thread)
{
	int error = &pfs_background_create != NULL ? pfs_background_create(thread, NULL, body, self)
						   : pthread_create(thread, NULL, body, self);
	return error == 0;
}

/* False if it is there or will be. Else the caller starts it, after it has joined *left. */
static bool claim_start(struct pfs_background *self, bool *has_left, pthread_t *left)
{
	lock(self);
	*has_left = self->state == LEFT;
	*left = self->thread;
	bool is_ours = self->state == NONE || *has_left;
	if (is_ours)
		set_state(self, STARTING);
	unlock(self);
	return is_ours;
}

/* No signal handler forks while it is STARTING: the child would wait for that to end. The thread
 * inherits the mask. */
bool pfs_background_start(struct pfs_background *self)
{
	sigset_t before;
	pthread_t thread, left;
	bool has_left;
	pfs_thread_signals_block(&before);
	if (!claim_start(self, &has_left, &left)) {
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
		return true;
	}
	int errno_before = errno;
	if (has_left)
		join(left);
	bool done = create(self, &thread);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	lock(self);
	if (done)
		self->thread = thread;
	self->is_woken = false;
	pfs_store_relaxed(&self->must_end, 0); /* relaxed: under lock */
	set_state(self, done ? RUNS : NONE);
	unlock(self);
	errno = errno_before;
	return done;
}

void pfs_background_end(struct pfs_background *self)
{
	lock(self);
	/* Another thread starts or ends it, which takes no longer than this wait. */
	while (self->state == STARTING || self->state == ENDING)
		(void)pthread_cond_wait(&self->changed, &self->lock);
	bool is_there = self->state != NONE;
	pthread_t thread = self->thread;
	if (is_there) {
		pfs_store_relaxed(&self->must_end, 1); /* relaxed: under lock */
		set_state(self, ENDING);
	}
	unlock(self);
	if (!is_there)
		return;
	join(thread);
	lock(self);
	set_state(self, NONE);
	unlock(self);
}

void pfs_background_wake(struct pfs_background *self)
{
	lock(self);
	self->is_woken = true;
	(void)pthread_cond_broadcast(&self->changed);
	unlock(self);
}

bool pfs_background_wait(struct pfs_background *self, uint64_t until_ns)
{
	struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_SECOND),
				  .tv_nsec = (long)(until_ns % NS_PER_SECOND) };
	int error = 0;
	lock(self);
	while (!self->is_woken && !pfs_background_must_end(self) && error == 0)
		error = pthread_cond_clockwait(&self->changed, &self->lock, CLOCK_MONOTONIC,
					       &until);
	bool is_woken = self->is_woken;
	self->is_woken = false;
	unlock(self);
	return is_woken;
}

void pfs_background_leave(struct pfs_background *self)
{
	lock(self);
	if (self->state == RUNS) /* in ENDING another thread waits for this one */
		set_state(self, LEFT);
	unlock(self);
}

void pfs_background_child(struct pfs_background *self)
{
	self->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	self->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	self->is_woken = false;
	pfs_store_relaxed(&self->must_end, 0); /* relaxed: one thread */
	self->state = NONE;
	pfs_store_relaxed(&self->is_there, 0); /* relaxed: one thread */
}
