/*
 * dump.c - heap profiles as others write them, in text:
 *
 *	heap_v2/R                               jemalloc: stacks, each with a line a thread
 *	heap profile: n: b [n: b] @ TYPE/R      gperftools: a line a stack
 *
 * with MAPPED_LIBRARIES behind, and maybe names in front (--- symbol). Sampled counts are corrected
 * line by line, as jeprof does: they were made for that. A stack's threads are what t* says, in the
 * proportions of their own lines.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "memory/box/reader.h"

static bool take_sign(const char **at, const char *end, char sign)
{
	pfs_dump_skip_spaces(at, end);
	if (*at == end || **at != sign)
		return false;
	++*at;
	return true;
}

/* ---- counts ---- */

static void correct(const struct dump *dump, double *objects, double *bytes)
{
	double ratio = *objects > 0 && dump->interval != 0
			       ? *bytes / *objects / (double)dump->interval
			       : 0;
	double factor = 1;
	if (ratio > 0 && dump->algorithm == 2)
		factor = -1 / expm1(-ratio);
	else if (ratio > 0 && ratio < 1 && dump->algorithm == 1)
		factor = 1 / ratio;
	*objects *= factor;
	*bytes *= factor;
}

/* "n: b [n: b]", corrected. */
static bool take_counts(struct dump *dump, const char **at, const char *end,
			struct pfs_heap_values *values)
{
	uint64_t numbers[4];
	bool fine = pfs_dump_number(at, end, 10, &numbers[0]) && take_sign(at, end, ':') &&
		    pfs_dump_number(at, end, 10, &numbers[1]) && take_sign(at, end, '[') &&
		    pfs_dump_number(at, end, 10, &numbers[2]) && take_sign(at, end, ':') &&
		    pfs_dump_number(at, end, 10, &numbers[3]) && take_sign(at, end, ']');
	if (!fine)
		return pfs_dump_refuse(dump, "no 'objects: bytes [objects: bytes]'");
	*values = (struct pfs_heap_values){ .live_objects = (double)numbers[0],
					    .live_bytes = (double)numbers[1],
					    .total_objects = (double)numbers[2],
					    .total_bytes = (double)numbers[3] };
	correct(dump, &values->live_objects, &values->live_bytes);
	correct(dump, &values->total_objects, &values->total_bytes);
	return true;
}

static bool take_frames(struct dump *dump, const char *at, const char *end, uint32_t *stack)
{
	uint32_t locations[PFS_HEAP_FRAMES_MAX], depth = 0;
	bool is_cut = false;
	uint64_t pc;
	for (pfs_dump_skip_spaces(&at, end); at < end; pfs_dump_skip_spaces(&at, end)) {
		if (!pfs_dump_number(&at, end, 16, &pc) || (at < end && *at != ' ' && *at != '\t'))
			return pfs_dump_refuse(dump, "'%.*s' is no address",
					       (int)(end - at < 40 ? end - at : 40), at);
		/* The first one is where it was, the others are where they return to. */
		pc -= depth != 0 && pc != 0;
		if (depth < PFS_HEAP_FRAMES_MAX)
			locations[depth++] = pfs_heap_location(
				dump->heap, pc, pfs_heap_module_at(dump->heap, pc, UINT64_MAX));
		else
			is_cut = true;
	}
	*stack = pfs_heap_stack(dump->heap, locations, depth, is_cut);
	return true;
}

/* ---- heap_v2 ---- */

struct of_thread {
	uint64_t id;
	struct pfs_heap_values values;
};

struct of_stack {
	uint32_t stack;
	struct pfs_heap_values all;
	struct of_thread *threads;
	uint32_t count, room;
	bool is_there, has_all;
};

static void add(struct pfs_heap_values *to, const struct pfs_heap_values *values, double objects,
		double bytes, double total_objects, double total_bytes)
{
	to->live_objects += values->live_objects * objects;
	to->live_bytes += values->live_bytes * bytes;
	to->total_objects += values->total_objects * total_objects;
	to->total_bytes += values->total_bytes * total_bytes;
}

static double part(double of, double sum)
{
	return sum > 0 ? of / sum : 1;
}

