/*
 * blocks_test.c - blocks of pfs_memory_malloc in the heap profile. Each is sampled under the
 * instrument that the program named, with a stack that begins at the call, until any thread frees
 * it. A resized or claimed block is a new one.
 *
 * usage: sampling_blocks FOLDER
 */
#include "seen_test.h"

#define BLOCKS 40u

static __attribute__((noinline)) void *malloc_here(struct pfs_memory_thread *thread,
						   pfs_memory_key key, size_t bytes)
{
	void *block = pfs_memory_malloc(books, thread, key, bytes);
	__asm__ volatile("" : : "r"(&block) : "memory");
	return block;
}

/* Check an instrument's live samples and their bytes; each from inside a function, NULL: any. */
static void check(const char *instrument, uint64_t count, uint64_t bytes, uintptr_t inside)
{
	struct pfs_seen_profile *profile = look();
	uint64_t samples = 0, sum = 0, strangers = 0;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct pfs_seen_context *context =
			&profile->contexts[profile->samples[i].context];
		const char *name = profile->snapshot->instruments[context->instrument].name;
		uint64_t first = profile->stacks[context->stack].frames[0];
		if (strcmp(name, instrument) != 0)
			continue;
		samples++;
		sum += profile->samples[i].bytes;
		strangers += inside != 0 && (first < inside || first > inside + 512);
	}
	equal(samples, count, instrument);
	equal(sum, bytes, "bytes of its samples");
	equal(strangers, 0, "stacks that do not begin at the call");
	pfs_profile_free(profile);
}

static uint64_t samples_of(const char *user)
{
	struct pfs_seen_profile *profile = look();
	uint64_t samples = 0;
	for (uint32_t i = 0; i < profile->sample_count; i++)
		samples += strcmp(profile->contexts[profile->samples[i].context].user_name, user) ==
			   0;
	pfs_profile_free(profile);
	return samples;
}

int main(int argc, char **argv)
{
	void *blocks[BLOCKS];
	if (argc != 2)
		return fprintf(stderr, "usage: sampling_blocks FOLDER\n"), 2;
	open_books(argv[1], 1, 64, 64, 64);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "main", "alice", "here",
								   true);
	struct pfs_memory_thread *other = pfs_memory_thread_begin(books, "other", "bob", "there",
								  true);
	for (uint32_t i = 0; i < BLOCKS; i++)
		blocks[i] = malloc_here(thread, keys[i % 2], 1000 + i);
	check("memory/one/heap", 20, UINT64_C(20) * 1019, (uintptr_t)malloc_here);
	check("memory/two/heap", 20, UINT64_C(20) * 1020, (uintptr_t)malloc_here);
	for (uint32_t i = 0; i < BLOCKS; i += 2) {
		blocks[i] = pfs_memory_realloc(books, thread, keys[1], blocks[i], 5000);
		pfs_memory_claim(books, other, blocks[i + 1]);
	}
	check("memory/one/heap", 20, UINT64_C(20) * 5000, 0);
	check("memory/two/heap", 20, UINT64_C(20) * 1020, 0);
	equal(samples_of("bob"), 20, "samples that were claimed");
	pfs_memory_thread_end(thread);
	for (uint32_t i = 0; i < BLOCKS; i++)
		pfs_memory_free(books, i % 3 == 0 ? NULL : other, blocks[i]);
	pfs_memory_tick(books);
	check("memory/one/heap", 0, 0, 0);
	check("memory/two/heap", 0, 0, 0);
	equal(count_samples(), 80, "samples ever");
	pfs_memory_thread_end(other);
	pfs_reader_close(reader);
	pfs_memory_close(books);
	return failures != 0;
}
