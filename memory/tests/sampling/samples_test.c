/*
 * samples_test.c - samples in books and their box. Equal stacks and contexts share one record, also
 * when many threads make them at once. Every sample goes with its block, whichever thread frees it.
 * Records that do not fit are counted. Lives that end leave their contexts. Switches; a forked
 * child.
 *
 * usage: sampling_samples PART FOLDER
 */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "made_blocks_test.h"

/* No two stacks are equal, and no two contexts. */
static void check_unique(const struct pfs_seen_profile *profile)
{
	uint32_t twice = 0;
	for (uint32_t i = 0; i < profile->stack_count; i++)
		for (uint32_t j = 0; j < i; j++)
			twice += profile->stacks[i].depth == profile->stacks[j].depth &&
				 memcmp(profile->stacks[i].frames, profile->stacks[j].frames,
					profile->stacks[i].depth * sizeof(uint64_t)) == 0;
	equal(twice, 0, "stacks that are twice");
	twice = 0;
	for (uint32_t i = 0; i < profile->context_count; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct pfs_seen_context *a = &profile->contexts[i];
			const struct pfs_seen_context *b = &profile->contexts[j];
			twice += a->thread_id == b->thread_id && a->stack == b->stack &&
				 a->instrument == b->instrument;
		}
	equal(twice, 0, "contexts that are twice");
}

/* ---- parts ---- */

/* All blocks are sampled; the stacks are those of one thread, the contexts as many for each thread.
 * */
static void part_threads(const char *folder)
{
	for (uint32_t round = 0; round < 20; round++) {
		begin(folder, 1, 1024, 1024, 8192);
		run_workers();
		pfs_memory_tick(books);
		struct pfs_seen_profile *profile = look();
		check_unique(profile);
		equal(profile->sample_count, 0, "samples of blocks that are free");
		equal(samples_ever(profile), THREADS * BLOCKS, "samples ever");
		equal(profile->stack_count, 10, "stacks of two functions at five depths");
		equal(profile->context_count, THREADS * 20, "contexts");
		equal(profile->snapshot->lost[PFS_LOST_SAMPLES], 0, "lost");
		pfs_profile_free(profile);
		end();
	}
}

/* Little room: what does not fit is counted as lost, and the blocks are still counted. */
static void part_full(const char *folder)
{
	begin(folder, 1, 4, 64, 32);
	run_workers();
	pfs_memory_tick(books);
	struct pfs_seen_profile *profile = look();
	const uint64_t *lost = profile->snapshot->lost;
	check_unique(profile);
	equal(profile->sample_count, 0, "samples of blocks that are free");
	equal(profile->stack_count >= 1 && profile->stack_count <= 4, 1, "stacks fit");
	equal(profile->context_count <= 64, 1, "contexts fit");
	uint64_t all = samples_ever(profile) + lost[PFS_LOST_SAMPLES] + lost[PFS_LOST_CONTEXTS];
	expect(all <= THREADS * BLOCKS && all > 32, "samples ever, and lost ones", all,
	       THREADS * BLOCKS);
	expect(lost[PFS_LOST_SAMPLES] > 0, "lost samples", lost[PFS_LOST_SAMPLES], 1);
	expect(lost[PFS_LOST_SAMPLE_BYTES] >= 100 * lost[PFS_LOST_SAMPLES], "lost bytes",
	       lost[PFS_LOST_SAMPLE_BYTES], 100 * lost[PFS_LOST_SAMPLES]);
	pfs_profile_free(profile);
	end();
	/* Few contexts, many samples: those without a context of their own use a shared one. */
	begin(folder, 1, 4, 32, 8192);
	run_workers();
	profile = look();
	lost = profile->snapshot->lost;
	uint64_t nobodys = 0;
	for (uint32_t i = 0; i < profile->context_count; i++)
		if (profile->contexts[i].thread_id == 0)
			nobodys += profile->contexts[i].samples;
	equal(profile->context_count <= 32, 1, "contexts fit");
	expect(nobodys > THREADS * BLOCKS / 4, "samples of nobody", nobodys, THREADS * BLOCKS / 4);
	expect(lost[PFS_LOST_STACKS] > 0, "lost stacks", lost[PFS_LOST_STACKS], 1);
	equal(samples_ever(profile) + lost[PFS_LOST_CONTEXTS], THREADS * BLOCKS, "samples ever");
	pfs_profile_free(profile);
	end();
}

/* The bytes in use of an instrument as estimated, and the variance of that (docs/explanation/
 * profile.md). */
static double estimate(const struct pfs_seen_profile *profile, const char *instrument,
		       double *variance)
{
	double bytes = 0;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct pfs_seen_sample *sample = &profile->samples[i];
		uint32_t number = profile->contexts[sample->context].instrument;
		double each = (double)sample->bytes * sample->objects, chance = 1 / sample->objects;
		if (strcmp(profile->snapshot->instruments[number].name, instrument) != 0)
			continue;
		bytes += each;
		*variance += (1 - chance) * each * each;
	}
	return bytes;
}

