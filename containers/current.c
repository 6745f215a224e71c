/*
 * current.c - a thread's own handles: attached by the first call, detached when the thread ends.
 *
 * Each thread has a private hash table, keyed by the container's number. A pthread key makes the
 * system call end_thread when the thread ends. A container may be destroyed before that: each entry
 * holds a struct pfs_enlisted, which says so and is read under the lock of the list of containers.
 * Destroy takes that lock before it frees anything.
 *
 * Source: open addressing with linear probing, and removal by shifting back: D. Knuth, The Art of
 * Computer Programming, volume 3, section 6.4, algorithm R.
 */
#include <pthread.h>
#include <stdlib.h>

#include "container.h"
#include "gate.h"

#define ROOM_FIRST 4u /* a power of two */

struct entry {
	uint64_t number; /* of the container; 0: the entry is free */
	struct pfs_thread *thread;
	struct pfs_enlisted *enlisted;
};

static _Thread_local struct own {
	struct entry *entries; /* [room] */
	uint32_t room, count;
	uint32_t count_max; /* above it, look for entries of destroyed containers */
} own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* under the lock of the list of containers */

static uint32_t home_of(uint64_t number)
{
	return (uint32_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (own.room - 1);
}

/* The entry of a container, or the free one where it would be; NULL: there is no table. */
static struct entry *find(uint64_t number)
{
	uint32_t at = own.room != 0 ? home_of(number) : 0;
	while (own.room != 0 && own.entries[at].number != 0 && own.entries[at].number != number)
		at = (at + 1) & (own.room - 1);
	return own.room != 0 ? &own.entries[at] : NULL;
}

/* Under the lock of the list: remove the entry and move the following ones up. */
static void drop(struct entry *entry)
{
	uint32_t hole = (uint32_t)(entry - own.entries), at = hole;
	pfs_enlisted_drop(entry->enlisted);
	own.count--;
	for (;;) {
		at = (at + 1) & (own.room - 1);
		if (own.entries[at].number == 0)
			break;
		uint32_t home = home_of(own.entries[at].number);
		if (((at - home) & (own.room - 1)) < ((at - hole) & (own.room - 1)))
			continue;
		own.entries[hole] = own.entries[at];
		hole = at;
	}
	own.entries[hole].number = 0;
}

static void forget_table(void)
{
	free(own.entries);
	own = (struct own){ .entries = NULL };
}

/* End one handle of the table. The lock is taken for each handle, so that others wait for one
 * detach at most, and no container is destroyed meanwhile. */
static void end_handle(struct entry *entry)
{
	pfs_fork_list_lock();
	if (entry->enlisted->container != NULL) {
		entry->thread->forget = NULL;
		pfs_thread_detach(entry->thread);
	}
	pfs_enlisted_drop(entry->enlisted);
	entry->number = 0;
	pfs_fork_list_unlock();
}

/* The thread ends. After the library is unloaded nothing calls this. */
static void end_thread(void *unused)
{
	(void)unused;
	for (uint32_t at = 0; at < own.room; at++) {
		if (own.entries[at].number != 0)
			end_handle(&own.entries[at]);
	}
	forget_table();
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
	for (uint32_t at = 0; at < own.room; at++) { /* other threads free their own tables */
		if (own.entries[at].number != 0)
			pfs_enlisted_drop(own.entries[at].enlisted);
	}
	pfs_fork_list_unlock();
	forget_table();
}

/* Under the lock of the list. */
static void drop_destroyed(void)
{
	for (uint32_t at = 0; at < own.room;) {
		struct entry *entry = &own.entries[at];
		if (entry->number != 0 && entry->enlisted->container == NULL)
			drop(entry); /* another entry may have moved here */
		else
			at++;
	}
	own.count_max = 2 * own.count + 8;
}

static bool widen(void)
{
	struct own old = own;
	if (4 * (own.count + 1) <= 3 * own.room)
		return true;
	uint32_t room = own.room != 0 ? 2 * own.room : ROOM_FIRST;
	struct entry *entries = calloc(room, sizeof(*entries));
	if (entries == NULL)
		return false;
	own.entries = entries;
	own.room = room;
	for (uint32_t at = 0; at < old.room; at++) {
		if (old.entries[at].number != 0)
			*find(old.entries[at].number) = old.entries[at];
	}
	free(old.entries);
	return true;
}

/* Arrange for end_thread to be called when the thread ends; false: no memory. */
static bool prepare_end(void)
{
	(void)pthread_once(&once, make_key);
	pfs_fork_list_lock();
	bool prepared = has_key && pthread_setspecific(key, &own) == 0;
	if (own.count >= own.count_max)
		drop_destroyed();
	pfs_fork_list_unlock();
	return prepared && widen();
}

/* Called before a detach by hand. */
static void forget(struct pfs_thread *thread)
{
	struct entry *entry = find(thread->container->number);
	PFS_ASSERT(entry != NULL && entry->number != 0 && entry->thread == thread,
		   "detach of another thread's own handle");
	pfs_fork_list_lock();
	drop(entry);
	pfs_fork_list_unlock();
	thread->forget = NULL;
}

enum pfs_status pfs_thread_current(struct pfs_container *container, struct pfs_thread **thread)
{
	struct entry *entry = find(container->number);
	if (entry != NULL && entry->number != 0) {
		*thread = entry->thread;
		return PFS_OK;
	}
	*thread = NULL;
	if (!prepare_end())
		return PFS_NO_MEMORY;
	enum pfs_status status = pfs_thread_attach(container, thread);
	if (status != PFS_OK)
		return status;
	(*thread)->forget = forget;
	pfs_fork_list_lock();
	pfs_enlisted_hold(container->enlisted);
	pfs_fork_list_unlock();
	*find(container->number) = (struct entry){ container->number, *thread,
						   container->enlisted };
	own.count++;
	return PFS_OK;
}
