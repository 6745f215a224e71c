/*
 * answer.h - what libmicrohttpd calls for a request; and what that says of its connection.
 */
#ifndef PFS_MEM_HTTP_ANSWER_H
#define PFS_MEM_HTTP_ANSWER_H

#include "http.h"

enum MHD_Result pfs_http_answer(void *opaque, struct MHD_Connection *connection, const char *path,
				const char *method, const char *version, const char *data,
				size_t *data_bytes, void **request);
void pfs_http_completed(void *opaque, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode why);

/* Its request is complete, and a worker's now: no deadline. */
void pfs_http_works(struct MHD_Connection *connection);
/* Its answer is on the way: the client has so long to take it. */
void pfs_http_answered(struct MHD_Connection *connection);

#endif
