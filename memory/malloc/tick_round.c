#define _GNU_SOURCE
#include "tick_round.h"

#include <pthread.h>
#include <string.h>

#include "arena.h"
#include "cache.h"
#include "conf.h"
#include "containers/decay.h"
#include "tick.h"

#define BINS_TOGETHER 8u

/* Not held while pages are purged. fork does not take it. */
static pthread_mutex_t ticking = PTHREAD_MUTEX_INITIALIZER;

void pfs_tick_lock(void)
{
	(void)pthread_mutex_lock(&ticking);
}

void pfs_tick_unlock(void)
{
	(void)pthread_mutex_unlock(&ticking);
}

/* ---- which pages go ---- */

/* The decay of one kind of an arena's extents, if it goes by time. */
struct pfs_curve {
	struct pfs_decay decay;
	size_t pages_before;
};

static uint32_t passes_of(int64_t decay_ms)
{
	uint64_t tick_ms = pfs_conf.tick_ms != 0 ? pfs_conf.tick_ms : 1000;
	uint64_t passes = ((uint64_t)decay_ms + tick_ms - 1) / tick_ms;
	return passes < PFS_DECAY_PASSES_MAX ? (uint32_t)passes : PFS_DECAY_PASSES_MAX;
}

/* NULL: no memory; nothing decays this time. */
static struct pfs_curve *curve_of(struct pfs_arena *arena, enum pfs_extent_kind kind,
				  uint32_t passes)
{
	static struct pfs_base_pool pool;
	struct pfs_curve *curve = arena->curves[kind];
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
	arena->curves[kind] = curve;
	return curve;
}

