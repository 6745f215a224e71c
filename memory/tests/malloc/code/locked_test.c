/*
 * locked_test.c - what mlockall makes resident: with MCL_FUTURE an arena grows in short steps, and
 * metadata gets memory only where it is touched; with MCL_ONFAULT, and after munlockall, an arena
 * grows as usual.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pfslab/malloc.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/base.h"
#include "memory/malloc/conf.h"
#include "memory/malloc/start.h"
#include "memory/malloc/system.h"
#include "check.h"

#define BLOCK_BYTES ((size_t)30000)
#define GROWN_BYTES ((size_t)48 << 20)
#define STEP_BYTES ((size_t)1 << 20)
#define PAGES PFS_SYSTEM_LOOK_PAGES

/* The arena grows by GROWN_BYTES: by how much at most in a call? */
static size_t longest_step(void)
{
	const size_t *mapped_bytes = &pfs_arena_at(0)->extents.mapped_bytes;
	size_t end = *mapped_bytes + GROWN_BYTES, longest = 0;
	while (*mapped_bytes < end) {
		size_t before = *mapped_bytes;
		CHECK(pfs_malloc(BLOCK_BYTES) != NULL, "no memory");
		if (*mapped_bytes - before > longest)
			longest = *mapped_bytes - before;
	}
	return longest;
}

static void check_untouched(char *pages, const char *what)
{
	CHECK(pages != NULL, "no memory");
	CHECK(pfs_system_resident(pages, PAGES) == 0, "%s: %u of %u pages are resident", what,
	      pfs_system_resident(pages, PAGES), PAGES);
	pages[0] = 1;
	CHECK(pfs_system_resident(pages, PAGES) == 1, "%s: a touched page is not resident", what);
}

static void test_locked(void)
{
	size_t bytes = (size_t)PAGES * PFS_OS_PAGE;
	char *pages = pfs_system_map(bytes);
	CHECK(pages != NULL && pfs_system_resident(pages, PAGES) == PAGES, "memory is not locked");
	CHECK(pfs_system_map_ahead(bytes) == NULL, "all pages mapped ahead are resident");
	CHECK(longest_step() == STEP_BYTES, "an arena grew by another step");
	check_untouched(pfs_base_new_pages(bytes), "metadata");
	pages = pfs_system_reserve_closed(bytes);
	CHECK(pages != NULL && pfs_system_open(pages, bytes), "no memory");
	check_untouched(pages, "reserved");
}

/* mlockall, which sanitizers replace by nothing. */
static bool lock_all(int flags)
{
	return syscall(SYS_mlockall, flags) == 0;
}

int main(void)
{
	pfs_start();
	pfs_conf.tick_ms = 0;
	(void)longest_step();
	CHECK(longest_step() > 4 * STEP_BYTES, "an arena grows in short steps");
	if (!lock_all(MCL_FUTURE)) {
		(void)fprintf(stderr, "locked_test: memory may not be locked\n");
		return 77;
	}
	test_locked();
	CHECK(lock_all(MCL_FUTURE | MCL_ONFAULT), "mlockall");
	CHECK(longest_step() > 4 * STEP_BYTES, "locked on fault, an arena grows in short steps");
	CHECK(syscall(SYS_munlockall) == 0, "munlockall");
	CHECK(longest_step() > 4 * STEP_BYTES, "unlocked, an arena grows in short steps");
	return 0;
}
