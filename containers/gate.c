/*
 * gate.c - see gate.h.
 */
#define _GNU_SOURCE
#include "gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "atomic.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static _Thread_local uint32_t inside; /* gated locks that this thread holds or waits for */
static _Atomic(uint64_t) last_self;
static _Thread_local uint64_t self_of_thread;

uint64_t pfs_fork_self(void)
{
	if (self_of_thread == 0) /* relaxed: only the number itself counts */
		self_of_thread = pfs_fetch_add_relaxed(&last_self, 1) + 1;
	return self_of_thread;
}

void pfs_fork_list_lock(void)
{
	(void)pthread_mutex_lock(&list_lock);
}

void pfs_fork_list_unlock(void)
{
	(void)pthread_mutex_unlock(&list_lock);
}

void pfs_enlisted_hold(struct pfs_enlisted *self)
{
	self->holders++;
}

void pfs_enlisted_drop(struct pfs_enlisted *self)
{
	if (--self->holders == 0)
		free(self);
}

void pfs_fork_gate_enter(void)
{
	if (inside++ == 0)
		(void)pthread_rwlock_rdlock(&gate);
}

void pfs_fork_gate_leave(void)
{
	if (--inside == 0)
		(void)pthread_rwlock_unlock(&gate);
}

uint32_t pfs_fork_gate_inside(void)
{
	return inside;
}

void pfs_fork_gate_close(void)
{
	(void)pthread_rwlock_wrlock(&gate);
}

void pfs_fork_gate_open(void)
{
	(void)pthread_rwlock_unlock(&gate);
}

void pfs_fork_gate_renew(void)
{
	static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	gate = fresh;
}
