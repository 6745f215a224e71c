#define _GNU_SOURCE
#include "check/front/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "check/front/history.h"
#include "check/front/outcomes.h"
#include "check/front/user.h"
#include "check/machine/trace.h"

/* ---- what failed ---- */

static const char *kind_of(const struct pfs_search_result *result)
{
	static const char *const kinds[] = { "data race",       "assertion",     "use after free",
					     "double free",     "out of bounds", "leak",
					     "not linearizable" };
	if (result->end == PFS_END_DEADLOCK)
		return "deadlock";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(result->message, kinds[i], strlen(kinds[i])) == 0)
			return kinds[i];
	}
	return "failure";
}

/* The next "(FILE:LINE)" of a message; *open and *colon point into it. Returns its end, or NULL. */
static const char *find_place(const char *text, const char **open, const char **colon)
{
	for (const char *end = strchr(text, ')'); end != NULL; end = strchr(end + 1, ')')) {
		const char *at = end;
		while (at > text && isdigit((unsigned char)at[-1]))
			at--;
		if (at == end || at == text || *--at != ':')
			continue;
		*colon = at;
		while (at > text && *at != '(')
			at--;
		*open = at;
		if (*at == '(')
			return end + 1;
	}
	return NULL;
}

/* A side of it: the thread and the function, as far as the words before the place say so. */
static void put_side(struct pfs_json *json, const char *before, const char *open, const char *colon)
{
	char words[PFS_FAILURE_BYTES], verb[32];
	unsigned thread;
	int length = 0;
	(void)snprintf(words, sizeof(words), "%.*s", (int)(open - before), before);
	const char *who = strstr(words, "thread "), *function = NULL;
	for (const char *at = words; (at = strstr(at, " at ")) != NULL; at += 4)
		function = at + 4;
	/* One word, if it is not known where it begins: it may be no function. */
	if (function != NULL && strchr(function, ' ') != strrchr(function, ' '))
		function = NULL;
	pfs_json_object(json, NULL);
	pfs_json_bytes(json, "file", open + 1, (size_t)(colon - open - 1));
	pfs_json_count(json, "line", strtoull(colon + 1, NULL, 10));
	if (who != NULL && sscanf(who, "thread %u %31s%n", &thread, verb, &length) == 2) {
		bool is_access = strncmp(who + length, " at ", 4) == 0;
		pfs_json_count(json, "thread", thread);
		if (is_access || strcmp(verb, "waits") == 0)
			pfs_json_text(json, "does", verb);
		if (is_access)
			function = who + length + 4;
	}
	size_t bytes = function != NULL ? strlen(function) : 0;
	if (bytes > 1 && function[bytes - 1] == ' ')
		pfs_json_bytes(json, "function", function, bytes - 1);
	pfs_json_end(json);
}

static void put_sides(struct pfs_json *json, const char *message)
{
	const char *open = NULL, *colon = NULL;
	pfs_json_array(json, "places");
	for (const char *end; (end = find_place(message, &open, &colon)) != NULL; message = end)
		put_side(json, message, open, colon);
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
		char text[160];
		pfs_trace_describe(machine, at, text, sizeof(text));
		pfs_json_object(json, NULL);
		pfs_json_count(json, "thread", step->thread);
		pfs_json_text(json, "text", text);
		pfs_json_text(json, "file", step->operation.place->file);
		pfs_json_integer(json, "line", step->operation.place->line);
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

void pfs_check_json_finding(struct pfs_json *json, const struct pfs_machine *machine,
			    const struct pfs_search_result *result)
{
	pfs_json_object(json, "finding");
	pfs_json_lines(json);
	pfs_json_text(json, "kind", kind_of(result));
	pfs_json_text(json, "message", result->message);
	put_sides(json, result->message);
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

void pfs_check_json_search(struct pfs_json *json, const struct pfs_check_arguments *arguments,
			   const struct pfs_check_json_search *search)
{
	bool none_ended = search->executions == search->incomplete;
	end_scenario(json);
	pfs_json_object(json, NULL);
	pfs_json_lines(json);
	pfs_json_text(json, "scenario", search->scenario);
	pfs_json_text(json, "verdict",
		      search->failed ? "failed"
		      : none_ended   ? "none ended"
				     : "no violation");
	pfs_json_bool(json, "complete", search->complete && !search->failed);
	pfs_json_text(json, "extent", search->failed ? NULL : search->extent);
	pfs_json_text(json, "stopped", search->stopped);
	pfs_json_text(json, "cut", search->cut);
	pfs_json_text(json, "memory", arguments->memory);
	pfs_json_text(json, "search", arguments->search);
	pfs_json_bool(json, "races", !arguments->no_races);
	pfs_json_count(json, "spurious", arguments->spurious);
	pfs_json_count(json, "looks", arguments->looks);
	pfs_json_fixed(json, "seconds", 3, search->seconds);
	pfs_json_count(json, "executions", search->executions);
	pfs_json_count(json, "repeated", search->repeated);
	pfs_json_count(json, "incomplete", search->incomplete);
	pfs_json_count(json, "steps", search->steps);
	pfs_json_array(json, "outcomes");
	pfs_json_lines(json);
	uint64_t lost = pfs_outcomes_each(put_outcome, json);
	pfs_json_end(json);
	pfs_json_count(json, "outcomes_lost", lost);
	if (!search->failed)
		pfs_json_null(json, "finding");
}

void pfs_check_json_begin(struct pfs_json *json, const char *program)
{
	pfs_json_object(json, NULL);
	pfs_json_count(json, "pfs-check", 1);
	pfs_json_text(json, "program", program);
	pfs_json_array(json, "scenarios");
	pfs_json_lines(json);
}

void pfs_check_json_end(struct pfs_json *json, int status)
{
	end_scenario(json);
	pfs_json_end(json);
	pfs_json_integer(json, "status", status);
	pfs_json_end(json);
}
