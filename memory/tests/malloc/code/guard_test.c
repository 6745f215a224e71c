/*
 * guard_test.c - the pool of guarded blocks from inside: alignment, usable sizes, which slot is
 * used next, a full pool, what is known of an address, resident pages, and threads that free each
 * other's blocks while the process forks.
 */
#define _GNU_SOURCE
#include <pfslab/jemalloc.h>
#include <pfslab/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "memory/malloc/block.h"
#include "memory/malloc/guard.h"

#define SLOTS 64u
#define CONF "guard_rate:1,guard_slots:64"
#define PAGE ((uintptr_t)4096)
#define THREADS 4u
#define TURNS 3000u
#ifdef __SANITIZE_THREAD__ /* it allows a thread 64 locks, and a fork holds more */
#define FORKS 0u
#else
#define FORKS 10u
#endif

static bool is_guarded(const void *block)
{
	struct pfs_guard_found found;
	return pfs_guard_find((uintptr_t)block, &found) && found.block == (uintptr_t)block &&
	       !found.is_freed;
}

static void check_block(size_t size, size_t align)
{
	unsigned char *block = align > 1 ? pfs_memalign(align, size) : pfs_malloc(size);
	size_t least = size <= 8 ? 8 : 16;
	CHECK(is_guarded(block) == (size <= PFS_GUARD_BYTES_MOST && align <= PAGE),
	      "%zu bytes at %zu: guarded or not", size, align);
	CHECK((uintptr_t)block % (align > least ? align : least) == 0, "%zu at %zu: %p", size,
	      align, (void *)block);
	size_t usable = pfs_malloc_usable_size(block);
	CHECK(usable >= size, "%zu at %zu: %zu usable", size, align, usable);
	/* Ends at the inaccessible page, up to its alignment, or begins after one. */
	uintptr_t end = (uintptr_t)block + usable;
	bool is_tight = (uintptr_t)block % PAGE == 0 || PAGE - (end - 1) % PAGE <= 16 || align > 16;
	CHECK(is_tight || !is_guarded(block), "%zu at %zu: not at a page's bound", size, align);
	memset(block, 0x5A, usable);
	pfs_block_free(block);
}

static void check_sizes(void)
{
	static const size_t sizes[] = { 0,     1,     7,     8,     9,     16,    17,    100,
					112,   113,   1000,  4095,  4096,  4097,  10000, 14336,
					14337, 16384, 30000, 65535, 65536, 65537, 200000 };
	for (unsigned turn = 0; turn < 5; turn++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			check_block(sizes[i], 1);
			for (size_t align = 16; align <= 2 * PAGE; align *= 2)
				check_block(sizes[i], align);
		}
}

/* What nallocx says may be used. */
static void check_mallocx(void)
{
	for (size_t size = 1; size < 40000; size += 333) {
		char *block = mallocx(size, 0);
		CHECK(is_guarded(block) && sallocx(block, 0) == nallocx(size, 0), "mallocx %zu",
		      size);
		memset(block, 1, nallocx(size, 0));
		block = rallocx(block, size + 500, MALLOCX_ZERO);
		CHECK(sallocx(block, 0) == nallocx(size + 500, 0), "rallocx %zu", size);
		dallocx(block, MALLOCX_TCACHE_NONE);
		block = mallocx(size, MALLOCX_ARENA(0) | MALLOCX_ALIGN(64));
		CHECK(is_guarded(block) && (uintptr_t)block % 64 == 0, "in an arena, %zu", size);
		dallocx(block, 0);
	}
}

static bool is_resident(const void *address)
{
	unsigned char has = 0;
	void *page = (void *)((uintptr_t)address & ~(PAGE - 1)); /* NOLINT */
	CHECK(mincore(page, PAGE, &has) == 0, "mincore");
	return (has & 1) != 0;
}

static const struct pfs_extent *slot_of(const void *block)
{
	return pfs_map_extent(pfs_map_entry(block));
}

