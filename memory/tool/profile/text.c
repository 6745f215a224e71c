/*
 * text.c - heap profiles in text. The numbers are estimates already, so gperftools' dialect says
 * "heapprofile", which nobody corrects; heap_v2 has no such word, and says that every byte was
 * sampled: an interval of 1, whose correction is none but for blocks of some bytes, and these are
 * written so that it is right.
 *
 * The first address of a stack is taken as it is by jeprof, the others are callers; go tool pprof
 * takes one from all: it is the last byte of a call of two bytes or more, so both find it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "memory/box/reader.h"

const char *const pfs_document_names[PFS_DOCUMENTS] = {
	[PFS_DOCUMENT_TEXT] = "text",
	[PFS_DOCUMENT_HEAP_V2] = "heap_v2",
	[PFS_DOCUMENT_PROTO] = "proto",
	[PFS_DOCUMENT_COLLAPSED] = "collapsed",
};

#define NO_ADDRESS UINT64_C(1) /* of samples without a stack */

static int by_stack_and_thread(const void *one, const void *other)
{
	const struct pfs_heap_entry *a = *(const struct pfs_heap_entry *const *)one;
	const struct pfs_heap_entry *b = *(const struct pfs_heap_entry *const *)other;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->thread_id < b->thread_id ? -1 : a->thread_id > b->thread_id;
}

static int by_thread(const void *one, const void *other)
{
	const struct pfs_heap_entry *a = *(const struct pfs_heap_entry *const *)one;
	const struct pfs_heap_entry *b = *(const struct pfs_heap_entry *const *)other;
	return a->thread_id < b->thread_id ? -1 : a->thread_id > b->thread_id;
}

static void add(struct pfs_heap_values *to, const struct pfs_heap_values *from)
{
	to->live_objects += from->live_objects;
	to->live_bytes += from->live_bytes;
	to->total_objects += from->total_objects;
	to->total_bytes += from->total_bytes;
}

static void add_whole(struct pfs_whole_values *to, const struct pfs_whole_values *from)
{
	to->live_objects += from->live_objects;
	to->live_bytes += from->live_bytes;
	to->total_objects += from->total_objects;
	to->total_bytes += from->total_bytes;
}

/* ---- the rest of a document ---- */

static void put_stack(const struct pfs_heap *heap, uint32_t index, FILE *out)
{
	const struct pfs_heap_stack *stack = &heap->stacks[index];
	(void)fputc('@', out);
	for (uint32_t i = 0; i < stack->depth; i++)
		(void)fprintf(out, " 0x%" PRIx64,
			      heap->locations[heap->frames[stack->first + i]].pc + (i != 0));
	if (stack->depth == 0)
		(void)fprintf(out, " 0x%" PRIx64, NO_ADDRESS);
	(void)fputc('\n', out);
}

/* The program first, because readers take the first for it; unmapped ones last, because readers
 * take the first that matches. */
static void put_modules(const struct pfs_heap *heap, FILE *out)
{
	(void)fputs("\nMAPPED_LIBRARIES:\n", out);
	for (int rank = 0; rank < 3; rank++)
		for (uint32_t i = 0; i < heap->module_count; i++) {
			const struct pfs_heap_module *module = &heap->modules[i];
			int of = module->gone_ns != 0 ? 2 : module->path != heap->binary;
			if (of == rank && strchr("/[", heap->texts[module->path][0]) != NULL)
				(void)fprintf(out,
					      "%012" PRIx64 "-%012" PRIx64 " r-xp %08" PRIx64
					      " 00:00 0 %s\n",
					      module->begin, module->end, module->file_offset,
					      heap->texts[module->path]);
		}
}

/* One line without "--", which joins the names of inlined functions. */
static void put_name(const char *name, FILE *out)
{
	for (; *name != '\0'; name++) {
		(void)fputc((unsigned char)*name < ' ' ? ' ' : *name, out);
		if (name[0] == '-' && name[1] == '-')
			(void)fputc(' ', out);
	}
}

