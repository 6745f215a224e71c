#define _GNU_SOURCE
#include "check/front/saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/front/user.h"
#include "base/output.h"

static const char head_line[] = "pfs-check 1\n";

/* In place of steps: the failure precedes the first one. */
#define NO_STEPS "none\n"

bool pfs_check_save(const struct pfs_check_arguments *arguments, const char *scenario,
		    const struct pfs_search_result *result)
{
	static struct pfs_output output;
	if (!pfs_output_begin(&output, arguments->save)) {
		(void)pfs_check_refuse(arguments->save, strerror(errno));
		return false;
	}
	FILE *file = output.file;
	(void)fprintf(file, "%s--scenario %s --memory %s --slots %u --looks %u", head_line,
		      scenario, arguments->memory, pfs_user.slots, pfs_user.looks_max);
	if (arguments->no_races)
		(void)fprintf(file, " --no-races");
	if (arguments->uninitialized)
		(void)fprintf(file, " --uninitialized");
	if (arguments->relaxed_volatile)
		(void)fprintf(file, " --volatile");
	if (arguments->calls_known)
		(void)fprintf(file, " --calls known");
	for (uint32_t i = 0; i < pfs_user.fault_count; i++)
		(void)fprintf(file, " --fault %u.%u", pfs_user.faults[i].thread,
			      pfs_user.faults[i].number);
	for (uint32_t i = 0; i < PFS_USER_MEETS_MAX; i++) {
		if (pfs_user.meets[i] != 0 && pfs_user.meets[i] != PFS_USER_MEETS_ORDERS)
			(void)fprintf(file, " --meets %u.%u", i, pfs_user.meets[i]);
	}
	(void)fprintf(file, "\n");
	for (uint32_t i = 0; i < result->segment_count; i++)
		(void)fprintf(file, "%ux%u ", result->segments[i].actor, result->segments[i].steps);
	(void)fprintf(file, "%s%s\n", result->segment_count == 0 ? NO_STEPS : "\n",
		      result->message);
	if (pfs_output_end(&output))
		return true;
	(void)pfs_check_refuse(arguments->save, strerror(errno));
	return false;
}

static bool read_fault(const char *text)
{
	unsigned thread, number;
	int length = 0;
	if (sscanf(text, "%u.%u%n", &thread, &number, &length) != 2 || text[length] != '\0' ||
	    thread >= PFS_USER_THREADS_MAX || pfs_user.fault_count == PFS_USER_FAULTS_MAX)
		return false;
	pfs_user.faults[pfs_user.fault_count++] = (struct pfs_user_fault){ thread, number };
	return true;
}

static bool read_meets(const char *text)
{
	unsigned barrier, users;
	int length = 0;
	if (sscanf(text, "%u.%u%n", &barrier, &users, &length) != 2 || text[length] != '\0' ||
	    barrier >= PFS_USER_MEETS_MAX || users == 0 || users >> PFS_USER_THREADS_MAX != 0)
		return false;
	pfs_user.meets[barrier] = users;
	return true;
}

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
	char *end;
	*number = strtoull(text, &end, 10);
	return end != text && *end == '\0' && *number <= most;
}

static bool read_switch(struct pfs_check_arguments *self, const char *name)
{
	const struct {
		const char *name;
		bool *given;
	} switches[] = { { "--no-races", &self->no_races },
			 { "--uninitialized", &self->uninitialized },
			 { "--volatile", &self->relaxed_volatile } };
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		if (strcmp(name, switches[i].name) != 0)
			continue;
		*switches[i].given = true;
		return true;
	}
	return false;
}

/* The second line: words as save writes them. */
static bool read_options(struct pfs_check_arguments *self, char *line)
{
	for (char *name; (name = strsep(&line, " \n")) != NULL;) {
		if (*name == '\0')
			continue;
		if (read_switch(self, name))
			continue;
		const char *value = strsep(&line, " \n");
		bool fine = value != NULL && *value != '\0';
		if (fine && strcmp(name, "--scenario") == 0)
			self->scenario = value;
		else if (fine && strcmp(name, "--memory") == 0)
			self->model = pfs_memory_model_of(self->memory = value);
		else if (fine && strcmp(name, "--calls") == 0)
			fine = self->calls_known = strcmp(value, "known") == 0;
		else if (fine && strcmp(name, "--slots") == 0)
			fine = read_number(value, PFS_USER_THREADS_MAX, &self->slots);
		else if (fine && strcmp(name, "--looks") == 0)
			fine = read_number(value, 1000000, &self->looks);
		else if (fine && strcmp(name, "--meets") == 0)
			fine = read_meets(value);
		else
			fine = fine && strcmp(name, "--fault") == 0 && read_fault(value);
		if (!fine)
			return false;
	}
	return self->scenario != NULL && self->model != NULL;
}

static bool parse_steps(const char *text, struct pfs_search_result *result)
{
	result->segment_count = 0;
	return strcmp(text, NO_STEPS) == 0 ||
	       pfs_segments_parse(text, result->segments, &result->segment_count);
}

bool pfs_check_load(struct pfs_check_arguments *arguments, struct pfs_search_result *result)
{
	static char head[2 * sizeof(result->message)], options[4096], steps[65536];
	FILE *file = fopen(arguments->schedule, "r");
	if (file == NULL) {
		(void)pfs_check_refuse(arguments->schedule, strerror(errno));
		return false;
	}
	arguments->model = NULL;
	/* Of other barriers any threads meet. */
	memset(pfs_user.meets, 0xFF, sizeof(pfs_user.meets));
	bool fine = fgets(head, sizeof(head), file) != NULL && strcmp(head, head_line) == 0 &&
		    fgets(options, sizeof(options), file) != NULL &&
		    fgets(steps, sizeof(steps), file) != NULL && strchr(steps, '\n') != NULL &&
		    read_options(arguments, options) && parse_steps(steps, result);
	/* Older files have no message. */
	if (fine && fgets(head, sizeof(head), file) != NULL) {
		size_t length = strcspn(head, "\n");
		fine = head[length] == '\n';
		(void)snprintf(result->message, sizeof(result->message), "%.*s", (int)length, head);
	}
	(void)fclose(file);
	if (!fine)
		(void)pfs_check_refuse(
			arguments->schedule,
			"not a schedule of pfs-check --save, or damaged: save it again");
	return fine;
}
