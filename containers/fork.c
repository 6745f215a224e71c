/*
 * fork.c - the containers of the process, and what a fork does to them; see fork.h.
 */
#define _GNU_SOURCE
#include "fork.h"

#include <pthread.h>
#include <stdlib.h>

#include "mapped.h"
#include "reclaimer.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static _Thread_local uint32_t inside; /* gated locks that this thread has or waits for */
static struct pfs_container *ungated; /* under list_lock: those with a policy_lock */
static uint64_t forker;               /* of the latest fork: the thread that the child has */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_handlers;             /* once only */
static uint64_t last_number;          /* under list_lock */
static _Atomic(uint64_t) last_self;
static _Thread_local uint64_t self_of_thread;
_Atomic(uint64_t) pfs_fork_generation;

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

static void prepare(void)
{
	PFS_ASSERT(inside == 0, "fork inside a call of a container");
	(void)pthread_mutex_lock(&list_lock);
	/* Before the gate: who has such a lock may be about to enter. */
	for (struct pfs_container *self = ungated; self != NULL; self = self->older_ungated)
		pfs_mutex_lock(self->policy_lock);
	(void)pthread_rwlock_wrlock(&gate);
	pfs_mapped_lock();
	pfs_reclaimer_lock();
}

static void open_gate(void)
{
	pfs_reclaimer_unlock();
	pfs_mapped_unlock();
	(void)pthread_rwlock_unlock(&gate);
	for (struct pfs_container *self = ungated; self != NULL; self = self->older_ungated)
		pfs_mutex_unlock(self->policy_lock);
}

static void in_parent(void)
{
	open_gate();
	(void)pthread_mutex_unlock(&list_lock);
}

/* The gate knows its writer by the thread's id, which is another one in the child: so it is made
 * anew. It was unlocked before that for ThreadSanitizer, which counts. */
static void in_child(void)
{
	static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	pfs_reclaimer_in_child();
	open_gate();
	gate = fresh;
	forker = pfs_fork_self();
	/* relaxed: one thread. */
	pfs_store_relaxed(&pfs_fork_generation, pfs_load_relaxed(&pfs_fork_generation) + 1);
	(void)pthread_mutex_unlock(&list_lock);
}

static void add_handlers(void)
{
	has_handlers = pthread_atfork(prepare, in_parent, in_child) == 0;
}

bool pfs_fork_enlist(struct pfs_container *self)
{
	struct pfs_enlisted *enlisted = malloc(sizeof(*enlisted));
	(void)pthread_once(&once, add_handlers);
	if (!has_handlers || enlisted == NULL) {
		free(enlisted);
		return false;
	}
	*enlisted = (struct pfs_enlisted){ self, 1 };
	(void)pthread_mutex_lock(&list_lock);
	self->number = ++last_number;
	self->enlisted = enlisted;
	if (self->policy_lock != NULL) {
		self->older_ungated = ungated;
		ungated = self;
	}
	(void)pthread_mutex_unlock(&list_lock);
	return true;
}

static void remove_from_list(struct pfs_container *self)
{
	struct pfs_container **link = &ungated;
	(void)pthread_mutex_lock(&list_lock);
	while (*link != NULL && *link != self)
		link = &(*link)->older_ungated;
	if (*link != NULL)
		*link = self->older_ungated;
	if (self->enlisted != NULL) { /* else it was never enlisted */
		self->enlisted->container = NULL;
		pfs_enlisted_drop(self->enlisted);
	}
	(void)pthread_mutex_unlock(&list_lock);
}

/* What the parent's other threads left; true: a background thread was among them. */
static bool leave_behind(struct pfs_container *self)
{
	bool had_background = false;
	pfs_mutex_lock(&self->roster);
	uint64_t generation = pfs_load_relaxed(&pfs_fork_generation); /* relaxed: see fork.h */
	if (pfs_load_relaxed(&self->generation) != generation) { /* relaxed: under `roster` */
		pfs_threads_leave(self, forker);
		had_background = self->reclaimer != NULL;
		pfs_reclaimer_forget(self);
		pfs_store_relaxed(&self->generation, generation); /* relaxed: likewise */
	}
	had_background |= pfs_load_relaxed(&self->lacks_background) != 0; /* relaxed: likewise */
	pfs_store_relaxed(&self->lacks_background, 0); /* relaxed: likewise */
	pfs_mutex_unlock(&self->roster);
	return had_background;
}

void pfs_fork_resume_now(struct pfs_container *self)
{
	if (leave_behind(self) && pfs_reclaimer_start(self) != PFS_OK)
		pfs_store_relaxed(&self->lacks_background, 1); /* relaxed: see fork.h */
}

void pfs_fork_remove(struct pfs_container *self)
{
	remove_from_list(self);
	(void)leave_behind(self);
}
