/*
 * proto.c - profile.proto, as pprof reads it: the only format that can name owners of blocks. The
 * few rules of protocol buffers that it needs are here; zlib compresses.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats.h"
#include "memory/box/reader.h"

struct bytes {
	unsigned char *data;
	size_t length, room;
	bool failed;
};

struct writing {
	const struct pfs_heap *heap;
	const struct pfs_document_options *options;
	struct bytes all, part, inner; /* part: of a message in the profile; inner: in that one */
	struct bytes strings;          /* of the table, behind the heap's texts */
	uint32_t string_count;
	uint32_t *functions; /* of each line: its id */
};

/* ---- protocol buffers ---- */

static void put_bytes(struct bytes *to, const void *data, size_t length)
{
	if (to->room - to->length < length) {
		size_t room = (to->room + length + 256) * 2;
		unsigned char *more = realloc(to->data, room);
		if (more == NULL) {
			to->failed = true;
			return;
		}
		to->data = more;
		to->room = room;
	}
	if (length != 0)
		memcpy(to->data + to->length, data, length);
	to->length += length;
}

static void put_varint(struct bytes *to, uint64_t value)
{
	unsigned char coded[10];
	size_t length = 0;
	for (; value >= 0x80; value >>= 7)
		coded[length++] = (unsigned char)(value | 0x80);
	coded[length++] = (unsigned char)value;
	put_bytes(to, coded, length);
}

/* An absent field is 0. */
static void put_number(struct bytes *to, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_varint(to, field << 3);
	put_varint(to, value);
}

static void put_block(struct bytes *to, unsigned field, const void *data, size_t length)
{
	put_varint(to, field << 3 | 2);
	put_varint(to, length);
	put_bytes(to, data, length);
}

/* A message that is whole becomes a field of another one. */
static void put_message(struct bytes *to, unsigned field, struct bytes *message)
{
	put_block(to, field, message->data, message->length);
	to->failed |= message->failed;
	message->length = 0;
}

/* ---- strings ---- */

/* The heap's texts have their own numbers; what else is needed stands behind them. */
static uint64_t string_of(struct writing *writing, const char *text)
{
	put_block(&writing->strings, 6, text, strlen(text));
	return writing->heap->text_count + (uint64_t)writing->string_count++;
}

/* ---- parts of a profile ---- */

static const char *const types[][2] = { { "alloc_objects", "count" },
					{ "alloc_space", "bytes" },
					{ "inuse_objects", "count" },
					{ "inuse_space", "bytes" } };

static void put_types(struct writing *writing)
{
	uint64_t names[4];
	for (int i = 0; i < 4; i++) {
		names[i] = string_of(writing, types[i][0]);
		put_number(&writing->part, 1, names[i]);
		put_number(&writing->part, 2, string_of(writing, types[i][1]));
		put_message(&writing->all, 1, &writing->part);
	}
	put_number(&writing->part, 1, string_of(writing, "space"));
	put_number(&writing->part, 2, string_of(writing, "bytes"));
	put_message(&writing->all, 11, &writing->part);
	put_number(&writing->all, 12, writing->heap->interval);
	put_number(&writing->all, 9, writing->heap->taken_ns);
	put_number(&writing->all, 13, string_of(writing, writing->heap->program));
	put_number(&writing->all, 14, names[writing->options->of_total ? 1 : 3]);
}

/* Its functions are known: readers need not look for its file. */
static bool has_names(const struct writing *writing, uint32_t module)
{
	const struct pfs_heap *heap = writing->heap;
	for (uint32_t i = 0; writing->options->with_names && i < heap->location_count; i++)
		if (heap->locations[i].module == module && heap->locations[i].line_count != 0)
			return true;
	return false;
}

static void put_module(struct writing *writing, uint32_t index)
{
	const struct pfs_heap_module *module = &writing->heap->modules[index];
	struct bytes *part = &writing->part;
	char id[2 * sizeof(module->build_id) + 1] = "";
	for (uint32_t j = 0; j < module->build_id_bytes; j++)
		(void)snprintf(id + j * 2, 3, "%02x", module->build_id[j]);
	put_number(part, 1, index + 1);
	put_number(part, 2, module->begin);
	put_number(part, 3, module->end);
	put_number(part, 4, module->file_offset);
	put_number(part, 5, module->path);
	if (id[0] != '\0')
		put_number(part, 6, string_of(writing, id));
	bool named = has_names(writing, index);
	for (unsigned field = 7; field <= 10; field++)
		put_number(part, field, named);
	put_message(&writing->all, 3, part);
}

