/*
 * locked.c - mlockall for the program: lock all memory except the box and the library's tables.
 * Most of their pages are never touched, and locking would make all resident.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "areas.h"
#include "counter.h"
#include "mapped.h"

#define PUBLIC __attribute__((visibility("default")))

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

static bool is_box(const struct pfs_area *area, const struct pfs_box *box)
{
	return area->begin >= (uintptr_t)box->base &&
	       area->end <= (uintptr_t)box->base + box->bytes;
}

/* The allocator's metadata with a part of its map of pages, which is 8 MiB and hardly touched. */
static bool has_map(const struct pfs_area *area)
{
	const size_t parts = sizeof(pfs_map_root) / sizeof(pfs_map_root[0]);
	if (area->end - area->begin < sizeof(struct pfs_map_leaf))
		return false;
	for (size_t part = 0; part < parts; part++) {
		/* relaxed: an address */
		uintptr_t leaf = (uintptr_t)pfs_load_relaxed(&pfs_map_root[part]);
		if (area->begin <= leaf && leaf < area->end)
			return true;
	}
	return false;
}

/* Skips pages without access, which cannot be locked, like the system does. Skips the library's
 * tables: MCL_ONFAULT locks their touched pages. */
static void lock_area(const struct pfs_area *area, void *box)
{
	bool is_table = area->is_writable && (pfs_mapped_is_library(area->begin) || has_map(area));
	if (area->has_access && !is_table && !is_box(area, box))
		(void)syscall(SYS_mlock, area->begin, area->end - area->begin);
}

/* Locks pages when they are touched, unlocks the box, and then locks all other areas. */
static int lock_but(const struct pfs_box *box, int flags)
{
	char text[4096];
	if (syscall(SYS_mlockall, flags | MCL_ONFAULT) != 0)
		return -1;
	int errno_before = errno;
	(void)syscall(SYS_munlock, box->base, box->bytes);
	if ((flags & MCL_ONFAULT) == 0) {
		(void)pfs_areas_read(text, sizeof(text), lock_area, (void *)box);
		if ((flags & MCL_FUTURE) != 0)
			(void)syscall(SYS_mlockall, MCL_FUTURE);
	}
	errno = errno_before;
	return 0;
}

PUBLIC int mlockall(int flags)
{
	const struct pfs_box *box = pfs_program_box();
	if (box == NULL || (flags & MCL_CURRENT) == 0)
		return (int)syscall(SYS_mlockall, flags);
	return lock_but(box, flags);
}
