/*
 * thread.c - the public calls that attach and detach threads, and enter and leave sections.
 */
#include "container.h"
#include "fork.h"
#include "memory.h"

enum pfs_status pfs_thread_attach(struct pfs_container *container, struct pfs_thread **thread)
{
	pfs_fork_resume(container);
	return pfs_handle_attach(container, thread);
}

void pfs_thread_detach(struct pfs_thread *thread)
{
	pfs_fork_resume(thread->container);
	PFS_ASSERT(thread->epoch.depth == 0, "detach inside a read section");
	if (thread->forget != NULL)
		thread->forget(thread);
	pfs_handle_detach(thread);
}

void pfs_thread_adopt(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	pfs_fork_resume(self);
	pfs_mutex_lock(&self->roster);
	PFS_ASSERT(thread->attached, "adopt of a handle that is not attached");
	PFS_ASSERT(thread->forget == NULL, "adopt of a thread's own handle");
	thread->owner = pfs_fork_self();
	pfs_mutex_unlock(&self->roster);
}

uint32_t pfs_thread_migrated(struct pfs_thread *thread)
{
	thread->node = pfs_memory_caller_node();
	return thread->node;
}

enum pfs_status pfs_thread_status(const struct pfs_thread *thread)
{
	return thread->status;
}

void pfs_enter(struct pfs_thread *thread)
{
	if ((thread->traits & PFS_TRAIT_RECLAIM) != 0)
		pfs_epoch_enter(&thread->container->epoch, &thread->epoch);
}

void pfs_leave(struct pfs_thread *thread)
{
	if ((thread->traits & PFS_TRAIT_RECLAIM) != 0)
		pfs_epoch_leave(&thread->epoch);
}
