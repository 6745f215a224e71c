/*
 * corner_arenas.c - arenas and threads by mallctl: counts are true, and binding, turning off,
 * flushing and purging take effect at once, also next to other threads and in forked children.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "je.h"

#define BLOCKS 300
#define BLOCK_BYTES 1000
#define LARGE_BYTES ((size_t)1 << 20)
#define LARGE 20

static void *blocks[BLOCKS];

static unsigned bin_of(size_t size)
{
	unsigned bin = 0;
	while (je_size(je_name("arenas.bin.%u.size", bin)) != nallocx(size, 0))
		bin++;
	return bin;
}

/* ---- statistics ---- */

struct counts {
	size_t small, large, curregs, pactive;
	uint64_t nmalloc, ndalloc, large_nmalloc, large_ndalloc;
};

static struct counts counts_of(unsigned arena)
{
	char name[100];
	struct counts counts;
	unsigned bin = bin_of(BLOCK_BYTES);
	je_refresh();
	counts.small = je_size(je_name("stats.arenas.%u.small.allocated", arena));
	counts.large = je_size(je_name("stats.arenas.%u.large.allocated", arena));
	counts.pactive = je_size(je_name("stats.arenas.%u.pactive", arena));
	counts.large_nmalloc = je_uint64(je_name("stats.arenas.%u.large.nmalloc", arena));
	counts.large_ndalloc = je_uint64(je_name("stats.arenas.%u.large.ndalloc", arena));
	(void)snprintf(name, sizeof(name), "stats.arenas.%u.bins.%u.curregs", arena, bin);
	counts.curregs = je_size(name);
	(void)snprintf(name, sizeof(name), "stats.arenas.%u.bins.%u.nmalloc", arena, bin);
	counts.nmalloc = je_uint64(name);
	(void)snprintf(name, sizeof(name), "stats.arenas.%u.bins.%u.ndalloc", arena, bin);
	counts.ndalloc = je_uint64(name);
	return counts;
}

JE_CORNER(arena_statistics)
{
	unsigned arena = je_unsigned("arenas.create");
	int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE;
	size_t bytes = nallocx(BLOCK_BYTES, 0);
	struct counts none = counts_of(arena);
	CORNER_CHECK(none.small == 0 && none.large == 0 && none.curregs == 0, "a new arena");
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = mallocx(BLOCK_BYTES, flags);
		struct counts now = i % 50 == 0 ? counts_of(arena) : none;
		CORNER_CHECK(i % 50 != 0 || (now.small == (i + 1) * bytes && now.curregs == i + 1),
			     "%u blocks of %zu bytes: %zu in %zu regions", i + 1, bytes, now.small,
			     now.curregs);
	}
	struct counts full = counts_of(arena);
	CORNER_CHECK(full.nmalloc - none.nmalloc == BLOCKS && full.ndalloc == none.ndalloc,
		     "nmalloc %llu", (unsigned long long)full.nmalloc);
	CORNER_CHECK(full.pactive * 4096 >= full.small, "%zu pages", full.pactive);
	for (unsigned i = 0; i < BLOCKS; i++)
		dallocx(blocks[i], flags);
	struct counts gone = counts_of(arena);
	CORNER_CHECK(gone.small == 0 && gone.curregs == 0, "%zu bytes stay", gone.small);
	CORNER_CHECK(gone.ndalloc - none.ndalloc == BLOCKS, "ndalloc");
	void *large = mallocx(LARGE_BYTES + 1, flags);
	struct counts more = counts_of(arena);
	CORNER_CHECK(more.large == sallocx(large, 0) && more.large_nmalloc == 1, "%zu large",
		     more.large);
	dallocx(large, flags);
	more = counts_of(arena);
	CORNER_CHECK(more.large == 0 && more.large_ndalloc == 1, "%zu large stay", more.large);
}

/* ---- threads ---- */

JE_CORNER(thread_arena)
{
	unsigned first = je_unsigned("thread.arena"), arena = je_unsigned("arenas.create");
	unsigned was = 99, beyond = je_unsigned("arenas.narenas");
	size_t length = sizeof(was);
	CORNER_CHECK(beyond == arena + 1, "%u arenas after number %u", beyond, arena);
	CORNER_CHECK(mallctl("thread.arena", &was, &length, &arena, sizeof(arena)) == 0, "bind");
	CORNER_CHECK(was == first && je_unsigned("thread.arena") == arena, "bound to %u", was);
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(i * 70);
		CORNER_CHECK(je_arena_of(blocks[i]) == arena, "a block of arena %u",
			     je_arena_of(blocks[i]));
	}
	je_refresh();
	CORNER_CHECK(je_unsigned(je_name("stats.arenas.%u.nthreads", arena)) == 1, "nthreads");
	CORNER_CHECK(mallctl("thread.arena", NULL, NULL, &beyond, sizeof(beyond)) != 0, "beyond");
	CORNER_CHECK(je_unsigned("thread.arena") == arena, "and nothing has changed");
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	je_do("thread.tcache.flush");
	je_write("thread.arena", &first, sizeof(first));
	je_refresh();
	CORNER_CHECK(je_unsigned(je_name("stats.arenas.%u.nthreads", arena)) == 0, "left");
	CORNER_CHECK(je_size(je_name("stats.arenas.%u.small.allocated", arena)) == 0,
		     "nothing of it is in use or in a thread cache");
}

