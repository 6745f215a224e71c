/*
 * names.c - the names of ISO C, POSIX and glibc. They behave as glibc's do where implementations
 * differ: realloc(p, 0) frees and returns NULL, free keeps errno, too large a size is ENOMEM.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pfslab/malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "front.h"
#include "stats.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC void *malloc(size_t size)
{
	return pfs_front_malloc(size, PFS_CALLER);
}

PUBLIC void free(void *block)
{
	pfs_front_free(block);
}

void cfree(void *block);
PUBLIC void cfree(void *block)
{
	pfs_front_free(block);
}

/* C23: the requested size is ignored; the page map lookup is as fast. */
void free_sized(void *block, size_t size);
PUBLIC void free_sized(void *block, size_t size)
{
	(void)size;
	pfs_front_free(block);
}

void free_aligned_sized(void *block, size_t alignment, size_t size);
PUBLIC void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment, (void)size;
	pfs_front_free(block);
}

PUBLIC void *calloc(size_t count, size_t size)
{
	return pfs_front_calloc(count, size, PFS_CALLER);
}

PUBLIC void *realloc(void *block, size_t size)
{
	return pfs_front_realloc(block, size, PFS_CALLER);
}

PUBLIC void *reallocarray(void *block, size_t count, size_t size)
{
	return pfs_front_reallocarray(block, count, size, PFS_CALLER);
}

static bool is_power_of_two(size_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

PUBLIC int posix_memalign(void **block, size_t alignment, size_t size)
{
	return pfs_front_posix_memalign(block, alignment, size, PFS_CALLER);
}

PUBLIC void *aligned_alloc(size_t alignment, size_t size)
{
	if (is_power_of_two(alignment))
		return pfs_front_memalign(alignment, size, PFS_CALLER);
	errno = EINVAL;
	return NULL;
}

/* Any alignment is rounded up to a power of two; EINVAL where there is none, as in glibc. */
PUBLIC void *memalign(size_t alignment, size_t size)
{
	if (alignment > SIZE_MAX / 2 + 1) {
		errno = EINVAL;
		return NULL;
	}
	size_t power = sizeof(void *);
	while (power < alignment)
		power *= 2;
	return pfs_front_memalign(power, size, PFS_CALLER);
}

PUBLIC void *valloc(size_t size)
{
	return pfs_front_memalign(PFS_OS_PAGE, size, PFS_CALLER);
}

PUBLIC void *pvalloc(size_t size)
{
	size_t rounded;
	if (__builtin_add_overflow(size, PFS_OS_PAGE - 1, &rounded))
		return pfs_no_memory(size);
	rounded &= ~(size_t)(PFS_OS_PAGE - 1);
	return pfs_front_memalign(PFS_OS_PAGE, rounded != 0 ? rounded : PFS_OS_PAGE, PFS_CALLER);
}

PUBLIC size_t malloc_usable_size(void *block)
{
	return pfs_malloc_usable_size(block);
}

PUBLIC int malloc_trim(size_t pad)
{
	(void)pad;
	return pfs_malloc_trim_all() != 0;
}

/* Applies to the calling thread and those that start later; the rings of others stay as they are.
 * */
static int perturb(int value)
{
	bool before = pfs_conf.tcache;
	int done = pfs_conf_perturb(value);
	if (pfs_conf.tcache != before)
		(void)pfs_cache_enable(pfs_conf.tcache);
	return done;
}

/* Parameters of glibc's internals. Those that mean something here have an effect; the others are
 * accepted without one, because programs that set them at their start expect success. */
PUBLIC int mallopt(int parameter, int value)
{
	switch (parameter) {
	case M_TRIM_THRESHOLD:
	case M_TOP_PAD:
	case M_MMAP_THRESHOLD:
	case M_MMAP_MAX:
	case M_ARENA_TEST:
	case M_ARENA_MAX:
	case M_CHECK_ACTION:
	case M_MXFAST: return value >= 0;
	case M_PERTURB: return perturb(value);
	default: return 0;
	}
}

PUBLIC struct mallinfo2 mallinfo2(void)
{
	struct pfs_malloc_counts counts;
	pfs_malloc_count(&counts);
	return (struct mallinfo2){
		.arena = counts.mapped - counts.retained - counts.large,
		.ordblks = counts.slabs,
		.hblks = counts.large != 0,
		.hblkhd = counts.large,
		.uordblks = counts.allocated - counts.large,
		.fordblks = counts.cached + counts.slab_free + counts.dirty + counts.muzzy,
		.keepcost = counts.dirty + counts.muzzy,
	};
}

static int in_int(size_t value)
{
	return (int)value; /* truncated as in glibc */
}

PUBLIC struct mallinfo mallinfo(void)
{
	struct mallinfo2 info = mallinfo2();
	return (struct mallinfo){
		.arena = in_int(info.arena),
		.ordblks = in_int(info.ordblks),
		.hblks = in_int(info.hblks),
		.hblkhd = in_int(info.hblkhd),
		.uordblks = in_int(info.uordblks),
		.fordblks = in_int(info.fordblks),
		.keepcost = in_int(info.keepcost),
	};
}

PUBLIC void malloc_stats(void)
{
	pfs_stats_print();
}

PUBLIC int malloc_info(int options, FILE *stream)
{
	struct pfs_malloc_counts counts;
	if (options != 0)
		return EINVAL;
	pfs_malloc_count(&counts);
	int done = fprintf(stream,
			   "<malloc version=\"pfsmalloc-1\">\n"
			   "<total type=\"allocated\" size=\"%llu\"/>\n"
			   "<total type=\"cached\" size=\"%llu\"/>\n"
			   "<total type=\"free\" size=\"%llu\"/>\n"
			   "<total type=\"dirty\" size=\"%llu\"/>\n"
			   "<system type=\"current\" size=\"%llu\"/>\n"
			   "<system type=\"retained\" size=\"%llu\"/>\n"
			   "</malloc>\n",
			   (unsigned long long)counts.allocated, (unsigned long long)counts.cached,
			   (unsigned long long)counts.slab_free,
			   (unsigned long long)(counts.dirty + counts.muzzy),
			   (unsigned long long)counts.mapped, (unsigned long long)counts.retained);
	return done < 0 ? -1 : 0;
}

/* ---- names by which programs call glibc's functions past a library in front of them ---- */

#define SAME(name, as) __asm__(".globl " #name "\n.set " #name ", " #as)
SAME(__libc_malloc, malloc);
SAME(__libc_free, free);
SAME(__libc_cfree, cfree);
SAME(__libc_calloc, calloc);
SAME(__libc_realloc, realloc);
SAME(__libc_reallocarray, reallocarray);
SAME(__libc_memalign, memalign);
SAME(__libc_valloc, valloc);
SAME(__libc_pvalloc, pvalloc);
SAME(__libc_mallopt, mallopt);
SAME(__libc_mallinfo, mallinfo);
SAME(__posix_memalign, posix_memalign);