static void end_stack(struct dump *dump, struct of_stack *of)
{
	struct pfs_heap_values sum = { 0 };
	struct pfs_heap_entry like = { .stack = of->stack };
	for (uint32_t i = 0; i < of->count; i++)
		add(&sum, &of->threads[i].values, 1, 1, 1, 1);
	if (!of->has_all)
		of->all = sum;
	if (of->is_there && of->count == 0)
		add(&pfs_heap_entry(dump->heap, &like)->now, &of->all, 1, 1, 1, 1);
	for (uint32_t i = 0; of->is_there && i < of->count; i++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "t%" PRIu64, of->threads[i].id);
		like.thread_id = of->threads[i].id;
		like.thread = pfs_heap_text(dump->heap, name);
		add(&pfs_heap_entry(dump->heap, &like)->now, &of->threads[i].values,
		    part(of->all.live_objects, sum.live_objects),
		    part(of->all.live_bytes, sum.live_bytes),
		    part(of->all.total_objects, sum.total_objects),
		    part(of->all.total_bytes, sum.total_bytes));
	}
	of->count = 0;
	of->is_there = of->has_all = false;
}

/* "t*: counts" or "t7: counts" */
static bool take_thread(struct dump *dump, struct of_stack *of)
{
	const char *at = dump->line, *end = dump->line_end;
	struct of_thread thread = { 0 };
	pfs_dump_skip_spaces(&at, end);
	bool is_all = end - at > 1 && at[0] == 't' && at[1] == '*';
	at += is_all ? 2 : at < end && *at == 't';
	if (!is_all &&
	    (at == dump->line || at[-1] != 't' || !pfs_dump_number(&at, end, 10, &thread.id)))
		return pfs_dump_refuse(dump, "neither a stack nor a thread's counts");
	if (!take_sign(&at, end, ':'))
		return pfs_dump_refuse(dump, "a thread's number is not followed by ':'");
	if (!take_counts(dump, &at, end, &thread.values))
		return false;
	if (is_all) {
		of->all = thread.values;
		of->has_all = true;
		return true;
	}
	if (of->count == of->room) {
		uint32_t room = of->room == 0 ? 64 : of->room * 2;
		struct of_thread *more = realloc(of->threads, room * sizeof(*more));
		if (more == NULL)
			return pfs_dump_refuse(dump, "no memory for its threads");
		of->threads = more;
		of->room = room;
	}
	of->threads[of->count++] = thread;
	return true;
}

static bool take_heap_v2(struct dump *dump)
{
	struct of_stack of = { 0 };
	bool fine = true;
	while (fine && pfs_dump_next(dump)) {
		if (pfs_dump_begins(dump, "MAPPED_LIBRARIES:") ||
		    pfs_dump_begins(dump, "--- Memory map:"))
			break;
		if (dump->line == dump->line_end)
			continue;
		if (pfs_dump_begins(dump, "@")) {
			end_stack(dump, &of);
			of.is_there = true;
			fine = take_frames(dump, dump->line + 1, dump->line_end, &of.stack);
		} else {
			fine = take_thread(dump, &of);
		}
	}
	end_stack(dump, &of);
	free(of.threads);
	return fine;
}

/* ---- gperftools' ---- */

static bool take_lines(struct dump *dump)
{
	while (pfs_dump_next(dump)) {
		const char *at = dump->line, *end = dump->line_end;
		struct pfs_heap_entry like = { 0 };
		struct pfs_heap_values values;
		if (pfs_dump_begins(dump, "MAPPED_LIBRARIES:") ||
		    pfs_dump_begins(dump, "--- Memory map:"))
			return true;
		pfs_dump_skip_spaces(&at, end);
		if (at == end)
			continue;
		if (!take_counts(dump, &at, end, &values))
			return false;
		if (!take_sign(&at, end, '@'))
			return pfs_dump_refuse(dump, "counts without '@' and a stack");
		if (!take_frames(dump, at, end, &like.stack))
			return false;
		add(&pfs_heap_entry(dump->heap, &like)->now, &values, 1, 1, 1, 1);
	}
	return true;
}

