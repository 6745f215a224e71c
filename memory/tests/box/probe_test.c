#include "probe_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/box/reader_profile.h"

static void must_be_line(const struct pfs_message *message)
{
	size_t length = strnlen(message->text, sizeof(message->text));
	if (length > 10 && length < sizeof(message->text) && strchr(message->text, '\n') == NULL)
		return;
	(void)fprintf(stderr, "not one line: '%s'\n", message->text);
	abort();
}

/* The lengths of all texts: AddressSanitizer detects reads past an end. */
static size_t read_texts(const struct pfs_snapshot *snapshot)
{
	size_t sum = strlen(snapshot->info.program) + strlen(snapshot->info.command);
	for (uint32_t i = 0; i < snapshot->instrument_count; i++)
		sum += strlen(snapshot->instruments[i].name);
	for (uint32_t i = 0; i < snapshot->thread_count; i++)
		sum += strlen(snapshot->threads[i].name);
	for (uint32_t i = 0; i < snapshot->account_count; i++)
		sum += strlen(snapshot->accounts[i].user_name) +
		       strlen(snapshot->accounts[i].host_name);
	for (uint32_t i = 0; i < snapshot->module_count; i++)
		sum += strlen(snapshot->modules[i].path);
	for (uint32_t i = 0; i < PFS_BOX_TICK_ARENAS; i++)
		sum += strlen(snapshot->arenas[i].pool);
	for (uint32_t i = 0; i < snapshot->owner_count; i++) {
		const struct pfs_seen_owner *one = &snapshot->owners[i];
		sum += strlen(one->name);
		if (one->parent != PFS_NONE && one->parent >= i) {
			(void)fprintf(stderr, "an owner that comes before its parent\n");
			abort();
		}
	}
	return sum;
}

/* Every frame and every text of the corruption. */
static int64_t read_corruption(const struct pfs_box_corruption *self)
{
	uint64_t sum = 0;
	if (self == NULL)
		return 0;
	sum += strlen(pfs_box_corruption_name(self->kind)) + strlen(self->call);
	for (uint32_t of = 0; of < PFS_BOX_TRACES; of++) {
		sum += strlen(self->traces[of].thread);
		for (uint32_t i = 0; i < self->traces[of].depth; i++)
			sum += self->traces[of].frames[i];
	}
	for (uint32_t i = 0; i < PFS_BOX_TRACE_MODULES; i++)
		sum += strlen(self->modules[i].path) +
		       self->modules[i].build_id[self->modules[i].build_id_bytes % 32];
	return (int64_t)sum;
}

static int64_t read_rows(const struct pfs_snapshot *snapshot)
{
	uint64_t sum = 0;
	struct pfs_row row;
	for (int t = 0; t < PFS_TABLES; t++)
		for (uint64_t i = 0; pfs_snapshot_row(snapshot, (enum pfs_box_table)t, i, &row);
		     i++)
			sum += (uint64_t)row.high_bytes + (uint64_t)row.count_alloc;
	for (uint32_t i = 0; i < snapshot->tick_count; i++)
		for (uint32_t j = 0; j < PFS_BOX_TICK_INSTRUMENTS; j++)
			sum += pfs_snapshot_instrument(snapshot,
						       snapshot->ticks[i].instruments[j].reference);
	return (int64_t)sum;
}

/* Every index and every frame of the profile. */
static int64_t read_profile(const struct pfs_seen_profile *profile)
{
	double sum = profile->is_active;
	for (uint32_t i = 0; i < profile->stack_count; i++)
		for (uint32_t j = 0; j < profile->stacks[i].depth; j++)
			sum += (double)profile->stacks[i].frames[j];
	for (uint32_t i = 0; i < profile->context_count; i++) {
		const struct pfs_seen_context *context = &profile->contexts[i];
		sum += context->bytes + context->objects + (double)strlen(context->thread_name) +
		       (double)(strlen(context->user_name) + strlen(context->host_name));
		if (context->stack != PFS_NONE)
			sum += profile->stacks[context->stack].depth;
		if (context->instrument != PFS_NONE)
			sum += (double)strlen(
				profile->snapshot->instruments[context->instrument].name);
	}
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct pfs_seen_sample *sample = &profile->samples[i];
		if (!(sample->objects >= 1)) {
			(void)fprintf(stderr, "a sample that stands for less than itself\n");
			abort();
		}
		sum += (double)sample->bytes;
		if (sample->context != PFS_NONE)
			sum += profile->contexts[sample->context].objects;
	}
	for (uint32_t i = 0; i < profile->moment_count; i++)
		for (uint32_t j = 0; j < profile->moments[i].count; j++)
			sum += profile->stacks[profile->moments[i].stacks[j].stack].depth +
			       (double)profile->moments[i].stacks[j].bytes;
	return sum > 1 ? 1 : 0;
}

static int64_t probe_profile(struct pfs_reader *reader)
{
	struct pfs_message message = { "" };
	struct pfs_seen_profile *profile = pfs_profile_take(reader, &message);
	int64_t result = 0;
	if (profile == NULL)
		must_be_line(&message);
	else
		result = read_profile(profile) + (int64_t)read_texts(profile->snapshot);
	pfs_profile_free(profile);
	return result;
}

enum pfs_probe pfs_probe_box(const char *path)
{
	struct pfs_message message = { "" };
	static volatile int64_t result;
	char text[160];
	struct pfs_reader *reader = pfs_reader_open(path, &message);
	if (reader == NULL) {
		must_be_line(&message);
		return PFS_PROBE_REFUSED;
	}
	(void)pfs_box_died(pfs_reader_info(reader), text, sizeof(text));
	struct pfs_snapshot *snapshot = pfs_snapshot_take(
		reader, PFS_SNAPSHOT_ROWS | PFS_SNAPSHOT_TICKS | PFS_SNAPSHOT_MODULES, &message);
	if (snapshot == NULL)
		must_be_line(&message);
	else
		result = read_rows(snapshot) + (int64_t)read_texts(snapshot);
	if (snapshot != NULL)
		result ^= read_corruption(snapshot->corruption);
	(void)result;
	pfs_snapshot_free(snapshot);
	result += probe_profile(reader);
	bool fine = pfs_reader_check(reader, &message);
	if (!fine)
		must_be_line(&message);
	pfs_reader_close(reader);
	return fine ? PFS_PROBE_FINE : PFS_PROBE_INCONSISTENT;
}
