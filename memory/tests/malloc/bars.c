/*
 * bars.c - how much memory stays: programs whose resident set is measured, one for each run.
 *
 * usage: bars idle_own | idle_other | queue | parked | grown | tiny
 * idle_own    8 threads allocate 32 MiB each of 16 to 8192 bytes, free it, and stay idle
 * idle_other  the same, but each thread frees its neighbour's blocks
 * queue       16 threads allocate and one frees, through a queue that is always full
 * parked      400 threads free what 10 others allocated, and stay idle
 * grown       two blocks grow in turns by realloc, to 32 MiB each: the peak
 * tiny        a program that allocates next to nothing
 * Prints "name value" lines, in bytes unless the name says otherwise; bars.py makes the table. The
 * program's own tables are mapped, and either touched before the first measurement or unmapped
 * before the last, so that differences are due to malloc.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define IDLE_THREADS 8
#define IDLE_BYTES ((size_t)32 << 20)
#define IDLE_BLOCKS 65536
#define PRODUCERS 16
#define QUEUE_BLOCKS 65536
#define QUEUE_LOW (QUEUE_BLOCKS / 16 * 15)
#define QUEUE_SAMPLES 40
#define FREERS 400
#define GIVERS 10
#define GIVEN 1000 /* for each of the 400 */
#define GROWN_BYTES ((size_t)32 << 20)
#define STACK_BYTES ((size_t)64 << 10)

static pthread_barrier_t met;
static pthread_attr_t attributes;

__attribute__((noreturn)) static void die(const char *what)
{
	(void)fprintf(stderr, "bars: %s\n", what);
	exit(1);
}

/* Without stdio, which would allocate. */
static size_t resident_bytes(void)
{
	char text[100] = "";
	int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, text, sizeof(text) - 1) <= 0)
		die("statm");
	(void)close(file);
	char *second = strchr(text, ' ');
	return (size_t)strtoull(second, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void *map(size_t bytes)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	if (mapped == MAP_FAILED)
		die("mmap");
	return mapped;
}

static uint64_t next_random(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t mixed = (*state ^ (*state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return mixed ^ (mixed >> 29);
}

static void *filled(size_t size)
{
	void *block = malloc(size);
	if (block == NULL)
		die("no memory");
	return memset(block, 1, size);
}

static void meet(void)
{
	(void)pthread_barrier_wait(&met);
}

static void start(unsigned count, void *(*body)(void *))
{
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (uintptr_t i = 0; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, &attributes, body, (void *)i) != 0)
			die("no thread");
	}
}

/* ---- idle ---- */

static void **idle_blocks[IDLE_THREADS];
static size_t idle_counts[IDLE_THREADS];
static unsigned idle_shift;

static void shuffle(void **blocks, size_t count, uint64_t *random)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = next_random(random) % i;
		void *kept = blocks[i - 1];
		blocks[i - 1] = blocks[k];
		blocks[k] = kept;
	}
}

static void *idle_thread(void *index)
{
	unsigned own = (unsigned)(uintptr_t)index;
	uint64_t random = own + 1;
	meet();
	size_t bytes = 0, count = 0;
	while (bytes < IDLE_BYTES && count < IDLE_BLOCKS) {
		uint64_t magnitude = (uint64_t)16 << next_random(&random) % 9;
		size_t size = (size_t)(magnitude + next_random(&random) % magnitude);
		idle_blocks[own][count++] = filled(size);
		bytes += size;
	}
	shuffle(idle_blocks[own], count, &random);
	idle_counts[own] = count;
	meet();
	unsigned whose = (own + idle_shift) % IDLE_THREADS;
	meet();
	for (size_t i = 0; i < idle_counts[whose]; i++)
		free(idle_blocks[whose][i]);
	meet();
	meet();
	return NULL;
}

