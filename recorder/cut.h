/*
 * cut.h - operations of pfs-trace on whole traces: visit, describe, cut.
 */
#ifndef PFS_RECORDER_CUT_H
#define PFS_RECORDER_CUT_H

#include <stddef.h>

#include <pfslab/trace.h>

/* A window and what to keep of it. */
struct pfs_cut {
	uint64_t from; /* event */
	uint64_t events;
	uint64_t bytes; /* of the file at most */
	uint64_t size_min;
	uint64_t size_max;
};

typedef enum pfs_status pfs_trace_visit(void *context, const struct pfs_trace_info *info,
					const struct pfs_trace_event *event);

/* Pass each event to visit, until that returns PFS_FULL or the trace ends: then PFS_OK. */
enum pfs_status pfs_trace_each(const char *path, pfs_trace_visit *visit, void *context,
			       struct pfs_message *message);

enum pfs_status pfs_trace_print_info(const char *path, struct pfs_message *message);

/* Threads and objects are renumbered. PFS_BAD_CONFIG if nothing would be left. */
enum pfs_status pfs_trace_cut(const char *from, const char *to, const struct pfs_cut *cut,
			      struct pfs_message *message);

#endif
