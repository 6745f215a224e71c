/*
 * dump.c - prof.dump and prof.reset of mallctl: the heap profile in jemalloc's dialect heap_v2,
 * with a line for each thread, written by the program itself. jeprof and pfs-mem read it.
 *
 * Numbers are estimates: each sample stands for 1 / p blocks. So the interval in the first line is
 * 1, as in the dumps of pfs-mem. Samples are copied while no thread is inside the profile, as for a
 * fork; everything else happens after that, and outside the desk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counter.h"
#include "memory/profile/draw.h"
#include "memory/profile/profile.h"

#define NO_ADDRESS UINT64_C(1) /* of samples without a stack */

struct entry {
	uint64_t thread_id;
	double objects, bytes;
	uint32_t stack; /* reference; 0: none */
};

struct entries {
	struct entry *entry;
	size_t count, room;
};

static void *record_of(const struct pfs_books *books, enum pfs_shelves shelf, uint32_t reference)
{
	return pfs_box_record(&books->box, books->shelves[shelf].region, reference);
}

/* ---- the samples in use ---- */

static void take(struct entries *self, const struct pfs_books *books,
		 const struct pfs_box_sample *sample)
{
	const struct pfs_box_context *context =
		sample->context != 0 ? record_of(books, PFS_SHELF_CONTEXTS, sample->context) : NULL;
	double chance = pfs_draw_chance(sample->bytes, sample->interval);
	if (self->count == self->room || !(chance > 0))
		return;
	self->entry[self->count++] = (struct entry){
		.thread_id = context != NULL ? context->thread_id : 0,
		.stack = context != NULL ? context->stack : 0,
		.objects = 1 / chance,
		.bytes = (double)sample->bytes / chance,
	};
}

/* Those whose block was freed are given back first. */
static void take_all(struct entries *self, struct pfs_books *books)
{
	struct pfs_walk walk;
	struct pfs_box_sample *sample;
	pfs_desk_open(books);
	pfs_profile_tick(books);
	pfs_gate_close(&books->profile->gate);
	pfs_walk_begin(&walk, books->shelves[PFS_SHELF_SAMPLES].handle, PFS_WALK_LIVE);
	while ((sample = pfs_walk_next(&walk)) != NULL)
		if (pfs_sample_is_new(books->profile, sample))
			take(self, books, sample);
	pfs_walk_end(&walk);
	pfs_gate_open(&books->profile->gate);
	pfs_desk_close(books);
}

static int compare(uint64_t one, uint64_t other)
{
	return one < other ? -1 : one > other;
}

static int by_stack_and_thread(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;
	return a->stack != b->stack ? compare(a->stack, b->stack)
				    : compare(a->thread_id, b->thread_id);
}

static int by_thread(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;
	return compare(a->thread_id, b->thread_id);
}

/* Entries that compare as equal become one. */
static void add_up(struct entries *self, int (*order)(const void *one, const void *other))
{
	size_t to = 0;
	qsort(self->entry, self->count, sizeof(self->entry[0]), order);
	for (size_t i = 0; i < self->count; i++) {
		if (to == 0 || order(&self->entry[to - 1], &self->entry[i]) != 0) {
			self->entry[to++] = self->entry[i];
			continue;
		}
		self->entry[to - 1].objects += self->entry[i].objects;
		self->entry[to - 1].bytes += self->entry[i].bytes;
	}
	self->count = to;
}

/* ---- the document ---- */

/* What jeprof multiplies to the wanted number again, at an interval of 1. */
static struct entry uncorrected(const struct entry *entry)
{
	struct entry value = *entry;
	double average = value.bytes / value.objects;
	if (average > 0 && average < 64) {
		double chance = pfs_draw_chance((uint64_t)(average * 1024), 1024);
		value.objects *= chance;
		value.bytes *= chance;
	}
	return value;
}

static void put_counts(FILE *to, const struct entry *entry, bool is_all)
{
	char name[24] = "*";
	if (!is_all)
		(void)snprintf(name, sizeof(name), "%" PRIu64, entry->thread_id);
	(void)fprintf(to, "  t%s: %.0f: %.0f [0: 0]\n", name, entry->objects, entry->bytes);
}

