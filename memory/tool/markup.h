/*
 * markup.h - what pages of HTML and pictures of SVG are written with.
 */
#ifndef PFS_MEM_MARKUP_H
#define PFS_MEM_MARKUP_H

#include <stdint.h>
#include <stdio.h>

/* Text between tags, or of an attribute. '?' replaces what is not UTF-8, and control characters. */
void pfs_put_text(FILE *to, const char *text);
void pfs_put_bytes(FILE *to, const char *text, size_t bytes);
/* A name, in which lines may break behind '/', '@' and '_'. */
void pfs_put_name(FILE *to, const char *name);

/* The beginning of a page, up to its title. */
void pfs_put_doctype(FILE *to);
/* The beginning of a picture that stands alone: its attributes, style and background. */
__attribute__((format(printf, 3, 4))) void pfs_put_svg(FILE *to, const char *style,
						       const char *attributes, ...);

/* A bar in a table: parts, the widest first, as shares of most. */
void pfs_bar_begin(FILE *to);
void pfs_bar_part(FILE *to, const char *css, int64_t value, int64_t most);
void pfs_bar_end(FILE *to, const char *after);

#endif
