/*
 * life.c - threads begin and end.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/books/books.h"
#include "memory/profile/profile.h"

static size_t thread_bytes(const struct pfs_books *self)
{
	return sizeof(struct pfs_memory_thread) +
	       2 * (self->instruments_max + 1) * sizeof(struct pfs_cell *);
}

/* Finds the thread's account, or else its user and its host, if they exist. A user without a host,
 * or a host without a user, is no account. */
void pfs_life_find(struct pfs_memory_thread *thread, const char *user, const char *host)
{
	struct pfs_books *self = thread->memory;
	bool is_account = (user == NULL) == (host == NULL);
	if (is_account)
		thread->account = pfs_party_of(self, PFS_CELL_OF_ACCOUNT, user, host);
	if (thread->account != NULL) {
		thread->user = thread->account->above_user;
		thread->host = thread->account->above_host;
		return;
	}
	if (user != NULL || is_account)
		thread->user = pfs_party_of(self, PFS_CELL_OF_USER, user, NULL);
	if (thread->user != NULL)
		thread->user->lives++; /* do not purge it to create the host */
	if (host != NULL || is_account)
		thread->host = pfs_party_of(self, PFS_CELL_OF_HOST, NULL, host);
	if (thread->user != NULL)
		thread->user->lives--;
}

static void connect_to(struct pfs_party *party, uint32_t by)
{
	if (party == NULL)
		return;
	party->lives += by;
	struct pfs_box_account *record = party->record;
	record->current_connections += (uint64_t)(int64_t)(int32_t)by;
	record->total_connections += by == 1;
}

void pfs_life_connect(struct pfs_memory_thread *thread, uint32_t by)
{
	connect_to(thread->account, by);
	connect_to(thread->user, by);
	connect_to(thread->host, by);
}

/* The number under which the rule knows the thread. */
static bool take_number(struct pfs_memory_thread *thread)
{
	struct pfs_books *self = thread->memory;
	thread->number = thread->reference;
	if (self->rule->numbers == NULL)
		return true;
	struct pfs_claim claim = pfs_shelf_take(self, PFS_SHELF_NUMBERS, PFS_LOST_THREADS,
						&thread->number);
	if (claim.record == NULL)
		return false;
	thread->numbered = claim.record;
	pfs_shelf_publish(self, PFS_SHELF_NUMBERS, claim);
	return true;
}

static void give_records(struct pfs_memory_thread *thread)
{
	if (thread->numbered != NULL)
		pfs_shelf_give(thread->memory, PFS_SHELF_NUMBERS, thread->numbered);
	pfs_shelf_give(thread->memory, PFS_SHELF_THREADS, thread->record);
}

static bool write_record(struct pfs_memory_thread *thread, const char *name)
{
	struct pfs_books *self = thread->memory;
	struct pfs_claim claim = pfs_shelf_take(self, PFS_SHELF_THREADS, PFS_LOST_THREADS,
						&thread->reference);
	if (claim.record == NULL)
		return false;
	struct pfs_box_thread fresh = {
		.thread_id = ++self->last_thread_id,
		.begun_realtime_ns = pfs_box_now_ns(),
		.os_tid = (uint32_t)gettid(),
		.account = thread->account != NULL ? thread->account->reference : 0,
		.user = thread->user != NULL ? thread->user->reference : 0,
		.host = thread->host != NULL ? thread->host->reference : 0,
		.is_instrumented = thread->is_instrumented,
	};
	if (name != NULL)
		strncpy(fresh.name, name, sizeof(fresh.name) - 1);
	thread->record = claim.record;
	pfs_bytes_store(thread->record, &fresh, sizeof(fresh));
	pfs_shelf_publish(self, PFS_SHELF_THREADS, claim);
	if (take_number(thread))
		return true;
	give_records(thread);
	return false;
}

static void enlist(struct pfs_memory_thread *thread)
{
	struct pfs_books *self = thread->memory;
	thread->next = self->threads;
	if (self->threads != NULL)
		self->threads->previous = thread;
	self->threads = thread;
	self->private_bytes += thread_bytes(self);
}

static void unlist(struct pfs_memory_thread *thread)
{
	struct pfs_books *self = thread->memory;
	if (thread->next != NULL)
		thread->next->previous = thread->previous;
	if (thread->previous != NULL)
		thread->previous->next = thread->next;
	else
		self->threads = thread->next;
	self->private_bytes -= thread_bytes(self);
}

struct pfs_memory_thread *pfs_memory_thread_begin(struct pfs_books *memory, const char *name,
						  const char *user, const char *host,
						  bool instrumented)
{
	if (memory == NULL || pfs_books_are_shut(memory))
		return NULL;
	struct pfs_memory_thread *thread = calloc(1, thread_bytes(memory));
	if (thread == NULL)
		return NULL;
	thread->memory = memory;
	thread->all_cells = &thread->cells[memory->instruments_max + 1];
	thread->is_instrumented = instrumented;
	pfs_desk_open(memory);
	pfs_life_find(thread, user, host);
	bool is_there = write_record(thread, name);
	if (is_there) {
		pfs_life_connect(thread, 1);
		enlist(thread);
	}
	pfs_desk_close(memory);
	if (!is_there) {
		free(thread);
		return NULL;
	}
	return thread;
}

void pfs_life_end(struct pfs_memory_thread *thread)
{
	struct pfs_books *self = thread->memory;
	bool has_box = !pfs_box_is_cut(&self->box);
	for (uint32_t key = 1; has_box && key <= self->instruments_max; key++)
		if (thread->all_cells[key] != NULL)
			self->rule->end(self, thread, thread->all_cells[key]);
	pfs_profile_thread_end(thread);
	if (has_box) {
		give_records(thread);
		pfs_life_connect(thread, UINT32_MAX);
	}
	unlist(thread);
}

void pfs_memory_thread_end(struct pfs_memory_thread *thread)
{
	if (thread == NULL)
		return;
	struct pfs_books *memory = thread->memory;
	pfs_desk_open(memory);
	if (memory->is_uncounted) {
		unlist(thread);
	} else {
		pfs_life_end(thread);
		pfs_marks_life_ended(memory);
	}
	pfs_desk_close(memory);
	free(thread);
}