/* How many pages of a kind may stay after this tick, with a decay time. */
static size_t pages_by_curve(struct pfs_arena *arena, enum pfs_extent_kind kind, int64_t decay_ms,
			     size_t pages)
{
	if (decay_ms < 0)
		return pages;
	struct pfs_curve *curve = decay_ms == 0 ? NULL : curve_of(arena, kind, passes_of(decay_ms));
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

/* ---- a tick ---- */

enum phase { OVER, RINGS, BINS, DIRTY, MUZZY, DESCRIPTORS };

/* ticking, like all below, except is_on */
static struct turn {
	enum phase phase;
	bool is_first;   /* of the steps over rings */
	bool is_purging; /* a thread purges, without the lock */
	bool is_busy;    /* there will be something for the next tick */
	struct pfs_arena *arena;
	uint32_t class;
	size_t pages;      /* of the kind, when its purge began */
	size_t pages_left; /* so many may stay */
	size_t pages_most; /* so many may still go */
	size_t gone;
} turn;
static _Atomic(uint32_t) is_on;

static void begin(void)
{
	struct pfs_arena *arena = NULL;
	memset(&turn, 0, sizeof(turn));
	while ((arena = pfs_arena_next(arena)) != NULL) {
		arena->dirty_low = pfs_extents_low(&arena->extents, PFS_EXTENT_DIRTY);
		arena->dirty_before = pages_now(&arena->extents, PFS_EXTENT_DIRTY);
	}
	turn.phase = RINGS;
	turn.is_first = true;
	pfs_store_relaxed(&is_on, 1); /* relaxed: a hint */
}

static enum pfs_extent_kind kind_of_phase(void)
{
	return turn.phase == DIRTY ? PFS_EXTENT_DIRTY : PFS_EXTENT_MUZZY;
}

/* How many of the pages may stay. */
static size_t plan(struct pfs_arena *arena, enum pfs_extent_kind kind, size_t pages)
{
	int64_t decay_ms = pfs_arena_decay_ms(arena, kind);
	if (decay_ms != PFS_DECAY_LOW_WATER || kind != PFS_EXTENT_DIRTY) {
		size_t left = pages_by_curve(arena, kind, decay_ms, pages);
		turn.is_busy |= decay_ms > 0 && left != 0;
		return left;
	}
	turn.is_busy |= arena->dirty_low < arena->dirty_before;
	/* What the tick itself freed was unused for just as long. */
	size_t surplus = arena->dirty_low +
			 (pages > arena->dirty_before ? pages - arena->dirty_before : 0);
	return pages > surplus ? pages - surplus : 0;
}

static void begin_purge(enum phase phase)
{
	turn.phase = phase;
	turn.pages = pages_now(&turn.arena->extents, kind_of_phase());
	turn.pages_left = plan(turn.arena, kind_of_phase(), turn.pages);
	turn.pages_most = turn.pages - turn.pages_left;
	turn.gone = 0;
}

static void begin_arena(struct pfs_arena *arena)
{
	turn.arena = arena;
	turn.class = 0;
	turn.phase = arena != NULL ? BINS : OVER;
}

/* Those not needed since the last tick. If others are idle, the next tick may find them so. */
static void begin_wipe(void)
{
	size_t now = 0;
	size_t idle = pfs_extents_idle(&turn.arena->extents, &now);
	bool is_never = pfs_arena_decay_ms(turn.arena, PFS_EXTENT_DIRTY) == -1;
	turn.phase = DESCRIPTORS;
	turn.pages_most = is_never || idle <= PFS_DESCRIPTORS_FEW ? 0 : idle;
	turn.is_busy |= !is_never && now > PFS_DESCRIPTORS_FEW && idle < now;
}

static void wipe(void)
{
	size_t most = turn.pages_most < PFS_EXTENTS_PAY_PAGES ? turn.pages_most
							      : PFS_EXTENTS_PAY_PAGES;
	size_t gone = pfs_extents_wipe(&turn.arena->extents, most);
	turn.pages_most -= gone;
	if (gone == 0 || turn.pages_most == 0)
		begin_arena(pfs_arena_next(turn.arena));
}

/* The kind's purge is over. */
static void end_purge(void)
{
	size_t pages = pages_now(&turn.arena->extents, kind_of_phase());
	turn.is_busy |= pages + turn.gone > turn.pages; /* some came meanwhile */
	if (turn.phase == DIRTY)
		begin_purge(MUZZY);
	else
		begin_wipe();
}

/* Without the lock in between, for which is_purging keeps other steps away. */
static void purge(void)
{
	struct pfs_arena *arena = turn.arena;
	enum pfs_extent_kind kind = kind_of_phase();
	size_t left = turn.pages_left, most = turn.pages_most;
	if (most > PFS_EXTENTS_PAY_PAGES)
		most = PFS_EXTENTS_PAY_PAGES;
	bool lazily = kind == PFS_EXTENT_DIRTY && pfs_arena_decay_ms(arena, PFS_EXTENT_MUZZY) != 0;
	turn.is_purging = true;
	pfs_tick_unlock();
	size_t gone = pfs_extents_purge_some(&arena->extents, kind, left, most, lazily);
	pfs_tick_lock();
	turn.is_purging = false;
	turn.gone += gone;
	turn.pages_most -= gone;
	if (gone == 0 || turn.pages_most == 0)
		end_purge();
}

static void tick_rings(void)
{
	struct pfs_caches_ticked ticked = { .taken = 0 };
	bool is_more = pfs_caches_tick_some(false, turn.is_first, &ticked);
	turn.is_first = false;
	turn.is_busy |= ticked.is_in_use;
	if (!is_more)
		begin_arena(pfs_arena_next(NULL));
}

static void tick_bin(void)
{
	turn.is_busy |= pfs_bin_tick(&turn.arena->bins[turn.class], false);
	if (++turn.class == PFS_SMALL_COUNT)
		begin_purge(DIRTY);
}

static enum pfs_round_end step_locked(void)
{
	if (turn.is_purging)
		return PFS_ROUND_BUSY; /* another thread is at it */
	switch (turn.phase) {
	case OVER: begin(); break;
	case RINGS: tick_rings(); break;
	case BINS: tick_bin(); break;
	case DIRTY:
	case MUZZY: purge(); break;
	case DESCRIPTORS: wipe(); break;
	}
	if (turn.phase != OVER)
		return PFS_ROUND_GOES_ON;
	pfs_store_relaxed(&is_on, 0); /* relaxed: a hint */
	return turn.is_busy ? PFS_ROUND_BUSY : PFS_ROUND_QUIET;
}

enum pfs_round_end pfs_round_step(void)
{
	pfs_tick_lock();
	enum pfs_round_end end = step_locked();
	pfs_tick_unlock();
	return end;
}

/* A bin mostly has nothing to do. */
void pfs_round_try_some(void)
{
	if (pthread_mutex_trylock(&ticking) != 0)
		return;
	enum pfs_round_end end = PFS_ROUND_GOES_ON;
	bool is_long = false;
	for (uint32_t steps = 0; steps < BINS_TOGETHER && end == PFS_ROUND_GOES_ON && !is_long;
	     steps++) {
		is_long = turn.phase != BINS;
		end = step_locked();
	}
	pfs_tick_unlock();
}

bool pfs_round_is_on(void)
{
	return pfs_load_relaxed(&is_on) != 0; /* relaxed: a hint */
}

/* A curve that another thread was changing starts anew, and the pages' age with it. */
void pfs_round_child(void)
{
	ticking = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	memset(&turn, 0, sizeof(turn));
	pfs_store_relaxed(&is_on, 0); /* relaxed: one thread */
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		for (uint32_t kind = 0; kind < 2; kind++)
			if (arena->curves[kind] != NULL)
				arena->curves[kind]->decay.passes = 0;
}

/* ---- all of it, now ---- */

static void empty_bins(struct pfs_arena *arena)
{
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		pfs_tick_lock();
		(void)pfs_bin_tick(&arena->bins[class], true);
		pfs_tick_unlock();
	}
}

size_t pfs_tick_purge(struct pfs_arena *arena)
{
	empty_bins(arena);
	size_t gone = pfs_extents_purge(&arena->extents, PFS_EXTENT_DIRTY, 0, false) +
		      pfs_extents_purge(&arena->extents, PFS_EXTENT_MUZZY, 0, false);
	(void)pfs_extents_wipe(&arena->extents, SIZE_MAX);
	return gone;
}

static void empty_rings(void)
{
	struct pfs_caches_ticked ticked = { .taken = 0 };
	bool is_more = true;
	for (bool is_first = true; is_more; is_first = false) {
		pfs_tick_lock();
		is_more = pfs_caches_tick_some(true, is_first, &ticked);
		pfs_tick_unlock();
	}
}

size_t pfs_tick_all(void)
{
	size_t gone = 0;
	empty_rings();
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		gone += pfs_tick_purge(arena);
	return gone;
}
