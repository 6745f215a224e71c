/*
 * room.h - where there is room: a tree over leaves, whose root tells that there is none.
 *
 * Leaves are the words of a page, or the pages of a node. Each node has the states of up to
 * PFS_ROOM_FAN children, two bits each, and a version:
 *
 *	EMPTY     nothing is free below, except what is announced from now on
 *	ROOM      something may be free below
 *	CLEARING  a thread found the child empty and is about to say so; alone or with ROOM
 *
 * A free that gives an empty leaf room raises the leaf's path, all levels up to the root, and only
 * then is it complete. A search that finds a child empty clears it in three steps. ROOM becomes
 * CLEARING and the version rises. The search looks at the child once more, by a CAS that changes
 * nothing. CLEARING becomes EMPTY if the node has not changed. A free in between is either seen by
 * the second look, or it sees CLEARING and sets ROOM, which makes the last step fail. If a thread
 * stops in CLEARING, any other thread goes on from there.
 *
 * Invariants
 *	[N1] a path is raised bottom up, and every level is looked at: if a lower level shows ROOM,
 *	     its raiser may have stopped before it raised the upper ones.
 *	[N2] a state becomes EMPTY only by a CAS from the very value, version included, that its
 *	     clearer read or wrote before its second look.
 *	[N3] so if the root shows EMPTY for all children, the record of every free that had returned
 *	     before has been allocated again: docs/explanation/exact.md has the proof.
 *
 * Ordering:  [T1] raise, look: load, acquire    <->  [T6] end: CAS, acq_rel
 *            [T2] raise: fetch-or, acquire      <->  [T6] end: CAS, acq_rel
 *            both carry: what was cleared before, so that the next level is looked at after it
 *            [T5] second look: CAS, acq_rel     <->  [T2] raise; and [W2] for words
 *            carries: CLEARING, to every raiser that changes the child after the look
 *            [T6] end: CAS, acq_rel             <->  [T1] [T2] raise
 *            [T7] root: load, acquire           <->  [T6] end
 *            carries: from one root to the next, all that went before;
 *            docs/explanation/exact.md
 *            [T8] drop: CAS, acq_rel            <->  [T7] root
 *            carries: that a move is under way, to a proof that finds the leaf gone
 *            [T9] look after a drop: CAS, acq_rel  <->  [T2] raise, in the leaf's own tree
 *            carries: the drop, to every raiser that changes the leaf's tree after the look
 * Source:    an indicator with announced clearing, after the idea of SNZI (F. Ellen, Y. Lev, V.
 *            Luchangco and M. Moir, Scalable nonzero indicators, PODC 2007); the protocol is our
 *            own.
 */
#ifndef PFS_ROOM_H
#define PFS_ROOM_H

#include <stdalign.h>

#include "containers/atomic.h"
#include "containers/compiler.h"

#ifdef PFS_SIM /* fewer in some searches, so that small trees have several levels */
uint32_t pfs_sim_room_fan(void);
#define PFS_ROOM_FAN pfs_sim_room_fan()
#else
#define PFS_ROOM_FAN 16u
#endif
#define PFS_ROOM_DEPTH_MAX 8u
#define PFS_ROOM_NONE UINT32_MAX

/* For child c: these bits shifted by 2 * c. */
#define PFS_ROOM_ROOM UINT64_C(1)
#define PFS_ROOM_CLEARING UINT64_C(2)
#define PFS_ROOM_STATE (PFS_ROOM_ROOM | PFS_ROOM_CLEARING)
#define PFS_ROOM_CLEARED (UINT64_C(1) << 32) /* one more in the version */

struct pfs_room_node {
	alignas(PFS_LINE) _Atomic(uint64_t) states; /* any thread */
};

/* Written by init only, except the nodes. */
struct pfs_room {
	struct pfs_room_node *level[PFS_ROOM_DEPTH_MAX]; /* the leaves' parents first */
	uint32_t width[PFS_ROOM_DEPTH_MAX];              /* children of a level's nodes */
	uint32_t depth;
};

/* Nodes of a tree over this many leaves, at least 1. */
uint32_t pfs_room_node_count(uint32_t leaves);

/* Make a tree in node_count zeroed nodes: all EMPTY. */
void pfs_room_init(struct pfs_room *self, uint32_t leaves, struct pfs_room_node *nodes);

static inline bool pfs_room_is_empty(uint64_t states)
{
	return (uint32_t)states == 0;
}

static inline _Atomic(uint64_t) *pfs_room_root(const struct pfs_room *self)
{
	return &self->level[self->depth - 1][0].states;
}

/*
 * pfs_room_raise - announce that a leaf has room: its whole path shows ROOM when this returns.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  wait-free: a load a level, and a fetch-or if it does not show ROOM.
 * Order     acquire [T1] [T2].
 */
void pfs_room_raise(const struct pfs_room *self, uint32_t leaf);

/* The same for all leaves below count, at the cost of a fetch-or a node. */
void pfs_room_raise_all(const struct pfs_room *self, uint32_t count);

/*
 * pfs_room_next - the first leaf, from `from` on, whose path may show room.
 *
 * Returns   a leaf, or PFS_ROOM_NONE. A hint: the leaf may be empty, and a leaf that is raised
 *           meanwhile may be missed. Nodes that are found empty are cleared.
 * Errors    none.
 * Progress  lock-free; at most 2 * depth nodes from one leaf to the next without interference.
 * Order     relaxed; that of clearing as well.
 */
uint32_t pfs_room_next(const struct pfs_room *self, uint32_t from);

/*
 * pfs_room_clear_begin, pfs_room_clear_end - the first and the last step of clearing a leaf that
 * was found empty; the caller's second look comes between them. A thread may end what another one
 * began.
 *
 * Returns   begin: false if there is nothing to clear, or another thread interferes; else *held is
 *           for end.
 * Errors    none.
 * Progress  wait-free; end also clears the levels above, if nothing is left.
 * Order     begin: relaxed, because the caller's second look releases it; end: [T6].
 */
bool pfs_room_clear_begin(const struct pfs_room *self, uint32_t leaf, uint64_t *held);
void pfs_room_clear_end(const struct pfs_room *self, uint32_t leaf, uint64_t held);

/*
 * pfs_room_drop - remove a leaf from this tree, whatever it holds. The caller then raises it in
 * another tree, where it belongs from now on. below is the leaf's own tree.
 *
 * A free that raises `below` may still mean this tree, and find its path raised there. If it
 * changes `below` after the drop, it knows of the drop, and raises this tree again. If before, the
 * thread that clears the leaf in the other tree, after it was raised there, sees what the free
 * left.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  lock-free.
 * Order     acq_rel [T8] [T9].
 */
void pfs_room_drop(const struct pfs_room *self, uint32_t leaf, const struct pfs_room *below);

#endif
