/*
 * report.h - what all searches of a scenario together have shown, and what they have not.
 */
#ifndef PFS_CHECK_REPORT_H
#define PFS_CHECK_REPORT_H

#include <stdio.h>

#include "check/front/arguments.h"

/* Why a search is not complete. */
struct pfs_check_reason {
	const char *option; /* that bounds it, or NULL */
	const char *file;   /* where, or NULL */
	int line;
	char text[400];
};
#define PFS_REASONS_MAX 12u

struct pfs_check_report {
	const char *scenario;
	const char *extent; /* in words */
	uint64_t executions, repeated, incomplete, pruned, steps;
	uint32_t left_out; /* bits of enum pfs_search_left */
	double seconds;
	bool complete, stopped, failed;
	bool unchecked; /* failed, because pfs-check cannot execute what the program does */
	struct pfs_check_reason reasons[PFS_REASONS_MAX];
	uint32_t reason_count;
};

/* All that was not searched, and why; of a search that found nothing. */
void pfs_report_reasons(struct pfs_check_report *self, const struct pfs_check_arguments *arguments);

void pfs_report_print(const struct pfs_check_report *self,
		      const struct pfs_check_arguments *arguments, FILE *out);
void pfs_report_print_reasons(const struct pfs_check_report *self,
			      const struct pfs_check_arguments *arguments, FILE *out);

/* "no violation", "failed", "not checked", "none ended". */
const char *pfs_report_verdict(const struct pfs_check_report *self);

/* The exit status: 0, nothing was found; 1, a failure; 2, nothing was checked, or less than
 * --complete asks for. */
int pfs_report_status(const struct pfs_check_report *self,
		      const struct pfs_check_arguments *arguments);

#endif
