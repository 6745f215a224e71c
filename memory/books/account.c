/*
 * account.c - a life gets another account, as when a connection logs in.
 */
#include "memory/accounts/marks.h"
#include "memory/books/books.h"

/* Where a life's sums go: its account; or its user, its host, and global. */
struct place {
	struct pfs_party *account, *user, *host;
	struct pfs_party *of[3];
	uint32_t count;
};

static void add(struct place *place, struct pfs_party *party)
{
	if (party != NULL)
		place->of[place->count++] = party;
}

static struct place place_of(struct pfs_books *self, struct pfs_party *account,
			     struct pfs_party *user, struct pfs_party *host)
{
	struct place place = { account, user, host, { NULL }, 0 };
	add(&place, account);
	add(&place, account == NULL ? user : NULL);
	add(&place, account == NULL ? host : NULL);
	add(&place, account == NULL ? self->global : NULL);
	return place;
}

/* False: there is no room for what the names ask for. */
static bool find(struct pfs_memory_thread *thread, const char *user, const char *host,
		 struct place *to)
{
	struct pfs_memory_thread wanted = { .memory = thread->memory };
	pfs_life_find(&wanted, user, host);
	*to = place_of(thread->memory, wanted.account, wanted.user, wanted.host);
	if ((user == NULL) == (host == NULL))
		return to->account != NULL;
	return user != NULL ? to->user != NULL : to->host != NULL;
}

/* So that the life's cells can be folded later. */
static bool has_cells(struct pfs_memory_thread *thread, const struct place *to)
{
	struct pfs_books *self = thread->memory;
	for (uint32_t key = 1; key <= self->instruments_max; key++)
		for (uint32_t i = 0; thread->all_cells[key] != NULL && i < to->count; i++)
			if (pfs_party_cell(self, to->of[i], key - 1) == NULL)
				return false;
	return true;
}

static uint32_t reference_of(const struct pfs_party *party)
{
	return party != NULL ? party->reference : 0;
}

/* account, user, host and next, which is 0 until the life has ended: whole words of 8 bytes, as
 * pfs_bytes_store needs them. */
static void write_parents(struct pfs_memory_thread *thread, struct pfs_cell *cell)
{
	const uint32_t words[4] = { reference_of(thread->account), reference_of(thread->user),
				    reference_of(thread->host), 0 };
	pfs_bytes_store(&cell->account, words, sizeof(words));
}

static void write_record(struct pfs_memory_thread *thread)
{
	struct pfs_box_thread record = *thread->record;
	record.account = reference_of(thread->account);
	record.user = reference_of(thread->user);
	record.host = reference_of(thread->host);
	pfs_bytes_store(thread->record, &record, sizeof(record));
}

/* Between the moves of both. What the life leaves keeps its high marks, as at the end of a life. */
static void move_cells(struct pfs_memory_thread *thread, const struct place *from,
		       const struct place *to)
{
	struct pfs_books *self = thread->memory;
	for (uint32_t key = 1; key <= self->instruments_max; key++) {
		struct pfs_cell *cell = thread->all_cells[key];
		if (cell == NULL)
			continue;
		for (uint32_t i = 0; i < from->count; i++) {
			pfs_marks_add(self, from->of[i]->cells[key - 1], cell);
			from->of[i]->lives--;
		}
		for (uint32_t i = 0; i < to->count; i++)
			to->of[i]->lives++;
		pfs_marks_move(self, cell);
		write_parents(thread, cell);
		thread->cells[key] = NULL; /* the next allocation looks at limits */
	}
}

/* Both may have parties in common: each is announced once. */
static void each_once(struct pfs_books *self, const struct place *from, const struct place *to,
		      void (*announce)(struct pfs_books *self, struct pfs_party *party))
{
	for (uint32_t i = 0; i < from->count; i++)
		announce(self, from->of[i]);
	for (uint32_t i = 0; i < to->count; i++) {
		bool is_new = true;
		for (uint32_t j = 0; j < from->count; j++)
			is_new = is_new && from->of[j] != to->of[i];
		if (is_new)
			announce(self, to->of[i]);
	}
}

static void forget_room(struct pfs_party *party)
{
	if (party != NULL)
		party->room.is_known = false;
}

static void move_life(struct pfs_memory_thread *thread, const struct place *to)
{
	struct pfs_books *self = thread->memory;
	struct place from = place_of(self, thread->account, thread->user, thread->host);
	each_once(self, &from, to, pfs_moves_begin);
	pfs_life_connect(thread, UINT32_MAX);
	thread->account = to->account;
	thread->user = to->user;
	thread->host = to->host;
	pfs_life_connect(thread, 1);
	move_cells(thread, &from, to);
	write_record(thread);
	each_once(self, &from, to, pfs_moves_end);
	pfs_limits_moved(self);
	/* What is in use in the new rooms has grown without their knowledge. */
	forget_room(to->account);
	forget_room(to->user);
	thread->limits_seen = 0;
}

bool pfs_memory_thread_account(struct pfs_memory_thread *thread, const char *user, const char *host)
{
	struct place to;
	if (thread == NULL || pfs_books_are_shut(thread->memory))
		return false;
	struct pfs_books *self = thread->memory;
	pfs_mutex_lock(&self->limits_lock);
	pfs_desk_open(self);
	bool can = find(thread, user, host, &to) && has_cells(thread, &to);
	if (can &&
	    (to.account != thread->account || to.user != thread->user || to.host != thread->host))
		move_life(thread, &to);
	pfs_desk_close(self);
	pfs_mutex_unlock(&self->limits_lock);
	return can;
}
