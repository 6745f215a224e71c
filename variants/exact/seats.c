/*
 * seats.c - see seats.h.
 */
#include "seats.h"

#include <stdlib.h>
#include <string.h>

#define ROW_MASK ((UINT64_C(1) << PFS_ROW_SEATS) - 1)

static struct pfs_seats *seats_of(const struct pfs_thread *thread)
{
	struct pfs_occupancy *index = thread->container->policy;
	return index->seats;
}

static struct pfs_seat_row *row_at(struct pfs_seats *self, uint32_t row)
{
	/* [Q5] acquire, pairs with [Q4]: the row is zeroed. */
	return pfs_load_acquire(&self->rows[row]);
}

static bool make_row(struct pfs_seats *self, uint32_t number)
{
	struct pfs_seat_row *row = aligned_alloc(PFS_LINE, sizeof(*row));
	if (row == NULL)
		return false;
	memset((void *)row, 0, sizeof(*row));
	pfs_store_release(&self->rows[number], row); /* [Q4] release, pairs with [Q5] */
	/* relaxed: a granter that sees it late grants nothing to this row once. */
	pfs_store_relaxed(&self->row_count, number + 1);
	return true;
}

void pfs_seats_assign(struct pfs_thread *thread)
{
	struct pfs_seats *self = seats_of(thread);
	if (thread->seat != 0 || self->used == PFS_ROWS_MAX * PFS_ROW_SEATS)
		return;
	if (self->used % PFS_ROW_SEATS == 0 && !make_row(self, self->used / PFS_ROW_SEATS))
		return;
	thread->seat = ++self->used;
}

void pfs_seats_stop(struct pfs_seats *self)
{
	for (uint32_t row = 0; row < PFS_ROWS_MAX; row++)
		free(row_at(self, row));
}

static struct pfs_seat_row *row_of(struct pfs_thread *thread, uint32_t *seat)
{
	*seat = (thread->seat - 1) % PFS_ROW_SEATS;
	return row_at(seats_of(thread), (thread->seat - 1) / PFS_ROW_SEATS);
}

/* Replace the seat's bits; returns the old ones. */
static uint64_t exchange(struct pfs_seat_row *row, uint32_t seat, uint64_t bits)
{
	uint64_t seen = pfs_load_relaxed(&row->state); /* relaxed: the CAS verifies it */
	/* [Q2] acq_rel, pairs with [Q1] and [Q3]: what was granted; and that it was read. */
	while (!pfs_cas_acq_rel(&row->state, &seen,
				(seen & ~(PFS_SEAT_ALL << seat)) | bits << seat))
		continue;
	return seen >> seat & PFS_SEAT_ALL;
}

void pfs_seats_sit(struct pfs_thread *thread)
{
	uint32_t seat;
	if (thread->seat == 0)
		return;
	struct pfs_seat_row *row = row_of(thread, &seat);
	(void)exchange(row, seat, PFS_SEAT_WAITING);
}

uint64_t pfs_seats_look(struct pfs_thread *thread)
{
	uint32_t seat;
	if (thread->seat == 0)
		return 0;
	struct pfs_seat_row *row = row_of(thread, &seat);
	/* relaxed: leave acquires. */
	return pfs_load_relaxed(&row->state) >> seat & PFS_SEAT_ALL;
}

/* What was granted, or 0. After a grant the seat is empty, else it has `bits`. */
static uint64_t leave(struct pfs_thread *thread, uint64_t bits)
{
	uint32_t seat;
	if (thread->seat == 0)
		return 0;
	struct pfs_seat_row *row = row_of(thread, &seat);
	if ((exchange(row, seat, bits) & PFS_SEAT_GRANTED) == 0)
		return 0;
	if (bits != 0)
		(void)exchange(row, seat, 0);
	return pfs_load_relaxed(&row->grants[seat]); /* relaxed: this thread's [S2] */
}

static struct pfs_occupancy_word *word_of(uint64_t grant, uint32_t *bit)
{
	*bit = (uint32_t)(grant % PFS_LINE);
	return (struct pfs_occupancy_word *)(uintptr_t)(grant - *bit);
}

bool pfs_seats_leave(struct pfs_thread *thread, bool sleeps, struct pfs_claim *claim)
{
	uint32_t bit;
	uint64_t grant = leave(thread, sleeps ? PFS_SEAT_SLEEPS : 0);
	if (grant == 0)
		return false;
	struct pfs_occupancy_word *word = word_of(grant, &bit);
	thread->home_page = word->page->index;
	*claim = pfs_occupancy_claim(thread, word, bit);
	return true;
}

