/*
 * Fork. Handlers run before fork in the order against that of their registration, so that ours,
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
#include "start.h"

#include <pthread.h>

#include "arena.h"
#include "cache.h"
#include "conf.h"
#include "ctl.h"
#include "explicit.h"
#include "last.h"
#include "map.h"
#include "stats.h"
#include "tick.h"

/* glibc's; others have none. */
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));
extern void _IO_list_resetlock(void) __attribute__((weak));

/* Of a library that counts: what a thread has while it does not. */
extern struct pfs_counter pfs_counter_none __attribute__((weak, visibility("hidden")));

_Thread_local struct pfs_own pfs_own = {
	.cache = &pfs_cache_none,
	.counter = &pfs_counter_none,
	.first_page = UINTPTR_MAX / 2, /* no page is so near behind it */
	.reference = UINT32_MAX,
	.last_tag = UINT32_MAX,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* once only */

static void start(void)
{
	pfs_conf_start();
	pfs_map_start();
	pfs_caches_start();
	pfs_arenas_start();
	has_key = pthread_key_create(&key, pfs_cache_end) == 0;
}

void pfs_start(void)
{
	(void)pthread_once(&once, start);
}

void pfs_start_thread(struct pfs_cache *cache)
{
	if (has_key)
		(void)pthread_setspecific(key, cache);
}

/* A thread that pfs_die ends may hold any of the locks already: its child allocates as it does. */
void pfs_start_prepare(void)
{
	if (pfs_is_last())
		return;
	pfs_start();
	if (_IO_list_lock != NULL)
		_IO_list_lock();
	pfs_ctl_lock();
	pfs_explicit_lock();
	pfs_tick_lock();
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
	pfs_tick_unlock();
	pfs_explicit_unlock();
	pfs_ctl_unlock();
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

__attribute__((constructor(101))) static void at_begin(void)
{
	pfs_start();
	pfs_conf_start();
	pfs_start_first();
}

__attribute__((destructor(101))) static void at_end(void)
{
	if (pfs_is_last())
		return;
	if (pfs_conf.stats_print)
		pfs_stats_print();
	/* What is wrong with a block that was freed is noticed when it leaves its ring, so at the
	 * latest here. */
	pfs_caches_end();
}
