/*
 * trace_test.c - the trace format: a written trace is read back, a damaged one is refused.
 */
#include <pfslab/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crc32c.h"
#include "layout.h"

#define EXPECT(condition)                                                                       \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                             \
		}                                                                               \
	} while (0)

#define EVENTS 20000u
#define IDS 300u

static int failures;
static char path[256];
static struct pfs_trace_writer writer;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Balanced events with large and small numbers; returns how many are alive at the end. */
static uint32_t make_events(struct pfs_trace_event *events, uint32_t count)
{
	bool alive[IDS] = { false };
	uint64_t state = 88172645463325252u, time = 0;
	uint32_t live = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t random = next_random(&state);
		uint32_t id = i < IDS ? i : (uint32_t)(random >> 40) % IDS;
		time += i % 1000 == 999 ? UINT64_C(1) << 40 : random % 300;
		events[i] = (struct pfs_trace_event){
			.time = time,
			.thread = (uint32_t)(random >> 20) % 17,
			.id = id,
			.kind = alive[id] ? PFS_TRACE_FREE : PFS_TRACE_ALLOCATE,
			.size = alive[id]      ? 0
				: i % 777 == 0 ? UINT64_MAX
					       : random % 5000,
		};
		alive[id] = !alive[id];
		live = alive[id] ? live + 1 : live - 1;
	}
	return live;
}

static void write_events(const struct pfs_trace_event *events, uint32_t count, const char *program)
{
	EXPECT(pfs_trace_writer_open(&writer, path, program, 100));
	for (uint32_t i = 0; i < count; i++)
		pfs_trace_writer_add(&writer, &events[i], i < 10);
	uint64_t bytes = pfs_trace_writer_bytes(&writer);
	EXPECT(pfs_trace_writer_close(&writer));
	EXPECT(bytes == writer.info.bytes);
}

static void test_round_trip(void)
{
	struct pfs_trace_event *events = calloc(EVENTS, sizeof(*events)), got;
	struct pfs_trace_reader *reader = NULL;
	struct pfs_message message = { .text = "" };

	uint32_t live = make_events(events, EVENTS);
	write_events(events, EVENTS, "a program");
	EXPECT(pfs_trace_reader_open(path, &reader, &message) == PFS_OK);
	const struct pfs_trace_info *info = pfs_trace_reader_info(reader);
	EXPECT(strcmp(info->program, "a program") == 0);
	EXPECT(info->events == EVENTS && info->prelude == 10 && info->ns_per_tick == 100);
	EXPECT(info->allocations - info->frees == live && info->threads == 17);
	EXPECT(info->objects == IDS && info->chunks > 3);
	EXPECT(info->ticks == events[EVENTS - 1].time);
	for (uint32_t i = 0; i < EVENTS; i++) {
		EXPECT(pfs_trace_reader_next(reader, &got, &message) == PFS_OK);
		EXPECT(got.time == events[i].time && got.size == events[i].size);
		EXPECT(got.thread == events[i].thread && got.id == events[i].id);
		EXPECT(got.kind == events[i].kind);
		if (failures != 0)
			break;
	}
	EXPECT(pfs_trace_reader_next(reader, &got, &message) == PFS_FULL);
	EXPECT(pfs_trace_reader_next(reader, &got, &message) == PFS_FULL);
	pfs_trace_reader_close(reader);
	free(events);
}

static size_t slurp(uint8_t *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	size_t size = fread(bytes, 1, room, file);

	fclose(file);
	EXPECT(size < room);
	return size;
}

static void spit(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	EXPECT(fwrite(bytes, 1, size, file) == size);
	fclose(file);
}

/* Read it all; PFS_FULL if the file is correct. */
static enum pfs_status read_all(struct pfs_message *message)
{
	struct pfs_trace_reader *reader = NULL;
	struct pfs_trace_event event;
	enum pfs_status status = pfs_trace_reader_open(path, &reader, message);

	while (status == PFS_OK)
		status = pfs_trace_reader_next(reader, &event, message);
	pfs_trace_reader_close(reader);
	return status;
}

/* The file of these bytes must be refused in one line that names a byte, at most `most`. */
static void expect_refused(const uint8_t *bytes, size_t size, const char *word, size_t most,
			   const char *what, size_t where)
{
	struct pfs_message message = { .text = "" };

	spit(bytes, size);
	enum pfs_status status = read_all(&message);
	const char *named = strstr(message.text, "byte ");
	size_t offset = named != NULL ? strtoull(named + 5, NULL, 10) : SIZE_MAX;
	if (status == PFS_BAD_CONFIG && strstr(message.text, word) != NULL && offset <= most &&
	    strchr(message.text, '\n') == NULL)
		return;
	fprintf(stderr, "trace_test: %s at %zu: status %d '%s'\n", what, where, (int)status,
		message.text);
	failures++;
}