/* t*, then each thread's. */
static void put_group(FILE *to, const struct entry *entries, size_t count)
{
	struct entry all = { .stack = 0 };
	for (size_t i = 0; i < count; i++) {
		struct entry one = uncorrected(&entries[i]);
		all.objects += one.objects;
		all.bytes += one.bytes;
	}
	put_counts(to, &all, true);
	for (size_t i = 0; i < count; i++) {
		struct entry one = uncorrected(&entries[i]);
		put_counts(to, &one, false);
	}
}

/* The innermost address lies inside its call, the others behind theirs. */
static void put_stack(FILE *to, const struct pfs_books *books, uint32_t reference)
{
	const struct pfs_box_stack *stack = reference != 0
						    ? record_of(books, PFS_SHELF_STACKS, reference)
						    : NULL;
	(void)fputs("@", to);
	for (uint32_t i = 0; stack != NULL && i < stack->depth && i < PFS_STACK_FRAMES; i++)
		(void)fprintf(to, " 0x%" PRIx64, stack->frames[i] - (i == 0));
	if (stack == NULL || stack->depth == 0)
		(void)fprintf(to, " 0x%" PRIx64, NO_ADDRESS);
	(void)fputc('\n', to);
}

static void put_maps(FILE *to)
{
	char text[4096];
	size_t got;
	FILE *maps = fopen("/proc/self/maps", "re");
	(void)fputs("\nMAPPED_LIBRARIES:\n", to);
	while (maps != NULL && (got = fread(text, 1, sizeof(text), maps)) != 0)
		(void)fwrite(text, 1, got, to);
	if (maps != NULL)
		(void)fclose(maps);
}

static void put_stacks(FILE *to, const struct pfs_books *books, const struct entries *all)
{
	for (size_t i = 0, end; i < all->count; i = end) {
		for (end = i; end < all->count && all->entry[end].stack == all->entry[i].stack;)
			end++;
		put_stack(to, books, all->entry[i].stack);
		put_group(to, &all->entry[i], end - i);
	}
}

static bool write_all(const char *path, struct pfs_books *books, struct entries *all,
		      struct entries *threads)
{
	FILE *to = fopen(path, "we");
	if (to == NULL)
		return false;
	(void)fputs("heap_v2/1\n", to);
	add_up(threads, by_thread);
	put_group(to, threads->entry, threads->count);
	add_up(all, by_stack_and_thread);
	put_stacks(to, books, all);
	put_maps(to);
	bool fine = ferror(to) == 0;
	return fclose(to) == 0 && fine;
}

/* ---- the call ---- */

static bool dump(const char *path, struct pfs_books *books)
{
	const struct pfs_box_region *region = books->shelves[PFS_SHELF_SAMPLES].region;
	/* relaxed: pages that are added meanwhile have newer samples. */
	size_t room = (size_t)pfs_load_relaxed(&region->page_count) * region->page_records + 64;
	size_t bytes = room * sizeof(struct entry);
	struct entry *place = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		return false;
	struct entries all = { place, 0, room };
	take_all(&all, books);
	struct entries threads = { place + room, all.count, room };
	memcpy(threads.entry, all.entry, all.count * sizeof(struct entry));
	bool fine = write_all(path, books, &all, &threads);
	(void)munmap(place, 2 * bytes);
	return fine;
}

int pfs_profile_restart(uint32_t lg)
{
	struct pfs_books *books = pfs_program.books;
	int errno_before = errno;
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter == NULL)
		return EAGAIN;
	pfs_desk_open(books);
	pfs_store_relaxed(&books->control->profile_lg, lg); /* relaxed: announced next */
	pfs_box_announce(books->control);
	pfs_profile_reset(books->profile);
	pfs_desk_close(books);
	pfs_counter_leave(counter);
	errno = errno_before;
	return 0;
}

/* path NULL: jeprof.<pid>.<number>.m<number>.heap, as jemalloc names it. */
int pfs_profile_dump(const char *path)
{
	static _Atomic(uint32_t) dumps;
	char name[64];
	/* relaxed: a count. */
	uint32_t number = path == NULL ? pfs_fetch_add_relaxed(&dumps, 1) : 0;
	(void)snprintf(name, sizeof(name), "jeprof.%ld.%u.m%u.heap", (long)getpid(), number,
		       number);
	int errno_before = errno;
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter == NULL)
		return EAGAIN;
	bool fine = dump(path != NULL ? path : name, pfs_program.books);
	pfs_counter_leave(counter);
	errno = errno_before;
	return fine ? 0 : EFAULT;
}
