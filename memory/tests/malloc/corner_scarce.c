/*
 * corner_scarce.c - memory runs out: limits on address space and data, threads at the limit,
 * overcommit_memory=2. NULL with ENOMEM is correct; after frees there must be memory again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "corner.h"

#define ROOM ((size_t)192 << 20)
#define CROWD 8
#define NOBODY 65534
#define FAR_BYTES ((size_t)8 << 30)
#define LOCKED_STEP ((size_t)3 << 20)

struct link {
	struct link *next;
	size_t size;
};

/* The blocks allocated until NULL, linked through themselves, and their usable bytes. */
struct heap {
	struct link *first;
	size_t bytes;
	size_t count;
};

static bool push(struct heap *self, size_t size)
{
	errno = 0;
	struct link *one = malloc(size);
	if (one == NULL)
		return false;
	one->next = self->first;
	one->size = size;
	((unsigned char *)one)[size - 1] = 1;
	self->first = one;
	self->bytes += malloc_usable_size(one);
	self->count++;
	return true;
}

static void fill(struct heap *self, size_t size)
{
	while (push(self, size))
		continue;
	CORNER_CHECK(errno == ENOMEM, "NULL with errno %d", errno);
}

static void clear(struct heap *self)
{
	while (self->first != NULL) {
		struct link *one = self->first;
		self->first = one->next;
		free(one);
	}
	memset(self, 0, sizeof(*self));
}

static void limit_address_space(size_t room)
{
	size_t used = corner_address_bytes();
	const struct rlimit at = { used + room, used + room };
	CORNER_CHECK(setrlimit(RLIMIT_AS, &at) == 0, "setrlimit: %s", strerror(errno));
}

/* One size after the other uses all memory: what one size freed must serve the next. */
static void sizes_in_turn(size_t at_least)
{
	static const size_t sizes[] = { 16,     100,     1000,   5000, 14336, 40000,
					300000, 3000000, 100000, 2000, 48,    16 };
	struct heap heap = { 0 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fill(&heap, sizes[i]);
		CORNER_CHECK(heap.bytes >= at_least, "only %zu MiB in blocks of %zu bytes",
			     heap.bytes >> 20, sizes[i]);
		clear(&heap);
	}
}

CORNER(address_space_sizes)
{
	free(malloc(100));
	limit_address_space(ROOM);
	sizes_in_turn(ROOM / 2);
}

/* This limit counts what overcommit_memory=2 counts: private writable mappings. */
CORNER(data_limit_sizes)
{
	free(malloc(100));
	const struct rlimit at = { ROOM, ROOM };
	CORNER_CHECK(setrlimit(RLIMIT_DATA, &at) == 0, "setrlimit: %s", strerror(errno));
	sizes_in_turn(ROOM / 3);
}

/* Mixed sizes, and every allocating call, at the limit. */
CORNER(address_space_calls)
{
	struct heap heap = { 0 };
	limit_address_space(ROOM);
	for (int round = 0; round < 3; round++) {
		unsigned char *kept = malloc(1000);
		void *aligned = &heap;
		corner_stamp(kept, 1000, 1);
		fill(&heap, 100000);
		fill(&heap, 1000);
		fill(&heap, sizeof(struct link));
		size_t large = corner_opaque((size_t)64 << 20);
		CORNER_CHECK(realloc(kept, large) == NULL && errno == ENOMEM, "realloc");
		CORNER_CHECK(corner_stamp_differs(kept, 1000, 1) == 1000, "realloc wrote");
		CORNER_CHECK(calloc(1, large) == NULL && errno == ENOMEM, "calloc");
		CORNER_CHECK(memalign(4096, large) == NULL && errno == ENOMEM, "memalign");
		CORNER_CHECK(posix_memalign(&aligned, 64, large) == ENOMEM, "posix_memalign");
		CORNER_CHECK(aligned == &heap, "posix_memalign wrote");
		free(kept);
		clear(&heap);
		void *again = malloc(ROOM / 3);
		CORNER_CHECK(again != NULL, "no 64 MiB in round %d", round);
		free(again);
	}
}

