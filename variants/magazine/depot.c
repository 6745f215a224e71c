/*
 * depot.c - see depot.h.
 */
#include "depot.h"

#include "containers/lines.h"

#define RESERVE_LOOKS 8u

_Static_assert(PFS_BLOCK_FULL < PFS_BLOCK_CLAIMED, "pfs_block_has_records asks for no less");

static uint64_t next_state(uint64_t seen, enum pfs_block_state state)
{
	return ((seen + PFS_BLOCK_TURN) & ~(uint64_t)PFS_BLOCK_STATE_MASK) | (uint64_t)state;
}

static enum pfs_block_state state_of(uint64_t state)
{
	return (enum pfs_block_state)(state & PFS_BLOCK_STATE_MASK);
}

static uint32_t blocks_of(uint64_t records)
{
	uint64_t blocks = records / PFS_MAGAZINE_RECORDS;
	return blocks < PFS_DEPOT_BLOCKS_MOST ? (uint32_t)blocks : PFS_DEPOT_BLOCKS_MOST;
}

struct pfs_depot *pfs_depots_new(uint32_t nodes, uint64_t records, void **memory)
{
	uint32_t blocks = blocks_of(records);
	uint32_t room_nodes = blocks != 0 ? pfs_room_node_count(blocks) : 0;
	size_t head = pfs_lines_of(nodes * sizeof(struct pfs_depot));
	size_t each = blocks * (sizeof(struct pfs_block) / PFS_LINE) + room_nodes;
	struct pfs_depot *depots = pfs_lines_new(head + each * nodes, memory);
	if (depots == NULL)
		return NULL;
	char *next = (char *)depots + head * PFS_LINE;
	for (uint32_t i = 0; i < nodes; i++) {
		depots[i].block_count = blocks;
		depots[i].blocks = (void *)next;
		next += blocks * sizeof(struct pfs_block);
		if (blocks != 0)
			pfs_room_init(&depots[i].room, blocks, (void *)next);
		next += room_nodes * sizeof(struct pfs_room_node);
	}
	return depots;
}

uint64_t pfs_depot_bytes(struct pfs_depot *self)
{
	uint64_t sum = sizeof(*self);
	for (uint32_t i = 0; i < self->block_count; i++) /* relaxed: a metric */
		sum += pfs_load_relaxed(&self->blocks[i].state) != 0 ? sizeof(struct pfs_block) : 0;
	return self->block_count == 0 ? sum
				      : sum + pfs_room_node_count(self->block_count) *
							sizeof(struct pfs_room_node);
}

bool pfs_depot_reserve(struct pfs_depot *self, uint32_t from, struct pfs_hold *hold)
{
	uint32_t looks = self->block_count < RESERVE_LOOKS ? self->block_count : RESERVE_LOOKS;
	for (uint32_t i = 0; i < looks; i++) {
		uint32_t block = (from + i) % self->block_count;
		_Atomic(uint64_t) *state = &pfs_depot_block(self, block)->state;
		uint64_t seen = pfs_load_relaxed(state); /* relaxed: [Y6] verifies it */
		*hold = (struct pfs_hold){ self, block, next_state(seen, PFS_BLOCK_FILLING) };
		/* [Y6] acquire, pairs with [Y5]: what was here has been copied. */
		if (state_of(seen) == PFS_BLOCK_EMPTY && pfs_cas_acquire(state, &seen, hold->state))
			return true;
	}
	return false;
}

/* The first thread that tries ends a hold. */
static bool end(struct pfs_hold hold, enum pfs_block_state state)
{
	/* [Y5] acq_rel, pairs with [Y6] and [Y8]; a block that is FULL again carries what it did
	 * before. */
	return pfs_cas_acq_rel(&pfs_hold_block(hold)->state, &hold.state,
			       next_state(hold.state, state));
}

bool pfs_depot_fill(struct pfs_hold hold)
{
	/* [Y3] acq_rel, pairs with [Y4], [Y7] and [Y8]. */
	if (!pfs_cas_acq_rel(&pfs_hold_block(hold)->state, &hold.state,
			     next_state(hold.state, PFS_BLOCK_FULL)))
		return false;
	pfs_room_raise(&hold.depot->room, hold.block);
	return true;
}

bool pfs_depot_spoil(struct pfs_hold hold)
{
	return end(hold, PFS_BLOCK_SPOILED);
}

