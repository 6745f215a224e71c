/*
 * collapsed.c - one line per stack: its names from the root to the leaf, and bytes. A comparison
 * has two numbers, before and now, as differential tools expect.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "memory/box/reader.h"

static void put_name(const char *name, FILE *out)
{
	for (; *name != '\0'; name++)
		(void)fputc((unsigned char)*name < ' ' ? ' ' : *name == ';' ? ':' : *name, out);
}

static void put_stack(const struct pfs_heap *heap, const struct pfs_heap_stack *stack, FILE *out)
{
	char text[512];
	const char *separator = "";
	if (stack->depth == 0)
		(void)fputs("[unknown]", out);
	for (uint32_t i = stack->depth; i > 0; i--) {
		uint32_t location = heap->frames[stack->first + i - 1];
		uint32_t lines = heap->locations[location].line_count;
		for (uint32_t line = lines != 0 ? lines : 1; line > 0; line--) {
			(void)fputs(separator, out);
			put_name(pfs_heap_frame_name(heap, location, line - 1, text, sizeof(text)),
				 out);
			separator = ";";
		}
	}
}

bool pfs_write_collapsed(const struct pfs_heap *heap, const struct pfs_document_options *options,
			 FILE *out, struct pfs_message *message)
{
	struct of_stack {
		double now, base;
	} *sums = calloc(heap->stack_count + 1, sizeof(*sums));
	double carry = 0, base_carry = 0;
	if (sums == NULL)
		return pfs_refuse(message, "no memory for the profile");
	for (uint32_t i = 0; i < heap->entry_count; i++) {
		const struct pfs_heap_entry *entry = &heap->entries[i];
		sums[entry->stack].now += options->of_total ? entry->now.total_bytes
							    : entry->now.live_bytes;
		sums[entry->stack].base += options->of_total ? entry->base.total_bytes
							     : entry->base.live_bytes;
	}
	for (uint32_t i = 0; i < heap->stack_count; i++) {
		int64_t now = pfs_round(sums[i].now, &carry);
		int64_t base = pfs_round(sums[i].base, &base_carry);
		if (now == 0 && base == 0)
			continue;
		put_stack(heap, &heap->stacks[i], out);
		if (heap->has_base)
			(void)fprintf(out, " %" PRId64, base);
		(void)fprintf(out, " %" PRId64 "\n", now);
	}
	free(sums);
	return true;
}
