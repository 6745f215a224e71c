/*
 * rows_test.c - rows of boxes that were made by hand, against values that were computed by hand.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture_test.h"
#include "memory/box/reader.h"
#include "containers/pfs_lock.h"
#include "stress/harness.h"

#define M INT64_C(1000000)

static char path[128];
static struct pfs_made_box box;

static void begin(void)
{
	const struct pfs_made_sizes sizes = { 20, 40, 20, 200, 8 };
	(void)snprintf(path, sizeof(path), "/tmp/pfslab-rows-%u.box", (unsigned)getpid());
	pfs_made_begin(&box, path, &sizes);
}

static void end(struct pfs_reader *reader)
{
	pfs_reader_close(reader);
	(void)unlink(path);
	(void)strcat(path, ".lock");
	(void)unlink(path);
}

static struct pfs_reader *open_box(void)
{
	struct pfs_message message = { "" };
	struct pfs_reader *reader = pfs_reader_open(path, &message);
	if (reader == NULL)
		(void)fprintf(stderr, "%s\n", message.text);
	PFS_CHECK(reader != NULL);
	return reader;
}

static struct pfs_snapshot *take(struct pfs_reader *reader)
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

static struct pfs_row row_of(const struct pfs_snapshot *snapshot, enum pfs_box_table table,
			     uint32_t who, uint32_t instrument)
{
	struct pfs_row row;
	PFS_CHECK(pfs_snapshot_row(snapshot, table,
				   (uint64_t)who * snapshot->instrument_count + instrument, &row));
	PFS_CHECK_IS(row.who, who);
	PFS_CHECK_IS(row.instrument, instrument);
	return row;
}

/* The ten numbers, in the order of the columns. */
static void is_row(struct pfs_row row, const int64_t expected[10])
{
	const int64_t found[10] = { row.count_alloc, row.count_free,    row.bytes_alloc,
				    row.bytes_free,  row.low_count,     row.current_count,
				    row.high_count,  row.low_bytes,     row.current_bytes,
				    row.high_bytes };
	for (int i = 0; i < 10; i++) {
		if (found[i] != expected[i])
			(void)fprintf(stderr, "table %d, number %d\n", (int)row.table, i);
		PFS_CHECK_IS(found[i], expected[i]);
	}
}

#define IS_ROW(row, ...) is_row((row), (const int64_t[10]){ __VA_ARGS__ })

/* ---- the example of the real tables' description ---- */

