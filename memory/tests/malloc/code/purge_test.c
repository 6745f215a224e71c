/*
 * purge_test.c - what a call of malloc or free returns to the system for others is bounded, and no
 * lock that fork takes is held meanwhile; what is bounded still goes; a forked child loses nothing
 * of what was being purged. Everything is counted at the calls of pfs_system_purge and
 * pfs_system_unmap, in which this test also forks and refuses.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfslab/malloc.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/conf.h"
#include "memory/malloc/locks.h"
#include "memory/malloc/rings.h"
#include "memory/malloc/start.h"
#include "memory/malloc/tick.h"
#include "child.h"

#define BLOCKS 2000u
#define BLOCK_BYTES ((size_t)40000)
#define CALLS_MOST 64u
#define PIECE_PAGES ((size_t)512)
#define LONG_PIECES 32u

static struct {
	size_t pages, calls; /* since the last reset */
	size_t longest;      /* pages of one call, ever */
	size_t whole;        /* calls for all that one page table maps */
	bool forks, refuses;
	uint32_t forked;
} purged;

bool __real_pfs_system_purge(void *pages, size_t size_bytes);
bool __wrap_pfs_system_purge(void *pages, size_t size_bytes);
bool __real_pfs_system_unmap(void *pages, size_t size_bytes);
bool __wrap_pfs_system_unmap(void *pages, size_t size_bytes);

static struct pfs_extents *extents(void)
{
	return &pfs_arena_at(0)->extents;
}

static bool is_free(pthread_mutex_t *lock)
{
	bool is = pthread_mutex_trylock(lock) == 0;
	if (is)
		(void)pthread_mutex_unlock(lock);
	return is;
}

/* This test has one thread: a lock that is not free is its own. */
static void check_locks(void)
{
	struct pfs_arena *arena = pfs_arena_at(0);
	CHECK(is_free(&extents()->lock.native), "purged under the extents' lock");
	CHECK(is_free(&pfs_registry.lock.native), "purged under the registry's lock");
	for (uint32_t i = 0; i < PFS_LOCKS; i++)
		CHECK(is_free(&pfs_locks[i]), "purged under lock %u", i);
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		CHECK(is_free(&arena->bins[class].lock.native), "purged under a bin's lock");
		CHECK(is_free(&arena->bins[class].growing.native), "purged while a bin grows");
	}
}

/* Every page is active or in a list. */
static size_t listed_pages(void)
{
	size_t pages = extents()->active_bytes / PFS_OS_PAGE;
	for (uint32_t kind = 0; kind < PFS_EXTENT_FREE_KINDS; kind++)
		pages += extents()->kinds[kind].pages;
	return pages;
}

static void check_pages(const char *when)
{
	size_t mapped = extents()->mapped_bytes / PFS_OS_PAGE;
	CHECK(listed_pages() == mapped, "%s: %zu pages of %zu are in lists", when, listed_pages(),
	      mapped);
}

static void fork_here(void)
{
	int status = 1;
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(20);
		check_pages("in a child forked during a purge");
		pfs_block_free(pfs_malloc(BLOCK_BYTES));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the child's status is %#x",
	      (unsigned)status);
	purged.forked++;
}

bool __wrap_pfs_system_purge(void *pages, size_t size_bytes)
{
	size_t count = size_bytes / PFS_OS_PAGE;
	check_locks();
	purged.pages += count;
	purged.calls++;
	purged.whole += count == PIECE_PAGES && (uintptr_t)pages % size_bytes == 0;
	purged.longest = count > purged.longest ? count : purged.longest;
	if (purged.forks && purged.calls % 8 == 1)
		fork_here();
	return !purged.refuses && __real_pfs_system_purge(pages, size_bytes);
}

bool __wrap_pfs_system_unmap(void *pages, size_t size_bytes)
{
	check_locks();
	return !purged.refuses && __real_pfs_system_unmap(pages, size_bytes);
}

static void *blocks[BLOCKS];

/* Many free extents that are too short for what comes. */
static void leave_holes(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		blocks[i] = memset(pfs_malloc(BLOCK_BYTES), 1, BLOCK_BYTES);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		if (i % 4 != 0) {
			pfs_block_free(blocks[i]);
			blocks[i] = NULL;
		}
	}
}

static void free_all(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++) {
		pfs_block_free(blocks[i]);
		blocks[i] = NULL;
	}
}

static void *allocate(size_t bytes)
{
	purged.pages = purged.calls = 0;
	void *block = pfs_malloc(bytes);
	CHECK(block != NULL, "malloc(%zu)", bytes);
	CHECK(purged.pages <= PFS_EXTENTS_PAY_PAGES && purged.calls <= CALLS_MOST,
	      "malloc(%zu) purged %zu pages in %zu calls", bytes, purged.pages, purged.calls);
	return block;
}

static size_t sum_pages(void)
{
	return extents()->active_bytes / PFS_OS_PAGE + extents()->kinds[PFS_EXTENT_DIRTY].pages;
}

