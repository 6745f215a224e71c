/*
 * metrics.h - what /metrics is made of: answers of each box, and families over all of them.
 */
#ifndef PFS_MEM_HTTP_METRICS_H
#define PFS_MEM_HTTP_METRICS_H

#include "http.h"

#define PFS_METRIC_BOXES_MAX 32u
#define PFS_METRIC_NAMES_MAX 256u   /* instruments of a box, and accounts; the others are one sum */
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

/* A family: of each row of an answer a sample. */
struct pfs_metric {
	const char *name; /* without _total */
	bool is_counter;
	const char *help;
	enum pfs_metric_answer answer;
	const char *labels[2]; /* of the answer's first columns; NULL: none */
	unsigned column;       /* of the value; NULL there: no sample */
};

/* All families. False: no memory. */
void pfs_metrics_write(const struct pfs_metric_box *boxes, size_t count, bool open_metrics,
		       FILE *to);

#endif
