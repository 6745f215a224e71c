#include "sim/machine/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_ROOM_FIRST 256u
#define BLOCK_BYTES ((size_t)1 << 18)

struct pfs_table_entry {
	uintptr_t key;
	uint32_t generation;
	uint32_t number;
};

struct pfs_scratch_block {
	struct pfs_scratch_block *next;
	size_t bytes;
	_Alignas(16) char memory[];
};

/* The machine has no use for half an execution. */
static void *need(void *memory)
{
	if (memory != NULL)
		return memory;
	(void)fprintf(stderr, "pfslab: no memory for the simulated machine\n");
	abort();
}

static struct pfs_table_entry *entry_of(const struct pfs_table *self, uintptr_t key)
{
	uint64_t hash = (uint64_t)key * UINT64_C(0x9E3779B97F4A7C15);
	for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
		struct pfs_table_entry *entry = &self->entries[at & (self->room - 1)];
		if (entry->generation != self->generation || entry->key == key)
			return entry;
	}
}

uint32_t pfs_table_find(const struct pfs_table *self, uintptr_t key)
{
	if (self->count == 0)
		return PFS_TABLE_NONE;
	const struct pfs_table_entry *entry = entry_of(self, key);
	return entry->generation == self->generation ? entry->number : PFS_TABLE_NONE;
}

static void widen_table(struct pfs_table *self)
{
	struct pfs_table old = *self;
	self->room = old.room != 0 ? old.room * 2 : TABLE_ROOM_FIRST;
	self->entries = need(calloc(self->room, sizeof(*self->entries)));
	self->generation = 1;
	for (uint32_t i = 0; i < old.room; i++) {
		if (old.entries[i].generation != old.generation)
			continue;
		struct pfs_table_entry *entry = entry_of(self, old.entries[i].key);
		*entry = old.entries[i];
		entry->generation = 1;
	}
	free(old.entries);
}

uint32_t pfs_table_add(struct pfs_table *self, uintptr_t key)
{
	if (2 * self->count >= self->room)
		widen_table(self);
	struct pfs_table_entry *entry = entry_of(self, key);
	if (entry->generation != self->generation)
		*entry = (struct pfs_table_entry){ key, self->generation, self->count++ };
	return entry->number;
}

void pfs_table_clear(struct pfs_table *self)
{
	self->count = 0;
	if (++self->generation != 0)
		return;
	memset(self->entries, 0, self->room * sizeof(*self->entries));
	self->generation = 1;
}

void pfs_table_fini(struct pfs_table *self)
{
	free(self->entries);
	*self = (struct pfs_table){ 0 };
}

void *pfs_scratch_take(struct pfs_scratch *self, size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	while (self->current == NULL || self->used + bytes > self->current->bytes) {
		struct pfs_scratch_block *next =
			self->current != NULL ? self->current->next : self->first;
		if (next == NULL) {
			size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
			next = need(malloc(sizeof(*next) + room));
			next->next = NULL;
			next->bytes = room;
			if (self->current != NULL)
				self->current->next = next;
			else
				self->first = next;
		}
		self->current = next;
		self->used = 0;
	}
	void *memory = self->current->memory + self->used;
	self->used += bytes;
	return memory;
}

void pfs_scratch_clear(struct pfs_scratch *self)
{
	self->current = NULL;
	self->used = 0;
}

void pfs_scratch_fini(struct pfs_scratch *self)
{
	while (self->first != NULL) {
		struct pfs_scratch_block *next = self->first->next;
		free(self->first);
		self->first = next;
	}
	pfs_scratch_clear(self);
}

void *pfs_widen(void *array, uint32_t *room, uint32_t needed, size_t size)
{
	if (needed <= *room)
		return array;
	uint32_t wider = *room * 2 > needed ? *room * 2 : needed;
	char *longer = need(realloc(array, wider * size));
	memset(longer + *room * size, 0, (wider - *room) * size);
	*room = wider;
	return longer;
}