/* "heap profile: n: b [n: b] @ TYPE/R" */
static bool take_head_of_lines(struct dump *dump)
{
	const char *at = dump->line + strlen("heap profile:"), *end = dump->line_end;
	struct pfs_heap_values sum;
	char type[64];
	if (!take_counts(dump, &at, end, &sum))
		return false;
	if (!take_sign(&at, end, '@'))
		return true; /* of no type: as it is */
	pfs_dump_skip_spaces(&at, end);
	size_t length = 0;
	for (; at < end && *at != '/'; at++)
		if (length < sizeof(type) - 1)
			type[length++] = *at;
	type[length] = '\0';
	if (at < end && *at == '/' && (at++, !pfs_dump_number(&at, end, 10, &dump->interval)))
		return pfs_dump_refuse(dump, "the sampling interval is not a number");
	if (strcmp(type, "heapprofile") == 0 || strstr(type, "heap") == NULL)
		dump->algorithm = 0;
	else if (strstr(type, "_v2") != NULL)
		dump->algorithm = 2;
	else
		dump->algorithm = 1, dump->interval /= 2;
	return true;
}

/* ---- all of it ---- */

static bool take_head(struct dump *dump)
{
	const char *at = dump->line + strlen("heap_v2/");
	if (pfs_dump_begins(dump, "heap profile:"))
		return take_head_of_lines(dump) && take_lines(dump);
	if (!pfs_dump_begins(dump, "heap_v2/"))
		return pfs_dump_refuse(dump, "it begins with neither heap_v2/ nor 'heap profile:': "
					     "give a heap profile in text");
	if (!pfs_dump_number(&at, dump->line_end, 10, &dump->interval) || at != dump->line_end)
		return pfs_dump_refuse(dump, "the sampling interval is not a number");
	dump->algorithm = 2;
	return take_heap_v2(dump);
}

static bool take_all(struct dump *dump)
{
	struct pfs_dump_names names = { 0 };
	bool fine = pfs_dump_next(dump) || pfs_dump_refuse(dump, "it is empty");
	/* The files first, for stacks name them. */
	fine = fine && pfs_dump_modules(dump);
	if (fine && pfs_dump_begins(dump, "--- symbol")) {
		bool ended = false;
		while (fine && !ended && pfs_dump_next(dump)) {
			ended = pfs_dump_begins(dump, "---");
			fine = ended || pfs_dump_name(dump, &names);
		}
		if (fine && (!ended || !pfs_dump_next(dump)))
			fine = pfs_dump_refuse(dump,
					       "no profile follows the symbols: it is truncated");
		if (fine && pfs_dump_begins(dump, "---") && !pfs_dump_next(dump))
			fine = pfs_dump_refuse(dump, "no profile follows '---': it is truncated");
	}
	fine = fine && take_head(dump);
	dump->heap->interval = dump->interval;
	if (fine)
		pfs_dump_names_attach(dump, &names);
	free(names.names);
	return fine && pfs_heap_is_whole(dump->heap, dump->message);
}

struct pfs_heap *pfs_heap_of_dump(const char *text, size_t bytes, const char *path,
				  struct pfs_message *message)
{
	struct dump dump = { .path = path,
			     .at = text,
			     .begin = text,
			     .end = text + bytes,
			     .message = message,
			     .heap = pfs_heap_new() };
	if (dump.heap == NULL) {
		(void)pfs_refuse(message, "no memory to read '%.150s'", path);
		return NULL;
	}
	dump.heap->is_dump = true;
	(void)snprintf(dump.heap->program, sizeof(dump.heap->program), "%s",
		       pfs_heap_path_end(path));
	bool fine = true;
	if (memchr(text, '\0', bytes) != NULL)
		fine = pfs_dump_refuse(&dump, "it is binary: give a heap profile in text");
	else if (bytes != 0 && text[bytes - 1] != '\n')
		fine = pfs_dump_refuse(&dump, "its last line has no newline: it is truncated");
	if (!fine || !take_all(&dump)) {
		pfs_heap_free(dump.heap);
		return NULL;
	}
	return dump.heap;
}
