/*
 * document.h - what is sent: made once by a worker, and shared by all who ask for it within a
 * second.
 */
#ifndef PFS_MEM_HTTP_DOCUMENT_H
#define PFS_MEM_HTTP_DOCUMENT_H

#include "http.h"

struct pfs_http_document;

/* Who waits for one; stays where it is until it has it, or asked again. */
struct pfs_http_wait {
	struct pfs_http_wait *next;
	struct MHD_Connection *connection;
};

enum pfs_http_got {
	PFS_GOT_DOCUMENT, /* *document, to be dropped */
	PFS_GOT_TO_WAIT,  /* the connection sleeps; *document, to be dropped, is ready when it
			   * wakes */
	PFS_GOT_REFUSED   /* too much is on its way: no *document */
};

/* Workers begin. False: no threads. */
bool pfs_documents_begin(void);
/* ask->body becomes the document's, unless it is refused. wait: of the connection that asks. */
enum pfs_http_got pfs_document_get(struct pfs_http_ask *ask, struct pfs_http_wait *wait,
				   struct pfs_http_document **document);
struct MHD_Response *pfs_document_response(struct pfs_http_document *self, unsigned *status);
void pfs_document_drop(struct pfs_http_document *self);
/* What is older than a second, and nobody waits for, goes. */
void pfs_documents_sweep(void);

/* Room for so many bytes of requests' bodies, or given back where bytes are below zero. */
bool pfs_bodies_take(int64_t bytes);

#endif
