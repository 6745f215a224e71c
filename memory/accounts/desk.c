/*
 * desk.c - the one lock for all records: opening it first does the pending work.
 */
#include "books.h"

void pfs_desk_open(struct pfs_books *self)
{
	pfs_mutex_lock(&self->desk);
	if (!pfs_likely(self->settle == NULL) && !pfs_box_is_cut(&self->box))
		self->settle(self);
	if (!pfs_box_is_cut(&self->box))
		pfs_cells_fold_finished(self);
}

void pfs_desk_close(struct pfs_books *self)
{
	pfs_mutex_unlock(&self->desk);
}

void pfs_books_settle(struct pfs_books *self)
{
	pfs_desk_open(self);
	pfs_desk_close(self);
}

struct pfs_cell *pfs_thread_cell(struct pfs_memory_thread *thread, pfs_memory_key key)
{
	struct pfs_books *self = thread->memory;
	if (pfs_box_is_cut(&self->box))
		return NULL;
	/* clang-format off */
	struct pfs_cell like = {
		.level = PFS_CELL_OF_THREAD, .instrument = key,
		.thread = thread->reference, .owner = thread->reference,
		.account = thread->account != NULL ? thread->account->reference : 0,
		.user = thread->user != NULL ? thread->user->reference : 0,
		.host = thread->host != NULL ? thread->host->reference : 0,
	};
	/* clang-format on */
	pfs_desk_open(self);
	/* Create its parents' cells before its own, so that folding it needs no new record. */
	struct pfs_parents parents = pfs_parents_of(self, &like);
	bool can_fold = true;
	for (uint32_t i = 0; i < parents.count; i++)
		can_fold = can_fold && pfs_party_cell(self, parents.of[i], key - 1) != NULL;
	struct pfs_cell *cell = can_fold ? pfs_cell_new(self, &like) : NULL;
	if (cell != NULL) {
		thread->all_cells[key] = cell;
		for (uint32_t i = 0; i < parents.count; i++)
			parents.of[i]->lives++;
	}
	pfs_desk_close(self);
	return cell;
}

void pfs_thread_look(struct pfs_memory_thread *thread)
{
	struct pfs_books *self = thread->memory;
	if (thread->reference > self->switch_count)
		return;
	/* relaxed: a switch; this look sees it, or the next. */
	uint64_t value = pfs_load_relaxed(&self->switches[thread->reference - 1].value);
	bool is_on = (value & 1) != 0;
	if (value >> 1 != thread->record->thread_id || is_on == thread->is_instrumented)
		return;
	struct pfs_box_thread record = *thread->record;
	thread->is_instrumented = is_on;
	record.is_instrumented = is_on;
	pfs_desk_open(self);
	pfs_bytes_store(thread->record, &record, sizeof(record));
	pfs_desk_close(self);
}
