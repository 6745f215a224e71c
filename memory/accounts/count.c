/*
 * count.c - a block is allocated, freed, resized, claimed. No lock but where a cell is missing.
 */
#include "books.h"

static struct pfs_memory_note none(void)
{
	return (struct pfs_memory_note){ 0, 0 };
}

static bool is_enabled(const struct pfs_books *self, uint32_t instrument)
{
	/* relaxed: a switch; a block before it or after it. */
	return (pfs_load_relaxed(&self->control->enabled[instrument]) & 1) != 0;
}

struct pfs_memory_note pfs_memory_allocated(struct pfs_memory_thread *thread, pfs_memory_key key,
					    size_t size_bytes)
{
	uint32_t instrument = key - 1;
	if (thread == NULL || !thread->is_instrumented ||
	    instrument >= thread->memory->instruments_max ||
	    !is_enabled(thread->memory, instrument))
		return none();
	struct pfs_books *memory = thread->memory;
	struct pfs_cell *cell = thread->cells[instrument];
	if (!pfs_likely(cell != NULL)) {
		cell = pfs_thread_cell(thread, instrument);
		if (cell == NULL)
			return none();
	}
	pfs_cell_debit(cell, size_bytes);
	if (!pfs_likely(!pfs_cell_is_trapped(cell, memory->control)))
		pfs_marks_look(memory, cell, size_bytes);
	return (struct pfs_memory_note){ memory->rule->reference(thread, cell), 0 };
}

void pfs_memory_freed(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      struct pfs_memory_note note, size_t size_bytes)
{
	if (note.reference != 0)
		memory->rule->credit(memory, thread, note.reference, size_bytes);
}

struct pfs_memory_note pfs_memory_resized(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t before_bytes,
					  size_t after_bytes)
{
	if (note.reference == 0)
		return note;
	pfs_memory_key key = memory->rule->instrument(memory, note.reference);
	pfs_memory_freed(memory, thread, note, before_bytes);
	return pfs_memory_allocated(thread, key, after_bytes);
}

struct pfs_memory_note pfs_memory_claimed(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t size_bytes)
{
	return pfs_memory_resized(memory, thread, note, size_bytes, size_bytes);
}