/* Two threads of one account use 1M-2M and 10M-12M after a TRUNCATE: it used 11M-14M. */
static void example(const struct pfs_case *at)
{
	struct pfs_message message;
	(void)at;
	begin();
	uint32_t instrument = pfs_made_instrument(&box, "memory/sql/x");
	uint32_t account =
		pfs_made_account(&box, pfs_made_user(&box, "u"), pfs_made_host(&box, "h"));
	struct pfs_cell *one =
		pfs_made_cell(&box, pfs_made_thread(&box, "1", account, 0, 0), instrument);
	struct pfs_cell *two =
		pfs_made_cell(&box, pfs_made_thread(&box, "2", account, 0, 0), instrument);
	pfs_made_alloc(&box, one, 2 * M);
	pfs_made_alloc(&box, two, 10 * M);
	struct pfs_reader *reader = open_box();
	PFS_CHECK(pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	pfs_made_free(&box, one, M); /* 1M */
	pfs_made_alloc(&box, one, M / 2);
	pfs_made_alloc(&box, two, 2 * M); /* 12M */
	pfs_made_free(&box, two, M / 2);
	struct pfs_snapshot *snapshot = take(reader);
	struct pfs_row row = row_of(snapshot, PFS_TABLE_THREAD, 0, 0);
	PFS_CHECK_IS(row.low_bytes, M);
	PFS_CHECK_IS(row.high_bytes, 2 * M);
	row = row_of(snapshot, PFS_TABLE_THREAD, 1, 0);
	PFS_CHECK_IS(row.low_bytes, 10 * M);
	PFS_CHECK_IS(row.high_bytes, 12 * M);
	for (int t = PFS_TABLE_ACCOUNT; t < PFS_TABLES; t++) {
		row = row_of(snapshot, (enum pfs_box_table)t, 0, 0);
		PFS_CHECK_IS(row.low_bytes, 11 * M);
		PFS_CHECK_IS(row.current_bytes, 13 * M);
		PFS_CHECK_IS(row.high_bytes, 14 * M);
	}
	pfs_snapshot_free(snapshot);
	end(reader);
}

/* ---- sums ---- */

struct crowd {
	uint32_t net, sort, app, root, web, db, app_web, app_db;
	struct pfs_cell *cells[5];
};

/* Threads of two accounts of one user, one of a user alone, one of a host alone, one of nobody. */
static void crowd(struct crowd *self)
{
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
	pfs_made_foreign(self->cells[4], 100); /* 4 are left of 5 */
	pfs_made_free(&box, self->cells[3], 100); /* 3 of 4 */
}

static void check_crowd(const struct pfs_snapshot *snapshot)
{
	PFS_CHECK_IS(snapshot->thread_count, 5);
	PFS_CHECK_IS(snapshot->account_count, 2);
	PFS_CHECK_IS(pfs_snapshot_row_count(snapshot, PFS_TABLE_THREAD), 10);
	PFS_CHECK_IS(pfs_snapshot_row_count(snapshot, PFS_TABLE_GLOBAL), 2);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 3, 0), 4, 1, 400, 100, 0, 3, 4, 0, 300, 400);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 4, 0), 5, 1, 500, 100, 0, 4, 5, 0, 400, 500);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 4, 1), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	IS_ROW(row_of(snapshot, PFS_TABLE_ACCOUNT, 0, 0), 1, 0, 100, 0, 0, 1, 1, 0, 100, 100);
	IS_ROW(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0), 2, 0, 200, 0, 0, 2, 2, 0, 200, 200);
	IS_ROW(row_of(snapshot, PFS_TABLE_USER, 0, 0), 3, 0, 300, 0, 0, 3, 3, 0, 300, 300);
	IS_ROW(row_of(snapshot, PFS_TABLE_USER, 1, 0), 3, 0, 300, 0, 0, 3, 3, 0, 300, 300);
	IS_ROW(row_of(snapshot, PFS_TABLE_HOST, 0, 0), 1, 0, 100, 0, 0, 1, 1, 0, 100, 100);
	IS_ROW(row_of(snapshot, PFS_TABLE_HOST, 1, 0), 6, 1, 600, 100, 0, 5, 6, 0, 500, 600);
	IS_ROW(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0), 15, 2, 1500, 200, 0, 13, 15, 0, 1300,
	       1500);
}

static void sums(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message = { "" };
	(void)at;
	begin();
	crowd(&all);
	struct pfs_reader *reader = open_box();
	PFS_CHECK(pfs_reader_info(reader)->is_live);
	struct pfs_snapshot *snapshot = take(reader);
	check_crowd(snapshot);
	PFS_CHECK(strcmp(snapshot->users[snapshot->accounts[1].user].user_name, "app") == 0);
	PFS_CHECK_IS(snapshot->threads[0].account, 0);
	PFS_CHECK_IS(snapshot->threads[2].account, PFS_NONE);
	PFS_CHECK_IS(snapshot->threads[2].user, 1);
	pfs_snapshot_free(snapshot);
	PFS_CHECK(pfs_reader_check(reader, &message));
	/* Killed: the same rows, by the same reader and by a new one. */
	pfs_made_leave(&box);
	snapshot = take(reader);
	PFS_CHECK(!snapshot->info.is_live);
	check_crowd(snapshot);
	pfs_snapshot_free(snapshot);
	pfs_reader_close(reader);
	reader = open_box();
	PFS_CHECK(!pfs_reader_info(reader)->is_live);
	snapshot = take(reader);
	check_crowd(snapshot);
	pfs_snapshot_free(snapshot);
	end(reader);
}

/* A life that has ended counts for its account until its last block is free; then its cell is
 * folded, as the program does it, and the account's own cell has the sums. */
