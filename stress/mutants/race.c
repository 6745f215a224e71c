/*
 * race.c - a few threads for about a second, meant for ThreadSanitizer: everything that a
 * memory order of the containers carries is read or written here without atomics.
 *
 * usage: race MODE POLICY [SECONDS]
 *	reuse     records pass from owner to owner; every owner writes them, half abandon them
 *	lookup    one thread publishes, the others look up and read; nothing is freed
 *	pages     pages come and go under allocators, readers, walks and passes
 *	attach    handles are made while passes walk over them
 * Exit 0: fine. 1: a check failed. 66: a data race (halt_on_error). 2: bad usage.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pfslab/variant.h>

#include "base/now.h"

#define THREADS 4u
#define WORDS 4u /* 8-byte words of a record */

extern const struct pfs_variant pfs_variant_local_scan, pfs_variant_reclaiming,
	pfs_variant_original, pfs_variant_exact, pfs_variant_magazine;

struct arena {
	struct pfs_container *container;
	pthread_barrier_t begin;
	atomic_bool stop;
	double deadline;
	struct pfs_thread *handles[THREADS];
};

struct worker {
	struct arena *arena;
	uint32_t id;
	pthread_t native;
};

static _Noreturn void fail(const char *what)
{
	(void)fprintf(stderr, "race: %s\n", what);
	exit(1);
}

/*
 * Page memory that is written when it is given back: a reader without order against that is a
 * race that ThreadSanitizer sees; it does not see munmap.
 */
static void *map(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	(void)context, (void)memory, (void)node_wanted;
	void *bytes = aligned_alloc(4096, (size_bytes + 4095) / 4096 * 4096);
	if (bytes != NULL)
		memset(bytes, 0, size_bytes);
	*node_got = 0;
	return bytes;
}

static void unmap(void *context, void *memory, size_t size_bytes)
{
	(void)context;
	memset(memory, 0xA5, size_bytes);
	free(memory);
}

static uint64_t resident(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory;
	return size_bytes;
}

static const struct pfs_memory_source source = { .map = map, .unmap = unmap, .resident = resident };

static void open_arena(struct arena *arena, const struct pfs_variant *variant, uint32_t records,
		       uint32_t made, uint32_t most, uint32_t workers)
{
	struct pfs_config config;
	struct pfs_message message;
	pfs_config_init(&config);
	config.record_size_bytes = WORDS * 8;
	config.page_records = records;
	config.page_prealloc = made;
	config.page_max = most;
	config.source = &source;
	config.reclaim = (struct pfs_reclaim_config){ .headroom_percent = 0, .idle_passes = 1 };
	if (pfs_container_create(variant, &config, &arena->container, &message) != PFS_OK)
		fail(message.text);
	(void)pthread_barrier_init(&arena->begin, NULL, workers);
	atomic_store(&arena->stop, false);
	for (uint32_t id = 0; id < workers; id++) {
		if (pfs_thread_attach(arena->container, &arena->handles[id]) != PFS_OK)
			fail("no handle");
	}
}

static void run(struct arena *arena, uint32_t workers, void *(*body)(void *))
{
	struct worker worker[THREADS];
	for (uint32_t id = 0; id < workers; id++) {
		worker[id] = (struct worker){ .arena = arena, .id = id };
		if (pthread_create(&worker[id].native, NULL, body, &worker[id]) != 0)
			fail("no thread");
	}
	for (uint32_t id = 0; id < workers; id++)
		(void)pthread_join(worker[id].native, NULL);
	pfs_container_destroy(arena->container);
	(void)pthread_barrier_destroy(&arena->begin);
}

/* Without atomics: a race if the record is another's, or comes without its order. */
static void write_record(void *record, uint64_t stamp)
{
	volatile uint64_t *words = record;
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = stamp + i;
}

static void check_record(const void *record, uint64_t stamp)
{
	const volatile uint64_t *words = record;
	for (uint32_t i = 0; i < WORDS; i++) {
		if (words[i] != stamp + i)
			fail("a record changed under its owner: allocated twice");
	}
}

static void use_one(struct pfs_thread *thread, uint64_t stamp, bool abandon)
{
	struct pfs_claim claim = pfs_allocate(thread);
	if (claim.record == NULL)
		return;
	write_record(claim.record, stamp);
	check_record(claim.record, stamp);
	if (abandon) {
		pfs_abandon(thread, claim);
		return;
	}
	pfs_publish(thread, claim);
	check_record(claim.record, stamp);
	pfs_free(thread, claim.record);
}

static void *reuse(void *opaque)
{
	struct worker *self = opaque;
	struct arena *arena = self->arena;
	(void)pthread_barrier_wait(&arena->begin);
	for (uint64_t n = 1; n % 64 != 0 || pfs_now_seconds(CLOCK_MONOTONIC) < arena->deadline; n++)
		use_one(arena->handles[self->id], n * THREADS * 8 + self->id, n % 2 == 0);
	return NULL;
}

/* ---- lookup ---- */

#define LOOKUP_RECORDS 32u

/* As a program inlines it, and as the library has it. */
static void publish_either(struct pfs_thread *thread, struct pfs_claim claim, uint32_t n)
{
	void (*volatile of_library)(struct pfs_thread *, struct pfs_claim) = pfs_publish;
	if (n % 2 == 0)
		pfs_publish(thread, claim);
	else
		of_library(thread, claim);
}

