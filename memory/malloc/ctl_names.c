/*
 * ctl_names.c - the names that mallctl knows: those of jemalloc 5.2.1 that mean something in this
 * allocator, and its own options. docs/explanation/malloc.md says what is left out, and why.
 */
#include <pfslab/jemalloc.h>

#include "arena.h"
#include "ctl.h"
#include "stats.h"

#define BYTES_OF(type, field) ((uint8_t)sizeof(((struct type *)0)->field))
#define ROW(group, name, type, value)                      \
	{                                                  \
		name, PFS_CTL_##group, sizeof(type), value \
	}
#define FIELD(group, name, bytes, type, field)                             \
	{                                                                  \
		name, PFS_CTL_##group, bytes, offsetof(struct type, field) \
	}
#define IS(name, type, number) ROW(CONST, name, type, number)
#define TEXT(name, which) ROW(TEXT, name, char *, which)
#define DO(name, type, which) ROW(DO, name, type, which)
#define BIN(name, type, which) ROW(BIN, name, type, which)
#define ARENA(name, type, which) ROW(ARENA, name, type, which)
#define OPT(name, field) FIELD(CONF, name, BYTES_OF(pfs_conf, field), pfs_conf, field)
#define STAT(name, field) FIELD(STAT, name, BYTES_OF(pfs_ctl_sums, field), pfs_ctl_sums, field)
#define OF_ARENA(name, field)                                                        \
	FIELD(STAT_ARENA, "stats.arenas.#." name, BYTES_OF(pfs_arena_counts, field), \
	      pfs_arena_counts, field)
#define PAGES_OF_ARENA(name, field) \
	FIELD(STAT_ARENA, "stats.arenas.#." name, 0, pfs_arena_counts, field)
#define OF_BIN(name, field)                                                             \
	FIELD(STAT_BIN, "stats.arenas.#.bins.#." name, BYTES_OF(pfs_bin_counts, field), \
	      pfs_bin_counts, field)

