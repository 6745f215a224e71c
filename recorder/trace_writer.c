/*
 * trace_writer.c - see pfslab/trace.h. A recorder calls this from inside malloc, so it has no
 * memory of its own and no cancellation point: the bare system call instead of write().
 */
#define _GNU_SOURCE
#include <pfslab/trace.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crc32c.h"
#include "layout.h"

/* The sink of pfs_trace_writer_open. */
static bool write_to_file(void *context, const uint8_t *bytes, uint32_t size, uint64_t offset)
{
	struct pfs_trace_writer *self = context;

	while (size != 0) {
		long done = syscall(SYS_pwrite64, self->file, bytes, (size_t)size, offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		size -= (uint32_t)done;
		offset += (uint64_t)done;
	}
	return true;
}

static bool put(struct pfs_trace_writer *self, const uint8_t *bytes, uint32_t size, uint64_t offset)
{
	if (!self->failed)
		self->failed = !self->sink.write(self->sink.context, bytes, size, offset);
	return !self->failed;
}

static void write_head(struct pfs_trace_writer *self, uint32_t flags)
{
	const struct pfs_trace_info *info = &self->info;
	uint8_t head[PFS_HEAD_FIXED + PFS_TRACE_PROGRAM_MAX + 4];
	uint32_t name_bytes = (uint32_t)strlen(info->program);

	memcpy(head + PFS_HEAD_MAGIC, PFS_TRACE_MAGIC, 8);
	pfs_put_u32(head + PFS_HEAD_VERSION, PFS_TRACE_VERSION);
	pfs_put_u32(head + PFS_HEAD_FLAGS, flags);
	pfs_put_u64(head + PFS_HEAD_EVENTS, info->events);
	pfs_put_u64(head + PFS_HEAD_PRELUDE, info->prelude);
	pfs_put_u64(head + PFS_HEAD_ALLOCATIONS, info->allocations);
	pfs_put_u64(head + PFS_HEAD_FREES, info->frees);
	pfs_put_u64(head + PFS_HEAD_TICKS, info->ticks);
	pfs_put_u32(head + PFS_HEAD_THREADS, info->threads);
	pfs_put_u32(head + PFS_HEAD_OBJECTS, info->objects);
	pfs_put_u32(head + PFS_HEAD_CHUNKS, info->chunks);
	pfs_put_u32(head + PFS_HEAD_NS_PER_TICK, info->ns_per_tick);
	pfs_put_u32(head + PFS_HEAD_NAME_BYTES, name_bytes);
	memcpy(head + PFS_HEAD_FIXED, info->program, name_bytes);
	uint32_t size = PFS_HEAD_FIXED + name_bytes;
	pfs_put_u32(head + size, pfs_crc32c(0, head, size));
	put(self, head, size + 4, 0);
}

static bool begin(struct pfs_trace_writer *self, const struct pfs_trace_sink *sink, int file,
		  const char *program, uint32_t ns_per_tick)
{
	size_t name_bytes = strnlen(program, PFS_TRACE_PROGRAM_MAX);

	memset(self, 0, sizeof(*self));
	self->sink = *sink;
	self->file = file;
	memcpy(self->info.program, program, name_bytes);
	self->info.ns_per_tick = ns_per_tick;
	self->info.bytes = PFS_HEAD_FIXED + name_bytes + 4;
	self->used = PFS_CHUNK_HEAD;
	write_head(self, 0);
	return !self->failed;
}

bool pfs_trace_writer_begin(struct pfs_trace_writer *self, const struct pfs_trace_sink *sink,
			    const char *program, uint32_t ns_per_tick)
{
	return begin(self, sink, -1, program, ns_per_tick);
}

void pfs_trace_writer_flush(struct pfs_trace_writer *self)
{
	uint8_t index[4];

	if (self->chunk_events == 0)
		return;
	pfs_put_u32(index, self->info.chunks);
	pfs_put_u32(self->buffer + PFS_CHUNK_BYTES, self->used - PFS_CHUNK_HEAD);
	pfs_put_u32(self->buffer + PFS_CHUNK_EVENTS, self->chunk_events);
	uint32_t sum = pfs_crc32c(0, index, sizeof(index));
	sum = pfs_crc32c(sum, self->buffer, PFS_CHUNK_SUM);
	sum = pfs_crc32c(sum, self->buffer + PFS_CHUNK_HEAD, self->used - PFS_CHUNK_HEAD);
	pfs_put_u32(self->buffer + PFS_CHUNK_SUM, sum);
	if (put(self, self->buffer, self->used, self->info.bytes)) {
		self->info.bytes += self->used;
		self->info.chunks++;
	}
	self->used = PFS_CHUNK_HEAD;
	self->chunk_events = 0;
	/* each chunk can be read alone */
	self->last = (struct pfs_trace_event){ .time = 0 };
}

static void count(struct pfs_trace_info *info, const struct pfs_trace_event *event, uint32_t *live)
{
	info->events++;
	info->ticks = event->time;
	if (event->thread >= info->threads)
		info->threads = event->thread + 1;
	if (event->kind == PFS_TRACE_FREE) {
		info->frees++;
		--*live;
		return;
	}
	info->allocations++;
	if (++*live > info->objects)
		info->objects = *live;
}

void pfs_trace_writer_add(struct pfs_trace_writer *self, const struct pfs_trace_event *event,
			  bool prelude)
{
	struct pfs_trace_event now = *event;
	struct pfs_trace_event *last = &self->last;

	if (self->used + PFS_TRACE_EVENT_BYTES > PFS_CHUNK_HEAD + PFS_TRACE_PAYLOAD_MAX)
		pfs_trace_writer_flush(self);
	if (now.time < self->info.ticks)
		now.time = self->info.ticks; /* clocks of two CPUs may differ by a little */
	/* flush began a new chunk: then all is relative to zero */
	bool other = now.thread != last->thread;
	uint64_t head = (now.time - last->time) << 2 | (uint64_t)other << 1 |
			(uint64_t)(now.kind == PFS_TRACE_FREE);
	uint8_t *buffer = self->buffer;
	self->used += pfs_put_varint(buffer + self->used, head);
	if (other)
		self->used += pfs_put_varint(buffer + self->used, now.thread);
	self->used += pfs_put_varint(buffer + self->used,
				     pfs_zigzag((int64_t)now.id - (int64_t)last->id));
	if (now.kind == PFS_TRACE_ALLOCATE)
		self->used += pfs_put_varint(buffer + self->used, now.size);
	*last = now;
	self->chunk_events++;
	self->info.prelude += prelude;
	count(&self->info, &now, &self->live);
}

uint64_t pfs_trace_writer_bytes(const struct pfs_trace_writer *self)
{
	return self->info.bytes + (self->chunk_events != 0 ? self->used : 0);
}

bool pfs_trace_writer_finish(struct pfs_trace_writer *self)
{
	pfs_trace_writer_flush(self);
	write_head(self, PFS_TRACE_FINISHED);
	return !self->failed;
}

bool pfs_trace_writer_resume(struct pfs_trace_writer *self)
{
	write_head(self, 0);
	return !self->failed;
}

bool pfs_trace_writer_open(struct pfs_trace_writer *self, const char *path, const char *program,
			   uint32_t ns_per_tick)
{
	struct pfs_trace_sink sink = { .write = write_to_file, .context = self };
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (file < 0)
		return false;
	if (!begin(self, &sink, file, program, ns_per_tick))
		close(file);
	return !self->failed;
}

bool pfs_trace_writer_close(struct pfs_trace_writer *self)
{
	bool fine = pfs_trace_writer_finish(self);

	return close(self->file) == 0 && fine;
}
