/*
 * profile_test.c - the profile of a box made by hand: what a reader gets, what it leaves out, and
 * how it is switched.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "crowd_test.h"
#include "memory/box/reader_profile.h"
#include "stress/harness/harness.h"

static struct pfs_reader *begin_sample(bool is_live)
{
	name_box();
	pfs_made_sample(&box, path);
	if (!is_live)
		pfs_made_leave(&box);
	return open_box();
}

static struct pfs_seen_profile *take_profile(struct pfs_reader *reader)
{
	struct pfs_message message;
	struct pfs_seen_profile *profile = pfs_profile_take(reader, &message);
	PFS_CHECK(profile != NULL);
	return profile;
}

static bool is_near(double value, double wanted)
{
	return fabs(value - wanted) < wanted * 1e-12;
}

static void read_all(const struct pfs_case *at)
{
	(void)at;
	for (int is_live = 0; is_live < 2; is_live++) {
		struct pfs_reader *reader = begin_sample(is_live != 0);
		struct pfs_seen_profile *profile = take_profile(reader);
		PFS_CHECK(profile->is_there && profile->is_active);
		PFS_CHECK_IS(profile->interval, 4096);
		PFS_CHECK_IS(profile->stack_count, 2);
		PFS_CHECK_IS(profile->context_count, 2);
		PFS_CHECK_IS(profile->sample_count, 4);
		PFS_CHECK_IS(profile->missed, 0);
		PFS_CHECK_IS(profile->snapshot->damaged, 0);
		PFS_CHECK_IS(profile->snapshot->module_count, 1);
		const struct pfs_seen_context *context = &profile->contexts[1];
		PFS_CHECK_IS(profile->stacks[context->stack].depth, 2);
		PFS_CHECK_IS(profile->stacks[context->stack].frames[1], 0x1800);
		PFS_CHECK(strcmp(profile->snapshot->instruments[context->instrument].name,
				 "memory/server/net") == 0);
		PFS_CHECK(strcmp(context->thread_name, "worker") == 0);
		PFS_CHECK(strcmp(context->user_name, "app") == 0);
		PFS_CHECK(strcmp(context->host_name, "web1") == 0);
		PFS_CHECK_IS(context->samples, 3);
		PFS_CHECK(is_near(context->objects, 100) && is_near(context->bytes, 100000));
		PFS_CHECK_IS(profile->samples[3].context, 1);
		/* 1 / p, as profile.h has it. */
		PFS_CHECK(is_near(profile->samples[2].objects, 1 / (1 - exp(-1000.0 / 4096))));
		PFS_CHECK(is_near(profile->samples[3].objects, 1 / (1 - exp(-100000.0 / 4096))));
		PFS_CHECK_IS(profile->moment_count, 3);
		for (uint32_t i = 0; i < 3; i++) {
			const struct pfs_seen_moment *moment = &profile->moments[i];
			PFS_CHECK_IS(moment->number, i + 1);
			PFS_CHECK_IS(moment->realtime_ns -
					     profile->snapshot->info.start_realtime_ns,
				     (i + 1) * UINT64_C(60000000000));
			PFS_CHECK_IS(moment->count, 2);
			PFS_CHECK_IS(moment->stacks[1].stack, 1);
			PFS_CHECK_IS(moment->stacks[1].blocks, 2 * (i + 1));
			PFS_CHECK_IS(moment->stacks[1].bytes, 2000 * (i + 1));
		}
		pfs_profile_free(profile);
		end(reader);
	}
}

static void no_profile(const struct pfs_case *at)
{
	struct pfs_message message;
	(void)at;
	begin();
	struct pfs_reader *reader = open_box();
	struct pfs_seen_profile *profile = take_profile(reader);
	PFS_CHECK(!profile->is_there && !profile->is_active);
	PFS_CHECK_IS(profile->stack_count + profile->context_count + profile->sample_count, 0);
	PFS_CHECK_IS(profile->interval, 0);
	pfs_profile_free(profile);
	PFS_CHECK(!pfs_profile_switch(reader, true, 0, &message));
	PFS_CHECK(strstr(message.text, "without a profile") != NULL);
	end(reader);
}

