/*
 * saved.h - a schedule in a file: what pfs-check --save writes, and --schedule runs again.
 */
#ifndef PFS_CHECK_SAVED_H
#define PFS_CHECK_SAVED_H

#include "check/front/arguments.h"

/* The most bytes of the end of an execution in the file. */
#define PFS_SAVED_MESSAGE_BYTES PFS_FAILURE_BYTES

/* Save the failing schedule of *result, of the scenario in pfs_user. false, after a line on
 * stderr: it cannot be written. */
bool pfs_check_save(const struct pfs_check_arguments *arguments, const char *scenario,
		    const struct pfs_search_result *result);

/* Load a file into *arguments, pfs_user and *result, message included. false, after a line on
 * stderr: it is no such file. */
bool pfs_check_load(struct pfs_check_arguments *arguments, struct pfs_search_result *result);

#endif
