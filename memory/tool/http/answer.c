/*
 * answer.c - checks a request, gets its document, and sends the answer.
 */
#define _GNU_SOURCE
#include "answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "document.h"

/* A request. A body over the limit is read, but not kept, and refused. */
struct request {
	struct pfs_http_ask ask;
	struct pfs_http_wait wait;
	struct pfs_http_document *document;
	size_t room;
	unsigned refused; /* the status; 0: not refused */
};

/* ---- lines ---- */

static void free_line(void *opaque)
{
	free(opaque);
}

/* Answers with one line; header NULL: no further header. */
static enum MHD_Result say(struct MHD_Connection *connection, unsigned status, const char *line,
			   const char *header, const char *value)
{
	char *text = NULL;
	int length = asprintf(&text, "%s\n", line);
	if (length < 0)
		return MHD_NO;
	struct MHD_Response *response = pfs_http_response(text, (size_t)length,
							  "text/plain; charset=utf-8",
							  PFS_POLICY_DATA, free_line, text);
	if (response == NULL) {
		free(text);
		return MHD_NO;
	}
	if (header != NULL)
		(void)MHD_add_response_header(response, header, value);
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	pfs_http_answered(connection);
	return result;
}

/* ---- the door ---- */

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static const char *argument(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/* Moves the token from the page's address into a cookie. */
static enum MHD_Result welcome(struct MHD_Connection *connection, const char *path)
{
	char cookie[PFS_SECRET_BYTES + 64];
	(void)snprintf(cookie, sizeof(cookie), "pfs_token=%s; Path=/; HttpOnly; SameSite=Strict",
		       pfs_http.token.text);
	struct MHD_Response *response = pfs_http_response((char *)"", 0, "text/plain",
							  PFS_POLICY_DATA, NULL, NULL);
	if (response == NULL)
		return MHD_NO;
	(void)MHD_add_response_header(response, "Set-Cookie", cookie);
	(void)MHD_add_response_header(response, "Location", path);
	enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_SEE_OTHER, response);
	MHD_destroy_response(response);
	pfs_http_answered(connection);
	return result;
}

/* Basic: the password; any user. */
static bool is_known_basic(struct MHD_Connection *connection)
{
	char *password = NULL;
	char *user = MHD_basic_auth_get_username_password(connection, &password);
	bool fine = pfs_secret_is(&pfs_http.token, password);
	MHD_free(user);
	MHD_free(password);
	return fine;
}

static bool is_known(struct MHD_Connection *connection)
{
	const char *said = header(connection, "Authorization");
	bool fine;
	if (said != NULL && strncasecmp(said, "Bearer ", 7) == 0)
		fine = pfs_secret_is(&pfs_http.token, said + 7);
	else if (said != NULL)
		fine = is_known_basic(connection);
	else
		fine = pfs_secret_is(
			&pfs_http.token,
			MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, "pfs_token"));
	if (fine)
		pfs_http_known(connection);
	return fine;
}