static void ended(const struct pfs_case *at)
{
	struct crowd all;
	(void)at;
	begin();
	crowd(&all);
	struct pfs_cell *cell = all.cells[1];
	pfs_made_end_cell(cell);
	struct pfs_reader *reader = open_box();
	struct pfs_snapshot *snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	IS_ROW(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0), 2, 0, 200, 0, 0, 2, 2, 0, 200, 200);
	pfs_snapshot_free(snapshot);
	pfs_made_foreign(cell, 100);
	snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0), 2, 1, 200, 100, 0, 1, 2, 0, 100, 200);
	pfs_snapshot_free(snapshot);
	struct pfs_cell *own = pfs_made_cell_of(&box, PFS_CELL_OF_ACCOUNT, all.app_db, all.net);
	pfs_store_relaxed(&own->allocs, 2);        /* relaxed: one thread, here and below */
	pfs_store_relaxed(&own->frees, 2);         /* relaxed: as above */
	pfs_store_relaxed(&own->alloc_bytes, 200); /* relaxed: as above */
	pfs_store_relaxed(&own->free_bytes, 200);  /* relaxed: as above */
	for (int t = 0; t < PFS_TABLES; t++) {
		pfs_store_relaxed(&own->marks[t].high_count, 2);   /* relaxed: as above */
		pfs_store_relaxed(&own->marks[t].high_bytes, 200); /* relaxed: as above */
	}
	pfs_store_relaxed(pfs_made_word(&box, PFS_BOX_CELLS, cell->reference), 4); /* relaxed: */
	snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0), 2, 2, 200, 200, 0, 0, 2, 0, 0, 200);
	IS_ROW(row_of(snapshot, PFS_TABLE_USER, 0, 0), 3, 2, 300, 200, 0, 1, 3, 0, 100, 300);
	IS_ROW(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0), 15, 4, 1500, 400, 0, 11, 15, 0, 1100,
	       1500);
	pfs_snapshot_free(snapshot);
	/* A tick: the highest estimate until then. */
	for (int t = 0; t < PFS_TABLES; t++) {
		pfs_store_relaxed(&own->marks[t].low_bytes, 700);  /* relaxed: as above */
		pfs_store_relaxed(&own->marks[t].high_bytes, 0);   /* relaxed: as above */
	}
	snapshot = take(reader);
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0).high_bytes, 700);
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0).high_bytes, 100 + 700 + 1200);
	pfs_snapshot_free(snapshot);
	end(reader);
}

/* ---- TRUNCATE ---- */

static void truncate_tables(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	begin();
	crowd(&all);
	struct pfs_reader *reader = open_box();
	uint32_t before = pfs_load_relaxed(&box.control->generation); /* relaxed: one thread */
	PFS_CHECK(pfs_reader_truncate(reader, PFS_TABLE_HOST, &message));
	PFS_CHECK(pfs_load_relaxed(&box.control->generation) != before); /* relaxed: as above */
	struct pfs_snapshot *snapshot = take(reader);
	/* Nothing is freed, and COUNT_FREE is 0: in threads, accounts, hosts; not users, global. */
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 3, 0), 3, 0, 300, 0, 3, 3, 3, 300, 300, 300);
	IS_ROW(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0), 2, 0, 200, 0, 2, 2, 2, 200, 200, 200);
	IS_ROW(row_of(snapshot, PFS_TABLE_HOST, 1, 0), 5, 0, 500, 0, 5, 5, 5, 500, 500, 500);
	IS_ROW(row_of(snapshot, PFS_TABLE_USER, 0, 0), 3, 0, 300, 0, 0, 3, 3, 0, 300, 300);
	IS_ROW(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0), 15, 2, 1500, 200, 0, 13, 15, 0, 1300,
	       1500);
	PFS_CHECK_IS(snapshot->truncates[PFS_TABLE_HOST], 1);
	PFS_CHECK_IS(snapshot->truncates[PFS_TABLE_USER], 0);
	pfs_snapshot_free(snapshot);
	/* Frees before the owner has looked, and an allocation, at which it does. */
	pfs_made_foreign(all.cells[3], 100);
	snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 3, 0), 3, 1, 300, 100, 2, 2, 3, 200, 200, 300);
	pfs_snapshot_free(snapshot);
	pfs_made_alloc(&box, all.cells[3], 50);
	snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 3, 0), 4, 1, 350, 100, 2, 3, 3, 200, 250, 300);
	pfs_snapshot_free(snapshot);
	/* A second one, of all. */
	PFS_CHECK(pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 3, 0), 3, 0, 250, 0, 3, 3, 3, 250, 250, 250);
	IS_ROW(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0), 13, 0, 1250, 0, 13, 13, 13, 1250, 1250,
	       1250);
	PFS_CHECK_IS(snapshot->truncates[PFS_TABLE_THREAD], 2);
	pfs_snapshot_free(snapshot);
	end(reader);
}

