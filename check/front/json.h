/*
 * json.h - the result of a check as JSON (--json): docs/reference/check.md defines it, and
 * docs/reference/check.schema.json.
 */
#ifndef PFS_CHECK_JSON_H
#define PFS_CHECK_JSON_H

#include "base/json.h"
#include "check/front/arguments.h"
#include "check/front/report.h"

#define PFS_CHECK_JSON_VERSION 2u

/* A document in the arguments' file, and its contents, one scenario after the other. Without such a
 * file nothing happens. false, after a line on stderr: it cannot be written. */
bool pfs_check_json_begin(const struct pfs_check_arguments *arguments);
void pfs_check_json_search(const struct pfs_check_report *report);
/* What a search found; the machine has traced its schedule. Once for each search that failed. */
void pfs_check_json_finding(const struct pfs_machine *machine,
			    const struct pfs_search_result *result);
/* Returns the exit status: the same, or 2 if the file cannot be written. Again: nothing happens. */
int pfs_check_json_end(int status);

#endif
