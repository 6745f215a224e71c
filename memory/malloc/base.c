#include "base.h"

#include <pthread.h>
#include <stdalign.h>

#include "apart.h"
#include "classes.h"

#define CHUNK_BYTES ((size_t)256 << 10)

/* The first chunk. layout.ld places it behind the small variables, so that a program that allocates
 * little has both on the same pages. */
static alignas(PFS_LINE) char first_chunk[64 << 10] __attribute__((section(".bss.chunk")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next_piece; /* under lock, as all below */
static size_t left_bytes;
static uint64_t mapped_bytes;
static uint64_t used_bytes;

static size_t whole_lines(size_t size_bytes)
{
	return (size_bytes + PFS_LINE - 1) / PFS_LINE * PFS_LINE;
}

static void use_chunk(char *chunk, size_t bytes)
{
	next_piece = chunk;
	left_bytes = bytes;
	mapped_bytes += bytes;
}

/* The rest of the previous chunk is lost: less than one piece. */
static bool new_chunk(size_t size_bytes)
{
	if (mapped_bytes == 0 && size_bytes <= sizeof(first_chunk)) {
		use_chunk(first_chunk, sizeof(first_chunk));
		return true;
	}
	size_t least = (size_bytes + PFS_OS_PAGE - 1) & ~(size_t)(PFS_OS_PAGE - 1);
	size_t bytes = least > CHUNK_BYTES / 4 ? least : CHUNK_BYTES;
	char *chunk = pfs_apart_new(bytes);
	/* memory is nearly exhausted: take only what is needed */
	if (chunk == NULL && bytes != least) {
		bytes = least;
		chunk = pfs_apart_new(bytes);
	}
	if (chunk == NULL)
		return false;
	use_chunk(chunk, bytes);
	return true;
}

static void *cut(size_t size_bytes)
{
	if (size_bytes > left_bytes && !new_chunk(size_bytes))
		return NULL;
	void *piece = next_piece;
	next_piece += size_bytes;
	left_bytes -= size_bytes;
	used_bytes += size_bytes;
	return piece;
}

void *pfs_base_new_pages(size_t size_bytes)
{
	char *pages = pfs_apart_new(size_bytes);
	(void)pthread_mutex_lock(&lock);
	mapped_bytes += pages != NULL ? size_bytes : 0;
	used_bytes += pages != NULL ? size_bytes : 0;
	(void)pthread_mutex_unlock(&lock);
	return pages;
}

void *pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes)
{
	(void)pthread_mutex_lock(&lock);
	void *piece = pool->first;
	if (piece != NULL)
		/* relaxed: under lock; a thread that reads a recycled piece late needs no order. */
		pool->first = pfs_load_relaxed((_Atomic(void *) *)piece);
	else
		piece = cut(whole_lines(size_bytes));
	(void)pthread_mutex_unlock(&lock);
	return piece;
}

void pfs_base_free(struct pfs_base_pool *pool, void *piece)
{
	(void)pthread_mutex_lock(&lock);
	pfs_store_relaxed((_Atomic(void *) *)piece, pool->first); /* relaxed: as in new */
	pool->first = piece;
	(void)pthread_mutex_unlock(&lock);
}

void pfs_base_counts(uint64_t *mapped, uint64_t *used)
{
	(void)pthread_mutex_lock(&lock);
	*mapped = mapped_bytes;
	*used = used_bytes;
	(void)pthread_mutex_unlock(&lock);
}

void pfs_base_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void pfs_base_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}
