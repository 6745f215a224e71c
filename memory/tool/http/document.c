/*
 * document.c - documents, the requests that wait for them, and the two threads that make them.
 * One thread makes the quick ones; the other looks up names, so numbers never wait for names.
 *
 * One lock protects everything shared, except the count of bytes: that has its own lock, because
 * libmicrohttpd may free a response in any of its calls.
 */
#define _GNU_SOURCE
#include "document.h"
#include "base/now.h"
#include "memory/tool/profile/heap.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pfs_http_document {
	struct pfs_http_document *next;
	struct pfs_http_ask ask;
	unsigned references; /* of the list, the worker and the requests */
	bool is_begun, is_ready;
	uint64_t due_ns; /* of a difference: when its time is over; 0: it has not begun */
	uint64_t made_ns;
	unsigned status;
	struct MHD_Response *response; /* NULL: no memory */
	struct pfs_http_wait *waits;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct pfs_http_document *documents; /* the newest first */
	pthread_mutex_t bytes_lock;
	int64_t bytes, bodies;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER,
	    .work = PTHREAD_COND_INITIALIZER,
	    .bytes_lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t add_bytes(int64_t bytes)
{
	(void)pthread_mutex_lock(&store.bytes_lock);
	int64_t sum = store.bytes += bytes;
	(void)pthread_mutex_unlock(&store.bytes_lock);
	return sum;
}

bool pfs_bodies_take(int64_t bytes)
{
	(void)pthread_mutex_lock(&store.bytes_lock);
	bool fine = bytes < 0 || store.bodies + bytes <= PFS_HTTP_BODIES_BYTES;
	store.bodies += fine ? bytes : 0;
	(void)pthread_mutex_unlock(&store.bytes_lock);
	return fine;
}

/* ---- a stream of bounded length, in memory ---- */

struct buffer {
	char *text;
	size_t bytes, room;
	bool is_full, has_failed;
};

static ssize_t put(void *opaque, const char *text, size_t bytes)
{
	struct buffer *self = opaque;
	if (self->bytes + bytes > PFS_HTTP_DOCUMENT_BYTES)
		self->is_full = true;
	if (self->is_full || self->has_failed)
		return -1;
	while (self->bytes + bytes > self->room) {
		size_t room = self->room == 0 ? 64 * 1024 : self->room * 2;
		char *more = realloc(self->text, room);
		if (more == NULL) {
			self->has_failed = true;
			return -1;
		}
		self->text = more;
		self->room = room;
	}
	memcpy(self->text + self->bytes, text, bytes);
	self->bytes += bytes;
	return (ssize_t)bytes;
}

/* ---- a response ---- */

struct sent {
	char *text;
	size_t bytes;
};

static void sent(void *opaque)
{
	struct sent *self = opaque;
	(void)add_bytes(-(int64_t)self->bytes);
	free(self->text);
	free(self);
}

/* Replaces the document by one line. */
static void put_refusal(struct buffer *buffer, const struct pfs_message *message)
{
	char line[sizeof(message->text) + 2];
	int length = snprintf(line, sizeof(line), "%s\n", message->text);
	buffer->bytes = 0;
	buffer->is_full = buffer->has_failed = false;
	(void)put(buffer, line, (size_t)length);
}

static bool write_it(const struct pfs_http_ask *ask, struct buffer *buffer, unsigned *status,
		     struct pfs_message *message)
{
	const cookie_io_functions_t calls = { .write = put };
	struct pfs_http_box box = { .id = "" };
	if (ask->route->has_box && !pfs_http_find(ask->target, &box, status, message))
		return false;
	FILE *to = fopencookie(buffer, "w", calls);
	bool fine = to != NULL && ask->route->make(ask, &box, to, status, message);
	bool is_refused = to != NULL && !fine && !ferror(to);
	if (to == NULL || ferror(to) || fflush(to) != 0)
		fine = false;
	if (to != NULL)
		(void)fclose(to);
	if (buffer->is_full)
		(void)pfs_refuse(
			message,
			"the answer exceeds %u MiB: request less (limit=, offset=), or use "
			"pfs-mem on the command line",
			PFS_HTTP_DOCUMENT_BYTES >> 20);
	else if (!fine && !is_refused)
		(void)pfs_refuse(message, "no memory for the answer");
	return fine;
}