static void own_arena(void)
{
	unsigned arena = je_unsigned("arenas.create");
	je_write("thread.arena", &arena, sizeof(arena));
}

JE_CORNER(thread_cache_off)
{
	bool off = false, on = true, was = false;
	size_t length = sizeof(was);
	own_arena();
	unsigned arena = je_unsigned("thread.arena");
	CORNER_CHECK(mallctl("thread.tcache.enabled", &was, &length, &off, sizeof(off)) == 0 && was,
		     "it was on");
	CORNER_CHECK(!je_bool("thread.tcache.enabled"), "it is off");
	void *block = malloc(BLOCK_BYTES);
	CORNER_CHECK(counts_of(arena).curregs == 1, "%zu regions", counts_of(arena).curregs);
	free(block);
	CORNER_CHECK(counts_of(arena).curregs == 0, "nothing is kept");
	CORNER_CHECK(mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == EFAULT,
		     "no cache to flush");
	je_write("thread.tcache.enabled", &on, sizeof(on));
	free(malloc(BLOCK_BYTES));
	CORNER_CHECK(counts_of(arena).curregs >= 1, "it is on again");
}

JE_CORNER(thread_cache_flush)
{
	own_arena();
	unsigned arena = je_unsigned("thread.arena");
	static const char *const calls[] = { "thread.tcache.flush", "thread.idle" };
	for (unsigned call = 0; call < 2; call++) {
		for (unsigned i = 0; i < BLOCKS; i++)
			blocks[i] = malloc(BLOCK_BYTES);
		for (unsigned i = 0; i < BLOCKS; i++)
			free(blocks[i]);
		CORNER_CHECK(counts_of(arena).curregs > 0, "nothing in the cache");
		je_do(calls[call]);
		CORNER_CHECK(counts_of(arena).curregs == 0, "after %s %zu are in it", calls[call],
			     counts_of(arena).curregs);
	}
}

JE_CORNER(explicit_cache_counts)
{
	unsigned arena = je_unsigned("arenas.create");
	unsigned cache = je_unsigned("tcache.create");
	int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE(cache);
	for (unsigned i = 0; i < BLOCKS; i++)
		blocks[i] = mallocx(BLOCK_BYTES, flags);
	CORNER_CHECK(counts_of(arena).curregs >= BLOCKS, "in use");
	for (unsigned i = 0; i < BLOCKS; i++)
		dallocx(blocks[i], flags);
	CORNER_CHECK(counts_of(arena).curregs > 0, "it caches nothing");
	je_write("tcache.flush", &cache, sizeof(cache));
	CORNER_CHECK(counts_of(arena).curregs == 0, "after its flush");
	dallocx(mallocx(BLOCK_BYTES, flags), flags);
	je_write("tcache.destroy", &cache, sizeof(cache));
	CORNER_CHECK(counts_of(arena).curregs == 0, "after its end");
}

/* Exact bytes, by size classes. */
static void *thread_bytes_of_one(void *unused)
{
	(void)unused;
	/* The allocator may start its own thread with the second one, which allocates a few bytes
	 * here: so it does that now. */
	const bool is_wanted = true;
	je_write("background_thread", &is_wanted, sizeof(is_wanted));
	free(malloc(LARGE_BYTES));
	uint64_t allocated = je_uint64("thread.allocated");
	uint64_t freed = je_uint64("thread.deallocated");
	uint64_t more = 0;
	for (unsigned i = 0; i < BLOCKS; i++) {
		int flags = i % 3 == 0 ? MALLOCX_TCACHE_NONE : 0;
		blocks[i] = mallocx(1 + i * i, flags);
		more += nallocx(1 + i * i, 0);
	}
	void *large = malloc(LARGE_BYTES);
	large = realloc(large, 5 * LARGE_BYTES);
	more += 6 * LARGE_BYTES;
	CORNER_CHECK(je_uint64("thread.allocated") - allocated == more,
		     "thread.allocated: %llu and not %llu",
		     (unsigned long long)(je_uint64("thread.allocated") - allocated),
		     (unsigned long long)more);
	for (unsigned i = 0; i < BLOCKS; i++)
		dallocx(blocks[i], i % 2 == 0 ? MALLOCX_TCACHE_NONE : 0);
	free(large);
	CORNER_CHECK(je_uint64("thread.deallocated") - freed == more,
		     "thread.deallocated: %llu and not %llu",
		     (unsigned long long)(je_uint64("thread.deallocated") - freed),
		     (unsigned long long)more);
	return NULL;
}

JE_CORNER(thread_bytes)
{
	(void)thread_bytes_of_one(NULL);
	corner_threads(1, thread_bytes_of_one, NULL);
}

/* ---- pages ---- */

static size_t pages(const char *what, unsigned arena)
{
	char pattern[40];
	je_refresh();
	(void)snprintf(pattern, sizeof(pattern), "stats.arenas.%%u.%s", what);
	return je_size(je_name(pattern, arena));
}

