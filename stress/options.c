#include "options.h"

#include <stdio.h>
#include <string.h>

#include "base/command_line.h"

struct choice {
	const char *name;
	uint32_t bit;
};

/* clang-format off */
static const struct choice faults[] = {
	{ "memory", PFS_FAULT_MEMORY }, { "maximum", PFS_FAULT_MAXIMUM },
	{ "parked", PFS_FAULT_PARKED }, { "reader", PFS_FAULT_READER },
	{ "wrap", PFS_FAULT_WRAP },     { "all", 31 },
	{ "none", 0 },			{ NULL, 0 },
};
/* clang-format on */

static const struct choice modes[] = {
	{ "plain", PFS_MODE_PLAIN },
	{ "optimistic", PFS_MODE_OPTIMISTIC },
	{ "history", PFS_MODE_HISTORY },
	{ "all", 7 },
	{ NULL, 0 },
};

const char *pfs_mode_name(enum pfs_mode mode)
{
	const struct choice *choice = modes;
	while (choice->bit != (uint32_t)mode)
		choice++;
	return choice->name;
}

static enum pfs_status parse_list(const char *flag, const char *text, const struct choice *choices,
				  uint32_t *out, struct pfs_message *message)
{
	*out = 0;
	while (text != NULL) {
		size_t length = strcspn(text, ",");
		const struct choice *choice = choices;
		while (choice->name != NULL &&
		       (strlen(choice->name) != length || strncmp(choice->name, text, length) != 0))
			choice++;
		if (choice->name == NULL)
			return pfs_say_why(message, PFS_BAD_CONFIG,
					   "--%s '%.*s': not in the list that --help has", flag,
					   length < 64 ? (int)length : 64, text);
		*out |= choice->bit;
		text = text[length] == ',' ? text + length + 1 : NULL;
	}
	return PFS_OK;
}

static enum pfs_status read_policy(void *context, const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	struct pfs_stress_options *self = context;
	self->policy = pfs_variant_find(text);
	if (self->policy != NULL)
		return PFS_OK;
	return pfs_say_why(message, PFS_BAD_VARIANT,
			   "--%s '%.64s': no such policy; --list-policies names them", option->name,
			   text);
}

static enum pfs_status read_layout(void *context, const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	static const struct {
		const char *name, *older;
		enum pfs_layout layout;
		bool both, bare_words;
	} layouts[] = {
		{ "in-record", "in_record", PFS_LAYOUT_IN_RECORD, false, false },
		{ "side-by-side", "side_by_side", PFS_LAYOUT_SIDE_BY_SIDE, false, false },
		{ "both", "both", PFS_LAYOUT_IN_RECORD, true, false },
		{ "bare", "bare", PFS_LAYOUT_BARE, false, false },
		{ "bare-words", "bare_words", PFS_LAYOUT_BARE, false, true },
		{ "own-word", "own_word", PFS_LAYOUT_OWN_WORD, false, false },
	};
	struct pfs_stress_options *self = context;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(text, layouts[i].name) != 0 && strcmp(text, layouts[i].older) != 0)
			continue;
		self->layout = layouts[i].layout;
		self->both_layouts = layouts[i].both;
		self->bare_words = layouts[i].bare_words;
		return PFS_OK;
	}
	return pfs_read_choice(option->name, text,
			       "in-record, side-by-side, both, bare, "
			       "bare-words, own-word",
			       message);
}

static enum pfs_status read_workload(void *context, const struct pfs_option *option,
				     const char *text, struct pfs_message *message)
{
	struct pfs_stress_options *self = context;
	return parse_list(option->name, text, modes, &self->modes, message);
}

static enum pfs_status read_faults(void *context, const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	struct pfs_stress_options *self = context;
	return parse_list(option->name, text, faults, &self->faults, message);
}

int pfs_stress_options_read(struct pfs_stress_options *self, int argc, char **argv)
{
	uint64_t threads = 8;
	*self = (struct pfs_stress_options){
		.policy = pfs_variant_find("random_start"),
		.both_layouts = true,
		.seconds = 2,
		.seed = 1,
		.modes = PFS_MODE_PLAIN | PFS_MODE_OPTIMISTIC | PFS_MODE_HISTORY,
	};
	const struct pfs_option options[] = {
		PFS_READ_OPTION("policy", "P", read_policy,
				"one of --list-policies (random_start)"),
		PFS_READ_OPTION("layout", "L", read_layout,
				"in-record, side-by-side, both, bare, "
				"bare-words or own-word (both)"),
		PFS_NUMBER_OPTION("threads", "T", &threads, 1, PFS_THREADS_MAX, "1 to 1024 (8)"),
		PFS_REAL_OPTION("seconds", "S", &self->seconds, 0.01, 86400,
				"for each layout, "
				"0.01 to 86400 (2)"),
		PFS_NUMBER_OPTION("seed", "N", &self->seed, 0, UINT64_MAX,
				  "of all choices; "
				  "schedules still differ (1)"),
		PFS_READ_OPTION("workload", "LIST", read_workload,
				"plain, optimistic, history or "
				"all (all)"),
		PFS_READ_OPTION("faults", "LIST", read_faults,
				"memory, maximum, parked, reader, "
				"wrap, all or none (none)"),
		PFS_ON_OFF_OPTION("full-flags", &self->full_flags,
				  "policy original with the real "
				  "system's full flags (off)"),
		PFS_SWITCH_OPTION("list-policies", &self->list_policies, "name the policies"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-stress", .words = "", .options = options,
		.option_count = sizeof(options) / sizeof(options[0]), .context = self,
		.about = "threads allocate, write, check, hand over and free records",
		.after = "exit 0: no harm found. 1: harm, with a line that says which. 2: wrong "
			 "usage.\n",
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	self->threads = (uint32_t)threads;
	return status;
}