static void test_damage(void)
{
	static uint8_t good[65536], bad[65536];
	static const uint8_t flips[] = { 0x01, 0x80, 0xFF };
	struct pfs_trace_event events[40];
	struct pfs_message message;

	make_events(events, 40);
	write_events(events, 40, "small");
	size_t size = slurp(good, sizeof(good));
	EXPECT(read_all(&message) == PFS_FULL);
	for (size_t at = 0; at < size; at++) {
		for (size_t f = 0; f < sizeof(flips); f++) {
			memcpy(bad, good, size);
			bad[at] ^= flips[f];
			/* a changed name length ends the head elsewhere, up to 255 bytes on */
			expect_refused(bad, size, "byte ", size, "flip", at);
		}
		expect_refused(good, at, "byte ", at, "truncated", at);
	}
	memcpy(bad, good, size);
	bad[size] = 0;
	expect_refused(bad, size + 1, "after the last chunk", size, "a byte more", size);
}

/* Two chunks: a flip in the second is reported with its position; exchanged chunks are refused. */
static void test_chunks(void)
{
	static uint8_t good[65536], bad[65536];
	struct pfs_trace_event *events = calloc(9000, sizeof(*events));
	struct pfs_message message;
	char wanted[96];

	make_events(events, 9000);
	write_events(events, 9000, "");
	size_t size = slurp(good, sizeof(good));
	size_t first = PFS_HEAD_FIXED + 4;
	size_t second = first + PFS_CHUNK_HEAD + pfs_get_u32(good + first + PFS_CHUNK_BYTES);
	EXPECT(read_all(&message) == PFS_FULL && writer.info.chunks >= 2);
	memcpy(bad, good, size);
	bad[second + PFS_CHUNK_HEAD + 5] ^= 4;
	snprintf(wanted, sizeof(wanted),
		 "damaged at byte %zu: checksum of chunk 1; record it "
		 "again",
		 second);
	expect_refused(bad, size, wanted, second, "flip in chunk 1", second);
	size_t second_size = PFS_CHUNK_HEAD + pfs_get_u32(good + second + PFS_CHUNK_BYTES);
	memcpy(bad, good, size);
	memcpy(bad + first, good + second, second_size);
	memcpy(bad + first + second_size, good + first, second - first);
	expect_refused(bad, size, "checksum of chunk 0", first, "chunks that changed places", 0);
	free(events);
}

static void seal_head(uint8_t *bytes)
{
	uint32_t size = PFS_HEAD_FIXED + pfs_get_u32(bytes + PFS_HEAD_NAME_BYTES);

	pfs_put_u32(bytes + size, pfs_crc32c(0, bytes, size));
}

/* Files whose checksums are right and whose contents are not. */
static void test_contents(void)
{
	static uint8_t good[65536], bad[65536];
	/* clang-format off */
	static const struct { size_t field; uint32_t value; const char *word; } wrong[] = {
		{PFS_HEAD_VERSION, 9, "version 9"},
		{PFS_HEAD_EVENTS, 41, "contradict"},
		{PFS_HEAD_THREADS, 2, "unknown thread"},
		{PFS_HEAD_THREADS, 1u << 20, "contradict"},
		{PFS_HEAD_OBJECTS, 3, "unknown object"},
		{PFS_HEAD_PRELUDE, 40, "a free in the prelude"},
		{PFS_HEAD_CHUNKS, 0, "after the last chunk"},
		{PFS_HEAD_CHUNKS, 2, "ends inside the head of chunk 1"},
		{PFS_HEAD_TICKS, 1, "not those of the events"},
		{PFS_HEAD_NS_PER_TICK, 0, "contradict"},
	};
	/* clang-format on */
	struct pfs_trace_event events[40];

	make_events(events, 40);
	events[39] = (struct pfs_trace_event){
		.time = events[38].time, .id = 3, .thread = 1, .kind = PFS_TRACE_FREE
	};
	write_events(events, 40, "x");
	size_t size = slurp(good, sizeof(good));
	EXPECT(writer.info.objects == 39 && writer.info.threads > 2);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(bad, good, size);
		pfs_put_u32(bad + wrong[i].field, wrong[i].value);
		seal_head(bad);
		expect_refused(bad, size, wrong[i].word, size, wrong[i].word, wrong[i].field);
	}
	expect_refused(good, 0, "empty", 0, "empty file", 0);
	expect_refused((const uint8_t *)"not a trace at all", 18, "not a trace", 0, "text", 0);
	events[38] = events[39]; /* object 3 is freed twice */
	write_events(events, 40, "x");
	size = slurp(good, sizeof(good));
	expect_refused(good, size, "object 3 is not alive", size, "freed twice", 0);
	events[38] = events[3]; /* object 3 is made twice, and later than it was */
	events[38].time = events[37].time;
	write_events(events, 40, "x");
	size = slurp(good, sizeof(good));
	expect_refused(good, size, "object 3 is alive already", size, "made twice", 0);
}

static struct pfs_trace_info read_info(void)
{
	struct pfs_trace_info info = { .events = 0 };
	struct pfs_trace_reader *reader = NULL;
	struct pfs_message message;

	EXPECT(pfs_trace_reader_open(path, &reader, &message) == PFS_OK);
	if (reader != NULL)
		info = *pfs_trace_reader_info(reader);
	pfs_trace_reader_close(reader);
	return info;
}

