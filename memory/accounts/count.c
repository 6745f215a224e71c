/*
 * count.c - the calls of memory.h that count a block, and the choice of its cell.
 */
#include "count.h"

static bool is_enabled(struct pfs_memory_thread *thread, pfs_memory_key key)
{
	/* relaxed: the generation brings it. */
	if (pfs_load_relaxed(&thread->memory->control->switches) != 0)
		pfs_thread_look(thread);
	/* relaxed: a switch; the block may come before or after it. */
	return key != 0 && thread->is_instrumented &&
	       (pfs_load_relaxed(&thread->memory->control->enabled[key - 1]) & 1) != 0;
}

struct pfs_cell *pfs_thread_cell_to_count(struct pfs_memory_thread *thread, pfs_memory_key key)
{
	/* [J8] acquire, pairs with [J5]: loaded first, so that a later change is noticed again. */
	uint32_t generation = pfs_load_acquire(&thread->memory->control->generation);
	thread->cells[key] = NULL;
	if (thread->limits_seen != generation)
		pfs_limits_look(thread, generation);
	if (!is_enabled(thread, key))
		return NULL;
	struct pfs_cell *cell = thread->all_cells[key];
	if (cell == NULL)
		cell = pfs_thread_cell(thread, key);
	if (cell == NULL)
		return NULL;
	/* Look at the change with this block: its marks begin at the values before the block. */
	if (pfs_load_relaxed(&cell->seen) != generation) {  /* relaxed: its own */
		pfs_store_relaxed(&cell->trap_count, 0);    /* relaxed: its own */
		pfs_store_relaxed(&cell->trap_bytes, 0);    /* relaxed: its own */
		pfs_store_relaxed(&cell->seen, generation); /* relaxed: its own */
		if (thread->memory->profile != NULL)
			pfs_store_relaxed(&cell->sample_at, 0); /* relaxed: its own */
	}
	thread->cells[key] = thread->is_limited ? NULL : cell;
	return cell;
}

struct pfs_memory_note pfs_count_limited(struct pfs_memory_thread *thread, struct pfs_cell *cell,
					 size_t size_bytes)
{
	if (!pfs_limits_debit(thread, cell, size_bytes))
		return (struct pfs_memory_note){ 0, PFS_MEMORY_REFUSED };
	if (!pfs_likely(!pfs_cell_is_trapped(cell)))
		pfs_marks_look(thread->memory, cell, size_bytes);
	return (struct pfs_memory_note){ cell->line, 0 };
}

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
	/* The resize is already done, so it cannot be refused. */
	if (pfs_may_be_limited(thread))
		pfs_limits_force(thread, after_bytes);
	pfs_count_freed(memory, thread, note, before_bytes);
	note = pfs_count_allocated(thread, key, after_bytes);
	if (thread != NULL && thread->reserved != 0)
		pfs_limits_drop(thread);
	return note;
}

struct pfs_memory_note pfs_memory_claimed(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t size_bytes)
{
	return pfs_memory_resized(memory, thread, note, size_bytes, size_bytes);
}
