/*
 * magazine.h - a ring of free records that one thread uses without a locked instruction, and that
 * another may empty without waiting for it.
 *
 * The owner takes at the head and gives at the tail. It marks the end that it uses odd, then looks
 * at the control word; if that is IDLE, no other thread interferes until it makes the mark even
 * again. A thread that adds a page, or proves that no record is free, empties all rings first. It
 * holds the growth lock, so there is one such taker at a time.
 *
 *	IDLE -> REVOKED              taker, CAS; then the heavy barrier, then it reads both ends
 *	REVOKED -> HANDED{from, to}  CAS, by the taker; or by the owner that meets REVOKED first
 *	HANDED -> DONE{from, to}     taker, when it has copied the entries from .. to - 1
 *	DONE -> IDLE                 owner, CAS, after it moved its head to `to`
 *	DONE{from, to} -> HANDED     taker, CAS, if a free that was in flight left more after `to`
 *
 * While the word is HANDED the owner leaves the ring alone and uses the occupancy words. The taker
 * gives the entries to the words before it sets DONE. Neither ever waits for the other.
 *
 * A ring is open or closed (rings.h). A taker leaves each ring closed: its owner's next frees go to
 * the words, then the owner opens the ring again. So scarce records stay in the words, and while
 * all rings are closed a refusal looks at none of them.
 *
 * A full ring sends half of its records as a block, an empty one receives a block (depot.h). The
 * owner notes the move (`moving`), marks the end odd, looks at the control word, copies, and ends
 * its hold of the block by a CAS, which decides where the records are; then it makes the end even.
 * A taker that finds the end odd, and a note for it, tries to end the hold itself: if it succeeds,
 * the move has not happened; if it fails, it has.
 *
 * Invariants
 *	[M1] a free record is in exactly one place: a set bit, one ring, a block, or the hands of
 *	     the taker, who holds the growth lock. Between ring and block one word decides, the
 *	     block's. So a proof under that lock sees every free record.
 *	[M2] an odd head is an allocation in flight: the entry there counts as in use. An odd tail
 *	     is a free in flight, which has not happened yet. If a move is noted for the odd end, it
 *	     is that move instead, and the block's state tells whether it happened.
 *	[M3] entry p belongs to the taker if from <= p < to, else to the owner. Both sides read it
 *	     from the one control word, so they agree, whichever of them wrote it.
 *	[M4] stranding: at most PFS_MAGAZINE_RECORDS records lie in a ring, and all of them can be
 *	     taken back at any time, except the one of an odd head: a thread that stops for ever
 *	     keeps one. What it was sending or receiving can be taken back too.
 *	[M5] a move is noted only from before its odd mark until after its end is even again. So a
 *	     note and an odd end at its position belong to one operation: the position is used again
 *	     if the move failed, and then its note is gone.
 *	[M6] `room` is 0 while the ring is closed, at the latest from when its owner leaves DONE.
 *	     Until then the owner meets DONE before it puts anything there. And a receiver opens its
 *	     ring before it claims a block: a taker that finds the block CLAIMED visits the ring.
 *
 * Ordering:  [G1] end odd: store, release   <->  [G4] ends: load, seq, after the barrier
 *            [G2] control: load, seq        <->  [G3] revoke: CAS, seq
 *            the store-buffering pair: after G3 and the heavy barrier the taker sees the odd end,
 *            or the owner sees REVOKED. Where the kernel has no such barrier G1 is a seq exchange
 *            and all four are seq.
 *            [G5] end even: store, release  <->  [G4]
 *            carries: the ring's entries, and the bytes of the records in it; so does G1
 *            [G6] hand over: CAS, acq_rel   <->  [G7] control: load, acquire
 *            carries: the same, when the owner hands over
 *            [G8] DONE: store, release      <->  [G2]
 *            carries: that the entries were copied and may be overwritten
 *            [G9] IDLE: CAS, acq_rel        <->  [G3] [G6] [G7]
 *            carries: the new head; in the other order a taker could read the old head, and take
 *            again what was taken before
 *            [G10] move: stores, release    <->  [G11] move: loads, acquire, after [G4]
 *            carries: that the last end became even before the next move was noted, so that a note
 *            and an odd end that are read together belong together
 *            [G14] no move: store, release  <->  [G11]
 *            carries: that the last note is gone, to a taker that sees the end odd for the next
 *            operation. Without it a free at the position of a failed receive is taken for that
 *            receive: records are read out of stale entries, and get a second owner
 *            [G12] owner: exchange, seq     <->  [G13] owner: load, seq, after [G3]
 *            the store-buffering pair of a ring without an owner, with [G3] and [G2]: the taker
 *            sees the new owner, or the new owner sees REVOKED. Carries: all that the last owner
 *            did
 *
 * Without the barrier: if the kernel has none at the start, or owner_fences asks for it, every
 * owner issues the full barrier itself (`fenced`: the seq exchange of G1). If the kernel refuses
 * the barrier later, rings exist whose owners are not fenced, and a taker that revoked one cannot
 * know whether its owner has seen that. Such a ring is out of reach. No taker moves it on; its
 * owner does, when it meets REVOKED at its next call [G6]. What it handed over is taken back as
 * before, and from DONE it comes back `fenced`. So no record has two owners, and no thread waits.
 * What is lost until each owner has made two calls: a page may be added, or full reported, although
 * up to PFS_MAGAZINE_RECORDS records lie in a ring that is out of reach, or in blocks that its
 * owner claimed. An owner that sleeps keeps its ring that long.
 *
 * A ring without an owner is in reach without a barrier: no thread works on it, and a thread that
 * attaches its handle says so first. If the taker has revoked the ring and then reads that it has
 * no owner, the first call of the next owner meets REVOKED [G12]. The new owner checks again
 * whether there is a barrier, and is fenced if there is none.
 * Source:    revocation by an asymmetric barrier as in D. Dice, H. Huang and M. Yang, Asymmetric
 *            Dekker synchronization, 2001; the protocol is our own.
 */
