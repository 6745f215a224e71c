/*
 * command_line.c - see command_line.h.
 */
#define _GNU_SOURCE
#include "base/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_help.h"

#define NAME_BYTES 40
#define FIRST 256 /* what getopt_long says for option 0 of the table, behind all letters */
#define NEAR 2    /* letters that may differ in what is suggested */

/* ---- what is said ---- */

int pfs_command_refuse(const char *program, int status, const char *format, ...)
{
	char text[5000]; /* a path, and what is wrong with it */
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)fprintf(stderr, "%s: %s\n", program, pfs_one_line(text));
	return status;
}

bool pfs_command_is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "-?") == 0 ||
	       strcmp(word, "--usage") == 0;
}

bool pfs_command_is_version(const char *word)
{
	return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

const char *pfs_command_version_text(void)
{
	return PFS_VERSION;
}

/* Of "pfs-sim run" it is pfs-sim's. */
int pfs_command_version(const char *program)
{
	(void)printf("%.*s %s\n", (int)strcspn(program, " "), program, PFS_VERSION);
	return pfs_command_end(program, 0);
}

int pfs_command_end(const char *program, int status)
{
	static bool was_said;
	if (was_said)
		return PFS_EXIT_OUTPUT;
	errno = 0;
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return status;
	was_said = true;
	return pfs_command_refuse(program, PFS_EXIT_OUTPUT,
				  "standard output: cannot be written "
				  "(%s); free some space, or write elsewhere",
				  errno != 0 ? strerror(errno) : "short write");
}

#define wrong_use(self, ...) pfs_command_refuse((self)->program, PFS_EXIT_WRONG_USE, __VA_ARGS__)

/* ---- what was meant ---- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters to add, remove or change; a large number if a word is NAME_BYTES or longer. */
static size_t distance(const char *a, size_t a_length, const char *b)
{
	size_t row[NAME_BYTES], b_length = strlen(b);
	if (a_length >= NAME_BYTES || b_length >= NAME_BYTES)
		return NAME_BYTES;
	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t corner = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			bool same = a[i - 1] == b[j - 1] || (a[i - 1] == '_' && b[j - 1] == '-');
			size_t changed = corner + !same;
			corner = row[j];
			row[j] = least(changed, least(row[j - 1], row[j]) + 1);
		}
	}
	return row[b_length];
}

/* Near enough to be what was meant: NULL, or the nearest so far. */
static const char *nearer(const char *given, size_t length, const char *name, const char *best)
{
	size_t here = distance(given, length, name);
	return here <= NEAR && here < length &&
			       (best == NULL || here < distance(given, length, best))
		       ? name
		       : best;
}

int pfs_command_unknown(const char *program, const char *word, const char *const *commands,
			size_t count)
{
	const char *best = NULL;
	for (size_t i = 0; i < count; i++)
		best = nearer(word, strlen(word), commands[i], best);
	if (word[0] == '\0')
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "no command given; %s --help lists the commands",
					  program);
	if (best != NULL)
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "unknown command '%.100s': did you mean %s?", word, best);
	return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
				  "unknown command '%.100s': %s --help lists them", word, program);
}

/* The given word is no option of the table, or of several. */
static int refuse_unknown(const struct pfs_command_line *self, const char *given)
{
	const char *name = given + strspn(given, "-"), *best = NULL, *begins[2] = { NULL, NULL };
	size_t length = strcspn(name, "=");
	for (size_t i = 0; i < self->option_count; i++) {
		const char *known = self->options[i].name;
		if (self->options[i].help == NULL)
			continue;
		best = nearer(name, length, known, best);
		if (length != 0 && strncmp(known, name, length) == 0)
			begins[begins[0] != NULL] = known;
	}
	if (begins[1] != NULL)
		return wrong_use(self, "option '%.100s' is ambiguous: --%s or --%s", given,
				 begins[0], begins[1]);
	if (best != NULL)
		return wrong_use(self, "unknown option '%.100s': did you mean --%s?", given, best);
	return wrong_use(self, "unknown option '%.100s': %s --help lists them", given,
			 self->program);
}

