/*
 * rack_test.c - a thread's freed blocks of 16 to 256 KiB serve its next requests; a rack keeps a
 * bounded number of bytes; ticks and other threads that take new memory empty it; the counts hold.
 */
#include <pfslab/malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/rack.h"
#include "memory/malloc/start.h"
#include "memory/malloc/tick.h"
#include "check.h"

#define KIB ((size_t)1 << 10)
#define RACK_BYTES (4096 * KIB)
#define FIRST_BYTES (256 * KIB)
#define SHARED_BYTES (1024 * KIB) /* with many threads */
#define BLOCKS 12
#define ROUNDS 20000

static const size_t sizes[] = { 16 * KIB,  20 * KIB,  24 * KIB,  28 * KIB,  32 * KIB, 40 * KIB,
				48 * KIB,  56 * KIB,  64 * KIB,  80 * KIB,  96 * KIB, 112 * KIB,
				128 * KIB, 160 * KIB, 192 * KIB, 224 * KIB, 256 * KIB };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct pfs_cache_counts of_rack(struct pfs_cache *cache)
{
	struct pfs_cache_counts counts = { .threads = 0 };
	pfs_rack_count(&counts, cache);
	return counts;
}

/* Each size, and one byte more than the class below, gets the block that was freed last. */
static void check_pairs(void)
{
	struct pfs_extents *extents = &pfs_arena_at(0)->extents;
	for (size_t i = 0; i < SIZES; i++) {
		void *block = pfs_malloc(sizes[i]);
		pfs_block_free(block);
		uint64_t made = extents->large_made;
		CHECK(of_rack(pfs_cache_own).rack_blocks != 0, "nothing is kept");
		void *again = pfs_malloc(i == 0 ? sizes[0] : sizes[i - 1] + 1);
		CHECK(again == block, "%zu bytes get another block", sizes[i]);
		CHECK(pfs_malloc_usable_size(again) == sizes[i], "of another size");
		pfs_block_free(again);
		CHECK(extents->large_made == made, "%zu bytes were made anew", sizes[i]);
	}
	void *block = pfs_malloc(20 * KIB);
	memset(block, 1, 20 * KIB);
	pfs_block_free(block);
	char *zeroes = pfs_calloc(1, 20 * KIB);
	for (size_t at = 0; at < 20 * KIB; at++)
		CHECK(zeroes[at] == 0, "calloc: byte %zu is %d", at, zeroes[at]);
	pfs_block_free(zeroes);
}

/* A request gets a block of the next class, of no other, and of its own first. */
static void check_next(void)
{
	for (size_t i = 1; i < SIZES; i++) {
		(void)pfs_rack_empty(pfs_cache_own);
		void *block = pfs_malloc(sizes[i]);
		pfs_block_free(block);
		CHECK(i < 2 || pfs_rack_take(sizes[i - 2], true) == NULL, "two classes larger");
		CHECK(pfs_rack_take(sizes[i - 1], false) == NULL, "%zu bytes: larger",
		      sizes[i - 1]);
		CHECK(pfs_rack_take(sizes[i - 1], true) == block, "%zu bytes: none", sizes[i - 1]);
		CHECK(pfs_malloc_usable_size(block) == sizes[i], "of another size");
		void *smaller = pfs_malloc(sizes[i - 1]);
		pfs_block_free(block);
		pfs_block_free(smaller);
		CHECK(pfs_rack_take(sizes[i - 1], true) == smaller, "not its own class");
		pfs_block_free(smaller);
	}
}

static void replace(void)
{
	void *blocks[SIZES * BLOCKS];
	for (size_t i = 0; i < SIZES * BLOCKS; i++)
		blocks[i] = pfs_malloc(sizes[i % SIZES]);
	for (size_t i = 0; i < SIZES * BLOCKS; i++)
		pfs_block_free(blocks[i]);
}

/* Misses of replaced blocks, until the rack has grown. */
static void fill(size_t bytes_most)
{
	for (unsigned i = 0; i < 16; i++)
		replace();
	uint64_t bytes = of_rack(pfs_cache_own).rack_bytes;
	CHECK(bytes > bytes_most / 2, "only %llu bytes are kept", (unsigned long long)bytes);
	CHECK(bytes <= bytes_most, "%llu bytes are kept", (unsigned long long)bytes);
}

