/* malloc_timed_world.c - the system below the allocator, in virtual time. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/malloc/apart.h"
#include "memory/malloc/arena.h"
#include "memory/malloc/background.h"
#include "memory/malloc/map.h"
#include "memory/malloc/rings.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"
#include "memory/malloc/tick.h"
#include "memory/malloc/die.h"
#include "check/machine/machine.h"
#include "memory/search/malloc_timed.h"
#include "sim/timed/timed.h"

/* The same in every process, because it decides which lines of the page map are neighbours. */
#define REGION ((char *)(UINT64_C(1) << 44))
#define REGION_BYTES ((size_t)1 << 36)
#define BASE_BYTES ((size_t)1 << 34) /* of metadata, at its begin */

/* clang-format off */
struct pfs_conf pfs_conf = {
	.tcache = true, .ring_bytes_max = 1u << 16, .ring_entries_max = 511,
	.dirty_decay_ms = PFS_DECAY_LOW_WATER, .dirty_percent = 25, .tick_ms = 1000,
	.background_thread = true,
};
/* clang-format on */

struct own {
	alignas(PFS_LINE) struct pfs_cache *cache;
	/* The oracle's: the bin that is about to take new memory for a slab, and the last one. */
	const struct pfs_bin *growing, *grown;
	uint64_t free_before, made_before;
	struct pfs_extent *slab;
	bool is_needless;
};

static struct own owns[PFS_MACHINE_THREADS_MAX + 1]; /* the last one is the set-up's */
static char *base_next, *base_end, *pages_next;
static struct pfs_mutex base_lock;
static struct pfs_timed *timed;
static uint32_t node_count, cpu_count;
static uint64_t earlier_ns, last_ns; /* runs before this one; the latest time of this one */
static bool has_ticker;
static uint32_t done_count;
static struct pfs_malloc_timed_counts counts;

static struct own *own_of_caller(void)
{
	const struct pfs_machine *machine = pfs_machine_current();
	uint32_t id = machine != NULL && machine->run.running != NULL ? machine->run.running->id
								      : PFS_MACHINE_THREADS_MAX;
	return &owns[id];
}

struct pfs_cache **pfs_cache_own_place(void)
{
	return &own_of_caller()->cache;
}

/* ---- base.h, system.h ---- */

void *pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes)
{
	size_t bytes = (size_bytes + PFS_LINE - 1) / PFS_LINE * PFS_LINE;
	pfs_mutex_lock(&base_lock);
	void *piece = pool->first;
	if (piece != NULL) {
		pool->first = pfs_load_relaxed((_Atomic(void *) *)piece); /* relaxed: base.c */
	} else {
		piece = base_next;
		base_next += bytes;
		PFS_MACHINE_CHECK(base_next <= base_end, "too much metadata");
	}
	pfs_mutex_unlock(&base_lock);
	return piece;
}

void pfs_base_free(struct pfs_base_pool *pool, void *piece)
{
	pfs_mutex_lock(&base_lock);
	pfs_store_relaxed((_Atomic(void *) *)piece, pool->first); /* relaxed: as in base.c */
	pool->first = piece;
	pfs_mutex_unlock(&base_lock);
}

/* Only the call has a price: the first touch of a page is free. */
void *pfs_system_map(size_t size_bytes)
{
	struct pfs_sim_memory *memory = &pfs_machine_current()->memory;
	char *pages = pages_next;
	if (pages + size_bytes > REGION + REGION_BYTES)
		return NULL;
	pages_next += size_bytes;
	memory->on_map(memory->on_map_context, 0);
	return pages;
}

void *pfs_system_map_ahead(size_t size_bytes)
{
	return pfs_system_map(size_bytes);
}

void *pfs_apart_new(size_t size_bytes)
{
	char *at = base_next + (-(uintptr_t)base_next & (PFS_OS_PAGE - 1));
	base_next = at + (size_bytes + PFS_OS_PAGE - 1) / PFS_OS_PAGE * PFS_OS_PAGE;
	PFS_MACHINE_CHECK(base_next <= base_end, "too much metadata");
	return at;
}

