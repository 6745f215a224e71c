/*
 * places.h - where code of the checked program comes from: function, file and line, by the
 * binutils' addr2line, which runs beside and is asked once an address.
 */
#ifndef PFS_CHECK_PLACES_H
#define PFS_CHECK_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "check/machine/operation.h"

/* Of an access, as long as nothing better is known. */
#define PFS_PLACES_TEXT "memory"

/* Files with this in their path are the program's own, or not; the last rule that fits holds, and
 * without one all but /usr is its own. Before all else. The text stays. false: too many. */
#define PFS_PLACES_RULES_MAX 16u
bool pfs_places_rule(const char *text, bool is_own);

/* The file, and how far it was moved from where it was linked to. */
void pfs_places_begin(const char *path, uintptr_t bias);

/* NULL: lines were told, or none was asked for. Else why not, behind the name of addr2line, which
 * may be missing. */
const char *pfs_places_unknown(void);

/* Is an answer awaited at this moment? For signals. */
bool pfs_places_are_asked(void);

/* The same, of a call that is known by this name, which stays. */
const struct pfs_sim_place *pfs_places_named(const struct pfs_sim_place *place, const char *text);

/* Of a return address. *is_foreign: all of it comes from headers of the system; who called it? */
const struct pfs_sim_place *pfs_places_of(const void *code, bool *is_foreign);

/* In a process that goes on by itself: it asks an addr2line of its own. */
void pfs_places_forked(void);

/* Does it stand in what libstdc++ does to wait for an atomic? */
bool pfs_places_is_spin(const void *code);

#endif
