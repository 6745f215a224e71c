/*
 * json.h - the result of a check as JSON; docs/reference/check.md defines it.
 */
#ifndef PFS_CHECK_JSON_H
#define PFS_CHECK_JSON_H

#include "base/json.h"
#include "check/front/arguments.h"

/* All searches of a scenario together. */
struct pfs_check_json_search {
	const char *scenario;
	const char *extent; /* in words */
	uint64_t executions, repeated, incomplete, steps;
	double seconds;
	bool complete, failed;
	const char *stopped; /* the option that stopped it, or NULL */
	const char *cut; /* the place of a loop, or NULL */
};

/* A document and its contents, one scenario after the other. */
void pfs_check_json_begin(struct pfs_json *json, const char *program);
void pfs_check_json_search(struct pfs_json *json, const struct pfs_check_arguments *arguments,
			   const struct pfs_check_json_search *search);
/* What a search found; the machine has traced its schedule. Once for each search that failed. */
void pfs_check_json_finding(struct pfs_json *json, const struct pfs_machine *machine,
			    const struct pfs_search_result *result);
void pfs_check_json_end(struct pfs_json *json, int status);

#endif
