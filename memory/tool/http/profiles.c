/*
 * profiles.c - the heap profile for jeprof, go tool pprof and pull-based profilers; names for
 * addresses; a flame graph.
 *
 * The client lacks the program's files, so names are looked up here, in the thread for slow
 * documents.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "memory/box/reader_profile.h"
#include "memory/tool/profile/flame.h"
#include "memory/tool/profile/formats.h"
#include "memory/tool/profile/symbols.h"

#define NAME_BYTES 1024u

/* ---- the profile ---- */

bool pfs_http_has_profile(const struct pfs_http_box *box)
{
	struct pfs_message message;
	struct pfs_reader *reader = pfs_reader_open(box->path, &message);
	bool is_there = reader != NULL && pfs_profile_is_there(reader);
	pfs_reader_close(reader);
	return is_there;
}

static struct pfs_heap *take(const struct pfs_http_box *box, bool with_names, unsigned *status,
			     struct pfs_message *message)
{
	struct pfs_symbols_report report;
	struct pfs_reader *reader = pfs_reader_open(box->path, message);
	struct pfs_heap *heap = reader == NULL ? NULL : pfs_heap_of_box(reader, message);
	pfs_reader_close(reader);
	if (heap == NULL) {
		if (reader != NULL && !pfs_http_has_profile(box))
			*status = MHD_HTTP_NOT_FOUND;
		return NULL;
	}
	pfs_heap_look_up(heap, with_names, NULL, &report);
	if (pfs_heap_is_whole(heap, message))
		return heap;
	pfs_heap_free(heap);
	return NULL;
}

/* ---- the difference over some seconds ---- */

bool pfs_http_has_window(const struct pfs_http_route *route)
{
	return route->make == pfs_http_heap_text || route->make == pfs_http_heap_proto ||
	       route->make == pfs_http_collapsed;
}

struct pfs_heap *pfs_http_window(const struct pfs_http_ask *ask)
{
	struct pfs_http_box box = { .id = "" };
	struct pfs_message message;
	unsigned status;
	if (!pfs_http_find(ask->target, &box, &status, &message))
		return NULL;
	return take(&box, false, &status, &message);
}

/* Text has no numbers below zero: it shows what grew. */
static void compare(struct pfs_heap *heap, const struct pfs_http_ask *ask,
		    const struct pfs_document_options *options)
{
	if (ask->base == NULL)
		return;
	pfs_heap_compare(heap, ask->base);
	if (options->kind == PFS_DOCUMENT_TEXT)
		pfs_heap_keep_growth(heap);
}

static bool put_document(const struct pfs_http_ask *ask, const struct pfs_http_box *box,
			 const struct pfs_document_options *options, FILE *to, unsigned *status,
			 struct pfs_message *message)
{
	struct pfs_heap *heap = take(box, options->with_names, status, message);
	if (heap != NULL)
		compare(heap, ask, options);
	bool fine = heap != NULL && pfs_heap_write(heap, options, to, message);
	pfs_heap_free(heap);
	return fine;
}

/* The format of jeprof, google-pprof and go tool pprof, which then ask for names. */
PFS_HTTP_MAKES(pfs_http_heap_text)
{
	const struct pfs_document_options options = { .kind = PFS_DOCUMENT_TEXT };
	return put_document(ask, box, &options, to, status, message);
}

/* jemalloc's dialect, with a line for each thread. */
PFS_HTTP_MAKES(pfs_http_heap_v2)
{
	const struct pfs_document_options options = { .kind = PFS_DOCUMENT_HEAP_V2 };
	return put_document(ask, box, &options, to, status, message);
}

/* pprof's own format, gzipped, with names and owners. */
PFS_HTTP_MAKES(pfs_http_heap_proto)
{
	const struct pfs_document_options options = { .kind = ask->as_text ? PFS_DOCUMENT_TEXT
									   : PFS_DOCUMENT_PROTO,
						      .with_names = !ask->as_text,
						      .of_total = ask->of_total };
	return put_document(ask, box, &options, to, status, message);
}

PFS_HTTP_MAKES(pfs_http_collapsed)
{
	const struct pfs_document_options options = { .kind = PFS_DOCUMENT_COLLAPSED,
						      .with_names = true,
						      .of_total = ask->of_total };
	return put_document(ask, box, &options, to, status, message);
}

/* ---- names ---- */

/* One line without "--", which joins the names of inlined functions. */
static void put_name(FILE *to, const char *name)
{
	for (; *name != '\0'; name++) {
		(void)fputc((unsigned char)*name < ' ' ? ' ' : *name, to);
		if (name[0] == '-' && name[1] == '-')
			(void)fputc(' ', to);
	}
}