const struct pfs_ctl_row pfs_ctl_rows[] = {
	TEXT("version", PFS_CTL_VERSION),
	DO("epoch", uint64_t, PFS_CTL_EPOCH),
	DO("background_thread", bool, PFS_CTL_BACKGROUND),
	DO("max_background_threads", size_t, PFS_CTL_BACKGROUND_MAX),

	IS("config.cache_oblivious", bool, false),
	IS("config.debug", bool, false),
	IS("config.fill", bool, true),
	IS("config.lazy_lock", bool, false),
	TEXT("config.malloc_conf", PFS_CTL_NO_CONF),
	DO("config.prof", bool, PFS_CTL_PROF),
	IS("config.prof_libgcc", bool, false),
	IS("config.prof_libunwind", bool, false),
	IS("config.stats", bool, true),
	IS("config.utrace", bool, false),
	IS("config.xmalloc", bool, true),

	OPT("opt.abort_conf", abort_conf),
	IS("opt.abort", bool, false),
	IS("opt.retain", bool, true),
	TEXT("opt.dss", PFS_CTL_DSS),
	DO("opt.narenas", unsigned, PFS_CTL_NARENAS_OPT),
	TEXT("opt.percpu_arena", PFS_CTL_PERCPU),
	OPT("opt.oversize_threshold", oversize_threshold),
	OPT("opt.background_thread", background_thread),
	IS("opt.max_background_threads", size_t, 1),
	OPT("opt.dirty_decay_ms", dirty_decay_ms),
	OPT("opt.muzzy_decay_ms", muzzy_decay_ms),
	OPT("opt.dirty_percent", dirty_percent),
	OPT("opt.stats_print", stats_print),
	TEXT("opt.junk", PFS_CTL_JUNK),
	OPT("opt.zero", zero),
	OPT("opt.xmalloc", xmalloc),
	OPT("opt.tcache", tcache),
	OPT("opt.tcache_nslots_small_max", ring_entries_max),
	OPT("opt.tcache_bytes_max", ring_bytes_max),
	TEXT("opt.thp", PFS_CTL_THP),
	DO("opt.prof", bool, PFS_CTL_PROF),
	DO("opt.prof_active", bool, PFS_CTL_PROF),
	DO("opt.lg_prof_sample", size_t, PFS_CTL_PROF_LG),
	OPT("opt.guard_rate", guard_rate),
	OPT("opt.guard_slots", guard_slots),
	OPT("opt.tick_ms", tick_ms),
	OPT("opt.strict", strict),
	OPT("opt.tags", tags),

	DO("prof.active", bool, PFS_CTL_PROF_ACTIVE),
	DO("prof.dump", char *, PFS_CTL_PROF_DUMP),
	DO("prof.lg_sample", size_t, PFS_CTL_PROF_LG),
	DO("prof.reset", size_t, PFS_CTL_PROF_RESET),

	DO("thread.arena", unsigned, PFS_CTL_THREAD_ARENA),
	DO("thread.allocated", uint64_t, PFS_CTL_ALLOCATED),
	DO("thread.deallocated", uint64_t, PFS_CTL_DEALLOCATED),
	DO("thread.allocatedp", uint64_t *, PFS_CTL_ALLOCATED_AT),
	DO("thread.deallocatedp", uint64_t *, PFS_CTL_DEALLOCATED_AT),
	DO("thread.tcache.enabled", bool, PFS_CTL_TCACHE_ENABLED),
	DO("thread.tcache.flush", char, PFS_CTL_TCACHE_FLUSH),
	DO("thread.idle", char, PFS_CTL_IDLE),
	DO("tcache.create", unsigned, PFS_CTL_EXPLICIT_CREATE),
	DO("tcache.flush", unsigned, PFS_CTL_EXPLICIT_FLUSH),
	DO("tcache.destroy", unsigned, PFS_CTL_EXPLICIT_DESTROY),

	ARENA("arena.#.initialized", bool, PFS_CTL_ARENA_INITIALIZED),
	ARENA("arena.#.purge", char, PFS_CTL_ARENA_PURGE),
	ARENA("arena.#.decay", char, PFS_CTL_ARENA_DECAY),
	ARENA("arena.#.reset", char, PFS_CTL_ARENA_REFUSED),
	ARENA("arena.#.destroy", char, PFS_CTL_ARENA_REFUSED),
	ARENA("arena.#.dss", char *, PFS_CTL_ARENA_DSS),
	ARENA("arena.#.dirty_decay_ms", int64_t, PFS_CTL_ARENA_DIRTY),
	ARENA("arena.#.muzzy_decay_ms", int64_t, PFS_CTL_ARENA_MUZZY),

	DO("arenas.narenas", unsigned, PFS_CTL_NARENAS),
	DO("arenas.dirty_decay_ms", int64_t, PFS_CTL_DIRTY_DECAY),
	DO("arenas.muzzy_decay_ms", int64_t, PFS_CTL_MUZZY_DECAY),
	IS("arenas.quantum", size_t, 16),
	IS("arenas.page", size_t, PFS_OS_PAGE),
	IS("arenas.tcache_max", size_t, PFS_SMALL_MAX),
	IS("arenas.nbins", unsigned, PFS_SMALL_COUNT),
	IS("arenas.nhbins", unsigned, PFS_SMALL_COUNT),
	BIN("arenas.bin.#.size", size_t, PFS_CTL_BIN_SIZE),
	BIN("arenas.bin.#.nregs", uint32_t, PFS_CTL_BIN_NREGS),
	BIN("arenas.bin.#.slab_size", size_t, PFS_CTL_BIN_SLAB),
	BIN("arenas.bin.#.nshards", uint32_t, PFS_CTL_BIN_SHARDS),
	IS("arenas.nlextents", unsigned, PFS_CTL_LEXTENTS),
	ROW(LEXTENT, "arenas.lextent.#.size", size_t, 0),
	DO("arenas.create", unsigned, PFS_CTL_CREATE),
	DO("arenas.lookup", unsigned, PFS_CTL_LOOKUP),

	STAT("stats.allocated", allocated),
	STAT("stats.active", active),
	STAT("stats.metadata", metadata),
	STAT("stats.resident", resident),
	STAT("stats.mapped", mapped),
	STAT("stats.retained", retained),

	OF_ARENA("nthreads", threads),
	TEXT("stats.arenas.#.dss", PFS_CTL_DSS),
	OF_ARENA("dirty_decay_ms", dirty_decay_ms),
	OF_ARENA("muzzy_decay_ms", muzzy_decay_ms),
	PAGES_OF_ARENA("pactive", active),
	PAGES_OF_ARENA("pdirty", dirty),
	PAGES_OF_ARENA("pmuzzy", muzzy),
	OF_ARENA("mapped", mapped),
	OF_ARENA("retained", retained),
	OF_ARENA("resident", resident),
	OF_ARENA("tcache_bytes", held),
	OF_ARENA("small.allocated", small),
	OF_ARENA("small.nmalloc", small_takes),
	OF_ARENA("small.ndalloc", small_gives),
	OF_ARENA("large.allocated", large),
	OF_ARENA("large.nmalloc", large_made),
	OF_ARENA("large.ndalloc", large_freed),
	OF_BIN("nmalloc", takes),
	OF_BIN("ndalloc", gives),
	OF_BIN("curregs", taken_regions),
	OF_BIN("nfills", refills),
	OF_BIN("nslabs", slabs_made),
	OF_BIN("curslabs", slabs),
};
const uint32_t pfs_ctl_row_count = sizeof(pfs_ctl_rows) / sizeof(pfs_ctl_rows[0]);
