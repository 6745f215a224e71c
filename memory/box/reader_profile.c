/*
 * reader_profile.c - read the profile of a box: first the samples, then the contexts that they
 * name, then their stacks. They are published in the opposite order and are not removed, so all
 * references are found. The snapshot comes last: it contains every instrument that a context names.
 */
#define _GNU_SOURCE
#include "reader_profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader_inside.h"

struct profile_taking {
	const struct pfs_reader *reader;
	uint64_t marks; /* of the peak, when the reading began */
	struct pfs_seen_profile *profile;
	uint64_t damaged;
	struct pfs_message damage;
};

__attribute__((format(printf, 2, 3))) static void damage(struct profile_taking *take,
							 const char *format, ...)
{
	va_list list;
	if (take->damaged++ != 0)
		return;
	va_start(list, format);
	(void)vsnprintf(take->damage.text, sizeof(take->damage.text), format, list);
	va_end(list);
}

static bool take_text(char *to, const char *from, size_t bytes)
{
	pfs_take_text(to, from, bytes);
	return memchr(from, '\0', bytes) != NULL;
}

/* ---- records ---- */

static bool take_sample(void *taking, uint64_t number, uint32_t word, const void *from, void *to)
{
	struct profile_taking *take = taking;
	(void)word;
	const struct pfs_box_sample *record = from;
	struct pfs_seen_sample *seen = to;
	struct pfs_box_sample *copy = (struct pfs_box_sample *)(uintptr_t)record;
	if (pfs_load_relaxed(&copy->is_free) != 0) /* relaxed: a private copy */
		return false;
	*seen = (struct pfs_seen_sample){
		.context = record->context,
		.bytes = record->bytes,
		.interval = record->interval,
		.taken_realtime_ns = record->taken_realtime_ns,
		.address = record->address,
	};
	if (record->level != PFS_CELL_IS_SAMPLE || record->interval == 0) {
		damage(take, "sample %llu is invalid", (unsigned long long)number);
		return false;
	}
	/* A sample of 0 bytes, as of malloc(0), has the weight of 1 byte. */
	double bytes = record->bytes != 0 ? (double)record->bytes : 1;
	seen->objects = -1 / expm1(-bytes / (double)record->interval);
	return true;
}

/* A sum at the peak: saved at that mark or a later one, else unchanged since then. */
static double at_peak(const struct profile_taking *take, uint64_t saved, uint64_t now)
{
	uint64_t mark = saved >> PFS_SAVED_BITS;
	uint64_t ahead = (mark - take->marks) & PFS_MARK_MOST;
	bool is_saved = ahead <= PFS_MARK_MOST / 2 && !take->profile->peak_is_now;
	uint64_t value = is_saved ? saved & PFS_SAVED_MOST : now;
	return (int64_t)value > 0 ? (double)value : 0;
}

static bool take_context(void *taking, uint64_t number, uint32_t word, const void *from, void *to)
{
	struct profile_taking *take = taking;
	(void)word;
	const struct pfs_box_context *record = from;
	struct pfs_seen_context *seen = to;
	*seen = (struct pfs_seen_context){
		.stack = record->stack,
		.instrument = record->instrument,
		.thread_id = record->thread_id,
		.os_tid = record->os_tid,
	};
	struct pfs_box_context *copy = (struct pfs_box_context *)(uintptr_t)record;
	seen->samples = pfs_load_relaxed(&copy->samples);           /* relaxed: a private copy */
	seen->unwound = pfs_load_relaxed(&copy->unwound);           /* relaxed: likewise */
	uint64_t objects = pfs_load_relaxed(&copy->objects_256ths); /* relaxed: likewise */
	seen->objects = (double)objects / 256;
	seen->bytes = (double)pfs_load_relaxed(&copy->bytes);     /* relaxed: likewise */
	uint64_t used = pfs_load_relaxed(&copy->bytes) -          /* relaxed: likewise */
			pfs_load_relaxed(&copy->freed_bytes);     /* relaxed: likewise */
	objects -= pfs_load_relaxed(&copy->freed_objects_256ths); /* relaxed: likewise */
	seen->used_bytes = (int64_t)used > 0 ? (double)used : 0;
	seen->used_objects = (int64_t)objects > 0 ? (double)objects / 256 : 0;
	seen->peak_bytes = at_peak(take, pfs_load_relaxed(&copy->peak_bytes),
				   used); /* relaxed: likewise */
	/* relaxed: likewise */
	seen->peak_objects = at_peak(take, pfs_load_relaxed(&copy->peak_objects_256ths), objects) /
			     256;
	bool ended = take_text(seen->thread_name, record->thread_name, sizeof(seen->thread_name));
	ended &= take_text(seen->user_name, record->user_name, sizeof(seen->user_name));
	ended &= take_text(seen->host_name, record->host_name, sizeof(seen->host_name));
	if (!ended)
		damage(take, "a name of context %llu is not terminated",
		       (unsigned long long)number);
	return true;
}

