/*
 * left_test.c - what a parent's threads cached costs a forked child a bounded part in each call,
 * however many threads there were; nothing is lost, also if the child forks in between.
 */
#include <pfslab/malloc.h>
#include <pthread.h>
#include <unistd.h>

#include "memory/malloc/explicit.h"
#include "memory/malloc/rings.h"
#include "memory/malloc/start.h"
#include "check.h"
#include "child.h"

#define THREADS 200u
#define BLOCKS 250u /* freed by each thread */
#define BLOCK_BYTES 256u
#define CACHE_BLOCKS_MOST ((uint64_t)PFS_SMALL_COUNT * (511 + PFS_FRONT_MOST))
#define STEPS_MOST 64u

void __real_pfs_blocks_give(void **blocks, uint32_t count, const char *call);
void __wrap_pfs_blocks_give(void **blocks, uint32_t count, const char *call);

static pthread_barrier_t met;
static _Atomic(uint64_t) given;

void __wrap_pfs_blocks_give(void **blocks, uint32_t count, const char *call)
{
	(void)pfs_fetch_add_relaxed(&given, count); /* relaxed: a count */
	__real_pfs_blocks_give(blocks, count, call);
}

/* Blocks that went to the words since this was last asked. */
static uint64_t given_now(void)
{
	uint64_t count = pfs_load_relaxed(&given); /* relaxed: one thread */
	pfs_store_relaxed(&given, 0);              /* relaxed: as above */
	return count;
}

static uint32_t left(void)
{
	uint32_t count = 0;
	for (struct pfs_cache *cache = pfs_registry.oldest; cache != NULL; cache = cache->next)
		count += pfs_cache_is_left(cache);
	return count;
}

static void use(void)
{
	static _Thread_local void *blocks[BLOCKS];
	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK((blocks[i] = pfs_malloc(BLOCK_BYTES)) != NULL, "no block");
	for (unsigned i = 0; i < BLOCKS; i++)
		pfs_block_free(blocks[i]);
}

static void *park(void *unused)
{
	use();
	(void)pthread_barrier_wait(&met); /* all have used, */
	(void)pthread_barrier_wait(&met); /* and the process has forked */
	return unused;
}

#ifndef __SANITIZE_THREAD__
static void *use_in_thread(void *unused)
{
	use();
	CHECK(!pfs_cache_is_left(pfs_cache_mine()), "a new thread's cache is left");
	return unused;
}
#endif

static void step(bool is_first, bool *is_more)
{
	struct pfs_caches_ticked ticked = { .taken = 0 };
	*is_more = pfs_caches_tick_some(false, is_first, &ticked);
	uint64_t gone = given_now();
	CHECK(gone <= PFS_BLOCKS_TOGETHER + CACHE_BLOCKS_MOST, "%lu blocks in a step", gone);
}

/* Ticks, and a few more steps than there are parts. */
static void bury_rest(void)
{
	bool is_more = true;
	uint32_t steps = 0;
	for (; is_more; steps++)
		step(steps == 0, &is_more);
	CHECK(steps <= STEPS_MOST, "%u steps", steps);
	CHECK(left() == 0, "%u caches are left", left());
	struct pfs_cache_counts counts;
	pfs_caches_count(&counts);
	CHECK(counts.threads == 1, "%lu threads are counted", counts.threads);
}

static bool count_block(const struct pfs_malloc_block *block, void *context)
{
	*(uint32_t *)context += block->size_bytes == BLOCK_BYTES;
	return true;
}

/* Blocks in use; and all that the parent's threads freed can be allocated. */
static void check_whole(void)
{
	uint32_t count = 0;
	(void)pfs_malloc_walk(count_block, &count);
	CHECK(count == 0, "%u blocks were lost", count);
}

static void bury(void)
{
	bury_rest();
	check_whole();
}

/* Neither a fork, nor a child's first calls, nor its second thread does all of it. */
static void bury_in_parts(void)
{
	CHECK(given_now() == 0, "a fork buries");
	CHECK(left() == THREADS, "%u caches are left of %u threads", left(), THREADS);
	bool is_more;
	step(true, &is_more);
	CHECK(is_more && left() > THREADS / 2 && left() < THREADS, "%u caches are left", left());
	in_child(bury);
#ifndef __SANITIZE_THREAD__ /* it knows no threads of such a child */
	pthread_t thread;
	uint32_t before = left();
	CHECK(pthread_create(&thread, NULL, use_in_thread, NULL) == 0, "no thread");
	(void)pthread_join(thread, NULL);
	CHECK(given_now() <= 2 * (PFS_BLOCKS_TOGETHER + CACHE_BLOCKS_MOST), "a thread's start "
									    "buries all");
	CHECK(left() != 0 && left() <= before, "%u caches are left", left());
#endif
	bury();
}

/* New memory, while caches are left: what they hold is used before much more of it. */
static void grow(void)
{
	static void *blocks[THREADS * BLOCKS / 2];
	uint64_t most = 0;
	(void)given_now();
	for (unsigned i = 0; i < THREADS * BLOCKS / 2; i++) {
		CHECK((blocks[i] = pfs_malloc(BLOCK_BYTES)) != NULL, "no block");
		uint64_t gone = given_now();
		most = gone > most ? gone : most;
	}
	CHECK(most > 0 && most <= PFS_BLOCKS_TOGETHER + CACHE_BLOCKS_MOST, "%lu blocks in a call",
	      most);
	for (unsigned i = 0; i < THREADS * BLOCKS / 2; i++)
		pfs_block_free(blocks[i]);
	bury();
}

/* A child may use explicit caches, before and after they are settled. */
static void use_explicit(void)
{
	struct pfs_cache *cache = pfs_explicit_at(0);
	CHECK(pfs_load_relaxed(&cache->forks) == pfs_registry.forks, "it is not settled");
	struct pfs_cache *own = pfs_explicit_enter(cache);
	use();
	pfs_explicit_leave(own);
	bury_rest();
	CHECK(pfs_explicit_destroy(0) && pfs_explicit_at(0) == NULL, "it is not destroyed");
	check_whole();
}

int main(void)
{
	static pthread_t threads[THREADS];
	pfs_start();
	(void)pfs_cache_attached();
	pfs_start_handlers();
	(void)pthread_barrier_init(&met, NULL, THREADS + 1);
	CHECK(pfs_explicit_create() == 0, "no explicit cache");
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, park, NULL) == 0, "no thread");
	(void)pthread_barrier_wait(&met);
	(void)given_now();
	in_child(bury_in_parts);
	in_child(grow);
	in_child(use_explicit);
	(void)pthread_barrier_wait(&met);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}
