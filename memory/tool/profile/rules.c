/*
 * rules.c - rules for frames, from a file: read, checked line by line, and matched.
 */
#define _GNU_SOURCE
#include "rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "function.h"
#include "memory/box/reader.h"
#include "memory/tool/own_folder.h"

#define RULES_MOST 4096u
#define PATH_BYTES 4096u

enum kind { OF_FUNCTION, OF_FILE, OF_MODULE, KINDS };
static const char *const kinds[KINDS] = { "function", "file", "module" };

struct rule {
	enum kind kind;
	char *pattern;
	char *name; /* NULL: skip */
};

struct pfs_rules {
	struct rule *rules;
	uint32_t count;
	char path[PATH_BYTES];
};

/* ---- reading ---- */

static bool add_rule(struct pfs_rules *self, enum kind kind, const char *pattern, const char *name)
{
	struct rule *more = realloc(self->rules, (self->count + 1) * sizeof(*more));
	if (more == NULL)
		return false;
	self->rules = more;
	struct rule *rule = &more[self->count];
	*rule = (struct rule){ kind, strdup(pattern), name != NULL ? strdup(name) : NULL };
	self->count++;
	return rule->pattern != NULL && (name == NULL || rule->name != NULL);
}

/* NULL: fine; else what is wrong with the line. */
static const char *read_line(struct pfs_rules *self, char *line)
{
	char *rest = NULL, *words[5] = { NULL };
	uint32_t count = 0;
	int kind = 0;
	line[strcspn(line, "#\n")] = '\0';
	for (char *word = strtok_r(line, " \t\r", &rest); word != NULL && count < 5;
	     word = strtok_r(NULL, " \t\r", &rest))
		words[count++] = word;
	if (count == 0)
		return NULL;
	bool is_name = strcmp(words[0], "name") == 0;
	if (!is_name && strcmp(words[0], "skip") != 0)
		return "begins with neither name nor skip";
	if (count != (is_name ? 4u : 3u))
		return is_name ? "is not: name KIND PATTERN NAME" : "is not: skip KIND PATTERN";
	while (kind < KINDS && strcmp(words[1], kinds[kind]) != 0)
		kind++;
	if (kind == KINDS)
		return "names another kind than function, file or module";
	if (self->count == RULES_MOST)
		return "is one too many: 4096 rules fit";
	return add_rule(self, (enum kind)kind, words[2], words[3]) ? NULL : "found no memory";
}

static bool read_file(struct pfs_rules *self, FILE *file, struct pfs_message *message)
{
	char *line = NULL;
	const char *fault = NULL;
	size_t room = 0;
	unsigned number = 0;
	while (fault == NULL && getline(&line, &room, file) >= 0) {
		number++;
		fault = read_line(self, line);
	}
	free(line);
	return fault == NULL ||
	       pfs_refuse(message, "rules '%.150s': line %u %s", self->path, number, fault);
}

static bool find_named(const char *own, const char *program, size_t length, char *path)
{
	static const char *const places[] = { "rules/", "../share/pfslab/rules/" };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		(void)snprintf(path, PATH_BYTES, "%.3800s%s%.*s.rules", own, places[i], (int)length,
			       program);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* Shipped ones: in share/pfslab/rules beside the folder of this program, or in rules beside it;
 * for python3.11 those for python, for redis-server those for redis. */
static bool find_shipped(const char *program, char *path)
{
	size_t length = strnlen(program, 200), plain = length;
	char own[PATH_BYTES];
	if (!pfs_own_folder(own, sizeof(own)))
		return false;
	while (plain > 1 && strchr("0123456789.-", program[plain - 1]) != NULL)
		plain--;
	return find_named(own, program, length, path) || find_named(own, program, plain, path) ||
	       find_named(own, program, strcspn(program, "-"), path);
}

struct pfs_rules *pfs_rules_open(const char *path, const struct pfs_heap *heap,
				 struct pfs_message *message)
{
	struct pfs_rules *self = calloc(1, sizeof(*self));
	if (self == NULL) {
		(void)pfs_refuse(message, "no memory for rules");
		return NULL;
	}
	if (path != NULL)
		(void)snprintf(self->path, sizeof(self->path), "%s", path);
	else if (!find_shipped(pfs_heap_path_end(heap->texts[heap->binary]), self->path))
		self->path[0] = '\0';
	FILE *file = self->path[0] != '\0' ? fopen(self->path, "re") : NULL;
	bool fine = file != NULL || path == NULL ||
		    pfs_refuse(message, "rules '%.150s' cannot be read: %s", path, strerror(errno));
	if (file != NULL) {
		fine = read_file(self, file, message);
		(void)fclose(file);
	}
	if (fine)
		return self;
	pfs_rules_close(self);
	return NULL;
}

void pfs_rules_close(struct pfs_rules *rules)
{
	for (uint32_t i = 0; rules != NULL && i < rules->count; i++) {
		free(rules->rules[i].pattern);
		free(rules->rules[i].name);
	}
	if (rules != NULL)
		free(rules->rules);
	free(rules);
}

/* ---- matching ---- */

struct pfs_rule_frame pfs_rule_frame(const struct pfs_heap *heap, struct pfs_frame_of frame)
{
	const struct pfs_heap_location *location = &heap->locations[frame.location];
	struct pfs_rule_frame is = { NULL, NULL, NULL };
	if (location->module != PFS_HEAP_NONE)
		is.module = pfs_heap_path_end(heap->texts[heap->modules[location->module].path]);
	if (frame.line < location->line_count) {
		const struct pfs_heap_line *line = &heap->lines[location->first_line + frame.line];
		is.function = heap->texts[line->function];
		if (line->file != 0)
			is.file = pfs_heap_path_end(heap->texts[line->file]);
	}
	return is;
}

static bool does_match(const struct rule *rule, const struct pfs_rule_frame *frame)
{
	char function[512];
	const char *text = rule->kind == OF_FILE ? frame->file : frame->module;
	if (rule->kind == OF_FUNCTION && frame->function != NULL) {
		(void)snprintf(function, sizeof(function), "%.*s",
			       (int)pfs_short_length(frame->function), frame->function);
		text = function;
	} else if (rule->kind == OF_FUNCTION) {
		return false;
	}
	return text != NULL && fnmatch(rule->pattern, text, 0) == 0;
}

bool pfs_rules_skip(const struct pfs_rules *rules, const struct pfs_rule_frame *frame)
{
	for (uint32_t i = 0; rules != NULL && i < rules->count; i++)
		if (rules->rules[i].name == NULL && does_match(&rules->rules[i], frame))
			return true;
	return false;
}

const char *pfs_rules_name(const struct pfs_rules *rules, const struct pfs_rule_frame *frame)
{
	for (uint32_t i = 0; rules != NULL && i < rules->count; i++)
		if (rules->rules[i].name != NULL && does_match(&rules->rules[i], frame))
			return rules->rules[i].name;
	return NULL;
}
