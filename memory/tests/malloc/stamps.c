/*
 * stamps.c - stamps every byte of every block, in threads that start and end, hand blocks over,
 * fork and die. Stamps are checked at each hand-over, realloc and free, so overlapping blocks are
 * found.
 *
 * usage: stamps [--seconds N] [--threads N] [--bytes N] [--seed N] [--large PERCENT] [--forks N]
 * Apart from the blocks all state is in static tables, under mutexes: what is tested is the malloc
 * of this process. Choices follow the seed; schedules depend on the machine.
 * Exit 0: no byte was wrong. 1: one was; the line says where, and the seed. 2: bad usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define OWN 256   /* blocks that a thread holds */
#define DEPOT 512 /* blocks on the way to another thread */
#define DEPOT_LARGE 16
#define LIFE 20000 /* steps of a thread before it ends and another one starts */
#define LARGEST ((size_t)8 << 20)
#define CHILD_SECONDS 60

struct block {
	unsigned char *bytes;
	size_t size;
	uint64_t seed;
};

struct options {
	double seconds;
	unsigned threads, large_percent, forks;
	size_t bytes;
	uint64_t seed;
};

struct worker {
	uint64_t random;
	size_t held_bytes;
	uint64_t steps, handed;
	struct block own[OWN];
	pthread_t native;
	unsigned index;
};

static struct options options = { 3, 4, 2, 3, (size_t)128 << 20, 1 };
static pthread_mutex_t depot_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block depot[DEPOT];
static struct worker workers[THREADS_MAX];
static double stop_at;
static uint64_t step_count, handed_count, thread_count, fork_count;