/* ---- values ---- */

enum pfs_status pfs_say_why(struct pfs_message *message, enum pfs_status status, const char *format,
			    ...)
{
	va_list arguments;
	if (message == NULL)
		return status;
	va_start(arguments, format);
	(void)vsnprintf(message->text, sizeof(message->text), format, arguments);
	va_end(arguments);
	return status;
}

enum pfs_status pfs_read_number(const char *name, const char *text, uint64_t low, uint64_t high,
				uint64_t *number, struct pfs_message *message)
{
	char *end = NULL;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < low ||
	    value > high)
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "--%s '%.80s': give a whole number from %llu to %llu", name,
				   text, (unsigned long long)low, (unsigned long long)high);
	*number = value;
	return PFS_OK;
}

static enum pfs_status read_real(const struct pfs_option *option, const char *text,
				 struct pfs_message *message)
{
	char *end = NULL;
	double value = strtod(text, &end);
	if (end == text || *end != '\0' || !(value >= option->least && value <= option->most))
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "--%s '%.80s': give a number from %g to %g", option->name, text,
				   option->least, option->most);
	*option->place.real = value;
	return PFS_OK;
}

enum pfs_status pfs_read_choice(const char *name, const char *text, const char *choices,
				struct pfs_message *message)
{
	return pfs_say_why(message, PFS_BAD_CONFIG, "--%s '%.40s': choose from %s", name, text,
			   choices);
}

enum pfs_status pfs_read_on_off(const char *name, const char *text, bool *flag,
				struct pfs_message *message)
{
	bool on = strcmp(text, "on") == 0 || strcmp(text, "true") == 0;
	if (!on && strcmp(text, "off") != 0 && strcmp(text, "false") != 0)
		return pfs_say_why(message, PFS_BAD_CONFIG, "--%s '%.80s': choose on or off", name,
				   text);
	*flag = on;
	return PFS_OK;
}

static void *place_of(const struct pfs_command_line *self, const struct pfs_option *option)
{
	return option->field_bytes == 0 ? (void *)option->place.flag
					: (char *)self->context + option->field_offset;
}

static enum pfs_status read_number(const struct pfs_command_line *self,
				   const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	uint64_t number = 0;
	enum pfs_status status = pfs_read_number(option->name, text, option->low, option->high,
						 &number, message);
	if (status != PFS_OK)
		return status;
	if (option->field_bytes == sizeof(uint32_t))
		*(uint32_t *)place_of(self, option) = (uint32_t)number;
	else
		*(uint64_t *)place_of(self, option) = number;
	return PFS_OK;
}

static enum pfs_status read_value(const struct pfs_command_line *self,
				  const struct pfs_option *option, const char *text,
				  struct pfs_message *message)
{
	if (option->value != NULL && text[0] == '\0')
		return pfs_say_why(message, PFS_BAD_CONFIG, "--%s '': give a value, as in --%s=%s",
				   option->name, option->name, option->value);
	switch (option->kind) {
	case PFS_OPTION_SWITCH: *(bool *)place_of(self, option) = true; return PFS_OK;
	case PFS_OPTION_ON_OFF:
		return pfs_read_on_off(option->name, text, place_of(self, option), message);
	case PFS_OPTION_TEXT: *(const char **)place_of(self, option) = text; return PFS_OK;
	case PFS_OPTION_NUMBER: return read_number(self, option, text, message);
	case PFS_OPTION_REAL: return read_real(option, text, message);
	default: return option->read(self->context, option, text, message);
	}
}

/* ---- the table as getopt_long wants it ---- */

struct getopt_table {
	struct option all[2 * PFS_OPTIONS_MOST + 4];
	char letters[2 * PFS_OPTIONS_MOST + 8];
	char names[PFS_OPTIONS_MOST][NAME_BYTES]; /* with underscores */
};

