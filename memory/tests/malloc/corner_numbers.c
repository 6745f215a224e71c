/*
 * corner_numbers.c - mallinfo and related calls belong to the malloc that runs, and are correct.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pfslab/malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corner.h"

#define BLOCKS 20000
#define BLOCK_BYTES 200
#define LARGE 20
#define LARGE_BYTES ((size_t)3 << 20)

static void *blocks[BLOCKS];

static const char *object_of(const char *symbol)
{
	Dl_info info;
	void *at = dlsym(RTLD_DEFAULT, symbol);
	if (at == NULL || dladdr(at, &info) == 0)
		return "nowhere";
	return info.dli_fname;
}

/* A call in another object would know nothing of our blocks. */
static void must_be_own(const char *const *symbols)
{
	const char *own = object_of("malloc");
	for (; *symbols != NULL; symbols++)
		CORNER_CHECK(strcmp(object_of(*symbols), own) == 0, "%s is in %s", *symbols,
			     object_of(*symbols));
}

CORNER(calls_in_one_object)
{
	static const char *const symbols[] = { "free",
					       "calloc",
					       "realloc",
					       "reallocarray",
					       "posix_memalign",
					       "aligned_alloc",
					       "memalign",
					       "valloc",
					       "pvalloc",
					       "malloc_usable_size",
					       NULL };
	must_be_own(symbols);
}

CORNER(reports_in_one_object)
{
	static const char *const symbols[] = { "mallinfo2", "mallinfo",     "malloc_trim",
					       "mallopt",   "malloc_stats", "malloc_info",
					       NULL };
	must_be_own(symbols);
}

/* C23 calls, looked up at run time; glibc has them since 2.43. */
CORNER(free_sized_calls)
{
	void (*free_sized)(void *, size_t) = NULL;
	void (*free_aligned_sized)(void *, size_t, size_t) = NULL;
	*(void **)&free_sized = dlsym(RTLD_DEFAULT, "free_sized");
	*(void **)&free_aligned_sized = dlsym(RTLD_DEFAULT, "free_aligned_sized");
	CORNER_CHECK(free_sized != NULL && free_aligned_sized != NULL, "not there");
	free_sized(NULL, 0);
	free_aligned_sized(NULL, 64, 0);
	size_t before = corner_resident_bytes();
	for (size_t i = 0; i < 30000; i++) {
		size_t size = 1 + i * 7 % 20000 * (i % 100 == 99 ? 30 : 1);
		free_sized(memset(malloc(size), 1, size), size);
		free_sized(calloc(1, size), size);
		size_t alignment = (size_t)16 << i % 9;
		size_t whole = (size + alignment - 1) / alignment * alignment;
		free_aligned_sized(memset(aligned_alloc(alignment, whole), 1, whole), alignment,
				   whole);
	}
	CORNER_CHECK(corner_resident_bytes() < before + ((size_t)24 << 20), "they free nothing");
}

/* Bytes in use: glibc counts mapped blocks separately, others count all together. */
static size_t in_use(bool large)
{
	struct mallinfo2 now = mallinfo2();
	return large && now.hblkhd > 0 ? now.uordblks + now.hblkhd : now.uordblks;
}

static void check_growth(const char *what, size_t before, size_t after, size_t asked)
{
	CORNER_CHECK(after - before >= asked && after - before <= asked + asked * 2 / 5 + 200000,
		     "%s: %zu bytes were allocated, and the number grew by %zd", what, asked,
		     (ssize_t)(after - before));
}

static void *free_late(void *key)
{
	(void)pthread_setspecific(*(pthread_key_t *)key, malloc(BLOCK_BYTES));
	return NULL;
}

