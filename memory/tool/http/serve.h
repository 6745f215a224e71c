/*
 * serve.h - pfs-mem serve --http: boxes for browsers, jeprof, go tool pprof, Prometheus, scripts.
 */
#ifndef PFS_MEM_HTTP_SERVE_H
#define PFS_MEM_HTTP_SERVE_H

#include <stdbool.h>

#include <pfslab/status.h>

#include "memory/tool/listen.h"

struct pfs_http_options {
	const struct pfs_listening *listening;
	const struct pfs_secret *token; /* empty: none is needed */
	const char *const *targets;     /* as pfs_reader_open has them */
	int target_count;               /* 0: all boxes of the folder, also those to come */
};

/*
 * pfs_http_begin - start the server's threads, which run until the process ends.
 *
 * The caller has blocked the signals that it waits for. Called once.
 * Returns   false: nothing is served, as message says.
 */
bool pfs_http_begin(const struct pfs_http_options *options, struct pfs_message *message);

#endif