#ifndef PFS_MAGAZINE_H
#define PFS_MAGAZINE_H

#include "containers/barrier.h"
#include "variants/exact/hints.h"
#include "depot.h"
#include "rings.h"

/* No end has this value. */
#define PFS_MOVING_NONE UINT64_MAX

enum pfs_control {
	PFS_CONTROL_IDLE,
	PFS_CONTROL_REVOKED,
	PFS_CONTROL_HANDED,
	PFS_CONTROL_DONE,
	PFS_CONTROL_STATE_MASK = 3
};

/* Who has a ring, for takers. */
enum pfs_ring_owner {
	PFS_RING_NOBODYS, /* its handle is not attached */
	PFS_RING_RELIES,  /* its owner relies on the heavy barrier */
	PFS_RING_PAYS     /* its owner has been fenced since it attached */
};

struct pfs_magazine {
	struct pfs_hints hints;  /* first: hints.h finds it as thread->policy */
	bool fenced;             /* owner: it issues the full barrier itself */
	bool pays;               /* owner, before [G9]: the same, for takers */
	_Atomic(uint32_t) owner; /* owner, when it comes and goes; [G12] */
	/* Positions are 2 * entry, plus 1 while the owner works there. All of it belongs to the
	 * owner, unless the ring is HANDED. What the fast path loads is at offsets that no state
	 * word has, as in struct pfs_thread. */
	alignas(PFS_LINE) _Atomic(uint64_t) head; /* [G1] [G5] */
	uint64_t watched;                         /* taker: frees so far, for needless growths */
	uint32_t bypass;                          /* owner: frees to give to the words before it
						   * opens */
	uint32_t gives;                           /* owner, counting builds */
	_Atomic(uint64_t) tail;                   /* [G1] [G5] */
	uint64_t room;                            /* owner: 2 * entries it may fill [M6] */
	_Atomic(void *) records[PFS_MAGAZINE_RECORDS_MOST];
	alignas(PFS_LINE) _Atomic(uint64_t) control; /* owner and taker; mostly read */
	/* The move in flight, [G10] [G14]: the position at which it began (for a tail, plus 1), and
	 * its hold. */
	_Atomic(uint64_t) moving;
	_Atomic(uint64_t) moving_state;
	_Atomic(struct pfs_depot *) moving_depot;
	_Atomic(uint32_t) moving_block;
	uint32_t last_block;  /* owner: where it looks for the next one */
	uint32_t place;       /* made once: its place in rings.h, or PFS_RING_NONE */
	uint32_t bypass_next; /* owner: `bypass` for the next time the ring is closed */
	uint64_t opened;      /* owner: the entry at its tail when it was opened */
};

/* What all rings of a container share: the state of the front, see variants/exact/front.h. */
struct pfs_magazines {
	struct pfs_rings *rings;  /* made once, as all below: which are open, see rings.h */
	struct pfs_depot *depots; /* of each node; see depot.h */
	void *depot_memory;       /* of all depots */
	uint32_t node_count;
	_Atomic(uint64_t) stranded_peak; /* counting builds: records in rings of others */
};

static inline struct pfs_magazines *pfs_magazines_of(const struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	return index->front_state;
}

/* Make those of a new container; PFS_NO_MEMORY: no memory. */
enum pfs_status pfs_magazines_start(struct pfs_container *self);

