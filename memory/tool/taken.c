#define _GNU_SOURCE
#include "taken.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "profile/symbols.h"

/* ---- options ---- */

/* How old is it? False: it is no age. */
static bool take_age(const char *text, uint64_t *ns)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { '\0', 1 }, { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	uint64_t seconds = 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (end[0] == units[i].unit && (end[0] == '\0' || end[1] == '\0'))
			seconds = units[i].seconds;
	*ns = number * seconds * 1000000000u;
	return text[0] >= '0' && text[0] <= '9' && errno == 0 && seconds != 0 && number != 0 &&
	       number <= 100000000;
}

enum pfs_status pfs_take_age(void *context, const struct pfs_option *option, const char *text,
			     struct pfs_message *message)
{
	struct pfs_arguments *arguments = context;
	uint64_t *ns = strcmp(option->name, "older-than") == 0 ? &arguments->older_ns
							       : &arguments->newer_ns;
	if (take_age(text, ns))
		return PFS_OK;
	(void)pfs_refuse(message, "--%s '%.100s' is not an age: write seconds, or 10m, 2h, 3d",
			 option->name, text);
	return PFS_BAD_CONFIG;
}

/* A local time: of a day that it names, or the last one before now. False: it is none. */
static bool take_time(const char *text, uint64_t now_ns, uint64_t *ns)
{
	static const char *const formats[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%H:%M:%S",
					       "%H:%M" };
	time_t now = (time_t)(now_ns / 1000000000u);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm parts;
		if (localtime_r(&now, &parts) == NULL)
			return false;
		parts.tm_sec = 0;
		const char *end = strptime(text, formats[i], &parts);
		if (end == NULL || (*end != '\0' && (*end != '.' || i % 2 != 0)))
			continue;
		uint64_t ms = *end == '.' ? strtoull(end + 1, NULL, 10) % 1000 : 0;
		parts.tm_isdst = -1;
		struct tm before = parts;
		time_t then = mktime(&parts);
		before.tm_mday--;
		if (i >= 2 && then > now)
			then = mktime(&before);
		*ns = (uint64_t)then * 1000000000u + ms * 1000000u;
		return then > 0;
	}
	return false;
}

int pfs_choice_check(const struct pfs_arguments *arguments)
{
	bool has_age = arguments->older_ns != 0 || arguments->newer_ns != 0;
	if (arguments->at_peak && has_age)
		return pfs_complain(PFS_EXIT_USAGE, "--at-peak: the blocks of the peak have no "
						    "ages: leave --older-than and --newer-than "
						    "out");
	if (arguments->newer_ns != 0 && arguments->older_ns >= arguments->newer_ns)
		return pfs_complain(PFS_EXIT_USAGE, "--older-than must be less than --newer-than: "
						    "no block has both ages");
	if (arguments->of_total && (arguments->at_peak || has_age))
		return pfs_complain(PFS_EXIT_USAGE,
				    "--total is of all allocations: leave --at-peak, "
				    "--older-than and --newer-than out");
	if (arguments->seconds != 0 && (arguments->base != NULL || arguments->at_peak || has_age))
		return pfs_complain(PFS_EXIT_USAGE,
				    "--seconds compares a program with itself: leave --base, "
				    "--at-peak, --older-than and --newer-than out");
	uint64_t ns;
	if (arguments->since != NULL && !take_age(arguments->since, &ns) &&
	    !take_time(arguments->since, pfs_now_ns(CLOCK_REALTIME), &ns))
		return pfs_complain(PFS_EXIT_USAGE,
				    "--since '%.100s' is neither an age nor a local time: write "
				    "90, 10m, 2h, 3d, or 14:05, or 2026-01-31 14:05",
				    arguments->since);
	bool is_chosen = arguments->at_peak || has_age || arguments->of_total;
	if ((arguments->since != NULL || arguments->history) &&
	    (is_chosen || arguments->seconds != 0 || arguments->base != NULL ||
	     (arguments->since != NULL && arguments->history)))
		return pfs_complain(PFS_EXIT_USAGE,
				    "--%s compares what is in use with kept moments: leave the "
				    "other choices of what is shown out",
				    arguments->history ? "history" : "since");
	return PFS_EXIT_FINE;
}

/* ---- profiles ---- */

static void say_what_is_missing(const struct pfs_heap *heap, const char *target)
{
	if (heap->lost_samples != 0)
		(void)pfs_complain(
			0,
			"%.200s: %llu samples, of %llu bytes since the start, did not fit "
			"into the box: they are not in the profile",
			target, (unsigned long long)heap->lost_samples,
			(unsigned long long)heap->lost_bytes);
	if (heap->lost_stacks != 0 || heap->lost_contexts != 0)
		(void)pfs_complain(0,
				   "%.200s: %llu samples have no stack, and %llu no owner: the box "
				   "had no room for these",
				   target, (unsigned long long)heap->lost_stacks,
				   (unsigned long long)heap->lost_contexts);
}

