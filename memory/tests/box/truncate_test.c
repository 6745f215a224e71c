/*
 * truncate_test.c - what readers change in a box (TRUNCATE, ENABLED), and what stays unchanged.
 */
#define _GNU_SOURCE
#include "crowd_test.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "containers/pfs_lock.h"
#include "stress/harness/harness.h"

static void truncate_tables(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
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
	/* A free before the owner has looked, then an allocation, which looks. */
	pfs_made_foreign(all.cells[3], 100);
	SEE_ROW(reader, PFS_TABLE_THREAD, 3, 3, 1, 300, 100, 2, 2, 3, 200, 200, 300);
	pfs_made_alloc(&box, all.cells[3], 50);
	SEE_ROW(reader, PFS_TABLE_THREAD, 3, 4, 1, 350, 100, 2, 3, 3, 200, 250, 300);
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

/* A base belongs to one life: the next life of the record has none. */
static void next_life(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	PFS_CHECK(pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	_Atomic(uint32_t) *word = pfs_made_word(&box, PFS_BOX_THREADS, 4);
	/* relaxed: one thread */
	pfs_store_relaxed(word, pfs_load_relaxed(word) + PFS_VERSION_ONE);
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK_IS(row_of(snapshot, PFS_TABLE_THREAD, 3, 0).count_free, 1);
	pfs_snapshot_free(snapshot);
	/* The next life of a cell and its thread: its high mark is its own. */
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
	SEE_ROW(reader, PFS_TABLE_THREAD, 4, 1, 0, 10, 0, 0, 1, 1, 0, 10, 10);
	end(reader);
}

/* No room for a baseline: nothing changes, and an earlier TRUNCATE remains valid. */
static void no_room(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	PFS_CHECK(pfs_reader_truncate(reader, PFS_TABLE_THREAD, &message));
	const rlim_t end_of_file = pfs_made_region(&box, PFS_BOX_ROW_BASES)->offset;
	PFS_CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	PFS_CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ end_of_file, end_of_file }) == 0);
	PFS_CHECK(!pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	PFS_CHECK(strstr(message.text, "no room for a baseline") != NULL);
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK_IS(snapshot->truncates[PFS_TABLE_THREAD], 1);
	PFS_CHECK_IS(snapshot->truncates[PFS_TABLE_GLOBAL], 0);
	IS_ROW(row_of(snapshot, PFS_TABLE_THREAD, 3, 0), 3, 0, 300, 0, 3, 3, 3, 300, 300, 300);
	pfs_snapshot_free(snapshot);
	end(reader);
}

static void refuses_dead(const struct pfs_case *at)
{
	struct pfs_message message = { "" };
	struct crowd all;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	pfs_made_leave(&box);
	PFS_CHECK(!pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	PFS_CHECK(strstr(message.text, "is read-only") != NULL);
	PFS_CHECK(!pfs_reader_enable(reader, 0, false, &message));
	end(reader);
}

static void enabled(const struct pfs_case *at)
{
	struct crowd all;
	struct pfs_message message;
	(void)at;
	struct pfs_reader *reader = begin_crowd(&all);
	PFS_CHECK(pfs_reader_enable(reader, 1, false, &message));
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK(snapshot->instruments[0].is_enabled);
	PFS_CHECK(!snapshot->instruments[1].is_enabled);
	pfs_snapshot_free(snapshot);
	PFS_CHECK_IS(pfs_load_relaxed(&box.control->enabled[1]), 0); /* relaxed: one thread */
	PFS_CHECK_IS(pfs_load_relaxed(&box.control->generation), 2); /* relaxed: as above */
	pfs_store_relaxed(&box.control->generation, UINT32_MAX);     /* relaxed: as above */
	PFS_CHECK(pfs_reader_enable(reader, 1, true, &message));
	PFS_CHECK_IS(pfs_load_relaxed(&box.control->generation), 1); /* relaxed: as above */
	PFS_CHECK(!pfs_reader_enable(reader, 1024, true, &message));
	end(reader);
}

int main(int argc, char **argv)
{
	static const struct pfs_test tests[] = {
		{ .name = "truncate", .run = truncate_tables },
		{ .name = "next_life", .run = next_life },
		{ .name = "no_room", .run = no_room },
		{ .name = "refuses_dead", .run = refuses_dead },
		{ .name = "enabled", .run = enabled },
	};
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
