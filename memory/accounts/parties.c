/*
 * parties.c - accounts, users and hosts: found or created by name, removed when unused.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

static int compare_names(const char *one, const char *other)
{
	if (one == NULL || other == NULL)
		return (one != NULL) - (other != NULL);
	return strcmp(one, other);
}

static int compare_parties(const void *one, const void *other)
{
	const struct pfs_party *a = one, *b = other;
	int order = compare_names(a->user, b->user);
	return order != 0 ? order : compare_names(a->host, b->host);
}

static void copy_name(char *to, size_t to_bytes, const char *name)
{
	if (name != NULL)
		strncpy(to, name, to_bytes - 1);
}

static size_t party_bytes(const struct pfs_books *self)
{
	return sizeof(struct pfs_party) + self->instruments_max * sizeof(struct pfs_cell *);
}

static enum pfs_shelves shelf_of(enum pfs_cell_level level)
{
	return PFS_SHELF_ACCOUNTS + (level - PFS_CELL_OF_ACCOUNT);
}

/* Creates a party's record and its private part. */
static struct pfs_party *party_new(struct pfs_books *self, const struct pfs_party *key)
{
	static const enum pfs_box_lost losts[] = { PFS_LOST_ACCOUNTS, PFS_LOST_USERS,
						   PFS_LOST_HOSTS };
	struct pfs_box_account fresh;
	struct pfs_party *party = calloc(1, party_bytes(self));
	if (party == NULL)
		return NULL;
	*party = *key;
	struct pfs_claim claim = pfs_shelf_take(self, shelf_of(key->level),
						losts[key->level - PFS_CELL_OF_ACCOUNT],
						&party->reference);
	if (claim.record == NULL) {
		free(party);
		return NULL;
	}
	memset((void *)&fresh, 0, sizeof(fresh));
	fresh.has_user = key->user != NULL;
	fresh.has_host = key->host != NULL;
	fresh.user = key->above_user != NULL ? key->above_user->reference : 0;
	fresh.host = key->above_host != NULL ? key->above_host->reference : 0;
	copy_name(fresh.user_name, sizeof(fresh.user_name), key->user);
	copy_name(fresh.host_name, sizeof(fresh.host_name), key->host);
	party->record = claim.record;
	pfs_bytes_store(party->record, &fresh, sizeof(fresh));
	pfs_shelf_publish(self, shelf_of(key->level), claim);
	party->user = key->user != NULL ? party->record->user_name : NULL;
	party->host = key->host != NULL ? party->record->host_name : NULL;
	self->private_bytes += party_bytes(self);
	return party;
}

static void hold(struct pfs_party *party, uint32_t by)
{
	if (party != NULL)
		party->lives += by;
}

static struct pfs_party *find_or_make(struct pfs_books *self, const struct pfs_party *key)
{
	uint32_t kind = key->level - PFS_CELL_OF_ACCOUNT;
	void **tree = &self->parties[kind];
	struct pfs_party *const *found = tfind(key, tree, compare_parties);
	if (found != NULL)
		return *found;
	struct pfs_party *party = party_new(self, key);
	if (party == NULL && pfs_parties_purge(self) != 0)
		party = party_new(self, key);
	if (party == NULL)
		return NULL;
	if (tsearch(party, tree, compare_parties) == NULL) {
		pfs_shelf_give(self, shelf_of(key->level), party->record);
		free(party);
		return NULL;
	}
	self->party_count++;
	party->next = self->lists[kind];
	self->lists[kind] = party;
	self->by_reference[kind][party->reference] = party;
	hold(party->above_user, 1);
	hold(party->above_host, 1);
	return party;
}

struct pfs_party *pfs_party_of(struct pfs_books *self, enum pfs_cell_level level, const char *user,
			       const char *host)
{
	char user_cut[PFS_BOX_USER_BYTES] = "", host_cut[PFS_BOX_HOST_BYTES] = "";
	copy_name(user_cut, sizeof(user_cut), user);
	copy_name(host_cut, sizeof(host_cut), host);
	struct pfs_party key = { .level = level,
				 .user = user != NULL ? user_cut : NULL,
				 .host = host != NULL ? host_cut : NULL };
	if (level != PFS_CELL_OF_ACCOUNT)
		return find_or_make(self, &key);
	/* Hold both, so that they are not purged while the account is created. */
	key.above_user = pfs_party_of(self, PFS_CELL_OF_USER, user, NULL);
	hold(key.above_user, 1);
	key.above_host = pfs_party_of(self, PFS_CELL_OF_HOST, NULL, host);
	hold(key.above_host, 1);
	struct pfs_party *account = find_or_make(self, &key);
	hold(key.above_user, UINT32_MAX);
	hold(key.above_host, UINT32_MAX);
	return account;
}

/* Moves an account's sums to its user, its host and global. Global already has those of others. */
static void hand_on(struct pfs_books *self, struct pfs_party *party)
{
	struct pfs_party *heirs[3] = { party->above_user, party->above_host, self->global };
	uint32_t first = party->level == PFS_CELL_OF_ACCOUNT ? 0 : 3;
	pfs_moves_begin(self, party);
	pfs_moves_begin(self, self->global);
	for (uint32_t i = 0; i < self->instruments_max; i++) {
		struct pfs_cell *cell = party->cells[i];
		if (cell == NULL)
			continue;
		for (uint32_t heir = first; heir < 3; heir++)
			if (heirs[heir] != NULL)
				pfs_party_add(self, heirs[heir], cell, pfs_cell_read(cell));
		pfs_shelf_give(self, PFS_SHELF_CELLS, cell);
	}
	pfs_moves_end(self, self->global);
	pfs_moves_end(self, party);
}

static void party_end(struct pfs_books *self, struct pfs_party *party)
{
	hand_on(self, party);
	self->party_count--;
	(void)tdelete(party, &self->parties[party->level - PFS_CELL_OF_ACCOUNT], compare_parties);
	hold(party->above_user, UINT32_MAX);
	hold(party->above_host, UINT32_MAX);
	pfs_shelf_give(self, shelf_of(party->level), party->record);
	self->private_bytes -= party_bytes(self);
	free(party);
}

uint32_t pfs_parties_purge(struct pfs_books *self)
{
	uint32_t gone = 0;
	/* Accounts first: users and hosts go when their last account has gone. */
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++) {
		struct pfs_party **link = &self->lists[kind];
		while (*link != NULL) {
			struct pfs_party *party = *link;
			if (party->lives != 0) {
				link = &party->next;
				continue;
			}
			*link = party->next;
			party_end(self, party);
			gone++;
		}
	}
	return gone;
}