/* Programs do not check whether a shrink failed: without memory the block stays where it is. */
CORNER(address_space_shrinks)
{
	static const size_t sizes[] = { 100, 1000, 14000, 100000, 3000000 };
	enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
	unsigned char *blocks[COUNT];
	struct heap heap = { 0 };
	limit_address_space(ROOM);
	for (unsigned i = 0; i < COUNT; i++) {
		blocks[i] = malloc(sizes[i]);
		corner_stamp(blocks[i], sizes[i], i);
	}
	for (size_t size = 100000; size >= sizeof(struct link); size /= 2)
		fill(&heap, size);
	for (unsigned i = 0; i < COUNT; i++) {
		errno = 0;
		unsigned char *less = realloc(blocks[i], sizeof(struct link));
		CORNER_CHECK(less != NULL, "%zu bytes are no %zu", sizes[i], sizeof(struct link));
		CORNER_CHECK(errno == 0, "errno %d, although it succeeded", errno);
		CORNER_CHECK(corner_stamp_differs(less, sizeof(struct link), i) ==
				     sizeof(struct link),
			     "%zu bytes changed", sizes[i]);
		free(less);
	}
	clear(&heap);
}

static pthread_barrier_t met;

static void *fill_beside_others(void *unused)
{
	static const size_t sizes[] = { 40, 3000, 200, 70000, 16 };
	struct heap heap = { 0 };
	(void)unused;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		(void)pthread_barrier_wait(&met);
		fill(&heap, sizes[i]);
		clear(&heap);
		(void)pthread_barrier_wait(&met);
		void *blocks[200];
		for (int k = 0; k < 200; k++) {
			blocks[k] = malloc(sizes[i] < 5000 ? sizes[i] : 5000);
			CORNER_CHECK(blocks[k] != NULL, "NULL for %zu, although all was freed",
				     sizes[i]);
		}
		for (int k = 0; k < 200; k++)
			free(blocks[k]);
	}
	return NULL;
}

CORNER(address_space_threads)
{
	(void)pthread_barrier_init(&met, NULL, CROWD);
	limit_address_space(ROOM + ((size_t)8 << 20));
	corner_threads(CROWD, fill_beside_others, NULL);
}

/* Threads that start without memory left get NULL or memory, and never crash. */
static void *ask_once(void *unused)
{
	(void)unused;
	for (size_t size = 8; size < (size_t)1 << 20; size *= 2) {
		char *block = malloc(size);
		if (block != NULL)
			block[size - 1] = 1;
		free(block);
		errno = 0;
		block = calloc(1, size);
		CORNER_CHECK(block != NULL || errno == ENOMEM, "NULL with errno %d", errno);
		free(block);
	}
	return NULL;
}

static void start_some(void)
{
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, ask_once, NULL) == 0)
			(void)pthread_join(thread, NULL);
	}
}

/* Stacks were allocated before; new threads reuse them. */
CORNER(address_space_new_threads)
{
	struct heap heap = { 0 };
	start_some();
	limit_address_space(ROOM);
	fill(&heap, 100000);
	fill(&heap, 1000);
	fill(&heap, sizeof(struct link));
	start_some();
	clear(&heap);
	start_some();
	CORNER_CHECK(malloc(ROOM / 3) != NULL, "no 64 MiB afterwards");
}

/* The program is under the limit before its first malloc. */
CORNER(small_from_the_start)
{
	struct heap heap = { 0 };
	if (getenv("CORNER_AGAIN") == NULL) {
		const struct rlimit at = { (size_t)48 << 20, (size_t)48 << 20 };
		CORNER_CHECK(setrlimit(RLIMIT_AS, &at) == 0, "setrlimit");
		corner_again("CORNER_AGAIN", "1");
	}
	fill(&heap, 1000);
	CORNER_CHECK(heap.bytes >= (size_t)16 << 20, "only %zu MiB of 48", heap.bytes >> 20);
	corner_note("%zu MiB of 48", heap.bytes >> 20);
	clear(&heap);
}

/* The number of mappings is exhausted (vm.max_map_count); unmapping a part splits a mapping. */
CORNER(mappings_exhausted)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 70000;
	struct heap heap = { 0 };
	free(malloc(100));
	char *area = mmap(NULL, pages * page * 2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t made = 0;
	while (made < pages && mprotect(area + made * 2 * page, page, PROT_NONE) == 0)
		made++;
	if (made == pages)
		corner_skip("there is no limit on mappings");
	for (int i = 0; i < 2000; i++) {
		struct link *one = malloc(i % 7 == 0 ? 200000 : 700);
		if (one == NULL)
			continue;
		one->next = heap.first;
		heap.first = one;
	}
	clear(&heap);
	CORNER_CHECK(munmap(area, pages * page * 2) == 0, "munmap");
	CORNER_CHECK(malloc((size_t)16 << 20) != NULL, "no memory afterwards");
}

/* For a guest, or with CORNER_OVERCOMMIT set, because the setting affects the whole machine. */
CORNER(overcommit_never)
{
	struct heap heap = { 0 };
	FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");
	int mode = file != NULL ? fgetc(file) : 0;
	if (mode != '2')
		corner_skip("overcommit_memory is %c", mode);
	(void)fclose(file);
	fill(&heap, 500000);
	fill(&heap, 1000);
	corner_note("%zu MiB", heap.bytes >> 20);
	clear(&heap);
	fill(&heap, 1000);
	clear(&heap);
	CORNER_CHECK(malloc((size_t)16 << 20) != NULL, "no memory afterwards");
}

