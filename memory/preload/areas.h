/*
 * areas.h - what is mapped, as /proc/self/maps names it.
 */
#ifndef PFS_PRELOAD_AREAS_H
#define PFS_PRELOAD_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_area {
	uintptr_t begin, end;
	bool is_writable, is_code, is_shared, has_access, is_file;
	const char *name; /* of the file, or "[stack]" and the like; may be empty */
};

/* pfs_areas_read - call it for each, in order. text: room for lines. False: they cannot be read.
 * Allocates nothing. */
bool pfs_areas_read(char *text, size_t text_bytes,
		    void (*call)(const struct pfs_area *area, void *context), void *context);

#endif