/* More blocks than records: the interval rises, so that what comes last is seen as well, and its
 * estimate is right on average. It falls when records are free again. */
static void part_raised(const char *folder)
{
	enum { FIRST = 6000, LAST = 2000, ROUNDS = 40 };
	static struct block kept[FIRST + LAST];
	double error = 0, variance = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t bytes = 0;
		begin(folder, 9, 64, 64, 512);
		struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "main", "user",
									   "host", true);
		for (uint32_t i = 0; i < FIRST + LAST; i++) {
			kept[i] = block_new(thread, keys[i >= FIRST], i);
			bytes += i >= FIRST ? kept[i].bytes : 0;
		}
		struct pfs_seen_profile *profile = look();
		pfs_memory_tick(books);
		equal(profile->snapshot->lost[PFS_LOST_SAMPLES], 0, "lost samples");
		expect(profile->sample_count > 256 && profile->sample_count < 512, "samples",
		       profile->sample_count, 512);
		error += estimate(profile, "memory/two/heap", &variance) - (double)bytes;
		pfs_profile_free(profile);
		for (uint32_t i = 0; i < FIRST + LAST; i++)
			block_free(thread, kept[i]);
		pfs_memory_tick(books); /* the next block draws a gap anew */
		for (uint32_t i = 0; i < 100; i++)
			kept[i] = block_new(thread, keys[1], 6);
		profile = look();
		for (uint32_t i = 0; i < profile->sample_count; i++)
			equal(profile->samples[i].interval, 512, "interval of a sample");
		pfs_profile_free(profile);
		for (uint32_t i = 0; i < 100; i++)
			block_free(thread, kept[i]);
		pfs_memory_thread_end(thread);
		end();
	}
	expect(error * error < 16 * variance, "squared error", (uint64_t)(error * error),
	       (uint64_t)(16 * variance));
}

static void make_blocks(struct pfs_memory_thread *thread, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		block_free(thread, block_new(thread, keys[0], i));
}

/* Switched from outside: off, on, another mean; and invalid values. */
static void part_switch(const char *folder)
{
	struct pfs_message message;
	begin(folder, 1, 64, 64, 64);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "main", "user", "host",
								   true);
	make_blocks(thread, 100);
	equal(count_samples(), 100, "samples, each block");
	equal(pfs_profile_switch(reader, false, 0, &message), 1, "switched off");
	make_blocks(thread, 100);
	equal(count_samples(), 100, "samples, switched off");
	equal(pfs_profile_switch(reader, true, 40, &message), 1, "switched to 2^40");
	make_blocks(thread, 100);
	equal(count_samples(), 100, "samples at 2^40");
	equal(pfs_profile_switch(reader, true, 0, &message), 1, "switched on");
	make_blocks(thread, 100);
	equal(count_samples(), 200, "samples, switched on");
	static const uint32_t values[] = { 63, 64, 1u << 31, UINT32_MAX };
	for (uint32_t i = 0; i < 4; i++) {
		/* relaxed: one thread. */
		pfs_store_relaxed(&books->control->profile_lg, values[i]);
		pfs_box_announce(books->control);
		make_blocks(thread, 100);
		equal(count_samples(), 300 + i * 100, "samples at no mean");
	}
	pfs_memory_thread_end(thread);
	end();
}

/* The child of a process with threads goes on with its copy: earlier samples are there, and can go.
 * */
static _Atomic(uint32_t) churning;

static void *churn(void *stop)
{
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "churn", "user", "host",
								   true);
	struct block kept[16];
	for (uint32_t i = 0; i < 16; i++)
		kept[i] = block_new(thread, keys[1], i);
	(void)pfs_fetch_add_relaxed(&churning, 1); /* relaxed: a count */
	for (uint32_t i = 0; pfs_load_relaxed((_Atomic(uint32_t) *)stop) == 0; i++) { /* relaxed */
		block_free(thread, kept[i % 16]);
		kept[i % 16] = block_new(thread, keys[1], i / 3);
	}
	for (uint32_t i = 0; i < 16; i++)
		block_free(thread, kept[i]);
	pfs_memory_thread_end(thread);
	return NULL;
}

/* Each thread that churns has 15 or 16 blocks at any moment. */
static void check_child(struct pfs_memory_thread *thread, struct block *own)
{
	make_blocks(thread, 200);
	struct pfs_seen_profile *profile = look();
	check_unique(profile);
	expect(profile->sample_count >= 10 + 3 * 15 && profile->sample_count <= 10 + 3 * 16,
	       "samples in the child", profile->sample_count, 10 + 3 * 16);
	for (uint32_t i = 0; i < profile->sample_count; i++)
		if (profile->samples[i].context == PFS_NONE)
			equal(0, 1, "samples have contexts");
	pfs_profile_free(profile);
	for (uint32_t i = 0; i < 10; i++)
		block_free(thread, own[i]);
	profile = look();
	expect(profile->sample_count >= 3 * 15 && profile->sample_count <= 3 * 16,
	       "samples after the child's frees", profile->sample_count, 3 * 16);
	pfs_profile_free(profile);
	look_no_more();
}