static bool take_stack(void *taking, uint64_t number, uint32_t word, const void *from, void *to)
{
	struct profile_taking *take = taking;
	(void)word;
	const struct pfs_box_stack *record = from;
	struct pfs_seen_stack *seen = to;
	uint32_t depth = record->depth < PFS_STACK_FRAMES ? record->depth : PFS_STACK_FRAMES;
	if (depth != record->depth)
		damage(take, "stack %llu has %u frames, more than its record holds",
		       (unsigned long long)number, record->depth);
	*seen = (struct pfs_seen_stack){ .depth = depth,
					 .is_cut = record->is_cut != 0,
					 .made_realtime_ns = record->made_realtime_ns,
					 .frames = malloc((depth + 1) * sizeof(*seen->frames)) };
	if (seen->frames != NULL)
		memcpy(seen->frames, record->frames, depth * sizeof(*seen->frames));
	else
		seen->depth = 0;
	return true;
}

/* False: no memory. */
static bool take_all(struct profile_taking *take, enum pfs_box_kind kind,
		     struct pfs_records *records, pfs_record_take *read)
{
	bool fine = pfs_records_take(take->reader, kind, records, read, take);
	take->profile->missed += records->missed;
	return fine;
}

/* ---- references ---- */

static uint32_t index_of(struct profile_taking *take, const struct pfs_records *seen,
			 uint32_t reference, const char *what)
{
	if (reference == 0)
		return PFS_NONE;
	uint32_t index = reference <= seen->reference_max ? seen->index_of[reference] : PFS_NONE;
	if (index == PFS_NONE)
		damage(take, "%s %u is referenced, but does not exist", what, reference - 1);
	return index;
}

static void resolve(struct profile_taking *take, const struct pfs_records *stacks,
		    const struct pfs_records *contexts)
{
	struct pfs_seen_profile *profile = take->profile;
	for (uint32_t i = 0; i < profile->context_count; i++) {
		struct pfs_seen_context *context = &profile->contexts[i];
		uint32_t reference = context->instrument;
		context->stack = index_of(take, stacks, context->stack, "stack");
		context->instrument = pfs_snapshot_instrument(profile->snapshot, reference);
		if (reference != 0 && context->instrument == PFS_NONE)
			damage(take, "instrument %u is referenced, but does not exist",
			       reference - 1);
	}
	for (uint32_t i = 0; i < profile->sample_count; i++)
		profile->samples[i].context = index_of(take, contexts, profile->samples[i].context,
						       "context");
}

/* ---- all of it ---- */

static void read_peak(struct profile_taking *take, struct pfs_box_peak *peak)
{
	struct pfs_seen_profile *profile = take->profile;
	take->marks = pfs_load_acquire(&peak->marks) & PFS_MARK_MOST; /* [PK2] acquire */
	uint64_t bytes = pfs_load_relaxed(&peak->bytes);     /* relaxed: [PK2] brought it */
	uint64_t sampled = pfs_load_relaxed(&peak->sampled); /* relaxed: a sum */
	/* relaxed: [PK2] brought it */
	profile->peak_realtime_ns = pfs_load_relaxed(&peak->realtime_ns);
	profile->peak_is_now = sampled >= bytes;
	profile->peak_bytes = (double)(profile->peak_is_now ? sampled : bytes);
}

/* log2 of the mean bytes between samples, at the start; 0: no profile. */
static uint32_t started_lg(const struct pfs_reader *reader)
{
	uint32_t started;
	memcpy(&started, &pfs_reader_head(reader)->profile_lg, sizeof(started));
	return started;
}

bool pfs_profile_is_there(const struct pfs_reader *self)
{
	return started_lg(self) != 0;
}

static bool take_moments(struct profile_taking *take)
{
	struct pfs_seen_profile *profile = take->profile;
	profile->moments = calloc(PFS_MOMENTS_KEPT, sizeof(*profile->moments));
	return profile->moments != NULL &&
	       pfs_take_moments(take->reader, profile->moments, &profile->moment_count);
}

/* No sum of a moment's values overflows then. */
static void check_sum(struct profile_taking *take, const struct pfs_seen_moment *moment,
		      uint64_t *bytes)
{
	if (*bytes <= PFS_SAVED_MOST)
		return;
	damage(take, "moment %llu has a stack with %llu bytes, more than there can be",
	       (unsigned long long)moment->number, (unsigned long long)*bytes);
	*bytes = 0;
}

