/*
 * speed_test.c - rows per second that a reader sees while two threads count, and their slowdown.
 *
 * usage: box_speed_test [ROUNDS [bar]]
 * 64 threads with 1000 instruments: 64,000 rows of threads. Exit 1: a row is missing, or below what
 * is in use; with bar, also fewer than a million rows per second of the reader's CPU time.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/now.h"
#include "fixture_test.h"
#include "memory/box/reader.h"

#define THREADS 64u
#define INSTRUMENTS 1000u
#define WRITERS 2u
#define BAR 1e6

static struct pfs_made_box box;
static struct pfs_cell *cells[THREADS][INSTRUMENTS];
static atomic_bool is_over;

struct writer {
	pthread_t thread;
	uint32_t number;
	atomic_ullong pairs;
};

static double now(void)
{
	return pfs_now_seconds(CLOCK_MONOTONIC);
}

static void add(_Atomic(uint64_t) *word, uint64_t by)
{
	/* release: a reader loads by acquire, so it sees an alloc before its free. */
	pfs_store_release(word, pfs_load_relaxed(word) + by); /* relaxed: the only writer */
}

/* Allocates and frees in cells of the writer's own threads. */
static void *write_on(void *context)
{
	struct writer *self = context;
	for (uint64_t i = 0; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
		struct pfs_cell *cell =
			cells[(i * WRITERS + self->number) % THREADS][i / 64 % INSTRUMENTS];
		add(&cell->allocs, 1);
		add(&cell->alloc_bytes, 64);
		add(&cell->frees, 1);
		add(&cell->free_bytes, 64);
		atomic_store_explicit(&self->pairs, i + 1, memory_order_relaxed);
	}
	return NULL;
}

static void make(const char *path)
{
	const struct pfs_made_sizes sizes = { .instruments = INSTRUMENTS,
					      .threads = THREADS,
					      .accounts = 8,
					      .cells = THREADS * INSTRUMENTS,
					      .page_records = 64 };
	char name[64];
	pfs_made_begin(&box, path, &sizes);
	for (uint32_t i = 0; i < INSTRUMENTS; i++) {
		(void)snprintf(name, sizeof(name), "memory/speed/instrument_%u", i);
		(void)pfs_made_instrument(&box, name);
	}
	uint32_t account = pfs_made_account(&box, pfs_made_user(&box, "u"),
					    pfs_made_host(&box, "h"));
	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t thread = pfs_made_thread(&box, "t", account, 0, 0);
		for (uint32_t j = 0; j < INSTRUMENTS; j++) {
			cells[i][j] = pfs_made_cell(&box, thread, j + 1);
			pfs_made_alloc(&box, cells[i][j], 100);
		}
	}
}

/* Reads all rows of threads. Returns the seconds; below 0: a row was wrong. */
static double read_rows(struct pfs_reader *reader)
{
	struct pfs_message message;
	struct pfs_row row;
	double begin = now();
	struct pfs_snapshot *snapshot = pfs_snapshot_take(reader, PFS_SNAPSHOT_ROWS, &message);
	uint64_t below = 0, count = 0;
	if (snapshot == NULL)
		return -1;
	for (; pfs_snapshot_row(snapshot, PFS_TABLE_THREAD, count, &row); count++)
		below += row.current_count < 1 || row.current_bytes < 100;
	double seconds = now() - begin;
	pfs_snapshot_free(snapshot);
	return below == 0 && count == THREADS * INSTRUMENTS ? seconds : -1;
}

static double rate(struct writer *writers, double seconds, struct pfs_reader *reader)
{
	unsigned long long before = 0, after = 0;
	const struct timespec rest = { .tv_nsec = (long)(seconds * 1e9) };
	double begin = now();
	for (uint32_t i = 0; i < WRITERS; i++)
		before += writers[i].pairs;
	if (reader == NULL)
		(void)nanosleep(&rest, NULL);
	while (reader != NULL && now() - begin < seconds)
		(void)read_rows(reader);
	for (uint32_t i = 0; i < WRITERS; i++)
		after += writers[i].pairs;
	return (double)(after - before) / (now() - begin);
}

int main(int argc, char **argv)
{
	struct writer writers[WRITERS];
	struct pfs_message message;
	char path[128];
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
	double best = 1e9, sum = 0;
	(void)snprintf(path, sizeof(path), "/dev/shm/pfslab-speed-%u.box", (unsigned)getpid());
	make(path);
	struct pfs_reader *reader = pfs_reader_open(path, &message);
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i].number = i;
		atomic_init(&writers[i].pairs, 0);
		(void)pthread_create(&writers[i].thread, NULL, write_on, &writers[i]);
	}
	bool fine = reader != NULL;
	double cpu = pfs_now_seconds(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; fine && i < rounds; i++) {
		double seconds = read_rows(reader);
		fine = seconds > 0;
		best = seconds < best ? seconds : best;
		sum += seconds;
	}
	cpu = (pfs_now_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / (double)rounds;
	double alone = rate(writers, 0.5, NULL), beside = fine ? rate(writers, 0.5, reader) : 0;
	atomic_store(&is_over, true);
	for (uint32_t i = 0; i < WRITERS; i++)
		(void)pthread_join(writers[i].thread, NULL);
	(void)unlink(path);
	pfs_reader_close(reader);
	if (!fine)
		return (void)fprintf(stderr, "a row was below what is in use, or missing\n"), 1;
	double rows = THREADS * INSTRUMENTS / cpu;
	(void)printf("%u rows: %.1f ms of a CPU, %.1f ms at best, %.1f on average: %.2f million in "
		     "a second of a CPU, %.2f in the best second\n",
		     THREADS * INSTRUMENTS, cpu * 1e3, best * 1e3, sum * 1e3 / (double)rounds,
		     rows / 1e6, THREADS * INSTRUMENTS / best / 1e6);
	(void)printf("writers: %.1f million pairs a second alone, %.1f beside a reader\n",
		     alone / 1e6, beside / 1e6);
	if (argc > 2 && rows < BAR)
		return (void)fprintf(stderr, "fewer than a million rows in a second of a CPU\n"), 1;
	return 0;
}