static const char *type_of(const struct pfs_http_ask *ask)
{
	return ask->open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
	       : ask->as_text    ? "text/plain; charset=utf-8"
				 : ask->route->type;
}

static void make(struct pfs_http_document *self)
{
	struct buffer buffer = { .text = NULL };
	struct pfs_message message = { "it cannot be made" };
	struct sent *cls = malloc(sizeof(*cls));
	unsigned status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	bool fine = write_it(&self->ask, &buffer, &status, &message);
	if (!fine)
		put_refusal(&buffer, &message);
	self->status = fine ? MHD_HTTP_OK : status;
	if (buffer.text == NULL)
		buffer.text = malloc(1); /* an empty document is fine */
	if (cls == NULL || buffer.text == NULL) {
		free(cls);
		free(buffer.text);
		return;
	}
	char *less = realloc(buffer.text, buffer.bytes + 1);
	*cls = (struct sent){ less == NULL ? buffer.text : less, buffer.bytes };
	const char *type = fine ? type_of(&self->ask) : "text/plain; charset=utf-8";
	(void)add_bytes((int64_t)buffer.bytes);
	self->response = pfs_http_response(cls->text, cls->bytes, type,
					   fine ? self->ask.route->policy : PFS_POLICY_DATA, sent,
					   cls);
	if (self->response == NULL)
		sent(cls);
}

/* ---- the list ---- */

static bool is_same(const struct pfs_http_ask *a, const struct pfs_http_ask *b)
{
	if (a->seconds != 0 || b->seconds != 0)
		return false; /* each has its own time */
	return a->route == b->route && a->body == NULL && b->body == NULL &&
	       strcmp(a->target, b->target) == 0 && strcmp(a->name, b->name) == 0 &&
	       a->offset == b->offset && a->limit == b->limit && a->as_text == b->as_text &&
	       a->of_total == b->of_total && a->open_metrics == b->open_metrics;
}

static bool is_fresh(const struct pfs_http_document *self)
{
	return !self->is_ready || pfs_now_ns(CLOCK_MONOTONIC) - self->made_ns < PFS_HTTP_FRESH_NS;
}

/* Under the lock. */
static void drop(struct pfs_http_document *self)
{
	if (--self->references != 0)
		return;
	if (self->response != NULL)
		MHD_destroy_response(self->response);
	if (self->ask.body != NULL)
		(void)pfs_bodies_take(-(int64_t)self->ask.body_bytes);
	free(self->ask.body);
	pfs_heap_free(self->ask.base);
	free(self);
}

void pfs_document_drop(struct pfs_http_document *self)
{
	(void)pthread_mutex_lock(&store.lock);
	drop(self);
	(void)pthread_mutex_unlock(&store.lock);
}

struct MHD_Response *pfs_document_response(struct pfs_http_document *self, unsigned *status)
{
	*status = self->status;
	return self->response;
}

static struct pfs_http_document *find(const struct pfs_http_ask *ask)
{
	for (struct pfs_http_document *at = store.documents; at != NULL; at = at->next)
		if (is_same(&at->ask, ask) && is_fresh(at))
			return at;
	return NULL;
}

/* Assumes that each begun document grows to its limit. */
static bool has_room(void)
{
	int64_t bytes = add_bytes(0);
	for (struct pfs_http_document *at = store.documents; at != NULL; at = at->next)
		bytes += at->is_ready ? 0 : 64 * 1024;
	return bytes < PFS_HTTP_DOCUMENTS_BYTES;
}

/* Is there one more place for a difference? Each keeps a profile while it waits. */
static bool has_place(const struct pfs_http_ask *ask)
{
	unsigned waiting = 0;
	for (struct pfs_http_document *at = store.documents; at != NULL; at = at->next)
		waiting += at->ask.seconds != 0 && !at->is_ready;
	return ask->seconds == 0 || waiting < PFS_HTTP_WINDOWS_MAX;
}

static struct pfs_http_document *add(struct pfs_http_ask *ask)
{
	struct pfs_http_document *self = has_room() && has_place(ask) ? calloc(1, sizeof(*self))
								      : NULL;
	if (self == NULL)
		return NULL;
	self->ask = *ask;
	ask->body = NULL;
	self->references = 1;
	self->next = store.documents;
	store.documents = self;
	(void)pthread_cond_broadcast(&store.work);
	return self;
}

