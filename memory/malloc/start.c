#include "start.h"

#include <pthread.h>

#include "apart.h"
#include "arena.h"
#include "cache.h"
#include "catch.h"
#include "conf.h"
#include "map.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* once only */

static _Atomic(pfs_start_ended *) ended; /* always the same value */

static void end_thread(void *cache)
{
	pfs_load_relaxed (&ended)(cache); /* relaxed: this thread stored it */
}

static void start(void)
{
	(void)pfs_conf_start();
	pfs_apart_start();
	if (pfs_conf.guard_rate != 0)
		pfs_catch_begin();
	pfs_map_start();
	pfs_caches_start();
	pfs_arenas_start();
	has_key = pthread_key_create(&key, end_thread) == 0;
}

void pfs_start(void)
{
	(void)pthread_once(&once, start);
}

void pfs_start_thread(struct pfs_cache *cache, pfs_start_ended *when_ended)
{
	pfs_store_relaxed(&ended, when_ended); /* relaxed: read by this thread */
	if (has_key)
		(void)pthread_setspecific(key, cache);
}
