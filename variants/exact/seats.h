/*
 * seats.h - who waits for another thread's page sits in a row, and records are granted there.
 *
 * A row is a line: a word with three bits for each seat, and what was granted to each. Every
 * handle has a seat of its own. Whoever opens a page gives its records to those who sit, all
 * round, so that nobody is passed by, and what is granted has no bit in the page's words: nobody
 * searches for it, and no tree is raised for it and cleared again.
 *
 * Invariants
 *	[S1] GRANTED is set only by the opener of a page, under `growth`, where WAITING is; and
 *	     taken away, with WAITING, only by the seat's own thread, by one CAS. So a record
 *	     that was granted belongs to the call that sat there: it returns it, and cannot have
 *	     left in favour of another one.
 *	[S2] grants[seat] is the opener's while WAITING is set and GRANTED is not, and else the
 *	     seat's own thread's.
 *
 * Ordering:  [Q1] grant: CAS, acq_rel          <->  [Q2] sit, leave: CAS, acq_rel
 *            carries: grants[seat], the word's first_record and its like, the FREE words
 *            [Q3] who sits: load, acquire      <->  [Q2] sit
 *            carries: that the last grant was read, and may be written over; and what the
 *            thread freed into a ring before, to the next proof, as [W1] does to [W5]
 *            [Q4] rows: store, release         <->  [Q5] rows: load, acquire
 *            carries: the row, zeroed
 *
 * Limits: a thread that is stopped after its seat showed SLEEPS, and before it asked for the lock,
 * is taken for the one that the unlocking wakes. While no other one is at the lock or sits before
 * it in the round, others believe that the lock is held: each growth, and each refusal that finds
 * a ring open, begins with PFS_PROOF_LOOKS looks of the thread that needs it, 16,384 with a yield
 * each. Then that thread takes the lock, whatever the hint says: it is free, and no thread waits
 * for the one that is stopped.
 */
#ifndef PFS_SEATS_H
#define PFS_SEATS_H

#include "occupancy.h"

#define PFS_ROW_SEATS 7u
#define PFS_ROWS_MAX 128u /* a handle that comes later has no seat, and only looks on for room */
#define PFS_SEAT_NONE UINT32_MAX

/* Of seat s: these bits shifted by s. */
#define PFS_SEAT_WAITING UINT64_C(1)
#define PFS_SEAT_GRANTED (UINT64_C(1) << 8)
#define PFS_SEAT_CALLED (UINT64_C(1) << 16) /* a hint: it is this thread's turn to map a page */
#define PFS_SEAT_SLEEPS (UINT64_C(1) << 24) /* a hint: it waits for the lock, and for no grant */
#define PFS_SEAT_ALL (PFS_SEAT_WAITING | PFS_SEAT_GRANTED | PFS_SEAT_CALLED | PFS_SEAT_SLEEPS)

struct pfs_row {
	alignas(PFS_LINE) _Atomic(uint64_t) state;
	_Atomic(uint64_t) grants[PFS_ROW_SEATS]; /* address of a word, and a bit of it [S2] */
};

struct pfs_seats {
	_Atomic(struct pfs_row *) rows[PFS_ROWS_MAX];
	uint32_t used;               /* seats that handles have; under `roster` */
	_Atomic(uint32_t) row_count; /* written under `roster` */
	_Atomic(uint32_t) next;      /* seat where the next grant begins; under `growth` */
};

/* A new handle's seat, if there is one left. Under `roster`. */
void pfs_seats_assign(struct pfs_thread *thread);

/* All rows; stop runs alone. */
void pfs_seats_stop(struct pfs_seats *self);

/*
 * pfs_seats_sit, pfs_seats_look, pfs_seats_leave - wait for a page; a handle without a seat does
 * nothing by them.
 *
 * Returns   look: the seat's bits, as those of seat 0. leave: true if a record was granted, which
 *           is *claim now; else the seat shows that its thread sleeps, or is empty.
 * Errors    none.
 * Progress  look: wait-free. sit, leave: lock-free; neighbours sit or leave, or get a record.
 * Order     look: relaxed; acq_rel [Q2].
 */
void pfs_seats_sit(struct pfs_thread *thread);
uint64_t pfs_seats_look(struct pfs_thread *thread);
bool pfs_seats_leave(struct pfs_thread *thread, bool sleeps, struct pfs_claim *claim);

/* A handle whose thread a fork has ended: its seat is empty, a record granted there free. */
void pfs_seats_forget(struct pfs_thread *thread);

/*
 * pfs_seats_grant - give records of a word, whose bits are not set, to those who wait. Under
 * `growth`; the page is published.
 *
 * Returns   the bits that found nobody.
 * Errors    none.
 * Progress  lock-free: a load a row, and mostly one CAS where somebody waits.
 * Order     acq_rel [Q1].
 */
uint32_t pfs_seats_grant(struct pfs_seats *self, struct pfs_occupancy_word *word, uint32_t bits);

/* Whose turn it is to map a page, or PFS_SEAT_NONE; *sleeps: the unlocking wakes it, or another
 * one that sleeps. call: tell it that nobody maps a page now. Hints, both. */
uint32_t pfs_seats_turn(struct pfs_seats *self, bool *sleeps);
void pfs_seats_call(struct pfs_seats *self, uint32_t number);

#endif
