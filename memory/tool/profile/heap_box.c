/*
 * heap_box.c - a heap profile of a box: samples in use by context and size, and what contexts were
 * credited with since the beginning.
 *
 * A stack is addresses only, and another file may be where one was: a sample tells when it was
 * taken, so its frames are of the files that were there then. What a context has since the
 * beginning is put where its latest sample is, else where files are now.
 */
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "memory/box/reader_profile.h"

struct making {
	struct pfs_heap *heap;
	const struct pfs_seen_profile *profile;
	/* Of each stack of the box: what it became last, and at which change of files. */
	struct known {
		uint32_t stack;
		uint32_t change;
	} *known;
	uint64_t *changes; /* when files came and went, in order */
	uint32_t change_count;
	uint64_t *latest;  /* of each context: when its latest sample was taken; 0: it has none */
};

static void take_modules(struct making *making)
{
	const struct pfs_snapshot *snapshot = making->profile->snapshot;
	struct pfs_heap *heap = making->heap;
	for (uint32_t i = 0; i < snapshot->module_count; i++) {
		struct pfs_box_module *from = &snapshot->modules[i];
		struct pfs_heap_module module = {
			.begin = from->begin, .end = from->end, .file_offset = from->file_offset,
			.loaded_ns = from->loaded_realtime_ns,
			/* relaxed: a private copy */
			.gone_ns = pfs_load_relaxed(&from->gone_realtime_ns),
			.path = pfs_heap_text(heap, from->path),
			.build_id_bytes = from->build_id_bytes,
		};
		memcpy(module.build_id, from->build_id, sizeof(module.build_id));
		if (module.begin < module.end)
			(void)pfs_heap_add_module(heap, &module);
	}
}

static int by_value(const void *one, const void *other)
{
	uint64_t a, b;
	memcpy(&a, one, sizeof(a));
	memcpy(&b, other, sizeof(b));
	return a < b ? -1 : a > b;
}

static void find_changes(struct making *making)
{
	const struct pfs_heap *heap = making->heap;
	for (uint32_t i = 0; i < heap->module_count; i++) {
		making->changes[making->change_count++] = heap->modules[i].loaded_ns;
		if (heap->modules[i].gone_ns != 0)
			making->changes[making->change_count++] = heap->modules[i].gone_ns;
	}
	qsort(making->changes, making->change_count, sizeof(*making->changes), by_value);
}

