#include "check/search/seen.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST (UINT64_C(1) << 12)

void pfs_seen_fini(struct pfs_seen *self)
{
	free(self->states);
}

void pfs_seen_clear(struct pfs_seen *self)
{
	if (self->states != NULL)
		memset(self->states, 0, self->room * sizeof(*self->states));
	self->count = 0;
}

static uint64_t *slot_of(const struct pfs_seen *self, uint64_t state)
{
	uint64_t mask = self->room - 1, at = state & mask;
	while (self->states[at] != 0 && self->states[at] != state)
		at = (at + 1) & mask;
	return &self->states[at];
}

bool pfs_seen_make_room(struct pfs_seen *self)
{
	struct pfs_seen wider = *self;
	if (3 * self->count < 2 * self->room)
		return true;
	wider.room = self->room != 0 ? self->room * 2 : ROOM_FIRST;
	wider.states = calloc(wider.room, sizeof(*wider.states));
	if (wider.states == NULL)
		return false;
	for (uint64_t i = 0; i < self->room; i++) {
		if (self->states[i] != 0)
			*slot_of(&wider, self->states[i]) = self->states[i];
	}
	free(self->states);
	*self = wider;
	return true;
}

bool pfs_seen_add(struct pfs_seen *self, uint64_t state)
{
	uint64_t *slot = slot_of(self, state);
	if (*slot == state)
		return false;
	*slot = state;
	self->count++;
	return true;
}