static void part_fork(const char *folder)
{
	static _Atomic(uint32_t) stop;
	pthread_t threads[3];
	struct block own[10];
	begin(folder, 1, 256, 256, 1024);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "main", "user", "host",
								   true);
	for (uint32_t i = 0; i < 10; i++)
		own[i] = block_new(thread, keys[0], i);
	for (uint32_t i = 0; i < 3; i++)
		(void)pthread_create(&threads[i], NULL, churn, &stop);
	while (pfs_load_relaxed(&churning) < 3) /* relaxed: a count */
		(void)usleep(1000);
	for (uint32_t round = 0; round < 30 && failures == 0; round++) {
		int status = 0;
		(void)fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			pfs_memory_thread_end(
				pfs_memory_thread_begin(books, NULL, NULL, NULL, true));
			check_child(thread, own);
			(void)fflush(stdout);
			_exit(failures != 0);
		}
		(void)waitpid(child, &status, 0);
		equal((uint64_t)status, 0, "status of the child");
		make_blocks(thread, 50);
	}
	pfs_store_relaxed(&stop, 1); /* relaxed: a flag */
	for (uint32_t i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	struct pfs_seen_profile *profile = look();
	equal(profile->sample_count, 10, "samples in the parent");
	pfs_profile_free(profile);
	for (uint32_t i = 0; i < 10; i++)
		block_free(thread, own[i]);
	pfs_memory_thread_end(thread);
	end();
}

/* A child's first sample takes over a handle that another thread left. That thread's life ends
 * later in the child, and must leave the handle alone. */
static int sample_first(struct pfs_memory_thread *thread)
{
	struct block kept = block_new(thread, keys[0], 0);
	pfs_memory_thread_end(pfs_memory_thread_begin(books, NULL, NULL, NULL, true));
	block_free(thread, kept);
	make_blocks(thread, 50);
	return failures != 0;
}

static void part_first(const char *folder)
{
	static _Atomic(uint32_t) stop;
	pthread_t other;
	int status = 0;
	begin(folder, 1, 256, 256, 1024);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "main", "user", "host",
								   true);
	/* No sample, and a mark so high that the child's first allocation opens no desk. */
	for (uint32_t i = 0; i < 2; i++)
		pfs_memory_freed(books, thread, pfs_memory_allocated(thread, keys[0], 1 << 24),
				 1 << 24);
	(void)pthread_create(&other, NULL, churn, &stop);
	while (pfs_load_relaxed(&churning) == 0) /* relaxed: a count */
		(void)usleep(1000);
	(void)fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		_exit(sample_first(thread));
	(void)waitpid(child, &status, 0);
	equal((uint64_t)status, 0, "status of the child");
	pfs_store_relaxed(&stop, 1); /* relaxed: a flag */
	(void)pthread_join(other, NULL);
	pfs_memory_thread_end(thread);
	end();
}

/* A life's contexts stay, with its names; its samples stay until their blocks are freed. */
static void part_lives(const char *folder)
{
	struct block kept[20];
	begin(folder, 1, 64, 64, 64);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "gone", "alice", "there",
								   true);
	for (uint32_t i = 0; i < 20; i++)
		kept[i] = block_new(thread, keys[0], 0);
	pfs_memory_thread_end(thread);
	struct pfs_seen_profile *profile = look();
	equal(profile->sample_count, 20, "samples of a life that has ended");
	equal(profile->context_count, 1, "contexts");
	equal(strcmp(profile->contexts[0].thread_name, "gone") == 0, 1, "its thread's name");
	equal(strcmp(profile->contexts[0].user_name, "alice") == 0, 1, "its user");
	equal(strcmp(profile->contexts[0].host_name, "there") == 0, 1, "its host");
	pfs_profile_free(profile);
	thread = pfs_memory_thread_begin(books, "next", "alice", "there", true);
	for (uint32_t i = 0; i < 20; i++)
		block_free(i % 2 == 0 ? thread : NULL, kept[i]);
	profile = look();
	equal(profile->sample_count, 0, "samples, all freed and half not given back");
	pfs_profile_free(profile);
	make_blocks(thread, 1);
	profile = look();
	equal(profile->sample_count, 0, "samples, all freed");
	equal(samples_ever(profile), 21, "samples ever");
	equal(profile->context_count, 2, "contexts of two lives");
	pfs_profile_free(profile);
	pfs_memory_thread_end(thread);
	end();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const char *folder);
	} parts[] = { { "threads", part_threads }, { "full", part_full }, { "raised", part_raised },
		      { "switch", part_switch },   { "fork", part_fork }, { "first", part_first },
		      { "lives", part_lives } };
	if (argc != 3)
		return fprintf(stderr, "usage: sampling_samples PART FOLDER\n"), 2;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].name, argv[1]) != 0)
			continue;
		parts[i].run(argv[2]);
		return failures != 0;
	}
	return fprintf(stderr, "sampling_samples: no part is called %s\n", argv[1]), 2;
}
