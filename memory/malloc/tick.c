#define _GNU_SOURCE
#include "tick.h"

#include <sys/resource.h>
#include <time.h>

#include "apart.h"
#include "arena.h"
#include "background.h"
#include "base/now.h"
#include "cache.h"
#include "conf.h"
#include "containers/barrier.h"
#include "containers/compiler.h"
#include "system.h"
#include "tick_round.h"

#define TRIES_MOST 4u
#define LOOK_EVERY 64u /* slow calls */
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)
#define RETRY_NS (10 * NS_PER_SECOND)
#define PAY_LEAST_PAGES 64u   /* owed; fewer are not worth a system call */
#define WAKE_PAGES (16u << 8) /* 16 MiB dirty beyond the limit: more than callers pay soon */
#define WORK_LEAST 32u        /* slow calls, and 64 KiB of large blocks each, before a start */
#define WORK_MOST 4096u

enum { WANTED_BY_CONF, WANTED, UNWANTED };

static void run(void);

static struct pfs_background ticker = PFS_BACKGROUND("pfsmalloc", run);
static _Atomic(uint32_t) wanted;  /* what mallctl said of the thread */
static _Atomic(uint64_t) last_ns; /* of ticks without the thread */
/* when the last attempt to start the thread failed; 0: it did not */
static _Atomic(uint64_t) refused_ns;
static _Atomic(uint32_t) is_asked;   /* the thread was woken to purge */
static _Atomic(uint32_t) is_resting; /* the thread has left an idle process */
/* Work since the thread was last there, and how much is worth a start. */
static _Atomic(uint32_t) work;
static _Atomic(uint32_t) work_least;
static _Atomic(uint32_t) ticks; /* of the thread since its start */

/* ---- out of memory ---- */

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
	size_t gone = pfs_tick_all() + pfs_apart_unmap();
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		gone += pfs_extents_unmap(&arena->extents);
	return gone != 0 || tries == 0; /* another thread may have given memory back */
}

/* ---- the thread ---- */

bool pfs_tick_has_thread(void)
{
	uint32_t said = pfs_load_relaxed(&wanted); /* relaxed: a setting */
	return said == WANTED_BY_CONF ? pfs_conf.background_thread : said == WANTED;
}

/* All steps of a tick, except that it stops if the thread must end. */
static enum pfs_round_end tick(void)
{
	enum pfs_round_end end = pfs_round_step();
	while (end == PFS_ROUND_GOES_ON && !pfs_background_must_end(&ticker))
		end = pfs_round_step();
	return end;
}

void pfs_tick(void)
{
	(void)tick();
}

/* What callers of malloc need not pay. */
static void purge_surplus(void)
{
	pfs_store_relaxed(&is_asked, 0); /* relaxed: whoever asks now wakes the thread again */
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		while (!pfs_background_must_end(&ticker) &&
		       pfs_extents_purge_surplus(&arena->extents) != 0)
			continue;
}

/* The thread leaves when a tick finds nothing, and nothing for the next one. */
static void run(void)
{
	uint64_t due_ns = pfs_now_ns(CLOCK_MONOTONIC) + pfs_conf.tick_ms * NS_PER_MS;
	enum pfs_round_end end = PFS_ROUND_GOES_ON;
	while (end != PFS_ROUND_QUIET) {
		if (pfs_background_wait(&ticker, due_ns))
			purge_surplus();
		if (pfs_background_must_end(&ticker))
			return;
		if (pfs_now_ns(CLOCK_MONOTONIC) < due_ns)
			continue;
		/* The process's first barrier waits until every CPU has switched. Fork would wait
		 * too, if a step had it under the registry's lock. */
		(void)pfs_barrier_available();
		end = tick();
		(void)pfs_fetch_add_relaxed(&ticks, 1); /* relaxed: a count */
		due_ns = pfs_now_ns(CLOCK_MONOTONIC) + pfs_conf.tick_ms * NS_PER_MS;
	}
	pfs_store_relaxed(&work_least, 0); /* relaxed: a guess */
	pfs_store_relaxed(&is_resting, 1); /* relaxed: a hint */
	pfs_background_leave(&ticker);
}

/* A program whose second threads live shortly would start it for each of them: the next start takes
 * twice the work if this one came to no tick. */
