#include "check/machine/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST ((size_t)1 << 16)

/* Before the bytes of each part. */
struct part {
	void *at;
	uint32_t bytes;
	bool is_count; /* added, not copied */
};

void pfs_snapshot_fini(struct pfs_machine_snapshot *self)
{
	free(self->bytes);
}

static bool make_room(struct pfs_machine_snapshot *self, size_t bytes)
{
	size_t room = self->room != 0 ? self->room : ROOM_FIRST;
	while (room < self->used + bytes)
		room *= 2;
	if (room == self->room)
		return true;
	char *longer = realloc(self->bytes, room);
	self->no_memory |= longer == NULL;
	if (longer == NULL)
		return false;
	self->bytes = longer;
	self->room = room;
	return true;
}

/* Field by field: a 16-byte load of bytes just written by smaller stores would stall. */
static void put(struct pfs_machine_snapshot *self, void *at, uint32_t bytes, bool is_count,
		const void *from)
{
	size_t padded = (bytes + 7u) & ~(size_t)7;
	if (self->no_memory || !make_room(self, sizeof(struct part) + padded))
		return;
	struct part *part = (struct part *)(void *)(self->bytes + self->used);
	part->at = at;
	part->bytes = bytes;
	part->is_count = is_count;
	memcpy(part + 1, from, bytes);
	self->used += sizeof(*part) + padded;
}

void pfs_snapshot_put(struct pfs_machine_snapshot *self, void *at, size_t bytes)
{
	self->no_memory |= bytes > UINT32_MAX / 2;
	if (bytes != 0)
		put(self, at, (uint32_t)bytes, false, at);
}

void pfs_snapshot_put_count(struct pfs_machine_snapshot *self, uint64_t *count, uint64_t added)
{
	put(self, count, sizeof(*count), true, &added);
}

static void add_count(uint64_t *count, const char *from)
{
	uint64_t added;
	memcpy(&added, from, sizeof(added));
	*count += added;
}

void pfs_snapshot_restore(const struct pfs_machine_snapshot *self)
{
	for (size_t at = 0; at < self->used;) {
		struct part part;
		const char *from = self->bytes + at + sizeof(part);
		memcpy(&part, self->bytes + at, sizeof(part));
		if (part.is_count)
			add_count(part.at, from);
		else
			memcpy(part.at, from, part.bytes);
		at += sizeof(part) + ((part.bytes + 7u) & ~(size_t)7);
	}
}

bool pfs_snapshot_part(const struct pfs_machine_snapshot *self, size_t *at, void **place,
		       size_t *bytes)
{
	struct part part;
	if (*at >= self->used)
		return false;
	memcpy(&part, self->bytes + *at, sizeof(part));
	*place = part.at;
	*bytes = part.bytes;
	*at += sizeof(part) + ((part.bytes + 7u) & ~(size_t)7);
	return true;
}
