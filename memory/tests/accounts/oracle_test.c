/*
 * oracle_test.c - compare each row with brute-force books, while sessions and blocks come and go.
 *
 * usage: accounts_oracle_test RULE THREADS OPERATIONS SEED [LOAD]
 * Each thread works for one account after another, allocates under one of a few instruments, and
 * exchanges blocks with others through shared slots. So most frees are foreign, and many come after
 * the session has ended. The oracle counts the bytes in use by account and instrument; each block
 * stores who allocated it. Rows and totals are compared three times at rest: while the last session
 * of each thread is open, after it has ended, and after the remaining blocks are freed. A total is
 * the sum of an instrument over all accounts and the global row, as in the table
 * memory_summary_global_by_event_name.
 *
 * LOAD is handoff (default): a block lives for about one session; or cache: a block lives for some
 * 500 sessions, and each eighth session only frees, as a server does that empties a cache.
 *
 * Exit 1 if a rule does not show what is expected of it:
 *     every rule      totals are right
 *     exact           no row is wrong; no cell is ever read below zero
 *     freer           rows are wrong; some are below zero, with the load cache only threads'
 *     global          rows are wrong; some are below zero with the load cache, and none at rest
 *                     with handoff, because no block is in use when its thread's number is reused
 *     global_at_once  rows are wrong; some are below zero, or the global cell is
 * Whether a wrong rule is caught below zero depends on when its rows are read: it has three runs.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common_test.h"

#define ACCOUNTS 8u
#define INSTRUMENTS 5u
#define RARE 100000u /* with the load cache it is every third read */

/* What the test itself stores in a block. */
struct tale {
	uint32_t account, instrument;
	uint64_t bytes;
};

static struct pfs_books *books;
static pfs_memory_key keys[INSTRUMENTS];
static _Atomic(uint64_t) in_use[ACCOUNTS][INSTRUMENTS], allocs[ACCOUNTS][INSTRUMENTS];
/* slots: so many operations of all threads a block lives, on average. session_most: operations of
 * a session. flushes: one session in so many only frees; 0: none. */
static const struct load {
	const char *name;
	uint32_t slots, session_most, flushes;
} loads[] = { { "handoff", 1024, 2000, 0 }, { "cache", 50000, 200, 8 } };
static const struct load *load = &loads[0];
static _Atomic(struct tale *) slots[50000];
static _Atomic(uint64_t) session_count;
static _Atomic(bool) used_numbers[65537];

static struct tale *take(struct pfs_memory_thread *thread, uint32_t account, uint64_t *state)
{
	uint32_t instrument = (uint32_t)(draw(state) % INSTRUMENTS);
	uint64_t bytes = sizeof(struct tale) + draw(state) % 500;
	struct tale *tale = pfs_memory_malloc(books, thread, keys[instrument], bytes);
	if (tale == NULL)
		abort();
	*tale = (struct tale){ account, instrument, bytes };
	atomic_fetch_add(&in_use[account][instrument], bytes);
	atomic_fetch_add(&allocs[account][instrument], 1);
	return tale;
}

static void give(struct pfs_memory_thread *thread, struct tale *tale)
{
	if (tale == NULL)
		return;
	atomic_fetch_sub(&in_use[tale->account][tale->instrument], tale->bytes);
	pfs_memory_free(books, thread, tale);
}

/* The block gets another size or another owner, with equal probability. */
static struct tale *change(struct pfs_memory_thread *thread, uint32_t account, struct tale *tale,
			   uint64_t *state)
{
	struct tale before = *tale;
	uint64_t bytes = sizeof(*tale) + draw(state) % 500;
	if (draw(state) % 2 == 0) {
		pfs_memory_claim(books, thread, tale);
		bytes = before.bytes;
	} else {
		tale = pfs_memory_realloc(books, thread, keys[before.instrument], tale, bytes);
	}
	atomic_fetch_sub(&in_use[before.account][before.instrument], before.bytes);
	atomic_fetch_add(&in_use[account][before.instrument], bytes);
	atomic_fetch_add(&allocs[account][before.instrument], 1);
	*tale = (struct tale){ account, before.instrument, bytes };
	return tale;
}

/* Returns the open session. */
static struct pfs_memory_thread *session(uint64_t operations, uint64_t *state)
{
	char user[16], host[16];
	uint32_t account = (uint32_t)(draw(state) % ACCOUNTS);
	(void)snprintf(user, sizeof(user), "user%u", account % 4);
	(void)snprintf(host, sizeof(host), "host%u", account / 4);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "worker", user, host,
								   true);
	if (thread == NULL)
		abort();
	atomic_fetch_add(&session_count, 1);
	atomic_store(&used_numbers[thread->number], true);
	bool only_frees = load->flushes != 0 && draw(state) % load->flushes == 0;
	for (uint64_t i = 0; i < operations; i++) {
		struct tale *tale = only_frees ? NULL : take(thread, account, state);
		if (tale != NULL && draw(state) % 8 == 0)
			tale = change(thread, account, tale, state);
		_Atomic(struct tale *) *slot = &slots[draw(state) % load->slots];
		give(thread, atomic_exchange(slot, tale));
	}
	return thread;
}

