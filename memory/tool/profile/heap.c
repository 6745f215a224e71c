#include "heap.h"
#include "memory/box/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64u
#define ROOM_MOST (UINT32_C(1) << 30)

/* ---- arrays and indices ---- */

/* Room for so many more; false, and failed: no memory. */
static bool have_room(struct pfs_heap *heap, void *array, uint32_t *room, uint32_t count,
		      uint32_t more, size_t bytes)
{
	void *grown, *old;
	uint32_t wanted = *room != 0 ? *room : ROOM_FIRST;
	while (wanted - count < more && wanted < ROOM_MOST)
		wanted *= 2;
	if (wanted == *room)
		return true;
	memcpy(&old, array, sizeof(old));
	grown = wanted - count < more ? NULL : realloc(old, wanted * bytes);
	if (grown == NULL) {
		heap->failed = true;
		return false;
	}
	memcpy(array, &grown, sizeof(grown));
	*room = wanted;
	return true;
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

typedef uint64_t hash_of(const struct pfs_heap *heap, uint32_t item);

/* Half of it stays empty. False: no memory. */
static bool grow_index(struct pfs_heap *heap, struct pfs_heap_index *index, hash_of *hash)
{
	if (index->count * 2 < index->room)
		return true;
	uint32_t room = index->room == 0 ? 2 * ROOM_FIRST : index->room * 2;
	uint32_t *slots = room < ROOM_MOST ? malloc(room * sizeof(*slots)) : NULL;
	if (slots == NULL) {
		heap->failed = true;
		return false;
	}
	memset(slots, 0xFF, room * sizeof(*slots));
	for (uint32_t i = 0; i < index->room; i++) {
		if (index->slots[i] == PFS_HEAP_NONE)
			continue;
		uint32_t at = (uint32_t)hash(heap, index->slots[i]) & (room - 1);
		while (slots[at] != PFS_HEAP_NONE)
			at = (at + 1) & (room - 1);
		slots[at] = index->slots[i];
	}
	free(index->slots);
	index->slots = slots;
	index->room = room;
	return true;
}

/* The item that stands at the end of its array is looked for: its twin, or itself, which is then in
 * the index. */
static uint32_t intern(struct pfs_heap *heap, struct pfs_heap_index *index, uint32_t item,
		       hash_of *hash,
		       bool (*same)(const struct pfs_heap *heap, uint32_t one, uint32_t other))
{
	if (!grow_index(heap, index, hash))
		return 0;
	uint32_t at = (uint32_t)hash(heap, item) & (index->room - 1);
	for (; index->slots[at] != PFS_HEAP_NONE; at = (at + 1) & (index->room - 1))
		if (same(heap, index->slots[at], item))
			return index->slots[at];
	index->slots[at] = item;
	index->count++;
	return item;
}

/* ---- texts ---- */

static uint64_t text_hash(const struct pfs_heap *heap, uint32_t item)
{
	uint64_t hash = 1;
	for (const char *at = heap->texts[item]; *at != '\0'; at++)
		hash = mixed(hash, (unsigned char)*at);
	return hash;
}

static bool same_text(const struct pfs_heap *heap, uint32_t one, uint32_t other)
{
	return strcmp(heap->texts[one], heap->texts[other]) == 0;
}

uint32_t pfs_heap_text_of(struct pfs_heap *heap, const char *text, size_t length)
{
	if (!have_room(heap, &heap->texts, &heap->text_room, heap->text_count, 1,
		       sizeof(*heap->texts)))
		return 0;
	uint32_t item = heap->text_count;
	heap->texts[item] = strndup(text, length);
	if (heap->texts[item] == NULL) {
		heap->failed = true;
		return 0;
	}
	uint32_t found = intern(heap, &heap->text_index, item, text_hash, same_text);
	if (found == item)
		heap->text_count++;
	else
		free(heap->texts[item]);
	return found;
}

uint32_t pfs_heap_text(struct pfs_heap *heap, const char *text)
{
	return pfs_heap_text_of(heap, text, strlen(text));
}

/* ---- modules and locations ---- */

uint32_t pfs_heap_add_module(struct pfs_heap *heap, const struct pfs_heap_module *module)
{
	if (!have_room(heap, &heap->modules, &heap->module_room, heap->module_count, 1,
		       sizeof(*heap->modules)))
		return PFS_HEAP_NONE;
	heap->modules[heap->module_count] = *module;
	return heap->module_count++;
}

/* Of two that were not there then: the one that came last before, else the one that came first. */
static bool is_nearer(const struct pfs_heap_module *one, const struct pfs_heap_module *other,
		      uint64_t when_ns)
{
	bool before = one->loaded_ns <= when_ns;
	if (before != (other->loaded_ns <= when_ns))
		return before;
	return before ? one->loaded_ns > other->loaded_ns : one->loaded_ns < other->loaded_ns;
}

uint32_t pfs_heap_module_at(const struct pfs_heap *heap, uint64_t pc, uint64_t when_ns)
{
	uint32_t best = PFS_HEAP_NONE;
	for (uint32_t i = 0; i < heap->module_count; i++) {
		const struct pfs_heap_module *module = &heap->modules[i];
		if (pc < module->begin || pc >= module->end)
			continue;
		if (module->loaded_ns <= when_ns &&
		    (module->gone_ns == 0 || module->gone_ns > when_ns))
			return i;
		if (best == PFS_HEAP_NONE || is_nearer(module, &heap->modules[best], when_ns))
			best = i;
	}
	return best;
}

static uint64_t location_hash(const struct pfs_heap *heap, uint32_t item)
{
	return mixed(mixed(2, heap->locations[item].pc), heap->locations[item].module);
}

static bool same_location(const struct pfs_heap *heap, uint32_t one, uint32_t other)
{
	return heap->locations[one].pc == heap->locations[other].pc &&
	       heap->locations[one].module == heap->locations[other].module;
}

uint32_t pfs_heap_location(struct pfs_heap *heap, uint64_t pc, uint32_t module)
{
	if (!have_room(heap, &heap->locations, &heap->location_room, heap->location_count, 1,
		       sizeof(*heap->locations)))
		return 0;
	uint32_t item = heap->location_count;
	heap->locations[item] = (struct pfs_heap_location){ .pc = pc, .module = module };
	uint32_t found = intern(heap, &heap->location_index, item, location_hash, same_location);
	heap->location_count += found == item;
	return found;
}

void pfs_heap_add_line(struct pfs_heap *heap, uint32_t location, const char *function,
		       const char *file, uint32_t line)
{
	struct pfs_heap_location *of = &heap->locations[location];
	if (!have_room(heap, &heap->lines, &heap->line_room, heap->line_count, 1,
		       sizeof(*heap->lines)))
		return;
	if (of->line_count == 0)
		of->first_line = heap->line_count;
	heap->lines[heap->line_count++] = (struct pfs_heap_line){
		pfs_heap_text(heap, function), file != NULL ? pfs_heap_text(heap, file) : 0, line
	};
	of->line_count++;
}

/* ---- stacks and entries ---- */

static uint64_t stack_hash(const struct pfs_heap *heap, uint32_t item)
{
	const struct pfs_heap_stack *stack = &heap->stacks[item];
	uint64_t hash = stack->is_cut;
	for (uint32_t i = 0; i < stack->depth; i++)
		hash = mixed(hash, heap->frames[stack->first + i]);
	return hash;
}

static bool same_stack(const struct pfs_heap *heap, uint32_t one, uint32_t other)
{
	const struct pfs_heap_stack *a = &heap->stacks[one], *b = &heap->stacks[other];
	return a->depth == b->depth && a->is_cut == b->is_cut &&
	       memcmp(heap->frames + a->first, heap->frames + b->first,
		      a->depth * sizeof(*heap->frames)) == 0;
}

/* What stands for the callers of a stack that is cut. */
static uint32_t cut_location(struct pfs_heap *heap)
{
	uint32_t location = pfs_heap_location(heap, PFS_HEAP_CUT, PFS_HEAP_NONE);
	if (!heap->failed && heap->locations[location].line_count == 0)
		pfs_heap_add_line(heap, location, "[cut]", NULL, 0);
	return location;
}

uint32_t pfs_heap_stack(struct pfs_heap *heap, const uint32_t *locations, uint32_t depth,
			bool is_cut)
{
	uint32_t cut = is_cut ? cut_location(heap) : 0;
	bool lacks_cut = is_cut && (depth == 0 || locations[depth - 1] != cut);
	if (!have_room(heap, &heap->stacks, &heap->stack_room, heap->stack_count, 1,
		       sizeof(*heap->stacks)) ||
	    !have_room(heap, &heap->frames, &heap->frame_room, heap->frame_count, depth + 2,
		       sizeof(*heap->frames)))
		return 0;
	uint32_t item = heap->stack_count;
	heap->stacks[item] = (struct pfs_heap_stack){ heap->frame_count, depth, is_cut };
	memcpy(heap->frames + heap->frame_count, locations, depth * sizeof(*locations));
	if (lacks_cut)
		heap->frames[heap->frame_count + depth] = cut;
	depth += lacks_cut;
	heap->stacks[item].depth = depth;
	uint32_t found = intern(heap, &heap->stack_index, item, stack_hash, same_stack);
	if (found == item) {
		heap->stack_count++;
		heap->frame_count += depth;
	}
	return found;
}

static uint64_t entry_hash(const struct pfs_heap *heap, uint32_t item)
{
	const struct pfs_heap_entry *entry = &heap->entries[item];
	uint64_t hash = mixed(mixed(3, entry->stack), entry->thread_id);
	hash = mixed(mixed(hash, entry->thread), entry->user);
	hash = mixed(mixed(hash, entry->host), entry->instrument);
	return mixed(hash, entry->block_bytes);
}

static bool same_entry(const struct pfs_heap *heap, uint32_t one, uint32_t other)
{
	const struct pfs_heap_entry *a = &heap->entries[one], *b = &heap->entries[other];
	return a->stack == b->stack && a->thread_id == b->thread_id && a->thread == b->thread &&
	       a->user == b->user && a->host == b->host && a->instrument == b->instrument &&
	       a->block_bytes == b->block_bytes;
}

struct pfs_heap_entry *pfs_heap_entry(struct pfs_heap *heap, const struct pfs_heap_entry *like)
{
	static struct pfs_heap_entry nowhere;
	if (!have_room(heap, &heap->entries, &heap->entry_room, heap->entry_count, 1,
		       sizeof(*heap->entries)))
		return &nowhere;
	uint32_t item = heap->entry_count;
	heap->entries[item] = *like;
	memset(&heap->entries[item].now, 0, sizeof(like->now));
	memset(&heap->entries[item].base, 0, sizeof(like->base));
	uint32_t found = intern(heap, &heap->entry_index, item, entry_hash, same_entry);
	heap->entry_count += found == item;
	return &heap->entries[found];
}

/* ---- all of it ---- */

struct pfs_heap *pfs_heap_new(void)
{
	struct pfs_heap *heap = calloc(1, sizeof(*heap));
	if (heap == NULL)
		return NULL;
	(void)pfs_heap_text(heap, "");
	(void)pfs_heap_stack(heap, (const uint32_t[]){ 0 }, 0, false);
	if (heap->failed) {
		pfs_heap_free(heap);
		return NULL;
	}
	return heap;
}

void pfs_heap_free(struct pfs_heap *heap)
{
	if (heap == NULL)
		return;
	for (uint32_t i = 0; i < heap->text_count; i++)
		free(heap->texts[i]);
	free(heap->texts);
	for (uint32_t i = 0; i < heap->moment_count; i++)
		free(heap->moments[i].held);
	free(heap->moments);
	free(heap->modules);
	free(heap->locations);
	free(heap->lines);
	free(heap->stacks);
	free(heap->frames);
	free(heap->entries);
	free(heap->location_index.slots);
	free(heap->stack_index.slots);
	free(heap->entry_index.slots);
	free(heap->text_index.slots);
	free(heap);
}

bool pfs_heap_is_whole(const struct pfs_heap *heap, struct pfs_message *message)
{
	return !heap->failed ||
	       pfs_refuse(message, "no memory for the profile of %.150s", heap->program);
}

static double variance_left(const struct pfs_heap_values *values)
{
	bool is_part = values->whole > 0 && values->variance < values->whole;
	if (values->whole <= 0)
		return values->variance;
	return is_part ? values->variance * (1 - values->variance / values->whole) : 0;
}

static void add_variance(struct pfs_heap_values *to, const struct pfs_heap_values *from)
{
	if (from->variance <= 0)
		return;
	if (to->variance <= 0 || to->whole == from->whole) {
		to->variance += from->variance;
		to->whole = from->whole;
	} else {
		to->variance = variance_left(to) + variance_left(from);
		to->whole = 0;
	}
}

void pfs_heap_values_add(struct pfs_heap_values *to, const struct pfs_heap_values *from)
{
	to->live_objects += from->live_objects;
	to->live_bytes += from->live_bytes;
	to->total_objects += from->total_objects;
	to->total_bytes += from->total_bytes;
	add_variance(to, from);
	if (from->oldest_ns != 0 && (to->oldest_ns == 0 || from->oldest_ns < to->oldest_ns))
		to->oldest_ns = from->oldest_ns;
	if (from->newest_ns > to->newest_ns)
		to->newest_ns = from->newest_ns;
}

double pfs_heap_error(const struct pfs_heap *heap, const struct pfs_heap_values *values)
{
	return heap->is_dump || heap->interval == 0 ? -1 : sqrt(variance_left(values));
}

struct pfs_heap_values pfs_heap_sum(const struct pfs_heap *heap, bool of_base)
{
	struct pfs_heap_values sum = { 0 };
	for (uint32_t i = 0; i < heap->entry_count; i++) {
		const struct pfs_heap_values *values = of_base ? &heap->entries[i].base
							       : &heap->entries[i].now;
		pfs_heap_values_add(&sum, values);
	}
	return sum;
}

const char *pfs_heap_path_end(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

const char *pfs_heap_frame_name(const struct pfs_heap *heap, uint32_t location, uint32_t line,
				char *text, size_t text_bytes)
{
	const struct pfs_heap_location *of = &heap->locations[location];
	if (line < of->line_count)
		return heap->texts[heap->lines[of->first_line + line].function];
	if (of->module == PFS_HEAP_NONE) {
		(void)snprintf(text, text_bytes, "[unknown] 0x%" PRIx64, of->pc);
		return text;
	}
	const struct pfs_heap_module *module = &heap->modules[of->module];
	(void)snprintf(text, text_bytes, "[%s] %s+0x%" PRIx64,
		       of->is_late ? "not looked up" : "unknown",
		       pfs_heap_path_end(heap->texts[module->path]),
		       of->pc - module->begin + module->file_offset);
	return text;
}