void pfs_seats_forget(struct pfs_thread *thread)
{
	uint32_t bit;
	uint64_t grant = leave(thread, 0);
	if (grant == 0)
		return;
	struct pfs_occupancy_word *word = word_of(grant, &bit);
	(void)pfs_occupancy_put(thread->container, word, UINT64_C(1) << bit);
}

/* The seats of a row, among `among`, that wait and have nothing yet. */
static uint64_t who_waits(struct pfs_seat_row *row, uint64_t among, uint64_t *seen)
{
	/* [Q3] acquire, pairs with [Q2]: their last grants were read, and may be overwritten. */
	*seen = pfs_load_acquire(&row->state);
	return *seen & ~(*seen / PFS_SEAT_GRANTED) & among;
}

/* Grant bits to waiting seats of a row, while there are both; returns these seats. */
static uint64_t grant_row(struct pfs_seat_row *row, struct pfs_occupancy_word *word, uint32_t bits,
			  uint64_t among)
{
	uint64_t seen, given;
	do {
		uint64_t waiting = who_waits(row, among, &seen);
		uint32_t left = bits;
		given = 0;
		for (; waiting != 0 && left != 0; waiting &= waiting - 1, left &= left - 1) {
			uint32_t seat = (uint32_t)__builtin_ctzll(waiting);
			uint64_t bit = (uint64_t)__builtin_ctz(left);
			/* relaxed: [Q1] releases it. */
			pfs_store_relaxed(&row->grants[seat], (uint64_t)(uintptr_t)word + bit);
			given |= waiting & -waiting;
		}
		/* [Q1] acq_rel, pairs with [Q2]. */
	} while (given != 0 &&
		 !pfs_cas_acq_rel(&row->state, &seen, seen | given * PFS_SEAT_GRANTED));
	return given;
}

/* The seats of a row from `seat` on. */
static uint64_t seats_from(uint32_t seat)
{
	return ROW_MASK & ~((UINT64_C(1) << seat % PFS_ROW_SEATS) - 1);
}

uint32_t pfs_seats_grant(struct pfs_seats *self, struct pfs_occupancy_word *word, uint32_t bits)
{
	uint32_t rows = pfs_load_relaxed(&self->row_count); /* relaxed: see make_row */
	uint32_t first = pfs_load_relaxed(&self->next);     /* relaxed: written under `growth` */
	uint32_t next = first;
	for (uint32_t step = 0; step <= rows && rows != 0 && bits != 0; step++) {
		uint32_t row = (first / PFS_ROW_SEATS + step) % rows;
		uint64_t among = step == 0 ? seats_from(first) : ROW_MASK;
		uint64_t given = grant_row(row_at(self, row), word, bits, among);
		for (uint64_t left = given; left != 0; left &= left - 1)
			bits &= bits - 1;
		if (given != 0)
			next = row * PFS_ROW_SEATS + 64 - (uint32_t)__builtin_clzll(given);
	}
	/* relaxed: as above. */
	pfs_store_relaxed(&self->next, rows != 0 ? next % (rows * PFS_ROW_SEATS) : 0);
	return bits;
}

/* The thread of a seat that sleeps may not have reached the lock yet: see Limits in seats.h. */
uint32_t pfs_seats_turn(struct pfs_seats *self, bool *sleeps)
{
	uint32_t rows = pfs_load_relaxed(&self->row_count); /* relaxed: see make_row */
	uint32_t first = pfs_load_relaxed(&self->next);     /* relaxed: a hint */
	for (uint32_t step = 0; step <= rows && rows != 0; step++) {
		uint32_t row = (first / PFS_ROW_SEATS + step) % rows;
		uint64_t among = step == 0 ? seats_from(first) : ROW_MASK, seen;
		uint64_t waiting = who_waits(row_at(self, row), among, &seen);
		waiting |= seen / PFS_SEAT_SLEEPS & among;
		if (waiting == 0)
			continue;
		*sleeps = ((waiting & -waiting) * PFS_SEAT_SLEEPS & seen) != 0;
		return row * PFS_ROW_SEATS + (uint32_t)__builtin_ctzll(waiting);
	}
	*sleeps = false;
	return PFS_SEAT_NONE;
}

void pfs_seats_call(struct pfs_seats *self, uint32_t number)
{
	struct pfs_seat_row *row = row_at(self, number / PFS_ROW_SEATS);
	uint32_t seat = number % PFS_ROW_SEATS;
	uint64_t seen = pfs_load_relaxed(&row->state); /* relaxed: the CAS verifies it */
	while ((seen >> seat & (PFS_SEAT_WAITING | PFS_SEAT_GRANTED)) == PFS_SEAT_WAITING) {
		/* relaxed: a hint. An RMW keeps the release sequence of what others released
		 * there. */
		if (pfs_cas_relaxed(&row->state, &seen, seen | PFS_SEAT_CALLED << seat))
			return;
	}
}
