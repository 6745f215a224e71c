/*
 * hidden_test.c - free memory is hidden from a forked child: the child has no memory there, may use
 * its addresses, and its own children and its parent's next ones have what is written there then.
 */
#include <pfslab/malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/cache.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"
#include "check.h"

#define BLOCKS 40u
#define PAGES 1024u /* of a block: 4 MiB, an extent each */
#define BYTES ((size_t)PAGES * PFS_OS_PAGE)
#define RESIDENT_MOST (BLOCKS * PAGES / 4)

bool __real_pfs_system_show(void *pages, size_t size_bytes);
bool __wrap_pfs_system_show(void *pages, size_t size_bytes);

static unsigned char *blocks[BLOCKS];
static unsigned refusals; /* so many of the next calls are refused */

bool __wrap_pfs_system_show(void *pages, size_t size_bytes)
{
	if (refusals > 0) {
		refusals--;
		return false;
	}
	return __real_pfs_system_show(pages, size_bytes);
}

static void fill(unsigned seed)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = pfs_malloc(BYTES);
		CHECK(blocks[i] != NULL, "no block");
		for (size_t at = 0; at < BYTES; at += PFS_OS_PAGE)
			blocks[i][at] = (unsigned char)(seed + i);
	}
}

static void check_filled(unsigned seed)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		for (size_t at = 0; at < BYTES; at += PFS_OS_PAGE)
			CHECK(blocks[i][at] == (unsigned char)(seed + i), "a child lacks a block");
	}
}

static void free_all(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		pfs_block_free(blocks[i]);
}

/* Of the freed blocks' pages. */
static unsigned resident(void)
{
	unsigned count = 0;
	for (unsigned i = 0; i < BLOCKS; i++) {
		for (unsigned first = 0; first < PAGES; first += PFS_SYSTEM_LOOK_PAGES)
			count += pfs_system_resident(blocks[i] + (size_t)first * PFS_OS_PAGE,
						     PFS_SYSTEM_LOOK_PAGES);
	}
	return count;
}

static void in_child(void (*action)(void))
{
	int status = 1;
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(60);
		action();
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child failed");
}

static void has_all(void)
{
	check_filled(5);
}

static void use_again(void)
{
	CHECK(resident() < RESIDENT_MOST, "a child has %u pages of free memory", resident());
	fill(5);
	in_child(has_all);
	free_all();
}

int main(void)
{
	pfs_start();
	(void)pfs_cache_attached();
	pfs_start_handlers();
	for (unsigned round = 0; round < 3; round++) {
		fill(round);
		free_all();
		CHECK(resident() > RESIDENT_MOST, "only %u pages are resident", resident());
		in_child(use_again);
		CHECK(resident() > RESIDENT_MOST, "the parent lost its pages");
		fill(5);
		in_child(has_all);
		free_all();
	}
	/* What cannot be shown again is used by nobody. */
	refusals = 2;
	in_child(use_again);
	CHECK(refusals == 0, "nothing was shown");
	fill(5);
	in_child(has_all);
	return 0;
}
