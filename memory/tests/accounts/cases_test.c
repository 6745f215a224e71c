/*
 * cases_test.c - where the statistics of an ended thread go, case by case, under each rule; marks;
 * and rows below zero, when a thread frees the blocks of another one or of an earlier life.
 *
 * usage: accounts_cases_test CASE
 * The cases are those of MySQL's aggregate_thread_memory: a thread with an account; without one,
 * but with user and host; with neither. Here a user without host, or a host without user, is an
 * account, too. Another case removes an account.
 */
#include <inttypes.h>

#include "common_test.h"

static struct pfs_books *books;
static pfs_memory_key key;
static uint32_t faults;

static void open_books(const char *rule, uint32_t accounts_max)
{
	struct pfs_memory_config config = test_config(NULL);
	config.rule = rule;
	config.accounts_max = accounts_max;
	books = books_or_exit(&config, "memory/test/case", &key);
}

struct level_sums {
	uint32_t level;
	struct pfs_cell_sums sums;
};

static void add_of_level(struct pfs_cell *cell, struct pfs_cell_sums sums, void *context)
{
	struct level_sums *all = context;
	if (cell->level != all->level)
		return;
	all->sums.allocs += sums.allocs;
	all->sums.frees += sums.frees;
	all->sums.alloc_bytes += sums.alloc_bytes;
	all->sums.free_bytes += sums.free_bytes;
}

/* The sums of all cells of a level. */
static struct pfs_cell_sums sums_of(uint32_t level)
{
	struct level_sums all = { level, { 0, 0, 0, 0 } };
	visit_cells(books, add_of_level, &all);
	return all.sums;
}

static void expect(const char *what, uint32_t level, int64_t allocs, int64_t frees, int64_t current)
{
	struct pfs_cell_sums sums = sums_of(level);
	int64_t is = (int64_t)(sums.alloc_bytes - sums.free_bytes);
	if ((int64_t)sums.allocs == allocs && (int64_t)sums.frees == frees && is == current)
		return;
	printf("%s: %" PRIu64 " allocations, %" PRIu64 " frees, %" PRId64
	       " bytes in use; not %" PRId64 ", %" PRId64 ", %" PRId64 "\n",
	       what, sums.allocs, sums.frees, is, allocs, frees, current);
	faults++;
}

/* A thread allocates three blocks of 100 bytes, frees one, and ends; then another one frees one. */
static struct pfs_memory_note lives(const char *user, const char *host)
{
	struct pfs_memory_note notes[3];
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "a", user, host, true);
	for (uint32_t i = 0; i < 3; i++)
		notes[i] = pfs_memory_allocated(thread, key, 100);
	pfs_memory_freed(books, thread, notes[0], 100);
	pfs_memory_thread_end(thread);
	pfs_memory_freed(books, NULL, notes[1], 100);
	return notes[2];
}

static void case_account(const char *rule)
{
	open_books(rule, 16);
	struct pfs_memory_note last = lives("u", "h");
	if (strcmp(rule, "exact") == 0) {
		expect("the ended life", PFS_CELL_OF_THREAD, 3, 2, 100);
		expect("account, before the last", PFS_CELL_OF_ACCOUNT, 0, 0, 0);
		pfs_memory_freed(books, NULL, last, 100);
		expect("account", PFS_CELL_OF_ACCOUNT, 3, 3, 0);
		expect("the ended life", PFS_CELL_OF_THREAD, 0, 0, 0);
		expect("global", PFS_CELL_OF_GLOBAL, 0, 0, 0);
	} else if (strcmp(rule, "freer") == 0) {
		/* The account keeps what others freed forever; the global row is below zero. */
		expect("account", PFS_CELL_OF_ACCOUNT, 3, 1, 200);
		expect("global", PFS_CELL_OF_GLOBAL, 0, 1, -100);
		pfs_memory_freed(books, NULL, last, 100);
		expect("account", PFS_CELL_OF_ACCOUNT, 3, 1, 200);
		expect("global", PFS_CELL_OF_GLOBAL, 0, 2, -200);
	} else {
		/* At its end, blocks in use moved to the global row; the account shows none. */
		expect("account", PFS_CELL_OF_ACCOUNT, 1, 1, 0);
		expect("global", PFS_CELL_OF_GLOBAL, 2, 1, 100);
		pfs_memory_freed(books, NULL, last, 100);
		expect("global", PFS_CELL_OF_GLOBAL, 2, 2, 0);
	}
	expect("user", PFS_CELL_OF_USER, 0, 0, 0);
	expect("host", PFS_CELL_OF_HOST, 0, 0, 0);
	pfs_memory_close(books);
}