bool pfs_system_purge(void *at, size_t size_bytes)
{
	(void)pfs_sim_change(PFS_SIM_UNMAP, at, 0, size_bytes, PFS_SIM_SEQ, PFS_SIM_PLACE("purge"));
	return madvise(at, size_bytes, MADV_DONTNEED) == 0;
}

bool pfs_system_wipe(void *at, size_t size_bytes)
{
	return pfs_system_purge(at, size_bytes);
}

bool pfs_system_purge_lazily(void *at, size_t size_bytes)
{
	return pfs_system_purge(at, size_bytes);
}

size_t pfs_apart_unmap(void)
{
	return 0;
}

void pfs_apart_free(void *at, size_t size_bytes)
{
	(void)pfs_system_unmap(at, size_bytes);
}

bool pfs_system_unmap(void *at, size_t size_bytes)
{
	return pfs_system_purge(at, size_bytes);
}

bool pfs_system_show(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
	return true;
}

void pfs_system_read_only(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
}

void pfs_system_small_pages(void *at, size_t size_bytes)
{
	(void)at, (void)size_bytes;
}

uint64_t pfs_system_now(void)
{
	uint64_t now = pfs_timed_now_ns();
	if (now > last_ns)
		last_ns = now;
	return earlier_ns + now;
}

/* ---- libc and the kernel: malloc_timed_names.h ---- */

int pfs_malloc_timed_getcpu(unsigned *cpu, unsigned *node);
int pfs_malloc_timed_getcpu(unsigned *cpu, unsigned *node)
{
	const struct pfs_machine *machine = pfs_machine_current();
	*cpu = machine->run.running != NULL ? pfs_timed_pu_of(timed, machine->run.running->id) : 0;
	*node = machine->run.running != NULL ? machine->run.running->node : 0;
	return 0;
}

int pfs_malloc_timed_getaffinity(pid_t pid, size_t size_bytes, cpu_set_t *cpus);
int pfs_malloc_timed_getaffinity(pid_t pid, size_t size_bytes, cpu_set_t *cpus)
{
	(void)pid;
	CPU_ZERO_S(size_bytes, cpus);
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
		CPU_SET_S(cpu, size_bytes, cpus);
	return 0;
}

/* get_mempolicy: all nodes. */
long pfs_malloc_timed_syscall(long number, ...);
long pfs_malloc_timed_syscall(long number, ...)
{
	va_list arguments;
	va_start(arguments, number);
	(void)va_arg(arguments, void *);
	unsigned long *mask = va_arg(arguments, unsigned long *);
	va_end(arguments);
	mask[0] = node_count < 64 ? (1ul << node_count) - 1 : ~0ul;
	return 0;
}

/* The allocator's thread is its ticker. pfs_malloc_timed_tick replaces it. */
bool pfs_background_start(struct pfs_background *self)
{
	pfs_store_relaxed(&self->is_there, 1); /* relaxed: as in background.c */
	has_ticker = true;
	return true;
}

void pfs_background_end(struct pfs_background *self)
{
	(void)self;
}

void pfs_background_wake(struct pfs_background *self)
{
	(void)self;
}

bool pfs_background_wait(struct pfs_background *self, uint64_t until_ns)
{
	(void)self, (void)until_ns;
	return false;
}

void pfs_background_leave(struct pfs_background *self)
{
	(void)self;
}

void pfs_background_child(struct pfs_background *self)
{
	(void)self;
}

void pfs_die(const char *call, const void *pointer, const char *what)
{
	pfs_machine_fail("%s(%p): %s", call, pointer, what);
	(void)fprintf(stderr, "malloc_timed: %s outside of an execution\n", what);
	__builtin_abort();
}

void pfs_start(void) {}

void pfs_start_handlers(void) {}

void pfs_start_first(void) {}

void pfs_start_thread(struct pfs_cache *cache, pfs_start_ended *ended)
{
	(void)cache;
	(void)ended;
}