/* A thread's last destructors free after the thread's cache is gone; several may do so at once. */
CORNER(late_frees_counted)
{
	static pthread_key_t key;
	void (*count)(struct pfs_malloc_counts *) = NULL;
	struct pfs_malloc_counts before, after;
	*(void **)&count = dlsym(RTLD_DEFAULT, "pfs_malloc_count");
	if (count == NULL)
		corner_skip("an allocator without such counts");
	CORNER_CHECK(pthread_key_create(&key, free) == 0, "no key");
	corner_threads(4, free_late, &key);
	count(&before);
	for (unsigned i = 0; i < 250; i++)
		corner_threads(4, free_late, &key);
	count(&after);
	uint64_t live = after.mallocs - before.mallocs - (after.frees - before.frees);
	CORNER_CHECK(after.mallocs - before.mallocs >= 1000, "fewer mallocs than threads");
	CORNER_CHECK(live <= 8, "%" PRIu64 " more mallocs than frees", live);
}

/* Of glibc's documentation: both together are what came from the system. */
CORNER(mallinfo2_adds_up)
{
	struct mallinfo2 before = mallinfo2();
	void *block = malloc(corner_opaque((size_t)100 << 20));
	struct mallinfo2 after = mallinfo2();
	size_t grown = after.arena + after.hblkhd - before.arena - before.hblkhd;
	CORNER_CHECK(grown >= (size_t)100 << 20 && grown < (size_t)130 << 20,
		     "100 MiB were allocated, and arena and hblkhd grew by %zu", grown);
	free(block);
}

/* Programs that go past a library in front of malloc: blocks are of one heap all the same. */
CORNER(glibc_names)
{
	void *(*get)(size_t) = NULL, *(*align)(size_t, size_t) = NULL;
	void (*give)(void *) = NULL;
	*(void **)&get = dlsym(RTLD_DEFAULT, "__libc_malloc");
	*(void **)&align = dlsym(RTLD_DEFAULT, "__libc_memalign");
	*(void **)&give = dlsym(RTLD_DEFAULT, "__libc_free");
	if (get == NULL || align == NULL || give == NULL)
		corner_skip("no such names");
	free(get(100));
	free(align(64, 100));
	give(malloc(100));
}

static void check_gone(size_t before)
{
	size_t now = in_use(false);
	CORNER_CHECK(now < before + 200000, "%zu bytes in use after the frees, %zu before", now,
		     before);
}

static void *allocate_blocks(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(BLOCK_BYTES);
	return NULL;
}

static void *free_blocks(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return NULL;
}

CORNER(mallinfo2_small)
{
	free(malloc(BLOCK_BYTES));
	size_t before = in_use(false);
	(void)allocate_blocks(NULL);
	size_t full = in_use(false);
	check_growth("own thread", before, full, (size_t)BLOCKS * BLOCK_BYTES);
	(void)free_blocks(NULL);
	check_gone(before);
}

CORNER(mallinfo2_large)
{
	void *large[LARGE];
	size_t before = in_use(true);
	for (int i = 0; i < LARGE; i++)
		large[i] = malloc(LARGE_BYTES);
	check_growth("large", before, in_use(true), LARGE * LARGE_BYTES);
	for (int i = 0; i < LARGE; i++)
		free(large[i]);
	CORNER_CHECK(in_use(true) < before + 200000, "%zu bytes in use after the frees",
		     in_use(true));
}

/* Blocks of a thread that has ended are still in use, and another thread's frees end that. */
CORNER(mallinfo2_threads)
{
	corner_threads(1, allocate_blocks, NULL);
	corner_threads(1, free_blocks, NULL);
	size_t before = in_use(false);
	corner_threads(1, allocate_blocks, NULL);
	check_growth("other thread", before, in_use(false), (size_t)BLOCKS * BLOCK_BYTES);
	corner_threads(1, free_blocks, NULL);
	check_gone(before);
}

CORNER(mallinfo_small)
{
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	struct mallinfo before = mallinfo();
	(void)allocate_blocks(NULL);
	struct mallinfo full = mallinfo();
	check_growth("mallinfo", (size_t)before.uordblks, (size_t)full.uordblks,
		     (size_t)BLOCKS * BLOCK_BYTES);
	CORNER_CHECK(full.arena + full.hblkhd >= full.uordblks, "more in use than there is");
	(void)free_blocks(NULL);
}

