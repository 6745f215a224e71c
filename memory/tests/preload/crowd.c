/*
 * crowd.c - a program with many threads at a time: each allocates 1000 bytes, and waits.
 *
 * usage: crowd THREADS
 * Prints "ready" when all have allocated, then ends with its standard input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all_there, all_end;

static void *stay(void *unused)
{
	void *volatile block = malloc(1000);
	(void)unused;
	(void)pthread_barrier_wait(&all_there);
	(void)pthread_barrier_wait(&all_end);
	free(block);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	pthread_attr_t small;
	pthread_t thread;
	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, 64 * 1024);
	(void)pthread_barrier_init(&all_there, NULL, count + 1);
	(void)pthread_barrier_init(&all_end, NULL, count + 1);
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&thread, &small, stay, NULL) != 0)
			return 77; /* the system allows fewer */
	(void)pthread_barrier_wait(&all_there);
	(void)puts("ready");
	(void)fflush(stdout);
	(void)getchar();
	(void)pthread_barrier_wait(&all_end);
	pthread_exit(NULL);
}
