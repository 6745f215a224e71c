/*
 * fork.c - the fork handlers: which locks they take, and what a child starts anew.
 *
 * Prepare handlers run in the reverse order of registration, so ours, registered first, is the
 * innermost. A program with one thread has none: no other thread holds a lock or leaves rings
 * behind, and one that forks in a signal handler may hold a lock itself. glibc locks stdio's list
 * of all files only after the handlers, and the holder of that lock may be inside malloc
 * (fflush(NULL) with a buffer to allocate). So it is taken here, before our own locks. The child
 * reinitializes it: glibc does so only if the parent had several threads.
 *
 * A process that is alone (containers/alone.h) only hides its long free extents, unless the signal
 * whose handler forks has interrupted a call that holds a lock of extents. Its child is like one
 * that was made without handlers.
 *
 * No thread waits for the system to take blocks' memory back while it holds one of the locks taken
 * here, and fork takes no lock of ticks: so it waits for no purge. For metadata a thread holds the
 * lock of extents during one call: 64 pages of descriptors, or inner pages of the map (lists.c).
 *
 * Long free extents are not copied (hidden.h).
 *
 * The child's other threads are gone. What their rings held goes to the words later, what they
 * purged is dirty, and the ticker starts anew with the child's second thread.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "apart.h"
#include "arena.h"
#include "cache.h"
#include "catch.h"
#include "containers/alone.h"
#include "containers/thread_signals.h"
#include "guard.h"
#include "hidden.h"
#include "last.h"
#include "locks.h"
#include "slot_memory.h"
#include "start.h"
#include "tick.h"

/* glibc's; other C libraries have none. */
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));
extern void _IO_list_resetlock(void) __attribute__((weak));

static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;
static bool was_alone; /* during a fork */

/* No signal handler that allocates may wait for these locks. */
static void hide_alone(void)
{
	sigset_t before;
	pfs_thread_signals_block(&before);
	if (pfs_arenas_try_lock_extents()) {
		pfs_hidden_hide();
		pfs_arenas_unlock_extents(NULL);
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A thread that pfs_die is ending may already hold any of the locks. Its child allocates as it
 * does. */
void pfs_start_prepare(void)
{
	if (pfs_is_last())
		return;
	if (pfs_is_alone()) {
		was_alone = true;
		hide_alone();
		return;
	}
	pfs_start();
	if (_IO_list_lock != NULL)
		_IO_list_lock();
	for (uint32_t i = 0; i < PFS_LOCKS; i++)
		(void)pthread_mutex_lock(&pfs_locks[i]);
	pfs_arenas_lock_growing();
	pfs_caches_lock();
	pfs_arenas_lock();
	pfs_base_lock();
	pfs_guard_lock();
	pfs_apart_lock();
	was_alone = false;
	pfs_hidden_hide();
}

static void unlock_inner(void)
{
	pfs_apart_unlock();
	pfs_guard_unlock();
	pfs_base_unlock();
}

static void unlock_outer(void)
{
	pfs_caches_unlock();
	pfs_arenas_unlock_growing();
	for (uint32_t i = PFS_LOCKS; i-- > 0;)
		(void)pthread_mutex_unlock(&pfs_locks[i]);
}

static void in_parent(void)
{
	if (pfs_is_last() || was_alone)
		return;
	unlock_inner();
	pfs_arenas_unlock();
	unlock_outer();
	if (_IO_list_unlock != NULL)
		_IO_list_unlock();
}

static void in_child(void)
{
	if (pfs_is_last())
		return;
	pfs_catch_child();
	if (was_alone)
		return;
	unlock_inner();
	pfs_arenas_unlock();
	pfs_caches_child();
	pfs_slot_memory_child();
	pfs_tick_child();
	unlock_outer();
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		pfs_extents_child(&arena->extents);
	if (_IO_list_resetlock != NULL)
		_IO_list_resetlock();
}

static void register_handlers(void)
{
	if (pfs_start_handlers_inside != NULL)
		pfs_start_handlers_inside();
	(void)pthread_atfork(pfs_start_prepare, in_parent, in_child);
}

void pfs_start_handlers(void)
{
	static _Atomic(uint32_t) is_done;
	uint32_t before = 0;
	/* a thread that comes meanwhile waits, because it may take locks next */
	if (&pfs_start_sees_threads != NULL)
		(void)pthread_once(&handlers_once, register_handlers);
	/* relaxed: only the first caller registers */
	else if (pfs_cas_relaxed(&is_done, &before, 1))
		register_handlers(); /* this may allocate, and so recurse */
}

void pfs_start_first(void)
{
	if (&pfs_start_sees_threads == NULL)
		pfs_start_handlers();
}
