/*
 * magazine.h - a ring of free records that one thread uses without a locked instruction, and
 * that another may empty without waiting for it.
 *
 * The owner takes at the head and gives at the tail. It marks the end that it works on odd,
 * then looks at the control word; if that is IDLE, nobody interferes until it makes the mark
 * even again. Whoever adds a page, or proves that none is free, empties all rings first; it
 * holds the growth lock, so there is one such taker at a time.
 *
 *	IDLE -> REVOKED              taker, CAS; then the heavy barrier, then it reads both ends
 *	REVOKED -> HANDED{from, to}  CAS, by the taker; or by the owner that meets REVOKED first
 *	HANDED -> DONE{from, to}     taker, when it has copied the entries from .. to - 1
 *	DONE -> IDLE                 owner, CAS, after it moved its head to `to`
 *	DONE{from, to} -> HANDED     taker, CAS, if a free that was in flight left more behind `to`
 *
 * While the word is HANDED the owner leaves the ring alone and uses the occupancy words.
 * Nobody ever waits for the other.
 *
 * Invariants
 *	[M1] a free record is in exactly one place: a set bit, one ring, or the hands of the
 *	     taker, who holds the growth lock. None is on its way between places otherwise: a
 *	     ring is filled only by the frees of its own thread, what does not fit is given to
 *	     the words, and an empty ring is not refilled. So a proof under that lock sees
 *	     every free record.
 *	[M2] an odd head is an allocation in flight: the entry there counts as in use. An odd
 *	     tail is a free in flight, which has not happened yet.
 *	[M3] entry p is the taker's if from <= p < to, else the owner's. Both sides read it from
 *	     the one control word, so they agree, whoever wrote it.
 *	[M4] stranding: at most PFS_MAGAZINE_RECORDS records lie in a ring, and all of them can be
 *	     taken back at any time but that of an odd head: a thread that stops for ever keeps
 *	     one.
 *
 * Ordering:  [G1] end odd: store, release   <->  [G4] ends: load, seq, after the barrier
 *            [G2] control: load, seq        <->  [G3] revoke: CAS, seq
 *            the store-buffering pair: after G3 and the heavy barrier the taker sees the odd
 *            end, or the owner sees REVOKED. Where the kernel has no such barrier G1 is a seq
 *            exchange and all four are seq.
 *            [G5] end even: store, release  <->  [G4]
 *            carries: the ring's entries, and the bytes of the records in it; so does G1
 *            [G6] hand over: CAS, acq_rel   <->  [G7] control: load, acquire
 *            carries: the same, when the owner hands over
 *            [G8] DONE: store, release      <->  [G2]
 *            carries: that the entries were copied and may be overwritten
 *            [G9] IDLE: CAS, acq_rel        <->  [G3] [G6] [G7]
 *            carries: the new head; in the other order a taker could read the old head, and
 *            take again what was taken before
 *
 * Without the barrier: where the kernel has none at the start, or owner_fences asks for it, all
 * owners pay (`fenced`). If it is refused later, the rings of then have owners that do not pay,
 * and a taker that revoked one cannot know whether its owner has seen it. Such a ring is out of
 * reach: no taker ever moves it on, its owner does, by itself, when it meets REVOKED at its next
 * call [G6]; what it handed over is taken back as before, and from DONE it comes back `fenced`.
 * So no record has two owners, and nobody waits. What is lost until each owner has made two
 * calls: a page may be added, or full answered, although up to PFS_MAGAZINE_RECORDS records lie
 * in a ring that is out of reach. An owner that sleeps keeps its ring so long.
 * Source:    revocation by an asymmetric barrier as in D. Dice, H. Huang and M. Yang,
 *            Asymmetric Dekker synchronization, 2001; the protocol is our own.
 */
#ifndef PFS_MAGAZINE_H
#define PFS_MAGAZINE_H

#include "barrier.h"
#include "occupancy.h"

#define PFS_MAGAZINE_RECORDS 64u

enum pfs_control {
	PFS_CONTROL_IDLE,
	PFS_CONTROL_REVOKED,
	PFS_CONTROL_HANDED,
	PFS_CONTROL_DONE,
	PFS_CONTROL_STATE_MASK = 3
};

struct pfs_magazine {
	struct pfs_occupancy_thread hints; /* first: occupancy.c finds it as thread->policy */
	bool fenced;                       /* owner, before [G5] or [G9]: pays for the barrier */
	_Atomic(uint32_t) attached;        /* owner, when it comes and goes */
	/* Positions are 2 * entry, plus 1 while the owner works there. All of it the owner's,
	 * but for a ring that is HANDED. What the fast path loads stands off the state words
	 * of records, as in struct pfs_thread. */
	alignas(PFS_LINE) _Atomic(uint64_t) head; /* [G1] [G5] */
	uint64_t watched;                         /* taker: frees so far, for needless growths */
	uint32_t bypass;                          /* owner: frees to give to the words, see below */
	uint32_t gives;                           /* owner, counting builds */
	_Atomic(uint64_t) tail;                   /* [G1] [G5] */
	uint64_t room;                            /* owner: 2 * entries it may fill */
	_Atomic(void *) records[PFS_MAGAZINE_RECORDS];
	alignas(PFS_LINE) _Atomic(uint64_t) control; /* owner and taker; mostly read */
};

