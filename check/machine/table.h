/*
 * table.h - numbers for addresses, and memory that lives as long as one execution; both are emptied
 * in constant time, because small cases run a million times.
 */
#ifndef PFS_SIM_TABLE_H
#define PFS_SIM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_TABLE_NONE UINT32_MAX

struct pfs_table_entry {
	uintptr_t key;
	uint32_t number;
};

/*
 * From keys to 0, 1, 2, ... in the order in which they were added. Open addressing; an entry counts
 * only if its number is below `count`, and that number's slot points back to it. So resetting
 * `count` to an earlier value restores the table of that time: later entries come after it
 * everywhere.
 * Source: P. Briggs, L. Torczon, ACM LOPLAS 2(1-4), 1993 (sparse sets).
 */
struct pfs_hash_table {
	struct pfs_table_entry *entries;
	uint32_t *slots; /* by number */
	uint32_t room;   /* a power of two */
	uint32_t count;
};

void pfs_table_fini(struct pfs_hash_table *self);
/* A new key. */
uint32_t pfs_table_make(struct pfs_hash_table *self, uintptr_t key);

static inline void pfs_table_clear(struct pfs_hash_table *self)
{
	self->count = 0;
}

/* Where the key is, or would be, in a table that has entries. */
static inline struct pfs_table_entry *pfs_table_entry_of(const struct pfs_hash_table *self,
							 uintptr_t key, bool *is_there)
{
	uint64_t hash = (uint64_t)key * UINT64_C(0x9E3779B97F4A7C15);
	for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
		uint32_t slot = at & (self->room - 1);
		struct pfs_table_entry *entry = &self->entries[slot];
		*is_there = entry->number < self->count && self->slots[entry->number] == slot;
		if (!*is_there || entry->key == key)
			return entry;
	}
}

/* The key's number, or PFS_TABLE_NONE. */
static inline uint32_t pfs_table_find(const struct pfs_hash_table *self, uintptr_t key)
{
	bool is_there;
	if (self->count == 0)
		return PFS_TABLE_NONE;
	const struct pfs_table_entry *entry = pfs_table_entry_of(self, key, &is_there);
	return is_there ? entry->number : PFS_TABLE_NONE;
}

/* The key's number; a new one if it had none. */
static inline uint32_t pfs_table_add(struct pfs_hash_table *self, uintptr_t key)
{
	uint32_t number = pfs_table_find(self, key);
	return number != PFS_TABLE_NONE ? number : pfs_table_make(self, key);
}

/* Memory in blocks, all given back at once. */
struct pfs_scratch {
	struct pfs_scratch_block *first, *current;
	size_t used; /* of the current block */
};

struct pfs_scratch_block {
	struct pfs_scratch_block *next;
	size_t bytes;
	_Alignas(16) char memory[];
};

void pfs_scratch_widen(struct pfs_scratch *self, size_t bytes);
static inline void *pfs_scratch_take(struct pfs_scratch *self, size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	if (self->current == NULL || self->used + bytes > self->current->bytes)
		pfs_scratch_widen(self, bytes);
	void *memory = self->current->memory + self->used;
	self->used += bytes;
	return memory;
}
void pfs_scratch_clear(struct pfs_scratch *self);
void pfs_scratch_fini(struct pfs_scratch *self);

/* How often an array of this OS thread was moved by the function below, or by a table: until then a
 * copy of its contents can be restored. */
extern _Thread_local uint64_t pfs_widenings;

/* An array with room for at least `needed` elements of `size` bytes; new ones are zero. */
void *pfs_widen_array(void *array, uint32_t *room, uint32_t needed, size_t size);

static inline void *pfs_widen(void *array, uint32_t *room, uint32_t needed, size_t size)
{
	return needed <= *room ? array : pfs_widen_array(array, room, needed, size);
}

#endif
