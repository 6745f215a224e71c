/*
 * connection.h - the connections that there are, and the deadline of each.
 */
#ifndef PFS_MEM_HTTP_CONNECTION_H
#define PFS_MEM_HTTP_CONNECTION_H

#include "http.h"

/* Its request is complete, and a worker's now: no deadline. */
void pfs_http_works(struct MHD_Connection *connection);
/* Its answer is on the way: the client has so long to take it. */
void pfs_http_answered(struct MHD_Connection *connection);

/* What libmicrohttpd calls for a connection that begins or ends. */
void pfs_http_notice(void *opaque, struct MHD_Connection *connection, void **context,
		     enum MHD_ConnectionNotificationCode what);
/* Ends those that are past their deadline: libmicrohttpd ends with who says nothing, and this with
 * who says a byte now and then. */
void pfs_http_sweep(void);

#endif