/* Each case makes one record invalid; the others are read, and one is counted as damaged. */
static void damaged(const struct pfs_case *at)
{
	(void)at;
	for (int i = 0; i < 8; i++) {
		struct pfs_message message;
		struct pfs_reader *reader = begin_sample(true);
		struct pfs_box_stack *stack = pfs_made_at(&box, PFS_BOX_STACKS, 1);
		struct pfs_box_context *context = pfs_made_at(&box, PFS_BOX_CONTEXTS, 1);
		struct pfs_box_sample *sample = pfs_made_at(&box, PFS_BOX_SAMPLES, 1);
		switch (i) {
		case 0: stack->depth = PFS_STACK_FRAMES + 1; break;
		case 1: context->stack = 3; break;
		case 2: context->instrument = 1000; break;
		case 3: context->stack = UINT32_MAX; break;
		case 4: memset(context->user_name, 'u', sizeof(context->user_name)); break;
		case 5: sample->context = 7; break;
		case 6: sample->level = 0; break;
		default: sample->interval = 0;
		}
		struct pfs_seen_profile *profile = take_profile(reader);
		PFS_CHECK_IS(profile->snapshot->damaged, 1);
		PFS_CHECK_IS(profile->sample_count, i < 6 ? 4 : 3);
		PFS_CHECK_IS(profile->stacks[0].depth, i == 0 ? PFS_STACK_FRAMES : 3);
		PFS_CHECK_IS(profile->contexts[0].stack, i == 1 || i == 3 ? PFS_NONE : 0);
		PFS_CHECK_IS(strlen(profile->contexts[0].user_name), i == 4 ? 31 : 3);
		PFS_CHECK_IS(profile->samples[0].context, i == 5 ? PFS_NONE : 0);
		pfs_profile_free(profile);
		PFS_CHECK(!pfs_reader_check(reader, &message));
		PFS_CHECK(strstr(message.text, "are invalid") != NULL);
		end(reader);
	}
}

/* Stacks of a moment that do not exist are left out and counted; a moment that is not what its
 * place says is not shown. */
static void damaged_moments(const struct pfs_case *at)
{
	(void)at;
	for (int i = 0; i < 9; i++) {
		struct pfs_reader *reader = begin_sample(true);
		char *all = box.base + pfs_made_region(&box, PFS_BOX_MOMENTS)->offset;
		struct pfs_box_moment *moment = (struct pfs_box_moment *)(void *)all +
						pfs_moment_place(2);
		switch (i) {
		case 0: moment->stacks[0].stack = 3; break;
		case 1: moment->stacks[1].stack = UINT32_MAX; break;
		case 2: moment->stacks[0].stack = 0; break;
		case 3: moment->count = PFS_MOMENT_STACKS + 1; break;
		case 4: moment->number = 3; break;
		case 5: moment->number = 0; break;
		case 6: moment->number = UINT64_MAX; break;
		case 7: pfs_store_release(&box.head->moments, UINT64_MAX); break;
		default: pfs_store_release(&box.head->moments, 1);
		}
		struct pfs_seen_profile *profile = take_profile(reader);
		PFS_CHECK_IS(profile->snapshot->damaged, i < 3 ? 1 : 0);
		PFS_CHECK_IS(profile->moment_count, i < 3 ? 3 : i < 7 ? 2 : i == 7 ? 0 : 1);
		for (uint32_t j = 0; j < profile->moment_count; j++)
			PFS_CHECK_IS(profile->moments[j].count,
				     profile->moments[j].number == 2 ? 1 : 2);
		pfs_profile_free(profile);
		end(reader);
	}
}

/* A record that is being written is left out. */
static void unpublished(const struct pfs_case *at)
{
	(void)at;
	struct pfs_reader *reader = begin_sample(true);
	pfs_store_release(pfs_made_word(&box, PFS_BOX_SAMPLES, 2), 1); /* DIRTY */
	struct pfs_seen_profile *profile = take_profile(reader);
	PFS_CHECK_IS(profile->sample_count, 3);
	PFS_CHECK_IS(profile->snapshot->damaged, 0);
	pfs_profile_free(profile);
	end(reader);
}

static void switched(const struct pfs_case *at)
{
	struct pfs_message message;
	(void)at;
	struct pfs_reader *reader = begin_sample(true);
	uint32_t generation = pfs_load_acquire(&box.control->generation);
	PFS_CHECK(pfs_profile_switch(reader, false, 20, &message));
	PFS_CHECK(pfs_load_acquire(&box.control->generation) != generation);
	struct pfs_seen_profile *profile = take_profile(reader);
	PFS_CHECK(profile->is_there && !profile->is_active);
	PFS_CHECK_IS(profile->interval, 1 << 20);
	pfs_profile_free(profile);
	PFS_CHECK(!pfs_profile_switch(reader, true, 63, &message));
	PFS_CHECK(strstr(message.text, "2^63") != NULL);
	PFS_CHECK(pfs_profile_switch(reader, true, 0, &message));
	profile = take_profile(reader);
	PFS_CHECK(profile->is_active);
	PFS_CHECK_IS(profile->interval, 4096);
	pfs_profile_free(profile);
	end(reader);
	reader = begin_sample(false);
	PFS_CHECK(!pfs_profile_switch(reader, false, 0, &message));
	PFS_CHECK(strstr(message.text, "is read-only") != NULL);
	end(reader);
}

int main(int argc, char **argv)
{
	static const struct pfs_test tests[] = {
		{ .name = "read_all", .run = read_all },
		{ .name = "no_profile", .run = no_profile },
		{ .name = "damaged", .run = damaged },
		{ .name = "damaged_moments", .run = damaged_moments },
		{ .name = "unpublished", .run = unpublished },
		{ .name = "switched", .run = switched },
	};
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
