/*
 * plugin_test.c - a library that contains pfslab is loaded and unloaded repeatedly. Nothing of it
 * stays: no memory, and no call at fork or at the end of a thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CYCLES 300      /* what the heap keeps once must not count */
#define SPARE_BYTES 512 /* of a cycle: what a thread that outlives the library had noted */

static void fail(const char *what)
{
	(void)fprintf(stderr, "plugin_test: %s\n", what);
	exit(1);
}

/* A thread that used the library ends after the library was unloaded. */
struct user {
	int (*use)(void);
	pthread_barrier_t met;
};

static void *use_and_wait(void *opaque)
{
	struct user *self = opaque;
	if (self->use() != 0)
		fail("use in a thread");
	(void)pthread_barrier_wait(&self->met);
	(void)pthread_barrier_wait(&self->met);
	return NULL;
}

static void cycle(const char *path)
{
	pthread_t native;
	struct user user;
	int status = 1;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		fail(dlerror());
	*(void **)&user.use = dlsym(library, "plugin_use");
	if (user.use == NULL || user.use() != 0)
		fail("use");
	(void)pthread_barrier_init(&user.met, NULL, 2);
	(void)pthread_create(&native, NULL, use_and_wait, &user);
	(void)pthread_barrier_wait(&user.met);
	if (dlclose(library) != 0)
		fail(dlerror());
	if (dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL)
		fail("the library is still there: nothing is tested");
	(void)pthread_barrier_wait(&user.met);
	(void)pthread_join(native, NULL);
	(void)pthread_barrier_destroy(&user.met);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	if (waitpid(child, &status, 0) != child || status != 0)
		fail("fork");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		fail("usage: plugin_test LIBRARY");
	(void)mallopt(M_ARENA_MAX, 1);
	for (int i = 0; i < 3; i++)
		cycle(argv[1]);
	size_t before = mallinfo2().uordblks;
	for (int i = 0; i < CYCLES; i++)
		cycle(argv[1]);
	size_t after = mallinfo2().uordblks;
	size_t each = after > before ? (after - before) / CYCLES : 0;
	(void)printf("%zu bytes stay of a cycle\n", each);
	if (each > SPARE_BYTES)
		fail("memory stays");
	return 0;
}