struct work {
	uint64_t operations, seed;
	struct pfs_memory_thread *last; /* still open */
};

static void *work(void *context)
{
	struct work *self = context;
	uint64_t state = self->seed;
	for (uint64_t done = 0; done < self->operations;) {
		uint64_t some = draw(&state) % load->session_most + 1;
		pfs_memory_thread_end(self->last);
		self->last = session(some, &state);
		done += some;
	}
	return NULL;
}

/* ---- a concurrent reader: under exact no cell is ever below zero ---- */

/* global_below: the global cell, which is no row of any table: a server adds it to the accounts. */
struct reader {
	_Atomic(bool) ends;
	uint64_t read, torn, below, global_below;
};

static void read_cells(struct reader *self, struct pfs_thread *handle)
{
	struct pfs_walk walk;
	struct pfs_cell *cell;
	pfs_walk_begin(&walk, handle, PFS_WALK_LIVE);
	while ((cell = pfs_walk_next(&walk)) != NULL) {
		struct pfs_cell_sums sums = pfs_cell_read(cell);
		struct pfs_cell copy;
		pfs_bytes_load(&copy, cell, sizeof(copy));
		if (!pfs_read_end(cell, walk.glance)) {
			self->torn++;
			continue;
		}
		self->read++;
		bool is_below = (int64_t)(sums.allocs - sums.frees) < 0 ||
				(int64_t)(sums.alloc_bytes - sums.free_bytes) < 0;
		uint64_t *below = copy.level == PFS_CELL_OF_GLOBAL ? &self->global_below
								   : &self->below;
		*below += is_below;
	}
	pfs_walk_end(&walk);
}

static void *read_on(void *context)
{
	struct reader *self = context;
	struct pfs_thread *handle;
	if (pfs_thread_attach(books->shelves[PFS_SHELF_CELLS].container, &handle) != PFS_OK)
		abort();
	while (!atomic_load(&self->ends))
		read_cells(self, handle);
	pfs_thread_detach(handle);
	return NULL;
}

/* ---- rows, by a walk of all cells ---- */

struct row {
	uint64_t current, allocs;
};
static struct row rows[ACCOUNTS][INSTRUMENTS], global_row[INSTRUMENTS];

static uint32_t account_of(const struct pfs_books *self, uint32_t reference)
{
	const struct pfs_party *party = self->by_reference[0][reference];
	return (uint32_t)(party->user[4] - '0') + 4 * (uint32_t)(party->host[4] - '0');
}

static void add_to_row(struct pfs_cell *cell, struct pfs_cell_sums sums, void *context)
{
	struct row *row = &global_row[cell->instrument - 1];
	(void)context;
	if (cell->account != 0)
		row = &rows[account_of(books, cell->account)][cell->instrument - 1];
	row->current += sums.alloc_bytes - sums.free_bytes;
	row->allocs += sums.allocs;
}

static void read_rows(void)
{
	memset(rows, 0, sizeof(rows));
	memset(global_row, 0, sizeof(global_row));
	visit_cells(books, add_to_row, NULL);
}

struct found {
	uint32_t wrong, below, totals;
};

static struct found compare(const char *when, bool says)
{
	uint32_t wrong = 0, below = 0, totals = 0;
	uint64_t credited_wrong = 0, right_sum = 0, right_of[INSTRUMENTS] = { 0 };
	uint64_t got_of[INSTRUMENTS] = { 0 };
	read_rows();
	for (uint32_t account = 0; account < ACCOUNTS; account++) {
		for (uint32_t i = 0; i < INSTRUMENTS; i++) {
			uint64_t right = atomic_load(&in_use[account][i]);
			uint64_t got = rows[account][i].current;
			bool is_wrong = got != right ||
					rows[account][i].allocs != atomic_load(&allocs[account][i]);
			right_of[i] += right;
			got_of[i] += got;
			wrong += is_wrong;
			below += (int64_t)got < 0;
			credited_wrong += (int64_t)got > (int64_t)right ? got - right : right - got;
			if (is_wrong && says)
				printf("account %u instrument %u: in use %" PRId64
				       ", right %" PRIu64 "; allocations %" PRIu64
				       ", right %" PRIu64 "\n",
				       account, i, (int64_t)got, right, rows[account][i].allocs,
				       (uint64_t)atomic_load(&allocs[account][i]));
		}
	}
	for (uint32_t i = 0; i < INSTRUMENTS; i++) {
		totals += got_of[i] + global_row[i].current != right_of[i];
		right_sum += right_of[i];
	}
	printf("%s: rows wrong %u of %u, below zero %u, error of all rows %" PRIu64
	       " bytes of %" PRIu64 " in use, totals wrong %u of %u\n",
	       when, wrong, ACCOUNTS * INSTRUMENTS, below, credited_wrong, right_sum, totals,
	       INSTRUMENTS);
	return (struct found){ wrong, below, totals };
}