/* The trace of a stopped program has all chunks, and perhaps zeros. */
static void test_unfinished(void)
{
	static uint8_t good[65536], bad[400000];
	struct pfs_trace_event *events = calloc(9000, sizeof(*events));
	struct pfs_message message;

	make_events(events, 9000);
	write_events(events, 9000, "");
	size_t size = slurp(good, sizeof(good));
	size_t first = PFS_HEAD_FIXED + 4;
	size_t second = first + PFS_CHUNK_HEAD + pfs_get_u32(good + first + PFS_CHUNK_BYTES);
	uint32_t in_first = pfs_get_u32(good + first + PFS_CHUNK_EVENTS);
	struct pfs_trace_info whole = read_info(), got;
	EXPECT(whole.finished && whole.chunks >= 2 && read_all(&message) == PFS_FULL);
	memcpy(bad, good, size);
	memset(bad + PFS_HEAD_FLAGS, 0, PFS_HEAD_NS_PER_TICK - PFS_HEAD_FLAGS);
	pfs_put_u32(bad + first - 4, pfs_crc32c(0, bad, first - 4));
	size_t ends[] = { size, size + 5000, sizeof(bad) };
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		spit(bad, ends[i]);
		EXPECT(read_all(&message) == PFS_FULL);
		got = read_info();
		EXPECT(!got.finished && got.prelude == 0 && got.bytes == size);
		EXPECT(got.events == 9000 && got.allocations == whole.allocations);
		EXPECT(got.frees == whole.frees && got.ticks == whole.ticks);
		EXPECT(got.threads == whole.threads && got.objects == whole.objects);
		EXPECT(got.chunks == whole.chunks && got.ns_per_tick == 100);
	}
	memset(bad + second, 0, 4); /* stopped while it wrote the second one */
	spit(bad, sizeof(bad));
	EXPECT(read_all(&message) == PFS_FULL);
	got = read_info();
	EXPECT(got.events == in_first && got.chunks == 1 && got.bytes == second);
	memcpy(bad, good, first - 4); /* but a finished one does not end so */
	pfs_put_u32(bad + first - 4, pfs_crc32c(0, bad, first - 4));
	expect_refused(bad, size, "checksum of chunk 1", second, "finished", second);
	memcpy(bad, good, size);
	pfs_put_u32(bad + PFS_HEAD_FLAGS, 0);
	pfs_put_u32(bad + first - 4, pfs_crc32c(0, bad, first - 4));
	expect_refused(bad, size - 1, "inside chunk", size - 1, "unfinished and cut", size - 1);
	bad[second + PFS_CHUNK_HEAD + 5] ^= 4;
	expect_refused(bad, size, "checksum of chunk 1", second, "unfinished and changed", second);
	free(events);
}

/* An unfinished trace is read up to the first damage, or refused in one line. */
static void test_unfinished_damage(void)
{
	static uint8_t good[65536];
	struct pfs_trace_event events[40];
	struct pfs_message message;

	make_events(events, 40);
	write_events(events, 40, "small");
	size_t size = slurp(good, sizeof(good));
	size_t first = PFS_HEAD_FIXED + 5 + 4;
	pfs_put_u32(good + PFS_HEAD_FLAGS, 0);
	seal_head(good);
	for (size_t at = 0; at < size; at++) {
		for (unsigned bit = 0; bit < 8; bit += 7) {
			good[at] ^= (uint8_t)(1u << bit);
			spit(good, size);
			message.text[0] = '\0';
			enum pfs_status status = read_all(&message);
			EXPECT(status == PFS_BAD_CONFIG && strchr(message.text, '\n') == NULL);
			good[at] ^= (uint8_t)(1u << bit);
		}
	}
	memset(good + first, 0, 4);
	spit(good, size);
	EXPECT(read_all(&message) == PFS_FULL && read_info().events == 0);
}

static void test_missing(void)
{
	struct pfs_message message = { .text = "" };

	unlink(path);
	EXPECT(read_all(&message) == PFS_BAD_CONFIG);
	EXPECT(strstr(message.text, "cannot be read") != NULL);
	EXPECT(!pfs_trace_writer_open(&writer, "/nonexistent/folder/file", "x", 1));
	EXPECT(pfs_trace_writer_open(&writer, "/dev/full", "x", 1) == false);
}

int main(int argc, char **argv)
{
	snprintf(path, sizeof(path), "%s", argc > 1 ? argv[1] : "trace_test.pfstrace");
	EXPECT(pfs_crc32c(0, "123456789", 9) == 0xE3069283); /* the value of RFC 3720 */
	EXPECT(pfs_crc32c(pfs_crc32c(0, "1234", 4), "56789", 5) == 0xE3069283);
	test_round_trip();
	test_damage();
	test_chunks();
	test_contents();
	test_unfinished();
	test_unfinished_damage();
	test_missing();
	if (failures != 0)
		fprintf(stderr, "trace_test: %d failures\n", failures);
	unlink(path);
	return failures != 0;
}
