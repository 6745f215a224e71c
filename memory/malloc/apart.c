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

/* Closed pages between two guards. */
static char *reserve(size_t size_bytes)
{
	char *region = pfs_system_reserve_closed(size_bytes + 2 * GUARD_BYTES);
	if (region == NULL)
		return NULL;
	pfs_system_small_pages(region, size_bytes + 2 * GUARD_BYTES);
	return region + GUARD_BYTES;
}

/* What is left of the region before stays closed. */
static void new_region(size_t bytes)
{
	char *pages = reserve(bytes);
	if (pages == NULL)
		return;
	next_pages = pages;
	left_bytes = bytes;
}

/* Closed pages: of the region, or of a new one if little of it is left, or of one of their own. */
static char *find(size_t size_bytes)
{
	size_t most = part_bytes < REGION_BYTES ? (size_t)part_bytes : REGION_BYTES;
	size_t bytes = (most & ~(size_t)(PFS_OS_PAGE - 1)) - 2 * GUARD_BYTES;
	bool is_worth = most > 2 * GUARD_BYTES && size_bytes <= bytes;
	if (size_bytes > left_bytes && left_bytes <= REGION_BYTES / 4 && is_worth)
		new_region(bytes);
	return size_bytes <= left_bytes ? next_pages : reserve(size_bytes);
}

void *pfs_apart_new(size_t size_bytes)
{
	size_t bytes = whole_pages(size_bytes);
	(void)pthread_mutex_lock(&lock);
	char *pages = find(bytes);
	bool is_open = false;
	if (pages != NULL) {
		pfs_system_lock_later(pages, bytes);
		is_open = pfs_system_open(pages, bytes);
	}
	if (is_open && pages == next_pages) {
		next_pages += bytes;
		left_bytes -= bytes;
	} else if (pages != NULL && !is_open && pages != next_pages) {
		(void)pfs_system_unmap(pages - GUARD_BYTES, bytes + 2 * GUARD_BYTES);
	}
	(void)pthread_mutex_unlock(&lock);
	return is_open ? pages : NULL;
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
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	(void)pthread_mutex_lock(&lock);
	size_t bytes = left_bytes;
	/* A guard stays. */
	if (bytes != 0 && !pfs_system_unmap(next_pages + GUARD_BYTES, bytes))
		bytes = 0;
	left_bytes -= bytes;
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
