/*
 * workers.c - routines of threads that share workers whose frames have no fixed size: a variable
 * array, alloca, an aligned local, also with arguments on the stack; and one whose frame has. Each
 * routine allocates through each worker. Built by every compiler there is, at every level, with
 * and without frame pointers in `leaf.c`.
 *
 * usage: workers
 */
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

#define ROUNDS 400u
#define NOINLINE __attribute__((noinline))
#define STAY __asm__ volatile("" : : : "memory") /* prevents a tail call */

NOINLINE void in_array(unsigned count);
void in_array(unsigned count)
{
	volatile char room[count];
	memset((char *)room, 1, count);
	for (unsigned i = 0; i < ROUNDS; i++) {
		leaf();
		room[i % count]++;
	}
	STAY;
}

NOINLINE void in_alloca(unsigned count);
void in_alloca(unsigned count)
{
	volatile char *room = alloca(count);
	for (unsigned i = 0; i < ROUNDS; i++) {
		leaf();
		room[i % count] = 1;
	}
	STAY;
}

NOINLINE void in_aligned(unsigned count);
void in_aligned(unsigned count)
{
	_Alignas(64) volatile char room[128];
	for (unsigned i = 0; i < ROUNDS; i++) {
		leaf();
		room[i % count] = 1;
	}
	STAY;
}

/* Aligned more than a page, and with arguments that are passed on the stack. */
NOINLINE void in_both(unsigned count, int a, int b, int c, int d, int e, volatile int *f, int g);
void in_both(unsigned count, int a, int b, int c, int d, int e, volatile int *f, int g)
{
	_Alignas(256) volatile char room[256];
	volatile char more[count];
	for (unsigned i = 0; i < ROUNDS; i++) {
		leaf();
		room[i % 256] = more[i % count] = (char)(a + b + c + d + e);
		*f += g;
	}
	STAY;
}

NOINLINE void in_plain(unsigned count);
void in_plain(unsigned count)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		leaf();
	(void)count;
	STAY;
}

static inline __attribute__((always_inline)) void work(unsigned count)
{
	volatile int sum = 0;
	in_array(count);
	STAY;
	in_alloca(count);
	STAY;
	in_aligned(count);
	STAY;
	in_both(count, 1, 2, 3, 4, 5, &sum, 6);
	STAY;
	in_plain(count);
	STAY;
}

NOINLINE void *indexer(void *unused);
void *indexer(void *unused)
{
	work(64);
	return unused;
}

NOINLINE void *session(void *unused);
void *session(void *unused)
{
	work(64);
	return unused;
}

int main(void)
{
	static void *(*const routines[])(void *) = { indexer, session };
	for (unsigned i = 0; i < 2; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, routines[i], NULL) != 0)
			return 2;
		(void)pthread_join(thread, NULL);
	}
	(void)printf("workers %d %u\n", (int)getpid(), ROUNDS);
	(void)fflush(stdout);
	(void)getchar();
	return 0;
}