/*
 * A ring that was taken back is a sign that records are scarce: its owner's next frees go to the
 * words, where every thread finds them. Otherwise threads at the last free records take them from
 * each other one by one, each time with the growth lock and the heavy barrier. The number of these
 * frees doubles if fewer than that went into the ring while it was open; otherwise it halves.
 */
#ifdef PFS_SIM /* fewer in some searches, so that a ring is soon open again */
uint32_t pfs_sim_bypass(void);
#define PFS_MAGAZINE_BYPASS pfs_sim_bypass()
#else
#define PFS_MAGAZINE_BYPASS PFS_MAGAZINE_RECORDS
#endif
#define PFS_MAGAZINE_BYPASS_MOST (64u * PFS_MAGAZINE_BYPASS)

/* Must new owners be fenced, because the kernel has no barrier? */
static inline bool pfs_magazine_is_fenced(const struct pfs_container *self)
{
	return self->config.owner_fences || !pfs_barrier_available();
}

/* After a give that was refused because the ring had no room, or met a taker. True: the ring has
 * room, because half of it was sent, or it was opened. Wait-free. */
PFS_COLD bool pfs_magazine_give_rest(struct pfs_thread *thread);

/* The ring is empty: receive a block of the thread's node, and take a record of it, or NULL.
 * Lock-free: another thread received the block that was found. */
PFS_COLD void *pfs_magazine_receive(struct pfs_thread *thread);

/* A record of a block of any node, or none; for when the words have nothing. The caller aims its
 * handle afterwards. */
PFS_COLD struct pfs_claim pfs_magazine_last_resort(struct pfs_thread *thread);

/* Part of give_rest: send half of a full ring. */
PFS_COLD bool pfs_magazine_send(struct pfs_thread *thread);

/* By the owner: open its ring. False: it has to stay closed. Wait-free. */
PFS_COLD bool pfs_magazine_open(struct pfs_thread *thread);

/* Under `growth`: empty all open rings and all blocks into the words; returns how many records they
 * held. One heavy barrier for all rings, none if no ring is open. Waits for no owner. */
uint32_t pfs_magazine_take_back(struct pfs_container *self);

/*
 * pfs_magazine_are_empty - under `growth`: is every ring empty? *frees grows with each free into a
 * ring, and with each ring that is opened; no other thread closes one. So equal sums of two rounds
 * mean that none came in between.
 *
 * pfs_magazine_catch_up - the kernel's barrier, unless all owners are fenced: afterwards the caller
 * sees every free into a ring that has returned.
 */
bool pfs_magazine_are_empty(struct pfs_container *self, uint64_t *frees);
void pfs_magazine_catch_up(struct pfs_container *self);

/* The rings' metrics, see stranded.c. pfs_stranded is stranded of struct pfs_variant. In counting
 * builds a thread samples how many records are stranded, once in PFS_STRANDED_SAMPLE frees. */
void pfs_stranded(struct pfs_container *self, uint64_t *now, uint64_t *peak);
#define PFS_STRANDED_SAMPLE 64u
PFS_COLD void pfs_stranded_sample(struct pfs_container *self);

/* The rings' part of needless.c; under `growth`. */
void pfs_stranded_watch(struct pfs_container *self);
bool pfs_stranded_is_free_since_watch(struct pfs_container *self);

/*
 * pfs_magazine_yield - what the owner does if the control word is not IDLE.
 *
 * Returns   the first entry that is not the owner's; an entry below it still is. If the taker is
 *           done, the head has moved and the word is IDLE again; the caller must not touch either
 *           end.
 * Errors    none.
 * Progress  wait-free: one CAS for each step of the taker, which makes only a few.
 * Order     [G6], [G9].
 *
 * from is the first entry that the owner does not keep for its current operation.
 */
PFS_COLD uint64_t pfs_magazine_yield(struct pfs_magazine *self, uint64_t from);

/*
 * pfs_magazine_begin, pfs_magazine_leave - a handle is attached again, and detached.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  wait-free.
 * Order     seq [G12].
 *
 * fenced: the new owner issues the full barrier itself. The owner that leaves must not be inside a
 * call.
 */
static inline void pfs_magazine_begin(struct pfs_magazine *self, bool fenced)
{
	self->fenced = self->fenced || fenced;
	uint32_t owner = self->fenced ? PFS_RING_PAYS : PFS_RING_RELIES;
	/* [G12] seq, pairs with [G13]; ordered before [G2] of the first call. */
	(void)pfs_exchange_seq(&self->owner, owner);
}

static inline void pfs_magazine_leave(struct pfs_magazine *self)
{
	/* [G12] seq, pairs with [G13]: seen when it returns. */
	(void)pfs_exchange_seq(&self->owner, (uint32_t)PFS_RING_NOBODYS);
}

/* By the owner of an attached handle, under `growth`: give all records of its ring to the words. */
PFS_COLD void pfs_magazine_flush(struct pfs_thread *thread);

