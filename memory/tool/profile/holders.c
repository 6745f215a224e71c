/*
 * holders.c - stacks by their own frame. Two frames are one if they are one line of one function.
 */
#define _GNU_SOURCE
#include "holders.h"

#include <stdlib.h>
#include <string.h>

struct key {
	const char *name;
	uint32_t function, file, line, location;
};

struct adding {
	const struct pfs_heap *heap;
	struct pfs_holders *to;
	struct key *keys;
	uint32_t *slots; /* a hash table of indices; PFS_HEAP_NONE: empty */
	uint32_t mask;
};

static struct key key_of(const struct pfs_heap *heap, struct pfs_frame_of frame, const char *name)
{
	struct key key = { name, PFS_HEAP_NONE, 0, 0, frame.location };
	if (name != NULL)
		return (struct key){ name, PFS_HEAP_NONE, 0, 0, 0 };
	if (frame.location == PFS_HEAP_NONE)
		return key;
	const struct pfs_heap_location *location = &heap->locations[frame.location];
	if (frame.line < location->line_count) {
		const struct pfs_heap_line *line = &heap->lines[location->first_line + frame.line];
		key = (struct key){ NULL, line->function, line->file, line->line, 0 };
	}
	return key;
}

static bool is_same(const struct key *one, const struct key *other)
{
	if (one->name != NULL || other->name != NULL)
		return one->name != NULL && other->name != NULL &&
		       strcmp(one->name, other->name) == 0;
	return one->function == other->function && one->file == other->file &&
	       one->line == other->line && one->location == other->location;
}

static uint32_t hash_of(const struct key *key)
{
	uint64_t hash = UINT64_C(0xCBF29CE484222325);
	for (const char *at = key->name; at != NULL && *at != '\0'; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001B3);
	if (key->name == NULL)
		hash ^= ((uint64_t)key->function << 32 | key->line) ^
			((uint64_t)key->location << 16 | key->file);
	hash *= UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t)(hash >> 32);
}

static struct pfs_holder *holder_of(struct adding *self, const struct key *key)
{
	uint32_t at = hash_of(key) & self->mask;
	for (; self->slots[at] != PFS_HEAP_NONE; at = (at + 1) & self->mask)
		if (is_same(&self->keys[self->slots[at]], key))
			return &self->to->holders[self->slots[at]];
	self->slots[at] = self->to->count;
	self->to->holders[self->to->count].found = self->to->count;
	self->keys[self->to->count] = *key;
	return &self->to->holders[self->to->count++];
}

static void add_stack(struct adding *self, const struct pfs_rules *rules, uint32_t stack,
		      const struct pfs_heap_values *now, const struct pfs_heap_values *base,
		      const struct pfs_holders_options *options)
{
	struct pfs_frame_of caller, frame = pfs_owner_find(self->heap, rules, stack, &caller);
	const char *name = pfs_owner_name(self->heap, rules, stack);
	struct key key = key_of(self->heap, frame, options->by_name ? name : NULL);
	struct pfs_holder *holder = holder_of(self, &key);
	double bytes = options->of_total ? now->total_bytes : now->live_bytes;
	self->to->of_stack[stack] = holder->found;
	pfs_heap_values_add(&holder->now, now);
	pfs_heap_values_add(&holder->base, base);
	if (holder->stack_bytes > 0 && bytes <= holder->stack_bytes)
		return;
	holder->frame = frame;
	holder->caller = caller;
	holder->name = name;
	holder->stack = stack;
	holder->stack_bytes = bytes;
}

static int heaviest_first(const void *one, const void *other)
{
	const struct pfs_holder *a = one, *b = other;
	return a->weight > b->weight   ? -1
	       : a->weight < b->weight ? 1
	       : a->stack < b->stack   ? -1
				       : 1;
}

/* Of equal growth, what is larger; last what held nothing at both moments. */
static int grown_first(const void *one, const void *other)
{
	const struct pfs_holder *a = one, *b = other;
	double more = (b->now.live_bytes - b->base.live_bytes) -
		      (a->now.live_bytes - a->base.live_bytes);
	bool is_empty = a->weight <= 0;
	if (is_empty != (b->weight <= 0))
		return is_empty ? 1 : -1;
	return more > 0 ? 1 : more < 0 ? -1 : heaviest_first(one, other);
}

/* After they were sorted. False: no memory. */
static bool number_again(struct pfs_holders *self, uint32_t stacks)
{
	uint32_t *place = malloc((self->count + 1) * sizeof(*place));
	for (uint32_t i = 0; place != NULL && i < self->count; i++)
		place[self->holders[i].found] = i;
	for (uint32_t i = 0; place != NULL && i < stacks; i++)
		self->of_stack[i] = place[self->of_stack[i]];
	free(place);
	return place != NULL;
}