/* The pool is full, then empty; slots are used in the order in which they became free. */
static void check_order(void)
{
	char *blocks[SLOTS];
	const struct pfs_extent *before[SLOTS];
	struct pfs_guard_found found;
	for (unsigned i = 0; i < SLOTS; i++) {
		blocks[i] = pfs_malloc(100);
		CHECK(is_guarded(blocks[i]), "block %u is not guarded", i);
		blocks[i][0] = 1;
		CHECK(is_resident(blocks[i]), "block %u is not resident", i);
	}
	void *one_more = pfs_malloc(100);
	CHECK(one_more != NULL && !is_guarded(one_more), "the pool had more slots");
	pfs_block_free(one_more);
	for (unsigned i = 0; i < SLOTS; i++) {
		unsigned at = (i * 7) % SLOTS;
		before[i] = slot_of(blocks[at]);
		pfs_block_free(blocks[at]);
		CHECK(!is_resident(blocks[at]), "a freed block is resident");
		CHECK(pfs_guard_was((uintptr_t)blocks[at]), "a freed block is not known");
		CHECK(pfs_guard_find((uintptr_t)blocks[at] + 99, &found) &&
			      found.block == (uintptr_t)blocks[at] && found.size_bytes == 100 &&
			      found.allocated->depth != 0 && found.freed->depth != 0,
		      "nothing is known of a freed block");
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		blocks[i] = pfs_malloc(100);
		CHECK(slot_of(blocks[i]) == before[i],
		      "slot %u is not the one that was free for longest", i);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		pfs_block_free(blocks[i]);
}

/* The two blocks around a page without access: the nearer one is meant. */
static void check_between(void)
{
	char *blocks[SLOTS];
	struct pfs_guard_found found;
	for (unsigned i = 0; i < SLOTS; i++)
		blocks[i] = pfs_malloc(64);
	for (unsigned i = 0; i < SLOTS; i++) {
		CHECK(pfs_guard_find((uintptr_t)blocks[i] + 64, &found) &&
			      found.block == (uintptr_t)blocks[i],
		      "the end of block %u is another's", i);
		CHECK(pfs_guard_find((uintptr_t)blocks[i] - 1, &found) &&
			      found.block == (uintptr_t)blocks[i],
		      "the byte before block %u is another's", i);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		pfs_block_free(blocks[i]);
	CHECK(!pfs_guard_find((uintptr_t)&found, &found), "the stack is in the pool");
}

static _Atomic(void *) shared[8];

static void *exchange(void *unused)
{
	for (unsigned i = 0; i < TURNS; i++) {
		char *block = pfs_malloc(1 + i % 300);
		block[0] = (char)i;
		pfs_block_free(pfs_exchange_seq(&shared[i % 8], (void *)block));
	}
	return unused;
}

static void check_threads(void)
{
	pthread_t threads[THREADS];
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, exchange, NULL) == 0, "no thread");
	for (unsigned forks = FORKS; forks > 0; forks--) {
		int status = 1;
		pid_t child = fork();
		if (child == 0) {
			(void)exchange(NULL);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && status == 0, "child %d", status);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0, "no join");
	for (unsigned i = 0; i < 8; i++)
		pfs_block_free(pfs_load_acquire(&shared[i])); /* their threads have ended */
}

int main(int argc, char **argv)
{
	(void)argc;
	if (getenv("PFS_MALLOC_CONF") == NULL) {
		(void)setenv("PFS_MALLOC_CONF", CONF, 1);
		(void)execv("/proc/self/exe", argv);
	}
	CHECK(pfs_conf.guard_rate == 1 && pfs_conf.guard_slots == SLOTS,
	      "run it with PFS_MALLOC_CONF=" CONF);
	check_sizes();
	check_mallocx();
	check_order();
	check_between();
	check_threads();
	return 0;
}
