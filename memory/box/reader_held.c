/*
 * reader_held.c - limits that were in force all the time, as bounds of rows.
 */
#include <string.h>

#include "reader_inside.h"

static bool is_limit_of(const struct pfs_seen_limit *limit, const struct pfs_seen_account *party,
			bool has_host)
{
	return limit->has_user == party->has_user &&
	       (!limit->has_user || strcmp(limit->user, party->user_name) == 0) &&
	       (!has_host || (limit->has_host == party->has_host &&
			      (!limit->has_host || strcmp(limit->host, party->host_name) == 0)));
}

/* What a party's own limit, or else the one of its kind, has held. UINT64_MAX: not known. */
static uint64_t held_of_party(const struct pfs_snapshot *snapshot,
			      const struct pfs_seen_account *party, bool is_account)
{
	const uint32_t own = is_account ? PFS_SCOPE_ACCOUNT : PFS_SCOPE_USER;
	const uint32_t each = is_account ? PFS_SCOPE_EACH_ACCOUNT : PFS_SCOPE_EACH_USER;
	uint64_t held = UINT64_MAX;
	for (uint32_t i = 0; i < snapshot->limit_count; i++) {
		const struct pfs_seen_limit *limit = &snapshot->limits[i];
		if (limit->scope == own && is_limit_of(limit, party, is_account))
			return limit->held_bytes;
		if (limit->scope == each)
			held = limit->held_bytes;
	}
	return held;
}

int64_t pfs_rows_held_bytes(const struct pfs_snapshot *snapshot, int table, uint32_t who)
{
	uint64_t held = UINT64_MAX, whole = UINT64_MAX;
	if (table == PFS_TABLE_ACCOUNT)
		held = held_of_party(snapshot, &snapshot->accounts[who], true);
	else if (table == PFS_TABLE_USER)
		held = held_of_party(snapshot, &snapshot->users[who], false);
	for (uint32_t i = 0; i < snapshot->limit_count; i++)
		if (snapshot->limits[i].scope == PFS_SCOPE_PROGRAM)
			whole = snapshot->limits[i].held_bytes;
	held = held < whole ? held : whole;
	return held < INT64_MAX ? (int64_t)held : INT64_MAX;
}