/* A thread that never asks again for what it freed keeps little. */
static void check_first(void)
{
	replace();
	CHECK(of_rack(pfs_cache_own).rack_bytes <= FIRST_BYTES, "a rack grows at once");
	for (size_t i = 0; i < SIZES; i++)
		for (size_t k = 0; k < BLOCKS; k++)
			(void)pfs_malloc(sizes[i]);
	replace();
	CHECK(of_rack(pfs_cache_own).rack_bytes <= FIRST_BYTES, "a rack grows without need");
}

/* 16 blocks of any sizes, one replaced at a time: few come from the extents. */
static void check_many(void)
{
	struct pfs_extents *extents = &pfs_arena_at(0)->extents;
	uint64_t random = 1, made = 0;
	void *blocks[16] = { NULL };
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		unsigned at = random >> 40 & 15;
		if (i == ROUNDS)
			made = extents->large_made;
		pfs_block_free(blocks[at]);
		blocks[at] = pfs_malloc(sizes[(random >> 33) % 13]);
	}
	made = extents->large_made - made;
	CHECK(made < ROUNDS / 50, "%llu blocks were made anew", (unsigned long long)made);
	for (unsigned at = 0; at < 16; at++)
		pfs_block_free(blocks[at]);
}

static void check_shared(void)
{
	struct pfs_arena *arena = pfs_arena_at(0);
	fill(RACK_BYTES);
	(void)pfs_fetch_add_relaxed(&arena->threads, 1000); /* relaxed: a test */
	fill(SHARED_BYTES);
	(void)pfs_fetch_add_relaxed(&arena->threads, -1000u); /* relaxed: a test */
}

/* Of what was taken back, as much must be taken anew before the next time. */
static void check_spared(void)
{
	struct pfs_arena *arena = pfs_arena_at(0);
	size_t kept = 0;
	for (unsigned times = 0; times < 3; times++) {
		for (unsigned i = 0; i < 2; i++)
			pfs_block_free(pfs_malloc(sizes[i]));
		if (times == 2) /* relaxed: a test */
			(void)pfs_fetch_add_relaxed(&arena->extents.new_pages, kept / PFS_OS_PAGE);
		uint64_t before = of_rack(pfs_cache_own).rack_bytes;
		if (times == 0)
			kept = before;
		CHECK(before != 0, "nothing is kept");
		/* relaxed: a test */
		if (times == 0)
			pfs_store_relaxed(&arena->rack_due_pages, arena->extents.new_pages);
		pfs_racks_take_back(arena, true);
		uint64_t after = of_rack(pfs_cache_own).rack_bytes;
		CHECK(after == (times == 1 ? before : 0), "time %u: %llu bytes stay", times,
		      (unsigned long long)after);
	}
}

static void check_ticks(void)
{
	fill(RACK_BYTES);
	(void)pfs_caches_tick(false);
	CHECK(of_rack(pfs_cache_own).rack_blocks != 0, "the first tick took blocks just freed");
	void *block = pfs_malloc(20 * KIB); /* used meanwhile: stays for another tick */
	pfs_block_free(block);
	(void)pfs_caches_tick(false);
	CHECK(of_rack(pfs_cache_own).rack_blocks == 1, "idle blocks stayed, or the other one went");
	(void)pfs_caches_tick(false);
	CHECK(of_rack(pfs_cache_own).rack_blocks == 0, "an idle block stayed");
}

static void check_counts(void)
{
	struct pfs_malloc_counts before, after;
	pfs_malloc_count(&before);
	void *kept = pfs_malloc(30 * KIB);
	for (unsigned i = 0; i < 1000; i++)
		pfs_block_free(pfs_malloc(sizes[i % SIZES]));
	pfs_malloc_count(&after);
	CHECK(after.mallocs - before.mallocs == 1001, "%llu mallocs",
	      (unsigned long long)(after.mallocs - before.mallocs));
	CHECK(after.frees - before.frees == 1000, "%llu frees",
	      (unsigned long long)(after.frees - before.frees));
	CHECK(after.allocated - before.allocated == 32 * KIB, "%llu bytes allocated",
	      (unsigned long long)(after.allocated - before.allocated));
	CHECK(after.large - before.large == 32 * KIB, "large");
	pfs_block_free(kept);
}

static pthread_barrier_t met;
static struct pfs_cache *other;

static void *idle(void *unused)
{
	fill(RACK_BYTES);
	other = pfs_cache_own;
	(void)pthread_barrier_wait(&met);
	(void)pthread_barrier_wait(&met);
	return unused;
}

