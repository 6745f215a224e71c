/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * malloc.h - the allocator, under its own names.
 *
 * In a program that is linked with libpfsmalloc, or has it preloaded, malloc and its family are
 * these calls; this header adds the calls that only this allocator has.
 *
 * Any thread may make any call, and may free any block. No call may be made from a signal handler,
 * or in the child of _Fork.
 *
 * Progress: malloc and free of small blocks are wait-free while the thread's ring has a block, or
 * room for one. Otherwise they block on locks, each held while a few words change. Large blocks:
 * blocking; without a free extent, also on the system.
 *
 * Order: a block that one thread frees and another receives carries the first thread's last stores.
 *
 * Errors: NULL with errno ENOMEM if there is no memory, or for a size above PTRDIFF_MAX. A pointer
 * that is no block in use is a bug: one line on stderr names it, then the process aborts.
 * docs/explanation/malloc.md says when each mistake is noticed.
 */
#ifndef PFSLAB_MALLOC_H
#define PFSLAB_MALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As the standard calls without the prefix; where the standard leaves details open, as glibc's.
 * Blocks of 16 bytes and more are aligned to 16, blocks of 8 bytes to 8. */
void *pfs_malloc(size_t size_bytes);
void *pfs_calloc(size_t count, size_t size_bytes);
void *pfs_realloc(void *block, size_t size_bytes);
void *pfs_reallocarray(void *block, size_t count, size_t size_bytes);
void pfs_block_free(void *block);
void *pfs_memalign(size_t align_bytes, size_t size_bytes);
int pfs_posix_memalign(void **block, size_t align_bytes, size_t size_bytes);
size_t pfs_malloc_usable_size(const void *block);

/*
 * pfs_malloc_trim_all - give back all unused memory: of rings, spare slabs and free extents.
 *
 * Returns   the bytes that were given back to the system.
 * Progress  blocking; other threads continue.
 */
size_t pfs_malloc_trim_all(void);

/* pfs_malloc_tag - the tag of a block: 4 bytes, for the caller's use. It keeps what the last owner
 * of the region left. NULL without the option tags:true. Wait-free. */
uint32_t *pfs_malloc_tag(const void *block);

/* One block in use, as a walk reports it. */
struct pfs_malloc_block {
	void *block;
	size_t size_bytes; /* its size class */
	uint32_t arena;
};

/*
 * pfs_malloc_walk - visit every block in use.
 *
 * visit is called once for each block, by arena and size class; it must not allocate or free. If it
 * returns false the walk ends.
 *
 * Returns   the number of blocks visited.
 * Errors    exact if no other thread is inside a call. Otherwise blocks that are allocated or freed
 *           meanwhile may be visited or not, and so may blocks in the ring of a thread that is
 *           inside a call.
 * Progress  blocking: empties all rings, then holds the lock of each bin in turn.
 */
uint64_t pfs_malloc_walk(bool (*visit)(const struct pfs_malloc_block *block, void *context),
			 void *context);

/* Bytes by place. mapped = active + dirty + muzzy + retained; active = slabs + large. allocated is
 * what the program holds; the rest of the slabs is free, in rings or in words. */
struct pfs_malloc_counts {
	uint64_t allocated; /* blocks in use, by size class */
	uint64_t cached;    /* free blocks in threads' rings */
	uint64_t slab_free; /* free regions in slabs, and the unused ends of slabs */
	uint64_t active;    /* pages of slabs and large blocks */
	uint64_t dirty, muzzy, retained, mapped;
	uint64_t metadata;       /* cut from chunks; without the page map (8 bytes per OS page) */
	uint64_t large;          /* part of allocated */
	uint64_t mallocs, frees; /* number of calls so far */
	uint64_t slabs, slabs_peak, slabs_made, slabs_needless;
	uint64_t threads, arenas;
	uint64_t purges, purged;
};
void pfs_malloc_count(struct pfs_malloc_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
