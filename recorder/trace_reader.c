/*
 * trace_reader.c - see pfslab/trace.h. The whole file is loaded, and read chunk by chunk.
 *
 * A refusal names the first byte from which on the file cannot be trusted: of the head, of the
 * chunk whose checksum is wrong, or of the event that makes no sense.
 *
 * An unfinished trace has no counts in its head, and zeros may follow its last chunk: it is read
 * twice, the first time to count.
 */
#include <pfslab/trace.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "layout.h"

struct pfs_trace_reader {
	struct pfs_trace_info info;
	struct pfs_trace_info seen; /* counts of the events read so far */
	struct pfs_trace_event last;
	char path[152];    /* for messages: its end */
	uint8_t *bytes;    /* the whole file */
	const uint8_t *at; /* next byte to read */
	const uint8_t *chunk_end;
	uint32_t chunk_events; /* left in the chunk */
	bool counts;           /* the first of two readings of an unfinished trace */
	uint32_t live;
	uint8_t *alive;         /* [info.objects], one bit each */
	enum pfs_status status; /* PFS_OK, or what ended the reading */
	struct pfs_message message;
};

static enum pfs_status refuse(struct pfs_trace_reader *self, enum pfs_status status,
			      const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum pfs_status refuse(struct pfs_trace_reader *self, enum pfs_status status,
			      const char *format, ...)
{
	char reason[88];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	snprintf(self->message.text, sizeof(self->message.text), "trace %s: %s", self->path,
		 reason);
	self->status = status;
	return status;
}

static enum pfs_status damaged(struct pfs_trace_reader *self, const uint8_t *where,
			       const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum pfs_status damaged(struct pfs_trace_reader *self, const uint8_t *where,
			       const char *format, ...)
{
	char reason[64];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return refuse(self, PFS_BAD_CONFIG, "damaged at byte %zu: %s; record it again",
		      (size_t)(where - self->bytes), reason);
}

/* Do only zeros follow? No chunk is that long, and none is all zeros. */
static bool in_tail(const uint8_t *bytes, size_t used)
{
	static const uint8_t zeros[65536];

	return used > PFS_HEAD_FIXED + sizeof(zeros) && memcmp(bytes, PFS_TRACE_MAGIC, 8) == 0 &&
	       pfs_get_u32(bytes + PFS_HEAD_FLAGS) != PFS_TRACE_FINISHED &&
	       memcmp(bytes + used - sizeof(zeros), zeros, sizeof(zeros)) == 0;
}

static enum pfs_status take_file(struct pfs_trace_reader *self, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t room = 0, used = 0, got = 0;

	if (file == NULL)
		return refuse(self, PFS_BAD_CONFIG, "cannot be read (%s); name a trace file",
			      strerror(errno));
	do {
		if (used == room) {
			room = room == 0 ? 65536 : room * 2;
			uint8_t *larger = realloc(self->bytes, room);
			if (larger == NULL) {
				fclose(file);
				return refuse(self, PFS_NO_MEMORY, "no memory for its bytes");
			}
			self->bytes = larger;
		}
		got = fread(self->bytes + used, 1, room - used, file);
		used += got; /* an input that is no trace may be endless: read_head reports it */
	} while (got != 0 && (used < 8 || memcmp(self->bytes, PFS_TRACE_MAGIC, 8) == 0) &&
		 !in_tail(self->bytes, used));
	if (ferror(file) != 0)
		refuse(self, PFS_BAD_CONFIG, "cannot be read (%s); name a trace file",
		       strerror(errno));
	fclose(file);
	self->info.bytes = used;
	return self->status;
}

static void read_fields(struct pfs_trace_info *info, const uint8_t *head)
{
	info->events = pfs_get_u64(head + PFS_HEAD_EVENTS);
	info->prelude = pfs_get_u64(head + PFS_HEAD_PRELUDE);
	info->allocations = pfs_get_u64(head + PFS_HEAD_ALLOCATIONS);
	info->frees = pfs_get_u64(head + PFS_HEAD_FREES);
	info->ticks = pfs_get_u64(head + PFS_HEAD_TICKS);
	info->threads = pfs_get_u32(head + PFS_HEAD_THREADS);
	info->objects = pfs_get_u32(head + PFS_HEAD_OBJECTS);
	info->chunks = pfs_get_u32(head + PFS_HEAD_CHUNKS);
	info->ns_per_tick = pfs_get_u32(head + PFS_HEAD_NS_PER_TICK);
}

/* What an unfinished head does not say: no limits but those of the format. */
static void unlimited(struct pfs_trace_info *info)
{
	info->prelude = 0;
	info->threads = PFS_TRACE_THREADS_MAX;
	info->objects = PFS_TRACE_OBJECTS_MAX;
	info->chunks = UINT32_MAX;
}

static bool fields_fit(const struct pfs_trace_info *info)
{
	return info->threads <= PFS_TRACE_THREADS_MAX && info->objects <= PFS_TRACE_OBJECTS_MAX &&
	       info->events == info->allocations + info->frees &&
	       info->frees <= info->allocations && info->prelude <= info->events &&
	       info->objects <= info->allocations && info->events <= info->bytes &&
	       info->ns_per_tick != 0;
}

static enum pfs_status read_head(struct pfs_trace_reader *self)
{
	const uint8_t *head = self->bytes;
	uint64_t bytes = self->info.bytes;

	if (bytes == 0)
		return refuse(self, PFS_BAD_CONFIG, "empty (byte 0); record it again");
	if (bytes < 8 || memcmp(head, PFS_TRACE_MAGIC, 8) != 0)
		return refuse(self, PFS_BAD_CONFIG,
			      "not a trace: its first 8 bytes (byte 0) are not '%s'",
			      PFS_TRACE_MAGIC);
	if (bytes < PFS_HEAD_FIXED + 4)
		return damaged(self, head + bytes, "it ends inside its head");
	uint32_t name_bytes = pfs_get_u32(head + PFS_HEAD_NAME_BYTES);
	if (name_bytes > PFS_TRACE_PROGRAM_MAX)
		return damaged(self, head + PFS_HEAD_NAME_BYTES, "a name of %u bytes", name_bytes);
	uint32_t size = PFS_HEAD_FIXED + name_bytes;
	if (bytes < size + 4)
		return damaged(self, head + bytes, "it ends inside its head");
	if (pfs_get_u32(head + size) != pfs_crc32c(0, head, size))
		return damaged(self, head, "checksum of the head");
	if (pfs_get_u32(head + PFS_HEAD_VERSION) != PFS_TRACE_VERSION)
		return refuse(self, PFS_BAD_CONFIG,
			      "version %u (byte %d), this program reads %u; "
			      "record it again",
			      pfs_get_u32(head + PFS_HEAD_VERSION), PFS_HEAD_VERSION,
			      PFS_TRACE_VERSION);
	read_fields(&self->info, head);
	memcpy(self->info.program, head + PFS_HEAD_FIXED, name_bytes);
	self->info.finished = pfs_get_u32(head + PFS_HEAD_FLAGS) == PFS_TRACE_FINISHED;
	self->counts = !self->info.finished;
	if (self->counts)
		unlimited(&self->info);
	else if (!fields_fit(&self->info))
		return damaged(self, head + PFS_HEAD_EVENTS, "counts that contradict each other");
	self->at = self->chunk_end = head + size + 4;
	return PFS_OK;
}

void pfs_trace_reader_close(struct pfs_trace_reader *self)
{
	if (self == NULL)
		return;
	free(self->bytes);
	free(self->alive);
	free(self);
}

const struct pfs_trace_info *pfs_trace_reader_info(const struct pfs_trace_reader *self)
{
	return &self->info;
}

static enum pfs_status begin_chunk(struct pfs_trace_reader *self)
{
	const uint8_t *chunk = self->at;
	size_t left = (size_t)(self->bytes + self->info.bytes - chunk);
	uint32_t index = self->seen.chunks;
	uint8_t prefix[4];

	if (left < PFS_CHUNK_HEAD)
		return damaged(self, chunk, "it ends inside the head of chunk %u", index);
	uint32_t size = pfs_get_u32(chunk + PFS_CHUNK_BYTES);
	if (size > PFS_TRACE_PAYLOAD_MAX)
		return damaged(self, chunk, "chunk %u of %u bytes", index, size);
	if (left - PFS_CHUNK_HEAD < size)
		return damaged(self, self->bytes + self->info.bytes, "it ends inside chunk %u",
			       index);
	pfs_put_u32(prefix, index);
	uint32_t sum = pfs_crc32c(0, prefix, sizeof(prefix));
	sum = pfs_crc32c(sum, chunk, PFS_CHUNK_SUM);
	sum = pfs_crc32c(sum, chunk + PFS_CHUNK_HEAD, size);
	if (sum != pfs_get_u32(chunk + PFS_CHUNK_SUM))
		return damaged(self, chunk, "checksum of chunk %u", index);
	self->at = chunk + PFS_CHUNK_HEAD;
	self->chunk_end = self->at + size;
	self->chunk_events = pfs_get_u32(chunk + PFS_CHUNK_EVENTS);
	self->seen.chunks++;
	self->last = (struct pfs_trace_event){ .time = 0 };
	return PFS_OK;
}

static enum pfs_status end(struct pfs_trace_reader *self)
{
	const struct pfs_trace_info *info = &self->info, *seen = &self->seen;

	if (self->at != self->bytes + info->bytes && !self->counts)
		return damaged(self, self->at, "bytes after the last chunk");
	if (!self->counts &&
	    (seen->events != info->events || seen->allocations != info->allocations ||
	     seen->frees != info->frees || seen->ticks != info->ticks ||
	     seen->objects != info->objects))
		return damaged(self, self->bytes + PFS_HEAD_EVENTS,
			       "counts that are not those of the events");
	self->status = PFS_FULL;
	snprintf(self->message.text, sizeof(self->message.text), "trace %s: at its end",
		 self->path);
	return self->status;
}

/* The bytes of one event. False if they do not make numbers. */
static bool decode(struct pfs_trace_reader *self, struct pfs_trace_event *event)
{
	uint64_t head = 0, thread = self->last.thread, id = 0;

	*event = (struct pfs_trace_event){ .size = 0 };
	if (!pfs_get_varint(&self->at, self->chunk_end, &head) ||
	    ((head & 2) != 0 && !pfs_get_varint(&self->at, self->chunk_end, &thread)) ||
	    !pfs_get_varint(&self->at, self->chunk_end, &id))
		return false;
	event->kind = (head & 1) != 0 ? PFS_TRACE_FREE : PFS_TRACE_ALLOCATE;
	if (event->kind == PFS_TRACE_ALLOCATE &&
	    !pfs_get_varint(&self->at, self->chunk_end, &event->size))
		return false;
	event->time = self->last.time + (head >> 2);
	event->thread = thread < UINT32_MAX ? (uint32_t)thread : UINT32_MAX;
	uint64_t sum = (uint64_t)self->last.id + (uint64_t)pfs_unzigzag(id);
	event->id = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
	return true;
}

/* Does it fit what went before? */
static enum pfs_status apply(struct pfs_trace_reader *self, const uint8_t *where,
			     const struct pfs_trace_event *event)
{
	struct pfs_trace_info *seen = &self->seen;

	if (event->thread >= self->info.threads)
		return damaged(self, where, "unknown thread %u", event->thread);
	if (event->id >= self->info.objects)
		return damaged(self, where, "unknown object %u", event->id);
	if (event->time < self->last.time)
		return damaged(self, where, "time overflows");
	uint8_t *byte = &self->alive[event->id / 8];
	uint8_t bit = (uint8_t)(1u << event->id % 8);
	bool alive = (*byte & bit) != 0;
	if (event->kind == PFS_TRACE_FREE && seen->events < self->info.prelude)
		return damaged(self, where, "a free in the prelude");
	if (alive != (event->kind == PFS_TRACE_FREE))
		return damaged(self, where, "object %u is %s", event->id,
			       alive ? "alive already" : "not alive");
	*byte ^= bit;
	seen->events++;
	seen->ticks = event->time;
	if (event->thread >= seen->threads)
		seen->threads = event->thread + 1;
	if (event->kind == PFS_TRACE_FREE) {
		seen->frees++;
		self->live--;
		return PFS_OK;
	}
	seen->allocations++;
	if (++self->live > seen->objects)
		seen->objects = self->live;
	return PFS_OK;
}

/* A chunk's bytes are written before its size is: 0 says that there is none. */
static bool is_last(const struct pfs_trace_reader *self)
{
	size_t left = (size_t)(self->bytes + self->info.bytes - self->at);

	return left == 0 ||
	       (left >= PFS_CHUNK_HEAD && pfs_get_u32(self->at + PFS_CHUNK_BYTES) == 0);
}

static enum pfs_status next(struct pfs_trace_reader *self, struct pfs_trace_event *event)
{
	while (self->chunk_events == 0) {
		if (self->at != self->chunk_end)
			return damaged(self, self->at, "bytes after the last event of a chunk");
		if (self->seen.chunks == self->info.chunks || (self->counts && is_last(self)))
			return end(self);
		if (begin_chunk(self) != PFS_OK)
			return self->status;
	}
	const uint8_t *where = self->at;
	if (!decode(self, event))
		return damaged(self, where, "an event that does not end");
	if (apply(self, where, event) != PFS_OK)
		return self->status;
	self->chunk_events--;
	self->last = *event;
	return PFS_OK;
}

enum pfs_status pfs_trace_reader_next(struct pfs_trace_reader *self, struct pfs_trace_event *event,
				      struct pfs_message *message)
{
	enum pfs_status status = self->status;

	if (status == PFS_OK)
		status = next(self, event);
	if (status != PFS_OK)
		*message = self->message;
	return status;
}

static enum pfs_status make_alive(struct pfs_trace_reader *self)
{
	free(self->alive);
	self->alive = calloc((size_t)self->info.objects / 8 + 1, 1);
	return self->alive != NULL ? PFS_OK
				   : refuse(self, PFS_NO_MEMORY, "no memory for its objects");
}

/* The first reading: afterwards the counts are known, and the second may begin. */
static enum pfs_status count_events(struct pfs_trace_reader *self)
{
	const uint8_t *first = self->at;
	struct pfs_trace_event event;
	enum pfs_status status = PFS_OK;

	while (status == PFS_OK)
		status = next(self, &event);
	if (status != PFS_FULL)
		return status;
	struct pfs_trace_info counted = self->seen;
	memcpy(counted.program, self->info.program, sizeof(counted.program));
	counted.ns_per_tick = self->info.ns_per_tick;
	counted.bytes = (uint64_t)(self->at - self->bytes);
	self->info = counted;
	self->seen = (struct pfs_trace_info){ .finished = false };
	self->live = 0;
	self->counts = false;
	self->at = self->chunk_end = first;
	self->status = PFS_OK;
	return make_alive(self);
}

enum pfs_status pfs_trace_reader_open(const char *path, struct pfs_trace_reader **reader,
				      struct pfs_message *message)
{
	struct pfs_trace_reader *self = calloc(1, sizeof(*self));
	size_t path_bytes = strlen(path);

	*reader = NULL;
	if (self == NULL) {
		snprintf(message->text, sizeof(message->text), "no memory for a trace");
		return PFS_NO_MEMORY;
	}
	size_t shown = path_bytes < sizeof(self->path) ? path_bytes : sizeof(self->path) - 1;
	memcpy(self->path, path + path_bytes - shown, shown);
	enum pfs_status status = take_file(self, path);
	if (status == PFS_OK)
		status = read_head(self);
	if (status == PFS_OK)
		status = make_alive(self);
	if (status == PFS_OK && self->counts)
		status = count_events(self);
	if (status != PFS_OK) {
		*message = self->message;
		pfs_trace_reader_close(self);
		return status;
	}
	*reader = self;
	return PFS_OK;
}
