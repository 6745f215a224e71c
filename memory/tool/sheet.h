/*
 * sheet.h - rows of values, printed as an aligned text, CSV (RFC 4180), JSON (an array of objects),
 * or with tabs.
 */
#ifndef PFS_MEM_SHEET_H
#define PFS_MEM_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfs_format {
	PFS_FORMAT_TEXT,
	PFS_FORMAT_CSV,
	PFS_FORMAT_JSON,
	PFS_FORMAT_TAB, /* no padding; tabs and line ends in values are escaped */
	PFS_FORMATS
};

struct pfs_sheet; /* one thread */

/* columns: names, ended by NULL, which must outlive the sheet. NULL: no memory. */
struct pfs_sheet *pfs_sheet_begin(const char *const *columns);
/* The next value: row by row. text NULL: SQL's NULL. */
void pfs_sheet_text(struct pfs_sheet *self, const char *text);
void pfs_sheet_number(struct pfs_sheet *self, int64_t number);
/* Text marks it by "≤ " if it is no more than an upper bound. */
void pfs_sheet_bound(struct pfs_sheet *self, int64_t number, bool is_exact);
/* No value: nothing in a text, SQL's NULL elsewhere. */
void pfs_sheet_blank(struct pfs_sheet *self);
void pfs_sheet_real(struct pfs_sheet *self, double number);
/* Prints and frees. False: no memory, or standard output cannot be written. */
bool pfs_sheet_end(struct pfs_sheet *self, enum pfs_format format);
/* Frees without printing. */
void pfs_sheet_drop(struct pfs_sheet *self);

#endif
