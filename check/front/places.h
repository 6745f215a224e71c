/*
 * places.h - source places of the checked program's code: function, file and line, from the
 * binutils' addr2line, which runs as a process and is asked once for each address.
 */
#ifndef PFS_CHECK_PLACES_H
#define PFS_CHECK_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "check/machine/operation.h"

/* Of an access, until something better is known. */
#define PFS_PLACES_TEXT "memory"

/* Files with this text in their path are the program's own, or not. The last rule that fits holds;
 * without one all but /usr is its own. Before all other calls. The text must stay valid. false: too
 * many. */
#define PFS_PLACES_RULES_MAX 16u
bool pfs_places_rule(const char *text, bool is_own);

/* The file, and its load bias. */
void pfs_places_begin(const char *path, uintptr_t bias);

/* NULL: lines were found, or none was requested. Otherwise why not, to follow the name of
 * addr2line, which may be missing. */
const char *pfs_places_unknown(void);

/* Is an answer awaited at this moment? For signals. */
bool pfs_places_are_asked(void);

/* The same, of a call that is known by this name, which must stay valid. */
const struct pfs_sim_place *pfs_places_named(const struct pfs_sim_place *place, const char *text);

/* Of a return address. *is_foreign: all of it comes from headers of the system, so its caller is
 * wanted. */
const struct pfs_sim_place *pfs_places_of(const void *code, bool *is_foreign);

/* The same for most calls: one that is not foreign, and was looked for before; else NULL. */
#define PFS_PLACES_RECENT 256u
extern struct pfs_places_recent {
	const void *code;
	const struct pfs_sim_place *place;
} pfs_places_recent[PFS_PLACES_RECENT];
static inline const struct pfs_sim_place *pfs_places_again(const void *code)
{
	const struct pfs_places_recent *recent =
		&pfs_places_recent[(uintptr_t)code % PFS_PLACES_RECENT];
	return recent->code == code ? recent->place : NULL;
}

/* Is the code in another library than the program? */
bool pfs_places_is_outside(const void *code);

/* The base name of the library that the code is in, if it is not the program; else NULL. */
const char *pfs_places_library(const void *code);

/* In a forked process: it asks an addr2line of its own. */
void pfs_places_forked(void);

/* Is it part of a std::shared_mutex of libstdc++? */
bool pfs_places_is_shared_mutex(const void *code);

/* Is it part of libstdc++'s wait for an atomic? */
bool pfs_places_is_spin(const void *code);

#endif
