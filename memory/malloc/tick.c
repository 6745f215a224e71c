#define _GNU_SOURCE
#include "tick.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <string.h>
#include <time.h>

#include "arena.h"
#include "cache.h"
#include "conf.h"
#include "containers/decay.h"
#include "system.h"
#include "locks.h"
#include "rack.h"

/* glibc's, since 2.32; other C libraries have none. */
extern char __libc_single_threaded __attribute__((weak));

#define TRIES_MOST 4u
#define LOOK_EVERY 64u /* slow calls */
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)
#define RETRY_NS (10 * NS_PER_SECOND)

enum { WANTED_BY_CONF, WANTED, UNWANTED };

static _Atomic(uint32_t) has_thread;
static _Atomic(uint32_t) wanted;  /* under lock: what mallctl said of the thread */
static _Atomic(uint64_t) last_ns; /* of ticks without the thread */
static _Atomic(uint32_t) wished;
/* when the last attempt to start the thread failed; 0: it did not */
static _Atomic(uint64_t) refused_ns;
static bool is_forked; /* in a child: __libc_single_threaded is the parent's */
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool has_ended; /* under waiting: no thread has a cache any more */

/* ---- which pages go ---- */

/* The decay of one kind of an arena's extents, if it goes by time. */
struct curve {
	struct pfs_decay decay;
	size_t pages_before;
};
static struct curve *curves[PFS_ARENAS_MAX][2] PFS_SELDOM; /* under lock */

static uint32_t passes_of(int64_t decay_ms)
{
	uint64_t tick_ms = pfs_conf.tick_ms != 0 ? pfs_conf.tick_ms : 1000;
	uint64_t passes = ((uint64_t)decay_ms + tick_ms - 1) / tick_ms;
	return passes < PFS_DECAY_PASSES_MAX ? (uint32_t)passes : PFS_DECAY_PASSES_MAX;
}

/* NULL: no memory; nothing decays this time. */
static struct curve *curve_of(uint32_t arena, enum pfs_extent_kind kind, uint32_t passes)
{
	static struct pfs_base_pool pool;
	struct curve *curve = curves[arena][kind];
	if (curve != NULL && curve->decay.passes == passes)
		return curve;
	/* Large enough for any time that mallctl may set later. */
	size_t bytes = sizeof(*curve) + 2 * PFS_DECAY_PASSES_MAX * sizeof(uint32_t);
	if (curve == NULL)
		curve = pfs_base_new(&pool, bytes);
	if (curve == NULL)
		return NULL;
	memset(curve, 0, sizeof(*curve) + 2 * passes * sizeof(uint32_t));
	curve->decay.passes = passes;
	curve->decay.weights = (uint32_t *)(curve + 1);
	curve->decay.cohorts = curve->decay.weights + passes;
	for (uint32_t age = 0; age < passes; age++)
		curve->decay.weights[age] = pfs_decay_weight(passes, age);
	curves[arena][kind] = curve;
	return curve;
}

/* How many pages of a kind may stay after this tick, with a decay time. */
static size_t pages_by_curve(uint32_t arena, enum pfs_extent_kind kind, int64_t decay_ms,
			     size_t pages)
{
	if (decay_ms < 0)
		return pages;
	struct curve *curve = decay_ms == 0 ? NULL : curve_of(arena, kind, passes_of(decay_ms));
	if (curve == NULL)
		return decay_ms == 0 ? 0 : pages;
	pfs_decay_turn(&curve->decay);
	size_t more = pages > curve->pages_before ? pages - curve->pages_before : 0;
	curve->decay.cohorts[curve->decay.newest] += (uint32_t)more;
	uint64_t limit = pfs_decay_limit(&curve->decay);
	curve->pages_before = limit < pages ? (size_t)limit : pages;
	return curve->pages_before;
}

static size_t pages_now(struct pfs_extents *extents, enum pfs_extent_kind kind)
{
	pfs_mutex_lock(&extents->lock);
	size_t pages = extents->kinds[kind].pages;
	pfs_mutex_unlock(&extents->lock);
	return pages;
}

