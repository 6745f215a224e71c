/*
 * corner_dlopen.c - libraries that are loaded and unloaded and use malloc; and the allocator itself
 * loaded by dlopen into a program with glibc's malloc, as a second heap with its own symbols.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corner.h"

#define CYCLES 60

struct loaded {
	void *handle;
	int (*use)(int turns);
	void *(*block)(size_t size);
	void (*free)(void *block);
};

static struct loaded load(void)
{
	struct loaded self = { dlopen(CORNER_LOADED, RTLD_NOW | RTLD_LOCAL), NULL, NULL, NULL };
	CORNER_CHECK(self.handle != NULL, "%s", dlerror());
	*(void **)&self.use = dlsym(self.handle, "loaded_use");
	*(void **)&self.block = dlsym(self.handle, "loaded_block");
	*(void **)&self.free = dlsym(self.handle, "loaded_free");
	return self;
}

static void loaded_once(void)
{
	struct loaded self = load();
	CORNER_CHECK(self.use(50) == 1, "its data is wrong");
	void *own = malloc(300), *foreign = self.block(300);
	self.free(own);
	free(foreign);
	CORNER_CHECK(dlclose(self.handle) == 0, "%s", dlerror());
}

CORNER(loaded_repeatedly)
{
	for (int i = 0; i < CYCLES; i++)
		loaded_once();
	size_t before = corner_resident_bytes();
	for (int i = 0; i < CYCLES; i++)
		loaded_once();
	size_t after = corner_resident_bytes();
	CORNER_CHECK(after < before + ((size_t)2 << 20), "%d cycles left %zu bytes", CYCLES,
		     after - before);
}

static void *use_loaded(void *opaque)
{
	struct loaded *self = opaque;
	for (int i = 0; i < 20; i++)
		CORNER_CHECK(self->use(20) == 1, "its data is wrong");
	return NULL;
}

CORNER(loaded_in_threads)
{
	for (int i = 0; i < CYCLES / 2; i++) {
		struct loaded self = load();
		corner_threads(4, use_loaded, &self);
		CORNER_CHECK(dlclose(self.handle) == 0, "%s", dlerror());
	}
}

static void *load_and_use(void *unused)
{
	(void)unused;
	for (int i = 0; i < 15; i++)
		loaded_once();
	return NULL;
}

CORNER(loaded_by_threads)
{
	corner_threads(4, load_and_use, NULL);
}

static void loaded_beside_forks(void *unused)
{
	(void)unused;
	loaded_once();
	corner_threads(2, load_and_use, NULL);
}

CORNER(loaded_in_child)
{
	struct loaded self = load();
	(void)self.use(10);
	for (int i = 0; i < 5; i++)
		corner_child(loaded_beside_forks, NULL, 20);
}

/* Left open at exit: the library's destructors run after the program's. */
CORNER(loaded_until_exit)
{
	struct loaded self = load();
	CORNER_CHECK(self.use(100) == 1, "its data is wrong");
}

/* ---- the allocator by dlopen ---- */

struct heap {
	void *handle;
	void *(*malloc)(size_t size);
	void (*free)(void *block);
	void *(*realloc)(void *block, size_t size);
};

/* Execute the subtest again without the preload, with the library's path in CORNER_ALLOCATOR. */
static void restart(void)
{
	const char *preloaded = getenv("LD_PRELOAD");
	if (getenv("CORNER_ALLOCATOR") != NULL)
		return;
	if (preloaded == NULL || *preloaded == 0)
		corner_skip("no other malloc to load");
	char *path = strdup(preloaded);
	(void)unsetenv("LD_PRELOAD");
	corner_again("CORNER_ALLOCATOR", path);
}

static struct heap load_heap(void)
{
	struct heap self = { NULL, NULL, NULL, NULL };
	restart();
	self.handle = dlopen(getenv("CORNER_ALLOCATOR"), RTLD_NOW | RTLD_LOCAL);
	CORNER_CHECK(self.handle != NULL, "%s", dlerror());
	*(void **)&self.malloc = dlsym(self.handle, "malloc");
	*(void **)&self.free = dlsym(self.handle, "free");
	*(void **)&self.realloc = dlsym(self.handle, "realloc");
	CORNER_CHECK(self.malloc != NULL && self.free != NULL && self.realloc != NULL, "no malloc");
	return self;
}

static void *use_heap(void *opaque)
{
	struct heap *self = opaque;
	unsigned char *own[100], *others[100];
	for (unsigned i = 0; i < 100; i++) {
		own[i] = self->malloc(16 + i * 91);
		others[i] = malloc(16 + i * 91);
		corner_stamp(own[i], 16 + i * 91, i);
		memset(others[i], 0, 16 + i * 91);
		own[i] = self->realloc(own[i], 16 + i * 191);
	}
	for (unsigned i = 0; i < 100; i++) {
		CORNER_CHECK(corner_stamp_differs(own[i], 16 + i * 91, i) == 16 + i * 91,
			     "a block changed");
		self->free(own[i]);
		free(others[i]);
	}
	return NULL;
}

CORNER(allocator_loaded)
{
	struct heap self = load_heap();
	(void)use_heap(&self);
	for (int i = 0; i < 20; i++)
		corner_threads(4, use_heap, &self);
}

/* Threads that used the allocator end after it was closed. */
static struct heap closing;
static pthread_barrier_t met;

static void *use_and_outlive(void *unused)
{
	(void)unused;
	(void)use_heap(&closing);
	(void)pthread_barrier_wait(&met);
	(void)pthread_barrier_wait(&met);
	return NULL;
}

CORNER(allocator_closed)
{
	closing = load_heap();
	(void)pthread_barrier_init(&met, NULL, 5);
	corner_start(4, use_and_outlive, NULL);
	(void)pthread_barrier_wait(&met);
	(void)use_heap(&closing);
	CORNER_CHECK(dlclose(closing.handle) == 0, "%s", dlerror());
	(void)pthread_barrier_wait(&met);
	corner_join();
	(void)sleep(2);
}

/* Loaded while threads run: the remaining static TLS must suffice. */
static struct heap late;

static void *use_late(void *unused)
{
	(void)unused;
	(void)pthread_barrier_wait(&met);
	(void)pthread_barrier_wait(&met);
	(void)use_heap(&late);
	return NULL;
}

CORNER(allocator_loaded_late)
{
	restart();
	(void)pthread_barrier_init(&met, NULL, 5);
	corner_start(4, use_late, NULL);
	(void)pthread_barrier_wait(&met);
	late = load_heap();
	(void)pthread_barrier_wait(&met);
	corner_join();
}
