/*
 * crowd.c - a program with many threads: each allocates 1000 bytes.
 *
 * usage: crowd THREADS [together|after|hungry]
 * together  all of them wait, with their blocks
 * after     one after the other; every second block is freed by the main thread
 * hungry    all of them allocate and free until 20,000 allocations were refused
 * Prints "ready", then ends with its standard input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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

static void *leave(void *unused)
{
	void *volatile block = malloc(1000), *volatile other = malloc(10);
	(void)unused;
	free(other);
	return block;
}

static atomic_uint refused;

static void *eat(void *unused)
{
	void *volatile blocks[64] = { NULL };
	(void)unused;
	for (unsigned i = 0; atomic_load(&refused) < 20000; i++) {
		unsigned at = i * 2654435761u >> 26;
		free(blocks[at]);
		blocks[at] = malloc(i * 40503u >> 3 & 0x3FFF);
		if (blocks[at] == NULL)
			atomic_fetch_add(&refused, 1);
	}
	for (unsigned at = 0; at < 64; at++)
		free(blocks[at]);
	return NULL;
}

static void wait_for_end(void)
{
	(void)puts("ready");
	(void)fflush(stdout);
	(void)getchar();
}

static int one_after_the_other(unsigned count)
{
	pthread_t thread;
	void *block;
	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, leave, NULL) != 0)
			return 77;
		(void)pthread_join(thread, &block);
		if (i % 2 == 1)
			free(block);
	}
	wait_for_end();
	return 0;
}

static int hungry(unsigned count)
{
	pthread_t threads[64];
	unsigned made = 0;
	/* The limit may refuse a thread, too. */
	while (made < count && made < 64 && pthread_create(&threads[made], NULL, eat, NULL) == 0)
		made++;
	for (unsigned i = 0; i < made; i++)
		(void)pthread_join(threads[i], NULL);
	wait_for_end();
	return 0;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	const char *mode = argc > 2 ? argv[2] : "together";
	if (strcmp(mode, "after") == 0)
		return one_after_the_other(count);
	if (strcmp(mode, "hungry") == 0)
		return hungry(count);
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
	wait_for_end();
	(void)pthread_barrier_wait(&all_end);
	pthread_exit(NULL);
}
