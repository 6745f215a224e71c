/*
 * next.h - glibc's own function of a name that this library defines, too. Include it after
 * _GNU_SOURCE is defined.
 */
#ifndef PFS_MALLOC_NEXT_H
#define PFS_MALLOC_NEXT_H

#include <dlfcn.h>
#include <stddef.h>

#include "containers/atomic.h"

/* known: what was found before; begins as NULL. NULL: there is none. */
static inline void *pfs_next(const char *name, _Atomic(void *) *known)
{
	void *found = pfs_load_relaxed(known); /* relaxed: every thread finds the same */
	if (found == NULL) {
		found = dlsym(RTLD_NEXT, name);
		pfs_store_relaxed(known, found); /* relaxed: as above */
	}
	return found;
}

#endif
