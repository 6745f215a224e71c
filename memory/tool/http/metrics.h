/*
 * metrics.h - parts of /metrics: answers of each box, and families over all boxes.
 */
#ifndef PFS_MEM_HTTP_METRICS_H
#define PFS_MEM_HTTP_METRICS_H

#include "http.h"

#define PFS_METRIC_BOXES_MAX 32u
#define PFS_METRIC_NAMES_MAX 256u   /* instruments and accounts of a box; the others are one sum */
#define PFS_METRIC_SERIES_MAX 1024u /* of all boxes */

enum pfs_metric_answer {
	PFS_METRIC_INSTRUMENTS,
	PFS_METRIC_ACCOUNTS,
	PFS_METRIC_OS,
	PFS_METRIC_ARENAS,
	PFS_METRIC_TRACE,
	PFS_METRIC_LOST,
	PFS_METRIC_BOX,
	PFS_METRIC_PROFILE,
	PFS_METRIC_ANSWERS
};

struct pfs_metric_box {
	char id[PFS_HTTP_TARGET_BYTES], program[256];
	struct pfs_answer answers[PFS_METRIC_ANSWERS];
};

/* A family: one sample for each row of an answer. */
struct pfs_metric {
	const char *name; /* without _total */
	bool is_counter;
	enum pfs_metric_answer answer;
	unsigned column; /* of the value; NULL there: no sample */
	const char *help;
};

/* All families. False: no memory. */
void pfs_metrics_write(const struct pfs_metric_box *boxes, size_t count, bool open_metrics,
		       FILE *to);

#endif