/*
 * pfs_magazine_move - is an end odd for a move, and for which one?
 *
 * Returns   the move, with both ends and its hold, which belong together; NONE: *head and *tail are
 *           each of some moment.
 * Errors    none.
 * Progress  lock-free: retries only if the owner went on.
 * Order     seq [G4], acquire [G11].
 */
enum pfs_move { PFS_MOVE_NONE, PFS_MOVE_SENDING, PFS_MOVE_RECEIVING };
enum pfs_move pfs_magazine_move(struct pfs_magazine *self, uint64_t *head, uint64_t *tail,
				struct pfs_hold *hold);

/* Give a record that belongs to the caller, and is free, to its word. */
void pfs_magazine_give_to_word(struct pfs_container *self, void *record);

/* What a ring holds that no thread works on: entries *first .. *last - 1. Under `growth`. */
void pfs_magazine_content(struct pfs_magazine *self, uint64_t *first, uint64_t *last);

/*
 * pfs_magazine_mend - by a new owner: end the call in which the old one stopped for ever, as the
 * old one would. A record that it was taking goes to the words. One that it was freeing is lost,
 * because nothing tells which one it was. Wait-free.
 */
PFS_COLD void pfs_magazine_mend(struct pfs_thread *thread);

/* The part for a move in flight: finish it, or end it as a taker wants. */
PFS_COLD void pfs_magazine_mend_move(struct pfs_magazine *self);

static inline void *pfs_magazine_entry(struct pfs_magazine *self, uint64_t entry)
{
	/* relaxed: the entry is the reader's [M3]; the ends or the control word ordered it. */
	return pfs_load_relaxed(&self->records[entry % PFS_MAGAZINE_RECORDS]);
}

/* Mark an end odd, then look whether the ring may be used. may_pay, here and below: the owner may
 * be fenced; false if the caller knows that it is not. */
static inline bool pfs_magazine_enter(struct pfs_magazine *self, _Atomic(uint64_t) *end,
				      uint64_t even, bool may_pay)
{
	if (pfs_likely(!may_pay || !self->fenced)) {
		/* [G1] release, pairs with [G4]; ordered before [G2] by the taker's heavy barrier:
		 * without it both sides could miss each other, and a record have two owners. */
		pfs_store_release(end, even + 1);
		pfs_barrier_light();
	} else {
		(void)pfs_exchange_seq(end, even + 1); /* [G1] seq: there is no other barrier */
	}
	/* [G2] seq, pairs with [G3] and [G8]; a plain load on x86-64. */
	return pfs_likely(pfs_load_seq(&self->control) == PFS_CONTROL_IDLE);
}

/* Take the oldest record of the ring, or NULL: use the words. Wait-free. */
static inline void *pfs_magazine_take(struct pfs_magazine *self, bool may_pay)
{
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's own store */
	if (head == pfs_load_relaxed(&self->tail))     /* relaxed: the owner's own store */
		return NULL;
	bool is_idle = pfs_magazine_enter(self, &self->head, head, may_pay);
	void *record = pfs_magazine_entry(self, head / 2);
	if (!pfs_likely(is_idle))
		return NULL;
	pfs_store_release(&self->head, head + 2); /* [G5] release, pairs with [G4] */
	return record;
}

/* The claim of a record that the ring gave, in any layout. */
static inline struct pfs_claim pfs_magazine_claim(struct pfs_thread *thread, void *record)
{
	struct pfs_lock *lock = pfs_lock_of(thread, record);
	return lock != NULL ? pfs_occupancy_claim_record(thread, record, lock)
			    : pfs_occupancy_claim_bare(thread, record);
}

/* After NULL: if it met a taker, the odd head's record, unless that is the taker's. */
PFS_COLD void *pfs_magazine_take_rest(struct pfs_magazine *self);

/* False: the ring is full or may not be used; give the record to the words. Wait-free. */
static inline bool pfs_magazine_give(struct pfs_magazine *self, void *record, bool may_pay)
{
	uint64_t tail = pfs_load_relaxed(&self->tail); /* relaxed: the owner's own store */
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's own store */
	if (!pfs_likely(tail - head < self->room))
		return false;
	if (!pfs_likely(pfs_magazine_enter(self, &self->tail, tail, may_pay)))
		return false;
	/* relaxed: [G5] carries it. */
	pfs_store_relaxed(&self->records[tail / 2 % PFS_MAGAZINE_RECORDS], record);
	if (pfs_likely(!may_pay || !self->fenced))
		pfs_store_release(&self->tail, tail + 2); /* [G5] release, pairs with [G4] */
	else
		(void)pfs_exchange_seq(&self->tail, tail + 2); /* [G5] seq: seen when it returns */
	return true;
}

#endif
