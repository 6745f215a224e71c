#include "sim/command/search_arguments.h"

#include <string.h>

#include "base/command_line.h"
#include "sim/cases/cases.h"
#include "check/search/jobs.h"

#define POLICY(self) PFS_TEXT_OPTION("policy", "P", &(self)->policy, "a policy (pfs-sim list)")
#define MEMORY(self) PFS_TEXT_OPTION("memory", "M", &(self)->memory, PFS_MEMORY_HELP "default sc")
#define EXECUTIONS(self)                                                         \
	PFS_NUMBER_OPTION("executions", "N", &(self)->executions, 0, UINT64_MAX, \
			  "stop after N executions; 0: no limit")
#define SEED(self)                                                   \
	PFS_NUMBER_OPTION("seed", "N", &(self)->seed, 0, UINT64_MAX, \
			  "of random, pct, rotate; default 1")

static const char exit_text[] =
	"exit 0: no schedule failed. 1: one failed, and is printed; or none ended. 2: bad usage.\n";

static enum pfs_status read_layout(void *context, const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	static const struct {
		const char *name, *older;
		enum pfs_layout layout;
		bool bare_words;
	} layouts[] = { { "in-record", "in_record", PFS_LAYOUT_IN_RECORD, false },
			{ "side-by-side", "side_by_side", PFS_LAYOUT_SIDE_BY_SIDE, false },
			{ "bare", "bare", PFS_LAYOUT_BARE, false },
			{ "bare-words", "bare_words", PFS_LAYOUT_BARE, true },
			{ "own-word", "own_word", PFS_LAYOUT_OWN_WORD, false } };
	struct pfs_search_arguments *self = context;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(text, layouts[i].name) != 0 && strcmp(text, layouts[i].older) != 0)
			continue;
		self->layout = layouts[i].layout;
		self->bare_words = layouts[i].bare_words;
		return PFS_OK;
	}
	return pfs_read_choice(option->name, text,
			       "in-record, side-by-side, bare, bare-words, "
			       "own-word",
			       message);
}

int pfs_explore_arguments(struct pfs_search_arguments *self, int argc, char **argv)
{
	bool no_full_flags = false;
	/* clang-format off */
	const struct pfs_option options[] = {
		POLICY(self),
		PFS_TEXT_OPTION("scenario", "S", &self->scenario, "a scenario (pfs-sim list)"),
		PFS_NUMBER_OPTION("threads", "T", &self->threads, 1, PFS_CASE_THREADS_MAX,
				  "1 to 8; default: the scenario's own"),
		PFS_NUMBER_OPTION("operations", "N", &self->operations, 1, PFS_CASE_OPERATIONS_MAX,
				  "of each thread, 1 to 8; default: the scenario's own"),
		MEMORY(self),
		PFS_SWITCH_OPTION("append-only", &self->append_only, "views, exhaustive: no write "
				  "is put behind a later one"),
		PFS_TEXT_OPTION("weaken", "PLACE", &self->weaken, "FILE:LINE, or the text of an "
				"object: its operations become weaker, seq to acquire and release, "
				"these to relaxed; PLACE=relaxed: all the way"),
		PFS_SWITCH_OPTION("no-races", &self->no_races, "do not look for data races"),
		PFS_TEXT_OPTION("search", "K", &self->search,
				PFS_SEARCH_HELP_OF(PFS_SEARCH_HELP) "default exhaustive"),
		PFS_NUMBER_OPTION("preemptions", "N", &self->preemptions, 0, 1000, "search every "
				  "schedule of up to N preemptions (--search bounded), or of so "
				  "many from one moment at which no thread is in a call to the "
				  "next (--search fixpoint)"),
		PFS_NUMBER_OPTION("jobs", "N", &self->jobs, 1, PFS_JOBS_MAX,
			"search in N processes, with the same result; default: one per CPU, but 1 "
			"if --executions bounds an exhaustive search"),
		PFS_NUMBER_OPTION("memory-mib", "N", &self->memory_mib, 0, 1u << 24,
				  "fixpoint: states may take so much; default 4096; 0: no bound"),
		EXECUTIONS(self),
		PFS_NUMBER_OPTION("seconds", "S", &self->seconds, 0, 1000000,
			"stop after this time; default 60"),
		SEED(self),
		PFS_ON_OFF_OPTION("full-flags", &self->full_flags, "policy original with the real "
				  "system's full flags; default on"),
		PFS_SWITCH_OPTION("no-full-flags", &no_full_flags, NULL),
		{ .name = "layout", .value = "L", .kind = PFS_OPTION_READ, .read = read_layout,
		  .help = "in-record, side-by-side (the words of a page in one array), bare "
			  "(records without headers), bare-words (and words beside them), own-word "
			  "(and the word in the record); default in-record" },
		PFS_SWITCH_OPTION("owner-fences", &self->owner_fences, "rings of free records "
				  "without the heavy barrier; check and weaken try both"),
		PFS_SWITCH_OPTION("real-time", &self->real_time, "tso, views: a free counts from "
				  "its return, not from when it reached memory"),
		PFS_TEXT_OPTION("save", "FILE", &self->save, "write a failing schedule to FILE"),
		PFS_SWITCH_OPTION("quiet", &self->quiet, "no trace of a failing schedule"),
	};
	/* clang-format on */
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-sim explore", .words = "", .options = options,
		.option_count = sizeof(options) / sizeof(options[0]), .context = self,
		.about = "searches the schedules of a scenario for one in which a policy breaks a "
			 "promise", .after = exit_text,
	};
	/* clang-format on */
	self->full_flags = true;
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	self->full_flags &= !no_full_flags;
	return status;
}

int pfs_check_arguments(struct pfs_search_arguments *self, int argc, char **argv)
{
	const struct pfs_option options[] = { MEMORY(self), EXECUTIONS(self), SEED(self),
					      POLICY(self) };
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-sim check", .words = "", .options = options, .option_count = 4,
		.about = "searches each policy and scenario, exhaustively and by rotate; only "
			 "original's known defect may be found", .after = exit_text,
	};
	/* clang-format on */
	self->full_flags = true;
	return pfs_command_line_read(&line, argc, argv, NULL);
}

int pfs_weaken_arguments(struct pfs_search_arguments *self, int argc, char **argv)
{
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("labels", "L1,L3", &self->labels, "only places of these labels"),
		EXECUTIONS(self),
		SEED(self),
		PFS_SWITCH_OPTION("noted", &self->noted,
				  "no search where sim/weaken.notes says "
				  "that none shows it"),
		PFS_TEXT_OPTION("out", "PAGE", &self->out,
				"put the table into PAGE, between the "
				"lines that mark it"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-sim weaken", .words = "", .options = options,
		.option_count = sizeof(options) / sizeof(options[0]),
		.about = "weakens each ordered operation in turn: does a search notice it?",
		.after = "exit 0: each is noticed, or a sentence says why not. 1: one is not. 2: "
			 "bad usage.\n",
	};
	/* clang-format on */
	return pfs_command_line_read(&line, argc, argv, NULL);
}
