#define _GNU_SOURCE
#include "system.h"
#include "base/now.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

static void *map(size_t size_bytes, int access, int flags)
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

void pfs_system_unmap(void *pages, size_t size_bytes)
{
	int errno_before = errno;
	(void)munmap(pages, size_bytes);
	errno = errno_before;
}

static bool advise(void *pages, size_t size_bytes, int advice)
{
	int errno_before = errno;
	bool done = madvise(pages, size_bytes, advice) == 0;
	errno = errno_before;
	return done;
}

/* Without the advice, a system with transparent huge pages would use 2 MiB for the first touch. */
void *pfs_system_reserve(size_t size_bytes)
{
	void *pages = map(size_bytes, PROT_READ | PROT_WRITE, MAP_NORESERVE);
	if (pages != NULL)
		(void)advise(pages, size_bytes, MADV_NOHUGEPAGE);
	return pages;
}

bool pfs_system_purge(void *pages, size_t size_bytes)
{
	return advise(pages, size_bytes, MADV_DONTNEED);
}

bool pfs_system_purge_lazily(void *pages, size_t size_bytes)
{
	return advise(pages, size_bytes, MADV_FREE);
}

void pfs_system_small_pages(void *pages, size_t size_bytes)
{
	(void)advise(pages, size_bytes, MADV_NOHUGEPAGE);
}

void *pfs_system_reserve_closed(size_t size_bytes)
{
	return map(size_bytes, PROT_NONE, MAP_NORESERVE);
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
