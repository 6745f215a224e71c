/*
 * serve.c - starts the server, and the thread that ends overdue connections.
 */
#define _GNU_SOURCE
#include "serve.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "connection.h"
#include "document.h"

#define SWEEP_NS 500000000L

static void *sweep(void *opaque)
{
	const struct timespec pause = { .tv_nsec = SWEEP_NS };
	(void)opaque;
	for (;;) {
		(void)nanosleep(&pause, NULL);
		pfs_http_sweep();
		pfs_documents_sweep();
	}
	return NULL;
}

/* ---- beginning ---- */

/* Targets are resolved once: 'last' may change later. */
static bool take_targets(const struct pfs_http_options *options, struct pfs_message *message)
{
	pfs_http.is_all = options->target_count == 0;
	for (int i = 0; i < options->target_count; i++) {
		struct pfs_http_box *box = &pfs_http.boxes[pfs_http.box_count++];
		struct pfs_reader *reader = pfs_reader_open(options->targets[i], message);
		if (reader == NULL)
			return false;
		(void)snprintf(box->path, sizeof(box->path), "%s", pfs_reader_info(reader)->path);
		pfs_http_id(box->path, box->id);
		pfs_reader_close(reader);
		for (int other = 0; other + 1 < pfs_http.box_count; other++)
			if (strcmp(pfs_http.boxes[other].id, box->id) == 0)
				return pfs_refuse(
					message,
					"--http: target '%.100s' was given twice: give it once",
					options->targets[i]);
	}
	return true;
}

static bool begin_threads(int listener)
{
	pthread_t thread;
	return pfs_documents_begin() && pthread_create(&thread, NULL, sweep, NULL) == 0 &&
	       MHD_start_daemon(
		       MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0,
		       NULL, NULL, pfs_http_answer, NULL, MHD_OPTION_LISTEN_SOCKET, listener,
		       MHD_OPTION_CONNECTION_LIMIT, PFS_HTTP_CONNECTIONS_MAX,
		       MHD_OPTION_CONNECTION_TIMEOUT, 15u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		       (size_t)PFS_HTTP_HEAD_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		       MHD_OPTION_NOTIFY_COMPLETED, pfs_http_completed, NULL,
		       MHD_OPTION_NOTIFY_CONNECTION, pfs_http_notice, NULL, MHD_OPTION_END) != NULL;
}

bool pfs_http_begin(const struct pfs_http_options *options, struct pfs_message *message)
{
	pfs_http.bound = options->listening->bound;
	pfs_http.token = *options->token;
	if (!take_targets(options, message))
		return false;
	(void)signal(SIGPIPE, SIG_IGN);
	return begin_threads(options->listening->socket) ||
	       pfs_refuse(message, "--http: the system refused a thread");
}
