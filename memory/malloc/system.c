#define _GNU_SOURCE
#include "system.h"
#include "base/now.h"
#include "classes.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

static char *map(size_t size_bytes, int access, int flags)
{
	int errno_before = errno;
	void *pages = mmap(NULL, size_bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	errno = errno_before;
	return pages != MAP_FAILED ? pages : NULL;
}

void *pfs_system_map(size_t size_bytes)
{
	return map(size_bytes, PROT_READ | PROT_WRITE, 0);
}

/* Is a page without memory locked? */
static bool is_locked(void *page)
{
	int errno_before = errno;
	bool is = madvise(page, PFS_OS_PAGE, MADV_DONTNEED) != 0 && errno == EINVAL;
	errno = errno_before;
	return is;
}

/* Pages that are locked get memory when they are opened, unless they are locked on fault. */
void *pfs_system_map_ahead(size_t size_bytes)
{
	char *pages = map(size_bytes, PROT_NONE, 0);
	if (pages == NULL)
		return NULL;
	bool fills = is_locked(pages) && pfs_system_open(pages, PFS_OS_PAGE) &&
		     pfs_system_resident(pages, 1) != 0;
	if (!fills && pfs_system_open(pages, size_bytes))
		return pages;
	(void)pfs_system_unmap(pages, size_bytes);
	return NULL;
}

bool pfs_system_unmap(void *pages, size_t size_bytes)
{
	int errno_before = errno;
	bool done = munmap(pages, size_bytes) == 0;
	errno = errno_before;
	return done;
}

static bool advise(void *pages, size_t size_bytes, int advice)
{
	int errno_before = errno;
	bool done = madvise(pages, size_bytes, advice) == 0;
	errno = errno_before;
	return done;
}

bool pfs_system_purge(void *pages, size_t size_bytes)
{
	return advise(pages, size_bytes, MADV_DONTNEED);
}

bool pfs_system_wipe(void *pages, size_t size_bytes)
{
	return advise(pages, size_bytes, MADV_DONTNEED);
}

bool pfs_system_purge_lazily(void *pages, size_t size_bytes)
{
	return advise(pages, size_bytes, MADV_FREE);
}

/* An unknown or forbidden call is refused before the first page; a shortage may end it later. */
bool pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial)
{
	int errno_before = errno;
	bool done = madvise(pages, size_bytes, MADV_WIPEONFORK) == 0;
	*is_partial = !done && (errno == ENOMEM || errno == EAGAIN);
	errno = errno_before;
	return done;
}

bool pfs_system_show(void *pages, size_t size_bytes)
{
	return advise(pages, size_bytes, MADV_KEEPONFORK);
}

uint32_t pfs_system_resident(void *pages, uint32_t count)
{
	unsigned char are_resident[PFS_SYSTEM_LOOK_PAGES];
	int errno_before = errno;
	uint32_t sum = 0;
	if (mincore(pages, (size_t)count * PFS_OS_PAGE, are_resident) != 0)
		sum = count;
	errno = errno_before;
	for (uint32_t i = 0; sum != count && i < count; i++)
		sum += are_resident[i] & 1u;
	return sum;
}

void pfs_system_small_pages(void *pages, size_t size_bytes)
{
	(void)advise(pages, size_bytes, MADV_NOHUGEPAGE);
}

void pfs_system_lock_later(void *pages, size_t size_bytes)
{
	int errno_before = errno;
	if (is_locked(pages))
		(void)mlock2(pages, size_bytes, MLOCK_ONFAULT);
	errno = errno_before;
}

void *pfs_system_reserve_closed(size_t size_bytes)
{
	char *pages = map(size_bytes, PROT_NONE, MAP_NORESERVE);
	if (pages != NULL)
		pfs_system_lock_later(pages, size_bytes);
	return pages;
}

bool pfs_system_open(void *pages, size_t size_bytes)
{
	int errno_before = errno;
	bool done = mprotect(pages, size_bytes, PROT_READ | PROT_WRITE) == 0;
	errno = errno_before;
	return done;
}

void pfs_system_close(void *pages, size_t size_bytes)
{
	int errno_before = errno;
	(void)mprotect(pages, size_bytes, PROT_NONE);
	errno = errno_before;
	(void)pfs_system_purge(pages, size_bytes);
}

void pfs_system_read_only(void *pages, size_t size_bytes)
{
	int errno_before = errno;
	(void)mprotect(pages, size_bytes, PROT_READ);
	errno = errno_before;
}

uint64_t pfs_system_now(void)
{
	return pfs_now_ns(CLOCK_MONOTONIC_COARSE);
}