static void put_names_of(const struct pfs_heap *heap, uint32_t location, uint64_t address,
			 FILE *out)
{
	const struct pfs_heap_location *of = &heap->locations[location];
	char text[512];
	uint32_t count = of->line_count != 0 ? of->line_count : 1;
	(void)fprintf(out, "0x%016" PRIx64 " ", address);
	for (uint32_t i = count; i > 0; i--) {
		put_name(pfs_heap_frame_name(heap, location, i - 1, text, sizeof(text)), out);
		(void)fputs(i > 1 ? "--" : "\n", out);
	}
}

/* By the call, as jeprof asks, and by where it returns to, as google-pprof does. */
static void put_names(const struct pfs_heap *heap, FILE *out)
{
	const char *binary = heap->texts[heap->binary];
	(void)fprintf(out, "--- symbol\nbinary=%s\n", binary[0] != '\0' ? binary : "unknown");
	(void)fprintf(out, "0x%016" PRIx64 " [unknown]\n", NO_ADDRESS);
	for (uint32_t i = 0; i < heap->location_count; i++) {
		put_names_of(heap, i, heap->locations[i].pc, out);
		put_names_of(heap, i, heap->locations[i].pc + 1, out);
	}
	(void)fputs("---\n", out);
}

/* ---- gperftools' dialect ---- */

static void put_lines(const struct pfs_heap *heap, const struct pfs_heap_entry *const *entries,
		      FILE *out)
{
	struct pfs_heap_values sum = pfs_heap_sum(heap, false);
	struct pfs_carry carry = { 0 };
	struct pfs_whole_values whole = pfs_round_all(&sum, &carry);
	(void)fprintf(out,
		      "heap profile: %" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64
		      "] @ heapprofile\n",
		      whole.live_objects, whole.live_bytes, whole.total_objects, whole.total_bytes);
	memset(&carry, 0, sizeof(carry));
	for (uint32_t i = 0; i < heap->entry_count;) {
		uint32_t stack = entries[i]->stack;
		memset(&sum, 0, sizeof(sum));
		for (; i < heap->entry_count && entries[i]->stack == stack; i++)
			add(&sum, &entries[i]->now);
		whole = pfs_round_all(&sum, &carry);
		(void)fprintf(out, "%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] ",
			      whole.live_objects, whole.live_bytes, whole.total_objects,
			      whole.total_bytes);
		put_stack(heap, stack, out);
	}
}

/* ---- heap_v2 ---- */

/* Numbers from which jeprof computes the wanted ones. */
static void uncorrect(double *objects, double *bytes)
{
	double factor = *objects > 0 && *bytes > 0 ? -expm1(-*bytes / *objects) : 1;
	*objects *= factor;
	*bytes *= factor;
}

static void put_counts(const char *indent, const char *thread, const struct pfs_whole_values *whole,
		       FILE *out)
{
	(void)fprintf(out, "%st%s: %" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "]\n", indent,
		      thread, whole->live_objects, whole->live_bytes, whole->total_objects,
		      whole->total_bytes);
}

/* Entries from..to are of one thread: what they have. */
static struct pfs_whole_values thread_values(const struct pfs_heap_entry *const *entries,
					     uint32_t from, uint32_t to, struct pfs_carry *carry)
{
	struct pfs_heap_values sum = { 0 };
	for (uint32_t i = from; i < to; i++)
		add(&sum, &entries[i]->now);
	uncorrect(&sum.live_objects, &sum.live_bytes);
	uncorrect(&sum.total_objects, &sum.total_bytes);
	return pfs_round_all(&sum, carry);
}

static uint32_t end_of_thread(const struct pfs_heap *heap,
			      const struct pfs_heap_entry *const *entries, uint32_t from,
			      bool of_stack)
{
	uint32_t to = from;
	while (to < heap->entry_count && entries[to]->thread_id == entries[from]->thread_id &&
	       (!of_stack || entries[to]->stack == entries[from]->stack))
		to++;
	return to;
}