static double now(void)
{
	struct timespec at;
	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static uint64_t next_random(struct worker *self)
{
	self->random += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t mixed = (self->random ^ (self->random >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return mixed ^ (mixed >> 29);
}

__attribute__((noreturn)) static void wrong(const char *when, const struct block *block, size_t at)
{
	char line[300];
	int length = snprintf(
		line, sizeof(line), "stamps: %s: byte %zu of the %zu at %p is wrong (seed %llu)\n",
		when, at, block->size, (void *)block->bytes, (unsigned long long)options.seed);
	(void)!write(STDERR_FILENO, line, (size_t)length);
	_exit(1);
}

static uint64_t word_of(uint64_t seed, size_t at)
{
	return (seed + at) * UINT64_C(0xd6e8feb86659fd93);
}

static void stamp(const struct block *block)
{
	size_t words = block->size / 8;
	for (size_t i = 0; i < words; i++) {
		uint64_t word = word_of(block->seed, i);
		memcpy(block->bytes + i * 8, &word, 8);
	}
	for (size_t i = words * 8; i < block->size; i++)
		block->bytes[i] = (unsigned char)(block->seed + i);
}

/* Check the first `size` bytes, which were stamped for the block's own size. */
static void check(const struct block *block, size_t size, const char *when)
{
	size_t words = size / 8, whole = block->size / 8;
	for (size_t i = 0; i < words; i++) {
		uint64_t word;
		memcpy(&word, block->bytes + i * 8, 8);
		if (word != word_of(block->seed, i))
			wrong(when, block, i * 8);
	}
	for (size_t i = words * 8; i < size; i++) {
		uint64_t word = word_of(block->seed, i / 8);
		unsigned char bytes[8];
		memcpy(bytes, &word, 8);
		unsigned char is = i / 8 < whole ? bytes[i % 8] : (unsigned char)(block->seed + i);
		if (block->bytes[i] != is)
			wrong(when, block, i);
	}
}

/* All magnitudes are equally likely; a few sizes are large. */
static size_t random_size(struct worker *self)
{
	uint64_t random = next_random(self);
	uint64_t bits = random % 100 < options.large_percent ? 15 + (random >> 8) % 9
							     : 3 + (random >> 8) % 12;
	size_t size = (size_t)1 << bits;
	size = size / 2 + (random >> 16) % size;
	return size > LARGEST ? LARGEST : size;
}

static void *allocate(struct worker *self, size_t size)
{
	uint64_t random = next_random(self);
	size_t alignment = (size_t)8 << (random >> 8) % 14;
	void *block = NULL;
	switch (random % 8) {
	case 0:
		block = calloc(1, size);
		for (size_t i = 0; block != NULL && i < size; i++)
			if (((unsigned char *)block)[i] != 0)
				wrong("calloc", &(struct block){ block, size, 0 }, i);
		return block;
	case 1:
		if (posix_memalign(&block, alignment, size) != 0)
			return NULL;
		break;
	case 2: block = memalign(alignment, size); break;
	case 3:
		alignment = 16;
		block = realloc(NULL, size);
		break;
	default: alignment = 16; block = malloc(size);
	}
	if (alignment == 16 && size < 16)
		alignment = 1;
	if ((uintptr_t)block % alignment != 0) {
		(void)fprintf(stderr, "stamps: %zu bytes at a multiple of %zu are at %p\n", size,
			      alignment, block);
		_exit(1);
	}
	return block;
}

static void put_new(struct worker *self, struct block *block)
{
	block->size = random_size(self);
	if (self->held_bytes + block->size > options.bytes / options.threads)
		return;
	block->bytes = allocate(self, block->size);
	if (block->bytes == NULL)
		return;
	block->seed = next_random(self);
	self->held_bytes += block->size;
	stamp(block);
}

static void put_back(struct worker *self, struct block *block)
{
	if (block->bytes == NULL)
		return;
	check(block, block->size, "free");
	self->held_bytes -= block->size;
	free(block->bytes);
	block->bytes = NULL;
}

static void resize(struct worker *self, struct block *block)
{
	size_t size = next_random(self) % 3 == 0 ? random_size(self)
						 : block->size + next_random(self) % 200;
	size_t both = size < block->size ? size : block->size;
	if (self->held_bytes - block->size + size > options.bytes / options.threads)
		return;
	check(block, block->size, "before realloc");
	struct block moved = *block;
	moved.bytes = realloc(block->bytes, size);
	if (moved.bytes == NULL)
		return;
	check(&moved, both, "after realloc");
	self->held_bytes += size - block->size;
	moved.size = size;
	*block = moved;
	stamp(block);
}

/*
 * Exchange a block with a place of the depot, so that another thread frees it sooner or later.
 * Large blocks share a few places, so that the depot holds little.
 */
static void hand_over(struct worker *self, struct block *block)
{
	bool large = block->bytes != NULL && block->size > 65536;
	size_t at = next_random(self) % (large ? DEPOT_LARGE : DEPOT);
	if (block->bytes != NULL)
		self->held_bytes -= block->size;
	(void)pthread_mutex_lock(&depot_lock);
	struct block found = depot[at];
	depot[at] = *block;
	(void)pthread_mutex_unlock(&depot_lock);
	*block = found;
	self->handed++;
	if (block->bytes == NULL)
		return;
	self->held_bytes += block->size;
	check(block, block->size, "hand-over");
}

static void step(struct worker *self)
{
	uint64_t random = next_random(self);
	struct block *block = &self->own[random % OWN];
	self->steps++;
	if (block->bytes == NULL)
		put_new(self, block);
	else if ((random >> 32) % 8 == 0)
		resize(self, block);
	else if ((random >> 32) % 8 < 3)
		hand_over(self, block);
	else
		put_back(self, block);
}

static void *live(void *opaque)
{
	struct worker *self = opaque;
	for (unsigned i = 0; i < LIFE && (i % 64 != 0 || now() < stop_at); i++)
		step(self);
	/* Most threads leave nothing; some end with blocks, which the next thread with this index
	 * takes over. */
	if (next_random(self) % 4 != 0)
		for (unsigned i = 0; i < OWN; i++)
			put_back(self, &self->own[i]);
	return NULL;
}

static void start(unsigned index)
{
	struct worker *self = &workers[index];
	self->index = index;
	self->random ^= (options.seed + index) * UINT64_C(0x2545f4914f6cdd1d) + thread_count++;
	if (pthread_create(&self->native, NULL, live, self) != 0) {
		(void)fprintf(stderr, "stamps: no thread: %s\n", strerror(errno));
		exit(1);
	}
}

/* In the child: the thread's own blocks are intact, and three threads use the heap. */
static void live_in_child(struct worker *self)
{
	(void)alarm(CHILD_SECONDS);
	for (unsigned i = 0; i < OWN; i++)
		if (self->own[i].bytes != NULL)
			check(&self->own[i], self->own[i].size, "in the child of a fork");
	(void)pthread_mutex_init(&depot_lock, NULL);
	memset(depot, 0, sizeof(depot)); /* a hand-over may have been in progress */
	memset(workers, 0, sizeof(workers));
	stop_at = now() + 0.05;
	options.threads = 3;
	for (unsigned i = 0; i < 3; i++)
		start(i);
	for (unsigned i = 0; i < 3; i++)
		(void)pthread_join(workers[i].native, NULL);
	for (unsigned i = 0; i < OWN; i++)
		put_back(self, &self->own[i]);
	exit(0);
}

static void fork_once(struct worker *self)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0)
		live_in_child(self);
	fork_count++;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
		(void)fprintf(stderr, "stamps: the child of a fork ended with %#x (seed %llu)\n",
			      (unsigned)status, (unsigned long long)options.seed);
		exit(1);
	}
}

