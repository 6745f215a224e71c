/*
 * reclaimer.c - the background thread that runs a reclaim pass every period.
 *
 * It attaches like any other thread, is named pfs-reclaim and takes no signal. Stopping wakes
 * it at once.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "container.h"

struct pfs_reclaimer {
	struct pfs_thread *thread;
	pthread_t native;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping; /* under lock */
};

static struct timespec deadline_after(uint32_t period_ms)
{
	struct timespec at;
	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += period_ms / 1000;
	at.tv_nsec += (long)(period_ms % 1000) * 1000000L;
	if (at.tv_nsec >= 1000000000L) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000L;
	}
	return at;
}

/* False when it is time to stop. */
static bool sleep_period(struct pfs_reclaimer *self, uint32_t period_ms)
{
	struct timespec deadline = deadline_after(period_ms);
	int woken = 0;
	(void)pthread_mutex_lock(&self->lock);
	while (!self->stopping && woken == 0)
		woken = pthread_cond_timedwait(&self->wake, &self->lock, &deadline);
	bool go_on = !self->stopping;
	(void)pthread_mutex_unlock(&self->lock);
	return go_on;
}

static void *run(void *opaque)
{
	struct pfs_reclaimer *self = opaque;
	(void)pthread_setname_np(pthread_self(), "pfs-reclaim");
	uint32_t period_ms = pfs_container_config(self->thread->container)->reclaim.period_ms;
	while (sleep_period(self, period_ms))
		(void)pfs_reclaim_pass(self->thread);
	return NULL;
}

static void init_wake(struct pfs_reclaimer *self)
{
	pthread_condattr_t attributes;
	(void)pthread_mutex_init(&self->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&self->wake, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

static void reclaimer_free(struct pfs_reclaimer *self)
{
	(void)pthread_cond_destroy(&self->wake);
	(void)pthread_mutex_destroy(&self->lock);
	free(self);
}

/* With all signals blocked, which a new thread inherits: they are the application's. */
static bool start_native(struct pfs_reclaimer *self)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&self->native, NULL, run, self);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0;
}

enum pfs_status pfs_reclaimer_start(struct pfs_container *self)
{
	struct pfs_reclaimer *reclaimer = calloc(1, sizeof(*reclaimer));
	if (reclaimer == NULL)
		return PFS_NO_MEMORY;
	init_wake(reclaimer);
	enum pfs_status status = pfs_thread_attach(self, &reclaimer->thread);
	if (status == PFS_OK)
		reclaimer->thread->owner = 0; /* no fork copies the thread that it belongs to */
	if (status == PFS_OK && !start_native(reclaimer)) {
		pfs_thread_detach(reclaimer->thread);
		status = PFS_NO_MEMORY;
	}
	if (status != PFS_OK) {
		reclaimer_free(reclaimer);
		return status;
	}
	self->reclaimer = reclaimer;
	return PFS_OK;
}

void pfs_reclaimer_stop(struct pfs_container *self)
{
	struct pfs_reclaimer *reclaimer = self->reclaimer;
	if (reclaimer == NULL)
		return;
	(void)pthread_mutex_lock(&reclaimer->lock);
	reclaimer->stopping = true;
	(void)pthread_cond_signal(&reclaimer->wake);
	(void)pthread_mutex_unlock(&reclaimer->lock);
	(void)pthread_join(reclaimer->native, NULL);
	pfs_thread_detach(reclaimer->thread);
	reclaimer_free(reclaimer);
	self->reclaimer = NULL;
}

/* The memory alone: the thread that waited on the condition is not there to leave it. */
void pfs_reclaimer_forget(struct pfs_container *self)
{
	free(self->reclaimer);
	self->reclaimer = NULL;
}
