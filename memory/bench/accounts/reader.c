/*
 * reader.c - how many rows a second a reader of the accounts gets, and what that costs the threads
 * that count meanwhile.
 *
 * usage: pfs-accounts-reader [--writers=N] [--rounds=N] [--ms=N]
 * 256 lives have 250 instruments each: 64,000 rows of threads, plus those of the writers. Each
 * writer counts blocks that are allocated and freed at once, without a malloc, in its own life, so
 * that even a nanosecond shows. A round has a slice of each of these states, in a rotating order:
 * 	alone   no process reads
 * 	beside  another process takes one snapshot of the box after the other, with all its rows
 * 	copy    the same on a copy of the box: the same work, but no cache line of the writers
 * Writer i is on the i-th allowed CPU, the readers on the next one, or where the system puts them
 * if there is none.
 *
 * One line of JSON: for each state and round, wall-clock and CPU nanoseconds per pair of a writer;
 * for beside and copy also rows per second of wall-clock time and of the reader's CPU time; and how
 * many rows were negative or missing. Exit 1: some were, or a call failed. 2: bad usage.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pfslab/memory.h>

#include "base/command_line.h"
#include "base/json.h"
#include "base/now.h"
#include "containers/atomic.h"
#include "memory/box/reader.h"

#define LIVES 256u
#define INSTRUMENTS 250u
#define WRITERS_MAX 64u
#define ROUNDS_MAX 100u
#define BATCH 256u
#define TRIES 20u

enum state { ALONE, BESIDE, COPY, STATES };
static const char *const names[STATES] = { "alone", "beside", "copy" };

static struct pfs_books *books;
static pfs_memory_key keys[INSTRUMENTS];
static _Atomic(bool) is_over;

static void fail(const char *what)
{
	(void)fprintf(stderr, "pfs-accounts-reader: %s\n", what);
	exit(1);
}

/* Pin the calling thread to the allowed CPU with this number; if there is none, leave it unpinned.
 * */
static void pin(uint32_t number)
{
	cpu_set_t allowed, one;
	CPU_ZERO(&one);
	if (sched_getaffinity(getpid(), sizeof(allowed), &allowed) != 0)
		return;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && number-- == 0) {
			CPU_SET(cpu, &one);
			(void)sched_setaffinity(0, sizeof(one), &one);
			return;
		}
}

/* ---- the writers ---- */

struct writer {
	alignas(PFS_LINE) _Atomic(uint64_t) pairs;
	uint32_t number;
	pthread_t thread;
	clockid_t clock;
};

static void *write_on(void *context)
{
	struct writer *self = context;
	uint64_t state = self->number + 1;
	struct pfs_memory_thread *life = pfs_memory_thread_begin(books, "writer", "writer", "host",
								 true);
	pin(self->number);
	for (uint64_t pairs = 0; !pfs_load_relaxed(&is_over); pairs += BATCH) {
		for (uint32_t i = 0; i < BATCH; i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
			struct pfs_memory_note note =
				pfs_memory_allocated(life, keys[(state >> 40) % INSTRUMENTS], 64);
			pfs_memory_freed(books, life, note, 64);
		}
		/* relaxed: a count that nothing else depends on */
		pfs_store_relaxed(&self->pairs, pairs + BATCH);
	}
	pfs_memory_thread_end(life);
	return NULL;
}

/* ---- who reads: a process of its own, which is told how long ---- */

struct answer {
	uint64_t rows, bad, ns, cpu_ns;
};

static uint64_t read_rows(struct pfs_reader *box, uint64_t *bad)
{
	struct pfs_message message;
	struct pfs_row row;
	uint64_t count = 0;
	struct pfs_snapshot *snapshot = pfs_snapshot_take(box, PFS_SNAPSHOT_ROWS, &message);
	if (snapshot == NULL)
		fail(message.text);
	for (; pfs_snapshot_row(snapshot, PFS_TABLE_THREAD, count, &row); count++)
		*bad += row.current_count < 0 || row.current_bytes < 0;
	*bad += count < LIVES * INSTRUMENTS;
	pfs_snapshot_free(snapshot);
	return count;
}

