/*
 * reader_limits.c - the limits of accounts and threads, and what they refused.
 */
#include <stdlib.h>
#include <string.h>

#include "limit_text.h"
#include "reader_inside.h"

/* A private copy of an entry needs no atomic load. */
#define PLAIN(type, word) (*(const type *)(const void *)&(word))

static uint64_t limit_of(const struct pfs_reader *reader, uint32_t number, uint64_t own)
{
	struct pfs_box_control *control = pfs_reader_control(reader);
	uint64_t outside = pfs_load_relaxed(&control->limits[number]); /* relaxed: shown */
	uint64_t limit = outside != 0 ? outside - 1 : own;
	return limit < UINT64_MAX - 1 ? limit : UINT64_MAX;
}

static void take(const struct pfs_reader *reader, struct pfs_snapshot *snapshot, uint32_t number,
		 const struct pfs_box_limit *entry)
{
	struct pfs_seen_limit *seen = &snapshot->limits[snapshot->limit_count];
	*seen = (struct pfs_seen_limit){
		.number = number,
		.scope = PLAIN(uint32_t, entry->scope),
		.limit_bytes = limit_of(reader, number, PLAIN(uint64_t, entry->bytes)),
		.refused = PLAIN(uint64_t, entry->refused),
		.last_bytes = PLAIN(uint64_t, entry->last_bytes),
		.last_thread_id = PLAIN(uint64_t, entry->last_thread_id),
		.last_realtime_ns = PLAIN(uint64_t, entry->last_realtime_ns),
		.last_instrument = PLAIN(uint32_t, entry->last_instrument),
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
		if (PLAIN(uint32_t, entry.scope) == 0)
			break;
		take(reader, snapshot, i, &entry);
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