/* ---- counting, which takes no time ---- */

/* Free blocks of the class in words, in the stock, and in rings of the arena's other threads. */
static uint64_t free_elsewhere(const struct pfs_bin *bin)
{
	uint64_t found = pfs_load_relaxed(&bin->stock.count);
	for (uint32_t g = 0; g < bin->group_count; g++)
		for (uint32_t at = 0; at < pfs_group_slabs(g); at++) {
			const struct pfs_extent *slab = bin->groups[g]->slabs[at];
			for (uint32_t w = 0; slab != NULL && w < slab->word_count; w++)
				found += (uint64_t)__builtin_popcountll(
					pfs_load_relaxed(&slab->words[w]));
		}
	const struct pfs_cache *own = own_of_caller()->cache;
	for (struct pfs_cache *cache = pfs_registry.oldest; cache != NULL; cache = cache->next)
		if (cache != own && cache->arena == bin->arena)
			found += pfs_ring_counts(&cache->rings[bin->class]).held;
	return found;
}

/* A thread wants a slab. If it is made of dirty pages, it needs no new memory. */
bool __real_pfs_extents_has_dirty(struct pfs_extents *self, size_t size_bytes);
bool __wrap_pfs_extents_has_dirty(struct pfs_extents *self, size_t size_bytes);
bool __wrap_pfs_extents_has_dirty(struct pfs_extents *self, size_t size_bytes)
{
	own_of_caller()->growing = NULL;
	return __real_pfs_extents_has_dirty(self, size_bytes);
}

bool __real_pfs_caches_take_back(struct pfs_bin *bin, bool *is_held);
bool __wrap_pfs_caches_take_back(struct pfs_bin *bin, bool *is_held);
bool __wrap_pfs_caches_take_back(struct pfs_bin *bin, bool *is_held)
{
	struct own *own = own_of_caller();
	pfs_sim_quiet();
	own->growing = bin;
	own->free_before = free_elsewhere(bin);
	pfs_sim_loud();
	return __real_pfs_caches_take_back(bin, is_held);
}

/* A slab is made: was a slab's worth free when its thread looked, and is it still? */
struct pfs_extent *__real_pfs_extents_take(struct pfs_extents *self, size_t size_bytes,
					   size_t align_bytes);
struct pfs_extent *__wrap_pfs_extents_take(struct pfs_extents *self, size_t size_bytes,
					   size_t align_bytes);
struct pfs_extent *__wrap_pfs_extents_take(struct pfs_extents *self, size_t size_bytes,
					   size_t align_bytes)
{
	struct own *own = own_of_caller();
	const struct pfs_bin *bin = own->growing;
	own->growing = NULL;
	if (bin == NULL)
		return __real_pfs_extents_take(self, size_bytes, align_bytes);
	uint64_t regions = pfs_classes[bin->class].regions;
	pfs_sim_quiet();
	own->is_needless = own->free_before >= regions && free_elsewhere(bin) >= regions;
	pfs_sim_loud();
	own->made_before = bin->slabs_made;
	own->grown = bin;
	own->slab = __real_pfs_extents_take(self, size_bytes, align_bytes);
	counts.slabs_new++;
	counts.needless += own->is_needless;
	return own->slab;
}

/* A slab that is given back before it joined the bin was never made. */
void __real_pfs_extents_give(struct pfs_extents *self, struct pfs_extent *extent,
			     enum pfs_extent_kind kind);
void __wrap_pfs_extents_give(struct pfs_extents *self, struct pfs_extent *extent,
			     enum pfs_extent_kind kind);
void __wrap_pfs_extents_give(struct pfs_extents *self, struct pfs_extent *extent,
			     enum pfs_extent_kind kind)
{
	struct own *own = own_of_caller();
	if (extent == own->slab && own->grown->slabs_made == own->made_before) {
		counts.slabs_new--;
		counts.needless -= own->is_needless;
	}
	if (extent == own->slab)
		own->slab = NULL;
	__real_pfs_extents_give(self, extent, kind);
}