static void put_names(FILE *to, const struct pfs_heap *heap, uint32_t location)
{
	char text[NAME_BYTES];
	uint32_t lines = heap->locations[location].line_count;
	/* The outermost first, as jeprof expects. */
	for (uint32_t i = lines == 0 ? 1 : lines; i-- > 0;) {
		put_name(to, pfs_heap_frame_name(heap, location, i, text, sizeof(text)));
		(void)fputs(i > 0 ? "--" : "", to);
	}
}

static int by_pc(const void *one, const void *other, void *opaque)
{
	const struct pfs_heap *heap = opaque;
	uint64_t a = heap->locations[*(const uint32_t *)one].pc;
	uint64_t b = heap->locations[*(const uint32_t *)other].pc;
	return a < b ? -1 : a > b;
}

/* All locations by address; to be freed. */
static uint32_t *sorted(struct pfs_heap *heap)
{
	uint32_t *order = malloc((heap->location_count + 1u) * sizeof(*order));
	for (uint32_t i = 0; order != NULL && i < heap->location_count; i++)
		order[i] = i;
	if (order != NULL)
		qsort_r(order, heap->location_count, sizeof(*order), by_pc, heap);
	return order;
}

static uint32_t find_at(const struct pfs_heap *heap, const uint32_t *order, uint64_t pc)
{
	uint32_t low = 0, high = heap->location_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (heap->locations[order[middle]].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < heap->location_count && heap->locations[order[low]].pc == pc ? order[low]
										  : PFS_HEAP_NONE;
}

/* Clients ask by an address in the call; by the return address (google-pprof); or, for the
 * innermost call, by one byte less than the document says (go tool pprof). */
static uint32_t find(const struct pfs_heap *heap, const uint32_t *order, uint64_t pc)
{
	uint32_t found = find_at(heap, order, pc);
	if (found == PFS_HEAP_NONE)
		found = find_at(heap, order, pc + 1);
	return found != PFS_HEAP_NONE ? found : find_at(heap, order, pc - 1);
}

/* "0x12+0x34": one line "address name" for each, with the address as it was written. */
static bool answer_all(const struct pfs_http_ask *ask, struct pfs_heap *heap, FILE *to)
{
	uint32_t *order = sorted(heap);
	const char *at = ask->body;
	while (order != NULL && *at != '\0') {
		char *end;
		uint64_t pc = strtoull(at, &end, 16);
		if (*at != '0' || at[1] != 'x' || end <= at + 2) {
			at++; /* between two addresses anything is accepted */
			continue;
		}
		uint32_t location = find(heap, order, pc);
		(void)fprintf(to, "%.*s\t", (int)(end - at < 18 ? end - at : 18), at);
		if (location == PFS_HEAP_NONE)
			(void)fprintf(to, "%.*s", (int)(end - at < 18 ? end - at : 18), at);
		else
			put_names(to, heap, location);
		(void)fputc('\n', to);
		at = end;
	}
	bool fine = order != NULL;
	free(order);
	return fine;
}

/* How many addresses of the profile have a name. 0 tells clients that the program was stripped, so
 * a profile without an address says 1. */
static bool answer_count(const struct pfs_heap *heap, FILE *to)
{
	uint32_t named = 0;
	for (uint32_t i = 0; i < heap->location_count; i++)
		named += heap->locations[i].line_count != 0;
	return fprintf(to, "num_symbols: %u\n", heap->location_count == 0 ? 1 : named) >= 0;
}

PFS_HTTP_MAKES(pfs_http_symbols)
{
	if (ask->body == NULL && !pfs_http_has_profile(box))
		return fputs("num_symbols: 0\n", to) >= 0;
	struct pfs_heap *heap = take(box, true, status, message);
	bool fine = heap != NULL &&
		    (ask->body == NULL ? answer_count(heap, to) : answer_all(ask, heap, to));
	pfs_heap_free(heap);
	return fine;
}

/* The program and its command line; a box does not record where arguments end. */
PFS_HTTP_MAKES(pfs_http_cmdline)
{
	struct pfs_reader *reader = pfs_reader_open(box->path, message);
	if (reader == NULL)
		return false;
	const struct pfs_box_info *info = pfs_reader_info(reader);
	(void)fprintf(to, "%s", info->program[0] != '\0' ? info->program : "?");
	(void)fputc('\0', to);
	(void)fputs(info->command, to);
	pfs_reader_close(reader);
	return true;
}

/* ---- a picture ---- */

PFS_HTTP_MAKES(pfs_http_flame)
{
	const struct pfs_flame_options options = { .as_page = true, .of_total = ask->of_total };
	struct pfs_heap *heap = take(box, true, status, message);
	bool fine = heap != NULL && pfs_flame_write(heap, &options, to, message);
	pfs_heap_free(heap);
	return fine;
}
