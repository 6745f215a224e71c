/*
 * profile.c - pfs-mem profile: shows the state of sampling, and switches it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "memory/box/reader_profile.h"

static bool take_lg(const char *text, unsigned *lg)
{
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	*lg = (unsigned)value;
	return errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9' && value >= 1 &&
	       value <= 62;
}

struct totals {
	double objects, bytes;     /* in use */
	uint64_t samples, unwound; /* since the start */
	uint64_t interval;         /* the longest of a sample in use */
};

static struct totals totals_of(const struct pfs_seen_profile *profile)
{
	struct totals totals = { 0 };
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct pfs_seen_sample *sample = &profile->samples[i];
		totals.objects += sample->objects;
		totals.bytes += sample->objects * (double)sample->bytes;
		if (sample->interval > totals.interval)
			totals.interval = sample->interval;
	}
	for (uint32_t i = 0; i < profile->context_count; i++) {
		totals.samples += profile->contexts[i].samples;
		totals.unwound += profile->contexts[i].unwound;
	}
	return totals;
}

static void show_there(const struct pfs_seen_profile *profile)
{
	const struct totals totals = totals_of(profile);
	const uint64_t *lost = profile->snapshot->lost;
	(void)printf("%s: a sample each %llu bytes", profile->is_active ? "on" : "off",
		     (unsigned long long)profile->interval);
	if (totals.interval > profile->interval)
		(void)printf(" (up to %llu where its records are nearly all used)",
			     (unsigned long long)totals.interval);
	(void)printf("; %u in use, for %.0f bytes in %.0f blocks; %u stacks, %u contexts; "
		     "without room: %llu samples (%llu bytes), %llu stacks, %llu contexts\n",
		     profile->sample_count, totals.bytes, totals.objects, profile->stack_count,
		     profile->context_count, (unsigned long long)lost[PFS_LOST_SAMPLES],
		     (unsigned long long)lost[PFS_LOST_SAMPLE_BYTES],
		     (unsigned long long)lost[PFS_LOST_STACKS],
		     (unsigned long long)lost[PFS_LOST_CONTEXTS]);
	if (totals.samples != 0)
		(void)printf("stacks: %llu taken, %.1f %% walked, the others unwound\n",
			     (unsigned long long)totals.samples,
			     100 - 100 * (double)totals.unwound / (double)totals.samples);
}

static int show(struct pfs_reader *reader)
{
	struct pfs_message message;
	struct pfs_seen_profile *profile = pfs_profile_take(reader, &message);
	if (profile == NULL)
		return pfs_complain_of(&message);
	if (profile->is_there)
		show_there(profile);
	else
		(void)printf("none: the program was started without a profile\n");
	pfs_remark(profile->snapshot);
	pfs_profile_free(profile);
	return fflush(stdout) == 0 && ferror(stdout) == 0 ? PFS_EXIT_FINE : PFS_EXIT_REFUSED;
}

static int run_profile(const struct pfs_arguments *arguments)
{
	const char *word = arguments->word_count > 1 ? arguments->words[1] : NULL;
	const char *text = arguments->lg_prof_sample;
	struct pfs_message message;
	unsigned lg = 0;
	if (word != NULL && strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return pfs_complain(PFS_EXIT_USAGE, "profile: '%.100s': give on or off", word);
	if (text != NULL && (word == NULL || strcmp(word, "on") != 0))
		return pfs_complain(PFS_EXIT_USAGE, "profile: --lg-prof-sample is only for on");
	if (text != NULL && !take_lg(text, &lg))
		return pfs_complain(PFS_EXIT_USAGE,
				    "--lg-prof-sample '%.100s': give a whole "
				    "number from 1 to 62: 19 is one sample per 512 KiB",
				    text);
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	if (reader == NULL)
		return pfs_complain_of(&message);
	int status = PFS_EXIT_FINE;
	if (word == NULL)
		status = show(reader);
	else if (!pfs_profile_switch(reader, strcmp(word, "on") == 0, lg, &message))
		status = pfs_complain_of(&message);
	pfs_reader_close(reader);
	return status;
}

static const struct pfs_option profile_options[] = {
	PFS_MEM_TEXT("lg-prof-sample", 0, "N", lg_prof_sample,
		     "one sample per 2^N bytes; default: as the program was started"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_profile = {
	.name = "profile", .words = "TARGET [on|off]", .words_min = 1, .words_max = 2,
	.run = run_profile, .options = profile_options,
	.doc = "turn heap profile sampling on or off, or show its state\vSampled blocks stay in "
	       "the profile until they are freed, also when sampling is off.",
};
/* clang-format on */
