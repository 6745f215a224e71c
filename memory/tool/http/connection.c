/*
 * connection.c - the open connections: their peers, their number, and their deadlines.
 */
#define _GNU_SOURCE
#include "connection.h"
#include "base/now.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct connection {
	struct connection *next, **at;
	int socket;
	bool is_known;       /* it needs no token, or has said it */
	const char *stopped; /* why it gets no answer; NULL: it gets one */
	unsigned status;
	uint64_t deadline_ns; /* UINT64_MAX: a worker makes its answer */
};

static struct {
	pthread_mutex_t lock;
	struct connection *connections; /* the newest first */
	unsigned count;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct connection *of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info == NULL ? NULL : info->socket_context;
}

static void set_deadline(struct MHD_Connection *connection, uint64_t deadline_ns)
{
	struct connection *self = of(connection);
	(void)pthread_mutex_lock(&all.lock);
	if (self != NULL)
		self->deadline_ns = deadline_ns;
	(void)pthread_mutex_unlock(&all.lock);
}

void pfs_http_known(struct MHD_Connection *connection)
{
	struct connection *self = of(connection);
	(void)pthread_mutex_lock(&all.lock);
	if (self != NULL)
		self->is_known = true;
	(void)pthread_mutex_unlock(&all.lock);
}

const char *pfs_http_stopped(struct MHD_Connection *connection, unsigned *status)
{
	const struct connection *self = of(connection);
	if (self == NULL)
		return NULL;
	*status = self->status;
	return self->stopped;
}

void pfs_http_works(struct MHD_Connection *connection)
{
	set_deadline(connection, UINT64_MAX);
}

void pfs_http_answered(struct MHD_Connection *connection)
{
	set_deadline(connection, pfs_now_ns(CLOCK_MONOTONIC) + PFS_HTTP_DEADLINE_NS);
}

/* Under the lock. */
static void end_oldest_stranger(void)
{
	struct connection *oldest = NULL;
	for (struct connection *at = all.connections; at != NULL; at = at->next)
		oldest = at->is_known || at->deadline_ns == 0 ? oldest : at;
	if (oldest == NULL)
		return;
	oldest->deadline_ns = 0;
	(void)shutdown(oldest->socket, SHUT_RDWR);
}

static void look_at(struct connection *self)
{
	uint32_t user = 0;
	self->is_known = !pfs_http_has_token();
	if (pfs_http.bound.ss_family == AF_UNIX && !pfs_peer_is_fine(self->socket, &user)) {
		self->stopped = "this socket is for the user who started pfs-mem serve, and root";
		self->status = MHD_HTTP_FORBIDDEN;
	}
}

static void begin(struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *self = calloc(1, sizeof(*self));
	if (self == NULL || info == NULL) {
		free(self);
		return; /* only libmicrohttpd's own timeout applies */
	}
	self->socket = info->connect_fd;
	self->deadline_ns = pfs_now_ns(CLOCK_MONOTONIC) + PFS_HTTP_DEADLINE_NS;
	look_at(self);
	(void)pthread_mutex_lock(&all.lock);
	if (++all.count > PFS_HTTP_CONNECTIONS_FULL) {
		end_oldest_stranger();
		if (!pfs_http_has_token() && self->stopped == NULL) {
			self->stopped = "too many connections at a time: try again in one second";
			self->status = MHD_HTTP_SERVICE_UNAVAILABLE;
		}
	}
	self->next = all.connections;
	self->at = &all.connections;
	if (self->next != NULL)
		self->next->at = &self->next;
	all.connections = self;
	(void)pthread_mutex_unlock(&all.lock);
	*context = self;
}

static void end(struct connection *self)
{
	if (self == NULL)
		return;
	(void)pthread_mutex_lock(&all.lock);
	all.count--;
	*self->at = self->next;
	if (self->next != NULL)
		self->next->at = self->at;
	(void)pthread_mutex_unlock(&all.lock);
	free(self);
}

void pfs_http_notice(void *opaque, struct MHD_Connection *connection, void **context,
		     enum MHD_ConnectionNotificationCode what)
{
	(void)opaque;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		begin(connection, context);
		return;
	}
	end(*context);
	*context = NULL;
}

void pfs_http_sweep(void)
{
	uint64_t now = pfs_now_ns(CLOCK_MONOTONIC);
	(void)pthread_mutex_lock(&all.lock);
	for (struct connection *at = all.connections; at != NULL; at = at->next)
		if (at->deadline_ns < now)
			(void)shutdown(at->socket, SHUT_RDWR);
	(void)pthread_mutex_unlock(&all.lock);
}
