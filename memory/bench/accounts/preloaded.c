/*
 * preloaded.c - the cost of a malloc and a free with a library preloaded: libpfsmem.so compared
 * with libpfsmalloc.so.
 *
 * usage: pfs-accounts-preloaded own|foreign [--threads=N] [--slices=N]
 * own: each thread allocates and frees one block at a time, next to 500 that stay; sizes of 16 to
 * 512 bytes in turns. foreign: one thread allocates and another frees, in batches of 64 through a
 * ring on which both spin. The timed slices are 20000 pairs or one batch: short enough that even on
 * a busy machine some run undisturbed. One line of JSON: {"way", "threads", "pair" or "malloc" and
 * "free": ns [least, tenth, quarter, median]}. Exit 2: bad usage.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/command_line.h"
#include "base/json.h"
#include "base/now.h"
#include "containers/atomic.h"

#define SLICE_PAIRS 20000u
#define NEIGHBOURS 500u
#define BATCH 64u
#define BATCHES 64u /* batches in the ring */
#define THREADS_MAX 16u
#define SLICES_MAX 100000u

static const uint16_t sizes[] = { 16, 24, 32, 48, 64, 64, 96, 128, 200, 512 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint32_t slices;

static void *take(uint32_t i)
{
	void *block = malloc(sizes[i % SIZES]);
	if (block == NULL)
		abort();
	return block;
}

static void *times_new(uint32_t count)
{
	double *times = calloc(count, sizeof(*times));
	if (times == NULL)
		abort();
	return times;
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;
	return (a > b) - (a < b);
}

static void print(struct pfs_json *json, const char *name, double *times, uint32_t count)
{
	qsort(times, count, sizeof(*times), compare);
	pfs_json_array(json, name);
	pfs_json_fixed(json, NULL, 2, times[0]);
	pfs_json_fixed(json, NULL, 2, times[count / 10]);
	pfs_json_fixed(json, NULL, 2, times[count / 4]);
	pfs_json_fixed(json, NULL, 2, times[count / 2]);
	pfs_json_end(json);
	free(times);
}

/* ---- own ---- */

static void *pairs(void *opaque)
{
	double *times = opaque;
	void *neighbours[NEIGHBOURS];
	for (uint32_t i = 0; i < NEIGHBOURS; i++)
		neighbours[i] = take(i);
	for (uint32_t slice = 0; slice < slices; slice++) {
		double begin = (double)pfs_now_ns(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < SLICE_PAIRS; i++)
			free(take(i));
		times[slice] = ((double)pfs_now_ns(CLOCK_MONOTONIC) - begin) / SLICE_PAIRS;
	}
	for (uint32_t i = 0; i < NEIGHBOURS; i++)
		free(neighbours[i]);
	return NULL;
}

static void run_own(struct pfs_json *json, uint32_t threads)
{
	pthread_t handles[THREADS_MAX];
	double *times = times_new(threads * slices);
	if (threads == 1)
		(void)pairs(times); /* stays a program with one thread */
	for (uint32_t i = 0; threads > 1 && i < threads; i++)
		if (pthread_create(&handles[i], NULL, pairs, times + i * slices) != 0)
			abort();
	for (uint32_t i = 0; threads > 1 && i < threads; i++)
		(void)pthread_join(handles[i], NULL);
	print(json, "pair", times, threads * slices);
}

/* ---- foreign ---- */

static struct {
	void *blocks[BATCHES][BATCH];
	alignas(PFS_LINE) _Atomic(uint32_t) filled; /* batches filled so far */
	alignas(PFS_LINE) _Atomic(uint32_t) emptied;
} ring;

static void *produce(void *opaque)
{
	double *times = opaque;
	for (uint32_t at = 0; at < slices; at++) {
		/* acquire: the emptied places of the ring */
		while (at - pfs_load_acquire(&ring.emptied) >= BATCHES)
			;
		double begin = (double)pfs_now_ns(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < BATCH; i++)
			ring.blocks[at % BATCHES][i] = take(i);
		times[at] = ((double)pfs_now_ns(CLOCK_MONOTONIC) - begin) / BATCH;
		pfs_store_release(&ring.filled, at + 1); /* release: the batch */
	}
	return NULL;
}

static void *consume(void *opaque)
{
	double *times = opaque;
	free(take(0));
	for (uint32_t at = 0; at < slices; at++) {
		while (pfs_load_acquire(&ring.filled) <= at) /* acquire: the batch */
			;
		double begin = (double)pfs_now_ns(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < BATCH; i++)
			free(ring.blocks[at % BATCHES][i]);
		times[at] = ((double)pfs_now_ns(CLOCK_MONOTONIC) - begin) / BATCH;
		pfs_store_release(&ring.emptied, at + 1); /* release: its places */
	}
	return NULL;
}

static void run_foreign(struct pfs_json *json)
{
	pthread_t producer, consumer;
	double *mallocs = times_new(slices), *frees = times_new(slices);
	if (pthread_create(&producer, NULL, produce, mallocs) != 0 ||
	    pthread_create(&consumer, NULL, consume, frees) != 0)
		abort();
	(void)pthread_join(producer, NULL);
	(void)pthread_join(consumer, NULL);
	print(json, "malloc", mallocs, slices);
	print(json, "free", frees, slices);
}

/* ---- the command ---- */

int main(int argc, char **argv)
{
	uint64_t threads = 1, wanted = 0;
	const struct pfs_option options[] = {
		PFS_NUMBER_OPTION("threads", "N", &threads, 1, THREADS_MAX, "of own; default 1"),
		PFS_NUMBER_OPTION("slices", "N", &wanted, 1, SLICES_MAX,
				  "default 200 of own, "
				  "20000 of foreign"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-accounts-preloaded", .words = "own|foreign", .words_min = 1,
		.words_max = 1, .options = options, .option_count = 2,
		.about = "what a preloaded library makes of malloc and free, as a line of JSON",
	};
	/* clang-format on */
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);
	if (status != PFS_GO_ON)
		return status;
	bool is_own = strcmp(argv[next], "own") == 0;
	if (!is_own && strcmp(argv[next], "foreign") != 0)
		return pfs_command_refuse(line.program, PFS_EXIT_WRONG_USE,
					  "'%.80s': choose own "
					  "or foreign",
					  argv[next]);
	slices = wanted != 0 ? (uint32_t)wanted : is_own ? 200 : 20000;
	struct pfs_json json = { .out = stdout };
	pfs_json_object(&json, NULL);
	pfs_json_text(&json, "way", argv[next]);
	pfs_json_count(&json, "threads", is_own ? threads : 2);
	if (is_own)
		run_own(&json, (uint32_t)threads);
	else
		run_foreign(&json);
	pfs_json_end(&json);
	return pfs_command_end(line.program, 0);
}
