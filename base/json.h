/*
 * json.h - writes a JSON document piece by piece: the writer places commas, spaces and line ends,
 * and escapes text.
 *
 * It allocates nothing, so a document can have any size. Write errors stay in the stream. In an
 * object, each value has a key; in an array and for the document itself, key is NULL. All output is
 * UTF-8: '?' replaces each byte that is not.
 */
#ifndef PFS_COMMAND_JSON_H
#define PFS_COMMAND_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PFS_JSON_DEPTH_MAX 64

struct pfs_json {
	FILE *out;
	bool is_compact; /* no spaces between tokens */
	bool is_in_html; /* '<', '>' and '&' are escaped, as inside a script element */
	/* The writer's own, 0 at the beginning. */
	bool has_item;            /* the innermost container has one */
	unsigned depth;           /* of open containers */
	uint64_t is_array, lines; /* bit n: of the container that n others contain */
};

/* Begin a container. End the innermost one; with the document, its last line ends. */
void pfs_json_object(struct pfs_json *self, const char *key);
void pfs_json_array(struct pfs_json *self, const char *key);
void pfs_json_end(struct pfs_json *self);
/* Each item of the container that has just begun gets a line of its own. */
void pfs_json_lines(struct pfs_json *self);

void pfs_json_text(struct pfs_json *self, const char *key, const char *text); /* NULL: null */
void pfs_json_bytes(struct pfs_json *self, const char *key, const char *text, size_t bytes);
void pfs_json_integer(struct pfs_json *self, const char *key, int64_t value);
void pfs_json_count(struct pfs_json *self, const char *key, uint64_t value);
/* With so many significant digits, or decimals. JSON has no infinity and no NaN: null. */
void pfs_json_real(struct pfs_json *self, const char *key, int digits, double value);
void pfs_json_fixed(struct pfs_json *self, const char *key, int decimals, double value);
void pfs_json_bool(struct pfs_json *self, const char *key, bool value);
void pfs_json_null(struct pfs_json *self, const char *key);

#endif