/* The first order is the box's file name, each other one for how long to read. */
static void serve(int orders, int answers, uint32_t cpu)
{
	char path[PFS_READER_PATH_BYTES];
	struct pfs_message message;
	uint32_t ms;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	if (read(orders, path, sizeof(path)) != (ssize_t)sizeof(path))
		return;
	struct pfs_reader *box = pfs_reader_open(path, &message);
	if (box == NULL)
		fail(message.text);
	while (read(orders, &ms, sizeof(ms)) == (ssize_t)sizeof(ms)) {
		struct answer answer = { 0, 0, pfs_now_ns(CLOCK_MONOTONIC),
					 pfs_now_ns(CLOCK_PROCESS_CPUTIME_ID) };
		uint64_t end = answer.ns + ms * UINT64_C(1000000);
		do {
			answer.rows += read_rows(box, &answer.bad);
		} while (pfs_now_ns(CLOCK_MONOTONIC) < end);
		answer.ns = pfs_now_ns(CLOCK_MONOTONIC) - answer.ns;
		answer.cpu_ns = pfs_now_ns(CLOCK_PROCESS_CPUTIME_ID) - answer.cpu_ns;
		if (write(answers, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
			break;
	}
	pfs_reader_close(box);
}

struct reading {
	pid_t process;
	int orders, answers;
};

/* Before there are books, which a child would inherit. */
static struct reading begin_reading(uint32_t cpu)
{
	int to[2], from[2];
	if (pipe(to) != 0 || pipe(from) != 0)
		fail("no pipe is to be had");
	struct reading self = { fork(), to[1], from[0] };
	if (self.process < 0)
		fail("no process is to be had");
	if (self.process == 0) {
		(void)close(to[1]);
		serve(to[0], from[1], cpu);
		_exit(0);
	}
	(void)close(to[0]);
	(void)close(from[1]);
	return self;
}

static void copy_file(const char *from, const char *to)
{
	static char page[PFS_BOX_PAGE], zeroes[PFS_BOX_PAGE];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t count;
	if (in == NULL || out == NULL)
		fail("the box cannot be copied");
	while ((count = fread(page, 1, sizeof(page), in)) > 0) /* holes stay holes */
		if (memcmp(page, zeroes, count) == 0)
			(void)fseek(out, (long)count, SEEK_CUR);
		else
			(void)fwrite(page, 1, count, out);
	long end = ftell(in);
	bool is_fine = fclose(out) == 0 && truncate(to, end) == 0;
	(void)fclose(in);
	if (!is_fine)
		fail("the box cannot be copied; is the file system full?");
}

/* ---- a slice ---- */

struct slice {
	double values[4]; /* as print_list names them; the first two of a writer, per pair */
};

struct sums {
	uint64_t pairs, cpu_ns, ns;
};

static struct sums look(struct writer *writers, uint32_t count)
{
	struct sums sums = { 0, 0, pfs_now_ns(CLOCK_MONOTONIC) };
	for (uint32_t i = 0; i < count; i++) {
		sums.pairs += pfs_load_relaxed(&writers[i].pairs); /* relaxed: a count */
		sums.cpu_ns += pfs_now_ns(writers[i].clock);
	}
	return sums;
}

/* False: no writer ran. */
static bool try_slice(struct writer *writers, uint32_t count, uint32_t ms,
		      const struct reading *reading, uint64_t *bad, struct slice *found)
{
	const struct timespec rest = { ms / 1000, (long)(ms % 1000) * 1000000 };
	struct answer answer = { 0, 0, 0, 0 };
	struct slice slice = { { 0, 0, 0, 0 } };
	if (reading != NULL && write(reading->orders, &ms, sizeof(ms)) != (ssize_t)sizeof(ms))
		fail("the reader ended");
	struct sums begin = look(writers, count);
	(void)nanosleep(&rest, NULL);
	struct sums end = look(writers, count);
	double pairs = (double)(end.pairs - begin.pairs);
	slice.values[0] = (double)(end.ns - begin.ns) * count / pairs;
	slice.values[1] = (double)(end.cpu_ns - begin.cpu_ns) / pairs;
	if (reading != NULL) {
		if (read(reading->answers, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
			fail("the reader ended");
		slice.values[2] = (double)answer.rows * 1e9 / (double)answer.ns;
		slice.values[3] = (double)answer.rows * 1e9 / (double)answer.cpu_ns;
		*bad += answer.bad;
	}
	*found = slice;
	return pairs > 0;
}

/* On a busy machine other processes may use the CPUs all the time. */
static struct slice run_slice(struct writer *writers, uint32_t count, uint32_t ms,
			      const struct reading *reading, uint64_t *bad)
{
	struct slice slice;
	for (uint32_t i = 0; i < TRIES; i++)
		if (try_slice(writers, count, ms, reading, bad, &slice))
			return slice;
	fail("the writers got no CPU; measure on a machine that is less busy, or longer (--ms)");
	return slice;
}

/* ---- all of it ---- */

static void open_books(void)
{
	struct pfs_memory_config config;
	struct pfs_message message;
	pfs_memory_config_init(&config);
	config.tick_ms = 0;
	config.threads_max = LIVES + WRITERS_MAX;
	config.accounts_max = 16;
	config.cells_max = (LIVES + WRITERS_MAX + 3) * INSTRUMENTS;
	if (pfs_memory_open(&config, &books, &message) != PFS_OK)
		fail(message.text);
	for (uint32_t i = 0; i < INSTRUMENTS; i++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "memory/reader/what_%u", i);
		keys[i] = pfs_memory_register(books, name);
	}
	for (uint32_t life = 0; life < LIVES; life++) {
		struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "idle", "idle",
									   "host", true);
		for (uint32_t i = 0; i < INSTRUMENTS; i++)
			if (pfs_memory_allocated(thread, keys[i], 64).reference == 0)
				fail("a block was not counted; is there room for the box?");
	}
}

static void print_list(struct pfs_json *json, uint32_t list, const struct slice *slices,
		       uint32_t rounds)
{
	static const char *const lists[] = { "wall_ns", "cpu_ns", "rows_per_s", "rows_per_cpu_s" };
	pfs_json_array(json, lists[list]);
	for (uint32_t i = 0; i < rounds; i++)
		pfs_json_fixed(json, NULL, 4, slices[i].values[list]);
	pfs_json_end(json);
}

static void print(struct slice slices[STATES][ROUNDS_MAX], uint32_t writers, uint32_t rounds,
		  uint64_t bad)
{
	struct pfs_json json = { .out = stdout };
	pfs_json_object(&json, NULL);
	pfs_json_count(&json, "writers", writers);
	pfs_json_count(&json, "rows", LIVES * INSTRUMENTS);
	pfs_json_count(&json, "bad", bad);
	pfs_json_object(&json, "states");
	for (int state = 0; state < STATES; state++) {
		pfs_json_object(&json, names[state]);
		for (uint32_t list = 0; list < (state == ALONE ? 2 : 4); list++)
			print_list(&json, list, slices[state], rounds);
		pfs_json_end(&json);
	}
	pfs_json_end(&json);
	pfs_json_end(&json);
}

static uint64_t measure(struct slice found[STATES][ROUNDS_MAX], struct writer *writers,
			uint32_t count, uint32_t rounds, uint32_t ms,
			const struct reading readings[2])
{
	uint64_t bad = 0;
	for (uint32_t i = 0; i < count; i++) {
		writers[i].number = i;
		if (pthread_create(&writers[i].thread, NULL, write_on, &writers[i]) != 0 ||
		    pthread_getcpuclockid(writers[i].thread, &writers[i].clock) != 0)
			fail("no thread is to be had");
	}
	/* A warm-up, not counted: caches and clocks settle, the readers open their boxes. */
	for (int state = ALONE; state < STATES; state++)
		(void)run_slice(writers, count, 20, state == ALONE ? NULL : &readings[state - 1],
				&bad);
	for (uint32_t round = 0; round < rounds; round++)
		for (uint32_t i = 0; i < STATES; i++) {
			uint32_t state = (round + i) % STATES;
			found[state][round] =
				run_slice(writers, count, ms,
					  state == ALONE ? NULL : &readings[state - 1], &bad);
		}
	pfs_store_relaxed(&is_over, true); /* relaxed: the joins order the rest */
	for (uint32_t i = 0; i < count; i++)
		(void)pthread_join(writers[i].thread, NULL);
	return bad;
}

int main(int argc, char **argv)
{
	static struct slice found[STATES][ROUNDS_MAX];
	static struct writer writers[WRITERS_MAX];
	static char live[PFS_READER_PATH_BYTES], copy[PFS_READER_PATH_BYTES];
	uint64_t numbers[3] = { 2, 3, 100 };
	const struct pfs_option options[] = {
		PFS_NUMBER_OPTION("writers", "N", &numbers[0], 1, WRITERS_MAX,
				  "threads that "
				  "count; default 2"),
		PFS_NUMBER_OPTION("rounds", "N", &numbers[1], 1, ROUNDS_MAX, "default 3"),
		PFS_NUMBER_OPTION("ms", "N", &numbers[2], 1, 60000, "of a slice; default 100"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-accounts-reader", .words = "", .options = options,
		.option_count = 3, .about = "how many rows a second a reader of the accounts sees, "
		"and what it costs the threads that count meanwhile, as a line of JSON",
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	if (status != PFS_GO_ON)
		return status;
	uint32_t count = (uint32_t)numbers[0], rounds = (uint32_t)numbers[1];
	uint32_t ms = (uint32_t)numbers[2];
	const struct reading readings[2] = { begin_reading(count), begin_reading(count) };
	open_books();
	(void)snprintf(live, sizeof(live), "%s", pfs_memory_path(books));
	(void)snprintf(copy, sizeof(copy), "%s.copy", pfs_memory_path(books));
	copy_file(live, copy);
	if (write(readings[0].orders, live, sizeof(live)) != (ssize_t)sizeof(live) ||
	    write(readings[1].orders, copy, sizeof(copy)) != (ssize_t)sizeof(copy))
		fail("the readers ended");
	uint64_t bad = measure(found, writers, count, rounds, ms, readings);
	/* the second reader also has the first one's: close both */
	(void)close(readings[0].orders);
	(void)close(readings[1].orders);
	(void)waitpid(readings[0].process, NULL, 0);
	(void)waitpid(readings[1].process, NULL, 0);
	(void)unlink(copy);
	print(found, count, rounds, bad);
	pfs_memory_close(books);
	if (bad != 0)
		fail("a row was below zero, or missing");
	return pfs_command_end(line.program, 0);
}
