/*
 * reader_owners.c - the owners of a memory trace, parents first.
 */
#include <stdlib.h>
#include <string.h>

#include "reader_inside.h"

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

static uint64_t limit_of(const struct pfs_reader *reader, uint64_t number, uint64_t own)
{
	struct pfs_box_control *control = pfs_reader_control(reader);
	uint64_t outside = pfs_load_relaxed(&control->owner_limits[number]); /* relaxed: shown */
	uint64_t limit = outside != 0 ? outside - 1 : own;
	return limit < PFS_BOX_OWNER_MOST ? limit : UINT64_MAX;
}

/* A private copy of a record needs no atomic load. */
#define PLAIN(type, word) (*(const type *)(const void *)&(word))

static void take_owner(const struct pfs_reader *reader, struct pfs_snapshot *snapshot,
		       uint32_t number, const struct pfs_box_owner *record)
{
	struct pfs_seen_owner *seen = &snapshot->owners[snapshot->owner_count];
	*seen = (struct pfs_seen_owner){
		.number = number,
		.parent = PFS_NONE,
		.action = PLAIN(uint32_t, record->action),
		.own_bytes = PLAIN(uint64_t, record->own),
		.sum_bytes = PLAIN(uint64_t, record->sum),
		.high_bytes = PLAIN(uint64_t, record->high),
		.limit_bytes = limit_of(reader, number, PLAIN(uint64_t, record->limit)),
		.refused = PLAIN(uint64_t, record->refused),
		.over = PLAIN(uint64_t, record->over),
		.bad = PLAIN(uint64_t, record->bad),
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
