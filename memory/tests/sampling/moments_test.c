/*
 * moments_test.c - the history of stacks: what moments hold, which of them stay, and that none is
 * shown that may be torn. A tick is a call here, so days pass in a second.
 *
 * usage: sampling_moments thin | many | torn | read | fork | cost FOLDER
 * cost: prints what a tick with a moment takes, with 10,000 samples of as many stacks.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "made_blocks_test.h"
#include "memory/box/box.h"

#define TICKS_MOST 20000u
#define READ_TICKS 4000u
#define DEPTH 14u

/* What the test holds, by moment: all of it, and of the function that leaks. */
static _Atomic(uint64_t) held[TICKS_MOST + 1], leaked[TICKS_MOST + 1];
static uint64_t now_held, now_leaked;

static uint64_t weight_of(struct block block)
{
	const struct pfs_box_sample *sample = pfs_sample_of(block.named);
	return sample != NULL ? sample->weight_bytes : 0;
}

static struct block keep(struct pfs_memory_thread *thread, bool leaks, uint64_t bytes)
{
	struct block block = (leaks ? one : two)(thread, keys[0], bytes, leaks ? 1 : 0);
	now_held += weight_of(block);
	now_leaked += leaks ? weight_of(block) : 0;
	return block;
}

static void tick(uint64_t number)
{
	/* relaxed, both: before the moment that a reader finds it by */
	pfs_store_relaxed(&held[number], now_held);
	pfs_store_relaxed(&leaked[number], now_leaked); /* relaxed: as above */
	pfs_memory_tick(books);
}

static void open_and_begin(const char *folder, uint32_t stacks, struct pfs_memory_thread **thread)
{
	open_books(folder, 4, stacks, stacks, 65536);
	now_held = now_leaked = 0;
	*thread = pfs_memory_thread_begin(books, "main", "user", "host", true);
}

static uint64_t bytes_of(const struct pfs_seen_moment *moment)
{
	uint64_t bytes = moment->no_stack_bytes + moment->others_bytes;
	for (uint32_t i = 0; i < moment->count; i++)
		bytes += moment->stacks[i].bytes;
	return bytes;
}

/* The two stacks of keep; the one that leaks is deeper. */
static void check_moment(const struct pfs_seen_profile *profile,
			 const struct pfs_seen_moment *moment)
{
	uint64_t leak = 0;
	uint32_t deepest = 0;
	for (uint32_t i = 0; i < moment->count; i++) {
		const struct pfs_seen_held *stack = &moment->stacks[i];
		if (profile->stacks[stack->stack].depth > deepest) {
			deepest = profile->stacks[stack->stack].depth;
			leak = moment->count > 1 ? stack->bytes : 0;
		}
	}
	/* relaxed, both: see tick */
	equal(leak, pfs_load_relaxed(&leaked[moment->number]), "bytes of the stack that leaks");
	/* relaxed: see tick */
	equal(bytes_of(moment), pfs_load_relaxed(&held[moment->number]), "bytes of a moment");
	equal(moment->others, 0, "other stacks");
}

/* ---- thin ---- */

static uint32_t level_of(uint64_t number)
{
	uint32_t level = 0;
	for (number--; number % 2 == 0 && level < 11; number /= 2)
		level++;
	return level;
}

/* The last eight of each level; of the next moment's level, only the last seven. */
static void check_kept(const struct pfs_seen_profile *profile, uint64_t last)
{
	uint32_t kept[12] = { 0 }, wanted = 0;
	kept[level_of(last + 1)] = 1;
	for (uint64_t number = last; number > 0; number--) {
		if (kept[level_of(number)]++ >= 8)
			continue;
		wanted++;
		expect(profile->moment_count >= wanted &&
			       profile->moments[profile->moment_count - wanted].number == number,
		       "a moment is kept", 0, number);
	}
	equal(profile->moment_count, wanted, "moments kept");
}

/* For each age, a moment is kept that is at most a sixteenth of it and one away. */
static void check_ages(const struct pfs_seen_profile *profile, uint64_t last)
{
	for (uint64_t age = 0; age < last && age <= PFS_MOMENTS_OLD; age += 1 + age / 50) {
		uint64_t nearest = UINT64_MAX;
		for (uint32_t i = 0; i < profile->moment_count; i++) {
			uint64_t other = last - profile->moments[i].number;
			uint64_t off = other > age ? other - age : age - other;
			nearest = off < nearest ? off : nearest;
		}
		expect(nearest <= age / 16 + 1, "a moment of this age", nearest, age);
	}
}

