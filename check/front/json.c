#define _GNU_SOURCE
#include "check/front/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "check/front/history.h"
#include "check/front/outcomes.h"
#include "check/front/user.h"
#include "check/machine/trace.h"

static uint32_t scenarios, outcomes; /* in the document so far */

/* ---- pieces ---- */

static void put_bytes(FILE *out, const char *text, size_t bytes)
{
	(void)fputc('"', out);
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)text[i] < 0x20)
			(void)fprintf(out, "\\u%04x", (unsigned)text[i]);
		else if (text[i] == '"' || text[i] == '\\')
			(void)fprintf(out, "\\%c", text[i]);
		else
			(void)fputc(text[i], out);
	}
	(void)fputc('"', out);
}

static void put_text(FILE *out, const char *text)
{
	put_bytes(out, text, strlen(text));
}

static void put_key_text(FILE *out, const char *key, const char *text)
{
	(void)fprintf(out, ", \"%s\": ", key);
	if (text != NULL)
		put_text(out, text);
	else
		(void)fputs("null", out);
}

static void put_key_number(FILE *out, const char *key, uint64_t number)
{
	(void)fprintf(out, ", \"%s\": %llu", key, (unsigned long long)number);
}

static void put_key_bool(FILE *out, const char *key, bool is)
{
	(void)fprintf(out, ", \"%s\": %s", key, is ? "true" : "false");
}

/* The lines that are printed, each as a string. */
static void put_lines(FILE *out, const char *text)
{
	const char *between = "\n    ";
	(void)fputc('[', out);
	for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		(void)fputs(between, out);
		put_bytes(out, text, (size_t)(end - text));
		between = ",\n    ";
	}
	(void)fputc(']', out);
}

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
static void put_side(FILE *out, const char *before, const char *open, const char *colon)
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
	(void)fputs("{\"file\": ", out);
	put_bytes(out, open + 1, (size_t)(colon - open - 1));
	put_key_number(out, "line", strtoull(colon + 1, NULL, 10));
	if (who != NULL && sscanf(who, "thread %u %31s%n", &thread, verb, &length) == 2) {
		bool is_access = strncmp(who + length, " at ", 4) == 0;
		put_key_number(out, "thread", thread);
		if (is_access || strcmp(verb, "waits") == 0)
			put_key_text(out, "does", verb);
		if (is_access)
			function = who + length + 4;
	}
	size_t bytes = function != NULL ? strlen(function) : 0;
	if (bytes > 1 && function[bytes - 1] == ' ') {
		(void)fputs(", \"function\": ", out);
		put_bytes(out, function, bytes - 1);
	}
	(void)fputc('}', out);
}

static void put_sides(FILE *out, const char *message)
{
	const char *open = NULL, *colon = NULL, *between = "";
	(void)fputs(", \"places\": [", out);
	for (const char *end; (end = find_place(message, &open, &colon)) != NULL; message = end) {
		(void)fputs(between, out);
		put_side(out, message, open, colon);
		between = ", ";
	}
	(void)fputc(']', out);
}

static void put_steps(FILE *out, const struct pfs_machine *machine)
{
	(void)fputs(",\n   \"steps\": [", out);
	for (uint32_t at = 0; at < machine->run.step_count; at++) {
		const struct pfs_step *step = &machine->trace.steps[at];
		char text[160];
		pfs_trace_describe(machine, at, text, sizeof(text));
		(void)fprintf(out, "%s\n    {\"thread\": %u", at == 0 ? "" : ",", step->thread);
		put_key_text(out, "text", text);
		put_key_text(out, "file", step->operation.place->file);
		(void)fprintf(out, ", \"line\": %d}", step->operation.place->line);
	}
	(void)fputc(']', out);
}

static void put_columns(FILE *out, const struct pfs_machine *machine)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *columns = open_memstream(&text, &bytes);
	if (columns == NULL)
		return;
	pfs_trace_print(machine, columns);
	pfs_history_print(columns);
	bool fine = fclose(columns) == 0;
	(void)fputs(",\n   \"columns\": ", out);
	put_lines(out, fine ? text : "");
	free(text);
}

void pfs_json_finding(FILE *out, const struct pfs_machine *machine,
		      const struct pfs_search_result *result)
{
	(void)fputs(",\n  \"finding\": {\"kind\": ", out);
	put_text(out, kind_of(result));
	put_key_text(out, "message", result->message);
	put_sides(out, result->message);
	(void)fputs(",\n   \"schedule\": \"", out);
	for (uint32_t i = 0; i < result->segment_count; i++)
		(void)fprintf(out, "%s%ux%u", i == 0 ? "" : " ", result->segments[i].actor,
			      result->segments[i].steps);
	(void)fputs("\", \"by_itself\": [", out);
	for (uint32_t i = 0; i < pfs_user.fault_count; i++)
		(void)fprintf(out, "%s{\"thread\": %u, \"number\": %u}", i == 0 ? "" : ", ",
			      pfs_user.faults[i].thread, pfs_user.faults[i].number);
	(void)fputc(']', out);
	put_steps(out, machine);
	put_columns(out, machine);
	(void)fputc('}', out);
}

/* ---- a search ---- */

static void put_outcome(void *context, const char *text, uint64_t executions)
{
	FILE *out = context;
	(void)fputs(outcomes++ == 0 ? "\n   {\"text\": " : ",\n   {\"text\": ", out);
	put_text(out, text);
	put_key_number(out, "executions", executions);
	(void)fputc('}', out);
}

static void put_outcomes(FILE *out)
{
	outcomes = 0;
	(void)fputs(",\n  \"outcomes\": [", out);
	uint64_t lost = pfs_outcomes_each(put_outcome, out);
	(void)fputc(']', out);
	put_key_number(out, "outcomes_lost", lost);
}

void pfs_json_search(FILE *out, const struct pfs_check_arguments *arguments,
		     const struct pfs_json_search *search)
{
	bool none_ended = search->executions == search->incomplete;
	(void)fprintf(out, "%s\n {\"scenario\": ", scenarios++ == 0 ? "" : "},");
	put_text(out, search->scenario);
	put_key_text(out, "verdict",
		     search->failed ? "failed"
		     : none_ended   ? "none ended"
				    : "no violation");
	put_key_bool(out, "complete", search->complete && !search->failed);
	put_key_text(out, "extent", search->failed ? NULL : search->extent);
	put_key_text(out, "stopped", search->stopped);
	put_key_text(out, "memory", arguments->memory);
	put_key_text(out, "search", arguments->search);
	put_key_bool(out, "races", !arguments->no_races);
	put_key_number(out, "spurious", arguments->spurious);
	put_key_number(out, "looks", arguments->looks);
	(void)fputs(",\n ", out);
	(void)fprintf(out, " \"seconds\": %.3f", search->seconds);
	put_key_number(out, "executions", search->executions);
	put_key_number(out, "repeated", search->repeated);
	put_key_number(out, "incomplete", search->incomplete);
	put_key_number(out, "steps", search->steps);
	put_outcomes(out);
	if (!search->failed)
		(void)fputs(",\n  \"finding\": null", out);
}

void pfs_json_begin(FILE *out, const char *program)
{
	scenarios = 0;
	(void)fputs("{\"pfs-check\": 1, \"program\": ", out);
	put_text(out, program);
	(void)fputs(", \"scenarios\": [", out);
}

void pfs_json_end(FILE *out, int status)
{
	(void)fprintf(out, "%s], \"status\": %d}\n", scenarios != 0 ? "}" : "", status);
}
