#define _GNU_SOURCE
#include "crowd_test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stress/harness/harness.h"

char path[512];
struct pfs_made_box box;

void name_box(void)
{
	(void)snprintf(path, sizeof(path), "/tmp/pfslab-box-%u.box", (unsigned)getpid());
}

void begin(void)
{
	const struct pfs_made_sizes sizes = {
		.instruments = 20, .threads = 40, .accounts = 20, .cells = 200, .page_records = 8
	};
	name_box();
	pfs_made_begin(&box, path, &sizes);
}

void end(struct pfs_reader *reader)
{
	pfs_reader_close(reader);
	(void)unlink(path);
	(void)strcat(path, ".lock");
	(void)unlink(path);
}

struct pfs_reader *open_box(void)
{
	return open_target(path);
}

struct pfs_reader *open_target(const char *target)
{
	struct pfs_message message = { "" };
	struct pfs_reader *reader = pfs_reader_open(target, &message);
	if (reader == NULL)
		(void)fprintf(stderr, "%s\n", message.text);
	PFS_CHECK(reader != NULL);
	return reader;
}

struct pfs_snapshot *take(struct pfs_reader *reader)
{
	struct pfs_message message = { "" };
	struct pfs_snapshot *snapshot = pfs_snapshot_take(
		reader, PFS_SNAPSHOT_ROWS | PFS_SNAPSHOT_TICKS | PFS_SNAPSHOT_MODULES, &message);
	if (snapshot == NULL)
		(void)fprintf(stderr, "%s\n", message.text);
	PFS_CHECK(snapshot != NULL);
	PFS_CHECK_IS(snapshot->damaged, 0);
	return snapshot;
}

struct pfs_row row_of(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		      uint32_t instrument)
{
	struct pfs_row row;
	PFS_CHECK(pfs_snapshot_row(snapshot, table,
				   (uint64_t)who * snapshot->instrument_count + instrument, &row));
	PFS_CHECK_IS(row.who, who);
	PFS_CHECK_IS(row.instrument, instrument);
	return row;
}

void is_row(struct pfs_row row, const int64_t expected[10])
{
	const int64_t found[10] = { row.count_alloc, row.count_free, row.bytes_alloc,
				    row.bytes_free,  row.low_count,  row.current_count,
				    row.high_count,  row.low_bytes,  row.current_bytes,
				    row.high_bytes };
	for (int i = 0; i < 10; i++) {
		if (found[i] != expected[i])
			(void)fprintf(stderr, "table %d, number %d\n", (int)row.table, i);
		PFS_CHECK_IS(found[i], expected[i]);
	}
}

void see_row(struct pfs_reader *reader, enum pfs_box_table table, uint32_t who,
	     const int64_t expected[10])
{
	struct pfs_snapshot *snapshot = take(reader);
	is_row(row_of(snapshot, table, who, 0), expected);
	pfs_snapshot_free(snapshot);
}

struct pfs_reader *begin_crowd(struct crowd *self)
{
	begin();
	self->net = pfs_made_instrument(&box, "memory/server/net");
	self->sort = pfs_made_instrument(&box, "memory/server/sort");
	self->app = pfs_made_user(&box, "app");
	self->root = pfs_made_user(&box, "root");
	self->web = pfs_made_host(&box, "web");
	self->db = pfs_made_host(&box, "db");
	self->app_web = pfs_made_account(&box, self->app, self->web);
	self->app_db = pfs_made_account(&box, self->app, self->db);
	const uint32_t threads[5] = {
		pfs_made_thread(&box, "a", self->app_web, 0, 0),
		pfs_made_thread(&box, "b", self->app_db, 0, 0),
		pfs_made_thread(&box, "c", 0, self->root, 0),
		pfs_made_thread(&box, "d", 0, 0, self->db),
		pfs_made_thread(&box, "e", 0, 0, 0),
	};
	for (int i = 0; i < 5; i++) {
		self->cells[i] = pfs_made_cell(&box, threads[i], self->net);
		for (int j = 0; j <= i; j++)
			pfs_made_alloc(&box, self->cells[i], 100);
	}
	pfs_made_foreign(self->cells[4], 100);    /* 4 are left of 5 */
	pfs_made_free(&box, self->cells[3], 100); /* 3 of 4 */
	return open_box();
}