void pfs_tick_end(void)
{
	bool was_there = pfs_background_is_there(&ticker);
	pfs_background_end(&ticker);
	pfs_store_relaxed(&is_resting, 0); /* relaxed: a hint */
	if (!was_there)
		return;
	uint32_t least = pfs_load_relaxed(&work_least); /* relaxed: a guess */
	least = (least < WORK_LEAST ? WORK_LEAST : least) * 2;
	if (pfs_load_relaxed(&ticks) != 0) /* relaxed: a guess */
		least = WORK_LEAST;
	pfs_store_relaxed(&work_least,
			  least < WORK_MOST ? least : WORK_MOST); /* relaxed: as above */
	pfs_store_relaxed(&work, 0);                              /* relaxed: as above */
}

static void start(void)
{
	uint64_t refused = pfs_load_relaxed(&refused_ns); /* relaxed: a clock */
	if (!pfs_tick_has_thread() || pfs_conf.tick_ms == 0 ||
	    (refused != 0 && pfs_system_now() - refused < RETRY_NS))
		return;
	pfs_store_relaxed(&work, 0);       /* relaxed: a guess */
	pfs_store_relaxed(&ticks, 0);      /* relaxed: a guess */
	pfs_store_relaxed(&is_resting, 0); /* relaxed: a hint */
	bool done = pfs_background_start(&ticker);
	pfs_store_relaxed(&refused_ns, done ? 0 : pfs_system_now()); /* relaxed: a clock */
}

void pfs_tick_set_thread(bool is_wanted)
{
	pfs_store_relaxed(&wanted, is_wanted ? WANTED : UNWANTED); /* relaxed: a setting */
	if (is_wanted)
		start();
	else
		pfs_background_end(&ticker);
}

/* Only if a second thread has allocated, or the program asked for the thread. */
static void start_if_worth(size_t bytes)
{
	/* relaxed, all: guesses */
	uint32_t least = pfs_load_relaxed(&work_least);
	bool is_asked_for = pfs_load_relaxed(&wanted) == WANTED; /* relaxed: as above */
	if (pfs_caches_threads() < 2 && !is_asked_for)
		return;
	uint32_t more = 1 + (uint32_t)(bytes >> 16);
	uint32_t done = pfs_fetch_add_relaxed(&work, more) + more; /* relaxed: as above */
	if (done >= (least < WORK_LEAST ? WORK_LEAST : least))
		start();
}

/* ---- in calls of malloc and free ---- */

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
	if (pfs_background_is_there(&ticker) || pfs_conf.tick_ms == 0)
		return;
	if (pfs_round_is_on() || is_due())
		pfs_round_try_some();
}

static PFS_COLD void pay(struct pfs_extents *extents)
{
	size_t beyond = pfs_extents_pay(extents);
	uint32_t is_not = 0;
	if (beyond >= WAKE_PAGES && pfs_background_is_there(&ticker) &&
	    pfs_cas_relaxed(&is_asked, &is_not, 1)) /* relaxed: a hint */
		pfs_background_wake(&ticker);
}

/* The thread has left, and only a malloc can start it. If none comes, what is freed must not stay:
 * the caller purges some of it, so that at most the limit stays dirty. */
static PFS_COLD void purge_while_resting(void)
{
	struct pfs_arena *arena = pfs_cache_own->arena;
	if (arena != NULL)
		(void)pfs_extents_purge_surplus(&arena->extents);
}

void pfs_tick_after_free(uint32_t *slow_calls)
{
	if (pfs_background_is_there(&ticker) || pfs_conf.tick_ms == 0)
		return;
	if (pfs_load_relaxed(&is_resting) != 0) /* relaxed: a hint */
		purge_while_resting();
	if (++*slow_calls % LOOK_EVERY == 0 || pfs_round_is_on())
		pfs_tick_if_time();
}

void pfs_tick_after_malloc(struct pfs_arena *arena, size_t bytes, uint32_t *slow_calls)
{
	/* relaxed: an amount to pay */
	if (pfs_load_relaxed(&arena->extents.owed_pages) >= PAY_LEAST_PAGES)
		pay(&arena->extents);
	if (!pfs_background_is_there(&ticker))
		start_if_worth(bytes);
	pfs_tick_after_free(slow_calls);
}

void pfs_tick_child(void)
{
	pfs_round_child();
	pfs_background_child(&ticker);
	pfs_store_relaxed(&last_ns, 0);    /* relaxed: one thread */
	pfs_store_relaxed(&refused_ns, 0); /* relaxed: one thread */
	pfs_store_relaxed(&is_asked, 0);   /* relaxed: one thread */
	pfs_store_relaxed(&is_resting, 0); /* relaxed: one thread */
	pfs_store_relaxed(&work, 0);       /* relaxed: one thread */
}
