/*
 * answer.h - what libmicrohttpd calls for a request.
 */
#ifndef PFS_MEM_HTTP_ANSWER_H
#define PFS_MEM_HTTP_ANSWER_H

#include "http.h"

enum MHD_Result pfs_http_answer(void *opaque, struct MHD_Connection *connection, const char *path,
				const char *method, const char *version, const char *data,
				size_t *data_bytes, void **request);
void pfs_http_completed(void *opaque, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode why);

#endif
