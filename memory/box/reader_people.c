/*
 * reader_people.c - read instruments, threads, accounts, users and hosts, and find out which of
 * them still exist after the cells were read.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "reader_inside.h"

/* ---- records ---- */

void pfs_take_text(char *to, const char *from, size_t bytes)
{
	memcpy(to, from, bytes);
	to[bytes - 1] = '\0';
	(void)pfs_one_line(to);
}

static bool take_instrument(void *taking, uint64_t number, uint32_t word, const void *from,
			    void *to)
{
	struct pfs_taking *take = taking;
	struct pfs_seen_instrument *seen = to;
	const struct pfs_box_instrument *record = from;
	(void)word;
	if (number >= PFS_BOX_INSTRUMENTS_MAX)
		return false;
	struct pfs_box_control *control = pfs_reader_control(take->reader);
	*seen = (struct pfs_seen_instrument){ .number = (uint32_t)number, .flags = record->flags };
	/* relaxed: a switch. */
	seen->is_enabled = (pfs_load_relaxed(&control->enabled[number]) & 1) != 0;
	pfs_take_text(seen->name, record->name, sizeof(seen->name));
	if (memchr(record->name, '\0', sizeof(record->name)) == NULL)
		pfs_snapshot_damage(take->snapshot, "the name of instrument %u is not terminated",
				    seen->number);
	return true;
}

/* As a reader has set it; the program's record follows with the thread's next allocation. */
static bool is_instrumented(const struct pfs_taking *take, uint64_t number,
			    const struct pfs_box_thread *record)
{
	uint64_t value = 0;
	bool is_there = number < take->reader->regions[PFS_BOX_SWITCHES].bytes / sizeof(value);
	/* relaxed: a switch; without it the region may have no memory. */
	if (is_there && pfs_load_relaxed(&pfs_reader_control(take->reader)->switches) != 0)
		pfs_reader_array(take->reader, PFS_BOX_SWITCHES, number * sizeof(value), &value,
				 sizeof(value));
	return value >> 1 == record->thread_id ? (value & 1) != 0 : record->is_instrumented != 0;
}

static bool take_thread(void *taking, uint64_t number, uint32_t word, const void *from, void *to)
{
	struct pfs_seen_thread *seen = to;
	const struct pfs_box_thread *record = from;
	*seen = (struct pfs_seen_thread){
		.number = (uint32_t)number,
		.word = word,
		.account = record->account,
		.user = record->user,
		.host = record->host,
		.os_tid = record->os_tid,
		.thread_id = record->thread_id,
		.begun_realtime_ns = record->begun_realtime_ns,
		.is_instrumented = is_instrumented(taking, number, record),
	};
	pfs_take_text(seen->name, record->name, sizeof(seen->name));
	return true;
}

static bool take_account(void *taking, uint64_t number, uint32_t word, const void *from, void *to)
{
	struct pfs_seen_account *seen = to;
	const struct pfs_box_account *record = from;
	(void)taking;
	*seen = (struct pfs_seen_account){
		.number = (uint32_t)number,
		.word = word,
		.user = record->user,
		.host = record->host,
		.current_connections = record->current_connections,
		.total_connections = record->total_connections,
		.has_user = record->has_user != 0,
		.has_host = record->has_host != 0,
	};
	pfs_take_text(seen->user_name, record->user_name, sizeof(seen->user_name));
	pfs_take_text(seen->host_name, record->host_name, sizeof(seen->host_name));
	return true;
}

/* All records of a kind as an array; NULL: no memory. */
static void *take_all(struct pfs_taking *take, enum pfs_box_kind kind, size_t stride,
		      pfs_record_take *read, uint32_t *count)
{
	struct pfs_records records = { .stride = stride };
	bool fine = pfs_records_take(take->reader, kind, &records, read, take);
	free(records.index_of);
	if (!fine) {
		free(records.array);
		return NULL;
	}
	*count = records.count;
	if (kind != PFS_BOX_INSTRUMENTS)
		take->snapshot->rows_missed += records.missed;
	return records.array;
}

bool pfs_take_people(struct pfs_taking *take)
{
	struct pfs_snapshot *snapshot = take->snapshot;
	bool fine = true;
	snapshot->threads = take_all(take, PFS_BOX_THREADS, sizeof(struct pfs_seen_thread),
				     take_thread, &snapshot->thread_count);
	for (int party = 0; party < PFS_PARTIES; party++) {
		struct pfs_parties parties = pfs_parties_at(snapshot, party);
		*parties.first = take_all(take, parties.kind, sizeof(struct pfs_seen_account),
					  take_account, parties.count);
		fine &= *parties.first != NULL;
	}
	return fine && snapshot->threads != NULL;
}

