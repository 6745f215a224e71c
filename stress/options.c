#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choice {
	const char *name;
	uint32_t bit;
};

static const struct choice faults[] = {
	{ "memory", PFS_FAULT_MEMORY }, { "maximum", PFS_FAULT_MAXIMUM },
	{ "parked", PFS_FAULT_PARKED }, { "reader", PFS_FAULT_READER },
	{ "wrap", PFS_FAULT_WRAP },     { "all", 31 },
	{ "none", 0 },			{ NULL, 0 },
};

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

void pfs_stress_help(void)
{
	(void)puts("usage: pfs-stress [--flag=value | --flag value]...\n"
		   "Threads allocate, write, check, hand over and free records.\n"
		   "  --policy P       one of --list_policies (random_start)\n"
		   "  --layout L       in_record, side_by_side, both, bare or bare_words (both)\n"
		   "  --threads T      1 to 1024 (8)\n"
		   "  --seconds S      for each layout, 0.01 to 86400 (2)\n"
		   "  --seed N         of all choices; schedules still differ (1)\n"
		   "  --workload LIST  plain, optimistic, history or all (all)\n"
		   "  --faults LIST    memory, maximum, parked, reader, wrap, all or none (none)\n"
		   "  --full_flags B   policy original with the real system's full flags (false)\n"
		   "  --list_policies, --help, --version\n"
		   "Exit 0: no harm found. 1: harm, with a line that says which. 2: wrong usage.");
}

__attribute__((format(printf, 2, 3))) static enum pfs_status
refuse(struct pfs_message *message, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(message->text, sizeof(message->text), format, arguments);
	va_end(arguments);
	return PFS_BAD_CONFIG;
}

static enum pfs_status parse_count(const char *flag, const char *text, uint64_t low, uint64_t high,
				   uint64_t *out, struct pfs_message *message)
{
	char *end = NULL;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < low ||
	    value > high)
		return refuse(message, "%s %.64s: must be a whole number from %llu to %llu", flag,
			      text, (unsigned long long)low, (unsigned long long)high);
	*out = value;
	return PFS_OK;
}

static enum pfs_status parse_seconds(const char *text, double *out, struct pfs_message *message)
{
	char *end = NULL;
	double value = strtod(text, &end);
	if (end == text || *end != '\0' || !(value >= 0.01 && value <= 86400))
		return refuse(message, "--seconds %.64s: must be between 0.01 and 86400", text);
	*out = value;
	return PFS_OK;
}

static enum pfs_status parse_list(const char *flag, const char *text,
				  const struct choice *choices, uint32_t *out,
				  struct pfs_message *message)
{
	*out = 0;
	while (text != NULL) {
		size_t length = strcspn(text, ",");
		const struct choice *choice = choices;
		while (choice->name != NULL && (strlen(choice->name) != length ||
						strncmp(choice->name, text, length) != 0))
			choice++;
		if (choice->name == NULL)
			return refuse(message, "%s %.*s: not in the list; see --help", flag,
				      length < 64 ? (int)length : 64, text);
		*out |= choice->bit;
		text = text[length] == ',' ? text + length + 1 : NULL;
	}
	return PFS_OK;
}

static enum pfs_status parse_policy(struct pfs_stress_options *self, const char *text,
				    struct pfs_message *message)
{
	self->policy = pfs_variant_find(text);
	if (self->policy != NULL)
		return PFS_OK;
	(void)refuse(message, "--policy %.64s: no such policy; --list_policies names them", text);
	return PFS_BAD_VARIANT;
}

static enum pfs_status parse_layout(struct pfs_stress_options *self, const char *text,
				    struct pfs_message *message)
{
	self->both_layouts = strcmp(text, "both") == 0;
	if (strcmp(text, "side_by_side") == 0)
		self->layout = PFS_LAYOUT_SIDE_BY_SIDE;
	else if (strcmp(text, "in_record") == 0 || self->both_layouts)
		self->layout = PFS_LAYOUT_IN_RECORD;
	else if (strcmp(text, "bare") == 0 || strcmp(text, "bare_words") == 0)
		self->layout = PFS_LAYOUT_BARE;
	else
		return refuse(message, "--layout %.64s: must be in_record, side_by_side, both, "
			      "bare or bare_words", text);
	self->bare_words = strcmp(text, "bare_words") == 0;
	return PFS_OK;
}

static enum pfs_status parse_flag(struct pfs_stress_options *self, const char *flag,
				  const char *text, struct pfs_message *message)
{
	uint64_t count = 0;
	enum pfs_status status;
	if (strcmp(flag, "--policy") == 0)
		return parse_policy(self, text, message);
	if (strcmp(flag, "--layout") == 0)
		return parse_layout(self, text, message);
	if (strcmp(flag, "--threads") == 0) {
		status = parse_count(flag, text, 1, PFS_THREADS_MAX, &count, message);
		self->threads = (uint32_t)count;
		return status;
	}
	if (strcmp(flag, "--seconds") == 0)
		return parse_seconds(text, &self->seconds, message);
	if (strcmp(flag, "--seed") == 0)
		return parse_count(flag, text, 0, UINT64_MAX, &self->seed, message);
	if (strcmp(flag, "--workload") == 0)
		return parse_list(flag, text, modes, &self->modes, message);
	if (strcmp(flag, "--faults") == 0)
		return parse_list(flag, text, faults, &self->faults, message);
	if (strcmp(flag, "--full_flags") == 0) {
		self->full_flags = strcmp(text, "true") == 0;
		if (!self->full_flags && strcmp(text, "false") != 0)
			return refuse(message, "--full_flags %.64s: must be true or false", text);
		return PFS_OK;
	}
	return refuse(message, "%.64s: no such flag; see --help", flag);
}

/* Flags without a value; true if this was one. */
static bool parse_word(struct pfs_stress_options *self, const char *word)
{
	if (strcmp(word, "--help") == 0)
		self->help = true;
	else if (strcmp(word, "--version") == 0)
		self->version = true;
	else if (strcmp(word, "--list_policies") == 0)
		self->list_policies = true;
	else
		return false;
	return true;
}

enum pfs_status pfs_stress_options_parse(struct pfs_stress_options *self, int argc, char **argv,
					 struct pfs_message *message)
{
	*self = (struct pfs_stress_options){
		.policy = pfs_variant_find("random_start"),
		.both_layouts = true,
		.threads = 8,
		.seconds = 2,
		.seed = 1,
		.modes = PFS_MODE_PLAIN | PFS_MODE_OPTIMISTIC | PFS_MODE_HISTORY,
	};
	for (int i = 1; i < argc; i++) {
		char flag[32];
		size_t length = strcspn(argv[i], "=");
		if (parse_word(self, argv[i]))
			continue;
		if (length >= sizeof(flag))
			return refuse(message, "%.64s: no such flag; see --help", argv[i]);
		memcpy(flag, argv[i], length);
		flag[length] = '\0';
		const char *value = argv[i][length] == '=' ? argv[i] + length + 1 : NULL;
		if (value == NULL && i + 1 < argc && strncmp(flag, "--", 2) == 0)
			value = argv[++i];
		if (value == NULL)
			return refuse(message, "%.64s: a flag with a value is expected; see --help",
				      flag);
		enum pfs_status status = parse_flag(self, flag, value, message);
		if (status != PFS_OK)
			return status;
	}
	return PFS_OK;
}
