/*
 * cut.c - see cut.h.
 */
#include "cut.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command_line.h"

#define NONE UINT32_MAX
#define CHUNK_SLACK 64 /* an event, and the head of a chunk that it may begin */

enum pfs_status pfs_trace_each(const char *path, pfs_trace_visit *visit, void *context,
			       struct pfs_message *message)
{
	struct pfs_trace_reader *reader = NULL;
	struct pfs_trace_event event;
	enum pfs_status status = pfs_trace_reader_open(path, &reader, message);

	while (status == PFS_OK) {
		status = pfs_trace_reader_next(reader, &event, message);
		if (status == PFS_OK)
			status = visit(context, pfs_trace_reader_info(reader), &event);
	}
	pfs_trace_reader_close(reader);
	return status == PFS_FULL ? PFS_OK : status;
}

/* For info: sizes of all objects, and which were freed by another thread. */
struct summary {
	struct pfs_trace_info info;
	uint64_t *sizes; /* [allocations] */
	uint64_t size_count;
	uint32_t *owners; /* [objects], thread that allocated it */
	uint64_t foreign; /* frees by another thread */
};

static enum pfs_status sum_up(void *context, const struct pfs_trace_info *info,
			      const struct pfs_trace_event *event)
{
	struct summary *self = context;

	if (self->sizes == NULL) {
		self->info = *info;
		self->sizes = calloc(info->allocations + 1, sizeof(*self->sizes));
		self->owners = calloc((size_t)info->objects + 1, sizeof(*self->owners));
		if (self->sizes == NULL || self->owners == NULL)
			return PFS_NO_MEMORY;
	}
	if (event->kind == PFS_TRACE_ALLOCATE) {
		self->sizes[self->size_count++] = event->size;
		self->owners[event->id] = event->thread;
	} else {
		self->foreign += self->owners[event->id] != event->thread;
	}
	return PFS_OK;
}

static int compare_sizes(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void print_summary(const char *path, const struct summary *self)
{
	static const double shares[] = { 0.5, 0.9, 0.99 };
	const struct pfs_trace_info *info = &self->info;

	printf("%s\n", path);
	printf("  program      %s\n", info->program);
	printf("  events       %llu (prelude %llu, allocations %llu, frees %llu)\n",
	       (unsigned long long)info->events, (unsigned long long)info->prelude,
	       (unsigned long long)info->allocations, (unsigned long long)info->frees);
	printf("  threads      %u, %.1f %% of the frees by another than the allocating one\n",
	       info->threads,
	       info->frees != 0 ? 100.0 * (double)self->foreign / (double)info->frees : 0.0);
	printf("  objects      %u at once at most\n", info->objects);
	printf("  time         %.3f ms, in ticks of %u ns\n",
	       (double)info->ticks * info->ns_per_tick / 1e6, info->ns_per_tick);
	printf("  sizes       ");
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]) && self->size_count != 0; i++)
		printf(" %g %% <= %llu,", shares[i] * 100.0,
		       (unsigned long long)
			       self->sizes[(uint64_t)((double)(self->size_count - 1) * shares[i])]);
	if (self->size_count != 0)
		printf(" largest %llu", (unsigned long long)self->sizes[self->size_count - 1]);
	printf(" bytes\n  file         %llu bytes, %u chunks, %.1f bytes for each event\n",
	       (unsigned long long)info->bytes, info->chunks,
	       info->events != 0 ? (double)info->bytes / (double)info->events : 0.0);
	if (!info->finished)
		printf("  unfinished   events after %llu are missing\n",
		       (unsigned long long)info->events);
}

enum pfs_status pfs_trace_print_info(const char *path, struct pfs_message *message)
{
	struct summary self = { .foreign = 0 };
	struct pfs_trace_reader *reader = NULL;