/* A base is of one life: whoever has the record next has none. */
static void next_life(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	begin();
	crowd(&all);
	struct pfs_reader *reader = open_box();
	PFS_CHECK(pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	_Atomic(uint32_t) *word = pfs_made_word(&box, PFS_BOX_THREADS, 4);
	/* relaxed: one thread */
	pfs_store_relaxed(word, pfs_load_relaxed(word) + PFS_VERSION_ONE);
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_THREAD, 3, 0).count_free, 1);
	pfs_snapshot_free(snapshot);
	/* The next life of a cell, and its thread's: its high mark is its own. */
	struct pfs_cell *cell = all.cells[4];
	word = pfs_made_word(&box, PFS_BOX_THREADS, 5);
	/* relaxed: one thread */
	pfs_store_relaxed(word, pfs_load_relaxed(word) + PFS_VERSION_ONE);
	word = pfs_made_word(&box, PFS_BOX_CELLS, cell->reference);
	/* relaxed: one thread, here and below */
	pfs_store_relaxed(word, pfs_load_relaxed(word) + PFS_VERSION_ONE);
	pfs_store_relaxed(&cell->allocs, 0);        /* relaxed: as above */
	pfs_store_relaxed(&cell->alloc_bytes, 0);   /* relaxed: as above */
	pfs_store_relaxed(&cell->word, 0);          /* relaxed: as above */
	pfs_store_relaxed(&cell->foreign_bytes, 0); /* relaxed: as above */
	for (int t = 0; t < PFS_TABLES; t++) {
		cell->marks[t] = (struct pfs_marks){ 0 };
		pfs_store_relaxed(&cell->epochs[t], 1); /* relaxed: as above */
	}
	pfs_made_alloc(&box, cell, 10);
	snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 4, 0), 1, 0, 10, 0, 0, 1, 1, 0, 10, 10);
	pfs_snapshot_free(snapshot);
	end(reader);
}