/* Threads are restarted in turn as they end; the main thread has blocks of its own, and forks. */
static void run(void)
{
	static struct worker own;
	double between = options.forks > 0 ? 1.0 / options.forks : 1e9, fork_at = now() + between;
	own.random = options.seed;
	stop_at = now() + options.seconds;
	for (unsigned i = 0; i < options.threads; i++)
		start(i);
	for (unsigned i = 0; now() < stop_at; i = (i + 1) % options.threads) {
		for (unsigned k = 0; k < 500; k++)
			step(&own);
		if (now() >= fork_at) {
			fork_once(&own);
			fork_at = now() + between;
		}
		if (pthread_tryjoin_np(workers[i].native, NULL) == 0)
			start(i);
	}
	for (unsigned i = 0; i < options.threads; i++) {
		struct worker *self = &workers[i];
		(void)pthread_join(self->native, NULL);
		for (unsigned k = 0; k < OWN; k++)
			put_back(self, &self->own[k]);
		step_count += self->steps;
		handed_count += self->handed;
	}
	for (unsigned k = 0; k < OWN; k++)
		put_back(&own, &own.own[k]);
	for (unsigned k = 0; k < DEPOT; k++)
		put_back(&own, &depot[k]);
	step_count += own.steps;
}

static double number(const char *text)
{
	char *end = NULL;
	double value = strtod(text, &end);
	if (end == text || *end != 0 || value < 0 || value > 1e15) {
		(void)fprintf(stderr, "stamps: %s: not a number\n", text);
		exit(2);
	}
	return value;
}

static void parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		double value = i + 1 < argc ? number(argv[i + 1]) : -1;
		if (value >= 0 && strcmp(argv[i], "--seconds") == 0) {
			options.seconds = value;
		} else if (value >= 1 && strcmp(argv[i], "--threads") == 0) {
			options.threads = value < THREADS_MAX ? (unsigned)value : THREADS_MAX;
		} else if (value >= 0 && strcmp(argv[i], "--bytes") == 0) {
			options.bytes = (size_t)value;
		} else if (value >= 0 && strcmp(argv[i], "--seed") == 0) {
			options.seed = (uint64_t)value;
		} else if (value >= 0 && value <= 100 && strcmp(argv[i], "--large") == 0) {
			options.large_percent = (unsigned)value;
		} else if (value >= 0 && value <= 1000 && strcmp(argv[i], "--forks") == 0) {
			options.forks = (unsigned)value;
		} else {
			(void)fprintf(stderr,
				      "usage: stamps [--seconds N] [--threads 1..%d] "
				      "[--bytes N] [--seed N] [--large PERCENT] [--forks N]\n",
				      THREADS_MAX);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	run();
	(void)printf("stamps: %llu steps, %llu hand-overs, %llu threads, %llu forks, seed %llu\n",
		     (unsigned long long)step_count, (unsigned long long)handed_count,
		     (unsigned long long)thread_count, (unsigned long long)fork_count,
		     (unsigned long long)options.seed);
	return 0;
}