/* True: the request is answered, in *result. */
static bool is_stopped(struct MHD_Connection *connection, const char *path, const char *method,
		       const struct pfs_http_route *route, enum MHD_Result *result)
{
	const char *token = argument(connection, "token");
	bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	bool is_post = strcmp(method, "POST") == 0;
	unsigned status;
	const char *stopped = pfs_http_stopped(connection, &status);
	if (stopped != NULL)
		*result = say(connection, status, stopped,
			      status == MHD_HTTP_SERVICE_UNAVAILABLE ? "Retry-After" : NULL, "1");
	else if (!pfs_http_host_fine(header(connection, "Host")))
		*result = say(connection, MHD_HTTP_FORBIDDEN,
			      "the Host header does not name this server: use localhost, or the "
			      "address that it listens on",
			      NULL, NULL);
	else if (pfs_http_has_token() && token != NULL && is_get && route != NULL &&
		 route->policy == PFS_POLICY_PAGE && pfs_secret_is(&pfs_http.token, token))
		*result = welcome(connection, path);
	else if (pfs_http_has_token() && !is_known(connection))
		*result =
			say(connection, MHD_HTTP_UNAUTHORIZED,
			    "the token is missing or wrong: send Authorization: Bearer TOKEN, or "
			    "the token as the password of Basic; for the page, /?token=TOKEN. It "
			    "is that of --token-file or PFS_MEM_TOKEN, or the one that the server "
			    "printed when it started",
			    "WWW-Authenticate",
			    "Bearer realm=\"pfs-mem\", Basic realm=\"pfs-mem: the token is the "
			    "password\"");
	else if (!is_get && (!is_post || (route != NULL && !route->takes_post)))
		*result = say(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "this page is read-only: use GET", "Allow",
			      route != NULL && route->takes_post ? "GET, HEAD, POST" : "GET, HEAD");
	else if (route == NULL)
		*result = say(connection, MHD_HTTP_NOT_FOUND, "no such page: / lists the pages",
			      NULL, NULL);
	else
		return false;
	return true;
}

/* ---- what is asked ---- */

/* False: not a number. */
static bool take_number(const char *text, uint64_t *number)
{
	if (text == NULL)
		return true;
	if (text[0] == '\0' || strlen(text) > 15 || text[strspn(text, "0123456789")] != '\0')
		return false;
	*number = strtoull(text, NULL, 10);
	return true;
}

/* GET /pprof/symbol?0x12+0x34 */
static enum MHD_Result take_address(void *opaque, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct pfs_http_ask *ask = opaque;
	(void)kind;
	(void)value;
	if (ask->body == NULL && key != NULL && strncmp(key, "0x", 2) == 0)
		ask->body = strdup(key);
	return MHD_YES;
}

static bool take_seconds(struct MHD_Connection *connection, struct pfs_http_ask *ask)
{
	if (!pfs_http_has_window(ask->route))
		return true;
	return take_number(argument(connection, "seconds"), &ask->seconds) &&
	       ask->seconds <= PFS_HTTP_SECONDS_MAX;
}

static bool take_arguments(struct MHD_Connection *connection, struct pfs_http_ask *ask)
{
	const char *target = argument(connection, "target");
	const char *debug = argument(connection, "debug");
	const char *total = argument(connection, "total");
	const char *accept = header(connection, "Accept");
	ask->limit = 10000;
	bool is_allocs = strcmp(ask->route->path, "debug/pprof/allocs") == 0;
	ask->as_text = (is_allocs || strcmp(ask->route->path, "debug/pprof/heap") == 0) &&
		       debug != NULL && strcmp(debug, "0") != 0;
	ask->of_total = is_allocs || (total != NULL && strcmp(total, "0") != 0);
	ask->open_metrics = strcmp(ask->route->path, "metrics") == 0 && accept != NULL &&
			    strstr(accept, "application/openmetrics-text") != NULL;
	if (target != NULL && strlen(target) >= sizeof(ask->target))
		return false;
	if (target != NULL && ask->target[0] == '\0')
		memcpy(ask->target, target, strlen(target) + 1);
	if (!take_number(argument(connection, "limit"), &ask->limit) ||
	    !take_number(argument(connection, "offset"), &ask->offset) ||
	    !take_seconds(connection, ask))
		return false;
	if (ask->route->takes_post)
		(void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_address,
						ask);
	return true;
}