void pfs_depot_drop(struct pfs_hold hold)
{
	if (end(hold, PFS_BLOCK_EMPTY))
		return;
	hold.state = next_state(hold.state, PFS_BLOCK_SPOILED);
	(void)end(hold, PFS_BLOCK_EMPTY);
}

bool pfs_depot_empty(struct pfs_hold hold)
{
	return end(hold, PFS_BLOCK_EMPTY);
}

/* Its path still shows it: no thread clears a block that is CLAIMED. */
bool pfs_depot_return(struct pfs_hold hold)
{
	return end(hold, PFS_BLOCK_FULL);
}

static void clear(struct pfs_depot *self, uint32_t block)
{
	_Atomic(uint64_t) *state = &pfs_depot_block(self, block)->state;
	uint64_t held = 0;
	if (!pfs_room_clear_begin(&self->room, block, &held))
		return;
	uint64_t seen = pfs_load_relaxed(state); /* relaxed: [Y7] verifies it */
	/* [Y7] acq_rel, pairs with [Y3]: a later filler sees that the path is being cleared. */
	if (!pfs_block_has_records(seen) && pfs_cas_acq_rel(state, &seen, seen))
		pfs_room_clear_end(&self->room, block, held);
}

static bool claim_block(struct pfs_depot *self, uint32_t block, uint64_t *seen,
			struct pfs_hold *hold)
{
	*hold = (struct pfs_hold){ self, block, next_state(*seen, PFS_BLOCK_CLAIMED) };
	/* [Y4] acq_rel, pairs with [Y3]: the entries. [Y9] acq_rel, pairs with [Y10]. */
	return pfs_cas_acq_rel(&pfs_depot_block(self, block)->state, seen, hold->state);
}

/* A block that shows room: if it is FULL, claim it, or with hold NULL only report it; if it has no
 * records, clear it. */
static bool claim_full(struct pfs_depot *self, uint32_t block, struct pfs_hold *hold)
{
	/* relaxed: [Y4] verifies it */
	uint64_t seen = pfs_load_relaxed(&pfs_depot_block(self, block)->state);
	if (state_of(seen) == PFS_BLOCK_FULL &&
	    (hold == NULL || claim_block(self, block, &seen, hold)))
		return true;
	if (!pfs_block_has_records(seen))
		clear(self, block);
	return false;
}

static bool claim_between(struct pfs_depot *self, uint32_t from, uint32_t to, struct pfs_hold *hold)
{
	uint32_t block = pfs_room_next(&self->room, from);
	for (; block < to; block = pfs_room_next(&self->room, block + 1)) {
		if (claim_full(self, block, hold))
			return true;
	}
	return false;
}

bool pfs_depot_claim(struct pfs_depot *self, uint32_t from, struct pfs_hold *hold)
{
	if (self->block_count == 0)
		return false;
	/* relaxed: a hint; what is missed is left to the proof. */
	if (pfs_room_is_empty(pfs_load_relaxed(pfs_room_root(&self->room))))
		return false;
	from %= self->block_count;
	return claim_between(self, from, PFS_ROOM_NONE, hold) || claim_between(self, 0, from, hold);
}

bool pfs_depot_has_full(struct pfs_depot *self, uint32_t from)
{
	return pfs_depot_claim(self, from, NULL);
}

/* The same for a taker that empties all blocks. If a block that is met again changes at this
 * moment, because its receiver returns it, it is treated like any other. */
static bool seize_block(struct pfs_depot *self, struct pfs_seizure *seizure, bool again)
{
	struct pfs_block *block = pfs_depot_block(self, seizure->block);
	/* [Y10] acquire, pairs with [Y9]: the ring of the thread that claimed it is open. */
	uint64_t seen = pfs_load_acquire(&block->state);
	if (state_of(seen) != PFS_BLOCK_CLAIMED)
		return claim_full(self, seizure->block, &seizure->hold);
	if (again && seen == block->met)
		return claim_block(self, seizure->block, &seen, &seizure->hold) ||
		       claim_full(self, seizure->block, &seizure->hold);
	block->met = seen;
	seizure->met_claimed = true;
	return false;
}

bool pfs_depot_seize(struct pfs_depot *self, struct pfs_seizure *seizure, bool again)
{
	if (self->block_count == 0)
		return false;
	uint32_t block = pfs_room_next(&self->room, seizure->block);
	for (; block != PFS_ROOM_NONE; block = pfs_room_next(&self->room, block + 1)) {
		seizure->block = block;
		if (seize_block(self, seizure, again))
			return true;
	}
	return false;
}
