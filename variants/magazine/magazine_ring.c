/*
 * magazine_ring.c - the owner's part of a ring that is not inlined.
 */
#include "magazine.h"
#include "ring_control.h"

/*
 * A taker has closed the ring, or is about to. Decide how long it stays closed: longer the next
 * time if few frees went into it while it was open, because records are scarce then.
 */
static void stay_closed(struct pfs_magazine *self, uint64_t tail)
{
	self->bypass = self->bypass_next;
	if (self->room != 0 && tail - self->opened < self->bypass_next)
		self->bypass_next *= self->bypass_next < PFS_MAGAZINE_BYPASS_MOST ? 2 : 1;
	else if (self->room != 0 && self->bypass_next > PFS_MAGAZINE_BYPASS)
		self->bypass_next /= 2;
	self->room = 0;
}

/* One step from a control word that is not IDLE; false: it changed meanwhile, look again. */
static bool yield_step(struct pfs_magazine *self, uint64_t *control, uint64_t from)
{
	uint64_t seen = *control;
	/* relaxed: the owner's own store. */
	uint64_t tail = pfs_load_relaxed(&self->tail) / 2;
	uint64_t handed = pfs_control_of(PFS_CONTROL_HANDED, from, tail);
	switch (pfs_control_state(seen)) {
	case PFS_CONTROL_REVOKED:
		*control = handed;
		/* [G6] acq_rel, pairs with [G7]: the taker reads what this hands over. */
		return pfs_cas_acq_rel(&self->control, &seen, handed);
	case PFS_CONTROL_DONE:
		stay_closed(self, tail); /* before IDLE [M6] */
		self->fenced = self->fenced || !pfs_barrier_available();
		self->pays = self->fenced;
		/* [G5] release, pairs with [G4]. */
		pfs_store_release(&self->head, pfs_control_to(seen, tail) * 2);
		/* [G9] acq_rel, pairs with [G3]: the new head goes first. */
		return pfs_cas_acq_rel(&self->control, &seen, (uint64_t)PFS_CONTROL_IDLE);
	default: return true;
	}
}

bool pfs_magazine_open(struct pfs_thread *thread)
{
	struct pfs_rings *rings = pfs_magazines_of(thread->container)->rings;
	struct pfs_magazine *self = thread->policy;
	if (self->place == PFS_RING_NONE)
		return false;
	if (!self->fenced && !pfs_barrier_available())
		pfs_magazine_begin(self, true);
	pfs_rings_open(rings, self->place);               /* before anything is put there [RG1] */
	self->opened = pfs_load_relaxed(&self->tail) / 2; /* relaxed: the owner's own store */
	self->room = 2 * PFS_MAGAZINE_RECORDS;
	return true;
}

void *pfs_magazine_take_rest(struct pfs_magazine *self)
{
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's own store */
	if (head % 2 == 0)
		return NULL;
	void *record = pfs_magazine_entry(self, head / 2);
	return head / 2 < pfs_magazine_yield(self, head / 2 + 1) ? record : NULL;
}

uint64_t pfs_magazine_yield(struct pfs_magazine *self, uint64_t from)
{
	/* relaxed, both: the owner's own stores. One of them is odd: the current operation's. */
	uint64_t head = pfs_load_relaxed(&self->head);
	uint64_t tail = pfs_load_relaxed(&self->tail); /* relaxed: see above */
	uint64_t control;
	pfs_store_release(&self->tail, tail / 2 * 2); /* [G5] release, pairs with [G4] */
	do {
		/* [G7] acquire, pairs with [G6]: the taker's positions; and with DONE, that it has
		 * copied what it took.
		 * Each turn means that the taker made a step, and it makes only a few. */
		control = pfs_load_acquire(&self->control);
	} while (!yield_step(self, &control, from));
	uint64_t taken_from = pfs_control_from(control, head / 2);
	if (head % 2 != 0 && pfs_control_state(control) != PFS_CONTROL_DONE)
		/* [G5] release, pairs with [G4]: past the entry, if it is ours. */
		pfs_store_release(&self->head,
				  (head / 2 < taken_from ? head / 2 + 1 : head / 2) * 2);
	return taken_from;
}

void pfs_magazine_give_to_word(struct pfs_container *self, void *record)
{
	uint64_t bit;
	struct pfs_occupancy_word *word = pfs_occupancy_word_at(pfs_place_in(self, record), &bit);
	(void)pfs_occupancy_put(self, word, bit);
}