static void make_table(const struct pfs_command_line *self, struct getopt_table *table)
{
	size_t used = 0, letters = 0;
	memset(table, 0, sizeof(*table));
	if (self->stops)
		table->letters[letters++] = '+';
	table->letters[letters++] = ':'; /* tells a missing value from an unknown option */
	table->letters[letters++] = 'h';
	table->letters[letters++] = 'V';
	for (size_t i = 0; i < self->option_count && i < PFS_OPTIONS_MOST; i++) {
		const struct pfs_option *option = &self->options[i];
		int has = option->value != NULL ? required_argument : no_argument;
		table->all[used++] = (struct option){ option->name, has, NULL, FIRST + (int)i };
		(void)snprintf(table->names[i], NAME_BYTES, "%s", option->name);
		for (char *at = table->names[i]; (at = strchr(at, '-')) != NULL;)
			*at = '_';
		if (strcmp(table->names[i], option->name) != 0)
			table->all[used++] = (struct option){ table->names[i], has, NULL,
							      FIRST + (int)i };
		if (pfs_option_has_letter(option)) {
			table->letters[letters++] = (char)option->key;
			if (has == required_argument)
				table->letters[letters++] = ':';
		}
	}
	table->all[used++] = (struct option){ "help", no_argument, NULL, 'h' };
	table->all[used++] = (struct option){ "usage", no_argument, NULL, 'h' };
	table->all[used++] = (struct option){ "version", no_argument, NULL, 'V' };
}

static const struct pfs_option *option_of(const struct pfs_command_line *self, int code)
{
	if (code >= FIRST)
		return &self->options[code - FIRST];
	for (size_t i = 0; i < self->option_count; i++)
		if (code != 0 && self->options[i].key == code)
			return &self->options[i];
	return NULL;
}

/* optind is already behind the refused option: one without its value, one with a value that it does
 * not take, or an unknown one. */
static int refuse_option(const struct pfs_command_line *self, int code, int argc, char **argv)
{
	const struct pfs_option *option = option_of(self, optopt);
	const char *given = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	char letter[3] = { '-', (char)optopt, '\0' };
	if (code == ':' && option != NULL)
		return wrong_use(self, "--%s needs a value, as in --%s=%s", option->name,
				 option->name, option->value);
	if (optopt != 0 && (option != NULL || optopt == 'h' || optopt == 'V') &&
	    strchr(given, '=') != NULL)
		return wrong_use(self, "option '%.100s': --%.*s takes no value", given,
				 (int)strcspn(given + 2, "="), given + 2);
	if (optopt == '?')
		return 0;
	return refuse_unknown(self, optopt != 0 ? letter : given);
}

static int check_words(const struct pfs_command_line *self, int argc, char **argv, int next)
{
	int count = argc - next;
	if (!self->stops && count > self->words_max)
		return wrong_use(self, "unexpected argument '%.100s': usage: %s [OPTION...]%s%s",
				 argv[next + self->words_max], self->program,
				 self->words[0] != '\0' ? " " : "", self->words);
	if (count < self->words_min)
		return wrong_use(self, "an argument is missing: usage: %s [OPTION...] %s",
				 self->program, self->words);
	return PFS_GO_ON;
}

int pfs_command_line_read(const struct pfs_command_line *self, int argc, char **argv, int *next)
{
	struct getopt_table table;
	struct pfs_message message = { .text = "" };
	int code;
	make_table(self, &table);
	optind = 0; /* from the beginning, with the rules of these letters */
	opterr = 0;
	while ((code = getopt_long(argc, argv, table.letters, table.all, NULL)) != -1) {
		if (code == 'V' && option_of(self, code) == NULL)
			return pfs_command_version(self->program);
		if ((code == 'h' && option_of(self, code) == NULL) ||
		    (code == '?' && optopt == '?')) {
			pfs_command_help(self);
			return pfs_command_end(self->program, 0);
		}
		if (code == '?' || code == ':')
			return refuse_option(self, code, argc, argv);
		const struct pfs_option *option = option_of(self, code);
		if (read_value(self, option, optarg != NULL ? optarg : "", &message) != PFS_OK)
			return wrong_use(self, "%s", message.text);
	}
	if (next != NULL)
		*next = optind;
	return check_words(self, argc, argv, optind);
}
