/*
 * serve.c - starts the server, and the thread that ends overdue connections.
 */
#define _GNU_SOURCE
#include "serve.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "connection.h"
#include "document.h"
#include "memory/tool/listen.h"

#define SWEEP_NS 500000000L
#define TOKEN_LENGTH_MIN 16u

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

static bool take_token(const char *path, struct pfs_message *message)
{
	if (path == NULL)
		return true;
	if (!pfs_read_secret("--token-file", path, pfs_http.token, sizeof(pfs_http.token), message))
		return false;
	size_t length = strlen(pfs_http.token);
	pfs_http.has_token = true;
	if (length >= TOKEN_LENGTH_MIN && length + 1 < sizeof(pfs_http.token) &&
	    pfs_http.token[strspn(pfs_http.token, "abcdefghijklmnopqrstuvwxyz0123456789-._~"
						  "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0')
		return true;
	return pfs_refuse(message,
			  "--token-file '%.120s': give 16 to %u letters, digits, or -._~ in its "
			  "first line",
			  path, (unsigned)sizeof(pfs_http.token) - 2);
}

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

static void say_where(void)
{
	char host[128], port[16];
	bool has_colons = pfs_http.bound.ss_family == AF_INET6;
	(void)getnameinfo((struct sockaddr *)&pfs_http.bound, sizeof(pfs_http.bound), host,
			  sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	(void)fprintf(stderr, "pfs-mem: serving on http://%s%s%s:%s/\n", has_colons ? "[" : "",
		      host, has_colons ? "]" : "", port);
}

bool pfs_http_begin(const struct pfs_http_options *options, struct pfs_message *message)
{
	struct pfs_listen wanted = { .option = "--http",
				     .example = "127.0.0.1:8080",
				     .address = options->address,
				     .secret = "--token-file" };
	if (!take_token(options->token_file, message) || !take_targets(options, message))
		return false;
	wanted.has_secret = pfs_http.has_token;
	int listener = pfs_listen_at(&wanted, &pfs_http.bound, message);
	if (listener < 0)
		return false;
	(void)signal(SIGPIPE, SIG_IGN);
	if (!begin_threads(listener))
		return pfs_refuse(message, "--http: the system refused a thread");
	say_where();
	return true;
}