static void fill_and_free(unsigned arena)
{
	int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE;
	void *large[LARGE];
	for (unsigned i = 0; i < LARGE; i++)
		large[i] = memset(mallocx(LARGE_BYTES, flags), 1, LARGE_BYTES);
	for (unsigned i = 0; i < LARGE; i++)
		dallocx(large[i], flags);
}

JE_CORNER(arena_purge)
{
	unsigned arena = je_unsigned("arenas.create");
	ssize_t never = -1;
	je_write(je_name("arena.%u.dirty_decay_ms", arena), &never, sizeof(never));
	static const unsigned numbers[] = { 0, MALLCTL_ARENAS_ALL };
	for (unsigned i = 0; i < 2; i++) {
		fill_and_free(arena);
		size_t dirty = pages("pdirty", arena);
		CORNER_CHECK(dirty * 4096 >= LARGE * LARGE_BYTES, "%zu dirty pages", dirty);
		size_t resident = corner_resident_bytes();
		je_do(je_name("arena.%u.purge", numbers[i] != 0 ? numbers[i] : arena));
		CORNER_CHECK(pages("pdirty", arena) == 0 && pages("pmuzzy", arena) == 0,
			     "after purge");
		CORNER_CHECK(corner_resident_bytes() + LARGE * LARGE_BYTES / 2 < resident,
			     "the system has them back");
	}
	/* the old way to say "all" */
	je_do(je_name("arena.%u.purge", je_unsigned("arenas.narenas")));
}

JE_CORNER(decay_times)
{
	ssize_t at_once = 0, a_while = 5000, wrong = -9, never = -1;
	unsigned arena = je_unsigned("arenas.create");
	ssize_t first = je_ssize("arenas.dirty_decay_ms");
	CORNER_CHECK(je_ssize(je_name("arena.%u.dirty_decay_ms", arena)) == first, "a new arena's");
	je_write("arenas.dirty_decay_ms", &a_while, sizeof(a_while));
	CORNER_CHECK(je_ssize(je_name("arena.%u.dirty_decay_ms", arena)) == first, "its own");
	unsigned second = je_unsigned("arenas.create");
	CORNER_CHECK(je_ssize(je_name("arena.%u.dirty_decay_ms", second)) == a_while, "the next's");
	je_write("arenas.dirty_decay_ms", &first, sizeof(first));
	CORNER_CHECK(mallctl(je_name("arena.%u.dirty_decay_ms", arena), NULL, NULL, &wrong,
			     sizeof(wrong)) == EFAULT,
		     "-9 is taken");
	CORNER_CHECK(mallctl("arenas.muzzy_decay_ms", NULL, NULL, &wrong, sizeof(wrong)) == EFAULT,
		     "-9 is taken as default");
	je_write(je_name("arena.%u.dirty_decay_ms", arena), &never, sizeof(never));
	je_write(je_name("arena.%u.muzzy_decay_ms", arena), &at_once, sizeof(at_once));
	fill_and_free(arena);
	CORNER_CHECK(pages("pdirty", arena) * 4096 >= LARGE * LARGE_BYTES, "never");
	je_write(je_name("arena.%u.dirty_decay_ms", arena), &at_once, sizeof(at_once));
	CORNER_CHECK(pages("pdirty", arena) == 0, "at once, what was there");
	fill_and_free(arena);
	CORNER_CHECK(pages("pdirty", arena) == 0, "at once, what comes");
	je_do(je_name("arena.%u.decay", arena));
	je_do(je_name("arena.%u.decay", MALLCTL_ARENAS_ALL));
}

/* ---- all together ---- */

/* 0, 1, ... */
static unsigned next_turn(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static unsigned turns;
	(void)pthread_mutex_lock(&lock);
	unsigned turn = turns++;
	(void)pthread_mutex_unlock(&lock);
	return turn;
}

static void *ask(unsigned turn)
{
	for (unsigned i = 0; i < 200; i++) {
		je_refresh();
		(void)je_size("stats.allocated");
		(void)je_size("stats.arenas.0.bins.5.curregs");
		unsigned cache = je_unsigned("tcache.create");
		dallocx(mallocx(500, MALLOCX_TCACHE(cache)), MALLOCX_TCACHE(cache));
		je_write("tcache.destroy", &cache, sizeof(cache));
		if (i % 20 == 0) {
			own_arena();
			je_do("arena.0.purge");
		}
		free(malloc(1 + i * turn));
	}
	return NULL;
}

static void *ask_in_thread(void *unused)
{
	(void)unused;
	return ask(3);
}

static void in_child(void *unused)
{
	(void)ask(2);
	corner_threads(2, ask_in_thread, unused);
}

/* The first thread forks while the others run. */
static void *fork_or_ask(void *unused)
{
	unsigned turn = next_turn();
	for (unsigned i = 0; turn == 0 && i < 3; i++)
		corner_child(in_child, unused, 40);
	return turn == 0 ? NULL : ask(turn);
}

JE_CORNER(threads_and_fork)
{
	corner_threads(4, fork_or_ask, NULL);
}
