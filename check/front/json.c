#define _GNU_SOURCE
#include "check/front/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command_line.h"
#include "base/output.h"
#include "check/front/history.h"
#include "check/front/library.h"
#include "check/front/outcomes.h"
#include "check/front/user.h"
#include "check/front/warn.h"
#include "check/machine/trace.h"

static struct {
	struct pfs_json json; /* out NULL: none */
	const struct pfs_check_arguments *arguments;
	struct pfs_output output;
	pid_t owner; /* not in a process of the search */
} document;

/* ---- what failed ---- */

static void put_place(struct pfs_json *json, const char *function, const char *file, int line)
{
	if (function != NULL)
		pfs_json_text(json, "function", function);
	if (file == NULL || line == 0)
		return;
	pfs_json_text(json, "file", file);
	pfs_json_integer(json, "line", line);
}

static void put_sides(struct pfs_json *json, const struct pfs_finding *finding)
{
	pfs_json_array(json, "sides");
	for (uint32_t i = 0; i < finding->side_count; i++) {
		const struct pfs_finding_side *side = &finding->sides[i];
		pfs_json_object(json, NULL);
		if (side->thread != PFS_THREAD_NONE)
			pfs_json_count(json, "thread", side->thread);
		if (side->does != NULL)
			pfs_json_text(json, "does", side->does);
		put_place(json, side->function, side->file, side->line);
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

static void put_name(void *context, const char *name, const char *whole)
{
	struct pfs_json *json = context;
	pfs_json_object(json, NULL);
	pfs_json_text(json, "short", name);
	pfs_json_text(json, "name", whole);
	pfs_json_end(json);
}

/* Those that the texts shorten. */
static void put_names(struct pfs_json *json, const struct pfs_finding *finding)
{
	pfs_json_array(json, "names");
	pfs_finding_short_names(finding, put_name, json);
	pfs_library_short_names(put_name, json);
	pfs_json_end(json);
}

static void put_schedule(struct pfs_json *json, const struct pfs_search_result *result)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *schedule = open_memstream(&text, &bytes);
	if (schedule == NULL)
		return;
	for (uint32_t i = 0; i < result->segment_count; i++)
		(void)fprintf(schedule, "%s%ux%u", i == 0 ? "" : " ", result->segments[i].actor,
			      result->segments[i].steps);
	pfs_json_text(json, "schedule", fclose(schedule) == 0 ? text : "");
	free(text);
}

static void put_steps(struct pfs_json *json, const struct pfs_machine *machine)
{
	pfs_json_array(json, "steps");
	pfs_json_lines(json);
	for (uint32_t at = 0; at < machine->run.step_count; at++) {
		const struct pfs_step *step = &machine->trace.steps[at];
		const struct pfs_sim_place *place = step->operation.place;
		char text[PFS_TRACE_BYTES];
		pfs_trace_describe(machine, at, text, sizeof(text));
		pfs_json_object(json, NULL);
		pfs_json_count(json, "thread", step->thread);
		pfs_json_text(json, "text", text);
		put_place(json, place->function, place->file, place->line);
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

/* The lines that are printed, each as a string. */
static void put_columns(struct pfs_json *json, const struct pfs_machine *machine)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *columns = open_memstream(&text, &bytes);
	if (columns == NULL)
		return;
	pfs_trace_print(machine, columns);
	pfs_history_print(columns);
	bool fine = fclose(columns) == 0;
	pfs_json_array(json, "columns");
	pfs_json_lines(json);
	const char *line = fine ? text : "";
	for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
		pfs_json_bytes(json, NULL, line, (size_t)(end - line));
	pfs_json_end(json);
	free(text);
}

void pfs_check_json_finding(const struct pfs_machine *machine,
			    const struct pfs_search_result *result)
{
	struct pfs_json *json = &document.json;
	if (json->out == NULL)
		return;
	pfs_json_object(json, "finding");
	pfs_json_lines(json);
	pfs_json_text(json, "kind", pfs_finding_words(machine->run.finding.kind));
	pfs_json_text(json, "message", machine->run.message);
	put_sides(json, &machine->run.finding);
	put_names(json, &machine->run.finding);
	put_schedule(json, result);
	pfs_json_array(json, "by_itself");
	for (uint32_t i = 0; i < pfs_user.fault_count; i++) {
		pfs_json_object(json, NULL);
		pfs_json_count(json, "thread", pfs_user.faults[i].thread);
		pfs_json_count(json, "number", pfs_user.faults[i].number);
		pfs_json_end(json);
	}
	pfs_json_end(json);
	put_steps(json, machine);
	put_columns(json, machine);
	pfs_json_end(json);
}

/* ---- a search ---- */

static void put_outcome(void *context, const char *text, uint64_t executions)
{
	struct pfs_json *json = context;
	pfs_json_object(json, NULL);
	pfs_json_text(json, "text", text);
	pfs_json_count(json, "executions", executions);
	pfs_json_end(json);
}

/* All that is open inside the array of scenarios. */
static void end_scenario(struct pfs_json *json)
{
	while (json->depth > 2)
		pfs_json_end(json);
}

static void put_reasons(struct pfs_json *json, const struct pfs_check_report *report)
{
	pfs_json_array(json, "reasons");
	for (uint32_t i = 0; i < report->reason_count; i++) {
		const struct pfs_check_reason *reason = &report->reasons[i];
		pfs_json_object(json, NULL);
		pfs_json_text(json, "text", reason->text);
		pfs_json_text(json, "option", reason->option);
		put_place(json, NULL, reason->file, reason->line);
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

static void put_options(struct pfs_json *json, const struct pfs_check_arguments *arguments)
{
	pfs_json_text(json, "memory", arguments->memory);
	pfs_json_text(json, "search", arguments->search);
	pfs_json_bool(json, "races", !arguments->no_races);
	pfs_json_bool(json, "uninitialized", arguments->uninitialized);
	pfs_json_bool(json, "volatile", arguments->relaxed_volatile);
	pfs_json_count(json, "spurious", arguments->spurious);
	pfs_json_count(json, "looks", arguments->looks);
	pfs_json_count(json, "step_max", arguments->steps);
}

void pfs_check_json_search(const struct pfs_check_report *report)
{
	struct pfs_json *json = &document.json;
	if (json->out == NULL)
		return;
	end_scenario(json);
	pfs_json_object(json, NULL);
	pfs_json_lines(json);
	pfs_json_text(json, "scenario", report->scenario);
	pfs_json_text(json, "verdict", pfs_report_verdict(report));
	pfs_json_bool(json, "complete", report->complete && !report->failed);
	pfs_json_text(json, "extent", report->failed ? NULL : report->extent);
	put_reasons(json, report);
	put_options(json, document.arguments);
	pfs_json_fixed(json, "seconds", 3, report->seconds);
	pfs_json_count(json, "executions", report->executions);
	pfs_json_count(json, "repeated", report->repeated);
	pfs_json_count(json, "incomplete", report->incomplete);
	pfs_json_count(json, "pruned", report->pruned);
	pfs_json_count(json, "steps", report->steps);
	pfs_json_array(json, "outcomes");
	pfs_json_lines(json);
	uint64_t lost = pfs_outcomes_each(put_outcome, json);
	pfs_json_end(json);
	pfs_json_count(json, "outcomes_lost", lost);
	if (!report->failed)
		pfs_json_null(json, "finding");
}

/* ---- the document ---- */

/* The result of an earlier check must not be taken for this one's, whatever happens. */
static bool remove_old(const char *path)
{
	struct stat about;
	return stat(path, &about) != 0 || !S_ISREG(about.st_mode) || unlink(path) == 0;
}

bool pfs_check_json_begin(const struct pfs_check_arguments *arguments)
{
	struct pfs_json *json = &document.json;
	if (arguments->json == NULL)
		return true;
	if (!remove_old(arguments->json) || !pfs_output_begin(&document.output, arguments->json)) {
		pfs_warn("--json %s: %s", arguments->json, strerror(errno));
		return false;
	}
	document.arguments = arguments;
	document.owner = getpid();
	json->out = document.output.file;
	pfs_json_object(json, NULL);
	pfs_json_lines(json);
	pfs_json_count(json, "pfs-check", PFS_CHECK_JSON_VERSION);
	pfs_json_text(json, "program", arguments->program);
	pfs_json_array(json, "scenarios");
	pfs_json_lines(json);
	return true;
}

int pfs_check_json_end(int status)
{
	struct pfs_json *json = &document.json;
	const char *text;
	if (json->out == NULL || document.owner != getpid())
		return status;
	end_scenario(json);
	pfs_json_end(json);
	pfs_json_array(json, "warnings");
	pfs_json_lines(json);
	for (uint32_t at = 0; (text = pfs_warning(at)) != NULL; at++)
		pfs_json_text(json, NULL, text);
	pfs_json_end(json);
	pfs_json_integer(json, "status", status);
	pfs_json_end(json);
	json->out = NULL;
	if (pfs_output_end(&document.output))
		return status;
	pfs_warn("--json %s: %s", document.arguments->json, strerror(errno));
	return PFS_EXIT_WRONG_USE;
}