/* There is no room for account, user or host: all goes to global, under each rule. */
static void case_none(const char *rule)
{
	static const char *const names[][2] = {
		{ "u", "h" }, { "u", NULL }, { NULL, "h" }, { NULL, NULL }
	};
	open_books(rule, 0);
	for (uint32_t i = 0; i < 4; i++)
		pfs_memory_freed(books, NULL, lives(names[i][0], names[i][1]), 100);
	expect("global", PFS_CELL_OF_GLOBAL, 12, 12, 0);
	uint64_t lost = pfs_load_relaxed(&books->box.head->lost[PFS_LOST_ACCOUNTS]);
	if (lost != 2) { /* a user or a host alone is no account */
		printf("%" PRIu64 " accounts are counted as lost, not 2\n", lost);
		faults++;
	}
	pfs_memory_close(books);
}

/* Accounts are full, users and hosts are not: sums go to both, and to global. */
static void case_user_and_host(const char *rule)
{
	open_books(rule, 1);
	struct pfs_memory_thread *first = pfs_memory_thread_begin(books, "a", "u", "h", true);
	pfs_desk_open(books);
	struct pfs_party *account = books->lists[0];
	pfs_desk_close(books);
	/* Now user and host exist, but their account does not, and cannot be created. */
	account->user = "taken";
	struct pfs_memory_note last = lives("u", "h");
	account->user = account->record->user_name;
	pfs_memory_freed(books, NULL, last, 100);
	pfs_memory_thread_end(first);
	if (strcmp(rule, "exact") == 0) {
		expect("user", PFS_CELL_OF_USER, 3, 3, 0);
		expect("host", PFS_CELL_OF_HOST, 3, 3, 0);
		expect("global", PFS_CELL_OF_GLOBAL, 3, 3, 0);
	} else if (strcmp(rule, "freer") == 0) {
		expect("user", PFS_CELL_OF_USER, 3, 1, 200);
		expect("host", PFS_CELL_OF_HOST, 3, 1, 200);
		expect("global", PFS_CELL_OF_GLOBAL, 3, 3, 0);
	} else {
		expect("user", PFS_CELL_OF_USER, 1, 1, 0);
		expect("host", PFS_CELL_OF_HOST, 1, 1, 0);
		expect("global", PFS_CELL_OF_GLOBAL, 3, 3, 0);
	}
	pfs_memory_close(books);
}

/* Sums of a user or a host alone go to it, and to global; later it goes, too. */
static void case_alone(const char *rule)
{
	static const struct {
		const char *user, *host;
		uint32_t level, other;
	} each[] = { { "u", NULL, PFS_CELL_OF_USER, PFS_CELL_OF_HOST },
		     { NULL, "h", PFS_CELL_OF_HOST, PFS_CELL_OF_USER } };
	for (uint32_t i = 0; i < 2; i++) {
		open_books(rule, 16);
		struct pfs_memory_note last = lives(each[i].user, each[i].host);
		pfs_memory_freed(books, NULL, last, 100);
		pfs_desk_open(books);
		pfs_desk_close(books);
		if (strcmp(rule, "exact") == 0)
			expect("it", each[i].level, 3, 3, 0);
		else if (strcmp(rule, "freer") == 0)
			expect("it", each[i].level, 3, 1, 200);
		else
			expect("it", each[i].level, 1, 1, 0);
		expect("account", PFS_CELL_OF_ACCOUNT, 0, 0, 0);
		expect("the other", each[i].other, 0, 0, 0);
		expect("global", PFS_CELL_OF_GLOBAL, 3, 3, 0);
		struct pfs_party *others = books->lists[each[i].other - PFS_CELL_OF_ACCOUNT];
		if (books->lists[0] != NULL || others != NULL) {
			printf("it has an account, or a party without a name\n");
			faults++;
		}
		pfs_memory_close(books);
	}
}

/* What is left at a life's end moves to the global row, and its marks know it: the next life has as
 * much, then all of it is freed. */
