/*
 * crowd_test.h - a box with threads of every kind, and what tests of its rows share.
 */
#ifndef PFS_BOX_CROWD_TEST_H
#define PFS_BOX_CROWD_TEST_H

#include "fixture_test.h"
#include "memory/box/reader.h"

extern struct pfs_made_box box;
extern char path[128];

/* An empty box of a living program; and its end, with the reader's. */
void begin(void);
void end(struct pfs_reader *reader);

/* They end the test if it does not work, or if anything in the box is damaged. */
struct pfs_reader *open_box(void);
struct pfs_snapshot *take(struct pfs_reader *reader);
struct pfs_row row_of(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		      uint32_t instrument);

/* The ten numbers, in the order of the columns. */
void is_row(struct pfs_row row, const int64_t expected[10]);
#define IS_ROW(row, ...) is_row((row), (const int64_t[10]){ __VA_ARGS__ })

struct crowd {
	uint32_t net, sort, app, root, web, db, app_web, app_db;
	struct pfs_cell *cells[5];
};

/* Threads of two accounts of one user, one of a user alone, one of a host alone, one of nobody. */
void crowd(struct crowd *self);

#endif
