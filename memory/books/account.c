/*
 * account.c - a life gets another account, as when a connection logs in.
 */
#include "memory/accounts/marks.h"
#include "memory/books/books.h"

/* So that the life's cells can be folded into the account later. */
static bool has_cells(struct pfs_memory_thread *thread, struct pfs_party *to)
{
	struct pfs_books *self = thread->memory;
	for (uint32_t key = 1; key <= self->instruments_max; key++)
		if (thread->all_cells[key] != NULL && pfs_party_cell(self, to, key - 1) == NULL)
			return false;
	return true;
}

/* account, user, host and next, which is 0 until the life has ended: whole words of 8 bytes, as
 * pfs_bytes_store needs them. */
static void write_parents(struct pfs_memory_thread *thread, struct pfs_cell *cell)
{
	const uint32_t words[4] = { thread->account->reference,
				    thread->user != NULL ? thread->user->reference : 0,
				    thread->host != NULL ? thread->host->reference : 0, 0 };
	pfs_bytes_store(&cell->account, words, sizeof(words));
}

static void write_record(struct pfs_memory_thread *thread)
{
	struct pfs_box_thread record = *thread->record;
	record.account = thread->account->reference;
	record.user = thread->user != NULL ? thread->user->reference : 0;
	record.host = thread->host != NULL ? thread->host->reference : 0;
	pfs_bytes_store(thread->record, &record, sizeof(record));
}

/* Between the moves of both. The account that the life leaves keeps its high marks, as at the end
 * of a life. */
static void move_cells(struct pfs_memory_thread *thread, struct pfs_party *from,
		       struct pfs_party *to)
{
	struct pfs_books *self = thread->memory;
	for (uint32_t key = 1; key <= self->instruments_max; key++) {
		struct pfs_cell *cell = thread->all_cells[key];
		if (cell == NULL)
			continue;
		pfs_marks_add(self, from->cells[key - 1], cell);
		pfs_marks_move(self, cell);
		write_parents(thread, cell);
		from->lives--;
		to->lives++;
		thread->cells[key] = NULL; /* the next allocation looks at limits */
	}
}

static void move_life(struct pfs_memory_thread *thread, struct pfs_party *to)
{
	struct pfs_books *self = thread->memory;
	struct pfs_party *from = thread->account;
	pfs_moves_begin(self, from);
	pfs_moves_begin(self, to);
	pfs_life_connect(thread, UINT32_MAX);
	thread->account = to;
	thread->user = to->above_user;
	thread->host = to->above_host;
	pfs_life_connect(thread, 1);
	move_cells(thread, from, to);
	write_record(thread);
	pfs_moves_end(self, to);
	pfs_moves_end(self, from);
	/* What is in use in the new rooms has grown without their knowledge. */
	to->room.is_known = false;
	if (to->above_user != NULL)
		to->above_user->room.is_known = false;
	thread->limits_seen = 0;
}

bool pfs_memory_thread_account(struct pfs_memory_thread *thread, const char *user, const char *host)
{
	if (thread == NULL)
		return false;
	struct pfs_books *self = thread->memory;
	if (self->is_uncounted)
		return false;
	pfs_mutex_lock(&self->limits_lock);
	pfs_desk_open(self);
	struct pfs_party *to = pfs_party_of(self, PFS_CELL_OF_ACCOUNT, user, host);
	bool can = to != NULL && thread->account != NULL && has_cells(thread, to);
	if (can && to != thread->account)
		move_life(thread, to);
	pfs_desk_close(self);
	pfs_mutex_unlock(&self->limits_lock);
	return can;
}