static void refuses_dead(const struct pfs_case *at)
{
	struct pfs_message message = { "" };
	struct crowd all;
	(void)at;
	begin();
	crowd(&all);
	struct pfs_reader *reader = open_box();
	pfs_made_leave(&box);
	PFS_CHECK(!pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	PFS_CHECK(strstr(message.text, "can only be read") != NULL);
	PFS_CHECK(!pfs_reader_enable(reader, 0, false, &message));
	end(reader);
}

/* ---- the rest ---- */

static void enabled(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	begin();
	crowd(&all);
	struct pfs_reader *reader = open_box();
	PFS_CHECK(pfs_reader_enable(reader, 1, false, &message));
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK(snapshot->instruments[0].is_enabled);
	PFS_CHECK(!snapshot->instruments[1].is_enabled);
	pfs_snapshot_free(snapshot);
	PFS_CHECK_IS(pfs_load_relaxed(&box.control->enabled[1]), 0);    /* relaxed: one thread */
	PFS_CHECK_IS(pfs_load_relaxed(&box.control->generation), 2);    /* relaxed: as above */
	pfs_store_relaxed(&box.control->generation, UINT32_MAX);        /* relaxed: as above */
	PFS_CHECK(pfs_reader_enable(reader, 1, true, &message));
	PFS_CHECK_IS(pfs_load_relaxed(&box.control->generation), 1);    /* relaxed: as above */
	PFS_CHECK(!pfs_reader_enable(reader, 1024, true, &message));
	end(reader);
}

/* Sums that move, odd: rows are there, and counted as missed. */
static void moving(const struct pfs_case *at)
{
	struct crowd all;
	(void)at;
	begin();
	crowd(&all);
	struct pfs_box_account *account = pfs_made_at(&box, PFS_BOX_ACCOUNTS, all.app_db);
	pfs_store_relaxed(&account->moves, 1); /* relaxed: one thread */
	struct pfs_reader *reader = open_box();
	struct pfs_snapshot *snapshot = take(reader);
	check_crowd(snapshot);
	PFS_CHECK(snapshot->accounts[1].is_missed && !snapshot->accounts[0].is_missed);
	PFS_CHECK_IS(snapshot->rows_missed, 4); /* its own, app's, db's, global */
	pfs_snapshot_free(snapshot);
	pfs_store_relaxed(&account->moves, 2); /* relaxed: as above */
	snapshot = take(reader);
	PFS_CHECK_IS(snapshot->rows_missed, 0);
	pfs_snapshot_free(snapshot);
	end(reader);
}

static void ticks(const struct pfs_case *at)
{
	char died[160];
	(void)at;
	begin();
	(void)pfs_made_instrument(&box, "memory/server/net");
	struct pfs_reader *reader = open_box();
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK(!snapshot->has_own && snapshot->tick_count == 0);
	pfs_snapshot_free(snapshot);
	for (uint64_t i = 1; i <= PFS_BOX_TICKS_KEPT + 10; i++)
		pfs_made_tick(&box, i);
	snapshot = take(reader);
	PFS_CHECK_IS(snapshot->own.tracked, PFS_BOX_TICKS_KEPT + 10);
	PFS_CHECK_IS(snapshot->tick_count, PFS_BOX_TICKS_KEPT - 1);
	PFS_CHECK_IS(snapshot->ticks[0].number, 12);
	PFS_CHECK_IS(pfs_snapshot_instrument(snapshot, 1), 0);
	PFS_CHECK_IS(pfs_snapshot_instrument(snapshot, 2), PFS_NONE);
	PFS_CHECK_IS(pfs_snapshot_instrument(snapshot, 0), PFS_NONE);
	pfs_snapshot_free(snapshot);
	PFS_CHECK(strcmp(pfs_box_died(pfs_reader_info(reader), died, sizeof(died)),
			 "is living") == 0);
	pfs_made_leave(&box);
	snapshot = take(reader);
	PFS_CHECK(strstr(pfs_box_died(&snapshot->info, died, sizeof(died)), "died between") !=
		  NULL);
	PFS_CHECK_IS(snapshot->info.seen_realtime_ns,
		     snapshot->info.start_realtime_ns +
			     (PFS_BOX_TICKS_KEPT + 10) * UINT64_C(1000000000));
	pfs_snapshot_free(snapshot);
	end(reader);
}

/* Records that are free, or being written, are not there; pages beyond the count neither. */
static void words(const struct pfs_case *at)
{
	struct crowd all;
	(void)at;
	begin();
	crowd(&all);
	/* relaxed: one thread, here and below */
	pfs_store_relaxed(pfs_made_word(&box, PFS_BOX_THREADS, 5), PFS_STATE_DIRTY);
	pfs_store_relaxed(pfs_made_word(&box, PFS_BOX_CELLS, 1), 0); /* relaxed: as above */
	struct pfs_reader *reader = open_box();
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK_IS(snapshot->thread_count, 4);
	PFS_CHECK_IS(snapshot->cell_count, 4);
	/* Its cell counts for what is above. */
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0).current_bytes, 1200);
	pfs_snapshot_free(snapshot);
	/* Pages behind the region's end, said after the box was opened: no word of those is one. */
	struct pfs_box_region *threads = pfs_made_region(&box, PFS_BOX_THREADS);
	struct pfs_box_region *accounts = pfs_made_region(&box, PFS_BOX_ACCOUNTS);
	PFS_CHECK_IS(threads->offset + threads->bytes, accounts->offset);
	*(uint32_t *)(void *)(box.base + accounts->offset + threads->words_offset) = 6;
	pfs_store_release(&threads->page_count, UINT32_MAX);
	snapshot = take(reader);
	PFS_CHECK_IS(snapshot->thread_count, 4);
	pfs_snapshot_free(snapshot);
	end(reader);
}

int main(int argc, char **argv)
{
	static const struct pfs_test tests[] = {
		{ .name = "example", .run = example },
		{ .name = "sums", .run = sums },
		{ .name = "ended", .run = ended },
		{ .name = "truncate", .run = truncate_tables },
		{ .name = "next_life", .run = next_life },
		{ .name = "refuses_dead", .run = refuses_dead },
		{ .name = "enabled", .run = enabled },
		{ .name = "moving", .run = moving },
		{ .name = "ticks", .run = ticks },
		{ .name = "words", .run = words },
	};
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
