/*
 * library.h - the checked shared object: loaded, with replacements for some functions of libc; its
 * variables, those of its libraries, and their names.
 */
#ifndef PFS_CHECK_LIBRARY_H
#define PFS_CHECK_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/front/heap.h"

struct pfs_name;

/* With these functions in place of the calls with their names: lists, the first of which has those
 * that else would be refused. NULL, or why not, in one line. */
const char *pfs_library_open(const char *path, const struct pfs_name *const *lists);

/* Does it have line numbers? */
bool pfs_library_has_lines(void);

/* Before the first of its constructors runs: binds it to the replacements. */
const char *pfs_library_starts(void);

/* keep: remember the variables as the constructors left them; NULL, or why not. restore: set them
 * to that. */
const char *pfs_library_keep(void);
void pfs_library_restore(void);
struct pfs_machine_snapshot;
void pfs_library_put(struct pfs_machine_snapshot *snapshot);

/* "ring+8", or "mine of T1" */
bool pfs_library_name(const void *address, char *name, size_t name_bytes);

/* Where pointers to blocks may be; returns how many. */
#define PFS_LIBRARY_ROOTS_MAX 64u
size_t pfs_library_roots(struct pfs_check_root *roots);

/* Visit the names that pfs_library_name has shortened, since they were forgotten. */
void pfs_library_forget_names(void);
void pfs_library_short_names(void (*visit)(void *context, const char *name, const char *whole),
			     void *context);

/* Does the program call a function whose name begins so; of this name? */
bool pfs_library_calls(const char *beginning);
bool pfs_library_calls_whole(const char *name);

/* Of the program, or of what it is linked with: such as a function of the C++ library. NULL: none.
 */
void *pfs_library_symbol(const char *name);

#endif