/* The first one is taken for the program. */
static void put_modules(struct writing *writing)
{
	const struct pfs_heap *heap = writing->heap;
	for (int others = 0; others < 2; others++)
		for (uint32_t i = 0; i < heap->module_count; i++)
			if ((heap->modules[i].path != heap->binary) == others)
				put_module(writing, i);
}

static void put_locations(struct writing *writing)
{
	const struct pfs_heap *heap = writing->heap;
	for (uint32_t i = 0; i < heap->location_count; i++) {
		const struct pfs_heap_location *location = &heap->locations[i];
		put_number(&writing->part, 1, i + 1);
		if (location->module != PFS_HEAP_NONE)
			put_number(&writing->part, 2, location->module + 1);
		put_number(&writing->part, 3, location->pc);
		for (uint32_t j = 0; writing->options->with_names && j < location->line_count;
		     j++) {
			uint32_t line = location->first_line + j;
			put_number(&writing->inner, 1, writing->functions[line]);
			put_number(&writing->inner, 2, heap->lines[line].line);
			put_message(&writing->part, 4, &writing->inner);
		}
		put_message(&writing->all, 4, &writing->part);
	}
}

static int by_function(const void *one, const void *other, void *opaque)
{
	const struct pfs_heap_line *lines = opaque;
	const struct pfs_heap_line *a = &lines[*(const uint32_t *)one];
	const struct pfs_heap_line *b = &lines[*(const uint32_t *)other];
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->file < b->file ? -1 : a->file > b->file;
}

/* Lines of one function in one file have one id. */
static bool put_functions(struct writing *writing)
{
	const struct pfs_heap *heap = writing->heap;
	uint32_t *order = malloc((heap->line_count + 1) * sizeof(*order)), id = 0;
	writing->functions = malloc((heap->line_count + 1) * sizeof(*writing->functions));
	if (order == NULL || writing->functions == NULL) {
		free(order);
		return false;
	}
	for (uint32_t i = 0; i < heap->line_count; i++)
		order[i] = i;
	if (heap->line_count != 0)
		qsort_r(order, heap->line_count, sizeof(*order), by_function, heap->lines);
	for (uint32_t i = 0; i < heap->line_count; i++) {
		const struct pfs_heap_line *line = &heap->lines[order[i]];
		if (i == 0 || by_function(&order[i - 1], &order[i], heap->lines) != 0) {
			put_number(&writing->part, 1, ++id);
			put_number(&writing->part, 2, line->function);
			put_number(&writing->part, 3, line->function);
			put_number(&writing->part, 4, line->file);
			put_message(&writing->all, 5, &writing->part);
		}
		writing->functions[order[i]] = id;
	}
	free(order);
	return true;
}

/* ---- samples ---- */

enum {
	KEY_THREAD,
	KEY_THREAD_ID,
	KEY_USER,
	KEY_HOST,
	KEY_ACCOUNT,
	KEY_INSTRUMENT,
	KEY_BYTES,
	KEYS
};
static const char *const key_names[KEYS] = { "thread",  "thread_id",  "user", "host",
					     "account", "instrument", "bytes" };

static void put_label(struct writing *writing, uint64_t key, uint64_t text, uint64_t number)
{
	if (text == 0 && number == 0)
		return;
	put_number(&writing->inner, 1, key);
	put_number(&writing->inner, 2, text);
	put_number(&writing->inner, 3, number);
	put_message(&writing->part, 3, &writing->inner);
}

static void put_labels(struct writing *writing, const struct pfs_heap_entry *entry,
		       const uint64_t *keys)
{
	char *const *texts = writing->heap->texts;
	char account[400] = "";
	put_label(writing, keys[KEY_THREAD], entry->thread, 0);
	put_label(writing, keys[KEY_THREAD_ID], 0, entry->thread_id);
	put_label(writing, keys[KEY_USER], entry->user, 0);
	put_label(writing, keys[KEY_HOST], entry->host, 0);
	(void)snprintf(account, sizeof(account), "%.80s@%.260s", texts[entry->user],
		       texts[entry->host]);
	if (entry->user != 0 || entry->host != 0)
		put_label(writing, keys[KEY_ACCOUNT], string_of(writing, account), 0);
	put_label(writing, keys[KEY_INSTRUMENT], entry->instrument, 0);
	put_label(writing, keys[KEY_BYTES], 0, entry->block_bytes);
}

