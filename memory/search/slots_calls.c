/*
 * slots_calls.c - the memory of rings' slots, and the calls that virtual threads make of it: a
 * letter for each.
 */
#include "memory/malloc/slot_memory.c"

#include <string.h>

#include "memory/search/slots_world.h"

#define SIZE 3u
#define BYTES ((uint32_t)PFS_LINE + 8u) /* two lines, with the address of the chunk */
#define STAMP(id) (UINT64_C(0x5107) + (id))
#define ASIDE PFS_SIM_UNSEEN __attribute__((noinline)) static

struct pfs_registry pfs_registry;

/* ---- the oracle, which the search does not see ---- */

ASIDE void hold(struct pfs_slots_actor *actor, struct pfs_slots_line *piece)
{
	PFS_MACHINE_CHECK(piece != NULL, "there is no memory");
	for (uint32_t id = 0; id < PFS_SLOTS_THREADS_MAX; id++) {
		const struct pfs_slots_actor *other = &pfs_slots_world.oracle.actors[id];
		for (uint32_t at = 0; at < other->held_count; at++)
			PFS_MACHINE_CHECK(other->held[at] != piece, "a piece has two owners");
	}
	actor->held[actor->held_count++] = piece;
	pfs_slots_world.taken++;
}

ASIDE struct pfs_slots_line *let_go(struct pfs_slots_actor *actor)
{
	if (actor->held_count == 0)
		return NULL;
	struct pfs_slots_line *piece = actor->held[0];
	actor->held_count--;
	for (uint32_t at = 0; at < actor->held_count; at++)
		actor->held[at] = actor->held[at + 1];
	return piece;
}

/* Pieces in use of a chunk. */
ASIDE uint32_t used_of(const char *pages)
{
	uint32_t used = 0;
	for (uint32_t id = 0; id < PFS_SLOTS_THREADS_MAX; id++) {
		const struct pfs_slots_actor *actor = &pfs_slots_world.oracle.actors[id];
		for (uint32_t at = 0; at < actor->held_count; at++)
			used += (size_t)((const char *)actor->held[at] - pages) < CHUNK_BYTES;
	}
	return used;
}

ASIDE void check_purge(const char *pages)
{
	PFS_MACHINE_CHECK(used_of(pages) == 0, "a chunk is purged that has pieces");
	pfs_slots_world.purged++;
}

/* ---- what the library needs ---- */

ASIDE void *new_record(void)
{
	struct pfs_slots_oracle *oracle = &pfs_slots_world.oracle;
	for (uint32_t at = 0; at < oracle->records_made; at++) {
		if (oracle->is_record_free[at]) {
			oracle->is_record_free[at] = false;
			return pfs_slots_world.records[at];
		}
	}
	bool has = oracle->records_made < PFS_SLOTS_RECORDS;
	return has ? pfs_slots_world.records[oracle->records_made++] : NULL;
}

/* In the library it has a lock of its own. Here all is under the registry's. */
void *pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes)
{
	(void)pool;
	PFS_MACHINE_CHECK(size_bytes <= sizeof(pfs_slots_world.records[0]), "a large record");
	return new_record();
}

ASIDE void free_record(const void *piece)
{
	size_t at = (size_t)((const struct pfs_slots_line *)piece - pfs_slots_world.records[0]) / 2;
	PFS_MACHINE_CHECK(at < PFS_SLOTS_RECORDS && !pfs_slots_world.oracle.is_record_free[at],
			  "a piece of base.h that is none");
	pfs_slots_world.oracle.is_record_free[at] = true;
}

void pfs_base_free(struct pfs_base_pool *pool, void *piece)
{
	(void)pool;
	free_record(piece);
}

ASIDE void *map_lines(size_t count)
{
	struct pfs_slots_oracle *oracle = &pfs_slots_world.oracle;
	struct pfs_slots_line *lines = &pfs_slots_world.lines[oracle->lines_mapped];
	if (oracle->lines_mapped + count > PFS_SLOTS_LINES)
		return NULL;
	oracle->lines_mapped += (uint32_t)count;
	return lines;
}

void *pfs_base_new_pages(size_t size_bytes)
{
	return map_lines(size_bytes / PFS_LINE);
}

bool pfs_system_purge(void *at, size_t size_bytes)
{
	struct pfs_slots_line *lines = at;
	check_purge(at);
	for (size_t line = 0; line < size_bytes / PFS_LINE; line++)
		lines[line].words[0] = 0;
	check_purge(at);
	return true;
}

/* ---- calls ---- */

static void take_one(struct pfs_slots_actor *actor)
{
	if (actor->held_count == PFS_SLOTS_HELD_MOST)
		return;
	pfs_mutex_lock(&pfs_registry.lock);
	struct pfs_slots_line *piece = pfs_slot_memory_new(SIZE, BYTES);
	hold(actor, piece);
	pfs_mutex_unlock(&pfs_registry.lock);
	piece->words[0] = STAMP(actor->id);
}

