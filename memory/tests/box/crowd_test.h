/*
 * crowd_test.h - a box with threads of every kind, and what tests of its rows share.
 */
#ifndef PFS_BOX_CROWD_TEST_H
#define PFS_BOX_CROWD_TEST_H

#include "fixture_test.h"
#include "memory/box/reader.h"

extern struct pfs_made_box box;
extern char path[512];

/* Sets path, for this process. */
void name_box(void);

/* Makes an empty box of a live program; closes the reader and removes the box. */
void begin(void);
void end(struct pfs_reader *reader);

/* These fail the test if they do not work, or if anything in the box is damaged. */
struct pfs_reader *open_box(void);
struct pfs_reader *open_target(const char *target);
struct pfs_snapshot *take(struct pfs_reader *reader);
struct pfs_row row_of(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		      uint32_t instrument);

/* Checks the ten numbers, in the order of the columns; SEE_ROW those of a new snapshot. */
void is_row(struct pfs_row row, const int64_t expected[10]);
void see_row(struct pfs_reader *reader, enum pfs_box_table table, uint32_t who,
	     const int64_t expected[10]);
#define IS_ROW(row, ...) is_row((row), (const int64_t[10]){ __VA_ARGS__ })
#define SEE_ROW(reader, table, who, ...) \
	see_row((reader), (table), (who), (const int64_t[10]){ __VA_ARGS__ })

struct crowd {
	uint32_t net, sort, app, root, web, db, app_web, app_db;
	struct pfs_cell *cells[5];
};

/* Threads of two accounts of one user, one with a user only, one with a host only, one with
 * neither; in a new box, which is opened. */
struct pfs_reader *begin_crowd(struct crowd *self);

#endif