/* low: pages not needed since the last tick; before: dirty pages when this tick began. */
static void purge(struct pfs_arena *arena, size_t low, size_t before)
{
	struct pfs_extents *extents = &arena->extents;
	size_t dirty = pages_now(extents, PFS_EXTENT_DIRTY);
	int64_t dirty_ms = pfs_arena_decay_ms(arena, PFS_EXTENT_DIRTY);
	int64_t muzzy_ms = pfs_arena_decay_ms(arena, PFS_EXTENT_MUZZY);
	size_t left;
	if (dirty_ms == PFS_DECAY_LOW_WATER) {
		/* What the tick itself freed was unused for just as long. */
		size_t surplus = low + (dirty > before ? dirty - before : 0);
		left = dirty > surplus ? dirty - surplus : 0;
	} else {
		left = pages_by_curve(arena->number, PFS_EXTENT_DIRTY, dirty_ms, dirty);
	}
	(void)pfs_extents_purge(extents, PFS_EXTENT_DIRTY, left, muzzy_ms != 0);
	size_t muzzy = pages_now(extents, PFS_EXTENT_MUZZY);
	left = pages_by_curve(arena->number, PFS_EXTENT_MUZZY, muzzy_ms, muzzy);
	(void)pfs_extents_purge(extents, PFS_EXTENT_MUZZY, left, false);
}

/* ---- a tick ---- */

static void tick_bins(struct pfs_arena *arena, bool all)
{
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		pfs_bin_tick(&arena->bins[class], all);
}

static void tick_locked(void)
{
	static size_t low[PFS_ARENAS_MAX] PFS_SELDOM;    /* under lock */
	static size_t before[PFS_ARENAS_MAX] PFS_SELDOM; /* under lock */
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		low[arena->number] = pfs_extents_low(&arena->extents, PFS_EXTENT_DIRTY);
		before[arena->number] = pages_now(&arena->extents, PFS_EXTENT_DIRTY);
	}
	(void)pfs_caches_tick(false);
	pfs_racks_tick(false);
	while ((arena = pfs_arena_next(arena)) != NULL) {
		tick_bins(arena, false);
		purge(arena, low[arena->number], before[arena->number]);
	}
}

void pfs_tick(void)
{
	pfs_lock(PFS_LOCK_TICK);
	tick_locked();
	pfs_unlock(PFS_LOCK_TICK);
}

static size_t purge_all(struct pfs_arena *arena)
{
	tick_bins(arena, true);
	return pfs_extents_purge(&arena->extents, PFS_EXTENT_DIRTY, 0, false) +
	       pfs_extents_purge(&arena->extents, PFS_EXTENT_MUZZY, 0, false);
}

size_t pfs_tick_purge(struct pfs_arena *arena)
{
	pfs_lock(PFS_LOCK_TICK);
	size_t gone = purge_all(arena);
	pfs_unlock(PFS_LOCK_TICK);
	return gone;
}

size_t pfs_tick_all(void)
{
	size_t gone = 0;
	pfs_lock(PFS_LOCK_TICK);
	(void)pfs_caches_tick(true);
	pfs_racks_tick(true);
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		gone += purge_all(arena);
	pfs_unlock(PFS_LOCK_TICK);
	return gone;
}

/* Could so many bytes become available if everything is given back? */
static bool can_help(size_t size_bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return size_bytes <= limit.rlim_cur;
	size_t mapped = 0;
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		pfs_mutex_lock(&arena->extents.lock);
		mapped += arena->extents.mapped_bytes;
		pfs_mutex_unlock(&arena->extents.lock);
	}
	return size_bytes <= mapped;
}

bool pfs_tick_emergency(size_t size_bytes, uint32_t tries)
{
	if (tries == TRIES_MOST || !can_help(size_bytes))
		return false;
	size_t gone = pfs_tick_all();
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		gone += pfs_extents_unmap(&arena->extents);
	return gone != 0 || tries == 0; /* another thread may have given memory back */
}

/* ---- when ---- */

bool pfs_tick_has_thread(void)
{
	uint32_t said = pfs_load_relaxed(&wanted); /* relaxed: leave() looks under lock */
	return said == WANTED_BY_CONF ? pfs_conf.background_thread : said == WANTED;
}

/* Wait until the next tick is due or the program's last thread has ended. */
static void wait_for_tick(void)
{
	struct timespec until;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	uint64_t ns = (uint64_t)until.tv_nsec + pfs_conf.tick_ms % 1000 * NS_PER_MS;
	until.tv_sec += (time_t)(pfs_conf.tick_ms / 1000 + ns / NS_PER_SECOND);
	until.tv_nsec = (long)(ns % NS_PER_SECOND);
	(void)pthread_mutex_lock(&waiting);
	int error = 0;
	while (!has_ended && error == 0)
		error = pthread_cond_clockwait(&ended, &waiting, CLOCK_MONOTONIC, &until);
	has_ended = false;
	(void)pthread_mutex_unlock(&waiting);
}

