/*
 * observer.c - walks, look-ups and optimistic reads by threads that do not own the records.
 */
#include <unistd.h>

#include "crowd.h"

#define PARK_STEP_US 1000u

/* A confirmed read must be of one writing of a living record. */
static void read_body(struct pfs_worker *self, const void *record, struct pfs_glance glance)
{
	uint64_t words[PFS_BODY_WORDS];
	if (self->crowd->mode != PFS_MODE_OPTIMISTIC)
		return; /* the bytes are written without atomics */
	pfs_bytes_load(words, record, sizeof(words));
	if (!pfs_read_end(record, glance))
		return;
	self->deeds->reads++;
	for (uint32_t i = 0; i < PFS_BODY_WORDS; i++) {
		if (words[i] != words[0] * (2 * i + 1) || words[0] == 0 || words[0] % 2 != 0)
			pfs_harm(self->crowd,
				 "a confirmed read is torn: word %u is 0x%llx, "
				 "word 0 is 0x%llx",
				 i, (unsigned long long)words[i], (unsigned long long)words[0]);
	}
}

void pfs_worker_walk(struct pfs_worker *self)
{
	struct pfs_walk walk;
	uint64_t next = 0;
	void *record;
	if (!self->crowd->has_index)
		return;
	pfs_walk_begin(&walk, self->thread,
		       pfs_below(&self->random, 2) == 0 ? PFS_WALK_LIVE : PFS_WALK_ALL);
	while ((record = pfs_walk_next(&walk)) != NULL) {
		if (walk.index < next || walk.index >= self->crowd->capacity)
			pfs_harm(self->crowd, "a walk came to record %llu after %llu",
				 (unsigned long long)walk.index, (unsigned long long)next);
		next = walk.index + 1;
		read_body(self, record, walk.glance);
	}
	pfs_walk_end(&walk);
	self->deeds->walks++;
}

void pfs_worker_look_up(struct pfs_worker *self)
{
	struct pfs_crowd *crowd = self->crowd;
	if (!crowd->has_index)
		return;
	pfs_enter(self->thread);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t index = pfs_below(&self->random, (uint32_t)crowd->capacity + 8);
		void *record = pfs_lookup(self->thread, index);
		if (record == NULL)
			continue;
		uint64_t found = pfs_index(self->thread, record);
		bool may_be_gone = (crowd->layout == PFS_LAYOUT_BARE ||
				    crowd->layout == PFS_LAYOUT_OWN_WORD) &&
				   found == PFS_INDEX_NONE;
		if (found != index && !may_be_gone)
			pfs_harm(crowd, "look-up of %llu found another record",
				 (unsigned long long)index);
		read_body(self, record, pfs_read_begin(record));
	}
	pfs_leave(self->thread);
}

/* pfs_owns accepts own records, and refuses pointers next to them. */
void pfs_worker_ask_owns(struct pfs_worker *self)
{
	if (!self->crowd->has_index || self->held_count == 0)
		return;
	char *record = self->held[pfs_below(&self->random, self->held_count)].record;
	if (!pfs_owns(self->thread, record))
		pfs_harm(self->crowd, "a live record is not found by its pointer");
	if (pfs_owns(self->thread, record + 8))
		pfs_harm(self->crowd, "a pointer into a record is taken for a record");
}

/* Stay in a section, with records looked up, until the crowd stops. Their memory must stay,
 * whatever is given back meanwhile. */
void pfs_worker_park_in_section(struct pfs_worker *self)
{
	struct pfs_crowd *crowd = self->crowd;
	void *seen[16];
	uint32_t count = 0;
	pfs_enter(self->thread);
	for (uint32_t try = 0; try < 1000 && count < 16; try++) {
		void *record = pfs_lookup(self->thread,
					  pfs_below(&self->random, (uint32_t)crowd->capacity));
		if (record != NULL)
			seen[count++] = record;
	}
	while (!pfs_crowd_flag(&crowd->stop)) {
		(void)usleep(PARK_STEP_US);
		for (uint32_t i = 0; i < count; i++)
			read_body(self, seen[i], pfs_read_begin(seen[i]));
	}
	pfs_leave(self->thread);
}
