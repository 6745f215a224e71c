#include "apart.h"

#include <pthread.h>
#include <sys/resource.h>

#include "classes.h"
#include "system.h"

#define REGION_BYTES ((size_t)16 << 20) /* twice a part of the page map */
#define LIMIT_PART 64u
#define GUARD_BYTES ((size_t)PFS_OS_PAGE)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next_pages; /* under lock, as below */
static size_t left_bytes;
static uint64_t part_bytes = UINT64_MAX; /* once only */

void pfs_apart_start(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) == 0)
		part_bytes = limit.rlim_cur / LIMIT_PART;
}

uint64_t pfs_apart_part_bytes(void)
{
	return part_bytes;
}

static size_t whole_pages(size_t size_bytes)
{
	return (size_bytes + PFS_OS_PAGE - 1) & ~(size_t)(PFS_OS_PAGE - 1);
}

/* What is left of the region, but for a guard. Returns how much. */
static size_t unmap_rest(void)
{
	size_t bytes = left_bytes;
	if (bytes == 0 || !pfs_system_unmap(next_pages + GUARD_BYTES, bytes))
		return 0;
	left_bytes = 0;
	return bytes;
}

static bool new_region(size_t size_bytes)
{
	size_t least = size_bytes + 2 * GUARD_BYTES;
	size_t bytes = part_bytes < REGION_BYTES ? part_bytes & ~(uint64_t)(PFS_OS_PAGE - 1)
						 : REGION_BYTES;
	char *region = bytes > least ? pfs_system_reserve_closed(bytes) : NULL;
	if (region == NULL) { /* address space is nearly exhausted: take only what is needed */
		bytes = least;
		region = pfs_system_reserve_closed(bytes);
	}
	if (region == NULL)
		return false;
	pfs_system_small_pages(region, bytes);
	(void)unmap_rest();
	next_pages = region + GUARD_BYTES;
	left_bytes = bytes - 2 * GUARD_BYTES;
	return true;
}

void *pfs_apart_new(size_t size_bytes)
{
	size_t bytes = whole_pages(size_bytes);
	char *pages = NULL;
	(void)pthread_mutex_lock(&lock);
	bool has_room = bytes <= left_bytes || new_region(bytes);
	if (has_room)
		pfs_system_lock_later(next_pages, bytes);
	if (has_room && pfs_system_open(next_pages, bytes)) {
		pages = next_pages;
		next_pages += bytes;
		left_bytes -= bytes;
	}
	(void)pthread_mutex_unlock(&lock);
	return pages;
}

void pfs_apart_free(void *pages, size_t size_bytes)
{
	size_t bytes = whole_pages(size_bytes);
	pfs_system_close(pages, bytes);
	(void)pthread_mutex_lock(&lock);
	if ((char *)pages + bytes == next_pages) {
		next_pages = pages;
		left_bytes += bytes;
	}
	(void)pthread_mutex_unlock(&lock);
}

size_t pfs_apart_unmap(void)
{
	(void)pthread_mutex_lock(&lock);
	size_t bytes = unmap_rest();
	(void)pthread_mutex_unlock(&lock);
	return bytes;
}

void pfs_apart_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void pfs_apart_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}