/*
 * Decides whether the ticking thread ends: it is no longer wanted, or it is the last thread. A
 * process whose main thread has called pthread_exit ends with its last thread, which must not be
 * this one. Under the registry's lock, so that a new thread is either seen here or starts the ticks
 * again.
 */
static bool leave(void)
{
	pfs_lock(PFS_LOCK_TICK);
	pfs_caches_lock();
	bool is_over = !pfs_tick_has_thread() || !pfs_caches_any();
	if (is_over)
		pfs_store_relaxed(&has_thread, 0); /* relaxed: under both locks */
	pfs_caches_unlock();
	pfs_unlock(PFS_LOCK_TICK);
	return is_over;
}

static void *run(void *unused)
{
	(void)unused;
	(void)pthread_setname_np(pthread_self(), "pfsmalloc");
	for (;;) {
		wait_for_tick();
		if (leave())
			break;
		pfs_tick();
	}
	return NULL;
}

void pfs_tick_end(void)
{
	(void)pthread_mutex_lock(&waiting);
	has_ended = true;
	(void)pthread_cond_signal(&ended);
	(void)pthread_mutex_unlock(&waiting);
}

void pfs_tick_start(void)
{
	if (!pfs_tick_has_thread() || pfs_conf.tick_ms == 0)
		return;
	uint32_t none = 0;
	uint64_t refused = pfs_load_relaxed(&refused_ns); /* relaxed: a clock */
	if (refused != 0 && pfs_system_now() - refused < RETRY_NS)
		return;
	if (!pfs_cas_relaxed(&has_thread, &none, 1)) /* relaxed: only the first caller starts it */
		return;
	int errno_before = errno;
	pthread_t thread;
	pthread_attr_t attributes;
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	bool done = pthread_create(&thread, &attributes, run, NULL) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	pfs_store_relaxed(&refused_ns, done ? 0 : pfs_system_now()); /* relaxed: a clock */
	if (!done)
		pfs_store_relaxed(&has_thread, 0); /* relaxed: a later slow call tries again */
	errno = errno_before;
}

void pfs_tick_set_thread(bool is_wanted)
{
	pfs_lock(PFS_LOCK_TICK);
	/* relaxed: under lock */
	pfs_store_relaxed(&wanted, is_wanted ? WANTED : UNWANTED);
	pfs_unlock(PFS_LOCK_TICK);
	pfs_tick_start();
}

static bool is_due(void)
{
	uint64_t now = pfs_system_now();
	uint64_t last = pfs_load_relaxed(&last_ns); /* relaxed: the CAS decides */
	if (last != 0 && now - last < pfs_conf.tick_ms * NS_PER_MS)
		return false;
	return pfs_cas_relaxed(&last_ns, &last, now) && last != 0; /* relaxed: a clock */
}

void pfs_tick_if_time(void)
{
	if (pfs_load_relaxed(&has_thread) != 0 || pfs_conf.tick_ms == 0) /* relaxed: a hint */
		return;
	if (is_due() && pthread_mutex_trylock(&pfs_locks[PFS_LOCK_TICK]) == 0) {
		tick_locked();
		pfs_unlock(PFS_LOCK_TICK);
	}
}

static bool is_wished(void)
{
	if (pfs_load_relaxed(&wished) != 0) /* relaxed: a hint */
		return true;
	return &__libc_single_threaded != NULL && !__libc_single_threaded && !is_forked;
}

void pfs_tick_wish(void)
{
	pfs_store_relaxed(&wished, 1); /* relaxed: a hint */
}

void pfs_tick_after_free(uint32_t *slow_calls)
{
	if (pfs_load_relaxed(&has_thread) != 0 || pfs_conf.tick_ms == 0) /* relaxed: a hint */
		return;
	if (++*slow_calls % LOOK_EVERY == 0)
		pfs_tick_if_time();
}

void pfs_tick_after_malloc(uint32_t *slow_calls)
{
	if (pfs_load_relaxed(&has_thread) == 0 && is_wished()) /* relaxed: a hint */
		pfs_tick_start();
	pfs_tick_after_free(slow_calls);
}

void pfs_tick_child(void)
{
	pfs_store_relaxed(&has_thread, 0); /* relaxed: one thread */
	pfs_store_relaxed(&last_ns, 0);    /* relaxed: one thread */
	pfs_store_relaxed(&wished, 0);     /* relaxed: one thread */
	pfs_store_relaxed(&refused_ns, 0); /* relaxed: one thread */
	is_forked = true;
	waiting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	has_ended = false;
}
