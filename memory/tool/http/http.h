/*
 * http.h - what the parts of the server share.
 *
 * One thread of libmicrohttpd talks to all clients and never waits for a box. A worker makes the
 * document that a request asks for (document.h); the request sleeps meanwhile. Requests for one
 * document within a second share it, so each kind of document reads a box at most once a second.
 *
 * Bounds: PFS_HTTP_CONNECTIONS_MAX connections, each with a deadline and one request of bounded
 * size; the bytes of all documents that are not yet sent. A request beyond these gets 503. Where a
 * token is needed, a new connection ends the oldest that has not said it, so strangers cannot keep
 * others out.
 */
#ifndef PFS_MEM_HTTP_H
#define PFS_MEM_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "memory/tool/listen.h"
#include "memory/tool/report/report.h"

#define PFS_HTTP_CONNECTIONS_MAX 256u
#define PFS_HTTP_CONNECTIONS_FULL 240u       /* from here on, newcomers are told so */
#define PFS_HTTP_DOCUMENT_BYTES (8u << 20)   /* of one */
#define PFS_HTTP_DOCUMENTS_BYTES (24u << 20) /* of all, before another one is begun */
#define PFS_HTTP_HEAD_BYTES (12u << 10)      /* of a request, and its buffers */
#define PFS_HTTP_BODY_BYTES (1u << 20)       /* of a POST */
#define PFS_HTTP_BODIES_BYTES (8u << 20)     /* of all of them */
#define PFS_HTTP_FRESH_NS UINT64_C(1000000000)
#define PFS_HTTP_DEADLINE_NS                                                 \
	(UINT64_C(30) * 1000000000) /* to send a request; to take the answer \
				     */
#define PFS_HTTP_SECONDS_MAX 3600u
#define PFS_HTTP_WINDOWS_MAX 8u /* requests for a difference, at a time */
#define PFS_HTTP_TARGETS_MAX 16
#define PFS_HTTP_TARGET_BYTES 64
#define PFS_HTTP_BOXES_SHOWN 64u

/* ---- what is asked ---- */

/* The Content-Security-Policy of a document. */
enum pfs_http_policy {
	PFS_POLICY_DATA, /* nothing */
	PFS_POLICY_PAGE, /* style, scripts and frames of this server */
	PFS_POLICY_FRAME /* its own style and scripts, in a sandbox without origin */
};

struct pfs_http_ask;
struct pfs_http_box;

/* A kind of document. make writes it; false: as message says, with the status in *status. */
struct pfs_http_route {
	const char *path; /* behind /, or behind /boxes/ID/; one that ends in / takes a name */
	const char *type;
	enum pfs_http_policy policy;
	bool is_slow; /* names are looked up */
	bool takes_post;
	bool has_box; /* is of one box */
	bool (*make)(const struct pfs_http_ask *ask, const struct pfs_http_box *box, FILE *to,
		     unsigned *status, struct pfs_message *message);
};

/* What a document depends on: equal ones share it. */
struct pfs_http_ask {
	const struct pfs_http_route *route;
	char target[PFS_HTTP_TARGET_BYTES]; /* "": the first that lives */
	char name[PFS_HTTP_TARGET_BYTES];   /* behind a path that ends in / */
	uint64_t offset, limit;
	bool as_text, of_total, open_metrics;
	uint64_t seconds;      /* the difference over so many; 0: no difference */
	struct pfs_heap *base; /* what was there when they began; NULL: not yet */
	char *body;            /* of a POST, or the addresses behind '?'; else NULL */
	size_t body_bytes;
};

const struct pfs_http_route *pfs_http_route_of(const char *path, struct pfs_http_ask *ask);

/* Whose document it is. */
struct pfs_http_box {
	char id[PFS_HTTP_TARGET_BYTES]; /* as in /boxes/ID/ */
	char path[PFS_READER_PATH_BYTES];
};

/* ---- the server ---- */

struct pfs_http_server {
	struct sockaddr_storage bound;
	struct pfs_secret token; /* empty: none is needed */
	bool is_all;
	int box_count; /* of those that were named */
	struct pfs_http_box boxes[PFS_HTTP_TARGETS_MAX];
};
extern struct pfs_http_server pfs_http; /* written before there are threads */

/* ---- which boxes there are ---- */

/* All that are served: the newest start first. Freed by pfs_box_list_free. */
bool pfs_http_list(struct pfs_box_list *list, struct pfs_message *message);
/* The box of a target: "" (the newest that lives, else the newest), last, a process id, or an id.
 * False: as message and *status say. */
bool pfs_http_find(const char *target, struct pfs_http_box *box, unsigned *status,
		   struct pfs_message *message);
void pfs_http_id(const char *path, char id[PFS_HTTP_TARGET_BYTES]);
/* The last part of a path; a box without a name of its program: "?". */
const char *pfs_http_program(const struct pfs_box_info *info);

/* ---- the door: who may ask ---- */

/* Is a Host that a browser may say of this server, so that no other name was bound to its address?
 * host NULL: none was said. */
bool pfs_http_host_fine(const char *host);
static inline bool pfs_http_has_token(void)
{
	return pfs_http.token.text[0] != '\0';
}

/* ---- answers ---- */

/* With all headers; text becomes the response's. NULL: no memory. */
struct MHD_Response *pfs_http_response(char *text, size_t bytes, const char *type,
				       enum pfs_http_policy policy,
				       MHD_ContentReaderFreeCallback done, void *opaque);

/* Does a route answer ?seconds=N by a difference? */
bool pfs_http_has_window(const struct pfs_http_route *route);
/* The profile of now, which a difference begins with. NULL: its end will say why. */
struct pfs_heap *pfs_http_window(const struct pfs_http_ask *ask);

/* Was the program started with a heap profile? */
bool pfs_http_has_profile(const struct pfs_http_box *box);

/* ---- kinds of documents ---- */

#define PFS_HTTP_MAKES(name)                                                 \
	bool name(PFS_HTTP_PERHAPS const struct pfs_http_ask *ask,           \
		  PFS_HTTP_PERHAPS const struct pfs_http_box *box, FILE *to, \
		  PFS_HTTP_PERHAPS unsigned *status, PFS_HTTP_PERHAPS struct pfs_message *message)
#define PFS_HTTP_PERHAPS __attribute__((unused)) /* not every kind needs it */
PFS_HTTP_MAKES(pfs_http_page);
PFS_HTTP_MAKES(pfs_http_lines);
PFS_HTTP_MAKES(pfs_http_style);
PFS_HTTP_MAKES(pfs_http_script);
PFS_HTTP_MAKES(pfs_http_live_script);
PFS_HTTP_MAKES(pfs_http_boxes);
PFS_HTTP_MAKES(pfs_http_table_names);
PFS_HTTP_MAKES(pfs_http_table);
PFS_HTTP_MAKES(pfs_http_memory_lines);
PFS_HTTP_MAKES(pfs_http_history);
PFS_HTTP_MAKES(pfs_http_metrics);
PFS_HTTP_MAKES(pfs_http_heap_text);
PFS_HTTP_MAKES(pfs_http_heap_v2);
PFS_HTTP_MAKES(pfs_http_heap_proto);
PFS_HTTP_MAKES(pfs_http_collapsed);
PFS_HTTP_MAKES(pfs_http_symbols);
PFS_HTTP_MAKES(pfs_http_cmdline);
PFS_HTTP_MAKES(pfs_http_flame);

#endif
