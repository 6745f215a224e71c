/*
 * profile.c - pfs-mem profile: shows who holds most and the state of sampling, and switches it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "command.h"
#include "memory/box/reader_profile.h"
#include "profile/holders.h"
#include "taken.h"

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
	double objects, bytes; /* in use */
	uint64_t interval;     /* the longest of a sample in use */
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
	return totals;
}

static void put_state(const struct pfs_seen_profile *profile)
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
	if (profile->snapshot->stacks_taken != 0)
		(void)printf("stacks: %llu taken, %.1f %% walked, the others unwound\n",
			     (unsigned long long)profile->snapshot->stacks_taken,
			     100 * (double)profile->snapshot->stacks_walked /
				     (double)profile->snapshot->stacks_taken);
	(void)printf("\n");
}

static void put_none(const struct pfs_seen_profile *profile)
{
	(void)printf("none: the program was started without a profile\n");
	pfs_remark(profile->snapshot);
}

/* ---- who holds most ---- */

static void put_error(struct pfs_sheet *sheet, const struct pfs_heap *heap,
		      const struct pfs_heap_values *of, bool is_text)
{
	char text[32];
	double error = pfs_heap_error(heap, of);
	if (is_text)
		pfs_sheet_text(sheet, pfs_error_text(heap, of, text));
	else if (error < 0)
		pfs_sheet_blank(sheet);
	else
		pfs_sheet_number(sheet, (int64_t)error);
}

static void put_age(struct pfs_sheet *sheet, const struct pfs_heap *heap, uint64_t since_ns,
		    bool is_text)
{
	char text[32];
	if (is_text)
		pfs_sheet_text(sheet, pfs_age_text(heap, since_ns, text));
	else if (since_ns == 0)
		pfs_sheet_blank(sheet);
	else
		pfs_sheet_number(sheet,
				 heap->taken_ns > since_ns
					 ? (int64_t)((heap->taken_ns - since_ns) / 1000000000u)
					 : 0);
}

static void put_holder(struct pfs_sheet *sheet, const struct pfs_heap *heap,
		       const struct pfs_holder *holder, const struct pfs_arguments *arguments)
{
	char text[1600];
	bool is_text = arguments->format == PFS_FORMAT_TEXT, total = arguments->of_total;
	double now = total ? holder->now.total_bytes : holder->now.live_bytes;
	double base = total ? holder->base.total_bytes : holder->base.live_bytes;
	if (heap->has_base) {
		pfs_sheet_number(sheet, (int64_t)(now - base));
		pfs_sheet_number(sheet, (int64_t)now);
		pfs_sheet_number(sheet, (int64_t)base);
	} else {
		pfs_sheet_number(sheet, (int64_t)now);
		if (!total)
			put_error(sheet, heap, &holder->now, is_text);
		pfs_sheet_number(sheet, (int64_t)(total ? holder->now.total_objects
							: holder->now.live_objects));
	}
	if (!heap->has_base && !total) {
		put_age(sheet, heap, holder->now.oldest_ns, is_text);
		put_age(sheet, heap, holder->now.newest_ns, is_text);
	}
	pfs_sheet_text(sheet, arguments->by_name && holder->name != NULL
				      ? holder->name
				      : pfs_holder_text(heap, holder, text, sizeof(text)));
}

static void put_head(const struct pfs_heap *heap, const struct pfs_holders *holders,
		     const struct pfs_arguments *arguments)
{
	char bytes[32], rest[32];
	(void)printf("%s%s%s: %s %s%s%s%s\n", heap->program, heap->died[0] != '\0' ? " " : "",
		     heap->died, pfs_amount((int64_t)holders->bytes, bytes),
		     arguments->of_total ? "allocated since the start" : "in use",
		     heap->of[0] != '\0' ? ", " : "", heap->of,
		     heap->is_scaled ? ", scaled to the exact bytes of the instruments" : "");
	if (heap->unsampled_bytes >= 1 && !arguments->of_total)
		(void)printf("%s more in use have no sample\n",
			     pfs_amount((int64_t)heap->unsampled_bytes, rest));
	(void)printf("\n");
}

