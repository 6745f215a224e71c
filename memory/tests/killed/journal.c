/*
 * journal.c - a program in C that never frees the lines of its journal: it frees what it reads, but
 * not its copies. It aborts when it is out of memory.
 *
 * usage: journal [MIB]: how much it leaks before it exits with 1; default 1024
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	struct line *next;
	char text[];
};

static struct line *journal;
static char *table;

static void load_table(size_t bytes)
{
	table = malloc(bytes);
	if (table == NULL)
		abort();
	memset(table, 'x', bytes);
}

/* A line, which the caller frees. */
__attribute__((noinline)) static char *read_line(unsigned long number)
{
	size_t bytes = 400 + number % 1200;
	char *text = malloc(bytes);
	if (text == NULL)
		abort();
	memset(text, 'a' + (int)(number % 26), bytes - 1);
	text[bytes - 1] = '\0';
	return text;
}

static size_t keep_line(const char *text)
{
	size_t bytes = sizeof(struct line) + strlen(text) + 1;
	struct line *line = malloc(bytes); /* the leak's line */
	if (line == NULL)
		abort();
	(void)strcpy(line->text, text);
	line->next = journal;
	journal = line;
	return bytes;
}

__attribute__((noinline)) static size_t follow(unsigned long number)
{
	char *text = read_line(number);
	size_t bytes = keep_line(text);
	free(text);
	return bytes;
}

int main(int argc, char **argv)
{
	size_t most = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1024) << 20, kept = 0;
	load_table(8 << 20);
	for (unsigned long number = 0; kept < most; number++)
		kept += follow(number);
	(void)fprintf(stderr, "journal: %zu bytes kept beside %p, and nobody killed it\n", kept,
		      (void *)table);
	return 1;
}