static void idle(bool other)
{
	idle_shift = other;
	for (unsigned i = 0; i < IDLE_THREADS; i++)
		idle_blocks[i] = map(IDLE_BLOCKS * sizeof(void *));
	(void)pthread_barrier_init(&met, NULL, IDLE_THREADS + 1);
	start(IDLE_THREADS, idle_thread);
	meet();
	meet();
	size_t peak = resident_bytes();
	meet();
	meet();
	for (unsigned i = 0; i < IDLE_THREADS; i++)
		(void)munmap(idle_blocks[i], IDLE_BLOCKS * sizeof(void *));
	size_t at[4];
	for (unsigned second = 0; second <= 3; second++) {
		at[second] = resident_bytes();
		(void)sleep(second < 3);
	}
	(void)printf("peak %zu\nat_once %zu\nafter_1_s %zu\nafter_3_s %zu\n", peak, at[0], at[1],
		     at[3]);
}

/* ---- queue ---- */

struct entry {
	void *block;
	size_t size;
};

static struct entry *queue;
static size_t queue_first, queue_count, queue_live, queue_freed;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_room = PTHREAD_COND_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;

static void *produce(void *index)
{
	uint64_t random = (uintptr_t)index + 1;
	meet();
	for (;;) {
		size_t size = 16 + next_random(&random) % 500;
		const struct entry entry = { filled(size), size };
		(void)pthread_mutex_lock(&queue_lock);
		while (queue_count == QUEUE_BLOCKS)
			(void)pthread_cond_wait(&queue_room, &queue_lock);
		queue[(queue_first + queue_count++) % QUEUE_BLOCKS] = entry;
		queue_live += size;
		if (queue_count >= QUEUE_LOW)
			(void)pthread_cond_signal(&queue_filled);
		(void)pthread_mutex_unlock(&queue_lock);
	}
	return NULL;
}

/* Takes 64 at a time, and keeps the queue nearly full. */
static void *consume(void *unused)
{
	struct entry batch[64];
	(void)unused;
	meet();
	for (;;) {
		(void)pthread_mutex_lock(&queue_lock);
		while (queue_count < QUEUE_LOW)
			(void)pthread_cond_wait(&queue_filled, &queue_lock);
		for (unsigned i = 0; i < 64; i++) {
			batch[i] = queue[(queue_first + i) % QUEUE_BLOCKS];
			queue_live -= batch[i].size;
		}
		queue_first = (queue_first + 64) % QUEUE_BLOCKS;
		queue_count -= 64;
		queue_freed += 64;
		(void)pthread_cond_broadcast(&queue_room);
		(void)pthread_mutex_unlock(&queue_lock);
		for (unsigned i = 0; i < 64; i++)
			free(batch[i].block);
	}
	return NULL;
}

static void queue_bar(void)
{
	double sum = 0, worst = 0;
	size_t live = 0;
	queue = memset(map(QUEUE_BLOCKS * sizeof(*queue)), 1, QUEUE_BLOCKS * sizeof(*queue));
	(void)pthread_barrier_init(&met, NULL, PRODUCERS + 2);
	start(PRODUCERS, produce);
	start(1, consume);
	(void)usleep(300000);
	size_t before = resident_bytes();
	meet();
	(void)sleep(1);
	for (unsigned i = 0; i < QUEUE_SAMPLES; i++) {
		(void)usleep(100000);
		size_t resident = resident_bytes();
		(void)pthread_mutex_lock(&queue_lock);
		live = queue_live;
		(void)pthread_mutex_unlock(&queue_lock);
		double ratio = (double)(resident - before) / (double)live;
		sum += ratio;
		worst = ratio > worst ? ratio : worst;
	}
	(void)printf("live %zu\nmean_ratio %.3f\nworst_ratio %.3f\nfreed_blocks %zu\n", live,
		     sum / QUEUE_SAMPLES, worst, queue_freed);
}

/* ---- parked ---- */

static void **given; /* FREERS x GIVEN */

static void *give(void *index)
{
	uint64_t random = (uintptr_t)index + 1;
	meet();
	for (size_t i = (uintptr_t)index; i < (size_t)FREERS * GIVEN; i += GIVERS)
		given[i] = filled(16 + next_random(&random) % 1000);
	meet();
	meet();
	return NULL;
}