bool pfs_take_instruments(struct pfs_taking *take)
{
	struct pfs_snapshot *snapshot = take->snapshot;
	snapshot->instruments = take_all(take, PFS_BOX_INSTRUMENTS,
					 sizeof(struct pfs_seen_instrument), take_instrument,
					 &snapshot->instrument_count);
	return snapshot->instruments != NULL;
}

/* ---- records that ended since they were read ---- */

static bool is_there(const struct pfs_taking *take, enum pfs_box_kind kind, uint32_t number,
		     uint32_t word)
{
	return pfs_lock_confirm(pfs_reader_place(take->reader, kind, number).lock, word);
}

void pfs_keep_living(struct pfs_taking *take)
{
	struct pfs_snapshot *snapshot = take->snapshot;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < snapshot->thread_count; i++)
		if (is_there(take, PFS_BOX_THREADS, snapshot->threads[i].number,
			     snapshot->threads[i].word))
			snapshot->threads[kept++] = snapshot->threads[i];
	snapshot->thread_count = kept;
	for (int party = 0; party < PFS_PARTIES; party++) {
		struct pfs_parties parties = pfs_parties_at(snapshot, party);
		struct pfs_seen_account *all = *parties.first;
		kept = 0;
		for (uint32_t i = 0; i < *parties.count; i++)
			if (is_there(take, parties.kind, all[i].number, all[i].word))
				all[kept++] = all[i];
		*parties.count = kept;
	}
}

/* Binary search: the array is sorted by number. */
static uint32_t index_of(const struct pfs_seen_account *accounts, uint32_t count,
			 uint32_t reference)
{
	uint32_t from = 0, to = count;
	while (reference != 0 && from < to) {
		uint32_t middle = from + (to - from) / 2;
		if (accounts[middle].number == reference - 1)
			return middle;
		if (accounts[middle].number < reference - 1)
			from = middle + 1;
		else
			to = middle;
	}
	return PFS_NONE;
}

static void check_reference(struct pfs_snapshot *snapshot, const char *what, uint32_t number,
			    const char *named, uint32_t reference, uint64_t room)
{
	if (reference > room)
		pfs_snapshot_damage(snapshot, "%s %u refers to %s %u of %llu", what, number, named,
				    reference, (unsigned long long)room);
}

void pfs_resolve_people(struct pfs_taking *take)
{
	struct pfs_snapshot *snapshot = take->snapshot;
	const uint64_t accounts = pfs_reader_records(take->reader, PFS_BOX_ACCOUNTS);
	const uint64_t users = pfs_reader_records(take->reader, PFS_BOX_USERS);
	const uint64_t hosts = pfs_reader_records(take->reader, PFS_BOX_HOSTS);
	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		struct pfs_seen_thread *thread = &snapshot->threads[i];
		check_reference(snapshot, "thread", thread->number, "account", thread->account,
				accounts);
		check_reference(snapshot, "thread", thread->number, "user", thread->user, users);
		check_reference(snapshot, "thread", thread->number, "host", thread->host, hosts);
		thread->account = index_of(snapshot->accounts, snapshot->account_count,
					   thread->account);
		thread->user = index_of(snapshot->users, snapshot->user_count, thread->user);
		thread->host = index_of(snapshot->hosts, snapshot->host_count, thread->host);
	}
	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		struct pfs_seen_account *account = &snapshot->accounts[i];
		check_reference(snapshot, "account", account->number, "user", account->user, users);
		check_reference(snapshot, "account", account->number, "host", account->host, hosts);
		account->user = index_of(snapshot->users, snapshot->user_count, account->user);
		account->host = index_of(snapshot->hosts, snapshot->host_count, account->host);
	}
}

uint32_t pfs_snapshot_account(const struct pfs_snapshot *snapshot, uint32_t reference)
{
	return index_of(snapshot->accounts, snapshot->account_count, reference);
}

uint32_t pfs_snapshot_instrument(const struct pfs_snapshot *snapshot, uint32_t reference)
{
	/* Nearly always at its number: instruments are never removed. */
	for (uint32_t i = reference < snapshot->instrument_count ? reference
								 : snapshot->instrument_count;
	     reference != 0 && i > 0; i--)
		if (snapshot->instruments[i - 1].number == reference - 1)
			return i - 1;
	return PFS_NONE;
}
