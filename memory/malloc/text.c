/*
 * text.c - builds text for stderr.
 */
#include "text.h"

#include <string.h>
#include <unistd.h>

void pfs_text_add(struct pfs_text *text, const char *part)
{
	size_t left = text->most - text->used;
	size_t length = strlen(part);
	if (length > left)
		length = left;
	memcpy(&text->bytes[text->used], part, length);
	text->used += length;
}

static void add_digits(struct pfs_text *text, uint64_t value, unsigned base)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;
	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	pfs_text_add(text, &digits[at]);
}

void pfs_text_hex(struct pfs_text *text, uint64_t value)
{
	pfs_text_add(text, "0x");
	add_digits(text, value, 16);
}

void pfs_text_number(struct pfs_text *text, uint64_t value)
{
	add_digits(text, value, 10);
}

void pfs_text_put(struct pfs_text *text)
{
	size_t done = 0;
	while (done < text->used) {
		ssize_t wrote = write(STDERR_FILENO, text->bytes + done, text->used - done);
		if (wrote <= 0)
			break; /* stderr is closed */
		done += (size_t)wrote;
	}
	text->used = 0;
}

void pfs_text_put_line(struct pfs_text *text)
{
	if (text->used == text->most)
		text->used--;
	pfs_text_add(text, "\n");
	pfs_text_put(text);
}

void pfs_warn(const char *first, const char *second, const char *third)
{
	char bytes[256];
	struct pfs_text line = { bytes, sizeof(bytes), 0 };
	pfs_text_add(&line, "pfsmalloc: ");
	pfs_text_add(&line, first);
	pfs_text_add(&line, second);
	pfs_text_add(&line, third);
	pfs_text_put_line(&line);
}