static void case_marks_reassigned(const char *rule)
{
	if (strncmp(rule, "global", 6) != 0)
		return;
	open_books(rule, 16);
	struct pfs_memory_note notes[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "a", "u", "h",
									   true);
		notes[i] = pfs_memory_allocated(thread, key, 100);
		pfs_memory_thread_end(thread);
		pfs_memory_tick(books);
	}
	for (uint32_t i = 0; i < 2; i++)
		pfs_memory_freed(books, NULL, notes[i], 100);
	pfs_memory_tick(books);
	struct pfs_marks *marks = &books->global->cells[0]->marks[PFS_TABLE_GLOBAL];
	struct pfs_marks *of_account = &books->lists[0]->cells[0]->marks[PFS_TABLE_GLOBAL];
	uint64_t high = pfs_load_relaxed(&marks->low_bytes) + /* relaxed, both: alone */
			pfs_load_relaxed(&of_account->low_bytes);
	if (pfs_load_relaxed(&marks->low_bytes) < 200 || high > 400) { /* relaxed: alone */
		printf("HIGH of the global row is %" PRIu64 ", not 200 to 400\n", high);
		faults++;
	}
	pfs_memory_close(books);
}

/* A life without an account gets one, and goes back to a user alone. */
static void case_moves_alone(const char *rule)
{
	open_books(rule, 16);
	struct pfs_memory_thread *one = pfs_memory_thread_begin(books, "a", "u", NULL, true);
	struct pfs_memory_note kept = pfs_memory_allocated(one, key, 100);
	bool moved = pfs_memory_thread_account(one, "u", "h");
	moved = moved && one->account != NULL;
	moved = pfs_memory_thread_account(one, "v", NULL) && moved && one->account == NULL;
	pfs_memory_freed(books, one, kept, 100);
	pfs_memory_thread_end(one);
	expect("user", PFS_CELL_OF_USER, 1, 1, 0);
	expect("global", PFS_CELL_OF_GLOBAL, 1, 1, 0);
	pfs_desk_open(books);
	(void)pfs_parties_purge(books);
	pfs_desk_close(books);
	if (!moved || books->lists[0] != NULL || books->lists[1] != NULL) {
		printf("the life did not move, or left something behind\n");
		faults++;
	}
	pfs_memory_close(books);
}

/* The sums of an account without threads go to its user, its host and global. */
static void case_account_goes(const char *rule)
{
	open_books(rule, 16);
	struct pfs_memory_note last = lives("u", "h");
	pfs_desk_open(books);
	uint32_t gone = pfs_parties_purge(books);
	pfs_desk_close(books);
	bool is_exact = strcmp(rule, "exact") == 0;
	/* Under exact a block in use keeps its account alive. */
	if ((is_exact && gone != 0) || (!is_exact && gone != 3)) {
		printf("%u parties went\n", gone);
		faults++;
	}
	pfs_memory_freed(books, NULL, last, 100);
	pfs_desk_open(books);
	(void)pfs_parties_purge(books);
	pfs_desk_close(books);
	expect("account", PFS_CELL_OF_ACCOUNT, 0, 0, 0);
	expect("global", PFS_CELL_OF_GLOBAL, 3, 3, 0);
	pfs_memory_close(books);
}

/* One thread allocates, the other frees. */
static void case_below_zero(const char *rule)
{
	open_books(rule, 16);
	struct pfs_memory_thread *one = pfs_memory_thread_begin(books, "a", "one", "h", true);
	struct pfs_memory_thread *two = pfs_memory_thread_begin(books, "b", "two", "h", true);
	for (uint32_t i = 0; i < 1000; i++)
		pfs_memory_freed(books, two, pfs_memory_allocated(one, key, 194), 194);
	int64_t lowest = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct pfs_memory_thread *thread = i == 0 ? one : two;
		if (thread->all_cells[1] == NULL)
			continue;
		struct pfs_cell_sums sums = pfs_cell_read(thread->all_cells[1]);
		int64_t current = (int64_t)(sums.alloc_bytes - sums.free_bytes);
		lowest = current < lowest ? current : lowest;
	}
	int64_t right = strcmp(rule, "freer") == 0 ? -194000 : 0;
	if (lowest != right) {
		printf("the lowest row is %" PRId64 ", not %" PRId64 "\n", lowest, right);
		faults++;
	}
	pfs_memory_thread_end(one);
	pfs_memory_thread_end(two);
	pfs_memory_close(books);
}

