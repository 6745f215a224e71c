/*
 * oracle_test.c - compare each row with brute-force books, while sessions and blocks come and go.
 *
 * usage: accounts_oracle_test RULE THREADS OPERATIONS SEED
 * Each thread works for one account after another, allocates under one of a few instruments, and
 * exchanges blocks with others through shared slots. So most frees are foreign, and many come after
 * the session has ended. The oracle counts the bytes in use by account and instrument; each block
 * stores who allocated it. At rest all rows and their totals are compared. Rule exact: they must be
 * equal, else exit 1. Other rules: their errors are printed, before and after the remaining blocks
 * are freed.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common_test.h"

#define ACCOUNTS 8u
#define INSTRUMENTS 5u
#define SLOTS 1024u
#define SESSION_MOST 2000u

/* What the test itself stores in a block. */
struct tale {
	uint32_t account, instrument;
	uint64_t bytes;
};

static struct pfs_books *books;
static pfs_memory_key keys[INSTRUMENTS];
static _Atomic(uint64_t) in_use[ACCOUNTS][INSTRUMENTS], allocs[ACCOUNTS][INSTRUMENTS];
static _Atomic(struct tale *) slots[SLOTS];

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

static void session(uint64_t operations, uint64_t *state)
{
	char user[16], host[16];
	uint32_t account = (uint32_t)(draw(state) % ACCOUNTS);
	(void)snprintf(user, sizeof(user), "user%u", account % 4);
	(void)snprintf(host, sizeof(host), "host%u", account / 4);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "worker", user, host,
								   true);
	if (thread == NULL)
		abort();
	for (uint64_t i = 0; i < operations; i++) {
		struct tale *tale = take(thread, account, state);
		if (draw(state) % 8 == 0)
			tale = change(thread, account, tale, state);
		_Atomic(struct tale *) *slot = &slots[draw(state) % SLOTS];
		give(thread, atomic_exchange(slot, tale));
	}
	pfs_memory_thread_end(thread);
}

struct work {
	uint64_t operations, seed;
};

static void *work(void *context)
{
	const struct work *self = context;
	uint64_t state = self->seed;
	for (uint64_t done = 0; done < self->operations;) {
		uint64_t some = draw(&state) % SESSION_MOST + 1;
		session(some, &state);
		done += some;
	}
	return NULL;
}

/* ---- a concurrent reader: by the optimistic protocol no cell is ever below zero ---- */

struct reader {
	_Atomic(bool) ends;
	uint64_t read, torn, below;
};

static void read_cells(struct reader *self, struct pfs_thread *handle)
{
	struct pfs_walk walk;
	struct pfs_cell *cell;
	pfs_walk_begin(&walk, handle, PFS_WALK_LIVE);
	while ((cell = pfs_walk_next(&walk)) != NULL) {
		struct pfs_cell_sums sums = pfs_cell_read(cell);
		if (!pfs_read_end(cell, walk.glance)) {
			self->torn++;
			continue;
		}
		self->read++;
		self->below += (int64_t)(sums.allocs - sums.frees) < 0 ||
			       (int64_t)(sums.alloc_bytes - sums.free_bytes) < 0;
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

static uint32_t compare(bool says)
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
	for (uint32_t i = 0; i < INSTRUMENTS; i++) { /* every thread has an account */
		totals += got_of[i] != right_of[i];
		right_sum += right_of[i];
	}
	printf("rows wrong %u of %u, below zero %u, bytes credited to others %" PRIu64
	       " beside %" PRIu64 " in use, totals wrong %u of %u\n",
	       wrong, ACCOUNTS * INSTRUMENTS, below, credited_wrong, right_sum, totals,
	       INSTRUMENTS);
	return wrong;
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
	open_books(rule);
	struct reader reader = { .ends = false };
	pthread_t reading;
	(void)pthread_create(&reading, NULL, read_on, &reader);
	for (uint32_t i = 0; i < threads; i++) {
		works[i] = (struct work){ operations / threads, seed * 1000003 + i + 1 };
		(void)pthread_create(&handles[i], NULL, work, &works[i]);
	}
	for (uint32_t i = 0; i < threads; i++)
		(void)pthread_join(handles[i], NULL);
	atomic_store(&reader.ends, true);
	(void)pthread_join(reading, NULL);
	bool is_exact = strcmp(rule, "exact") == 0;
	uint32_t wrong = compare(is_exact);
	printf("cells read meanwhile %" PRIu64 ", below zero %" PRIu64 ", torn %" PRIu64 "\n",
	       reader.read, reader.below, reader.torn);
	wrong += is_exact && (reader.below != 0 || reader.read == 0);
	for (uint32_t i = 0; i < SLOTS; i++)
		give(NULL, atomic_exchange(&slots[i], NULL));
	wrong += compare(is_exact);
	pfs_memory_close(books);
	/* If a rule known to be wrong gives no error, the test did not work. */
	return is_exact ? wrong != 0 : wrong == 0;
}
