/*
 * document.h - documents, each made once by a worker and shared by all requests for it within a
 * second.
 */
#ifndef PFS_MEM_HTTP_DOCUMENT_H
#define PFS_MEM_HTTP_DOCUMENT_H

#include "http.h"

struct pfs_http_document;

/* A waiting request. It must not move until it has the document, or asks again. */
struct pfs_http_wait {
	struct pfs_http_wait *next;
	struct MHD_Connection *connection;
};

enum pfs_http_got {
	PFS_GOT_DOCUMENT, /* *document, to be dropped */
	PFS_GOT_TO_WAIT,  /* the connection sleeps; *document, to be dropped, is ready when it
			   * wakes */
	PFS_GOT_REFUSED   /* too many bytes are being sent: no *document */
};

/* Starts the workers. False: no threads. */
bool pfs_documents_begin(void);
/* The document takes ask->body, unless it is refused. wait: of the asking connection. */
enum pfs_http_got pfs_document_get(struct pfs_http_ask *ask, struct pfs_http_wait *wait,
				   struct pfs_http_document **document);
struct MHD_Response *pfs_document_response(struct pfs_http_document *self, unsigned *status);
void pfs_document_drop(struct pfs_http_document *self);
/* Drops documents older than a second for which no request waits. */
void pfs_documents_sweep(void);

/* Reserves bytes for bodies of requests; gives them back if bytes is negative. */
bool pfs_bodies_take(int64_t bytes);

#endif
