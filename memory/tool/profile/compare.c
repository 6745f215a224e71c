/*
 * compare.c - copies entries between profiles: to compare two moments, and to remove the
 * allocator's own frames from dumps of other allocators.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "heap.h"
#include "symbols.h"

struct import {
	struct pfs_heap *to;
	const struct pfs_heap *from;
	uint32_t *modules;   /* of from: in to */
	uint32_t *locations; /* the same; PFS_HEAP_NONE: not yet */
};

/* ---- files and addresses ---- */

static bool is_same_module(const struct import *import, const struct pfs_heap_module *one,
			   const struct pfs_heap_module *other)
{
	const struct pfs_heap *to = import->to, *from = import->from;
	if (strcmp(to->texts[one->path], from->texts[other->path]) != 0 ||
	    one->file_offset != other->file_offset ||
	    one->end - one->begin != other->end - other->begin)
		return false;
	return one->build_id_bytes == 0 || other->build_id_bytes == 0 ||
	       (one->build_id_bytes == other->build_id_bytes &&
		memcmp(one->build_id, other->build_id, one->build_id_bytes) == 0);
}

static uint32_t module_of(struct import *import, uint32_t index)
{
	if (index == PFS_HEAP_NONE || import->modules[index] != PFS_HEAP_NONE)
		return index == PFS_HEAP_NONE ? index : import->modules[index];
	struct pfs_heap_module module = import->from->modules[index];
	uint32_t found = PFS_HEAP_NONE;
	for (uint32_t i = 0; i < import->to->module_count; i++)
		if (is_same_module(import, &import->to->modules[i], &module) &&
		    (found == PFS_HEAP_NONE || import->to->modules[i].begin == module.begin))
			found = i;
	if (found == PFS_HEAP_NONE) {
		module.path = pfs_heap_text(import->to, import->from->texts[module.path]);
		found = pfs_heap_add_module(import->to, &module);
	}
	return import->modules[index] = found;
}

static void take_lines(struct import *import, uint32_t to, const struct pfs_heap_location *from)
{
	const struct pfs_heap *of = import->from;
	if (import->to->locations[to].line_count != 0)
		return;
	for (uint32_t i = 0; i < from->line_count; i++) {
		const struct pfs_heap_line *line = &of->lines[from->first_line + i];
		pfs_heap_add_line(import->to, to, of->texts[line->function],
				  line->file != 0 ? of->texts[line->file] : NULL, line->line);
	}
}

static uint32_t location_of(struct import *import, uint32_t index)
{
	if (import->locations[index] != PFS_HEAP_NONE)
		return import->locations[index];
	const struct pfs_heap_location *from = &import->from->locations[index];
	uint32_t module = module_of(import, from->module);
	uint64_t pc = from->pc;
	if (module != PFS_HEAP_NONE)
		pc += import->to->modules[module].begin - import->from->modules[from->module].begin;
	uint32_t to = pfs_heap_location(import->to, pc, module);
	take_lines(import, to, from);
	return import->locations[index] = to;
}

/* ---- entries ---- */

static uint32_t stack_of(struct import *import, uint32_t index, uint32_t skip)
{
	uint32_t locations[PFS_HEAP_FRAMES_MAX];
	const struct pfs_heap_stack *from = &import->from->stacks[index];
	uint32_t depth = from->depth - skip;
	if (depth > PFS_HEAP_FRAMES_MAX)
		depth = PFS_HEAP_FRAMES_MAX;
	for (uint32_t i = 0; i < depth; i++)
		locations[i] = location_of(import, import->from->frames[from->first + skip + i]);
	return pfs_heap_stack(import->to, locations, depth, from->is_cut);
}

static struct pfs_heap_entry *entry_of(struct import *import, const struct pfs_heap_entry *from,
				       uint32_t skip)
{
	struct pfs_heap_entry like = *from;
	char *const *texts = import->from->texts;
	like.stack = stack_of(import, from->stack, skip);
	like.thread = pfs_heap_text(import->to, texts[from->thread]);
	like.user = pfs_heap_text(import->to, texts[from->user]);
	like.host = pfs_heap_text(import->to, texts[from->host]);
	like.instrument = pfs_heap_text(import->to, texts[from->instrument]);
	return pfs_heap_entry(import->to, &like);
}

static bool begin(struct import *import)
{
	import->modules = malloc((import->from->module_count + 1) * sizeof(*import->modules));
	import->locations = malloc((import->from->location_count + 1) * sizeof(*import->locations));
	if (import->modules == NULL || import->locations == NULL) {
		import->to->failed = true;
		return false;
	}
	memset(import->modules, 0xFF, import->from->module_count * sizeof(*import->modules));
	memset(import->locations, 0xFF, import->from->location_count * sizeof(*import->locations));
	return true;
}

static void end(struct import *import)
{
	free(import->modules);
	free(import->locations);
}

/* Entries by stack alone. */
static void forget_owners(struct pfs_heap *heap)
{
	struct pfs_heap_entry *entries = heap->entries;
	uint32_t count = heap->entry_count;
	free(heap->entry_index.slots);
	memset(&heap->entry_index, 0, sizeof(heap->entry_index));
	heap->entries = NULL;
	heap->entry_count = heap->entry_room = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct pfs_heap_entry like = { .stack = entries[i].stack };
		struct pfs_heap_entry *to = pfs_heap_entry(heap, &like);
		pfs_heap_values_add(&to->now, &entries[i].now);
		pfs_heap_values_add(&to->base, &entries[i].base);
	}
	free(entries);
}

