/*
 * areas.h - read the mapped areas of the process from /proc/self/maps.
 */
#ifndef PFS_PRELOAD_AREAS_H
#define PFS_PRELOAD_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_area {
	uintptr_t begin, end;
	bool is_writable, is_code, is_shared, has_access, is_file;
	const char *name; /* of the file, or like "[stack]"; may be empty */
};

/* pfs_areas_read - call a function for each area, in order of addresses. text: a buffer for lines.
 * False: maps cannot be read. Does not allocate. */
bool pfs_areas_read(char *text, size_t text_bytes,
		    void (*call)(const struct pfs_area *area, void *context), void *context);

#endif