enum pfs_http_got pfs_document_get(struct pfs_http_ask *ask, struct pfs_http_wait *wait,
				   struct pfs_http_document **document)
{
	enum pfs_http_got got = PFS_GOT_DOCUMENT;
	(void)pthread_mutex_lock(&store.lock);
	struct pfs_http_document *self = find(ask);
	if (self == NULL)
		self = add(ask);
	*document = self;
	if (self == NULL) {
		got = PFS_GOT_REFUSED;
	} else {
		self->references++;
		if (!self->is_ready) {
			wait->next = self->waits;
			self->waits = wait;
			MHD_suspend_connection(wait->connection);
			got = PFS_GOT_TO_WAIT;
		}
	}
	(void)pthread_mutex_unlock(&store.lock);
	return got;
}

void pfs_documents_sweep(void)
{
	(void)pthread_mutex_lock(&store.lock);
	struct pfs_http_document **at = &store.documents;
	while (*at != NULL) {
		struct pfs_http_document *self = *at;
		if (is_fresh(self)) {
			at = &self->next;
			continue;
		}
		*at = self->next;
		drop(self);
	}
	(void)pthread_mutex_unlock(&store.lock);
}

/* ---- workers ---- */

/* The oldest that can be made now; else when the next one can, or 0. */
static struct pfs_http_document *next_work(bool is_slow, uint64_t *next_ns)
{
	struct pfs_http_document *found = NULL;
	uint64_t now = pfs_now_ns(CLOCK_MONOTONIC);
	*next_ns = 0;
	for (struct pfs_http_document *at = store.documents; at != NULL; at = at->next) {
		if (at->is_begun || at->ask.route->is_slow != is_slow)
			continue;
		if (at->due_ns <= now)
			found = at;
		else if (*next_ns == 0 || at->due_ns < *next_ns)
			*next_ns = at->due_ns;
	}
	return found;
}

static void wait_for_work(uint64_t until_ns)
{
	const struct timespec until = { (time_t)(until_ns / 1000000000),
					(long)(until_ns % 1000000000) };
	if (until_ns == 0)
		(void)pthread_cond_wait(&store.work, &store.lock);
	else
		(void)pthread_cond_clockwait(&store.work, &store.lock, CLOCK_MONOTONIC, &until);
}

/* Begins the time of a difference; nothing waits for it here. The lock is not held. */
static void begin_window(struct pfs_http_document *self)
{
	struct pfs_heap *base = pfs_http_window(&self->ask);
	(void)pthread_mutex_lock(&store.lock);
	self->ask.base = base;
	/* Without a base it is made at once, and says what is wrong. */
	self->due_ns = pfs_now_ns(CLOCK_MONOTONIC) +
		       (base == NULL ? 0 : self->ask.seconds * UINT64_C(1000000000));
	self->is_begun = false;
	drop(self);
}

static void finish(struct pfs_http_document *self)
{
	self->is_ready = true;
	self->made_ns = pfs_now_ns(CLOCK_MONOTONIC);
	while (self->waits != NULL) {
		struct pfs_http_wait *wait = self->waits;
		self->waits = wait->next;
		MHD_resume_connection(wait->connection);
	}
	drop(self);
}

static void *work(void *opaque)
{
	const bool is_slow = opaque != NULL;
	(void)pthread_mutex_lock(&store.lock);
	for (;;) {
		uint64_t next_ns;
		struct pfs_http_document *self = next_work(is_slow, &next_ns);
		if (self == NULL) {
			wait_for_work(next_ns);
			continue;
		}
		self->is_begun = true;
		self->references++;
		(void)pthread_mutex_unlock(&store.lock);
		if (self->ask.seconds != 0 && self->due_ns == 0) {
			begin_window(self);
			continue;
		}
		make(self);
		(void)malloc_trim(0);
		(void)pthread_mutex_lock(&store.lock);
		finish(self);
	}
	return NULL;
}

bool pfs_documents_begin(void)
{
	static char slow;
	pthread_t thread;
	/* One heap for all threads, so that they reuse each other's memory. */
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	return pthread_create(&thread, NULL, work, NULL) == 0 &&
	       pthread_create(&thread, NULL, work, &slow) == 0;
}