/*
 * A thread allocates a block and ends. Other lives follow, one at a time, until one has the same
 * number; it frees the block. Under global a page has 256 numbers, used in turn.
 */
static void case_reused(const char *rule)
{
	open_books(rule, 16);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "a", "one", "h", true);
	uint32_t number = thread->number, lives = 0;
	struct pfs_memory_note note = pfs_memory_allocated(thread, key, 100);
	do {
		pfs_memory_thread_end(thread);
		thread = pfs_memory_thread_begin(books, "b", "two", "h", true);
		lives++;
	} while (thread->number != number && lives < 10000);
	uint32_t right = strcmp(rule, "global") == 0 ? 256 : 1;
	if (lives != right) {
		printf("the number is reused after %u lives, not %u\n", lives, right);
		faults++;
	}
	pfs_memory_freed(books, thread, note, 100);
	if (strcmp(rule, "exact") == 0)
		expect("thread", PFS_CELL_OF_THREAD, 0, 0, 0);
	else
		expect("thread", PFS_CELL_OF_THREAD, 0, 1, -100);
	pfs_memory_thread_end(thread);
	pfs_memory_close(books);
}

/* ---- marks ---- */

static void expect_marks(const char *what, struct pfs_cell *cell, uint32_t table, uint64_t low,
			 uint64_t high)
{
	struct pfs_marks *marks = &cell->marks[table];
	uint64_t is_low = pfs_load_relaxed(&marks->low_bytes);
	uint64_t is_high = pfs_load_relaxed(&marks->high_bytes);
	if (is_low == low && is_high == high)
		return;
	printf("%s: marks %" PRIu64 " .. %" PRIu64 ", not %" PRIu64 " .. %" PRIu64 "\n", what,
	       is_low, is_high, low, high);
	faults++;
}

static void truncate_table(uint32_t table)
{
	(void)pfs_fetch_add_relaxed(&books->control->truncates[table], 1);
	pfs_box_announce(books->control);
}

static void case_marks(const char *rule)
{
	struct pfs_memory_note notes[10];
	open_books(rule, 16);
	if (strcmp(rule, "exact") != 0) { /* frees by others do not lower its cell */
		pfs_memory_close(books);
		return;
	}
	struct pfs_memory_thread *one = pfs_memory_thread_begin(books, "a", "u", "h", true);
	for (uint32_t i = 0; i < 10; i++)
		notes[i] = pfs_memory_allocated(one, key, 100);
	expect_marks("ten blocks", one->all_cells[1], PFS_TABLE_THREAD, 0, 1000);
	/* Others free four: a new block is not a new peak. */
	for (uint32_t i = 0; i < 4; i++)
		pfs_memory_freed(books, NULL, notes[i], 100);
	notes[0] = pfs_memory_allocated(one, key, 100);
	expect_marks("four less, one more", one->all_cells[1], PFS_TABLE_THREAD, 0, 1000);
	notes[1] = pfs_memory_allocated(one, key, 500);
	expect_marks("a large one", one->all_cells[1], PFS_TABLE_THREAD, 0, 1200);
	truncate_table(PFS_TABLE_THREAD);
	pfs_memory_freed(books, one, notes[1], 500);
	notes[1] = pfs_memory_allocated(one, key, 50);
	expect_marks("after TRUNCATE", one->all_cells[1], PFS_TABLE_THREAD, 700, 750);
	expect_marks("of another table", one->all_cells[1], PFS_TABLE_USER, 0, 1200);
	for (uint32_t i = 5; i < 10; i++)
		pfs_memory_freed(books, one, notes[i], 100);
	notes[5] = pfs_memory_allocated(one, key, 1000);
	expect_marks("down and up", one->all_cells[1], PFS_TABLE_THREAD, 250, 1250);
	pfs_memory_thread_end(one);
	pfs_memory_close(books);
}