/* A damaged moment loses the stacks that do not exist. */
static void resolve_moment(struct profile_taking *take, const struct pfs_records *stacks,
			   struct pfs_seen_moment *moment)
{
	uint32_t count = 0;
	check_sum(take, moment, &moment->no_stack_bytes);
	check_sum(take, moment, &moment->others_bytes);
	check_sum(take, moment, &moment->others_most);
	for (uint32_t i = 0; i < moment->count; i++) {
		struct pfs_seen_held held = moment->stacks[i];
		check_sum(take, moment, &held.bytes);
		held.stack = index_of(take, stacks, held.stack, "stack");
		if (held.stack != PFS_NONE)
			moment->stacks[count++] = held;
		else if (moment->stacks[i].stack == 0)
			damage(take, "moment %llu names no stack",
			       (unsigned long long)moment->number);
	}
	moment->count = count;
}

static void read_switches(struct profile_taking *take)
{
	struct pfs_seen_profile *profile = take->profile;
	struct pfs_box_control *control = pfs_reader_control(take->reader);
	struct pfs_box_head *head = pfs_reader_head(take->reader);
	uint32_t started = started_lg(take->reader);
	uint32_t lg = pfs_load_relaxed(&control->profile_lg); /* relaxed: a switch */
	profile->is_there = started != 0;
	/* relaxed: a switch */
	profile->is_active = profile->is_there &&
			     (pfs_load_relaxed(&control->profile_off) & 1) == 0;
	lg = lg >= 1 && lg <= 62 ? lg : started;
	profile->interval = profile->is_there ? UINT64_C(1) << (lg & 63) : 0;
	read_peak(take, &head->peak);
}

static bool take_parts(struct profile_taking *take, struct pfs_reader *reader,
		       struct pfs_message *message)
{
	struct pfs_seen_profile *profile = take->profile;
	struct pfs_records samples = { .stride = sizeof(struct pfs_seen_sample) };
	struct pfs_records contexts = { .stride = sizeof(struct pfs_seen_context) };
	struct pfs_records stacks = { .stride = sizeof(struct pfs_seen_stack) };
	/* First the moments: the stacks that they name are there already. */
	bool fine = take_moments(take) && take_all(take, PFS_BOX_SAMPLES, &samples, take_sample) &&
		    take_all(take, PFS_BOX_CONTEXTS, &contexts, take_context) &&
		    take_all(take, PFS_BOX_STACKS, &stacks, take_stack);
	profile->samples = samples.array;
	profile->contexts = contexts.array;
	profile->stacks = stacks.array;
	profile->sample_count = samples.count;
	profile->context_count = contexts.count;
	profile->stack_count = stacks.count;
	if (!fine)
		(void)pfs_refuse(message, "no memory to read '%.150s'", reader->info.path);
	fine = fine && (profile->snapshot = pfs_snapshot_take(
				reader, PFS_SNAPSHOT_MODULES | PFS_SNAPSHOT_ROWS, message)) != NULL;
	if (fine) {
		resolve(take, &stacks, &contexts);
		for (uint32_t i = 0; i < profile->moment_count; i++)
			resolve_moment(take, &stacks, &profile->moments[i]);
		if (profile->snapshot->damaged == 0)
			profile->snapshot->damage = take->damage;
		profile->snapshot->damaged += take->damaged;
	}
	free(samples.index_of);
	free(contexts.index_of);
	free(stacks.index_of);
	return fine;
}

struct pfs_seen_profile *pfs_profile_take(struct pfs_reader *self, struct pfs_message *message)
{
	struct profile_taking take = { .reader = self };
	/* If the program has died, find that out now, not between two kinds of records. */
	if (!pfs_reader_refresh(self, message))
		return NULL;
	take.profile = calloc(1, sizeof(*take.profile));
	if (take.profile == NULL) {
		(void)pfs_refuse(message, "no memory to read '%.150s'", self->info.path);
		return NULL;
	}
	read_switches(&take);
	if (!take_parts(&take, self, message) || !pfs_reader_is_whole(self, message)) {
		pfs_profile_free(take.profile);
		return NULL;
	}
	return take.profile;
}

void pfs_profile_free(struct pfs_seen_profile *profile)
{
	if (profile == NULL)
		return;
	for (uint32_t i = 0; i < profile->stack_count; i++)
		free(profile->stacks[i].frames);
	for (uint32_t i = 0; i < profile->moment_count; i++)
		free(profile->moments[i].stacks);
	free(profile->moments);
	pfs_snapshot_free(profile->snapshot);
	free(profile->stacks);
	free(profile->contexts);
	free(profile->samples);
	free(profile);
}