static enum MHD_Result begin(struct MHD_Connection *connection, const char *path,
			     const char *method, void **opaque)
{
	struct pfs_http_ask ask = { .route = NULL };
	enum MHD_Result result = MHD_YES;
	uint64_t length = 0;
	ask.route = pfs_http_route_of(path, &ask);
	if (is_stopped(connection, path, method, ask.route, &result))
		return result;
	bool is_post = strcmp(method, "POST") == 0;
	if (!take_number(header(connection, "Content-Length"), &length) ||
	    length > (is_post ? PFS_HTTP_BODY_BYTES : 0))
		return say(connection, MHD_HTTP_CONTENT_TOO_LARGE,
			   "the request is too large: send fewer addresses", NULL, NULL);
	if (!take_arguments(connection, &ask))
		return say(connection, MHD_HTTP_BAD_REQUEST,
			   "limit and offset must be whole numbers, seconds a whole number up to "
			   "3600, and a target shorter than 64 characters",
			   NULL, NULL);
	struct request *self = calloc(1, sizeof(*self));
	if (self == NULL) {
		free(ask.body);
		return MHD_NO;
	}
	self->ask = ask;
	self->wait.connection = connection;
	*opaque = self;
	return MHD_YES;
}

/* ---- a body ---- */

static void add_body(struct request *self, const char *data, size_t bytes)
{
	struct pfs_http_ask *ask = &self->ask;
	if (!ask->route->takes_post || ask->body_bytes + bytes > PFS_HTTP_BODY_BYTES)
		self->refused = MHD_HTTP_CONTENT_TOO_LARGE;
	if (self->refused == 0 && !pfs_bodies_take((int64_t)bytes))
		self->refused = MHD_HTTP_SERVICE_UNAVAILABLE;
	if (self->refused != 0)
		return;
	if (ask->body_bytes + bytes + 1 > self->room) {
		size_t room = (ask->body_bytes + bytes) * 2 + 1024;
		char *more = realloc(ask->body, room);
		if (more == NULL) {
			(void)pfs_bodies_take(-(int64_t)bytes);
			self->refused = MHD_HTTP_SERVICE_UNAVAILABLE;
			return;
		}
		ask->body = more;
		self->room = room;
	}
	memcpy(ask->body + ask->body_bytes, data, bytes);
	ask->body_bytes += bytes;
	ask->body[ask->body_bytes] = '\0';
}

/* ---- the answer ---- */

static enum MHD_Result refuse_body(struct MHD_Connection *connection, unsigned status)
{
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		return say(connection, status,
			   "too many requests at a time: try again in one second", "Retry-After",
			   "1");
	return say(connection, status, "the request is too large: send fewer addresses", NULL,
		   NULL);
}

static enum MHD_Result reply(struct MHD_Connection *connection, struct request *self)
{
	unsigned status;
	struct MHD_Response *response = pfs_document_response(self->document, &status);
	if (response == NULL)
		return refuse_body(connection, MHD_HTTP_SERVICE_UNAVAILABLE);
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	pfs_http_answered(connection);
	return result;
}

enum MHD_Result pfs_http_answer(void *opaque, struct MHD_Connection *connection, const char *path,
				const char *method, const char *version, const char *data,
				size_t *data_bytes, void **request)
{
	(void)opaque;
	(void)version;
	struct request *self = *request;
	if (self == NULL)
		return begin(connection, path, method, request);
	if (*data_bytes != 0) {
		add_body(self, data, *data_bytes);
		*data_bytes = 0;
		return MHD_YES;
	}
	if (self->refused != 0)
		return refuse_body(connection, self->refused);
	if (self->document != NULL)
		return reply(connection, self);
	pfs_http_works(connection);
	switch (pfs_document_get(&self->ask, &self->wait, &self->document)) {
	case PFS_GOT_DOCUMENT: return reply(connection, self);
	case PFS_GOT_TO_WAIT: return MHD_YES;
	default: return refuse_body(connection, MHD_HTTP_SERVICE_UNAVAILABLE);
	}
}

void pfs_http_completed(void *opaque, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode why)
{
	struct request *self = *request;
	(void)opaque;
	(void)connection;
	(void)why;
	if (self == NULL)
		return;
	if (self->document != NULL)
		pfs_document_drop(self->document);
	if (self->ask.body != NULL)
		(void)pfs_bodies_take(-(int64_t)self->ask.body_bytes);
	free(self->ask.body);
	free(self);
	*request = NULL;
}
