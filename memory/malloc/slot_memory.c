#include "slot_memory.h"

#include "base.h"
#include "classes.h"
#include "rings.h"
#include "system.h"

#define CHUNK_BYTES ((uint32_t)16 << 10)
#define CHUNKS_MAPPED 16u
#define CHUNKS_PURGED 16u /* together */

struct chunk {
	char *pages;
	struct chunk *next, *previous; /* in a list: of those with room, or without pieces */
	void *freed;                   /* pieces, each links to the next by its first word */
	uint32_t cut_bytes;            /* behind it no piece was made yet */
	uint32_t used;                 /* pieces */
};

/* Under the registry, like all below. */
static struct pfs_base_pool small_pieces[PFS_SLOT_SIZES]; /* of base.h */
static struct chunk *with_room[PFS_SLOT_SIZES];           /* and at least one piece */
static struct chunk *unused;                              /* no piece, but memory */
static struct chunk *purged;                              /* neither */
static struct chunk *purging;                             /* a thread is returning their memory */
static char *next_pages;                                  /* of new chunks */
static uint32_t chunks_left;

/* Behind a piece is the address of its chunk; NULL: it is of base.h. */
static struct chunk **chunk_of(void *piece, uint32_t bytes)
{
	return (struct chunk **)((char *)piece + bytes);
}

static uint32_t piece_bytes(uint32_t bytes)
{
	uint32_t with_chunk = bytes + (uint32_t)sizeof(struct chunk *);
	return (with_chunk + PFS_LINE - 1) / PFS_LINE * PFS_LINE;
}

static bool has_room(const struct chunk *chunk, uint32_t bytes)
{
	return chunk->freed != NULL || chunk->cut_bytes + piece_bytes(bytes) <= CHUNK_BYTES;
}

static void list(struct chunk **first, struct chunk *chunk)
{
	chunk->previous = NULL;
	chunk->next = *first;
	if (*first != NULL)
		(*first)->previous = chunk;
	*first = chunk;
}

static void unlist(struct chunk **first, struct chunk *chunk)
{
	if (chunk->next != NULL)
		chunk->next->previous = chunk->previous;
	if (chunk->previous != NULL)
		chunk->previous->next = chunk->next;
	else
		*first = chunk->next;
}

/* ---- chunks ---- */

static bool map_more(void)
{
	chunks_left = CHUNKS_MAPPED;
	next_pages = pfs_base_new_pages(CHUNKS_MAPPED * CHUNK_BYTES);
	if (next_pages == NULL) { /* memory is nearly exhausted: take only what is needed */
		chunks_left = 1;
		next_pages = pfs_base_new_pages(CHUNK_BYTES);
	}
	return next_pages != NULL;
}

static struct chunk *new_chunk(void)
{
	static struct pfs_base_pool pool;
	if (chunks_left == 0 && !map_more()) {
		chunks_left = 0;
		return NULL;
	}
	struct chunk *chunk = pfs_base_new(&pool, sizeof(*chunk));
	if (chunk == NULL)
		return NULL;
	chunk->pages = next_pages;
	next_pages += CHUNK_BYTES;
	chunks_left--;
	return chunk;
}

/* A chunk without pieces; NULL: no memory. */
static struct chunk *empty_chunk(void)
{
	struct chunk **first = unused != NULL ? &unused : &purged;
	struct chunk *chunk = *first;
	if (chunk != NULL)
		unlist(first, chunk);
	else
		chunk = new_chunk();
	if (chunk != NULL) {
		chunk->freed = NULL;
		chunk->cut_bytes = chunk->used = 0;
	}
	return chunk;
}

/* ---- pieces ---- */

static bool is_alone(void)
{
	return pfs_registry.oldest == pfs_registry.newest;
}

static void *cut(struct chunk *chunk, uint32_t bytes)
{
	void *piece = chunk->freed;
	if (piece != NULL) {
		chunk->freed = *(void **)piece;
	} else {
		piece = chunk->pages + chunk->cut_bytes;
		chunk->cut_bytes += piece_bytes(bytes);
	}
	chunk->used++;
	return piece;
}

void *pfs_slot_memory_new(uint32_t size, uint32_t bytes)
{
	struct chunk *chunk = NULL;
	void *piece = NULL;
	if (is_alone()) {
		piece = pfs_base_new(&small_pieces[size], piece_bytes(bytes));
	} else {
		if (with_room[size] == NULL && (chunk = empty_chunk()) != NULL)
			list(&with_room[size], chunk);
		chunk = with_room[size];
		piece = chunk != NULL ? cut(chunk, bytes) : NULL;
		if (chunk != NULL && !has_room(chunk, bytes))
			unlist(&with_room[size], chunk);
	}
	if (piece != NULL)
		*chunk_of(piece, bytes) = chunk;
	return piece;
}

void pfs_slot_memory_free(void *piece, uint32_t size, uint32_t bytes)
{
	struct chunk *chunk = *chunk_of(piece, bytes);
	if (chunk == NULL) {
		pfs_base_free(&small_pieces[size], piece);
		return;
	}
	if (!has_room(chunk, bytes))
		list(&with_room[size], chunk);
	*(void **)piece = chunk->freed;
	chunk->freed = piece;
	if (--chunk->used != 0)
		return;
	unlist(&with_room[size], chunk);
	list(&unused, chunk);
}

/* ---- the system ---- */

/* Under the registry. One thread at a time purges. */
static bool begin_purge(void)
{
	if (purging != NULL || unused == NULL)
		return false;
	for (uint32_t i = 0; i < CHUNKS_PURGED && unused != NULL; i++) {
		struct chunk *chunk = unused;
		unlist(&unused, chunk);
		list(&purging, chunk);
	}
	return true;
}

static void move_all(struct chunk **from, struct chunk **to)
{
	while (*from != NULL) {
		struct chunk *chunk = *from;
		unlist(from, chunk);
		list(to, chunk);
	}
}

bool pfs_slot_memory_purge(void)
{
	pfs_mutex_lock(&pfs_registry.lock);
	bool is_begun = begin_purge();
	pfs_mutex_unlock(&pfs_registry.lock);
	if (!is_begun)
		return false;
	for (struct chunk *chunk = purging; chunk != NULL; chunk = chunk->next)
		(void)pfs_system_purge(chunk->pages, CHUNK_BYTES);
	pfs_mutex_lock(&pfs_registry.lock);
	move_all(&purging, &purged);
	bool is_more = unused != NULL;
	pfs_mutex_unlock(&pfs_registry.lock);
	return is_more;
}

void pfs_slot_memory_child(void)
{
	move_all(&purging, &unused);
}