/* New memory is taken, for a block and for slabs: what an idle thread keeps is freed first. */
static void check_taken(size_t size)
{
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, idle, NULL) == 0, "no thread");
	(void)pthread_barrier_wait(&met);
	(void)pfs_extents_purge(&pfs_arena_at(0)->extents, PFS_EXTENT_DIRTY, 0, false);
	for (size_t bytes = 0; bytes < 4096 * KIB; bytes += size)
		(void)pfs_malloc(size);
	CHECK(of_rack(other).rack_blocks == 0, "%zu bytes: blocks stayed", size);
	(void)pthread_barrier_wait(&met);
	(void)pthread_join(thread, NULL);
}

static void *only_frees(void *blocks)
{
	for (size_t i = 0; i < SIZES; i++)
		pfs_block_free(((void **)blocks)[i]);
	CHECK(of_rack(pfs_cache_own).rack_blocks == 0, "a thread that only frees keeps blocks");
	return NULL;
}

/* A thread keeps blocks once it has missed them often. */
static void *misses(void *unused)
{
	for (unsigned i = 0; i < 100; i++)
		pfs_block_free(pfs_malloc(16 * KIB));
	CHECK(of_rack(pfs_cache_own).rack_blocks == 0, "a thread with few misses keeps blocks");
	for (unsigned i = 0; i < 100; i++)
		pfs_block_free(pfs_malloc(16 * KIB));
	CHECK(of_rack(pfs_cache_own).rack_blocks == 1, "a thread with many misses keeps none");
	return unused;
}

static void check_misses(void)
{
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, misses, NULL) == 0, "no thread");
	(void)pthread_join(thread, NULL);
}

static void check_only_frees(void)
{
	pthread_t thread;
	void *blocks[SIZES];
	for (size_t i = 0; i < SIZES; i++)
		blocks[i] = pfs_malloc(sizes[i]);
	CHECK(pthread_create(&thread, NULL, only_frees, blocks) == 0, "no thread");
	(void)pthread_join(thread, NULL);
}

/* Its owner uses a rack while others empty it: each block has one owner. */
static void *use(void *seed)
{
	uint64_t random = (uintptr_t)seed;
	uint64_t *blocks[4] = { NULL };
	for (unsigned i = 0; i < ROUNDS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		unsigned at = random >> 40 & 3;
		if (blocks[at] != NULL)
			CHECK(*blocks[at] == (uintptr_t)&blocks[at], "a block has two owners");
		pfs_block_free(blocks[at]);
		blocks[at] = pfs_malloc(sizes[(random >> 33) % SIZES]);
		*blocks[at] = (uintptr_t)&blocks[at];
	}
	for (unsigned at = 0; at < 4; at++)
		pfs_block_free(blocks[at]);
	return NULL;
}

static void check_threads(void)
{
	pthread_t threads[3];
	for (uintptr_t i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, use, (void *)(i + 1)) == 0, "no thread");
	for (unsigned i = 0; i < ROUNDS / 10; i++) {
		pfs_racks_take_back(pfs_arena_at(0), false);
		(void)pfs_caches_tick(i % 2 == 0);
	}
	for (unsigned i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
}

/* A thread was forked away between its notes of a take; the child settles its cache. */
static void check_settled(void)
{
	struct pfs_rack *rack = NULL;
	void *block = pfs_malloc(20 * KIB);
	pfs_block_free(block);
	rack = pfs_load_relaxed(&pfs_cache_own->rack); /* relaxed: its owner */
	rack->used = 0;
	memset(rack->of_class, 0, sizeof(rack->of_class));
	pfs_rack_settle(pfs_cache_own);
	CHECK(rack->bytes == of_rack(pfs_cache_own).rack_bytes, "%u bytes noted", rack->bytes);
	CHECK(pfs_malloc(20 * KIB) == block, "a block is not noted");
	pfs_block_free(block);
	rack->bytes += FIRST_BYTES;
	pfs_rack_settle(pfs_cache_own);
	CHECK(rack->bytes == of_rack(pfs_cache_own).rack_bytes, "%u bytes too many", rack->bytes);
}

int main(void)
{
	pfs_start();
	(void)pthread_barrier_init(&met, NULL, 2);
	for (unsigned i = 0; i < 200; i++) /* misses, until the rack keeps FIRST_BYTES */
		pfs_block_free(pfs_malloc(256 * KIB));
	check_pairs();
	check_next();
	check_only_frees();
	check_misses();
	check_first();
	check_many();
	check_shared();
	check_spared();
	check_ticks();
	check_counts();
	check_taken(300 * KIB);
	check_taken(1000);
	check_settled();
	check_threads();
	(void)pfs_rack_empty(pfs_cache_own);
	return 0;
}
