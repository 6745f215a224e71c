/*
 * seats.h - seats for threads that wait for another thread's page, where records are granted to
 * them.
 *
 * A row is a line: a word with four bits for each seat, and what was granted to each. Every handle
 * has a seat of its own. A thread that opens a page gives its records to the waiting seats, in
 * rotation, so that none is skipped. A granted record has no bit in the page's words: no thread
 * searches for it, and no tree is raised for it and cleared again.
 *
 * Invariants
 *	[S1] GRANTED is set only by the opener of a page, under `growth`, where WAITING is set. Only
 *	     the seat's own thread resets it, together with WAITING, by one CAS. So a granted record
 *	     belongs to the call that waited there: the call returns it, and cannot have left with
 *	     another record.
 *	[S2] grants[seat] belongs to the opener while WAITING is set and GRANTED is not, else to the
 *	     seat's own thread.
 *
 * Ordering:  [Q1] grant: CAS, acq_rel          <->  [Q2] sit, leave: CAS, acq_rel
 *            carries: grants[seat], the word's first_record and the fields after it, the FREE words
 *            [Q3] find waiters: load, acquire  <->  [Q2] sit
 *            carries: that the last grant was read, and may be overwritten; and what the thread
 *            freed into a ring before, to the next proof, as [W1] does to [W5]
 *            [Q4] rows: store, release         <->  [Q5] rows: load, acquire
 *            carries: the row, zeroed
 *
 * Limits: a thread that stops after its seat showed SLEEPS, and before it requested the lock, is
 * taken for the one that the unlocking wakes. While no other thread is at the lock or sits before
 * it in the rotation, others believe that the lock is held. Each growth, and each refusal while a
 * ring is open, then begins with PFS_PROOF_LOOKS looks of the thread that needs it: 16,384 with a
 * yield each. After these it takes the lock, whatever the hint says: the lock is free, and no
 * thread waits for the stopped one.
 */
#ifndef PFS_SEATS_H
#define PFS_SEATS_H

#include "occupancy.h"

#define PFS_ROW_SEATS 7u
#define PFS_ROWS_MAX 128u /* a handle that comes later has no seat, and only looks for room */
#define PFS_SEAT_NONE UINT32_MAX

/* For seat s: these bits shifted by s. */
#define PFS_SEAT_WAITING UINT64_C(1)
#define PFS_SEAT_GRANTED (UINT64_C(1) << 8)
#define PFS_SEAT_CALLED (UINT64_C(1) << 16) /* a hint: it is this thread's turn to map a page */
#define PFS_SEAT_SLEEPS (UINT64_C(1) << 24) /* a hint: it waits for the lock, not for a grant */
#define PFS_SEAT_ALL (PFS_SEAT_WAITING | PFS_SEAT_GRANTED | PFS_SEAT_CALLED | PFS_SEAT_SLEEPS)

struct pfs_seat_row {
	alignas(PFS_LINE) _Atomic(uint64_t) state;
	_Atomic(uint64_t) grants[PFS_ROW_SEATS]; /* address of a word, plus a bit of it [S2] */
};

struct pfs_seats {
	_Atomic(struct pfs_seat_row *) rows[PFS_ROWS_MAX];
	uint32_t used;               /* seats that handles have; under `roster` */
	_Atomic(uint32_t) row_count; /* written under `roster` */
	_Atomic(uint32_t) next;      /* seat where the next grant begins; under `growth` */
};

/* Give a new handle a seat, if one is left. Under `roster`. */
void pfs_seats_assign(struct pfs_thread *thread);

/* Free all rows; runs alone. */
void pfs_seats_stop(struct pfs_seats *self);

/*
 * pfs_seats_sit, pfs_seats_look, pfs_seats_leave - wait for a page. They do nothing for a handle
 * without a seat.
 *
 * Returns   look: the seat's bits, shifted to seat 0. leave: true if a record was granted, which is
 *           then *claim; else the seat shows that its thread sleeps, or is empty.
 * Errors    none.
 * Progress  look: wait-free. sit, leave: lock-free: a CAS fails if a neighbour sits or leaves, or
 *           gets a record.
 * Order     look: relaxed; sit, leave: acq_rel [Q2].
 */
void pfs_seats_sit(struct pfs_thread *thread);
uint64_t pfs_seats_look(struct pfs_thread *thread);
bool pfs_seats_leave(struct pfs_thread *thread, bool sleeps, struct pfs_claim *claim);

/* For a handle whose thread a fork has ended: empty its seat, and free a record granted there. */
void pfs_seats_forget(struct pfs_thread *thread);

/*
 * pfs_seats_grant - give records of a word, whose bits are not set, to waiting threads. Under
 * `growth`; the page is published.
 *
 * Returns   the bits that were not granted.
 * Errors    none.
 * Progress  lock-free: a load a row, and usually one CAS in a row with a waiting thread.
 * Order     acq_rel [Q1].
 */
uint32_t pfs_seats_grant(struct pfs_seats *self, struct pfs_occupancy_word *word, uint32_t bits);

/* turn: the seat whose turn it is to map a page, or PFS_SEAT_NONE; *sleeps: the unlocking wakes
 * its thread, or another one that sleeps. call: tell a seat that no thread maps a page. Both are
 * hints. */
uint32_t pfs_seats_turn(struct pfs_seats *self, bool *sleeps);
void pfs_seats_call(struct pfs_seats *self, uint32_t number);

#endif