/* What came since; of one moment, what is there. */
static struct pfs_heap_values since(const struct pfs_heap_entry *entry)
{
	struct pfs_heap_values by = {
		.live_objects = entry->now.live_objects - entry->base.live_objects,
		.live_bytes = entry->now.live_bytes - entry->base.live_bytes,
		.total_objects = entry->now.total_objects - entry->base.total_objects,
		.total_bytes = entry->now.total_bytes - entry->base.total_bytes
	};
	if (entry->base.live_bytes != 0 && fabs(by.live_bytes) < PFS_HEAP_NOISE)
		by.live_objects = by.live_bytes = 0;
	if (entry->base.total_bytes != 0 && fabs(by.total_bytes) < PFS_HEAP_NOISE)
		by.total_objects = by.total_bytes = 0;
	return by;
}

static void put_sample(struct writing *writing, const struct pfs_heap_entry *entry,
		       const struct pfs_whole_values *by, const uint64_t *keys)
{
	const struct pfs_heap *heap = writing->heap;
	const struct pfs_heap_stack *stack = &heap->stacks[entry->stack];
	const int64_t values[4] = { by->total_objects, by->total_bytes, by->live_objects,
				    by->live_bytes };
	if (values[0] == 0 && values[1] == 0 && values[2] == 0 && values[3] == 0)
		return;
	for (uint32_t i = 0; i < stack->depth; i++)
		put_varint(&writing->inner, heap->frames[stack->first + i] + 1);
	put_message(&writing->part, 1, &writing->inner);
	for (int i = 0; i < 4; i++)
		put_varint(&writing->inner, (uint64_t)values[i]);
	put_message(&writing->part, 2, &writing->inner);
	put_labels(writing, entry, keys);
	put_message(&writing->all, 2, &writing->part);
}

static void put_samples(struct writing *writing)
{
	struct pfs_carry carry = { 0 };
	uint64_t keys[KEYS];
	for (int i = 0; i < KEYS; i++)
		keys[i] = string_of(writing, key_names[i]);
	for (uint32_t i = 0; i < writing->heap->entry_count; i++) {
		const struct pfs_heap_entry *entry = &writing->heap->entries[i];
		struct pfs_heap_values by = since(entry);
		struct pfs_whole_values whole = pfs_round_all(&by, &carry);
		put_sample(writing, entry, &whole, keys);
	}
}

/* ---- the file ---- */

static bool put_gzip(const struct bytes *bytes, FILE *out)
{
	unsigned char packed[65536];
	z_stream stream = { .next_in = bytes->data };
	int code = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
				Z_DEFAULT_STRATEGY);
	size_t left = bytes->length;
	while (code == Z_OK) {
		if (stream.avail_in == 0) {
			stream.avail_in = left < 1u << 30 ? (uInt)left : 1u << 30;
			left -= stream.avail_in;
		}
		stream.next_out = packed;
		stream.avail_out = sizeof(packed);
		code = deflate(&stream, left == 0 ? Z_FINISH : Z_NO_FLUSH);
		(void)fwrite(packed, 1, sizeof(packed) - stream.avail_out, out);
	}
	(void)deflateEnd(&stream);
	return code == Z_STREAM_END;
}

bool pfs_write_proto(const struct pfs_heap *heap, const struct pfs_document_options *options,
		     FILE *out, struct pfs_message *message)
{
	struct writing writing = { .heap = heap, .options = options };
	for (uint32_t i = 0; i < heap->text_count; i++)
		put_block(&writing.all, 6, heap->texts[i], strlen(heap->texts[i]));
	put_types(&writing);
	bool fine = put_functions(&writing);
	if (fine) {
		put_samples(&writing);
		put_modules(&writing);
		put_locations(&writing);
	}
	put_bytes(&writing.all, writing.strings.data, writing.strings.length);
	fine = fine && !writing.all.failed && !writing.strings.failed &&
	       put_gzip(&writing.all, out);
	free(writing.all.data);
	free(writing.part.data);
	free(writing.inner.data);
	free(writing.strings.data);
	free(writing.functions);
	return fine || pfs_refuse(message, "no memory for the profile");
}