CORNER(mallinfo2_sums)
{
	(void)allocate_blocks(NULL);
	for (unsigned i = 0; i < BLOCKS; i += 2)
		free(blocks[i]);
	struct mallinfo2 now = mallinfo2();
	CORNER_CHECK(now.arena + now.hblkhd >= now.uordblks, "%zu + %zu bytes, %zu in use",
		     now.arena, now.hblkhd, now.uordblks);
	CORNER_CHECK(now.fordblks >= (size_t)BLOCKS / 2 * BLOCK_BYTES * 9 / 10,
		     "%zu bytes are free, by its account", now.fordblks);
}

CORNER(trim_gives_back)
{
	size_t before = corner_resident_bytes();
	void **many = calloc(60000, sizeof(*many));
	for (int i = 0; i < 60000; i++)
		many[i] = memset(malloc(1000), 1, 1000);
	size_t full = corner_resident_bytes();
	CORNER_CHECK(full - before > (size_t)50 << 20, "only %zu bytes more", full - before);
	for (int i = 0; i < 60000; i++)
		free(many[i]);
	free(many);
	size_t freed = corner_resident_bytes();
	int answer = malloc_trim(0);
	size_t after = corner_resident_bytes();
	CORNER_CHECK(answer == 0 || answer == 1, "malloc_trim said %d", answer);
	CORNER_CHECK(after < before + ((size_t)6 << 20), "it left %zu MiB of 60 (before it: %zu)",
		     (after - before) >> 20, (freed - before) >> 20);
	CORNER_CHECK(answer == 1 || freed - after < 65536, "it said 0, and gave back");
}

CORNER(mallopt_answers)
{
	static const int parameters[][2] = { { M_ARENA_MAX, 2 },
					     { M_MMAP_THRESHOLD, 1 << 20 },
					     { M_TRIM_THRESHOLD, 1 << 20 },
					     { M_TOP_PAD, 1 << 16 },
					     { M_MMAP_MAX, 1000 },
					     { M_ARENA_TEST, 2 },
					     { M_MXFAST, 64 },
					     { M_CHECK_ACTION, 3 } };
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		CORNER_CHECK(mallopt(parameters[i][0], parameters[i][1]) == 1,
			     "mallopt(%d, %d) is 0", parameters[i][0], parameters[i][1]);
	(void)allocate_blocks(NULL);
	(void)free_blocks(NULL);
}

/* Writes something readable on stderr, and nothing on stdout. */
CORNER(stats_on_stderr)
{
	char path[] = "/tmp/corner_numbers_XXXXXX";
	int file = mkstemp(path), kept = dup(STDERR_FILENO);
	CORNER_CHECK(file >= 0 && dup2(file, STDERR_FILENO) >= 0, "no file");
	(void)unlink(path);
	malloc_stats();
	(void)fflush(stderr);
	(void)dup2(kept, STDERR_FILENO);
	off_t length = lseek(file, 0, SEEK_END);
	CORNER_CHECK(length > 20, "%ld bytes were printed", (long)length);
	corner_note("%ld bytes", (long)length);
}

CORNER(info_is_xml)
{
	static char text[1 << 20];
	FILE *file = fmemopen(text, sizeof(text), "w");
	CORNER_CHECK(malloc_info(0, file) == 0, "not 0");
	(void)fclose(file);
	size_t length = strlen(text);
	CORNER_CHECK(strncmp(text, "<malloc version=", 16) == 0, "it begins with %.30s", text);
	CORNER_CHECK(length > 40 && strncmp(text + length - 10, "</malloc>\n", 10) == 0,
		     "it does not end with </malloc>");
	int open_tags = 0;
	for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
		const char *end = strchr(at, '>');
		CORNER_CHECK(end != NULL, "a tag without an end");
		open_tags += at[1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
	}
	CORNER_CHECK(open_tags == 0, "%d tags stay open", open_tags);
	CORNER_CHECK(malloc_info(1, stderr) == EINVAL, "options 1 are taken");
}