static bool is_as_expected(const char *rule, const struct found found[3],
			   const struct reader *reader)
{
	uint32_t wrong = 0, below = 0, totals = 0;
	for (uint32_t i = 0; i < 3; i++) {
		wrong += found[i].wrong;
		below += found[i].below;
		totals += found[i].totals;
	}
	if (totals != 0 || reader->read == 0)
		return false;
	if (strcmp(rule, "exact") == 0)
		return wrong == 0 && reader->below == 0 && reader->global_below == 0;
	bool is_never_below = strcmp(rule, "global") == 0 && load == &loads[0];
	uint64_t seen_below = below + reader->below;
	/* With 64 threads on few processors the rows may be above zero whenever they are read. */
	if (strcmp(rule, "global_at_once") == 0)
		seen_below += reader->global_below;
	/* A reader may meet a cell while its session's end moves it to the global row. */
	if (is_never_below)
		return wrong != 0 && below == 0 && reader->below <= reader->read / RARE;
	return wrong != 0 && seen_below > reader->read / RARE;
}

static void print_lives(void)
{
	uint32_t numbers = 0;
	for (uint32_t i = 0; i < sizeof(used_numbers) / sizeof(used_numbers[0]); i++)
		numbers += atomic_load(&used_numbers[i]);
	printf("sessions %" PRIu64 ", with %u numbers\n", atomic_load(&session_count), numbers);
}

static void open_books(const char *rule)
{
	struct pfs_memory_config config = test_config(NULL);
	config.rule = rule;
	config.tick_ms = 3;
	books = books_or_exit(&config, "memory/test/what_0", &keys[0]);
	for (uint32_t i = 1; i < INSTRUMENTS; i++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "memory/test/what_%u", i);
		keys[i] = pfs_memory_register(books, name);
	}
}

static void run_again(char **argv)
{
	const char *runs = getenv("PFS_ORACLE_RUNS");
	if (runs != NULL && strcmp(runs, "3") == 0)
		return;
	(void)fflush(stdout);
	(void)setenv("PFS_ORACLE_RUNS", runs == NULL ? "2" : "3", 1);
	(void)execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	const char *rule = argc > 1 ? argv[1] : "exact";
	uint32_t threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 3;
	uint64_t operations = argc > 3 ? strtoull(argv[3], NULL, 10) : 300000;
	uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
	struct work works[64];
	pthread_t handles[64];
	if (threads < 1 || threads > 64) {
		fprintf(stderr, "accounts_oracle_test: threads %u: 1 .. 64\n", threads);
		return 2;
	}
	if (argc > 5 && strcmp(argv[5], loads[1].name) == 0)
		load = &loads[1];
	else if (argc > 5 && strcmp(argv[5], loads[0].name) != 0) {
		fprintf(stderr, "accounts_oracle_test: load %s: handoff or cache\n", argv[5]);
		return 2;
	}
	open_books(rule);
	struct reader reader = { .ends = false };
	pthread_t reading;
	(void)pthread_create(&reading, NULL, read_on, &reader);
	for (uint32_t i = 0; i < threads; i++) {
		works[i] = (struct work){ operations / threads, seed * 1000003 + i + 1, NULL };
		(void)pthread_create(&handles[i], NULL, work, &works[i]);
	}
	for (uint32_t i = 0; i < threads; i++)
		(void)pthread_join(handles[i], NULL);
	atomic_store(&reader.ends, true);
	(void)pthread_join(reading, NULL);
	bool is_exact = strcmp(rule, "exact") == 0;
	struct found found[3];
	found[0] = compare("sessions open", is_exact);
	for (uint32_t i = 0; i < threads; i++)
		pfs_memory_thread_end(works[i].last);
	found[1] = compare("sessions ended", is_exact);
	for (uint32_t i = 0; i < load->slots; i++)
		give(NULL, atomic_exchange(&slots[i], NULL));
	found[2] = compare("all freed", is_exact);
	printf("cells read meanwhile %" PRIu64 ", below zero %" PRIu64 ", torn %" PRIu64
	       "; the global one below zero %" PRIu64 "\n",
	       reader.read, reader.below, reader.torn, reader.global_below);
	print_lives();
	pfs_memory_close(books);
	bool is_fine = is_as_expected(rule, found, &reader);
	if (!is_fine && strcmp(rule, "exact") != 0)
		run_again(argv);
	return !is_fine;
}