static void free_one(struct pfs_slots_actor *actor)
{
	if (actor->held_count == 0)
		return;
	PFS_MACHINE_CHECK(actor->held[0]->words[0] == STAMP(actor->id), "a piece lost its bytes");
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_slot_memory_free(let_go(actor), SIZE, BYTES);
	pfs_mutex_unlock(&pfs_registry.lock);
}

static uint32_t count_in(const struct chunk *chunk)
{
	uint32_t count = 0;
	for (; chunk != NULL; chunk = chunk->next)
		count++;
	return count;
}

/* What a child of fork finds: every chunk is in a list, or full. */
static void check_whole(void)
{
	uint32_t full = 0, made = 0;
	for (uint32_t line = 0; line < pfs_slots_world.oracle.lines_mapped;
	     line += PFS_SLOTS_CHUNK_LINES) {
		char *pages = (char *)&pfs_slots_world.lines[line];
		made += chunks_left == 0 || pages < next_pages;
		full += used_of(pages) == 2;
	}
	uint32_t listed = count_in(with_room[SIZE]) + count_in(unused) + count_in(purging) +
			  count_in(purged);
	PFS_MACHINE_CHECK(listed + full == made, "%u chunks were made, %u are listed, %u full",
			  made, listed, full);
}

static void set_alone(bool is)
{
	static struct pfs_cache *const other = (struct pfs_cache *)&pfs_slots_world;
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_registry.newest = is ? NULL : other; /* is_alone compares it with the oldest */
	pfs_mutex_unlock(&pfs_registry.lock);
}

static void call(struct pfs_slots_actor *actor, char letter)
{
	switch (letter) {
	case 'n': take_one(actor); break;
	case 'f': free_one(actor); break;
	case 'p': (void)pfs_slot_memory_purge(); break;
	case 'a': /* the other threads end */ set_alone(true); break;
	case 'o': /* others start */ set_alone(false); break;
	case 'c':
		pfs_mutex_lock(&pfs_registry.lock);
		check_whole();
		pfs_mutex_unlock(&pfs_registry.lock);
		break;
	default: pfs_machine_fail("'%c' is not a call", letter);
	}
}

void pfs_slots_calls_make(struct pfs_slots_actor *actor, const char *calls)
{
	for (; *calls != '\0'; calls++)
		call(actor, *calls);
}

void pfs_slots_body(void *opaque)
{
	struct pfs_slots_actor *actor = opaque;
	if (!pfs_slots_world.scene->loops) {
		pfs_slots_calls_make(actor, actor->calls);
		return;
	}
	for (;;)
		call(actor, actor->calls[pfs_machine_choose((uint32_t)strlen(actor->calls))]);
}

/* ---- executions ---- */

void pfs_slots_reset(void)
{
	memset((void *)&pfs_registry, 0, sizeof(pfs_registry));
	pfs_mutex_init(&pfs_registry.lock);
	set_alone(false);
	memset(with_room, 0, sizeof(with_room));
	unused = purged = purging = NULL;
	next_pages = NULL;
	chunks_left = 0;
}

void pfs_slots_keep(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &pfs_slots_world, offsetof(struct pfs_slots_world, scene));
	pfs_snapshot_put(snapshot, &pfs_registry.lock, sizeof(pfs_registry.lock));
	pfs_snapshot_put(snapshot, (void *)&pfs_registry.newest, sizeof(pfs_registry.newest));
	pfs_snapshot_put(snapshot, (void *)with_room, sizeof(with_room));
	pfs_snapshot_put(snapshot, (void *)&unused, sizeof(unused));
	pfs_snapshot_put(snapshot, (void *)&purged, sizeof(purged));
	pfs_snapshot_put(snapshot, (void *)&purging, sizeof(purging));
	pfs_snapshot_put(snapshot, (void *)&next_pages, sizeof(next_pages));
	pfs_snapshot_put(snapshot, &chunks_left, sizeof(chunks_left));
}

void pfs_slots_check_purged(void)
{
	PFS_MACHINE_CHECK(purging == NULL, "chunks are still being purged");
	check_whole();
	for (uint32_t id = 0; id < PFS_SLOTS_THREADS_MAX; id++)
		while (pfs_slots_world.oracle.actors[id].held_count != 0)
			free_one(&pfs_slots_world.oracle.actors[id]);
	check_whole();
	bool is_more = true;
	for (uint32_t tries = 0; is_more && tries < PFS_SLOTS_RECORDS; tries++)
		is_more = pfs_slot_memory_purge();
	PFS_MACHINE_CHECK(unused == NULL && with_room[SIZE] == NULL, "a chunk keeps its memory");
}