static void part_thin(const char *folder)
{
	struct pfs_memory_thread *thread;
	open_and_begin(folder, 64, &thread);
	struct block constant[50];
	for (uint32_t i = 0; i < 50; i++)
		constant[i] = keep(thread, false, 1000 + i);
	for (uint64_t number = 1; number <= TICKS_MOST && failures == 0; number++) {
		if (number % 4 == 0)
			(void)keep(thread, true, 500);
		tick(number);
		if (number > 40 && number % 997 != 0 && number != TICKS_MOST)
			continue;
		struct pfs_seen_profile *profile = look();
		check_kept(profile, number);
		check_ages(profile, number);
		for (uint32_t i = 0; i < profile->moment_count; i++)
			check_moment(profile, &profile->moments[i]);
		equal(profile->snapshot->damaged, 0, "damaged records");
		pfs_profile_free(profile);
	}
	for (uint32_t i = 0; i < 50; i++)
		block_free(thread, constant[i]);
	pfs_memory_thread_end(thread);
}

/* ---- many ---- */

typedef struct block branch(struct pfs_memory_thread *thread, uint64_t bytes, uint32_t number,
			    uint32_t depth);
static branch left, right;

/* As many stacks as numbers. */
static struct block by_number(struct pfs_memory_thread *thread, uint64_t bytes, uint32_t number,
			      uint32_t depth)
{
	if (depth == 0)
		return one(thread, keys[0], bytes, 0);
	return (number % 2 == 0 ? left : right)(thread, bytes, number / 2, depth - 1);
}

static __attribute__((noinline)) struct block left(struct pfs_memory_thread *thread, uint64_t bytes,
						   uint32_t number, uint32_t depth)
{
	struct block block = by_number(thread, bytes, number, depth);
	__asm__ volatile("" : : "r"(&block) : "memory");
	return block;
}

static __attribute__((noinline)) struct block right(struct pfs_memory_thread *thread,
						    uint64_t bytes, uint32_t number, uint32_t depth)
{
	struct block block = by_number(thread, bytes, number, depth);
	__asm__ volatile("" : : "r"(&block), "r"(bytes) : "memory");
	return block;
}

/* More stacks than a moment has room for: those with the most are in it, the others as a sum. */
static void part_many(const char *folder)
{
	struct pfs_memory_thread *thread;
	uint64_t random = 1, sampled = 0;
	open_and_begin(folder, 32768, &thread);
	for (uint32_t i = 0; i < 3000; i++) {
		random = random * UINT64_C(6364136223846793005) + 1;
		uint64_t weight =
			weight_of(by_number(thread, 100 + (random >> 40) % 100000, i, DEPTH));
		now_held += weight;
		sampled += weight != 0;
		if (i != 1018 && i != 1019 && i != 1020 && i != 2999)
			continue;
		pfs_memory_tick(books);
		struct pfs_seen_profile *profile = look();
		const struct pfs_seen_moment *last = &profile->moments[profile->moment_count - 1];
		uint64_t least = UINT64_MAX;
		for (uint32_t j = 0; j < last->count; j++)
			least = last->stacks[j].bytes < least ? last->stacks[j].bytes : least;
		equal(bytes_of(last), now_held, "bytes of all stacks");
		equal(last->count, sampled < 1020 ? sampled : 1020, "stacks of a moment");
		equal(last->others, sampled < 1020 ? 0 : sampled - 1020, "other stacks");
		expect(last->others_most <= least, "the largest of the others", last->others_most,
		       least);
		expect((last->others == 0) == (last->others_most == 0), "the others' most",
		       last->others_most, last->others);
		pfs_profile_free(profile);
	}
	pfs_memory_thread_end(thread);
}

/* ---- torn ---- */

/* Killed while the next moment was written: its place has any bytes. */
static void part_torn(const char *folder)
{
	struct pfs_memory_thread *thread;
	open_and_begin(folder, 64, &thread);
	(void)keep(thread, false, 1000);
	for (uint64_t number = 1; number <= 200 && failures == 0; number++) {
		(void)keep(thread, true, 500);
		tick(number);
		struct pfs_box_moment *moments =
			(struct pfs_box_moment *)(void *)(books->box.base +
							  pfs_box_region_of(&books->box,
									    PFS_BOX_MOMENTS)
								  ->offset);
		struct pfs_box_moment *next = &moments[pfs_moment_place(number + 1)];
		static struct pfs_box_moment before;
		if (!pfs_box_populate(&books->box, (uint64_t)((char *)next - books->box.base),
				      sizeof(*next)))
			return expect(false, "memory for the box", 0, 1);
		memcpy(&before, next, sizeof(before));
		for (int i = 0; i < 3; i++) {
			next->number = i == 0 ? number + 1 : i == 1 ? before.number : UINT64_MAX;
			next->count = 2;
			next->others_bytes = 12345;
			next->stacks[0].bytes = 77;
			next->stacks[1].stack = 4000000;
			look_no_more();
			struct pfs_seen_profile *profile = look();
			check_kept(profile, number);
			for (uint32_t j = 0; j < profile->moment_count; j++)
				check_moment(profile, &profile->moments[j]);
			equal(profile->snapshot->damaged, 0, "damaged records");
			pfs_profile_free(profile);
		}
		memcpy(next, &before, sizeof(before));
	}
	pfs_memory_thread_end(thread);
}

