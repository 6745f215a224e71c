/*
 * owner.c - whose frame is it: an allocator's, a standard library's, or the program's own.
 */
#define _GNU_SOURCE
#include "owner.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "function.h"
#include "rules.h"

static bool is_standard_module(const struct pfs_heap *heap, uint32_t module)
{
	static const char *const files[] = { "libc.so*",     "libc-2*.so",   "libc.musl*",
					     "ld-linux*",    "ld-musl*",     "libstdc++*",
					     "libc++*",      "libgcc_s*",    "libm.so*",
					     "libpthread*",  "libpfsm*",     "libjemalloc*",
					     "libtcmalloc*", "libmimalloc*", "libdl.so*" };
	if (module == PFS_HEAP_NONE)
		return false;
	const char *file = pfs_heap_path_end(heap->texts[heap->modules[module].path]);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (fnmatch(files[i], file, 0) == 0)
			return true;
	return false;
}

static uint32_t lines_of(const struct pfs_heap *heap, uint32_t location)
{
	uint32_t count = heap->locations[location].line_count;
	return count != 0 ? count : 1;
}

static bool is_own(const struct pfs_heap *heap, const struct pfs_rules *rules,
		   struct pfs_frame_of frame)
{
	const struct pfs_heap_location *location = &heap->locations[frame.location];
	struct pfs_rule_frame is = pfs_rule_frame(heap, frame);
	if (location->pc == PFS_HEAP_CUT || is_standard_module(heap, location->module) ||
	    pfs_rules_skip(rules, &is))
		return false;
	return is.function == NULL || !pfs_is_standard(is.function);
}

/* From the leaf on. An own frame without a name gives way to one that has a name. */
struct pfs_frame_of pfs_owner_find(const struct pfs_heap *heap, const struct pfs_rules *rules,
				   uint32_t stack, struct pfs_frame_of *after)
{
	const struct pfs_heap_stack *of = &heap->stacks[stack];
	struct pfs_frame_of found = { PFS_HEAP_NONE, 0 }, nameless = found;
	*after = found;
	for (uint32_t i = 0; i < of->depth; i++) {
		struct pfs_frame_of frame = { heap->frames[of->first + i], 0 };
		for (; frame.line < lines_of(heap, frame.location); frame.line++) {
			bool has_name = heap->locations[frame.location].line_count != 0;
			if (!is_own(heap, rules, frame))
				continue;
			if (!has_name && nameless.location == PFS_HEAP_NONE)
				nameless = frame;
			if (has_name && found.location != PFS_HEAP_NONE) {
				*after = frame;
				return found;
			}
			if (has_name)
				found = frame;
		}
	}
	if (found.location == PFS_HEAP_NONE)
		found = nameless;
	if (found.location == PFS_HEAP_NONE && of->depth != 0)
		found.location = heap->frames[of->first];
	return found;
}

const char *pfs_owner_name(const struct pfs_heap *heap, const struct pfs_rules *rules,
			   uint32_t stack)
{
	const struct pfs_heap_stack *of = &heap->stacks[stack];
	for (uint32_t i = 0; i < of->depth; i++) {
		struct pfs_frame_of frame = { heap->frames[of->first + i], 0 };
		for (; frame.line < lines_of(heap, frame.location); frame.line++) {
			struct pfs_rule_frame is = pfs_rule_frame(heap, frame);
			const char *name = pfs_rules_skip(rules, &is) ? NULL
								      : pfs_rules_name(rules, &is);
			if (name != NULL)
				return name;
		}
	}
	return NULL;
}

const char *pfs_frame_text(const struct pfs_heap *heap, struct pfs_frame_of frame, char *text,
			   size_t text_bytes)
{
	if (frame.location == PFS_HEAP_NONE) {
		(void)snprintf(text, text_bytes, "[unknown] no stack");
		return text;
	}
	const struct pfs_heap_location *of = &heap->locations[frame.location];
	if (frame.line >= of->line_count)
		return pfs_heap_frame_name(heap, frame.location, frame.line, text, text_bytes);
	const struct pfs_heap_line *line = &heap->lines[of->first_line + frame.line];
	const char *name = heap->texts[line->function];
	int length = (int)pfs_short_length(name);
	if (line->file == 0)
		(void)snprintf(text, text_bytes, "%.*s", length, name);
	else
		(void)snprintf(text, text_bytes, "%.*s %s:%u", length, name,
			       pfs_heap_path_end(heap->texts[line->file]), line->line);
	return text;
}