static void lock_all(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		corner_skip("mlockall: %s", strerror(errno));
}

/* With all memory locked nothing can go back to the system, and what is mapped is resident. */
CORNER(locked_memory)
{
	struct heap heap = { 0 };
	lock_all();
	size_t before = corner_resident_bytes();
	/* Where addresses are random, what is there at first may by chance lie on both sides of a
	 * bound of some structure; not twice. */
	if (before >= (size_t)16 << 20 && getenv("CORNER_AGAIN") == NULL)
		corner_again("CORNER_AGAIN", "1");
	CORNER_CHECK(before < (size_t)16 << 20, "%zu MiB resident before any use", before >> 20);
	corner_note("%zu KiB resident before any use", before >> 10);
	for (int round = 0; round < 3; round++) {
		for (size_t size = 40; size < 1000000; size *= 5)
			for (int i = 0; i < 20; i++)
				push(&heap, size);
		clear(&heap);
		(void)malloc_trim(0);
		for (size_t size = 40; size < 1000000; size *= 5) {
			unsigned char *zeroes = calloc(1, size);
			CORNER_CHECK(zeroes != NULL, "no %zu bytes", size);
			for (size_t at = 0; at < size; at++)
				CORNER_CHECK(zeroes[at] == 0, "byte %zu of %zu", at, size);
			memset(zeroes, 1, size);
			free(zeroes);
		}
	}
}

/* Each call makes resident what it returns, a bounded step beyond it, and no metadata that is not
 * touched: here addresses begin whose metadata is new. */
CORNER(locked_growth)
{
	struct heap heap = { 0 };
	void *far = mmap(NULL, FAR_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CORNER_CHECK(far != MAP_FAILED, "mmap: %s", strerror(errno));
	lock_all();
	size_t begin = corner_resident_bytes();
	size_t before = begin, most = 0;
	while (heap.bytes < (size_t)96 << 20) {
		size_t size = heap.count % 2 == 0 ? 30000 : 20000;
		CORNER_CHECK(push(&heap, size), "no memory");
		size_t now = corner_resident_bytes();
		most = now > before + most ? now - before : most;
		before = now;
	}
	corner_note("%zu KiB resident for %zu, at most %zu by a call", (before - begin) >> 10,
		    heap.bytes >> 10, most >> 10);
	CORNER_CHECK(most <= LOCKED_STEP, "a call made %zu KiB resident", most >> 10);
	clear(&heap);
}

/* What is freed while it is locked goes back once it is not. */
CORNER(locked_and_unlocked)
{
	struct heap heap = { 0 };
	size_t before = corner_resident_bytes();
	lock_all();
	while (heap.bytes < (size_t)64 << 20)
		CORNER_CHECK(push(&heap, 30000), "no memory");
	clear(&heap);
	(void)malloc_trim(0);
	CORNER_CHECK(munlockall() == 0, "munlockall: %s", strerror(errno));
	(void)malloc_trim(0);
	size_t after = corner_resident_bytes();
	corner_note("%zu KiB resident, %zu afterwards", before >> 10, after >> 10);
	CORNER_CHECK(after < before + ((size_t)24 << 20), "%zu MiB stay resident", after >> 20);
}

/* Without the privilege to lock as much as it likes, a program gets NULL at the limit. */
CORNER(locked_limit)
{
	struct rlimit at = { 0, 0 };
	free(malloc(100)); /* metadata of these addresses is not locked */
	CORNER_CHECK(getrlimit(RLIMIT_MEMLOCK, &at) == 0, "getrlimit: %s", strerror(errno));
	at.rlim_max = at.rlim_max < ROOM ? at.rlim_max : ROOM;
	at.rlim_cur = at.rlim_max;
	CORNER_CHECK(setrlimit(RLIMIT_MEMLOCK, &at) == 0, "setrlimit: %s", strerror(errno));
	if (geteuid() == 0 && setuid(NOBODY) != 0)
		corner_skip("setuid: %s", strerror(errno));
	if (mlockall(MCL_FUTURE) != 0)
		corner_skip("mlockall: %s", strerror(errno));
	corner_note("%zu KiB may be locked", (size_t)at.rlim_cur >> 10);
	/* A small limit may be spent on metadata and on accounts. */
	sizes_in_turn(at.rlim_cur == ROOM ? ROOM / 2 : 0);
}
