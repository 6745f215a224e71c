/*
 * mapped.c - see mapped.h. The list of kept blocks has a mapping of its own, because malloc may be
 * built on this.
 */
#define _GNU_SOURCE
#include "mapped.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "atomic.h"
#include "compiler.h"

#define ROOM_FIRST 256u /* entries */

struct kept {
	void *bytes;
	size_t size_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *blocks; /* under `lock`, as room; the latest last */
static size_t room;
static _Atomic(uint64_t) count; /* written under `lock` */

void pfs_mapped_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void pfs_mapped_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}

size_t pfs_mapped_kept(void)
{
	return (size_t)pfs_load_relaxed(&count); /* relaxed: a hint or a metric */
}

static void *map(size_t size_bytes)
{
	void *bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	return bytes != MAP_FAILED ? bytes : NULL;
}

/* Under `lock`. */
static bool make_room(void)
{
	size_t wider = room != 0 ? 2 * room : ROOM_FIRST;
	if (pfs_mapped_kept() < room)
		return true;
	struct kept *made = map(wider * sizeof(*made));
	if (made == NULL)
		return false;
	if (room != 0) {
		memcpy(made, blocks, room * sizeof(*made));
		(void)munmap(blocks, room * sizeof(*made)); /* if refused: lost, 16 bytes a block */
	}
	blocks = made;
	room = wider;
	return true;
}

PFS_COLD static void keep(void *bytes, size_t size_bytes)
{
	(void)madvise(bytes, size_bytes, MADV_DONTNEED);
	pfs_mapped_lock();
	if (make_room()) {
		size_t last = pfs_mapped_kept();
		blocks[last] = (struct kept){ bytes, size_bytes };
		pfs_store_relaxed(&count, last + 1); /* relaxed: see pfs_mapped_kept */
	}
	pfs_mapped_unlock();
}

/* Under `lock`: remove the entry; the last one takes its place. */
static void *forget(size_t at)
{
	size_t last = pfs_mapped_kept() - 1;
	void *bytes = blocks[at].bytes;
	blocks[at] = blocks[last];
	pfs_store_relaxed(&count, last); /* relaxed: see pfs_mapped_kept */
	return bytes;
}

PFS_COLD static void *again(size_t size_bytes)
{
	void *bytes = NULL;
	pfs_mapped_lock();
	for (size_t at = pfs_mapped_kept(); at-- != 0 && bytes == NULL;) {
		if (blocks[at].size_bytes == size_bytes)
			bytes = forget(at);
	}
	pfs_mapped_unlock();
	return bytes;
}

/* There is one mapping less: a kept block can perhaps be unmapped. */
PFS_COLD static void retry(void)
{
	pfs_mapped_lock();
	size_t kept = pfs_mapped_kept();
	if (kept != 0 && munmap(blocks[kept - 1].bytes, blocks[kept - 1].size_bytes) == 0)
		(void)forget(kept - 1);
	pfs_mapped_unlock();
}

void *pfs_mapped_take(size_t size_bytes)
{
	void *bytes = pfs_mapped_kept() != 0 ? again(size_bytes) : NULL;
	return bytes != NULL ? bytes : map(size_bytes);
}

void pfs_mapped_give(void *bytes, size_t size_bytes)
{
	if (bytes == NULL)
		return;
	if (munmap(bytes, size_bytes) != 0)
		keep(bytes, size_bytes);
	else if (pfs_mapped_kept() != 0)
		retry();
}