	pfs_say_why(message, PFS_OK, "trace %.160s: no memory for its objects", path);
	enum pfs_status status = pfs_trace_each(path, sum_up, &self, message);
	if (status == PFS_OK && self.sizes == NULL) { /* there was no event to allocate it */
		status = pfs_trace_reader_open(path, &reader, message);
		if (status == PFS_OK)
			self.info = *pfs_trace_reader_info(reader);
		pfs_trace_reader_close(reader);
	}
	if (status == PFS_OK) {
		if (self.size_count != 0)
			qsort(self.sizes, self.size_count, sizeof(*self.sizes), compare_sizes);
		print_summary(path, &self);
	}
	free(self.sizes);
	free(self.owners);
	return status;
}

/* A cut under way. */
struct cutter {
	const struct pfs_cut *cut;
	struct pfs_trace_event *old; /* [objects]: its allocation before the window */
	uint64_t *born;              /* [objects]: event + 1 of that; 0: not alive or left out */
	uint32_t *id_of;             /* [objects]: its new id, or NONE */
	uint32_t *free_ids;          /* [objects] */
	uint32_t *thread_of;         /* [threads]: its new number, or NONE */
	uint32_t object_count, free_count, next_id, next_thread;
	uint64_t position; /* event */
	bool in_window, too_large;
	struct pfs_trace_writer writer;
};

static bool room_left(const struct cutter *self)
{
	return pfs_trace_writer_bytes(&self->writer) + CHUNK_SLACK <= self->cut->bytes;
}

static void put(struct cutter *self, const struct pfs_trace_event *event, bool prelude)
{
	struct pfs_trace_event now = *event;
	uint32_t *id = &self->id_of[event->id];
	uint32_t *thread = &self->thread_of[event->thread];

	if (event->kind == PFS_TRACE_FREE && *id == NONE)
		return;
	if (*thread == NONE)
		*thread = self->next_thread++;
	if (event->kind == PFS_TRACE_ALLOCATE)
		*id = self->free_count != 0 ? self->free_ids[--self->free_count] : self->next_id++;
	now.thread = *thread;
	now.id = *id;
	pfs_trace_writer_add(&self->writer, &now, prelude);
	if (event->kind == PFS_TRACE_ALLOCATE)
		return;
	self->free_ids[self->free_count++] = *id;
	*id = NONE;
}

static bool begin(struct cutter *self, const struct pfs_trace_info *info)
{
	size_t objects = (size_t)info->objects + 1, threads = (size_t)info->threads + 1;

	self->old = calloc(objects, sizeof(*self->old));
	self->born = calloc(objects, sizeof(*self->born));
	self->id_of = calloc(objects, sizeof(*self->id_of));
	self->free_ids = calloc(objects, sizeof(*self->free_ids));
	self->thread_of = calloc(threads, sizeof(*self->thread_of));
	if (self->old == NULL || self->born == NULL || self->id_of == NULL ||
	    self->free_ids == NULL || self->thread_of == NULL)
		return false;
	self->object_count = info->objects;
	for (uint32_t i = 0; i < info->objects; i++)
		self->id_of[i] = NONE;
	for (uint32_t i = 0; i < info->threads; i++)
		self->thread_of[i] = NONE;
	return true;
}

static bool is_kept(const struct cutter *self, const struct pfs_trace_event *event)
{
	return event->size >= self->cut->size_min && event->size <= self->cut->size_max;
}

struct elder {
	uint64_t born;
	uint32_t id;
};

static int compare_elders(const void *left, const void *right)
{
	uint64_t a = ((const struct elder *)left)->born, b = ((const struct elder *)right)->born;

	return (a > b) - (a < b);
}

/* What is alive when the window begins, in the order in which it was allocated. */
static enum pfs_status put_prelude(struct cutter *self, uint64_t time)
{
	struct elder *elders = calloc((size_t)self->object_count + 1, sizeof(*elders));
	size_t count = 0;

