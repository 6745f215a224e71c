/*
 * cost.c - the cost of counting: pairs of malloc and free without accounts and under each rule, in
 * turns.
 *
 * usage: pfs-accounts-cost [--threads=N] [--foreign] [--rounds=N] [--ms=N] [--ways=none]
 * Each thread replaces blocks of 16 to 512 bytes at random in a table of 512. --foreign: the table
 * is shared, so that many frees are of other threads' blocks. A round has a slice of each way, in a
 * rotating order. --ways=none: only the way without accounts, for a process whose malloc itself
 * counts. One line of JSON: {"threads", "foreign", "ways": {name: [wall-clock ns per pair and
 * thread, by round]}, "cpu": {name: [CPU ns]}}. If other processes use the CPUs, the second is the
 * cost of a pair. Exit 2: bad usage.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pfslab/memory.h>

#include "base/command_line.h"
#include "base/json.h"
#include "base/now.h"
#include "containers/atomic.h"

#define BLOCKS 512u
#define THREADS_MAX 64u
#define ROUNDS_MAX 1000u
#define BATCH 256u

static const char *const ways[] = { "none", "header", "exact", "freer", "global" };
#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct slice {
	struct pfs_books *books; /* NULL: without accounts */
	pfs_memory_key key;
	bool has_header; /* allocate 16 bytes more, and nothing else */
	bool is_foreign;
	_Atomic(void *) *table; /* shared by all threads */
	_Atomic(bool) *ends;
	pthread_barrier_t *begin;
	uint64_t pairs, ns, cpu_ns, seed;
};

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *take(const struct slice *self, struct pfs_memory_thread *thread, size_t bytes)
{
	void *block;
	if (self->books != NULL)
		block = pfs_memory_malloc(self->books, thread, self->key, bytes);
	else
		block = malloc(bytes + (self->has_header ? 16 : 0));
	if (block == NULL)
		abort();
	*(uint64_t *)block = bytes;
	return block;
}

static void give(const struct slice *self, struct pfs_memory_thread *thread, void *block)
{
	if (self->books != NULL)
		pfs_memory_free(self->books, thread, block);
	else
		free(block);
}

static void batch(const struct slice *self, struct pfs_memory_thread *thread, void **own,
		  uint64_t *state)
{
	for (uint32_t i = 0; i < BATCH; i++) {
		uint64_t drawn = draw(state);
		void *block = take(self, thread, 16 + (drawn >> 32) % 497);
		void *before;
		if (self->is_foreign) {
			before = pfs_exchange_seq(&self->table[drawn % BLOCKS], block);
		} else {
			before = own[drawn % BLOCKS];
			own[drawn % BLOCKS] = block;
		}
		give(self, thread, before);
	}
}

static void *work(void *context)
{
	struct slice *self = context;
	uint64_t state = self->seed;
	void *own[BLOCKS] = { NULL };
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(self->books, "cost", "user",
								   "host", true);
	(void)pthread_barrier_wait(self->begin);
	uint64_t begin = pfs_now_ns(CLOCK_MONOTONIC);
	uint64_t cpu = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID);
	do { /* at least once: on a busy machine a slice may be over before it begins */
		batch(self, thread, own, &state);
		self->pairs += BATCH;
	} while (!pfs_load_relaxed(self->ends));
	self->ns = pfs_now_ns(CLOCK_MONOTONIC) - begin;
	self->cpu_ns = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	for (uint32_t i = 0; i < BLOCKS; i++)
		give(self, thread, own[i]);
	pfs_memory_thread_end(thread);
	return NULL;
}

struct options {
	uint32_t threads, rounds, ms, ways;
	bool is_foreign;
};

/* Nanoseconds per pair and thread. */
struct times {
	double ns, cpu_ns;
};

