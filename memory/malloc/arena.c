#define _GNU_SOURCE
#include "arena.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conf.h"
#include "containers/compiler.h"

#define CPUS_PER_ARENA 8u
#define CPUS_MOST 8192u /* of a kernel; it refuses a mask that is too short for its own */
/* the kernel accepts no smaller mask; nodes from 64 on are treated as the first */
#define NODES_MOST 1024u

static struct pfs_mutex lock; /* pfs_arenas_start */
static struct pfs_arena first;
/* All arenas but the first. Written under lock, like count. */
static _Atomic(struct pfs_arena *) arenas[PFS_ARENAS_MAX] PFS_SELDOM;
static _Atomic(uint32_t) count;
static struct pfs_base_pool arena_pool;
static uint64_t node_mask; /* written by settle_locked only, like defaults */
static uint32_t defaults;  /* 0: not settled */
static _Atomic(struct pfs_arena *) oversize PFS_SELDOM; /* NULL: none yet; written under lock */

static _Atomic(int64_t) decay_ms_default[2] = { PFS_DECAY_BY_CONF, PFS_DECAY_BY_CONF };

int64_t pfs_arenas_decay_ms(enum pfs_extent_kind kind)
{
	/* relaxed: a time */
	return pfs_decay_ms_of(pfs_load_relaxed(&decay_ms_default[kind]), kind);
}

void pfs_arenas_set_decay_ms(enum pfs_extent_kind kind, int64_t decay_ms)
{
	pfs_store_relaxed(&decay_ms_default[kind], decay_ms); /* relaxed: a time */
}

static void arena_init(struct pfs_arena *self, uint32_t number)
{
	self->number = number;
	for (uint32_t kind = PFS_EXTENT_DIRTY; kind <= PFS_EXTENT_MUZZY; kind++) {
		int64_t decay_ms = pfs_load_relaxed(&decay_ms_default[kind]); /* relaxed: a time */
		pfs_store_relaxed(&self->decay_ms[kind], decay_ms); /* relaxed: [AR1] carries it */
	}
	pfs_extents_init(&self->extents, self);
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		pfs_bin_init(&self->bins[class], self, class);
}

/* CPUs that this process may use. */
static uint32_t cpu_count(void)
{
	cpu_set_t cpus[CPUS_MOST / CPU_SETSIZE];
	if (sched_getaffinity(0, sizeof(cpus), cpus) != 0)
		return 1;
	return (uint32_t)CPU_COUNT_S(sizeof(cpus), cpus);
}

/* A bit for each NUMA node on which this process may allocate memory. */
static uint64_t allowed_nodes(void)
{
	unsigned long mask[NODES_MOST / (8 * sizeof(unsigned long))] = { 0 };
	if (syscall(SYS_get_mempolicy, NULL, mask, NODES_MOST, NULL, MPOL_F_MEMS_ALLOWED) != 0)
		return 1;
	return mask[0] != 0 ? mask[0] : 1;
}

static uint32_t default_count(void)
{
	uint32_t nodes = (uint32_t)__builtin_popcountll(node_mask);
	uint32_t on_node = (cpu_count() + nodes - 1) / nodes;
	uint32_t by_cpus = nodes * ((on_node + CPUS_PER_ARENA - 1) / CPUS_PER_ARENA);
	uint32_t wished = pfs_conf.narenas != 0 ? pfs_conf.narenas : by_cpus;
	return wished < PFS_ARENAS_MAX ? wished : PFS_ARENAS_MAX;
}

void pfs_arenas_start(void)
{
	pfs_mutex_init(&lock);
	arena_init(&first, 0);
	/* relaxed: the caller orders the start before every other call */
	pfs_store_relaxed(&count, 1);
}

/* Under lock. The system is asked only now, because the calls cost a single-threaded program some
 * pages of code. */
static void settle_locked(void)
{
	if (defaults != 0)
		return;
	node_mask = allowed_nodes();
	defaults = default_count();
	pfs_store_relaxed(&count, defaults); /* relaxed: a count; [AR1] carries the arenas */
}

uint32_t pfs_arenas_settle(void)
{
	pfs_mutex_lock(&lock);
	settle_locked();
	uint32_t settled = defaults;
	pfs_mutex_unlock(&lock);
	return settled;
}

uint32_t pfs_arena_count(void)
{
	return pfs_load_relaxed(&count); /* relaxed: a count; arenas are never removed */
}

/* Under lock. */
static struct pfs_arena *arena_make(uint32_t number)
{
	struct pfs_arena *arena = pfs_base_new(&arena_pool, sizeof(*arena));
	if (arena == NULL)
		return NULL;
	arena_init(arena, number);
	/* [AR1] release, pairs with [AR2]: without it another thread could use an uninitialized
	 * lock. */
	pfs_store_release(&arenas[number], arena);
	return arena;
}

struct pfs_arena *pfs_arena_if_any(uint32_t number)
{
	if (number == 0)
		return &first;
	/* [AR2] acquire, pairs with [AR1]. */
	return number < pfs_arena_count() ? pfs_load_acquire(&arenas[number]) : NULL;
}

