/*
 * closes.c - dlclose, so that the profile knows that a file may have gone: at its addresses another
 * one may come, and stacks by the same addresses are then other stacks. What it does is the
 * loader's. (dlopen is left alone: what it does depends on who calls it.)
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "counter.h"
#include "memory/profile/profile.h"

typedef int closes(void *file);

__attribute__((visibility("default"))) int dlclose(void *file)
{
	/* relaxed: whoever finds it finds the same. */
	static _Atomic(closes *) found;
	closes *next = pfs_load_relaxed(&found); /* relaxed: as above */
	if (next == NULL) {
		next = (closes *)dlsym(RTLD_NEXT, "dlclose"); /* NOLINT: POSIX has it so */
		pfs_store_relaxed(&found, next);              /* relaxed: as above */
	}
	int result = next != NULL ? next(file) : -1;
	pfs_profile_closed(pfs_program.books);
	return result;
}
