/*
 * reader_owners.c - read the owners of a memory trace, parents first, and the limits of accounts
 * and threads with what they refused.
 */
#include <stdlib.h>
#include <string.h>

#include "limit_text.h"
#include "reader_inside.h"

/* A limit of a record, or the override in the control area; UINT64_MAX: none, from most on. */
static uint64_t limit_of(_Atomic(uint64_t) *outside, uint64_t own, uint64_t most)
{
	uint64_t limit = pfs_load_relaxed(outside); /* relaxed: shown */
	limit = limit != 0 ? limit - 1 : own;
	return limit < most ? limit : UINT64_MAX;
}

/* ---- owners ---- */

static uint32_t index_of(const struct pfs_snapshot *snapshot, uint32_t reference)
{
	for (uint32_t i = 0; i < snapshot->owner_count; i++)
		if (snapshot->owners[i].number + 1 == reference)
			return i;
	return PFS_NONE;
}

static uint32_t depth_of(const struct pfs_snapshot *snapshot, uint32_t index)
{
	uint32_t depth = 0;
	for (; index != PFS_NONE; index = snapshot->owners[index].parent)
		depth++;
	return depth;
}

static void take_owner(const struct pfs_reader *reader, struct pfs_snapshot *snapshot,
		       uint32_t number, const struct pfs_box_owner *record)
{
	struct pfs_seen_owner *seen = &snapshot->owners[snapshot->owner_count];
	*seen = (struct pfs_seen_owner){
		.number = number,
		.parent = PFS_NONE,
		.action = PFS_PLAIN(uint32_t, record->action),
		.own_bytes = PFS_PLAIN(uint64_t, record->own),
		.sum_bytes = PFS_PLAIN(uint64_t, record->sum),
		.high_bytes = PFS_PLAIN(uint64_t, record->high),
		.limit_bytes = limit_of(&pfs_reader_control(reader)->owner_limits[number],
					PFS_PLAIN(uint64_t, record->limit), PFS_BOX_OWNER_MOST),
		.refused = PFS_PLAIN(uint64_t, record->refused),
		.over = PFS_PLAIN(uint64_t, record->over),
		.bad = PFS_PLAIN(uint64_t, record->bad),
	};
	if (seen->high_bytes < seen->sum_bytes)
		seen->high_bytes = seen->sum_bytes; /* the adding thread is about to raise it */
	pfs_take_text(seen->name, record->name, sizeof(seen->name));
	if (record->parent != 0)
		seen->parent = index_of(snapshot, record->parent);
	const char *fault = memchr(record->name, '\0', sizeof(record->name)) == NULL
				    ? "its name is not terminated"
			    : seen->name[0] == '\0' ? "it has no name"
			    : record->parent != 0 && seen->parent == PFS_NONE
				    ? "its parent does not exist"
			    : seen->action > 2 ? "its action is invalid"
			    : depth_of(snapshot, seen->parent) >= PFS_BOX_OWNER_DEPTH
				    ? "it is nested too deeply"
				    : NULL;
	if (fault != NULL)
		pfs_snapshot_damage(snapshot, "owner %u: %s", number, fault);
	else
		snapshot->owner_count++;
}

bool pfs_take_owners(const struct pfs_reader *reader, struct pfs_snapshot *snapshot)
{
	struct pfs_box_head *head = pfs_reader_head(reader);
	uint64_t records = pfs_reader_records(reader, PFS_BOX_OWNERS);
	if (records > PFS_BOX_OWNERS_MAX)
		records = PFS_BOX_OWNERS_MAX;
	snapshot->owners_lost = pfs_load_relaxed(&head->owners_lost); /* relaxed: a count */
	snapshot->owners = calloc(records + 1, sizeof(*snapshot->owners));
	if (snapshot->owners == NULL)
		return false;
	for (uint64_t i = 0; i < records; i++) {
		struct pfs_box_owner record;
		uint32_t word;
		bool missed = false;
		if (pfs_reader_copy(reader, PFS_BOX_OWNERS, i, &record, &word, &missed))
			take_owner(reader, snapshot, (uint32_t)i, &record);
	}
	return true;
}

/* ---- limits ---- */

static void take_limit(const struct pfs_reader *reader, struct pfs_snapshot *snapshot,
		       uint32_t number, const struct pfs_box_limit *entry)
{
	struct pfs_seen_limit *seen = &snapshot->limits[snapshot->limit_count];
	*seen = (struct pfs_seen_limit){
		.number = number,
		.scope = PFS_PLAIN(uint32_t, entry->scope),
		.is_used = number < PFS_SCOPE_EACH_USER || PFS_PLAIN(uint32_t, entry->is_used) != 0,
		.limit_bytes = limit_of(&pfs_reader_control(reader)->limits[number],
					PFS_PLAIN(uint64_t, entry->bytes), UINT64_MAX - 1),
		.held_bytes = PFS_PLAIN(uint64_t, entry->held) - 1,
		.refused = PFS_PLAIN(uint64_t, entry->refused),
		.last_bytes = PFS_PLAIN(uint64_t, entry->last_bytes),
		.last_thread_id = PFS_PLAIN(uint64_t, entry->last_thread_id),
		.last_realtime_ns = PFS_PLAIN(uint64_t, entry->last_realtime_ns),
		.last_instrument = PFS_PLAIN(uint32_t, entry->last_instrument),
		.has_user = entry->has_user != 0,
		.has_host = entry->has_host != 0,
	};
	pfs_take_text(seen->user, entry->user_name, sizeof(seen->user));
	pfs_take_text(seen->host, entry->host_name, sizeof(seen->host));
	if (seen->scope > PFS_SCOPE_USER)
		pfs_snapshot_damage(snapshot, "limit %u: its scope is invalid", number);
	else
		snapshot->limit_count++;
}

bool pfs_take_limits(const struct pfs_reader *reader, struct pfs_snapshot *snapshot)
{
	uint64_t room = reader->regions[PFS_BOX_LIMITS].bytes / sizeof(struct pfs_box_limit);
	if (room > PFS_BOX_LIMITS_MAX)
		room = PFS_BOX_LIMITS_MAX;
	snapshot->limits = calloc(PFS_BOX_LIMITS_MAX, sizeof(*snapshot->limits));
	if (snapshot->limits == NULL)
		return false;
	for (uint32_t i = 0; i < room; i++) {
		struct pfs_box_limit entry;
		pfs_reader_array(reader, PFS_BOX_LIMITS, i * sizeof(entry), &entry, sizeof(entry));
		if (PFS_PLAIN(uint32_t, entry.scope) == 0)
			break;
		take_limit(reader, snapshot, i, &entry);
	}
	return true;
}

bool pfs_limits_are_fine(const char *text)
{
	struct pfs_limit_text limit;
	bool is_fine = text[0] != '\0';
	while (is_fine && *text != '\0')
		is_fine = pfs_limit_text_next(&text, &limit);
	return is_fine;
}
