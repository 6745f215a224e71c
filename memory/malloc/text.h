/*
 * text.h - text for stderr, built without the heap and without stdio, because it may be needed
 * inside malloc and in signal handlers. What does not fit is cut.
 */
#ifndef PFS_MALLOC_TEXT_H
#define PFS_MALLOC_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "containers/compiler.h"

struct pfs_text {
	char *bytes;
	size_t most, used;
};

void pfs_text_add(struct pfs_text *text, const char *part);
void pfs_text_hex(struct pfs_text *text, uint64_t value); /* with 0x */
void pfs_text_number(struct pfs_text *text, uint64_t value);

/* Write it to stderr, and begin anew. Async-signal-safe. */
void pfs_text_put(struct pfs_text *text);

/* The same, as a line. */
void pfs_text_put_line(struct pfs_text *text);

/* A line of three parts; for options that are not understood. */
PFS_COLD void pfs_warn(const char *first, const char *second, const char *third);

#endif
