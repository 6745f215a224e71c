/*
 * room.c - see room.h.
 */
#include "room.h"

static uint32_t nodes_above(uint32_t children)
{
	return children / PFS_ROOM_FAN + (children % PFS_ROOM_FAN != 0);
}

uint32_t pfs_room_node_count(uint32_t leaves)
{
	uint32_t sum = 0;
	uint32_t width = leaves;
	do {
		width = nodes_above(width);
		sum += width;
	} while (width > 1);
	return sum;
}

void pfs_room_init(struct pfs_room *self, uint32_t leaves, struct pfs_room_node *nodes)
{
	uint32_t width = leaves;
	self->depth = 0;
	do {
		PFS_ASSERT(self->depth < PFS_ROOM_DEPTH_MAX, "a tree over too many leaves");
		self->width[self->depth] = width;
		width = nodes_above(width);
		self->level[self->depth++] = nodes;
		nodes += width;
	} while (width > 1);
}

static inline _Atomic(uint64_t) *states_of(const struct pfs_room *self, uint32_t level,
					   uint32_t node)
{
	return &self->level[level][node].states;
}

static inline uint32_t shift_of(uint32_t position)
{
	return position % PFS_ROOM_FAN * 2;
}

static void raise_bits(_Atomic(uint64_t) *states, uint64_t bits)
{
	/* [T1] acquire, pairs with [T6]. */
	if ((pfs_load_acquire(states) & bits) != bits)
		(void)pfs_fetch_or_acquire(states, bits); /* [T2] acquire, pairs with [T6] */
}

static void raise_from(const struct pfs_room *self, uint32_t level, uint32_t position)
{
	for (; level < self->depth; level++) {
		raise_bits(states_of(self, level, position / PFS_ROOM_FAN),
			   PFS_ROOM_ROOM << shift_of(position));
		position /= PFS_ROOM_FAN;
	}
}

void pfs_room_raise(const struct pfs_room *self, uint32_t leaf)
{
	raise_from(self, 0, leaf);
}

void pfs_room_raise_all(const struct pfs_room *self, uint32_t count)
{
	for (uint32_t level = 0; level < self->depth; level++) {
		uint32_t width = nodes_above(count);
		for (uint32_t node = 0; node < width; node++) {
			uint32_t left = count - node * PFS_ROOM_FAN;
			uint32_t children = left < PFS_ROOM_FAN ? left : PFS_ROOM_FAN;
			uint64_t all = (UINT64_C(1) << 2 * children) - 1;
			raise_bits(states_of(self, level, node),
				   all & UINT64_C(0x5555555555555555) * PFS_ROOM_ROOM);
		}
		count = width;
	}
}

static bool clear_begin(_Atomic(uint64_t) *states, uint32_t shift, uint64_t *held)
{
	uint64_t seen = pfs_load_relaxed(states); /* relaxed: the CAS verifies it */
	uint64_t next = (seen & ~(PFS_ROOM_ROOM << shift)) | PFS_ROOM_CLEARING << shift;
	if ((seen & PFS_ROOM_STATE << shift) == 0)
		return false;
	*held = seen;
	if ((seen & PFS_ROOM_ROOM << shift) == 0) /* a thread stopped in CLEARING: go on */
		return true;
	*held = next + PFS_ROOM_CLEARED;
	/* relaxed: [T5] after it releases it. */
	return pfs_cas_relaxed(states, &seen, *held);
}

/* True: the node shows EMPTY for all children. */
static bool clear_end(_Atomic(uint64_t) *states, uint32_t shift, uint64_t held)
{
	uint64_t next = held & ~(PFS_ROOM_CLEARING << shift);
	/* [T6] acq_rel, pairs with [T1], [T2] and [T7]: what was cleared below, and what was
	 * dropped there, goes before. */
	return pfs_cas_acq_rel(states, &held, next) && pfs_room_is_empty(next);
}