static bool put_table(const struct pfs_heap *heap, const struct pfs_holders *holders,
		      const struct pfs_arguments *arguments)
{
	static const char *const columns[] = { "BYTES",  "ERROR", "BLOCKS", "OLDEST",
					       "NEWEST", "WHERE", NULL };
	static const char *const of_total[] = { "BYTES", "BLOCKS", "WHERE", NULL };
	static const char *const of_two[] = { "CHANGE", "NOW", "BEFORE", "WHERE", NULL };
	struct pfs_sheet *sheet = pfs_sheet_begin(heap->has_base        ? of_two
						  : arguments->of_total ? of_total
									: columns);
	if (sheet == NULL)
		return false;
	if (arguments->format == PFS_FORMAT_TEXT)
		put_head(heap, holders, arguments);
	for (uint32_t i = 0; i < holders->count && i < arguments->count; i++)
		put_holder(sheet, heap, &holders->holders[i], arguments);
	return pfs_sheet_end(sheet, arguments->format);
}

static int show_holders(const struct pfs_arguments *arguments, const struct pfs_seen_profile *state)
{
	const struct pfs_holders_options options = { .of_total = arguments->of_total,
						     .by_name = arguments->by_name };
	struct pfs_message message;
	struct pfs_holders holders = { 0 };
	struct pfs_heap *heap = pfs_heap_taken(arguments, true, true);
	if (heap == NULL)
		return PFS_EXIT_REFUSED;
	struct pfs_rules *rules = pfs_rules_open(arguments->rules, heap, &message);
	int status = rules == NULL ? pfs_complain_of(&message) : PFS_EXIT_FINE;
	if (rules != NULL && state != NULL) {
		put_state(state);
		pfs_remark_left_out(state->snapshot);
	}
	if (rules != NULL && !pfs_holders_make(&holders, heap, rules, &options))
		status = pfs_complain(PFS_EXIT_REFUSED, "profile: no memory");
	else if (rules != NULL && !put_table(heap, &holders, arguments))
		status = pfs_complain(PFS_EXIT_REFUSED, "standard output cannot be written");
	pfs_holders_drop(&holders);
	pfs_rules_close(rules);
	pfs_heap_free(heap);
	return status;
}

/* A box with its state; a dump has none. */
static int show(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	int status = pfs_choice_check(arguments);
	if (status != PFS_EXIT_FINE)
		return status;
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	if (reader == NULL || arguments->format != PFS_FORMAT_TEXT) {
		pfs_reader_close(reader);
		return show_holders(arguments, NULL);
	}
	struct pfs_seen_profile *state = pfs_profile_take(reader, &message);
	if (state == NULL)
		status = pfs_complain_of(&message);
	else if (!state->is_there)
		put_none(state);
	else
		status = show_holders(arguments, state);
	pfs_profile_free(state);
	pfs_reader_close(reader);
	return status;
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
	if (word == NULL && arguments->history)
		return pfs_show_history(arguments);
	if (word == NULL)
		return show(arguments);
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	if (reader == NULL)
		return pfs_complain_of(&message);
	int status = PFS_EXIT_FINE;
	if (!pfs_profile_switch(reader, strcmp(word, "on") == 0, lg, &message))
		status = pfs_complain_of(&message);
	pfs_reader_close(reader);
	return status;
}

static const struct pfs_option profile_options[] = {
	PFS_MEM_TEXT("lg-prof-sample", 0, "N", lg_prof_sample,
		     "one sample per 2^N bytes; default: as the program was started"),
	PFS_MEM_CHOICE,
	PFS_MEM_TEXT("base", 0, "TARGET", base, "show what grew and shrank since this box or dump"),
	PFS_MEM_SINCE,
	PFS_MEM_SWITCH("history", 0, history,
		       "what each line held at the kept moments, and what grew most first"),
	PFS_MEM_SWITCH("total", 0, of_total, "all allocations since the start"),
	PFS_MEM_RULES,
	PFS_MEM_SWITCH("by-name", 0, by_name, "add stacks up by the names that rules give them"),
	PFS_MEM_COUNT,
	PFS_MEM_READ("format", 'f', "FORMAT", pfs_take_format, "text, csv, or json; default text"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_profile = {
	.name = "profile", .words = "TARGET [on|off]", .words_min = 1, .words_max = 2,
	.run = run_profile, .options = profile_options,
	.doc = "show who holds most of the heap, by line; or turn sampling on or off\v"
	       "WHERE is the nearest function of the program's own, outside allocators and "
	       "standard libraries. ERROR is one standard deviation. OLDEST and NEWEST are ages "
	       "of blocks. TARGET may also be a dump: heap_v2, or gperftools' text. Sampled blocks "
	       "stay in the profile until they are freed, also when sampling is off.",
};
/* clang-format on */
