/*
 * count.c - the calls of memory.h that tell of a block.
 */
#include "count.h"

struct pfs_memory_note pfs_memory_allocated(struct pfs_memory_thread *thread, pfs_memory_key key,
					    size_t size_bytes)
{
	return pfs_count_allocated(thread, key, size_bytes);
}

void pfs_memory_freed(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      struct pfs_memory_note note, size_t size_bytes)
{
	pfs_count_freed(memory, thread, note, size_bytes);
}

struct pfs_memory_note pfs_memory_resized(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t before_bytes,
					  size_t after_bytes)
{
	if (note.reference == 0)
		return note;
	pfs_memory_key key = memory->rule->instrument(memory, note.reference);
	pfs_count_freed(memory, thread, note, before_bytes);
	return pfs_count_allocated(thread, key, after_bytes);
}

struct pfs_memory_note pfs_memory_claimed(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t size_bytes)
{
	return pfs_memory_resized(memory, thread, note, size_bytes, size_bytes);
}
