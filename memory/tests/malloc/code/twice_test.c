/*
 * twice_test.c - two threads free a large block at the same time: both find it in use. Here one
 * thread does it all: what the second call does then follows what the first one did. It ends the
 * program by the line that names the block, whatever became of the descriptor meanwhile.
 */
#include <pfslab/malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/large.h"
#include "memory/malloc/map.h"
#include "memory/malloc/rack.h"
#include "memory/malloc/start.h"
#include "memory/malloc/tick.h"
#include "check.h"

#define BYTES ((size_t)40000)
#define BLOCKS 8000u /* their descriptors fill pages */

static void *blocks[BLOCKS];
static struct pfs_extent *extents[BLOCKS];

static void allocate(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++) {
		blocks[i] = pfs_malloc(BYTES);
		CHECK(blocks[i] != NULL, "no memory");
		extents[i] = pfs_map_extent(pfs_map_entry(blocks[i]));
	}
}

/* A call of free that found the block in use. */
static void free_found(uint32_t i)
{
	pfs_large_free(extents[i], blocks[i], "free");
}

static void free_free(void)
{
	free_found(1);
	free_found(1);
}

/* One descriptor is enough for what both were. */
static void free_joined(void)
{
	free_found(1);
	free_found(2);
	struct pfs_extent *left = pfs_map_extent(pfs_map_entry(blocks[1]));
	CHECK(left->size_bytes > BYTES * 3 / 2, "the neighbours were not joined");
	free_found(left == extents[1] ? 2 : 1);
}

static void free_all(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		pfs_block_free(blocks[i]);
	(void)pfs_malloc_trim_all();
	while (pfs_extents_wipe(&pfs_arena_at(0)->extents, SIZE_MAX) != 0)
		continue;
	CHECK(pfs_extent_arena(extents[BLOCKS / 2]) == NULL, "descriptors were not wiped");
}

static void free_wiped(void)
{
	free_all();
	free_found(BLOCKS / 2);
}

static void resize_wiped(void)
{
	free_all();
	CHECK(!pfs_large_resize(extents[BLOCKS / 2], 2 * BYTES), "a block of no arena grew");
	pfs_large_copy(blocks[0], blocks[BLOCKS / 2], BYTES); /* as realloc, which then frees it */
	free_found(BLOCKS / 2);
}

static void free_cached(void)
{
	CHECK(pfs_rack_put(extents[1]), "not kept");
	free_found(1);
}

/* Neither saw that the other has it. */
static void put_twice(void)
{
	CHECK(pfs_rack_put(extents[1]) && pfs_rack_put(extents[1]), "not kept");
	(void)pfs_rack_empty(pfs_cache_own);
}

/* The action ends a child by abort, after a line. */
static void check_ends(void (*action)(void), const char *name)
{
	char text[4000] = "";
	size_t length = 0;
	ssize_t more = 1;
	int ends[2], status = 0;
	CHECK(pipe(ends) == 0, "pipe");
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(60);
		(void)dup2(ends[1], STDERR_FILENO);
		action();
		_exit(0);
	}
	(void)close(ends[1]);
	for (; more > 0 && length<sizeof(text) - 1; length += more> 0 ? (size_t)more : 0)
		more = read(ends[0], text + length, sizeof(text) - 1 - length);
	(void)close(ends[0]);
	CHECK(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
	CHECK(strstr(text, "the block is already free") != NULL, "%s: status %#x, %s", name,
	      (unsigned)status, text);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s: status %#x", name,
	      (unsigned)status);
}

int main(void)
{
	pfs_start();
	allocate();
	check_ends(free_free, "freed");
	check_ends(free_joined, "freed and joined");
	check_ends(free_wiped, "freed, and the descriptor wiped");
	check_ends(resize_wiped, "realloc of one that was freed");
	check_ends(free_cached, "on a rack");
	check_ends(put_twice, "on two racks");
	return 0;
}
