/*
 * descriptors_test.c - the metadata of blocks that are long free returns to the system: by ticks,
 * by a purge and by forks, unless a program asks that nothing returns. What is in use stays. A
 * program in a steady state makes no system call for it. Pages are looked up by mincore.
 */
#include <pfslab/malloc.h>
#include <signal.h>
#include <string.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/conf.h"
#include "memory/malloc/map.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"
#include "memory/malloc/tick.h"
#include "check.h"
#include "child.h"

#define BLOCKS 24000u
#define BYTES ((size_t)40000)
#define KEPT 3000u /* one of so many */
#define FEW 40u    /* pages: those of the kept blocks, and what is not worth a call */
#define MANY 1000u /* at least, of descriptors; as many are used now */
#define MAP_MANY 400u
#define FORKS 4u
#define PAGES_MOST (BLOCKS / 4)

static unsigned char *blocks[BLOCKS];
static uintptr_t pages[PAGES_MOST], map_pages[PAGES_MOST]; /* of metadata at the peak */
static uint32_t page_count, map_count;
static uint32_t wipes;
static bool refuses;

bool __real_pfs_system_wipe(void *at, size_t size_bytes);
bool __wrap_pfs_system_wipe(void *at, size_t size_bytes);

bool __wrap_pfs_system_wipe(void *at, size_t size_bytes)
{
	wipes++;
	return !refuses && __real_pfs_system_wipe(at, size_bytes);
}

static uint32_t wipes_now(void)
{
	uint32_t now = wipes;
	wipes = 0;
	return now;
}

static int by_number(const void *left, const void *right)
{
	uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
	return (a > b) - (a < b);
}

/* Sorts; each page once. */
static uint32_t unique(uintptr_t *numbers, uint32_t count)
{
	uint32_t kept = 0;
	qsort(numbers, count, sizeof(numbers[0]), by_number);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	return kept;
}

static uintptr_t page_of(const volatile void *address)
{
	return (uintptr_t)address & ~(uintptr_t)(PFS_OS_PAGE - 1);
}

static void note_pages(void)
{
	static uintptr_t all[BLOCKS];
	for (uint32_t i = 0; i < BLOCKS; i++)
		all[i] = page_of(pfs_map_extent(pfs_map_entry(blocks[i])));
	page_count = unique(all, BLOCKS);
	CHECK(page_count <= PAGES_MOST, "%u pages of descriptors", page_count);
	memcpy(pages, all, page_count * sizeof(all[0]));
	for (uint32_t i = 0; i < BLOCKS; i++) {
		uintptr_t address = (uintptr_t)blocks[i];
		struct pfs_map_leaf *leaf = pfs_map_root[address >> PFS_MAP_PART_BITS];
		all[i] = page_of(&leaf->entries[(uint32_t)address >> PFS_OS_PAGE_BITS]);
	}
	map_count = unique(all, BLOCKS);
	CHECK(map_count <= PAGES_MOST, "%u pages of the map", map_count);
	memcpy(map_pages, all, map_count * sizeof(all[0]));
}

static uint32_t resident(const uintptr_t *at, uint32_t count)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++)
		found += pfs_system_resident((void *)at[i], 1); /* NOLINT: a number */
	return found;
}

static void allocate(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++) {
		if (blocks[i] != NULL)
			continue;
		blocks[i] = pfs_malloc(BYTES);
		CHECK(blocks[i] != NULL, "no block");
		if (i % KEPT == 0)
			memset(blocks[i], (int)(1 + i / KEPT), BYTES);
	}
	note_pages();
}

static void free_most(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++) {
		if (i % KEPT == 0)
			continue;
		pfs_block_free(blocks[i]);
		blocks[i] = NULL;
	}
}

static bool count_block(const struct pfs_malloc_block *block, void *count)
{
	*(uint32_t *)count += block->size_bytes >= BYTES;
	return true;
}

