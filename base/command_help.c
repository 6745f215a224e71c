/*
 * command_help.c - see command_help.h.
 */
#include "base/command_help.h"

#include <stdio.h>
#include <string.h>

#define COLUMN 30 /* where the text of an option begins */
#define WIDTH 79

/* Words of text from column `at` on, further lines from column `from`. */
static void print_wrapped(const char *text, int at, int from)
{
	while (*text != '\0') {
		int size = (int)strcspn(text, " ");
		if (at + size > WIDTH && at > from) {
			(void)printf("\n%*s", from, "");
			at = from;
		}
		(void)printf("%.*s", size, text);
		at += size;
		text += size;
		if (*text == ' ' && text[1] != '\0' &&
		    at + 1 + (int)strcspn(text + 1, " ") <= WIDTH) {
			(void)putchar(' ');
			at++;
		} else if (*text == ' ') {
			at = WIDTH;
		}
		text += *text == ' ';
	}
	(void)putchar('\n');
}

static void print_option(const struct pfs_option *option)
{
	char shape[80];
	if (option->help == NULL)
		return;
	bool letter = pfs_option_has_letter(option);
	int used = snprintf(shape, sizeof(shape), "  %c%c%c --%s%s%s", letter ? '-' : ' ',
			    letter ? option->key : ' ', letter ? ',' : ' ', option->name,
			    option->value != NULL ? "=" : "",
			    option->value != NULL ? option->value : "");
	(void)fputs(shape, stdout);
	if (used > COLUMN - 2) {
		(void)putchar('\n');
		used = 0;
	}
	(void)printf("%*s", COLUMN - used, "");
	print_wrapped(option->help, COLUMN, COLUMN);
}

void pfs_command_help(const struct pfs_command_line *self)
{
	const struct pfs_option help = { .name = "help", .help = "this text", .key = 'h' };
	const struct pfs_option version = { .name = "version", .help = "the version", .key = 'V' };
	(void)printf("usage: %s [OPTION...]%s%s\n", self->program,
		     self->words[0] != '\0' ? " " : "", self->words);
	if (self->about != NULL)
		print_wrapped(self->about, 0, 0);
	(void)putchar('\n');
	for (size_t i = 0; i < self->option_count; i++)
		print_option(&self->options[i]);
	print_option(&help);
	print_option(&version);
	if (self->after == NULL)
		return;
	(void)putchar('\n');
	if (strchr(self->after, '\n') != NULL)
		(void)fputs(self->after, stdout);
	else
		print_wrapped(self->after, 0, 0);
}