static void *only_free(void *index)
{
	size_t first = (uintptr_t)index * GIVEN;
	meet();
	meet();
	for (size_t i = first; i < first + GIVEN; i++)
		free(given[i]);
	meet();
	pause();
	return NULL;
}

static void parked(void)
{
	(void)pthread_barrier_init(&met, NULL, FREERS + GIVERS + 1);
	start(FREERS, only_free);
	start(GIVERS, give);
	(void)usleep(500000);
	size_t before = resident_bytes();
	given = map(FREERS * GIVEN * sizeof(void *));
	meet();
	meet();
	meet();
	(void)munmap(given, FREERS * GIVEN * sizeof(void *));
	size_t at_once = resident_bytes();
	(void)sleep(3);
	size_t later = resident_bytes();
	(void)printf("before %zu\nat_once_each %zd\nafter_3_s %zu\nafter_3_s_each %zd\n", before,
		     (ssize_t)(at_once - before) / FREERS, later,
		     (ssize_t)(later - before) / FREERS);
}

/* ---- grown ---- */

/* In turns, so that usually neither can grow in place. */
static void grown(void)
{
	char *blocks[2] = { NULL, NULL };
	size_t before = resident_bytes();
	for (size_t bytes = (size_t)64 << 10; bytes <= GROWN_BYTES; bytes *= 2) {
		for (size_t i = 0; i < 2; i++) {
			blocks[i] = realloc(blocks[i], bytes);
			if (blocks[i] == NULL)
				die("no memory");
			memset(blocks[i] + bytes / 2, 1, bytes / 2);
		}
	}
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) != 0)
		die("getrusage");
	double peak = (double)usage.ru_maxrss * 1024 - (double)before;
	(void)printf("peak_ratio %.3f\n", peak / (2.0 * GROWN_BYTES));
}

/* ---- tiny ---- */

/* Resident bytes of the last mapping of code in a file of that name: in libpfsmalloc.so, what few
 * programs run. */
static unsigned long long last_code_bytes(const char *name)
{
	char line[500], access[5] = "";
	unsigned long long kib = 0, bytes = 0;
	bool is_it = false;
	FILE *file = fopen("/proc/self/smaps", "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%*x-%*x %4s", access) == 1)
			is_it = access[2] == 'x' && strstr(line, name) != NULL;
		else if (is_it && sscanf(line, "Rss: %llu", &kib) == 1)
			bytes = kib * 1024;
	}
	return bytes;
}

static void tiny(void)
{
	char line[200];
	unsigned long long dirty = 0, part = 0;
	void *blocks[20];
	for (size_t i = 0; i < 20; i++)
		blocks[i] = filled(10 + i * 37);
	for (size_t i = 0; i < 20; i++)
		free(blocks[i]);
	size_t resident = resident_bytes();
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Private_Dirty: %llu", &part) == 1)
			dirty = part;
	(void)printf("resident %zu\nprivate_dirty %llu\nseldom %llu\n", resident, dirty * 1024,
		     last_code_bytes("libpfsmalloc.so"));
}

int main(int argc, char **argv)
{
	const char *bar = argc == 2 ? argv[1] : "";
	if (strcmp(bar, "idle_own") == 0 || strcmp(bar, "idle_other") == 0) {
		idle(strcmp(bar, "idle_other") == 0);
	} else if (strcmp(bar, "queue") == 0) {
		queue_bar();
	} else if (strcmp(bar, "parked") == 0) {
		parked();
	} else if (strcmp(bar, "grown") == 0) {
		grown();
	} else if (strcmp(bar, "tiny") == 0) {
		tiny();
	} else {
		(void)fprintf(stderr, "usage: bars idle_own|idle_other|queue|parked|grown|tiny\n");
		return 2;
	}
	(void)fflush(stdout);
	_exit(0);
}