/* The order, and what all have together. */
static bool finish(struct pfs_holders *self, const struct pfs_heap *heap,
		   const struct pfs_holders_options *options)
{
	for (uint32_t i = 0; i < self->count; i++) {
		struct pfs_holder *holder = &self->holders[i];
		double now = options->of_total ? holder->now.total_bytes : holder->now.live_bytes;
		double base = options->of_total ? holder->base.total_bytes
						: holder->base.live_bytes;
		self->bytes += now;
		double by = now > base ? now - base : base - now;
		holder->weight = options->by_growth    ? now + base
				 : !heap->has_base     ? now
				 : by > PFS_HEAP_NOISE ? by
						       : 0;
	}
	qsort(self->holders, self->count, sizeof(*self->holders),
	      options->by_growth ? grown_first : heaviest_first);
	if (!number_again(self, heap->stack_count))
		return false;
	while (self->count > 0 && self->holders[self->count - 1].weight <= 0)
		self->count--;
	return true;
}

static bool begin(struct adding *self, uint32_t stacks)
{
	uint32_t room = 4;
	while (room < 2 * (stacks + 1))
		room *= 2;
	self->mask = room - 1;
	self->slots = malloc(room * sizeof(*self->slots));
	self->keys = calloc(stacks + 1, sizeof(*self->keys));
	self->to->holders = calloc(stacks + 1, sizeof(*self->to->holders));
	self->to->of_stack = calloc(stacks + 1, sizeof(*self->to->of_stack));
	if (self->slots == NULL || self->keys == NULL || self->to->holders == NULL ||
	    self->to->of_stack == NULL)
		return false;
	memset(self->slots, 0xFF, room * sizeof(*self->slots));
	return true;
}

bool pfs_holders_make(struct pfs_holders *self, const struct pfs_heap *heap,
		      const struct pfs_rules *rules, const struct pfs_holders_options *options)
{
	*self = (struct pfs_holders){ 0 };
	struct adding adding = { .heap = heap, .to = self };
	struct pair {
		struct pfs_heap_values now, base;
	} *sums = calloc(heap->stack_count + 1, sizeof(*sums));
	bool fine = sums != NULL && begin(&adding, heap->stack_count);
	for (uint32_t i = 0; fine && i < heap->entry_count; i++) {
		const struct pfs_heap_entry *entry = &heap->entries[i];
		pfs_heap_values_add(&sums[entry->stack].now, &entry->now);
		pfs_heap_values_add(&sums[entry->stack].base, &entry->base);
	}
	for (uint32_t i = 0; fine && i < heap->stack_count; i++)
		add_stack(&adding, rules, i, &sums[i].now, &sums[i].base, options);
	fine = fine && finish(self, heap, options);
	free(sums);
	free(adding.slots);
	free(adding.keys);
	if (!fine)
		pfs_holders_drop(self);
	return fine;
}

void pfs_holders_drop(struct pfs_holders *self)
{
	free(self->holders);
	free(self->of_stack);
	*self = (struct pfs_holders){ 0 };
}

/* ---- as text ---- */

const char *pfs_holder_text(const struct pfs_heap *heap, const struct pfs_holder *holder,
			    char *text, size_t text_bytes)
{
	char frame[700], caller[700] = "";
	if (holder->caller.location != PFS_HEAP_NONE)
		(void)pfs_frame_text(heap, holder->caller, caller, sizeof(caller));
	(void)snprintf(text, text_bytes, "%s%s%s%s%s", holder->name != NULL ? holder->name : "",
		       holder->name != NULL ? ": " : "",
		       pfs_frame_text(heap, holder->frame, frame, sizeof(frame)),
		       caller[0] != '\0' ? " from " : "", caller);
	return text;
}

const char *pfs_error_text(const struct pfs_heap *heap, const struct pfs_heap_values *values,
			   char text[32])
{
	double error = pfs_heap_error(heap, values), bytes = values->live_bytes;
	text[0] = '\0';
	if (error >= 0 && bytes > 0)
		(void)snprintf(text, 32, "\u00b1 %.*f %%", error / bytes < 0.1,
			       error / bytes * 100);
	return text;
}

const char *pfs_age_text(const struct pfs_heap *heap, uint64_t since_ns, char text[32])
{
	double seconds = heap->taken_ns > since_ns ? (double)(heap->taken_ns - since_ns) / 1e9 : 0;
	text[0] = '\0';
	if (since_ns == 0)
		return text;
	if (seconds < 120)
		(void)snprintf(text, 32, "%.0f s", seconds);
	else if (seconds < 7200)
		(void)snprintf(text, 32, "%.1f min", seconds / 60);
	else if (seconds < 172800)
		(void)snprintf(text, 32, "%.1f h", seconds / 3600);
	else
		(void)snprintf(text, 32, "%.1f d", seconds / 86400);
	return text;
}