/* How many changes there were by then. */
static uint32_t change_of(const struct making *making, uint64_t when_ns)
{
	uint32_t low = 0, high = making->change_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (making->changes[middle] <= when_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t stack_of(struct making *making, uint32_t index, uint64_t when_ns)
{
	uint32_t locations[PFS_STACK_FRAMES + 1];
	if (index == PFS_NONE)
		return 0;
	const struct pfs_seen_stack *seen = &making->profile->stacks[index];
	struct known *known = &making->known[index];
	uint32_t change = change_of(making, when_ns);
	if (known->stack != 0 && known->change == change)
		return known->stack;
	for (uint32_t i = 0; i < seen->depth; i++) {
		uint64_t pc = seen->frames[i] - 1;
		locations[i] = pfs_heap_location(
			making->heap, pc, pfs_heap_module_at(making->heap, pc, when_ns));
	}
	known->change = change;
	known->stack = pfs_heap_stack(making->heap, locations, seen->depth, seen->is_cut);
	return known->stack;
}

static struct pfs_heap_entry *entry_of(struct making *making, uint32_t index, uint64_t when_ns,
				       uint64_t block_bytes)
{
	struct pfs_heap *heap = making->heap;
	struct pfs_heap_entry like = { .block_bytes = block_bytes };
	if (index == PFS_NONE)
		return pfs_heap_entry(heap, &like);
	const struct pfs_seen_context *context = &making->profile->contexts[index];
	like.stack = stack_of(making, context->stack, when_ns);
	like.thread_id = context->thread_id;
	like.thread = pfs_heap_text(heap, context->thread_name);
	like.user = pfs_heap_text(heap, context->user_name);
	like.host = pfs_heap_text(heap, context->host_name);
	if (context->instrument != PFS_NONE)
		like.instrument = pfs_heap_text(
			heap, making->profile->snapshot->instruments[context->instrument].name);
	return pfs_heap_entry(heap, &like);
}

/* The power of two that is not below. */
static uint64_t class_of(uint64_t bytes)
{
	uint64_t of = 1;
	while (of < bytes && of != 0)
		of <<= 1;
	return of;
}

static void take_samples(struct making *making)
{
	const struct pfs_seen_profile *profile = making->profile;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct pfs_seen_sample *sample = &profile->samples[i];
		struct pfs_heap_entry *entry =
			entry_of(making, sample->context, sample->taken_realtime_ns,
				 class_of(sample->bytes));
		entry->now.live_objects += sample->objects;
		entry->now.live_bytes += sample->objects * (double)sample->bytes;
		if (sample->context != PFS_NONE &&
		    making->latest[sample->context] < sample->taken_realtime_ns)
			making->latest[sample->context] = sample->taken_realtime_ns;
	}
	for (uint32_t i = 0; i < profile->context_count; i++) {
		uint64_t when_ns = making->latest[i] != 0 ? making->latest[i] : UINT64_MAX;
		struct pfs_heap_entry *entry = entry_of(making, i, when_ns, 0);
		entry->now.total_objects += profile->contexts[i].objects;
		entry->now.total_bytes += profile->contexts[i].bytes;
	}
}

static void take_head(struct making *making)
{
	const struct pfs_snapshot *snapshot = making->profile->snapshot;
	struct pfs_heap *heap = making->heap;
	(void)snprintf(heap->program, sizeof(heap->program), "%s (%u)", snapshot->info.program,
		       snapshot->info.pid);
	heap->binary = pfs_heap_text(heap, snapshot->info.program);
	heap->interval = making->profile->interval;
	heap->taken_ns = snapshot->info.is_live ? snapshot->taken_realtime_ns :
						  snapshot->info.seen_realtime_ns;
	heap->live_pid = snapshot->info.is_live ? snapshot->info.pid : 0;
	heap->lost_samples = snapshot->lost[PFS_LOST_SAMPLES];
	heap->lost_stacks = snapshot->lost[PFS_LOST_STACKS];
	heap->lost_contexts = snapshot->lost[PFS_LOST_CONTEXTS];
}

static bool make(struct making *making, struct pfs_message *message)
{
	struct pfs_heap *heap = making->heap = pfs_heap_new();
	const struct pfs_seen_profile *profile = making->profile;
	making->known = calloc(profile->stack_count + 1, sizeof(*making->known));
	making->latest = calloc(profile->context_count + 1, sizeof(*making->latest));
	making->changes =
		calloc(2 * profile->snapshot->module_count + 1, sizeof(*making->changes));
	if (heap == NULL || making->known == NULL || making->latest == NULL ||
	    making->changes == NULL) {
		(void)snprintf(message->text, sizeof(message->text),
			       "no memory for the profile of '%.150s'",
			       profile->snapshot->info.path);
		return false;
	}
	take_head(making);
	take_modules(making);
	find_changes(making);
	take_samples(making);
	return pfs_heap_is_whole(heap, message);
}

struct pfs_heap *pfs_heap_of_box(struct pfs_reader *reader, struct pfs_message *message)
{
	struct making making = { .profile = pfs_profile_take(reader, message) };
	if (making.profile == NULL)
		return NULL;
	bool fine = making.profile->is_there;
	if (!fine)
		(void)snprintf(message->text, sizeof(message->text),
			       "'%.120s' has no profile: its program was started without one",
			       making.profile->snapshot->info.path);
	fine = fine && make(&making, message);
	if (!fine) {
		pfs_heap_free(making.heap);
		making.heap = NULL;
	}
	free(making.known);
	free(making.latest);
	free(making.changes);
	pfs_profile_free((struct pfs_seen_profile *)(uintptr_t)making.profile);
	return making.heap;
}
