/*
 * peak_test.c - the profile at the peak: at each step of random tides, by one thread, each context
 * has what a model has; and with many threads the peak has all that they held.
 *
 * usage: sampling_peak FOLDER
 */
#define _GNU_SOURCE
#include "made_blocks_test.h"

#define CONTEXTS 64u
/* The peak: what is in use, by context, as the test counts it; and the same at the last mark. */
static struct sums {
	uint64_t bytes[CONTEXTS];
} in_use, at_mark;

static void count_block(struct block block, uint64_t sign)
{
	const struct pfs_box_sample *sample = pfs_sample_of(block.named);
	if (sample != NULL && sample->context < CONTEXTS)
		in_use.bytes[sample->context] += sign * sample->weight_bytes;
}

static int largest_first(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
	return a < b ? 1 : a > b ? -1 : 0;
}

/* The sums of contexts at the peak are those that the test saw there. */
static void check_peak(struct pfs_seen_profile *profile)
{
	struct sums seen = { { 0 } }, wanted = profile->peak_is_now ? in_use : at_mark;
	for (uint32_t i = 0; i < profile->context_count && i < CONTEXTS; i++)
		seen.bytes[i] = (uint64_t)profile->contexts[i].peak_bytes;
	qsort(seen.bytes, CONTEXTS, sizeof(uint64_t), largest_first);
	qsort(wanted.bytes, CONTEXTS, sizeof(uint64_t), largest_first);
	for (uint32_t i = 0; i < CONTEXTS; i++)
		equal(seen.bytes[i], wanted.bytes[i], "a context at the peak");
	pfs_profile_free(profile);
}

/* Tides of random height, by one thread: at each step the peak is that of the model, by context. */
static void check_tides(const char *folder)
{
	static struct block kept[BLOCKS];
	uint32_t count = 0, random = 1;
	begin(folder, 4, 64, 64, 8192);
	memset(&in_use, 0, sizeof(in_use));
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "main", "user", "host",
								   true);
	struct pfs_box_peak *peak = &books->box.head->peak;
	for (uint32_t step = 0; step < 6000 && failures == 0; step++) {
		uint64_t marks = pfs_load_relaxed(&peak->marks); /* relaxed: one thread */
		random = random * 1664525 + 1013904223;
		bool grows = step / 200 % 2 == 0 ? random >> 24 < 170 : random >> 24 < 80;
		if (grows && count < BLOCKS) {
			kept[count] = block_new(thread, keys[random >> 20 & 1], random >> 16);
			count_block(kept[count++], 1);
		} else if (count > 0) {
			uint32_t at = (random >> 8) % count;
			count_block(kept[at], UINT64_MAX);
			block_free(thread, kept[at]);
			kept[at] = kept[--count];
		}
		if (pfs_load_relaxed(&peak->marks) != marks) /* relaxed: one thread */
			at_mark = in_use;
		if (step % 97 == 0)
			check_peak(look());
	}
	while (count > 0)
		block_free(thread, kept[--count]);
	equal(pfs_load_relaxed(&peak->sampled), 0, "in use at the end"); /* relaxed: one thread */
	pfs_memory_thread_end(thread);
	end();
}

/* Threads that allocate all of it, then free all of it: the peak has all. */
static void part_peak(const char *folder)
{
	check_tides(folder);
	for (uint32_t round = 0; round < 20; round++) {
		double at_peak = 0, ever = 0;
		begin(folder, 4, 1024, 1024, 8192);
		run_workers();
		struct pfs_seen_profile *profile = look();
		for (uint32_t i = 0; i < profile->context_count; i++) {
			at_peak += profile->contexts[i].peak_bytes;
			ever += profile->contexts[i].bytes;
		}
		/* A mark may be 1/128 below; each thread may have been at one sample. */
		expect(at_peak > ever * (1 - 1.0 / 100) - THREADS * 2000 && at_peak < ever * 1.01,
		       "bytes at the peak", (uint64_t)at_peak, (uint64_t)ever);
		equal(pfs_load_relaxed(&books->box.head->peak.sampled), 0, /* relaxed: at rest */
		      "in use at the end");
		pfs_profile_free(profile);
		end();
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return fprintf(stderr, "usage: sampling_peak FOLDER\n"), 2;
	part_peak(argv[1]);
	return failures != 0;
}