static struct times run_slice(const struct options *options, const struct slice *like,
			      uint64_t seed)
{
	static _Atomic(void *) table[BLOCKS];
	static struct slice slices[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	_Atomic(bool) ends = false;
	pthread_barrier_t begin;
	uint64_t pairs = 0, ns = 0, cpu_ns = 0;
	(void)pthread_barrier_init(&begin, NULL, options->threads + 1);
	for (uint32_t i = 0; i < options->threads; i++) {
		slices[i] = *like;
		slices[i].is_foreign = options->is_foreign;
		slices[i].table = table;
		slices[i].ends = &ends;
		slices[i].begin = &begin;
		slices[i].seed = seed * 7919 + i + 1;
		if (pthread_create(&threads[i], NULL, work, &slices[i]) != 0)
			abort();
	}
	(void)pthread_barrier_wait(&begin);
	struct timespec pause = { 0, (long)options->ms * 1000000 };
	(void)nanosleep(&pause, NULL);
	pfs_store_relaxed(&ends, true);
	for (uint32_t i = 0; i < options->threads; i++) {
		(void)pthread_join(threads[i], NULL);
		pairs += slices[i].pairs;
		ns += slices[i].ns;
		cpu_ns += slices[i].cpu_ns;
	}
	for (uint32_t i = 0; i < BLOCKS; i++)
		give(like, NULL, pfs_exchange_seq(&table[i], NULL));
	(void)pthread_barrier_destroy(&begin);
	struct times times = { (double)ns / (double)pairs, (double)cpu_ns / (double)pairs };
	return times;
}

static void open_way(struct slice *slice, uint32_t way)
{
	struct pfs_memory_config config;
	struct pfs_message message;
	memset((void *)slice, 0, sizeof(*slice));
	slice->has_header = way == 1;
	if (way < 2)
		return;
	pfs_memory_config_init(&config);
	config.rule = ways[way];
	config.is_private = true;
	if (pfs_memory_open(&config, &slice->books, &message) != PFS_OK) {
		(void)fprintf(stderr, "pfs-accounts-cost: %s\n", message.text);
		exit(1);
	}
	slice->key = pfs_memory_register(slice->books, "memory/cost/blocks");
}

static void print(struct pfs_json *json, const char *name, const struct options *options,
		  struct times found[WAYS][ROUNDS_MAX], bool is_cpu)
{
	pfs_json_object(json, name);
	for (uint32_t way = 0; way < options->ways; way++) {
		pfs_json_array(json, ways[way]);
		for (uint32_t round = 0; round < options->rounds; round++)
			pfs_json_fixed(json, NULL, 2,
				       is_cpu ? found[way][round].cpu_ns : found[way][round].ns);
		pfs_json_end(json);
	}
	pfs_json_end(json);
}

static void measure(const struct options *options)
{
	static struct times found[WAYS][ROUNDS_MAX];
	struct slice slices[WAYS];
	for (uint32_t way = 0; way < options->ways; way++)
		open_way(&slices[way], way);
	for (uint32_t round = 0; round < options->rounds; round++)
		for (uint32_t i = 0; i < options->ways; i++) {
			uint32_t way = (uint32_t)((i + round) % options->ways);
			found[way][round] = run_slice(options, &slices[way], round + 1);
		}
	struct pfs_json json = { .out = stdout };
	pfs_json_object(&json, NULL);
	pfs_json_count(&json, "threads", options->threads);
	pfs_json_bool(&json, "foreign", options->is_foreign);
	print(&json, "ways", options, found, false);
	print(&json, "cpu", options, found, true);
	pfs_json_end(&json);
	for (uint32_t way = 0; way < options->ways; way++)
		pfs_memory_close(slices[way].books);
}

static enum pfs_status read_ways(void *context, const struct pfs_option *option, const char *text,
				 struct pfs_message *message)
{
	struct options *options = context;
	if (strcmp(text, "none") != 0)
		return pfs_read_choice(option->name, text, "none", message);
	options->ways = 1;
	return PFS_OK;
}

int main(int argc, char **argv)
{
	struct options options = { .ways = WAYS };
	uint64_t threads = 1, rounds = 11, ms = 20;
	const struct pfs_option table[] = {
		PFS_NUMBER_OPTION("threads", "N", &threads, 1, THREADS_MAX, "default 1"),
		PFS_SWITCH_OPTION("foreign", &options.is_foreign,
				  "of a table that is all "
				  "threads', so that many frees are of others' blocks"),
		PFS_NUMBER_OPTION("rounds", "N", &rounds, 1, ROUNDS_MAX, "default 11"),
		PFS_NUMBER_OPTION("ms", "N", &ms, 1, 999, "of a slice; default 20"),
		PFS_READ_OPTION("ways", "none", read_ways,
				"only the one without accounts, for a "
				"process whose malloc itself counts"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-accounts-cost", .words = "", .options = table, .option_count = 5,
		.about = "what it costs to count: pairs of malloc and free without accounts, and "
			 "under each rule, in turns, as a line of JSON", .context = &options,
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	if (status != PFS_GO_ON)
		return status;
	options.threads = (uint32_t)threads;
	options.rounds = (uint32_t)rounds;
	options.ms = (uint32_t)ms;
	measure(&options);
	return pfs_command_end(line.program, 0);
}