static uint64_t count_operation(struct pfs_machine *machine,
				const struct pfs_sim_operation *operation)
{
	bool is_ours = operation->kind != PFS_SIM_LOAD && operation->kind != PFS_SIM_STORE &&
		       strstr(operation->place->file, "malloc_timed_loads") == NULL;
	switch (is_ours ? operation->kind : PFS_SIM_NOTE) {
	case PFS_SIM_LOCK:
	case PFS_SIM_TRY_LOCK:
		counts.locks++;
		counts.locked++;
		break;
	case PFS_SIM_UNLOCK:
	case PFS_SIM_CAS:
	case PFS_SIM_EXCHANGE:
	case PFS_SIM_ADD:
	case PFS_SIM_OR:
	case PFS_SIM_AND: counts.locked++; break;
	case PFS_SIM_BARRIER: counts.barriers++; break;
	case PFS_SIM_UNMAP: counts.purges++; break;
	default: break;
	}
	return machine->engine.execute(machine, operation);
}

void pfs_malloc_timed_count(bool on)
{
	if (on)
		counts = (struct pfs_malloc_timed_counts){ 0 };
	pfs_machine_current()->engine.around = on ? count_operation : NULL;
}

struct pfs_malloc_timed_counts pfs_malloc_timed_counted(void)
{
	return counts;
}

struct pfs_malloc_timed_slabs pfs_malloc_timed_slabs(void)
{
	struct pfs_malloc_timed_slabs sum = { 0 };
	for (uint32_t i = 0; i < pfs_arena_count(); i++) {
		struct pfs_arena *arena = pfs_arena_if_any(i);
		for (uint32_t class = 0; arena != NULL && class < PFS_SMALL_COUNT; class ++) {
			struct pfs_bin_counts one;
			pfs_bin_count(&arena->bins[class], &one);
			sum.slabs += one.slabs;
			sum.bytes += one.slabs * pfs_classes[class].slab_bytes;
			sum.taken += one.taken_regions;
			sum.made += one.slabs_made;
			sum.needless += one.needless;
		}
		sum.arenas += arena != NULL;
	}
	return sum;
}

/* ---- runs ---- */

bool pfs_malloc_timed_begin(uint32_t nodes, uint32_t cpus)
{
	char *region = mmap(REGION, REGION_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			    0);
	if (region != REGION)
		return false;
	node_count = nodes;
	cpu_count = cpus;
	base_next = region;
	base_end = pages_next = region + BASE_BYTES;
	pfs_mutex_init(&base_lock);
	for (uint32_t id = 0; id <= PFS_MACHINE_THREADS_MAX; id++)
		owns[id].cache = &pfs_cache_none;
	return true;
}

void pfs_malloc_timed_use(struct pfs_timed *used)
{
	timed = used;
	pfs_map_start();
	pfs_arenas_start();
	pfs_caches_start();
}

void pfs_malloc_timed_next_run(void)
{
	earlier_ns += last_ns;
	last_ns = 0;
	done_count = 0;
}

void pfs_malloc_timed_tick(uint64_t period_ns, uint32_t threads)
{
	while (done_count < threads) {
		pfs_timed_sleep_ns(period_ns);
		if (!has_ticker || done_count == threads)
			continue;
		uint64_t begin_ns = pfs_timed_now_ns();
		pfs_tick();
		uint64_t ns = pfs_timed_now_ns() - begin_ns;
		counts.ticks++;
		counts.tick_ns_most = ns > counts.tick_ns_most ? ns : counts.tick_ns_most;
	}
}

void pfs_malloc_timed_done(void)
{
	done_count++;
	(void)pfs_system_now();
	counts.end_ns = last_ns;
}

void pfs_malloc_timed_leave(void)
{
	struct pfs_cache *cache = own_of_caller()->cache;
	if (cache != &pfs_cache_none && cache != &pfs_cache_ended)
		pfs_cache_end(cache);
}

void pfs_malloc_timed_exit(void)
{
	(void)pfs_tick_all();
}
