/*
 * library_flags.c - see library_flags.h.
 */
#include "library_flags.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_COUNT 3

/* The value if argument is flag=value, else NULL. */
static const char *value_of(const char *argument, const char *flag)
{
	size_t size = strlen(flag);

	return strncmp(argument, flag, size) == 0 && argument[size] == '=' ? argument + size + 1
									   : NULL;
}

/* Is it, or would it be, an ordinary file? Only such a file can be replaced by renaming another. */
static bool is_ordinary(const char *path)
{
	struct stat found;

	return stat(path, &found) != 0 || S_ISREG(found.st_mode);
}

/* May path be written? Leaves nothing that was not there. */
static bool is_writable(const char *path)
{
	bool existed = access(path, F_OK) == 0;
	FILE *file = fopen(path, "a");

	if (file == NULL || fclose(file) != 0)
		return false;
	return existed || unlink(path) == 0;
}

static const char *partial_of(const char *file)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s.partial", file);
	return path;
}

bool pfs_library_flags_settle(const char *file, bool whole)
{
	if (file[0] == '\0' || !is_ordinary(file))
		return true;
	if (whole)
		return rename(partial_of(file), file) == 0;
	return unlink(partial_of(file)) == 0;
}

static bool filter_is_fine(const char *text)
{
	regex_t regex;

	if (regcomp(&regex, text[0] == '-' ? text + 1 : text, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	regfree(&regex);
	return true;
}

const char *pfs_library_flags_last(int argc, char **argv, const char *flag)
{
	const char *last = "";

	for (int i = 1; i < argc; i++) {
		const char *value = value_of(argv[i], flag);
		last = value != NULL ? value : last;
	}
	return last;
}

bool pfs_library_flags_match(const char *filter, const char *name)
{
	bool wanted = filter[0] != '-';
	regex_t regex;

	if (filter[0] == '\0' || strcmp(filter, "all") == 0 ||
	    regcomp(&regex, wanted ? filter : filter + 1, REG_EXTENDED | REG_NOSUB) != 0)
		return true;
	bool found = regexec(&regex, name, 0, NULL, 0) == 0;
	regfree(&regex);
	return found == wanted;
}

static bool is_format(const char *text)
{
	return strcmp(text, "console") == 0 || strcmp(text, "json") == 0 ||
	       strcmp(text, "csv") == 0;
}

static bool is_number(const char *text)
{
	char *end = NULL;
	double value = strtod(text, &end);

	return end != text && *end == '\0' && value >= 0.0;
}

static bool is_positive_count(const char *text)
{
	char *end = NULL;
	long value = strtol(text, &end, 10);

	return end != text && *end == '\0' && value >= 1 && value <= 1000000;
}

static const struct {
	const char *flag;
	bool (*is_fine)(const char *text);
	const char *mend;
} rules[] = {
	{ "--benchmark_filter", filter_is_fine, "give an extended regular expression" },
	{ "--benchmark_format", is_format, "choose from console, json, csv" },
	{ "--benchmark_out_format", is_format, "choose from console, json, csv" },
	{ "--benchmark_min_time", is_number, "give seconds, such as 0.5" },
	{ "--benchmark_min_warmup_time", is_number, "give seconds, such as 0.5" },
	{ "--benchmark_repetitions", is_positive_count, "give a whole number from 1" },
};

enum pfs_status pfs_library_flags_check(int argc, char **argv, struct pfs_message *message)
{
	for (int i = 1; i < argc; i++) {
		const char *path = value_of(argv[i], "--benchmark_out");
		for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
			const char *value = value_of(argv[i], rules[r].flag);
			if (value == NULL || rules[r].is_fine(value))
				continue;
			snprintf(message->text, sizeof(message->text), "%s '%.80s': %s",
				 rules[r].flag, value, rules[r].mend);
			return PFS_BAD_CONFIG;
		}
		if (path == NULL || path[0] == '\0' || is_writable(path))
			continue;
		snprintf(message->text, sizeof(message->text),
			 "--benchmark_out '%.120s': cannot be written (%s); give another file",
			 path, strerror(errno));
		return PFS_BAD_CONFIG;
	}
	return PFS_OK;
}

char **pfs_library_flags_default(int *argc, char **argv, const char *file)
{
	static char min_time[] = "--benchmark_min_time=1e-9";
	static char colour[] = "--benchmark_color=false", out[4200];
	char **all = calloc((size_t)*argc + DEFAULT_COUNT + 1, sizeof(*all));
	int count = 0;

	if (all == NULL)
		return NULL;
	all[count++] = argv[0];
	all[count++] = min_time;
	if (getenv("NO_COLOR") != NULL)
		all[count++] = colour;
	for (int i = 1; i < *argc; i++)
		all[count++] = argv[i];
	if (file[0] != '\0' && is_ordinary(file)) {
		snprintf(out, sizeof(out), "--benchmark_out=%s", partial_of(file));
		all[count++] = out;
	}
	*argc = count;
	return all;
}