/*
 * A ring that was taken back is a sign that records are scarce: the next frees of its owner go
 * to the words, where everybody finds them. Without it, threads at the last free records take
 * them from each other one by one, each time with the growth lock and the heavy barrier.
 */
#define PFS_MAGAZINE_BYPASS PFS_MAGAZINE_RECORDS

/* Do new owners pay for the barrier, since the kernel has none? */
static inline bool pfs_magazine_is_fenced(const struct pfs_container *self)
{
	return self->config.owner_fences || !pfs_barrier_available();
}

/* A free that the ring has no room for, or is not to take. Owner; false, for the caller. */
PFS_COLD bool pfs_magazine_pass_by(struct pfs_magazine *self);

/* Under `growth`: all rings into the words; how many records they held. One heavy barrier for
 * all of them. Waits for no owner. */
uint32_t pfs_magazine_take_back(struct pfs_container *self);

/* The same, for proof.c. */
extern const struct pfs_occupancy_caches pfs_magazine_caches;

/* What rings tell the metrics, see stranded.c. As stranded of struct pfs_variant; and, of counting
 * builds, note how many records are stranded, once in so many frees of a thread. */
void pfs_stranded(struct pfs_container *self, uint64_t *now, uint64_t *peak);
#define PFS_STRANDED_SAMPLE 64u
PFS_COLD void pfs_stranded_sample(struct pfs_container *self);

/* The rings' part of needless.c; under `growth`. */
void pfs_stranded_watch(struct pfs_container *self);
bool pfs_stranded_is_free_since_watch(struct pfs_container *self);

/*
 * pfs_magazine_yield - the owner's way on when the control word is not IDLE.
 *
 * Returns   the first entry that is not the owner's: an entry below it still is. When the
 *           taker is done, the head has moved and the word is IDLE again; the caller must not
 *           touch either end.
 * Errors    none.
 * Progress  wait-free: at most one CAS.
 * Order     [G6], [G9].
 *
 * from is the first entry that the owner does not keep for the operation it is in.
 */
PFS_COLD uint64_t pfs_magazine_yield(struct pfs_magazine *self, uint64_t from);

/* Give all records of an attached thread's ring to the words; by the owner, under `growth`. */
PFS_COLD void pfs_magazine_flush(struct pfs_thread *thread);

/* What a ring holds that nobody works on: entries *first .. *last - 1. Under `growth`. */
void pfs_magazine_content(struct pfs_magazine *self, uint64_t *first, uint64_t *last);

/*
 * pfs_magazine_mend - by a new owner: end the call in which the old one stopped for ever, as the
 * old one would. A record that it was taking goes to the words; one that it was freeing is
 * lost, for nothing tells which it was. Wait-free.
 */
PFS_COLD void pfs_magazine_mend(struct pfs_thread *thread);

static inline void *pfs_magazine_entry(struct pfs_magazine *self, uint64_t entry)
{
	/* relaxed: the entry is the reader's [M3]; the ends or the control word ordered it. */
	return pfs_load_relaxed(&self->records[entry % PFS_MAGAZINE_RECORDS]);
}

/* Mark an end odd, then look whether the ring may be used. */
static inline bool pfs_magazine_enter(struct pfs_magazine *self, _Atomic(uint64_t) *end,
				      uint64_t even)
{
	if (pfs_likely(!self->fenced)) {
		/* [G1] release, pairs with [G4]; ordered before [G2] by the taker's heavy barrier:
		 * without it both sides could miss each other, and a record have two owners. */
		pfs_store_release(end, even + 1);
		pfs_barrier_light();
	} else {
		(void)pfs_exchange_seq(end, even + 1); /* [G1] seq: nobody else has a barrier */
	}
	/* [G2] seq, pairs with [G3] and [G8]; a plain load on x86-64. */
	return pfs_likely(pfs_load_seq(&self->control) == PFS_CONTROL_IDLE);
}

/* The oldest record of the ring, or NULL: use the words. Wait-free. */
static inline void *pfs_magazine_take(struct pfs_magazine *self)
{
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's own store */
	if (head == pfs_load_relaxed(&self->tail))     /* relaxed: the owner's own store */
		return NULL;
	bool is_idle = pfs_magazine_enter(self, &self->head, head);
	void *record = pfs_magazine_entry(self, head / 2);
	if (pfs_likely(is_idle)) {
		pfs_store_release(&self->head, head + 2); /* [G5] release, pairs with [G4] */
		return record;
	}
	return head / 2 < pfs_magazine_yield(self, head / 2 + 1) ? record : NULL;
}

/* False: the ring is full or not to be used; give the record to the words. Wait-free. */
static inline bool pfs_magazine_give(struct pfs_magazine *self, void *record)
{
	uint64_t tail = pfs_load_relaxed(&self->tail); /* relaxed: the owner's own store */
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's own store */
	if (!pfs_likely(tail - head < self->room))
		return pfs_magazine_pass_by(self);
	if (!pfs_magazine_enter(self, &self->tail, tail)) {
		(void)pfs_magazine_yield(self, head / 2);
		return false;
	}
	/* relaxed: [G5] carries it. */
	pfs_store_relaxed(&self->records[tail / 2 % PFS_MAGAZINE_RECORDS], record);
	if (pfs_likely(!self->fenced))
		pfs_store_release(&self->tail, tail + 2); /* [G5] release, pairs with [G4] */
	else
		(void)pfs_exchange_seq(&self->tail, tail + 2); /* [G5] seq: seen when it returns */
	return true;
}

#endif