/* ---- read: while moments are written ---- */

static _Atomic(uint32_t) is_over;

static void *tick_on(void *unused)
{
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "ticks", "user", "host",
								   true);
	(void)unused;
	(void)keep(thread, false, 1000);
	for (uint64_t number = 1; number <= READ_TICKS; number++) {
		if (number % 2 == 0)
			(void)keep(thread, true, 500);
		tick(number);
	}
	pfs_memory_thread_end(thread);
	pfs_store_relaxed(&is_over, 1); /* relaxed: a hint */
	return NULL;
}

static void part_read(const char *folder)
{
	pthread_t thread;
	uint32_t seen = 0;
	open_books(folder, 4, 256, 256, 32768);
	now_held = now_leaked = 0;
	(void)pthread_create(&thread, NULL, tick_on, NULL);
	/* relaxed: a hint */
	while ((pfs_load_relaxed(&is_over) == 0 || seen <= 1000) && failures == 0) {
		struct pfs_seen_profile *profile = look();
		for (uint32_t j = 0; j < profile->moment_count; j++)
			check_moment(profile, &profile->moments[j]);
		seen += profile->moment_count;
		pfs_profile_free(profile);
	}
	(void)pthread_join(thread, NULL);
	expect(seen > 1000, "moments were read", seen, 1000);
}

/* ---- fork: the child's history begins anew ---- */

static void part_fork(const char *folder)
{
	struct pfs_memory_thread *thread;
	int status = 0;
	open_and_begin(folder, 64, &thread);
	(void)keep(thread, false, 1000);
	pid_t child = -1;
	for (uint64_t i = 1; i <= 7 && child <= 0; i++) { /* one place: one stack */
		(void)keep(thread, true, 500);
		tick(child == 0 ? i - 5 : i);
		child = i == 5 ? fork() : child;
	}
	if (child > 0) {
		(void)waitpid(child, &status, 0);
		expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child", 1, 0);
	}
	struct pfs_seen_profile *profile = look();
	check_kept(profile, child == 0 ? 2 : 5);
	for (uint32_t i = 0; i < profile->moment_count; i++)
		check_moment(profile, &profile->moments[i]);
	pfs_profile_free(profile);
	if (child == 0) {
		(void)fflush(stdout);
		_exit(failures != 0);
	}
	pfs_memory_thread_end(thread);
}

/* ---- cost ---- */

static double us_of_tick(void)
{
	struct timespec begin, end;
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	pfs_memory_tick(books);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - begin.tv_sec) * 1e6 +
	       (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
}

static double least_us(uint32_t tick_ms)
{
	double least = 1e9;
	books->box.head->tick_ms = tick_ms;
	for (uint32_t i = 0; i < 200; i++) {
		double us = us_of_tick();
		least = us < least ? us : least;
	}
	return least;
}

static void part_cost(const char *folder)
{
	struct pfs_memory_thread *thread;
	open_and_begin(folder, 32768, &thread);
	for (uint32_t i = 0; i < 10000; i++)
		(void)by_number(thread, 1000 + i % 7919, i, DEPTH);
	double with = least_us(0), without = least_us(1000000);
	(void)printf("a tick: %.0f us with a moment, %.0f us without\n", with, without);
	pfs_memory_thread_end(thread);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const char *folder);
	} parts[] = { { "thin", part_thin }, { "many", part_many }, { "torn", part_torn },
		      { "read", part_read }, { "fork", part_fork }, { "cost", part_cost } };
	for (size_t i = 0; argc == 3 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(argv[1], parts[i].name) != 0)
			continue;
		parts[i].run(argv[2]);
		look_no_more();
		pfs_memory_close(books);
		return failures != 0;
	}
	return fprintf(stderr, "usage: sampling_moments PART FOLDER\n"), 2;
}