void pfs_heap_compare(struct pfs_heap *heap, const struct pfs_heap *base)
{
	struct import import = { .to = heap, .from = base };
	/* A dump does not name owners. */
	bool by_stack = heap->is_dump || base->is_dump, fine = begin(&import);
	if (by_stack)
		forget_owners(heap);
	for (uint32_t i = 0; fine && i < base->entry_count; i++) {
		struct pfs_heap_entry from = base->entries[i];
		if (by_stack)
			from = (struct pfs_heap_entry){ .stack = from.stack, .now = from.now };
		pfs_heap_values_add(&entry_of(&import, &from, 0)->base, &from.now);
	}
	end(&import);
	heap->has_base = true;
}

uint32_t pfs_heap_moment_near(const struct pfs_heap *heap, uint64_t when_ns)
{
	uint32_t found = PFS_HEAP_NONE;
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < heap->moment_count; i++) {
		uint64_t other = heap->moments[i].when_ns;
		uint64_t off = other > when_ns ? other - when_ns : when_ns - other;
		if (off <= least) {
			least = off;
			found = i;
		}
	}
	return found;
}

void pfs_heap_since(struct pfs_heap *heap, uint32_t moment)
{
	const struct pfs_heap_moment *of = &heap->moments[moment];
	forget_owners(heap);
	for (uint32_t i = 0; i < of->count; i++) {
		const struct pfs_heap_entry like = { .stack = of->held[i].stack };
		struct pfs_heap_values *base = &pfs_heap_entry(heap, &like)->base;
		base->live_objects += of->held[i].objects;
		base->live_bytes += of->held[i].bytes;
	}
	heap->has_base = true;
}

static double grown(double by)
{
	return by < PFS_HEAP_NOISE ? 0 : by;
}

void pfs_heap_keep_growth(struct pfs_heap *heap)
{
	forget_owners(heap);
	for (uint32_t i = 0; i < heap->entry_count; i++) {
		struct pfs_heap_values *now = &heap->entries[i].now;
		const struct pfs_heap_values *base = &heap->entries[i].base;
		now->live_bytes = grown(now->live_bytes - base->live_bytes);
		now->live_objects = now->live_bytes == 0
					    ? 0
					    : fmax(now->live_objects - base->live_objects, 0);
		now->total_bytes = grown(now->total_bytes - base->total_bytes);
		now->total_objects = fmax(now->total_objects - base->total_objects, 0);
		memset(&heap->entries[i].base, 0, sizeof(heap->entries[i].base));
	}
	heap->has_base = false;
}

/* ---- the allocator's own frames ---- */

static bool is_allocator(const struct pfs_heap *heap, const struct pfs_heap_location *location)
{
	static const char *const files[] = { "libjemalloc", "libtcmalloc", "libpfsm" };
	if (location->module != PFS_HEAP_NONE) {
		const char *path = heap->texts[heap->modules[location->module].path];
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			if (strncmp(pfs_heap_path_end(path), files[i], strlen(files[i])) == 0)
				return true;
	}
	for (uint32_t i = 0; i < location->line_count; i++)
		if (pfs_is_allocating(heap->texts[heap->lines[location->first_line + i].function]))
			return true;
	return false;
}

/* So many at the leaf are the allocator's: up to the last that is known as one. */
static uint32_t allocator_frames(const struct pfs_heap *heap, const struct pfs_heap_stack *stack)
{
	enum { INSIDE_MAX = 12 };
	uint32_t frames = 0;
	for (uint32_t i = 0; i < stack->depth && i < INSIDE_MAX; i++)
		if (is_allocator(heap, &heap->locations[heap->frames[stack->first + i]]))
			frames = i + 1;
	return frames < stack->depth ? frames : stack->depth - (stack->depth != 0);
}

struct pfs_heap *pfs_heap_without_allocator(const struct pfs_heap *heap)
{
	struct import import = { .to = pfs_heap_new(), .from = heap };
	struct pfs_heap *to = import.to;
	if (to == NULL)
		return NULL;
	memcpy(to->program, heap->program, sizeof(to->program));
	to->binary = pfs_heap_text(to, heap->texts[heap->binary]);
	to->is_dump = heap->is_dump;
	to->interval = heap->interval;
	to->taken_ns = heap->taken_ns;
	to->live_pid = heap->live_pid;
	to->is_named = heap->is_named;
	to->failed = heap->failed;
	bool fine = begin(&import);
	for (uint32_t i = 0; fine && i < heap->module_count; i++)
		(void)module_of(&import, i);
	for (uint32_t i = 0; fine && i < heap->entry_count; i++) {
		const struct pfs_heap_entry *from = &heap->entries[i];
		uint32_t skip = allocator_frames(heap, &heap->stacks[from->stack]);
		pfs_heap_values_add(&entry_of(&import, from, skip)->now, &from->now);
	}
	end(&import);
	return to;
}
