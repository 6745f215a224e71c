/*
 * dump_test.c - prints a box's heap profile as lines for a script.
 *
 * usage: sampling_dump TARGET
 */
#include <inttypes.h>
#include <stdio.h>

#include "memory/box/reader_profile.h"

static void print_head(const struct pfs_seen_profile *profile)
{
	const uint64_t *lost = profile->snapshot->lost;
	(void)printf("head %d %d %" PRIu64 " %" PRIu64 "\n", profile->is_there, profile->is_active,
		     profile->interval, profile->missed);
	(void)printf("lost %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		     lost[PFS_LOST_STACKS], lost[PFS_LOST_CONTEXTS], lost[PFS_LOST_SAMPLES],
		     lost[PFS_LOST_MODULES], lost[PFS_LOST_SAMPLE_BYTES]);
}

static void print_modules(const struct pfs_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->module_count; i++) {
		const struct pfs_box_module *module = &snapshot->modules[i];
		(void)printf("module %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 " ",
			     module->begin, module->end, module->file_offset,
			     module->loaded_realtime_ns, (uint64_t)module->gone_realtime_ns);
		for (uint32_t at = 0; at < module->build_id_bytes; at++)
			(void)printf("%02x", module->build_id[at]);
		(void)printf("- %s\n", module->path);
	}
}

static void print_contexts(const struct pfs_seen_profile *profile)
{
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		(void)printf("stack %u %d %" PRIu64, i, profile->stacks[i].is_cut,
			     profile->stacks[i].made_realtime_ns);
		for (uint32_t at = 0; at < profile->stacks[i].depth; at++)
			(void)printf(" %" PRIx64, profile->stacks[i].frames[at]);
		(void)printf("\n");
	}
	for (uint32_t i = 0; i < profile->context_count; i++) {
		const struct pfs_seen_context *context = &profile->contexts[i];
		(void)printf("context %u %d %d %" PRIu64 " %u %" PRIu64 " %.3f %.3f %" PRIu64
			     " '%s' '%s'\n",
			     i, (int)context->stack, (int)context->instrument, context->thread_id,
			     context->os_tid, context->samples, context->objects, context->bytes,
			     context->unwound, context->thread_name, context->user_name);
	}
}

int main(int argc, char **argv)
{
	struct pfs_message message;
	struct pfs_reader *reader = argc == 2 ? pfs_reader_open(argv[1], &message) : NULL;
	struct pfs_seen_profile *profile = reader != NULL ? pfs_profile_take(reader, &message)
							  : NULL;
	if (profile == NULL)
		return fprintf(stderr, "%s\n", argc == 2 ? message.text : "usage: dump TARGET"), 1;
	print_head(profile);
	print_modules(profile->snapshot);
	print_contexts(profile);
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct pfs_seen_sample *sample = &profile->samples[i];
		(void)printf("sample %d %" PRIu64 " %" PRIu64 " %.6f %" PRIx64 "\n",
			     (int)sample->context, sample->bytes, sample->interval, sample->objects,
			     sample->address);
	}
	pfs_profile_free(profile);
	pfs_reader_close(reader);
	return 0;
}
