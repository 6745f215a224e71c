/*
 * history_order.c - the search for an order of calls.
 */
#include <stdlib.h>
#include <string.h>

#include "check/front/history.h"

#define MET_ROOM (UINT32_C(1) << 18) /* slots, of which half are used */
#define MET_BYTES ((size_t)64 << 20)

/* A set of calls that were made, and the state that they left; state_bytes follow. */
struct met {
	uint64_t done;
	uint32_t round; /* the search that it belongs to; 0: none */
	char state[];
};

static struct {
	char *slots;
	size_t stride;
	uint32_t room, used, round;
} met;

struct order_search {
	const struct pfs_call *calls;
	const uint64_t *before;
	uint32_t count;
	uint64_t wanted; /* those that returned */
	size_t state_bytes;
	pfs_history_step *step;
	char *states; /* [count + 1] */
	uint32_t order[PFS_HISTORY_MAX];
	struct pfs_history_longest *longest;
	bool too_many;
};

static bool begin_met(size_t state_bytes)
{
	size_t stride = (sizeof(struct met) + state_bytes + 7) / 8 * 8;
	met.used = 0;
	met.round++;
	if (met.stride == stride)
		return true;
	free(met.slots);
	met.stride = stride;
	met.room = MET_ROOM;
	while (met.room * stride > MET_BYTES)
		met.room /= 2;
	met.slots = calloc(met.room, stride);
	if (met.slots == NULL)
		met.stride = 0;
	return met.slots != NULL;
}

static uint64_t hash_of(uint64_t done, const unsigned char *state, size_t bytes)
{
	uint64_t hash = done * UINT64_C(0x9E3779B97F4A7C15) ^ UINT64_C(0xCBF29CE484222325);
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ state[i]) * UINT64_C(0x100000001B3);
	return hash ^ hash >> 29;
}

/* Was it visited before? From now on it was. */
static bool was_met(struct order_search *self, uint64_t done, const char *state)
{
	uint64_t at = hash_of(done, (const unsigned char *)state, self->state_bytes);
	for (;; at++) {
		struct met *slot = (void *)(met.slots + (at & (met.room - 1)) * met.stride);
		if (slot->round != met.round) {
			self->too_many |= ++met.used > met.room / 2;
			slot->round = met.round;
			slot->done = done;
			memcpy(slot->state, state, self->state_bytes);
			return false;
		}
		if (slot->done == done && memcmp(slot->state, state, self->state_bytes) == 0)
			return true;
	}
}

/* An order that is longer than all before, and, until one is longer, the calls that could not
 * follow it. */
static void note_longest(struct order_search *self, uint32_t depth)
{
	self->longest->count = depth;
	self->longest->refused_count = 0;
	memcpy(self->longest->order, self->order, depth * sizeof(self->order[0]));
}

static void note_refused(struct order_search *self, uint32_t call, int64_t wanted)
{
	struct pfs_history_longest *longest = self->longest;
	longest->refused[longest->refused_count] = call;
	longest->wanted[longest->refused_count++] = wanted;
}

/* Can the calls that are not done follow those that are? */
static bool fits(struct order_search *self, uint64_t done, uint32_t depth)
{
	char *state = self->states + depth * self->state_bytes, *next = state + self->state_bytes;
	if ((self->wanted & ~done) == 0)
		return true;
	if (was_met(self, done, state) || self->too_many)
		return false;
	bool is_longest = depth > self->longest->count || depth == 0;
	if (is_longest)
		note_longest(self, depth);
	for (uint32_t i = 0; i < self->count; i++) {
		const struct pfs_call *call = &self->calls[i];
		uint64_t bit = UINT64_C(1) << i;
		if ((done & bit) != 0 || (self->before[i] & ~done) != 0)
			continue;
		memcpy(next, state, self->state_bytes);
		int64_t gives = self->step(next, call->operation, call->argument,
					   call->returned ? call->result : 0);
		if (call->returned && gives != call->result) {
			if (is_longest && self->longest->count == depth)
				note_refused(self, i, gives);
			continue;
		}
		self->order[depth] = i;
		if (fits(self, done | bit, depth + 1))
			return true;
	}
	return false;
}

enum pfs_history_verdict pfs_history_order(const struct pfs_call *calls, const uint64_t *before,
					   uint32_t count, const void *initial, size_t state_bytes,
					   pfs_history_step *step,
					   struct pfs_history_longest *longest)
{
	static char *states;
	static size_t states_room;
	size_t needed = (count + 1) * state_bytes;
	struct order_search self = { .calls = calls,
				     .before = before,
				     .count = count,
				     .state_bytes = state_bytes,
				     .step = step,
				     .longest = longest };
	*longest = (struct pfs_history_longest){ 0 };
	if (needed > states_room) {
		free(states);
		states = malloc(needed);
		states_room = states != NULL ? needed : 0;
	}
	if (states_room == 0 || !begin_met(state_bytes))
		return PFS_HISTORY_TOO_MANY;
	self.states = states;
	memcpy(states, initial, state_bytes);
	for (uint32_t i = 0; i < count; i++)
		self.wanted |= (uint64_t)calls[i].returned << i;
	if (fits(&self, 0, 0))
		return PFS_HISTORY_FIT;
	return self.too_many ? PFS_HISTORY_TOO_MANY : PFS_HISTORY_DO_NOT;
}
