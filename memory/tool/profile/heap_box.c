/*
 * heap_box.c - a heap profile of a box: samples in use by context and size, and what contexts were
 * credited with since the beginning.
 *
 * A stack is addresses only, and another file may be where one was: its frames are of the files
 * that were there when it was made. Where its addresses are another file's later, that is another
 * stack.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heap.h"
#include "memory/box/reader_profile.h"

#define NOISE 4 /* standard deviations */

struct making {
	struct pfs_heap *heap;
	const struct pfs_seen_profile *profile;
	struct pfs_heap_choice choice;
	uint64_t now_ns;       /* ages end then */
	uint32_t *stacks;      /* of each stack of the box: what it became; 0: nothing yet */
	struct scales *scales; /* by instrument */
};

/* One number of an instrument, bytes or blocks: what its samples stand for, and what it has. The
 * difference is the samples' error. It is divided among them in proportion to their variances, so
 * a block that is always sampled keeps its exact size. */
struct scale {
	double estimate, variance, most; /* most: of weight times the chance to be missed */
	double exact;
	double per_variance; /* what is added for each unit of variance; 0: not scaled */
	double interval;     /* the longest: as much may be in lines without a sample */
};

struct scales {
	struct scale bytes, objects;
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

/* ---- the exact numbers of instruments ---- */

static uint32_t instrument_of(const struct pfs_seen_profile *profile, uint32_t context)
{
	return context == PFS_NONE ? PFS_NONE : profile->contexts[context].instrument;
}

static void add_to(struct scale *scale, double weight, double missed)
{
	scale->estimate += weight;
	scale->variance += weight * weight * missed;
	if (weight * missed > scale->most)
		scale->most = weight * missed;
}

/* Only sampling error is corrected: a larger difference means that sampling began late, or that
 * samples were lost. No sample may become negative. */
static bool finish_scale(struct scale *scale)
{
	double by = scale->exact - scale->estimate;
	double per_variance = scale->variance > 0 ? by / scale->variance : 0;
	bool is_noise = fabs(by) <= NOISE * sqrt(scale->variance);
	if (is_noise && 1 + per_variance * scale->most > 0)
		scale->per_variance = per_variance;
	return is_noise;
}

static double scaled(const struct scale *scale, double weight, double missed)
{
	return weight + scale->per_variance * weight * weight * missed;
}

/* The variance of all together, with that of the lines that no sample shows. */
static double whole_of(const struct scale *scale)
{
	return scale->per_variance != 0 ? scale->variance + scale->interval * scale->interval : 0;
}

static void finish_scales(struct pfs_heap *heap, struct scales *scales)
{
	(void)finish_scale(&scales->objects);
	if (finish_scale(&scales->bytes)) {
		heap->is_scaled |= scales->bytes.per_variance != 0;
	} else if (scales->bytes.exact > scales->bytes.estimate) {
		heap->unsampled_bytes += scales->bytes.exact - scales->bytes.estimate;
	}
}

static void take_scales(struct making *making)
{
	const struct pfs_seen_profile *profile = making->profile;
	struct pfs_row row;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct pfs_seen_sample *sample = &profile->samples[i];
		uint32_t instrument = instrument_of(profile, sample->context);
		double missed = 1 - 1 / sample->objects; /* the chance that it is not sampled */
		if (instrument == PFS_NONE)
			continue;
		add_to(&making->scales[instrument].bytes, sample->objects * (double)sample->bytes,
		       missed);
		add_to(&making->scales[instrument].objects, sample->objects, missed);
		if ((double)sample->interval > making->scales[instrument].bytes.interval)
			making->scales[instrument].bytes.interval = (double)sample->interval;
	}
	for (uint64_t i = 0; pfs_snapshot_row(profile->snapshot, PFS_TABLE_GLOBAL, i, &row); i++) {
		making->scales[row.instrument].bytes.exact = (double)row.current_bytes;
		making->scales[row.instrument].objects.exact = (double)row.current_count;
	}
	for (uint32_t i = 0; i < profile->snapshot->instrument_count; i++)
		finish_scales(making->heap, &making->scales[i]);
}

/* ---- samples ---- */

