/*
 * connection.c - the open connections, and their deadlines.
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
	uint64_t deadline_ns; /* UINT64_MAX: a worker makes its answer */
};

static struct {
	pthread_mutex_t lock;
	struct connection *connections;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void set_deadline(struct MHD_Connection *connection, uint64_t deadline_ns)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct connection *self = info == NULL ? NULL : info->socket_context;
	(void)pthread_mutex_lock(&all.lock);
	if (self != NULL)
		self->deadline_ns = deadline_ns;
	(void)pthread_mutex_unlock(&all.lock);
}

void pfs_http_works(struct MHD_Connection *connection)
{
	set_deadline(connection, UINT64_MAX);
}

void pfs_http_answered(struct MHD_Connection *connection)
{
	set_deadline(connection, pfs_now_ns(CLOCK_MONOTONIC) + PFS_HTTP_DEADLINE_NS);
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
	(void)pthread_mutex_lock(&all.lock);
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
