/*
 * heap_box.c - a heap profile of a box: samples in use by context and size, and what contexts were
 * credited with since the beginning.
 *
 * A stack is addresses only, and another file may be where one was: its frames are of the files
 * that were there when it was made. Where its addresses are another file's later, that is another
 * stack.
 */
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "memory/box/reader_profile.h"

struct making {
	struct pfs_heap *heap;
	const struct pfs_seen_profile *profile;
	uint32_t *stacks; /* of each stack of the box: what it became; 0: nothing yet */
};

static void take_modules(struct making *making)
{
	const struct pfs_snapshot *snapshot = making->profile->snapshot;
	struct pfs_heap *heap = making->heap;
	for (uint32_t i = 0; i < snapshot->module_count; i++) {
		struct pfs_box_module *from = &snapshot->modules[i];
		/* clang-format off */
		struct pfs_heap_module module = {
			.begin = from->begin, .end = from->end, .file_offset = from->file_offset,
			.loaded_ns = from->loaded_realtime_ns,
			/* relaxed: a private copy */
			.gone_ns = pfs_load_relaxed(&from->gone_realtime_ns),
			.path = pfs_heap_text(heap, from->path),
			.build_id_bytes = from->build_id_bytes,
		};
		/* clang-format on */
		memcpy(module.build_id, from->build_id, sizeof(module.build_id));
		if (module.begin < module.end)
			(void)pfs_heap_add_module(heap, &module);
	}
}

static uint32_t stack_of(struct making *making, uint32_t index)
{
	uint32_t locations[PFS_STACK_FRAMES + 1];
	if (index == PFS_NONE || making->stacks[index] != 0)
		return index == PFS_NONE ? 0 : making->stacks[index];
	const struct pfs_seen_stack *seen = &making->profile->stacks[index];
	for (uint32_t i = 0; i < seen->depth; i++) {
		uint64_t pc = seen->frames[i] - 1;
		uint32_t module = pfs_heap_module_at(making->heap, pc, seen->made_realtime_ns);
		locations[i] = pfs_heap_location(making->heap, pc, module);
	}
	making->stacks[index] = pfs_heap_stack(making->heap, locations, seen->depth, seen->is_cut);
	return making->stacks[index];
}

static struct pfs_heap_entry *entry_of(struct making *making, uint32_t index, uint64_t block_bytes)
{
	struct pfs_heap *heap = making->heap;
	struct pfs_heap_entry like = { .block_bytes = block_bytes };
	if (index == PFS_NONE)
		return pfs_heap_entry(heap, &like);
	const struct pfs_seen_context *context = &making->profile->contexts[index];
	like.stack = stack_of(making, context->stack);
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
		struct pfs_heap_entry *entry = entry_of(making, sample->context,
							class_of(sample->bytes));
		entry->now.live_objects += sample->objects;
		entry->now.live_bytes += sample->objects * (double)sample->bytes;
	}
	for (uint32_t i = 0; i < profile->context_count; i++) {
		struct pfs_heap_entry *entry = entry_of(making, i, 0);
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
	heap->taken_ns = snapshot->info.is_live ? snapshot->taken_realtime_ns
						: snapshot->info.seen_realtime_ns;
	heap->live_pid = snapshot->info.is_live ? snapshot->info.pid : 0;
	if (!snapshot->info.is_live)
		(void)pfs_box_died(&snapshot->info, heap->died, sizeof(heap->died));
	heap->lost_samples = snapshot->lost[PFS_LOST_SAMPLES];
	heap->lost_bytes = snapshot->lost[PFS_LOST_SAMPLE_BYTES];
	heap->lost_stacks = snapshot->lost[PFS_LOST_STACKS];
	heap->lost_contexts = snapshot->lost[PFS_LOST_CONTEXTS];
}

static bool make(struct making *making, struct pfs_message *message)
{
	struct pfs_heap *heap = making->heap = pfs_heap_new();
	const struct pfs_seen_profile *profile = making->profile;
	making->stacks = calloc(profile->stack_count + 1, sizeof(*making->stacks));
	if (heap == NULL || making->stacks == NULL)
		return pfs_refuse(message, "no memory for the profile of '%.150s'",
				  profile->snapshot->info.path);
	take_head(making);
	take_modules(making);
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
		(void)pfs_refuse(message,
				 "'%.120s' has no profile: its program was started without one",
				 making.profile->snapshot->info.path);
	fine = fine && make(&making, message);
	if (!fine) {
		pfs_heap_free(making.heap);
		making.heap = NULL;
	}
	free(making.stacks);
	pfs_profile_free((struct pfs_seen_profile *)(uintptr_t)making.profile);
	return making.heap;
}
