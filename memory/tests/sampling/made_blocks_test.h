/*
 * made_blocks_test.h - blocks whose stacks are known, as the library that counts makes them, and
 * threads that make and free them. For tests of samples, beside seen_test.h.
 */
#ifndef PFS_TESTS_SAMPLING_MADE_BLOCKS_TEST_H
#define PFS_TESTS_SAMPLING_MADE_BLOCKS_TEST_H

#include <pthread.h>

#include "memory/profile/profile.h"
#include "seen_test.h"

#define THREADS 8u
#define BLOCKS 400u

/* ---- as the library that counts does it: this function's caller is the program's call ---- */

struct block {
	struct pfs_cell *named; /* a cell or a sample */
	uint64_t bytes;
};

static __attribute__((noinline)) struct pfs_cell *allocate(struct pfs_memory_thread *thread,
							   pfs_memory_key key, uint64_t bytes)
{
	(void)pfs_memory_allocated(thread, key, bytes);
	struct pfs_cell *cell = thread->all_cells[key];
	struct pfs_sample_block block = { cell, bytes, pfs_sample_due(thread, cell, bytes), NULL };
	const uintptr_t *words = __builtin_frame_address(0);
	struct pfs_stack_from from = { __builtin_return_address(0), words[0],
				       (uintptr_t)&words[1] };
	struct pfs_box_sample *sample = block.lg != 0 ? pfs_sample_take(thread, &block, &from)
						      : NULL;
	return sample != NULL ? (struct pfs_cell *)(void *)sample : cell;
}

/* Functions that call it from distinct places, through a varying number of callers. */
typedef struct block call(struct pfs_memory_thread *thread, pfs_memory_key key, uint64_t bytes,
			  uint32_t depth);
#define CALL(name)                                                                             \
	static __attribute__((noinline)) struct block name(struct pfs_memory_thread *thread,   \
							   pfs_memory_key key, uint64_t bytes, \
							   uint32_t depth)                     \
	{                                                                                      \
		struct block block = { NULL, bytes };                                          \
		if (depth != 0)                                                                \
			block = name(thread, key, bytes, depth - 1);                           \
		else                                                                           \
			block.named = allocate(thread, key, bytes);                            \
		__asm__ volatile("" : : "r"(&block) : "memory");                               \
		return block;                                                                  \
	}
CALL(one)
CALL(two)
static call *const calls[] = { one, two };

static struct block block_new(struct pfs_memory_thread *thread, pfs_memory_key key, uint32_t number)
{
	return calls[number % 2](thread, key, 100 + number % 7 * 300, number / 2 % 5);
}

static void block_free(struct pfs_memory_thread *thread, struct block block)
{
	struct pfs_cell *cell = block.named;
	struct pfs_box_sample *sample = pfs_sample_of(cell);
	if (sample != NULL)
		cell = pfs_sample_give(books, thread, sample);
	pfs_memory_freed(books, thread, (struct pfs_memory_note){ cell->line, 0 }, block.bytes);
}

/* ---- what a reader sees ---- */

static inline void look_no_more(void)
{
	pfs_reader_close(reader);
	reader = NULL;
}

/* ---- threads ---- */

static struct block mail[THREADS][BLOCKS];
static pthread_barrier_t barrier;

static void *work(void *argument)
{
	uint32_t id = (uint32_t)(uintptr_t)argument;
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "worker", "user", "host",
								   true);
	(void)pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < BLOCKS; i++)
		mail[id][i] = block_new(thread, keys[i / 20 % 2], i);
	(void)pthread_barrier_wait(&barrier);
	if (id % 4 == 1) /* its blocks outlive it, and it frees another's blocks without a life */
		pfs_memory_thread_end(thread);
	uint32_t whose = (id + 1) % THREADS;
	for (uint32_t i = 0; i < BLOCKS; i++)
		block_free(id % 4 == 1 ? NULL : thread, mail[whose][i]);
	(void)pthread_barrier_wait(&barrier);
	if (id % 4 != 1)
		pfs_memory_thread_end(thread);
	return NULL;
}

static inline void begin(const char *folder, uint32_t lg, uint32_t stacks, uint32_t contexts,
		  uint32_t samples)
{
	open_books(folder, lg, stacks, contexts, samples);
	(void)pthread_barrier_init(&barrier, NULL, THREADS);
}

static inline void run_workers(void)
{
	pthread_t threads[THREADS];
	for (uint32_t id = 0; id < THREADS; id++)
		(void)pthread_create(&threads[id], NULL, work, (void *)(uintptr_t)id);
	for (uint32_t id = 0; id < THREADS; id++)
		(void)pthread_join(threads[id], NULL);
}

static inline void end(void)
{
	look_no_more();
	pfs_memory_close(books);
	(void)pthread_barrier_destroy(&barrier);
}

#endif