static void *lookup(void *opaque)
{
	struct worker *self = opaque;
	struct arena *arena = self->arena;
	struct pfs_thread *thread = arena->handles[self->id];
	(void)pthread_barrier_wait(&arena->begin);
	for (uint32_t n = 0; n < LOOKUP_RECORDS; n++) {
		if (self->id == 0) {
			struct pfs_claim claim = pfs_allocate(thread);
			if (claim.record == NULL)
				fail("refused although there is room");
			write_record(claim.record, pfs_index(thread, claim.record) * 100);
			publish_either(thread, claim, n);
			continue;
		}
		void *record = NULL;
		while (record == NULL) /* the publisher frees nothing, so all come */
			record = pfs_lookup(thread, n);
		check_record(record, n * 100);
	}
	return NULL;
}

/* ---- pages ---- */

/* The bytes of a live record are its owner's: readers use the optimistic protocol. */
static void read_live(struct pfs_thread *thread, struct pfs_walk *walk, void *record)
{
	uint64_t words[WORDS];
	pfs_bytes_load(words, record, sizeof(words));
	if (!pfs_read_end(record, walk->glance))
		return;
	for (uint32_t i = 1; i < WORDS; i++) {
		if (words[i] != words[0] + i)
			fail("torn read");
	}
	(void)thread;
}

static void churn_pages(struct arena *arena, struct pfs_thread *thread, uint64_t seed)
{
	struct pfs_claim claims[6];
	uint64_t words[WORDS];
	for (uint64_t n = 0; n % 16 != 0 || pfs_now_seconds(CLOCK_MONOTONIC) < arena->deadline;
	     n++) {
		uint32_t count = 1 + (uint32_t)(n * 2654435761u >> 5) % 6;
		for (uint32_t i = 0; i < count; i++) {
			claims[i] = pfs_allocate(thread);
			if (claims[i].record == NULL)
				continue;
			for (uint32_t w = 0; w < WORDS; w++)
				words[w] = seed + n * 64 + w;
			pfs_bytes_store(claims[i].record, words, sizeof(words));
			pfs_publish(thread, claims[i]);
		}
		for (uint32_t i = 0; i < count; i++) {
			if (claims[i].record != NULL)
				pfs_free(thread, claims[i].record);
		}
	}
}

static void *pages(void *opaque)
{
	struct worker *self = opaque;
	struct arena *arena = self->arena;
	struct pfs_thread *thread = arena->handles[self->id];
	(void)pthread_barrier_wait(&arena->begin);
	if (self->id < 2) {
		churn_pages(arena, thread, (uint64_t)self->id << 32);
		return NULL;
	}
	while (pfs_now_seconds(CLOCK_MONOTONIC) < arena->deadline) {
		if (self->id == 2) {
			(void)pfs_reclaim_pass(thread);
			continue;
		}
		struct pfs_walk walk;
		pfs_walk_begin(&walk, thread, PFS_WALK_LIVE);
		for (void *record; (record = pfs_walk_next(&walk)) != NULL;)
			read_live(thread, &walk, record);
		pfs_walk_end(&walk);
	}
	return NULL;
}

/* ---- attach ---- */

static void *attach(void *opaque)
{
	struct worker *self = opaque;
	struct arena *arena = self->arena;
	(void)pthread_barrier_wait(&arena->begin);
	for (uint32_t n = 0; n < 24; n++) {
		struct pfs_thread *thread;
		if (self->id != 0) {
			/* Never detached: so each is a new handle. */
			if (pfs_thread_attach(arena->container, &thread) != PFS_OK)
				fail("no handle");
			continue;
		}
		struct pfs_counts counts;
		use_one(arena->handles[0], n, false);
		(void)pfs_reclaim_pass(arena->handles[0]);
		pfs_container_counts(arena->container, &counts);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct pfs_variant *const variants[] = {
		&pfs_variant_local_scan, &pfs_variant_reclaiming, &pfs_variant_original,
		&pfs_variant_exact,      &pfs_variant_magazine,
	};
	const struct pfs_variant *variant = NULL;
	const char *mode = argc > 1 ? argv[1] : "";
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 1;
	static struct arena arena;
	for (size_t i = 0; argc > 2 && i < sizeof(variants) / sizeof(variants[0]); i++) {
		if (strcmp(pfs_variant_name(variants[i]), argv[2]) == 0)
			variant = variants[i];
	}
	if (variant == NULL) {
		(void)fprintf(stderr, "usage: race reuse|lookup|pages|attach POLICY [SECONDS]\n");
		return 2;
	}
	arena.deadline = pfs_now_seconds(CLOCK_MONOTONIC) + seconds;
	if (strcmp(mode, "reuse") == 0) {
		open_arena(&arena, variant, 2, 1, 1, THREADS);
		run(&arena, THREADS, reuse);
	} else if (strcmp(mode, "pages") == 0) {
		open_arena(&arena, variant, 2, 0, 8, THREADS);
		run(&arena, THREADS, pages);
	} else if (strcmp(mode, "lookup") == 0) {
		while (pfs_now_seconds(CLOCK_MONOTONIC) < arena.deadline) {
			open_arena(&arena, variant, LOOKUP_RECORDS, 1, 1, 3);
			run(&arena, 3, lookup);
		}
	} else if (strcmp(mode, "attach") == 0) {
		while (pfs_now_seconds(CLOCK_MONOTONIC) < arena.deadline) {
			open_arena(&arena, variant, 2, 0, 8, 2);
			run(&arena, 2, attach);
		}
	} else {
		(void)fprintf(stderr, "race: mode %s: must be reuse, lookup, pages or attach\n",
			      mode);
		return 2;
	}
	(void)printf("fine\n");
	return 0;
}