static bool is_chosen(const struct making *making, const struct pfs_seen_sample *sample)
{
	uint64_t taken = sample->taken_realtime_ns, now = making->now_ns;
	uint64_t age = now > taken ? now - taken : 0;
	const struct pfs_heap_choice *choice = &making->choice;
	return (choice->older_ns == 0 || age > choice->older_ns) &&
	       (choice->newer_ns == 0 || age <= choice->newer_ns);
}

static void take_sample(struct making *making, const struct pfs_seen_sample *sample)
{
	static const struct scales none;
	uint32_t instrument = instrument_of(making->profile, sample->context);
	const struct scales *scales = instrument == PFS_NONE ? &none : &making->scales[instrument];
	double bytes = sample->objects * (double)sample->bytes, missed = 1 - 1 / sample->objects;
	making->heap->sampled_bytes += bytes;
	struct pfs_heap_entry *entry = entry_of(making, sample->context, class_of(sample->bytes));
	pfs_heap_values_add(
		&entry->now,
		&(struct pfs_heap_values){
			.live_objects = scaled(&scales->objects, sample->objects, missed),
			.live_bytes = scaled(&scales->bytes, bytes, missed),
			.variance = bytes * bytes * missed,
			.whole = whole_of(&scales->bytes),
			.oldest_ns = sample->taken_realtime_ns,
			.newest_ns = sample->taken_realtime_ns });
}

/* The variance of blocks that all have the mean size. */
static double variance_of(double objects, double bytes, double interval)
{
	double size = objects > 0 ? bytes / objects : 0;
	double chance = -expm1(-size / interval);
	return chance > 0 ? bytes * size * (1 - chance) / chance : 0;
}

static void take_sums(struct making *making, uint32_t index, double objects, double bytes)
{
	if (bytes <= 0)
		return;
	struct pfs_heap_entry *entry = entry_of(making, index, 0);
	entry->now.live_bytes += bytes;
	entry->now.live_objects += objects;
	entry->now.variance += variance_of(objects, bytes, (double)making->profile->interval);
}

static void take_contexts(struct making *making)
{
	const struct pfs_seen_context *contexts = making->profile->contexts;
	for (uint32_t i = 0; i < making->profile->context_count; i++)
		if (making->choice.as_kept)
			take_sums(making, i, contexts[i].used_objects, contexts[i].used_bytes);
		else
			take_sums(making, i, contexts[i].peak_objects, contexts[i].peak_bytes);
}

static void take_samples(struct making *making)
{
	const struct pfs_seen_profile *profile = making->profile;
	bool at_peak = making->choice.at_peak && !profile->peak_is_now;
	bool by_context = at_peak || making->choice.as_kept;
	for (uint32_t i = 0; i < profile->sample_count && !by_context; i++)
		if (is_chosen(making, &profile->samples[i]))
			take_sample(making, &profile->samples[i]);
	if (by_context)
		take_contexts(making);
	for (uint32_t i = 0; i < profile->context_count; i++) {
		struct pfs_heap_entry *entry = entry_of(making, i, 0);
		entry->now.total_objects += profile->contexts[i].objects;
		entry->now.total_bytes += profile->contexts[i].bytes;
	}
}

/* False: no memory. */
static bool take_moment(struct making *making, const struct pfs_seen_moment *seen)
{
	struct pfs_heap_moment *moment = &making->heap->moments[making->heap->moment_count];
	*moment =
		(struct pfs_heap_moment){ .when_ns = seen->realtime_ns,
					  .others_bytes = (double)seen->others_bytes,
					  .others_most = (double)seen->others_most,
					  .others = seen->others,
					  .held = calloc(seen->count + 1, sizeof(*moment->held)) };
	if (moment->held == NULL)
		return false;
	making->heap->moment_count++;
	for (uint32_t i = 0; i < seen->count; i++)
		moment->held[moment->count++] =
			(struct pfs_heap_held){ stack_of(making, seen->stacks[i].stack),
						seen->stacks[i].blocks,
						(double)seen->stacks[i].bytes };
	if (seen->no_stack_bytes != 0)
		moment->held[moment->count++] = (struct pfs_heap_held){
			stack_of(making, PFS_NONE), 0, (double)seen->no_stack_bytes
		};
	return true;
}

