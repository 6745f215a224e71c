/*
 * desk.c - the one lock for all records: opening it first does the pending work.
 */
#include "books.h"

void pfs_desk_open(struct pfs_books *self)
{
	pfs_mutex_lock(&self->desk);
	if (!pfs_likely(self->settle == NULL))
		self->settle(self);
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
