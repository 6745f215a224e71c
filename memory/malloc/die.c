#include "die.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "containers/compiler.h"
#include "last.h"

#define LINE_BYTES 256

/* In the build with random delays the line also names the seed. */
#ifdef PFS_DELAYS
#define ADD_SEED(line) add_seed(line)
#else
#define ADD_SEED(line) ((void)0)
#endif

struct line {
	size_t used;
	char text[LINE_BYTES];
};

static void add(struct line *line, const char *text)
{
	size_t left = sizeof(line->text) - 1 - line->used;
	size_t length = strlen(text);
	if (length > left)
		length = left;
	memcpy(&line->text[line->used], text, length);
	line->used += length;
}

static void add_hex(struct line *line, uintptr_t value)
{
	char digits[2 * sizeof(value) + 3];
	size_t at = sizeof(digits) - 1;
	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[value % 16];
		value /= 16;
	} while (value != 0);
	digits[--at] = 'x';
	digits[--at] = '0';
	add(line, &digits[at]);
}

static void put(struct line *line)
{
	line->text[line->used++] = '\n';
	if (write(STDERR_FILENO, line->text, line->used) < 0)
		return; /* stderr is closed */
}

#ifdef PFS_DELAYS
static void add_seed(struct line *line)
{
	char text[PFS_DELAYS_SEED_BYTES];
	add(line, pfs_delays_seed(text));
}
#endif

void pfs_die(const char *call, const void *pointer, const char *what)
{
	struct line line = { .used = 0 };
	add(&line, "pfsmalloc: ");
	add(&line, call);
	add(&line, "(");
	add_hex(&line, (uintptr_t)pointer);
	add(&line, "): ");
	add(&line, what);
	ADD_SEED(&line);
	put(&line);
	pfs_last_begin();
	abort();
}

void pfs_warn(const char *first, const char *second, const char *third)
{
	struct line line = { .used = 0 };
	add(&line, "pfsmalloc: ");
	add(&line, first);
	add(&line, second);
	add(&line, third);
	put(&line);
}