/* With names if they are wanted; a dump then loses the allocator's own frames. */
static struct pfs_heap *take(const char *target, const struct pfs_heap_choice *choice,
			     bool with_names)
{
	struct pfs_message message;
	struct pfs_symbols_report report;
	struct pfs_heap *heap = pfs_heap_open(target, choice, &message);
	if (heap == NULL) {
		(void)pfs_complain_of(&message);
		return NULL;
	}
	if (heap->died[0] != '\0')
		(void)pfs_complain(0, "%s %s", pfs_heap_path_end(heap->program), heap->died);
	say_what_is_missing(heap, target);
	pfs_heap_look_up(heap, with_names, NULL, &report);
	if (with_names && report.files_refused != 0)
		(void)pfs_complain(0, "%u files give no symbols; the first: %s",
				   report.files_refused, report.why.text);
	if (with_names && heap->is_dump) {
		struct pfs_heap *whole = heap;
		heap = pfs_heap_without_allocator(whole);
		pfs_heap_free(whole);
	}
	if (heap == NULL || !pfs_heap_is_whole(heap, &message)) {
		(void)pfs_complain(0, "no memory for the profile of '%.200s'", target);
		pfs_heap_free(heap);
		return NULL;
	}
	return heap;
}

static struct pfs_heap *compared(struct pfs_heap *heap, struct pfs_heap *base)
{
	struct pfs_message message;
	if (heap != NULL && base != NULL)
		pfs_heap_compare(heap, base);
	if (heap == NULL || base == NULL || !pfs_heap_is_whole(heap, &message)) {
		if (heap != NULL && base != NULL)
			(void)pfs_complain_of(&message);
		pfs_heap_free(heap);
		heap = NULL;
	}
	pfs_heap_free(base);
	return heap;
}

/* A running program, now and in some seconds. */
static struct pfs_heap *take_twice(const struct pfs_arguments *arguments, bool with_names)
{
	const struct timespec wait = { .tv_sec = (time_t)arguments->seconds };
	struct pfs_heap *base = take(arguments->words[0], NULL, with_names);
	if (base == NULL)
		return NULL;
	if (base->live_pid == 0) {
		(void)pfs_complain(0,
				   "--seconds: %.200s does not run any more: --newer-than shows "
				   "what it allocated last, --base compares with a saved profile",
				   arguments->words[0]);
		pfs_heap_free(base);
		return NULL;
	}
	(void)nanosleep(&wait, NULL);
	return compared(take(arguments->words[0], NULL, with_names), base);
}

static bool has_moments(const struct pfs_heap *heap, const struct pfs_arguments *arguments)
{
	const char *option = arguments->history ? "history" : "since", *of = arguments->words[0];
	if (heap->is_dump)
		(void)pfs_complain(0,
				   "--%s: '%.150s' is a dump, of one moment: give a box, or "
				   "compare two dumps by --base",
				   option, of);
	else if (heap->moment_count == 0)
		(void)pfs_complain(0,
				   "--%s: the program of '%.150s' has kept no moment yet: the "
				   "first is kept with its first tick",
				   option, of);
	return heap->moment_count != 0;
}

/* With its own history. False: a message was printed. */
static bool compare_since(struct pfs_heap *heap, const struct pfs_arguments *arguments)
{
	char when[32];
	struct pfs_message message;
	uint64_t now = heap->taken_ns, since = 0;
	if (take_age(arguments->since, &since))
		since = now > since ? now - since : 0;
	else
		(void)take_time(arguments->since, now, &since);
	uint32_t moment = pfs_heap_moment_near(heap, since);
	pfs_heap_since(heap, moment);
	if (!pfs_heap_is_whole(heap, &message))
		return pfs_complain_of(&message), false;
	(void)snprintf(heap->of, sizeof(heap->of), "since %s",
		       pfs_time_text(heap->moments[moment].when_ns, when, sizeof(when)));
	if (heap->moments[moment].others != 0)
		(void)pfs_complain(0,
				   "%s: %u stacks with at most %.0f bytes each were left out of "
				   "that moment: their growth is too high by what they held",
				   heap->of, heap->moments[moment].others,
				   heap->moments[moment].others_most);
	return true;
}

struct pfs_heap *pfs_heap_taken(const struct pfs_arguments *arguments, bool with_names,
				bool is_scaled)
{
	const bool has_history = arguments->since != NULL || arguments->history;
	const struct pfs_heap_choice choice = { .is_scaled = is_scaled && arguments->base == NULL &&
							     !has_history,
						.at_peak = arguments->at_peak,
						.as_kept = has_history,
						.older_ns = arguments->older_ns,
						.newer_ns = arguments->newer_ns };
	if (arguments->seconds != 0)
		return take_twice(arguments, with_names);
	struct pfs_heap *heap = take(arguments->words[0], &choice, with_names);
	if (heap != NULL && has_history &&
	    (!has_moments(heap, arguments) ||
	     (arguments->since != NULL && !compare_since(heap, arguments)))) {
		pfs_heap_free(heap);
		return NULL;
	}
	if (heap == NULL || arguments->base == NULL)
		return heap;
	return compared(heap, take(arguments->base, NULL, with_names));
}