	if (elders == NULL)
		return PFS_NO_MEMORY;
	for (uint32_t id = 0; id < self->object_count; id++)
		if (self->born[id] != 0)
			elders[count++] = (struct elder){ .born = self->born[id], .id = id };
	qsort(elders, count, sizeof(*elders), compare_elders);
	for (size_t i = 0; i < count && !self->too_large; i++) {
		struct pfs_trace_event event = self->old[elders[i].id];
		event.time = time;
		put(self, &event, true);
		self->too_large = !room_left(self);
	}
	free(elders);
	return self->too_large ? PFS_BAD_CONFIG : PFS_OK;
}

static enum pfs_status cut_event(void *context, const struct pfs_trace_info *info,
				 const struct pfs_trace_event *event)
{
	struct cutter *self = context;
	uint64_t position = self->position++;
	bool kept = event->kind == PFS_TRACE_FREE || is_kept(self, event);

	if (self->old == NULL && !begin(self, info))
		return PFS_NO_MEMORY;
	if (position < self->cut->from) {
		self->old[event->id] = *event;
		self->born[event->id] = event->kind == PFS_TRACE_ALLOCATE && kept ? position + 1
										  : 0;
		return PFS_OK;
	}
	if (!self->in_window) {
		enum pfs_status status = put_prelude(self, event->time);
		if (status != PFS_OK)
			return status;
		self->in_window = true;
	}
	if (position - self->cut->from >= self->cut->events || !room_left(self))
		return PFS_FULL;
	if (kept)
		put(self, event, false);
	return PFS_OK;
}

static enum pfs_status judge(const struct cutter *self, enum pfs_status status, const char *from,
			     struct pfs_message *message)
{
	if (status == PFS_NO_MEMORY)
		return pfs_say_why(message, status, "trace %.160s: no memory to cut it", from);
	if (self->too_large)
		return pfs_say_why(
			message, status,
			"trace %.100s: the objects alive at event %llu take more than %llu "
			"bytes; raise --bytes or choose --sizes",
			from, (unsigned long long)self->cut->from,
			(unsigned long long)self->cut->bytes);
	if (status == PFS_OK && self->writer.info.events == self->writer.info.prelude)
		return pfs_say_why(
			message, PFS_BAD_CONFIG,
			"trace %.100s: none of its %llu events is left; lower --from, raise "
			"--bytes or choose other --sizes",
			from, (unsigned long long)self->position);
	return status;
}

enum pfs_status pfs_trace_cut(const char *from, const char *to, const struct pfs_cut *cut,
			      struct pfs_message *message)
{
	static struct cutter self; /* its writer's buffer is large */
	struct pfs_trace_reader *reader = NULL;
	enum pfs_status status = pfs_trace_reader_open(from, &reader, message);

	if (status != PFS_OK)
		return status;
	struct pfs_trace_info info = *pfs_trace_reader_info(reader);
	pfs_trace_reader_close(reader);
	self = (struct cutter){ .cut = cut };
	char partial[4096];
	snprintf(partial, sizeof(partial), "%.4000s.partial", to);
	if (!pfs_trace_writer_open(&self.writer, partial, info.program, info.ns_per_tick))
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "'%.160s' cannot be written (%s); name "
				   "another file",
				   to, strerror(errno));
	status = pfs_trace_each(from, cut_event, &self, message);
	status = judge(&self, status, from, message);
	if (!pfs_trace_writer_close(&self.writer) && status == PFS_OK)
		status = pfs_say_why(message, PFS_BAD_CONFIG,
				     "'%.160s' cannot be written; free some "
				     "space",
				     to);
	if (status == PFS_OK && rename(partial, to) != 0)
		status = pfs_say_why(message, PFS_BAD_CONFIG,
				     "'%.160s' cannot be written (%s); name "
				     "another file",
				     to, strerror(errno));
	if (status != PFS_OK)
		unlink(partial);
	free(self.old);
	free(self.born);
	free(self.id_of);
	free(self.free_ids);
	free(self.thread_of);
	return status;
}
