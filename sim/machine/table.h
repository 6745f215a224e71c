/*
 * table.h - numbers for addresses, and memory that lives as long as one execution. Both are
 * emptied in no time, since small cases run a million times.
 */
#ifndef PFS_SIM_TABLE_H
#define PFS_SIM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define PFS_TABLE_NONE UINT32_MAX

/* From keys to 0, 1, 2, ... in the order in which they were added. Open addressing; an entry of
 * an older generation is empty. */
struct pfs_table {
	struct pfs_table_entry *entries;
	uint32_t room; /* a power of two */
	uint32_t count;
	uint32_t generation;
};

void pfs_table_fini(struct pfs_table *self);
void pfs_table_clear(struct pfs_table *self);
/* The key's number, or PFS_TABLE_NONE. */
uint32_t pfs_table_find(const struct pfs_table *self, uintptr_t key);
/* The key's number; a new one if it had none. */
uint32_t pfs_table_add(struct pfs_table *self, uintptr_t key);

/* Memory in blocks, all given back at once. */
struct pfs_scratch {
	struct pfs_scratch_block *first, *current;
	size_t used; /* of the current block */
};

void *pfs_scratch_take(struct pfs_scratch *self, size_t bytes);
void pfs_scratch_clear(struct pfs_scratch *self);
void pfs_scratch_fini(struct pfs_scratch *self);

/* An array with room for at least `needed` elements of `size` bytes; new ones are zero. */
void *pfs_widen(void *array, uint32_t *room, uint32_t needed, size_t size);

#endif
