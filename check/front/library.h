/*
 * library.h - the shared object that is checked: loaded, with our functions where it calls those
 * of libc that matter here; its variables, thread-local ones too, and their names.
 *
 * Each virtual thread has thread-local variables of its own, though all are one thread of the host:
 * they are changed when another one goes on (pfs_library_switch).
 */
#ifndef PFS_CHECK_LIBRARY_H
#define PFS_CHECK_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/front/heap.h"

struct pfs_name;

/* With these functions where it calls their names. NULL, or why not, in one line. */
const char *pfs_library_open(const char *path, const struct pfs_name *names);

/* Of what was opened: is there a line for a place in it? */
bool pfs_library_has_lines(void);

/* As constructors left them, now; and again, with so many threads. */
void pfs_library_keep(void);
void pfs_library_restore(uint32_t threads);
struct pfs_snapshot;
void pfs_library_put(struct pfs_snapshot *snapshot);

/* From now on these are the thread's; PFS_LIBRARY_OUTSIDE: of set-up and final check. */
#define PFS_LIBRARY_OUTSIDE UINT32_MAX
void pfs_library_switch(uint32_t thread);
bool pfs_library_is_thread_local(const void *address);

/* "ring+8" */
bool pfs_library_name(const void *address, char *name, size_t name_bytes);

/* Where pointers to blocks may be; returns how many. */
#define PFS_LIBRARY_ROOTS_MAX 64u
size_t pfs_library_roots(struct pfs_check_root *roots);

#endif
