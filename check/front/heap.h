/*
 * heap.h - malloc of the checked program: each block at a place that depends only on the
 * execution's own calls. A place is never used twice in an execution, so that an access to freed
 * memory is seen.
 */
#ifndef PFS_CHECK_HEAP_H
#define PFS_CHECK_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct pfs_sim_place;

/* false: the host has no address space left. */
bool pfs_check_heap_begin(void);
/* keep: the blocks so far, which constructors allocated, are of every execution. reset: as then. */
void pfs_check_heap_keep(void);
void pfs_check_heap_reset(void);

struct pfs_machine_snapshot;
void pfs_check_heap_put(struct pfs_machine_snapshot *snapshot);

/* NULL: the region is used up. Filled with a pattern. */
void *pfs_check_heap_take(size_t align, size_t size, const struct pfs_sim_place *place);
/* Ends the execution if it is no block, or was freed. Returns its size. */
size_t pfs_check_heap_give(void *block, const struct pfs_sim_place *place);
bool pfs_check_heap_has(const void *address);
size_t pfs_check_heap_size(const void *block);

/* Ends the execution if these bytes are not all in a block that is in use. */
void pfs_check_heap_look(const void *address, size_t size, bool writes,
			 const struct pfs_sim_place *place);

/* The block at the address, if there is one, is accessed atomically. */
void pfs_check_heap_note_atomic(const void *address);

/* At an execution's end: did code that does not report its accesses write after blocks, or to freed
 * ones? Then ends the execution as failed. */
void pfs_check_heap_end(void);
/* A block of this execution that nothing points to, starting from these roots; false: none. */
struct pfs_check_root {
	const void *first;
	size_t bytes;
};
bool pfs_check_heap_leak(const struct pfs_check_root *roots, size_t count,
			 const struct pfs_sim_place **place, size_t *size);

/* "block 3+8"; false: no block. */
bool pfs_check_heap_name(const void *address, char *name, size_t name_bytes);

/* Reads of 4 to 16 bytes of a block that were not written fail, from now on. */
void pfs_check_heap_uninitialized(void);

/* Of a block that is in use: appends where it was allocated. */
void pfs_check_heap_origin(const void *address, char *name, size_t name_bytes);

#endif