static void check_kept(void)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < BLOCKS; i += KEPT) {
		CHECK(pfs_malloc_usable_size(blocks[i]) >= BYTES, "a kept block has no size");
		for (size_t at = 0; at < BYTES; at += 999)
			CHECK(blocks[i][at] == 1 + i / KEPT, "a kept block has lost its bytes");
	}
	(void)pfs_malloc_walk(count_block, &count);
	CHECK(count == BLOCKS / KEPT, "the walk finds %u blocks", count);
}

static void expect_many(const char *when)
{
	uint32_t many = resident(pages, page_count);
	CHECK(many >= MANY, "%s: %u pages of descriptors have memory", when, many);
}

static void expect_few(const char *when, bool is_map)
{
	uint32_t few = resident(pages, page_count);
	CHECK(few <= FEW, "%s: %u of %u pages of descriptors have memory", when, few, page_count);
	few = resident(map_pages, map_count);
	CHECK(!is_map || few <= MAP_MANY / 2, "%s: %u of %u pages of the map have memory", when,
	      few, map_count);
	check_kept();
}

static uint64_t metadata(void)
{
	struct pfs_malloc_counts counts;
	pfs_malloc_count(&counts);
	return counts.metadata;
}

static void spike(void)
{
	allocate();
	free_most();
	expect_many("after a spike");
	CHECK(map_count >= MAP_MANY, "%u pages of the map", map_count);
}

static void use_again(void)
{
	check_kept();
	allocate();
	free_most();
	check_kept();
}

/* Pages that were needed since the last tick stay. */
static void tick_steadily(void)
{
	pfs_tick();
	(void)wipes_now();
	for (uint32_t turn = 0; turn < 4; turn++) {
		allocate();
		if (turn % 2 == 0)
			pfs_tick();
		free_most();
		pfs_tick();
		expect_many("in a steady state");
	}
	CHECK(wipes_now() == 0, "a steady state makes system calls for metadata");
}

static void tick(bool is_never)
{
	for (uint32_t turn = 0; turn < 3; turn++)
		pfs_tick();
	if (is_never)
		expect_many("although nothing may go");
	else
		expect_few("after ticks", true);
}

static void do_nothing(void) {}

static void fork_often(bool is_never)
{
	spike();
	(void)wipes_now();
	for (uint32_t turn = 0; turn < FORKS; turn++)
		in_child(turn == 1 ? use_again : do_nothing);
	if (is_never)
		expect_many("in a fork, although nothing may go");
	else
		expect_few("after forks", false);
	(void)wipes_now();
	in_child(do_nothing);
	CHECK(wipes_now() == 0, "a fork returns what has been returned");
}

static void free_twice(void)
{
	void *block = blocks[1];
	free_most();
	(void)pfs_tick_all();
	(void)signal(SIGABRT, SIG_DFL);
	pfs_block_free(block);
}

/* A block whose descriptor has no memory any more is freed again: the program ends. */
static void misuse(void)
{
	int status = 0;
	allocate();
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(60);
		free_twice();
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "a second free: status %#x",
	      (unsigned)status);
}

/* What the system refuses, because it is locked, stays and is used. */
static void refuse(void)
{
	spike();
	refuses = true;
	(void)pfs_tick_all();
	for (uint32_t turn = 0; turn < 3; turn++)
		pfs_tick();
	in_child(do_nothing);
	expect_many("refused");
	use_again();
	refuses = false;
	(void)pfs_tick_all();
	expect_few("no longer refused", true);
}

int main(void)
{
	be_not_alone();
	pfs_start_handlers();
	spike();
	bool is_never = pfs_conf.dirty_decay_ms == -1;
	if (!is_never)
		tick_steadily();
	tick(is_never);
	use_again();
	fork_often(is_never);
	spike();
	uint64_t before = metadata();
	(void)pfs_tick_all();
	expect_few("after a purge", true);
	CHECK(metadata() < before - (uint64_t)MANY / 2 * PFS_OS_PAGE,
	      "the metadata that is counted stays");
	use_again();
	refuse();
	misuse();
	return 0;
}
