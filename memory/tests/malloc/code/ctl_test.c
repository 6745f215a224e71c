/*
 * ctl_test.c - threads allocate by mallocx from arenas and thread caches of their own while others
 * call mallctl: at rest each arena's statistics equal what a walk over all blocks finds. The option
 * tcache:false turns all caches off.
 */
#include <pfslab/jemalloc.h>
#include <pfslab/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define THREADS 6u
#define LIVE 200u
#define TURNS 10000u
#define ARENAS_MAX 64u
#define CACHED_MOST ((size_t)256 << 10)

static void *live[THREADS][LIVE];

static void read_value(const char *name, void *value, size_t bytes)
{
	int error = mallctl(name, value, &bytes, NULL, 0);
	CHECK(error == 0, "%s: %s", name, strerror(error));
}

static void write_value(const char *name, void *value, size_t bytes)
{
	int error = mallctl(name, NULL, NULL, value, bytes);
	CHECK(error == 0, "%s: %s", name, strerror(error));
}

static size_t stat_of(const char *pattern, unsigned arena)
{
	char name[100];
	size_t value = 0;
	(void)snprintf(name, sizeof(name), pattern, arena);
	read_value(name, &value, sizeof(value));
	return value;
}

static void refresh(void)
{
	uint64_t epoch = 1;
	write_value("epoch", &epoch, sizeof(epoch));
}

/* Calls made now and then that concern all threads, or change much. */
static void ask(unsigned turn, unsigned *arena)
{
	bool background = turn % 4 == 0;
	switch (turn % 7) {
	case 0:
		refresh();
		CHECK(stat_of("stats.arenas.%u.pactive", 0) < 1u << 20, "pages of arena 0");
		break;
	case 1: (void)mallctl("arena.4096.purge", NULL, NULL, NULL, 0); break;
	case 2: write_value("thread.arena", arena, sizeof(*arena)); break;
	case 3: write_value("background_thread", &background, sizeof(background)); break;
	case 4: (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0); break;
	case 5: {
		int64_t ms = (int64_t)(turn % 5) - 2;
		write_value("arena.0.dirty_decay_ms", &ms, sizeof(ms));
		break;
	}
	default: malloc_stats_print(NULL, NULL, "J");
	}
}

static void print_nothing(void *context, const char *text)
{
	(void)context, (void)text;
}

static void *allocate(void *blocks_of_thread)
{
	void **blocks = blocks_of_thread;
	unsigned arena, cache, seed = (unsigned)((uintptr_t)blocks >> 4);
	read_value("arenas.create", &arena, sizeof(arena));
	read_value("tcache.create", &cache, sizeof(cache));
	int flags[] = { 0,
			MALLOCX_TCACHE_NONE,
			MALLOCX_ARENA(arena),
			MALLOCX_TCACHE(cache),
			MALLOCX_ARENA(arena) | MALLOCX_TCACHE(cache),
			MALLOCX_LG_ALIGN(9),
			MALLOCX_ZERO };
	for (unsigned turn = 0; turn < TURNS; turn++) {
		seed = seed * 1664525 + 1013904223;
		void **place = &blocks[(seed >> 8) % LIVE];
		size_t size = 1 + (seed >> 16) % (turn % 20 == 0 ? 60000u : 3000u);
		int way = flags[seed % 7];
		if (*place != NULL && turn % 3 == 0) {
			*place = rallocx(*place, size, way);
		} else {
			if (*place != NULL)
				dallocx(*place, turn % 2 == 0 ? way : 0);
			*place = mallocx(size, way);
		}
		CHECK(*place != NULL && sallocx(*place, 0) >= size, "%zu bytes", size);
		memset(*place, 1, size);
		if (turn % 100 == 99)
			ask(turn / 100, &arena);
	}
	write_value("tcache.destroy", &cache, sizeof(cache));
	return NULL;
}

static uint64_t walked[ARENAS_MAX];

static bool visit(const struct pfs_malloc_block *block, void *total)
{
	walked[block->arena % ARENAS_MAX] += block->size_bytes;
	*(uint64_t *)total += block->size_bytes;
	return true;
}

static void compare(void)
{
	uint64_t total = 0;
	unsigned arenas;
	memset(walked, 0, sizeof(walked));
	(void)pfs_malloc_walk(visit, &total); /* which also empties all rings */
	refresh();
	read_value("arenas.narenas", &arenas, sizeof(arenas));
	CHECK(arenas < ARENAS_MAX, "%u arenas", arenas);
	for (unsigned arena = 0; arena < arenas; arena++) {
		unsigned threads;
		char name[64];
		size_t length = sizeof(threads);
		(void)snprintf(name, sizeof(name), "stats.arenas.%u.nthreads", arena);
		if (mallctl(name, &threads, &length, NULL, 0) != 0)
			continue;
		size_t all = stat_of("stats.arenas.%u.small.allocated", arena) +
			     stat_of("stats.arenas.%u.large.allocated", arena);
		CHECK(all == walked[arena], "arena %u: %zu bytes, and a walk finds %llu", arena,
		      all, (unsigned long long)walked[arena]);
	}
	CHECK(stat_of("stats.allocated", 0) == total, "%zu bytes, and a walk finds %llu",
	      stat_of("stats.allocated", 0), (unsigned long long)total);
}

/* The bytes that stay cached of some freed blocks. */
static size_t kept_of(size_t size, int flags)
{
	for (unsigned i = 0; i < LIVE; i++)
		live[0][i] = mallocx(size, flags);
	for (unsigned i = 0; i < LIVE; i++)
		dallocx(live[0][i], flags);
	memset((void *)live[0], 0, sizeof(live[0]));
	refresh();
	return stat_of("stats.arenas.%u.tcache_bytes", 4096);
}

/* With the option tcache:false nothing stays, of no size and in no cache. */
static void check_cached(void)
{
	bool is_on;
	unsigned cache;
	size_t own = 0, others = 0;
	read_value("opt.tcache", &is_on, sizeof(is_on));
	read_value("tcache.create", &cache, sizeof(cache));
	for (size_t size = 8; size <= CACHED_MOST; size *= 2) {
		own += kept_of(size, 0);
		others += kept_of(size, MALLOCX_TCACHE(cache));
	}
	CHECK((own != 0) == is_on && (others != 0) == is_on, "%zu and %zu bytes stay cached", own,
	      others);
	write_value("tcache.destroy", &cache, sizeof(cache));
}

int main(void)
{
	pthread_t threads[THREADS];
	malloc_message = print_nothing;
	check_cached();
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, allocate, live[i]) == 0, "no thread");
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	compare();
	for (unsigned i = 0; i < THREADS; i++)
		for (unsigned j = 0; j < LIVE; j++)
			if (live[i][j] != NULL)
				dallocx(live[i][j], j % 2 == 0 ? 0 : MALLOCX_TCACHE_NONE);
	compare();
	return 0;
}
