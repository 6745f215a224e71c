/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * malloc.h - the allocator under names of its own: what malloc and its family are in a program that
 * is linked with libpfsmalloc or has it preloaded, and what only it can tell.
 *
 * Any thread may make any call; a block may be freed by any thread. Memory order: a block that one
 * thread frees and another is then given carries the first one's last stores. No call may be made
 * from a signal handler, nor after _Fork in the child.
 *
 * Progress: malloc and free of small blocks are wait-free while the thread's ring has a block, or
 * room; else blocking, on locks that are held to move some words. Large blocks: blocking, and on
 * the system where there is no free extent.
 *
 * Errors: no memory, or a size above PTRDIFF_MAX, is NULL with errno ENOMEM. A pointer that is no
 * block in use is a bug of the caller: one line on stderr that names it, then abort.
 * docs/explanation/malloc.md says when each is noticed.
 */
#ifndef PFSLAB_MALLOC_H
#define PFSLAB_MALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As the calls of these names without the prefix; in glibc's details where these matter. Blocks of
 * 16 bytes and more are aligned to 16, of 8 to 8. */
void *pfs_malloc(size_t size_bytes);
void *pfs_calloc(size_t count, size_t size_bytes);
void *pfs_realloc(void *block, size_t size_bytes);
void *pfs_reallocarray(void *block, size_t count, size_t size_bytes);
void pfs_block_free(void *block);
void *pfs_memalign(size_t align_bytes, size_t size_bytes);
int pfs_posix_memalign(void **block, size_t align_bytes, size_t size_bytes);
size_t pfs_malloc_usable_size(const void *block);

/*
 * pfs_malloc_trim - give back everything that nobody uses: rings, spare slabs, free extents.
 *
 * Returns   the bytes that went back to the system.
 * Progress  blocking; other threads go on.
 */
size_t pfs_malloc_trim_all(void);

/* A tag of 4 bytes beside a block, the caller's to use; NULL without the option tags:true.
 * Whatever the last owner of the region left is in it. Wait-free. */
uint32_t *pfs_malloc_tag(const void *block);

/* One block that is in use, of a walk. */
struct pfs_malloc_block {
	void *block;
	size_t size_bytes; /* of its class */
	uint32_t arena;
};

/*
 * pfs_malloc_walk - visit every block that is in use.
 *
 * visit is called for each, in the order of arenas and classes; it must not allocate or free.
 * False from it ends the walk.
 * Returns   how many were visited.
 * Errors    at rest (no other thread is inside a call) it is exact. Blocks that other threads
 *           allocate or free meanwhile may be there or not, and so may those that lie in the
 *           ring of a thread which is inside a call.
 * Progress  blocking: empties all rings first, then holds each bin's lock in turn.
 */
uint64_t pfs_malloc_walk(bool (*visit)(const struct pfs_malloc_block *block, void *context),
			 void *context);

/* What is where, in bytes. mapped = active + dirty + muzzy + retained; active = slabs + large;
 * what the program has is allocated, the rest of the slabs is in rings or free in words. */
struct pfs_malloc_counts {
	uint64_t allocated; /* blocks in use, by their classes */
	uint64_t cached;    /* free blocks in threads' rings */
	uint64_t slab_free; /* free regions in slabs, and what is lost at slabs' ends */
	uint64_t active;    /* pages of slabs and large blocks */
	uint64_t dirty, muzzy, retained, mapped;
	uint64_t metadata;       /* cut from chunks; not the page map, 8 bytes for an OS page */
	uint64_t large;          /* of allocated */
	uint64_t mallocs, frees; /* calls, ever */
	uint64_t slabs, slabs_peak, slabs_made, slabs_needless;
	uint64_t threads, arenas;
	uint64_t purges, purged;
};
void pfs_malloc_count(struct pfs_malloc_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