static void take_moments(struct making *making)
{
	const struct pfs_seen_profile *profile = making->profile;
	struct pfs_heap *heap = making->heap;
	heap->moments = calloc(profile->moment_count + 1, sizeof(*heap->moments));
	heap->failed |= heap->moments == NULL;
	for (uint32_t i = 0; i < profile->moment_count && !heap->failed; i++)
		heap->failed |= !take_moment(making, &profile->moments[i]);
}

static void take_head(struct making *making)
{
	const struct pfs_snapshot *snapshot = making->profile->snapshot;
	struct pfs_heap *heap = making->heap;
	(void)pfs_box_title(&snapshot->info, heap->program, sizeof(heap->program));
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
	heap->stacks_taken = snapshot->stacks_taken;
	heap->stacks_walked = snapshot->stacks_walked;
}

/* A dead program's last moment is that of its last tick, or of its last sample after that. */
static void find_now(struct making *making)
{
	const struct pfs_seen_profile *profile = making->profile;
	making->now_ns = making->heap->taken_ns;
	for (uint32_t i = 0; i < profile->sample_count; i++)
		if (profile->samples[i].taken_realtime_ns > making->now_ns)
			making->now_ns = profile->samples[i].taken_realtime_ns;
	making->heap->taken_ns = making->now_ns;
}

static void say_duration(uint64_t ns, char text[32])
{
	uint64_t seconds = ns / 1000000000u;
	if (seconds >= 7200)
		(void)snprintf(text, 32, "%.3g h", (double)seconds / 3600);
	else if (seconds >= 120)
		(void)snprintf(text, 32, "%.3g min", (double)seconds / 60);
	else
		(void)snprintf(text, 32, "%llu s", (unsigned long long)seconds);
}

static void say_choice(struct making *making)
{
	struct pfs_heap *heap = making->heap;
	const struct pfs_heap_choice *choice = &making->choice;
	char older[32], newer[32], when[32] = "";
	time_t seconds = (time_t)(making->profile->peak_realtime_ns / 1000000000u);
	struct tm parts;
	say_duration(choice->older_ns, older);
	say_duration(choice->newer_ns, newer);
	if (choice->at_peak && localtime_r(&seconds, &parts) != NULL)
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &parts);
	if (choice->at_peak && making->profile->peak_realtime_ns == 0)
		(void)snprintf(heap->of, sizeof(heap->of), "at the peak: nothing was sampled");
	else if (choice->at_peak)
		(void)snprintf(heap->of, sizeof(heap->of), "at the peak, %s%s",
			       making->profile->peak_is_now ? "now; last marked " : "", when);
	else if (choice->older_ns != 0 && choice->newer_ns != 0)
		(void)snprintf(heap->of, sizeof(heap->of), "allocated %s to %s ago", newer, older);
	else if (choice->older_ns != 0 || choice->newer_ns != 0)
		(void)snprintf(heap->of, sizeof(heap->of), "allocated %s than %s ago",
			       choice->older_ns != 0 ? "more" : "less",
			       choice->older_ns != 0 ? older : newer);
}

static bool make(struct making *making, struct pfs_message *message)
{
	struct pfs_heap *heap = making->heap = pfs_heap_new();
	const struct pfs_seen_profile *profile = making->profile;
	making->stacks = calloc(profile->stack_count + 1, sizeof(*making->stacks));
	making->scales = calloc(profile->snapshot->instrument_count + 1, sizeof(*making->scales));
	if (heap == NULL || making->stacks == NULL || making->scales == NULL)
		return pfs_refuse(message, "no memory for the profile of '%.150s'",
				  profile->snapshot->info.path);
	take_head(making);
	find_now(making);
	say_choice(making);
	/* What was exact at the peak is not known. */
	if (making->choice.is_scaled && (!making->choice.at_peak || profile->peak_is_now))
		take_scales(making);
	take_modules(making);
	take_samples(making);
	take_moments(making);
	return pfs_heap_is_whole(heap, message);
}

struct pfs_heap *pfs_heap_of_box_chosen(struct pfs_reader *reader,
					const struct pfs_heap_choice *choice,
					struct pfs_message *message)
{
	struct making making = { .profile = pfs_profile_take(reader, message) };
	if (choice != NULL)
		making.choice = *choice;
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
	free(making.scales);
	pfs_profile_free((struct pfs_seen_profile *)(uintptr_t)making.profile);
	return making.heap;
}
