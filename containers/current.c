/*
 * current.c - a thread's own handles: attached when it first asks, detached when it ends.
 *
 * Each thread keeps a list of its own, which nobody else touches; a key of the process makes
 * the system call back when the thread ends. A container may be destroyed before: so an entry
 * is believed only as long as a container with its number is enlisted (fork.h), under the lock
 * of that list, which destroy takes before anything goes.
 */
#include <pthread.h>
#include <stdlib.h>

#include "fork.h"

struct entry {
	struct entry *next;
	struct pfs_container *container;
	uint64_t number; /* of the container: its address may be used again */
	struct pfs_thread *thread;
};

static _Thread_local struct own {
	struct entry *entries;
	uint32_t count;
	uint32_t count_max; /* look for entries of destroyed containers beyond it */
} own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* under the lock of the list of containers */

static struct entry **find(const struct pfs_container *container)
{
	struct entry **link = &own.entries;
	while (*link != NULL && ((*link)->container != container ||
				 (*link)->number != container->number))
		link = &(*link)->next;
	return link;
}

static void drop(struct entry **link)
{
	struct entry *entry = *link;
	*link = entry->next;
	own.count--;
	free(entry);
}

/* The thread ends; or the library is unloaded, then nobody calls this any more. */
static void end_thread(void *unused)
{
	(void)unused;
	pfs_fork_list_lock();
	while (own.entries != NULL) {
		struct pfs_thread *thread = own.entries->thread;
		if (pfs_fork_is_enlisted(own.entries->container, own.entries->number)) {
			thread->is_current = false;
			pfs_thread_detach(thread);
		}
		drop(&own.entries);
	}
	pfs_fork_list_unlock();
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
}

__attribute__((destructor)) static void forget_key(void)
{
	pfs_fork_list_lock();
	if (has_key)
		(void)pthread_key_delete(key);
	has_key = false;
	pfs_fork_list_unlock();
	while (own.entries != NULL) /* other threads' lists are theirs: they may be in use */
		drop(&own.entries);
}

static void drop_destroyed(void)
{
	struct entry **link = &own.entries;
	while (*link != NULL) {
		if (pfs_fork_is_enlisted((*link)->container, (*link)->number))
			link = &(*link)->next;
		else
			drop(link);
	}
	own.count_max = 2 * own.count + 8;
}

/* Ask to be called when the thread ends; false: no memory. */
static bool prepare_end(void)
{
	(void)pthread_once(&once, make_key);
	pfs_fork_list_lock();
	bool prepared = has_key && pthread_setspecific(key, &own) == 0;
	if (own.count >= own.count_max)
		drop_destroyed();
	pfs_fork_list_unlock();
	return prepared;
}

enum pfs_status pfs_thread_current(struct pfs_container *container, struct pfs_thread **thread)
{
	struct entry *entry = *find(container);
	*thread = entry != NULL ? entry->thread : NULL;
	if (entry != NULL)
		return PFS_OK;
	entry = malloc(sizeof(*entry));
	enum pfs_status status = PFS_NO_MEMORY;
	if (entry != NULL && prepare_end())
		status = pfs_thread_attach(container, thread);
	if (status != PFS_OK) {
		free(entry);
		return status;
	}
	(*thread)->is_current = true;
	*entry = (struct entry){ own.entries, container, container->number, *thread };
	own.entries = entry;
	own.count++;
	return PFS_OK;
}

void pfs_current_forget(struct pfs_thread *thread)
{
	struct entry **link = find(thread->container);
	PFS_ASSERT(*link != NULL && (*link)->thread == thread,
		   "detach of another thread's own handle");
	drop(link);
	thread->is_current = false;
}
