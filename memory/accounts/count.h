/*
 * count.h - the calls of memory.h that count a block, inlined. They take no lock, except to create
 * a missing cell. The rule exact is inlined; the other rules, for comparison, are calls.
 */
#ifndef PFS_COUNT_H
#define PFS_COUNT_H

#include "books.h"

/* For a thread with limits: without fast-path cells, all its allocations come here. Rule exact
 * only. */
PFS_COLD struct pfs_memory_note pfs_count_limited(struct pfs_memory_thread *thread,
						  struct pfs_cell *cell, size_t size_bytes);

static inline struct pfs_memory_note pfs_count_allocated(struct pfs_memory_thread *thread,
							 pfs_memory_key key, size_t size_bytes)
{
	static const struct pfs_memory_note none = { 0, 0 };
	if (thread == NULL || !pfs_likely(key <= thread->memory->instruments_max))
		return none;
	struct pfs_books *memory = thread->memory;
	struct pfs_cell *cell = thread->cells[key];
	/* relaxed: its own; and a switch, which the block may come before or after. */
	if (!pfs_likely(cell != NULL && pfs_load_relaxed(&cell->seen) ==
						pfs_load_relaxed(&memory->control->generation))) {
		cell = pfs_thread_cell_to_count(thread, key);
		if (cell == NULL)
			return none;
		if (thread->is_limited)
			return pfs_count_limited(thread, cell, size_bytes);
	}
	pfs_cell_debit(cell, size_bytes);
	if (!pfs_likely(!pfs_cell_is_trapped(cell)))
		pfs_marks_look(memory, cell, size_bytes);
	uint32_t reference = pfs_likely(memory->rule == &pfs_rule_exact)
				     ? cell->line
				     : memory->rule->reference(thread, cell);
	return (struct pfs_memory_note){ reference, 0 };
}

static inline void pfs_credit_exact(struct pfs_books *memory, struct pfs_memory_thread *thread,
				    uint32_t reference, uint64_t bytes)
{
	struct pfs_cell *cell = pfs_cell_at(memory, reference);
	if (pfs_likely(thread != NULL && pfs_cell_is_own(cell, thread->reference)))
		pfs_cell_credit_own(cell, bytes);
	else if (pfs_cell_credit_foreign(cell, bytes))
		pfs_cell_finish(memory, cell);
}

static inline void pfs_count_freed(struct pfs_books *memory, struct pfs_memory_thread *thread,
				   struct pfs_memory_note note, size_t size_bytes)
{
	if (note.reference == 0)
		return;
	if (pfs_likely(memory->rule == &pfs_rule_exact))
		pfs_credit_exact(memory, thread, note.reference, size_bytes);
	else
		memory->rule->credit(memory, thread, note.reference, size_bytes);
}

#endif