/* A node was found EMPTY: clear it in its parent, and so on upwards. */
static void clear_up(const struct pfs_room *self, uint32_t level, uint32_t node)
{
	bool is_clear = true;
	for (; is_clear && level + 1 < self->depth; level++) {
		_Atomic(uint64_t) *child = states_of(self, level, node);
		_Atomic(uint64_t) *parent = states_of(self, level + 1, node / PFS_ROOM_FAN);
		uint64_t held = 0;
		if (!clear_begin(parent, shift_of(node), &held))
			return;
		uint64_t seen = pfs_load_relaxed(child); /* relaxed: [T5] verifies it */
		/* [T5] acq_rel, pairs with [T2]: a later raiser sees that the parent is being
		 * cleared. */
		if (!pfs_room_is_empty(seen) || !pfs_cas_acq_rel(child, &seen, seen))
			return;
		is_clear = clear_end(parent, shift_of(node), held);
		node /= PFS_ROOM_FAN;
	}
}

bool pfs_room_clear_begin(const struct pfs_room *self, uint32_t leaf, uint64_t *held)
{
	return clear_begin(states_of(self, 0, leaf / PFS_ROOM_FAN), shift_of(leaf), held);
}

void pfs_room_clear_end(const struct pfs_room *self, uint32_t leaf, uint64_t held)
{
	if (clear_end(states_of(self, 0, leaf / PFS_ROOM_FAN), shift_of(leaf), held))
		clear_up(self, 0, leaf / PFS_ROOM_FAN);
}

void pfs_room_drop(const struct pfs_room *self, uint32_t leaf, const struct pfs_room *below)
{
	_Atomic(uint64_t) *states = states_of(self, 0, leaf / PFS_ROOM_FAN);
	uint64_t mask = PFS_ROOM_STATE << shift_of(leaf);
	uint64_t seen = pfs_load_relaxed(states); /* relaxed: [T8] verifies it */
	uint64_t next = seen;
	do {
		next = (seen & ~mask) + PFS_ROOM_CLEARED;
		/* [T8] acq_rel, pairs with [T7]: the move began before. */
	} while (!pfs_cas_acq_rel(states, &seen, next));
	if (pfs_room_is_empty(next))
		clear_up(self, 0, leaf / PFS_ROOM_FAN);
	_Atomic(uint64_t) *root = pfs_room_root(below);
	seen = pfs_load_relaxed(root); /* relaxed: [T9] verifies it */
	/* [T9] acq_rel, pairs with [T2]: a later raiser sees the drop. */
	while (!pfs_cas_acq_rel(root, &seen, seen))
		continue;
}

/* The first child, from `child` on, whose state is not EMPTY; PFS_ROOM_FAN if there is none. */
static uint32_t next_child(uint64_t states, uint32_t child)
{
	uint32_t left = (uint32_t)states >> 2 * child;
	return left != 0 ? child + (uint32_t)__builtin_ctz(left) / 2 : PFS_ROOM_FAN;
}

uint32_t pfs_room_next(const struct pfs_room *self, uint32_t from)
{
	uint32_t level = 0;
	uint32_t at = from;
	while (level < self->depth && at < self->width[level]) {
		uint32_t node = at / PFS_ROOM_FAN;
		/* relaxed: a hint; what is found is verified, what is missed is left to the
		 * proof. */
		uint64_t states = pfs_load_relaxed(states_of(self, level, node));
		uint32_t child = next_child(states, at % PFS_ROOM_FAN);
		if (child < PFS_ROOM_FAN && level == 0)
			return node * PFS_ROOM_FAN + child;
		if (child < PFS_ROOM_FAN) {
			at = (node * PFS_ROOM_FAN + child) * PFS_ROOM_FAN;
			level--;
			continue;
		}
		if (pfs_room_is_empty(states))
			clear_up(self, level, node);
		at = node + 1;
		level++;
	}
	return PFS_ROOM_NONE;
}
