#include "check/machine/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_ROOM_FIRST 256u
#define BLOCK_BYTES ((size_t)1 << 18)

_Thread_local uint64_t pfs_widenings;

/* The machine cannot use half an execution. */
static void *need(void *memory)
{
	if (memory != NULL)
		return memory;
	(void)fprintf(stderr, "pfslab: no memory for the simulated machine\n");
	abort();
}

static void widen_table(struct pfs_hash_table *self)
{
	struct pfs_hash_table old = *self;
	bool is_there;
	pfs_widenings++;
	self->room = old.room != 0 ? old.room * 2 : TABLE_ROOM_FIRST;
	self->entries = need(calloc(self->room, sizeof(*self->entries)));
	self->slots = need(calloc(self->room / 2, sizeof(*self->slots)));
	/* In the order of their numbers: see struct pfs_hash_table. */
	for (self->count = 0; self->count < old.count;) {
		const struct pfs_table_entry *from = &old.entries[old.slots[self->count]];
		struct pfs_table_entry *entry = pfs_table_entry_of(self, from->key, &is_there);
		*entry = *from;
		self->slots[self->count++] = (uint32_t)(entry - self->entries);
	}
	free(old.entries);
	free(old.slots);
}

uint32_t pfs_table_make(struct pfs_hash_table *self, uintptr_t key)
{
	bool is_there;
	if (2 * self->count >= self->room)
		widen_table(self);
	struct pfs_table_entry *entry = pfs_table_entry_of(self, key, &is_there);
	*entry = (struct pfs_table_entry){ key, self->count };
	self->slots[self->count] = (uint32_t)(entry - self->entries);
	return self->count++;
}

void pfs_table_fini(struct pfs_hash_table *self)
{
	free(self->entries);
	free(self->slots);
	*self = (struct pfs_hash_table){ 0 };
}

void pfs_scratch_widen(struct pfs_scratch *self, size_t bytes)
{
	do {
		struct pfs_scratch_block *next = self->current != NULL ? self->current->next
								       : self->first;
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
	} while (bytes > self->current->bytes);
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

void *pfs_widen_array(void *array, uint32_t *room, uint32_t needed, size_t size)
{
	uint32_t wider = *room * 2 > needed ? *room * 2 : needed;
	pfs_widenings++;
	char *longer = need(realloc(array, wider * size));
	memset(longer + *room * size, 0, (wider - *room) * size);
	*room = wider;
	return longer;
}
