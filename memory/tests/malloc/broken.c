/*
 * broken.c - a malloc with one fault, to preload: shows that stamps.c detects it.
 *
 * BROKEN=overlap | realloc | calloc | align | fork: every 300th call is wrong. Memory is never
 * freed, so that nothing else is wrong. It is built on glibc's malloc, by its own names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EACH 300

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned calls;
static unsigned char *last;
static size_t last_size;

/* Should this call misbehave as BROKEN says? */
static bool now(const char *fault)
{
	const char *chosen = getenv("BROKEN");
	if (chosen == NULL || strcmp(chosen, fault) != 0)
		return false;
	(void)pthread_mutex_lock(&lock);
	bool wrong = ++calls % EACH == 0;
	(void)pthread_mutex_unlock(&lock);
	return wrong;
}

void *malloc(size_t size)
{
	bool wrong = now("overlap");
	(void)pthread_mutex_lock(&lock);
	void *block = wrong && size <= last_size ? last : NULL;
	if (block == NULL) {
		block = __libc_malloc(size);
		last = block;
		last_size = block != NULL ? size : 0;
	}
	(void)pthread_mutex_unlock(&lock);
	return block;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t size)
{
	unsigned char *block = __libc_calloc(count, size);
	if (block != NULL && count * size > 0 && now("calloc"))
		block[count * size - 1] = 1;
	return block;
}

void *realloc(void *block, size_t size)
{
	if (block == NULL)
		return __libc_malloc(size);
	size_t old = malloc_usable_size(block);
	unsigned char *moved = __libc_malloc(size);
	if (moved == NULL)
		return NULL;
	memcpy(moved, block, old < size ? old : size);
	if (size > 0 && now("realloc"))
		moved[0] ^= 1;
	return moved;
}

void *memalign(size_t alignment, size_t size)
{
	unsigned char *block = __libc_memalign(alignment, size + 16);
	return block != NULL && now("align") ? block + 8 : block;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block == NULL ? ENOMEM : 0;
}

static void take_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	(void)pthread_mutex_unlock(&lock);
}

static void child(void)
{
	const char *chosen = getenv("BROKEN");
	give_lock();
	if (chosen != NULL && strcmp(chosen, "fork") == 0)
		memset(last, 0, last_size);
}

__attribute__((constructor)) static void start(void)
{
	(void)pthread_atfork(take_lock, give_lock, child);
}
