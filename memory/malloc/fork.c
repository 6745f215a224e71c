/*
 * fork.c - handlers of fork: which locks they take, and what a child begins anew.
 *
 * Handlers run before fork in the order against that of their registration, so that ours,
 * the first, is the innermost. A program of one thread needs none: nobody else holds a lock, and
 * nobody's rings are left behind. glibc takes stdio's lock of all files only after the
 * handlers, and who holds it may be inside malloc (fflush(NULL) with a buffer to make): so it is
 * taken here, before our own locks. In the child it is made anew: glibc does so by itself only
 * where the parent had several threads.
 *
 * The child's other threads are gone: what their rings held goes into the words, and the ticker
 * begins anew with the child's second thread.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "arena.h"
#include "cache.h"
#include "last.h"
#include "locks.h"
#include "start.h"
#include "tick.h"

/* glibc's; others have none. */
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));
extern void _IO_list_resetlock(void) __attribute__((weak));

static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* A thread that pfs_die ends may hold any of the locks already: its child allocates as it does. */
void pfs_start_prepare(void)
{
	if (pfs_is_last())
		return;
	pfs_start();
	if (_IO_list_lock != NULL)
		_IO_list_lock();
	for (uint32_t i = 0; i < PFS_LOCKS; i++)
		(void)pthread_mutex_lock(&pfs_locks[i]);
	pfs_arenas_lock_growing();
	pfs_caches_lock();
	pfs_arenas_lock();
	pfs_base_lock();
}

static void unlock_inner(void)
{
	pfs_base_unlock();
	pfs_arenas_unlock();
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
	if (pfs_is_last())
		return;
	unlock_inner();
	unlock_outer();
	if (_IO_list_unlock != NULL)
		_IO_list_unlock();
}

static void in_child(void)
{
	if (pfs_is_last())
		return;
	unlock_inner();
	pfs_caches_child();
	pfs_tick_child();
	unlock_outer();
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
	if (&pfs_start_sees_threads != NULL) /* who comes meanwhile waits: it may take locks next */
		(void)pthread_once(&handlers_once, register_handlers);
	else if (pfs_cas_relaxed(&is_done, &before, 1)) /* relaxed: only who is first counts */
		register_handlers(); /* which may allocate, and come here again */
}

void pfs_start_first(void)
{
	if (&pfs_start_sees_threads == NULL)
		pfs_start_handlers();
}
