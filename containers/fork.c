/*
 * fork.c - the containers of the process, and what a fork does to them; see fork.h.
 */
#include "fork.h"

#include <pthread.h>
#include <stdlib.h>

#include "alone.h"
#include "mapped.h"
#include "reclaimer.h"

static struct pfs_container *ungated; /* under list_lock: those with a policy_lock */
static uint64_t forker;               /* the thread of the latest fork, which the child has */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_handlers;    /* once only */
static bool was_alone;       /* during a fork: no lock is taken, and no thread is left behind */
static uint64_t last_number; /* under list_lock */
_Atomic(uint64_t) pfs_fork_generation;

static void prepare(void)
{
	if (pfs_is_alone()) {
		was_alone = true;
		return;
	}
	PFS_ASSERT(pfs_fork_gate_inside() == 0, "fork inside a call of a container");
	pfs_fork_list_lock();
	was_alone = false;
	/* Before the gate: a thread that holds such a lock may be about to enter the gate. */
	for (struct pfs_container *self = ungated; self != NULL; self = self->older_ungated)
		pfs_mutex_lock(self->policy_lock);
	pfs_fork_gate_close();
	pfs_mapped_lock();
	pfs_reclaimer_lock();
}

static void open_gate(void)
{
	pfs_reclaimer_unlock();
	pfs_mapped_unlock();
	pfs_fork_gate_open();
	for (struct pfs_container *self = ungated; self != NULL; self = self->older_ungated)
		pfs_mutex_unlock(self->policy_lock);
}

static void in_parent(void)
{
	if (was_alone)
		return;
	open_gate();
	pfs_fork_list_unlock();
}

static void in_child(void)
{
	if (was_alone)
		return;
	pfs_reclaimer_in_child();
	open_gate();
	pfs_fork_gate_renew();
	forker = pfs_fork_self();
	/* relaxed: one thread. */
	pfs_store_relaxed(&pfs_fork_generation, pfs_load_relaxed(&pfs_fork_generation) + 1);
	pfs_fork_list_unlock();
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
	pfs_fork_list_lock();
	self->number = ++last_number;
	self->enlisted = enlisted;
	if (self->policy_lock != NULL) {
		self->older_ungated = ungated;
		ungated = self;
	}
	pfs_fork_list_unlock();
	return true;
}

static void remove_from_list(struct pfs_container *self)
{
	struct pfs_container **link = &ungated;
	pfs_fork_list_lock();
	while (*link != NULL && *link != self)
		link = &(*link)->older_ungated;
	if (*link != NULL)
		*link = self->older_ungated;
	if (self->enlisted != NULL) { /* else it was never enlisted */
		self->enlisted->container = NULL;
		pfs_enlisted_drop(self->enlisted);
	}
	pfs_fork_list_unlock();
}

/* Clean up after the parent's other threads; true: a background thread was among them. */
static bool leave_behind(struct pfs_container *self)
{
	bool had_background = false;
	pfs_mutex_lock(&self->roster);
	uint64_t generation = pfs_load_relaxed(&pfs_fork_generation); /* relaxed: see fork.h */
	if (pfs_load_relaxed(&self->generation) != generation) {      /* relaxed: under `roster` */
		pfs_threads_leave(self, forker);
		had_background = self->reclaimer != NULL;
		pfs_reclaimer_forget(self);
		pfs_store_relaxed(&self->generation, generation); /* relaxed: as above */
	}
	had_background |= pfs_load_relaxed(&self->lacks_background) != 0; /* relaxed: as above */
	pfs_store_relaxed(&self->lacks_background, 0);                    /* relaxed: as above */
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
