/*
 * fork.c - the containers of the process, and what a fork does to them; see fork.h.
 */
#include "fork.h"

#include <pthread.h>

#include "mapped.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pfs_container *youngest; /* under list_lock */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_handlers;              /* once only */
static uint64_t last_number;           /* under list_lock */
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

bool pfs_fork_is_enlisted(const struct pfs_container *self, uint64_t number)
{
	const struct pfs_container *container = youngest;
	while (container != NULL && (container != self || container->number != number))
		container = container->older;
	return container != NULL;
}

static void lock_all(struct pfs_container *self)
{
	pfs_mutex_lock(&self->passing);
	if (self->policy_lock != NULL)
		pfs_mutex_lock(self->policy_lock);
	pfs_mutex_lock(&self->growth);
	pfs_mutex_lock(&self->roster);
}

static void unlock_all(struct pfs_container *self)
{
	pfs_mutex_unlock(&self->roster);
	pfs_mutex_unlock(&self->growth);
	if (self->policy_lock != NULL)
		pfs_mutex_unlock(self->policy_lock);
	pfs_mutex_unlock(&self->passing);
}

static void prepare(void)
{
	(void)pthread_mutex_lock(&list_lock);
	for (struct pfs_container *self = youngest; self != NULL; self = self->older)
		lock_all(self);
	pfs_mapped_lock();
}

static void in_parent(void)
{
	pfs_mapped_unlock();
	for (struct pfs_container *self = youngest; self != NULL; self = self->older)
		unlock_all(self);
	(void)pthread_mutex_unlock(&list_lock);
}

static void in_child(void)
{
	for (struct pfs_container *self = youngest; self != NULL; self = self->older) {
		self->forker = pfs_fork_self();
		pfs_store_relaxed(&self->forked, PFS_FORKED_HANDLES); /* relaxed: one thread */
	}
	in_parent();
}

static void add_handlers(void)
{
	has_handlers = pthread_atfork(prepare, in_parent, in_child) == 0;
}

bool pfs_fork_enlist(struct pfs_container *self)
{
	(void)pthread_once(&once, add_handlers);
	if (!has_handlers)
		return false;
	(void)pthread_mutex_lock(&list_lock);
	self->number = ++last_number;
	self->older = youngest;
	if (youngest != NULL)
		youngest->younger = self;
	youngest = self;
	(void)pthread_mutex_unlock(&list_lock);
	return true;
}

static void remove_from_list(struct pfs_container *self)
{
	(void)pthread_mutex_lock(&list_lock);
	if (self->older != NULL)
		self->older->younger = self->younger;
	if (self->younger != NULL)
		self->younger->older = self->older;
	else if (youngest == self) /* else it was never enlisted */
		youngest = self->older;
	(void)pthread_mutex_unlock(&list_lock);
}

/* What the parent's other threads left; true: a background thread was among them. */
static bool leave_behind(struct pfs_container *self)
{
	bool had_background = false;
	pfs_mutex_lock(&self->roster);
	uint32_t forked = pfs_load_relaxed(&self->forked); /* relaxed: under `roster` */
	if (forked == PFS_FORKED_HANDLES) {
		pfs_threads_leave(self);
		had_background = self->reclaimer != NULL;
		pfs_reclaimer_forget(self);
	}
	had_background |= forked == PFS_FORKED_BACKGROUND;
	pfs_store_relaxed(&self->forked, PFS_FORKED_NOT); /* relaxed: under `roster` */
	pfs_mutex_unlock(&self->roster);
	return had_background;
}

void pfs_fork_resume_now(struct pfs_container *self)
{
	/* relaxed: whoever sees it tries again, which is all that it says. */
	if (leave_behind(self) && pfs_reclaimer_start(self) != PFS_OK)
		pfs_store_relaxed(&self->forked, PFS_FORKED_BACKGROUND);
}

void pfs_fork_remove(struct pfs_container *self)
{
	remove_from_list(self);
	(void)leave_behind(self);
}
