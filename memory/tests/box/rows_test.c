/*
 * rows_test.c - rows of boxes made by hand, compared with values computed by hand.
 */
#define _GNU_SOURCE
#include "crowd_test.h"

#include <string.h>

#include "containers/pfs_lock.h"
#include "stress/harness/harness.h"

#define M INT64_C(1000000)

/* ---- the example of the real tables' description ---- */

/* Two threads of one account use 1M-2M and 10M-12M after a TRUNCATE: it used 11M-14M. */
static void example(const struct pfs_case *at)
{
	struct pfs_message message;
	(void)at;
	begin();
	uint32_t instrument = pfs_made_instrument(&box, "memory/sql/x");
	uint32_t account = pfs_made_account(&box, pfs_made_user(&box, "u"),
					    pfs_made_host(&box, "h"));
	struct pfs_cell *one = pfs_made_cell(&box, pfs_made_thread(&box, "1", account, 0, 0),
					     instrument);
	struct pfs_cell *two = pfs_made_cell(&box, pfs_made_thread(&box, "2", account, 0, 0),
					     instrument);
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
	struct pfs_reader *reader = begin_crowd(&all);
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

/* An ended life counts for its account until its last block is free; then its cell is folded, as a
 * program would do it, and the account's own cell has the sums. */
static void ended(const struct pfs_case *at)
{
	struct crowd all;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	struct pfs_cell *cell = all.cells[1];
	pfs_made_end_cell(cell);
	struct pfs_snapshot *snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	IS_ROW(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0), 2, 0, 200, 0, 0, 2, 2, 0, 200, 200);
	pfs_snapshot_free(snapshot);
	pfs_made_foreign(cell, 100);
	SEE_ROW(reader, PFS_TABLE_ACCOUNT, 1, 2, 1, 200, 100, 0, 1, 2, 0, 100, 200);
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
		pfs_store_relaxed(&own->marks[t].low_bytes, 700); /* relaxed: as above */
		pfs_store_relaxed(&own->marks[t].high_bytes, 0);  /* relaxed: as above */
	}
	snapshot = take(reader);
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_ACCOUNT, 1, 0).high_bytes, 700);
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0).high_bytes, 100 + 700 + 1200);
	pfs_snapshot_free(snapshot);
	end(reader);
}

/* Rows are signed, for the rules freer and global. */
static void below_zero(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	pfs_made_free(&box, all.cells[0], 70);
	pfs_made_free(&box, all.cells[0], 70);
	struct pfs_snapshot *snapshot = take(reader);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 0, 0), 1, 2, 100, 140, -1, -1, 1, -40, -40, 100);
	IS_ROW(row_of(snapshot, PFS_TABLE_USER, 0, 0), 3, 2, 300, 140, -1, 1, 3, -40, 160, 300);
	pfs_snapshot_free(snapshot);
	PFS_CHECK(!pfs_reader_check(reader, &message));
	PFS_CHECK(strstr(message.text, "below zero") != NULL);
	memcpy(box.head->rule, "freer", 6);
	pfs_reader_close(reader);
	reader = open_box();
	PFS_CHECK(pfs_reader_check(reader, &message));
	end(reader);
}

/* ---- the rest ---- */

/* While `moves` is odd, rows are shown, and counted as missed. */
static void moving(const struct pfs_case *at)
{
	struct crowd all;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	struct pfs_box_account *account = pfs_made_at(&box, PFS_BOX_ACCOUNTS, all.app_db);
	pfs_store_relaxed(&account->moves, 1); /* relaxed: one thread */
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
	PFS_CHECK(strcmp(pfs_box_died(pfs_reader_info(reader), died, sizeof(died)), "is living") ==
		  0);
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

/* Records that are free or being written are left out, and so are pages beyond the count. */
static void words(const struct pfs_case *at)
{
	struct crowd all;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	/* relaxed: one thread, here and below */
	pfs_store_relaxed(pfs_made_word(&box, PFS_BOX_THREADS, 5), PFS_STATE_DIRTY);
	pfs_store_relaxed(pfs_made_word(&box, PFS_BOX_CELLS, 1), 0); /* relaxed: as above */
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK_IS(snapshot->thread_count, 4);
	PFS_CHECK_IS(snapshot->cell_count, 4);
	/* Its cell counts for the levels above. */
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_GLOBAL, 0, 0).current_bytes, 1200);
	pfs_snapshot_free(snapshot);
	/* After opening, the count claims pages behind the region's end: none of their words is
	 * used. */
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
		{ .name = "example", .run = example }, { .name = "sums", .run = sums },
		{ .name = "ended", .run = ended },     { .name = "below_zero", .run = below_zero },
		{ .name = "moving", .run = moving },   { .name = "ticks", .run = ticks },
		{ .name = "words", .run = words },
	};
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
