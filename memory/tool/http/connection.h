/*
 * connection.h - the open connections, and their deadlines.
 */
#ifndef PFS_MEM_HTTP_CONNECTION_H
#define PFS_MEM_HTTP_CONNECTION_H

#include "http.h"

/* Why it gets no answer, by its peer or for the number of connections; NULL: it gets one. */
const char *pfs_http_stopped(struct MHD_Connection *connection, unsigned *status);
/* It has said the token. */
void pfs_http_known(struct MHD_Connection *connection);
/* Its request is complete and with a worker: no deadline. */
void pfs_http_works(struct MHD_Connection *connection);
/* Its answer is being sent: the client's deadline begins. */
void pfs_http_answered(struct MHD_Connection *connection);

/* What libmicrohttpd calls for a connection that begins or ends. */
void pfs_http_notice(void *opaque, struct MHD_Connection *connection, void **context,
		     enum MHD_ConnectionNotificationCode what);
/* Ends those that are past their deadline. libmicrohttpd ends idle ones; this ends those that send
 * a byte now and then. */
void pfs_http_sweep(void);

#endif