static void put_threads(const struct pfs_heap *heap, const struct pfs_heap_entry **entries,
			FILE *out)
{
	struct pfs_whole_values all = { 0 }, one;
	struct pfs_carry carry = { 0 }, again = { 0 };
	char name[32];
	qsort(entries, heap->entry_count, sizeof(*entries), by_thread);
	for (uint32_t i = 0, to; i < heap->entry_count; i = to) {
		to = end_of_thread(heap, entries, i, false);
		one = thread_values(entries, i, to, &carry);
		add_whole(&all, &one);
	}
	put_counts("  ", "*", &all, out);
	for (uint32_t i = 0, to; i < heap->entry_count; i = to) {
		to = end_of_thread(heap, entries, i, false);
		one = thread_values(entries, i, to, &again);
		(void)snprintf(name, sizeof(name), "%" PRIu64, entries[i]->thread_id);
		put_counts("  ", name, &one, out);
	}
}

static void put_heap_v2(const struct pfs_heap *heap, const struct pfs_heap_entry **entries,
			FILE *out)
{
	struct pfs_carry carry = { 0 };
	char name[32];
	(void)fputs("heap_v2/1\n", out);
	put_threads(heap, entries, out);
	qsort(entries, heap->entry_count, sizeof(*entries), by_stack_and_thread);
	for (uint32_t i = 0, end = 0; i < heap->entry_count; i = end) {
		struct pfs_whole_values all = { 0 }, one;
		struct pfs_carry again = carry;
		for (; end < heap->entry_count && entries[end]->stack == entries[i]->stack;) {
			uint32_t to = end_of_thread(heap, entries, end, true);
			one = thread_values(entries, end, to, &carry);
			add_whole(&all, &one);
			end = to;
		}
		put_stack(heap, entries[i]->stack, out);
		put_counts("  ", "*", &all, out);
		for (uint32_t j = i, to; j < end; j = to) {
			to = end_of_thread(heap, entries, j, true);
			one = thread_values(entries, j, to, &again);
			(void)snprintf(name, sizeof(name), "%" PRIu64, entries[j]->thread_id);
			put_counts("  ", name, &one, out);
		}
	}
}

/* ---- all of it ---- */

bool pfs_write_text(const struct pfs_heap *heap, const struct pfs_document_options *options,
		    FILE *out, struct pfs_message *message)
{
	const struct pfs_heap_entry **entries = malloc((heap->entry_count + 1) * sizeof(*entries));
	if (entries == NULL)
		return pfs_refuse(message, "no memory for the profile");
	for (uint32_t i = 0; i < heap->entry_count; i++)
		entries[i] = &heap->entries[i];
	qsort(entries, heap->entry_count, sizeof(*entries), by_stack_and_thread);
	if (options->with_names)
		put_names(heap, out);
	if (options->kind == PFS_DOCUMENT_TEXT) {
		put_lines(heap, entries, out);
	} else {
		if (options->with_names)
			(void)fputs("--- heap\n", out);
		put_heap_v2(heap, entries, out);
	}
	put_modules(heap, out);
	free(entries);
	return true;
}

bool pfs_heap_write(const struct pfs_heap *heap, const struct pfs_document_options *options,
		    FILE *out, struct pfs_message *message)
{
	bool is_text = options->kind == PFS_DOCUMENT_TEXT || options->kind == PFS_DOCUMENT_HEAP_V2;
	if (is_text && heap->has_base)
		return pfs_refuse(message,
				  "%s cannot show what shrank: choose proto or collapsed, or give "
				  "the base to the tool that reads it",
				  pfs_document_names[options->kind]);
	bool fine = is_text ? pfs_write_text(heap, options, out, message)
		    : options->kind == PFS_DOCUMENT_PROTO
			    ? pfs_write_proto(heap, options, out, message)
			    : pfs_write_collapsed(heap, options, out, message);
	if (fine && (fflush(out) != 0 || ferror(out) != 0))
		return pfs_refuse(message, "the profile cannot be written: check the free space");
	return fine;
}