/* The bound of extents.h: (1 + a quarter) x what is active + 1 MiB + what is owed. */
static void check_sum(size_t active_most)
{
	size_t bound = active_most + active_most / 4 + 256 + 64 +
		       pfs_load_relaxed(&extents()->owed_pages); /* relaxed: one thread */
	CHECK(sum_pages() <= bound, "%zu pages are active or dirty, the bound is %zu", sum_pages(),
	      bound);
}

static void test_malloc(void)
{
	void *large[40];
	leave_holes();
	size_t active_most = BLOCKS * 11; /* a block has up to 10 pages */
	size_t before = extents()->kinds[PFS_EXTENT_DIRTY].pages;
	pfs_block_free(allocate((size_t)30 << 20));
	for (uint32_t i = 0; i < 40; i++) {
		large[i] = allocate((size_t)1 << 20);
		check_sum(active_most);
	}
	CHECK(extents()->kinds[PFS_EXTENT_DIRTY].pages < before, "what was taken was not paid");
	for (uint32_t i = 0; i < 40; i++)
		pfs_block_free(large[i]);
	free_all();
}

/* A tick of the calling thread, and the one after it: all is idle, and goes. */
static void test_tick(void)
{
	uint32_t calls = 0;
	leave_holes();
	free_all();
	while (extents()->kinds[PFS_EXTENT_DIRTY].pages > 3 * PIECE_PAGES) {
		(void)usleep(1000);
		purged.pages = purged.calls = 0;
		pfs_tick_if_time();
		CHECK(purged.pages <= PFS_EXTENTS_PAY_PAGES && purged.calls <= CALLS_MOST,
		      "a step of a tick purged %zu pages in %zu calls", purged.pages, purged.calls);
		CHECK(++calls < 2000, "%zu pages are still dirty",
		      extents()->kinds[PFS_EXTENT_DIRTY].pages);
	}
}

/* Of a long extent that begins and ends within page tables, by calls that may purge as much as one
 * table maps. */
static void test_page_tables(void)
{
	(void)pfs_malloc_trim_all();
	size_t bytes = (LONG_PIECES + 1) * PIECE_PAGES * PFS_OS_PAGE;
	struct pfs_extent *extent = pfs_extents_take(extents(), bytes, PIECE_PAGES * PFS_OS_PAGE);
	CHECK(extent != NULL, "no memory");
	CHECK(pfs_extents_shrink(extents(), extent, bytes - PIECE_PAGES / 4 * PFS_OS_PAGE),
	      "no descriptor");
	(void)pfs_malloc_trim_all();
	pfs_extents_give(extents(), extent, PFS_EXTENT_DIRTY);
	purged.whole = 0;
	while (pfs_extents_purge_some(extents(), PFS_EXTENT_DIRTY, 0, PIECE_PAGES, false) != 0)
		;
	CHECK(purged.whole == LONG_PIECES, "%zu of %u page tables were purged as a whole",
	      purged.whole, LONG_PIECES);
}

static void test_all(void)
{
	leave_holes();
	free_all();
	be_not_alone();
	purged.forks = true;
	purged.calls = 0;
	(void)pfs_malloc_trim_all();
	purged.forks = false;
	CHECK(purged.forked != 0, "no fork");
	CHECK(extents()->kinds[PFS_EXTENT_DIRTY].pages == 0, "pages stay dirty");
	check_pages("after a trim");
}

static void test_refused(void)
{
	leave_holes();
	free_all();
	purged.refuses = true;
	uint64_t counted = extents()->purged_pages;
	(void)pfs_malloc_trim_all();
	check_pages("after purges were refused");
	CHECK(extents()->purged_pages == counted, "pages whose purge was refused count as purged");
	purged.refuses = false;
	(void)pfs_malloc_trim_all();
	purged.refuses = true;
	size_t mapped_bytes = extents()->mapped_bytes;
	CHECK(pfs_extents_unmap(extents()) == 0, "unmapped, but it was refused");
	CHECK(extents()->mapped_bytes == mapped_bytes, "an unmap was refused, and %zu bytes lost",
	      mapped_bytes - extents()->mapped_bytes);
	check_pages("after an unmap was refused");
	purged.refuses = false;
	CHECK(pfs_extents_unmap(extents()) != 0, "nothing was unmapped");
	check_pages("after an unmap");
}

int main(void)
{
	pfs_start();
	pfs_conf.background_thread = false;
	pfs_conf.tick_ms = 0;
	test_malloc();
	pfs_conf.tick_ms = 1;
	test_tick();
	test_page_tables();
	test_all();
	test_refused();
	CHECK(purged.longest <= PIECE_PAGES, "%zu pages in one system call", purged.longest);
	(void)printf("at most %zu pages in a system call, %u forks during purges\n", purged.longest,
		     purged.forked);
	return 0;
}
