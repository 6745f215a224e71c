/*
 * closes.c - dlclose, which calls the loader's, then tells the profile that a file may be unmapped.
 * Another file may be mapped at its addresses, and then the same addresses mean another stack.
 * (dlopen is not replaced: its behaviour depends on its caller's address.)
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "counter.h"
#include "memory/profile/profile.h"

typedef int closes(void *file);

__attribute__((visibility("default"))) int dlclose(void *file)
{
	/* relaxed: every thread finds the same function. */
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