struct pfs_arena *pfs_arena_at(uint32_t number)
{
	struct pfs_arena *arena = pfs_arena_if_any(number);
	if (pfs_likely(arena != NULL) || number >= pfs_arena_count())
		return arena;
	pfs_mutex_lock(&lock);
	arena = pfs_load_relaxed(&arenas[number]); /* relaxed: under lock */
	if (arena == NULL)
		arena = arena_make(number);
	pfs_mutex_unlock(&lock);
	return arena;
}

/* Under lock. */
static struct pfs_arena *create_locked(void)
{
	settle_locked();
	uint32_t number = pfs_arena_count();
	struct pfs_arena *arena = number < PFS_ARENAS_MAX ? arena_make(number) : NULL;
	if (arena != NULL)
		pfs_store_relaxed(&count, number + 1); /* relaxed: under lock; [AR1] carries it */
	return arena;
}

struct pfs_arena *pfs_arena_create(void)
{
	pfs_mutex_lock(&lock);
	struct pfs_arena *arena = create_locked();
	pfs_mutex_unlock(&lock);
	return arena;
}

/* What it frees goes at once. */
static struct pfs_arena *make_oversize(void)
{
	pfs_mutex_lock(&lock);
	struct pfs_arena *arena = pfs_load_relaxed(&oversize); /* relaxed: under lock */
	if (arena == NULL)
		arena = create_locked();
	if (arena != NULL) {
		pfs_arena_set_decay_ms(arena, PFS_EXTENT_DIRTY, 0);
		/* [AR1] release, pairs with [AR2]: an initialized arena. */
		pfs_store_release(&oversize, arena);
	}
	pfs_mutex_unlock(&lock);
	return arena;
}

struct pfs_arena *pfs_arena_for_large(struct pfs_arena *own, size_t size_bytes)
{
	if (pfs_likely(pfs_conf.oversize_threshold == 0) ||
	    size_bytes < pfs_conf.oversize_threshold || own->number >= pfs_arenas_settle())
		return own;
	/* [AR2] acquire, pairs with [AR1]. */
	struct pfs_arena *arena = pfs_load_acquire(&oversize);
	if (arena == NULL)
		arena = make_oversize();
	return arena != NULL ? arena : own;
}

/* The index, among the allowed nodes, of the node that the caller runs on. */
static uint32_t own_node(void)
{
	unsigned cpu = 0;
	unsigned node = 0;
	if (getcpu(&cpu, &node) != 0 || node >= 64)
		return 0;
	return (uint32_t)__builtin_popcountll(node_mask & ((UINT64_C(1) << node) - 1));
}

/* A node owns the arenas whose number is its index modulo the node count. First touch places an
 * arena's pages near the threads that use it. */
static struct pfs_arena *with_fewest(uint32_t settled, uint32_t *threads_of_best)
{
	uint32_t nodes = (uint32_t)__builtin_popcountll(node_mask);
	struct pfs_arena *best = &first;
	uint32_t fewest = UINT32_MAX;
	for (uint32_t number = own_node() % settled; number < settled; number += nodes) {
		struct pfs_arena *arena = pfs_arena_at(number);
		/* relaxed: pfs_arena_choose verifies it. */
		uint32_t threads = arena != NULL ? pfs_load_relaxed(&arena->threads) : UINT32_MAX;
		if (threads >= fewest)
			continue;
		*threads_of_best = fewest = threads;
		best = arena;
	}
	return best;
}

/* Threads that start together see each other's choices. Lock-free. */
struct pfs_arena *pfs_arena_choose(bool is_first)
{
	uint32_t settled = is_first ? 1 : pfs_arenas_settle();
	struct pfs_arena *arena;
	uint32_t threads;
	do {
		threads = pfs_load_relaxed(&first.threads); /* relaxed: the CAS verifies it */
		arena = settled == 1 ? &first : with_fewest(settled, &threads);
	} while (!pfs_cas_relaxed(&arena->threads, &threads, threads + 1)); /* relaxed: a count */
	return arena;
}

static void set_lock(struct pfs_mutex *self, bool locked)
{
	if (locked)
		pfs_mutex_lock(self);
	else
		pfs_mutex_unlock(self);
}

/* Each arena's locks `growing`, or all the others. */
static void set_locks(bool growing, bool locked)
{
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
			set_lock(growing ? &arena->bins[class].growing : &arena->bins[class].lock,
				 locked);
		if (!growing)
			set_lock(&arena->extents.lock, locked);
	}
}

void pfs_arenas_lock_growing(void)
{
	pfs_mutex_lock(&lock);
	set_locks(true, true);
}

void pfs_arenas_unlock_growing(void)
{
	set_locks(true, false);
	pfs_mutex_unlock(&lock);
}

void pfs_arenas_lock(void)
{
	set_locks(false, true);
}

void pfs_arenas_unlock(void)
{
	set_locks(false, false);
}

bool pfs_arenas_try_lock_extents(void)
{
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		if (!pfs_mutex_try_lock(&arena->extents.lock)) {
			pfs_arenas_unlock_extents(arena);
			return false;
		}
	return true;
}

void pfs_arenas_unlock_extents(const struct pfs_arena *end)
{
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != end)
		pfs_mutex_unlock(&arena->extents.lock);
}