/* A login: all that the life has moves to the account, and later to another one. */
static void case_moves(const char *rule)
{
	open_books(rule, 16);
	struct pfs_memory_thread *one = pfs_memory_thread_begin(books, "a", NULL, NULL, true);
	struct pfs_memory_note kept = pfs_memory_allocated(one, key, 100);
	pfs_memory_freed(books, one, pfs_memory_allocated(one, key, 900), 900);
	struct pfs_cell *cell = one->all_cells[1];
	struct pfs_party *before = one->account;
	truncate_table(PFS_TABLE_ACCOUNT);
	uint64_t moves_before = pfs_load_relaxed(&before->record->moves); /* relaxed: alone */
	bool moved = pfs_memory_thread_account(one, "u", "h");
	if (!moved || one->account == before || cell->account != one->account->reference ||
	    before->lives != 0 || before->record->current_connections != 0) {
		printf("the life did not move\n");
		faults++;
	}
	/* So that readers read the cells of both again. */
	if (pfs_load_relaxed(&before->record->moves) != moves_before + 2 || /* relaxed: alone */
	    pfs_load_relaxed(&one->account->record->moves) != 2) {          /* relaxed: alone */
		printf("readers are not told of the move\n");
		faults++;
	}
	expect_marks("in use since TRUNCATE", cell, PFS_TABLE_ACCOUNT, 0, 100);
	expect_marks("without TRUNCATE", cell, PFS_TABLE_USER, 0, 1000);
	expect_marks("the account that it left", before->cells[0], PFS_TABLE_USER, 0, 1000);
	truncate_table(PFS_TABLE_ACCOUNT);
	struct pfs_memory_note late = pfs_memory_allocated(one, key, 50);
	expect_marks("an allocation since TRUNCATE", cell, PFS_TABLE_ACCOUNT, 100, 150);
	(void)pfs_memory_thread_account(one, "v", "h");
	expect_marks("in the next account", cell, PFS_TABLE_ACCOUNT, 0, 150);
	expect_marks("of the thread", cell, PFS_TABLE_THREAD, 0, 1000);
	pfs_memory_freed(books, one, late, 50);
	pfs_memory_freed(books, one, kept, 100);
	pfs_memory_thread_end(one);
	expect("account", PFS_CELL_OF_ACCOUNT, 3, 3, 0);
	pfs_desk_open(books);
	(void)pfs_parties_purge(books);
	bool none_left = books->lists[0] == NULL && books->lists[1] == NULL &&
			 books->lists[2] == NULL;
	pfs_desk_close(books);
	if (!none_left) {
		printf("an account has lives that ended\n");
		faults++;
	}
	expect("global", PFS_CELL_OF_GLOBAL, 3, 3, 0);
	pfs_memory_close(books);
}

/* A counted block is counted when it is freed; an uncounted one is not. */
static void case_enabled(const char *rule)
{
	open_books(rule, 16);
	struct pfs_memory_thread *one = pfs_memory_thread_begin(books, "a", "u", "h", true);
	struct pfs_memory_thread *two = pfs_memory_thread_begin(books, "b", "u", "h", false);
	struct pfs_memory_note counted = pfs_memory_allocated(one, key, 100);
	pfs_memory_enable(books, key, false);
	struct pfs_memory_note not_counted = pfs_memory_allocated(one, key, 10);
	pfs_memory_freed(books, one, counted, 100);
	pfs_memory_enable(books, key, true);
	pfs_memory_freed(books, one, not_counted, 10);
	pfs_memory_freed(books, one, pfs_memory_allocated(two, key, 7), 7);
	(void)pfs_memory_allocated(one, key, 1);
	(void)pfs_memory_allocated(one, 0, 3);
	(void)pfs_memory_allocated(one, 1000000, 3);
	(void)pfs_memory_allocated(NULL, key, 3);
	expect("one block before and one after", PFS_CELL_OF_THREAD, 2, 1, 1);
	pfs_memory_close(books);
}

static const struct {
	const char *name;
	void (*run)(const char *rule);
} cases[] = {
	{ "account", case_account },
	{ "user_and_host", case_user_and_host },
	{ "none", case_none },
	{ "alone", case_alone },
	{ "marks_reassigned", case_marks_reassigned },
	{ "moves_alone", case_moves_alone },
	{ "account_goes", case_account_goes },
	{ "below_zero", case_below_zero },
	{ "reused", case_reused },
	{ "marks", case_marks },
	{ "moves", case_moves },
	{ "enabled", case_enabled },
};

int main(int argc, char **argv)
{
	static const char *const rules[] = { "exact", "freer", "global", "global_at_once" };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
			continue;
		for (size_t rule = 0; rule < 4; rule++) {
			uint32_t before = faults;
			cases[i].run(rules[rule]);
			printf("%s %s: %s\n", cases[i].name, rules[rule],
			       faults == before ? "as it is" : "WRONG");
		}
	}
	return faults != 0;
}
