/*
 * magazine_owner.c - the rare work of a ring's owner: a free that found the ring full or met a
 * taker, the end of a handle, and the end of a call in which another owner stopped.
 */
#include "magazine.h"

#include "ring_control.h"

bool pfs_magazine_give_rest(struct pfs_thread *thread)
{
	struct pfs_magazine *self = thread->policy;
	/* relaxed, both: the owner's own stores. */
	if (pfs_load_relaxed(&self->tail) % 2 != 0)
		(void)pfs_magazine_yield(self, pfs_load_relaxed(&self->head) / 2);
	else if (self->room != 0)
		return pfs_magazine_send(thread);
	else if (self->bypass == 0)
		return pfs_magazine_open(thread);
	else
		self->bypass--;
	return false;
}

void pfs_magazine_flush(struct pfs_thread *thread)
{
	struct pfs_rings *rings = pfs_magazines_of(thread->container)->rings;
	struct pfs_magazine *self = thread->policy;
	uint64_t first, last;
	pfs_magazine_content(self, &first, &last);
	for (uint64_t entry = first; entry < last; entry++)
		pfs_magazine_give_to_word(thread->container, pfs_magazine_entry(self, entry));
	/* [G5] release, pairs with [G4]; the owner holds `growth`, so there is no taker. */
	pfs_store_release(&self->head, last * 2);
	/* [G9] release, pairs with [G3]. */
	pfs_store_release(&self->control, (uint64_t)PFS_CONTROL_IDLE);
	self->room = 0;
	self->bypass = 0;
	self->bypass_next = PFS_MAGAZINE_BYPASS;
	if (self->place == PFS_RING_NONE)
		return;
	pfs_rings_close(rings, self->place);
	pfs_rings_clear(rings);
}

/* The rest of pfs_magazine_take: is the entry at an odd head its owner's? */
static bool end_take(struct pfs_magazine *self, uint64_t head)
{
	/* [G2] seq, pairs with [G3] and [G8]. */
	if (pfs_load_seq(&self->control) != PFS_CONTROL_IDLE)
		return head / 2 < pfs_magazine_yield(self, head / 2 + 1);
	pfs_store_release(&self->head, head + 1); /* [G5] release, pairs with [G4] */
	return true;
}

void pfs_magazine_mend(struct pfs_thread *thread)
{
	struct pfs_magazine *self = thread->policy;
	(void)pfs_magazine_mend_move(self);
	uint64_t head = pfs_load_relaxed(&self->head); /* relaxed: the owner's, who is this
							* thread */
	uint64_t tail = pfs_load_relaxed(&self->tail); /* relaxed: as above */
	if (tail % 2 != 0)
		pfs_store_release(&self->tail, tail - 1); /* [G5] release, pairs with [G4] */
	if (head % 2 != 0) {
		void *record = pfs_magazine_entry(self, head / 2);
		if (end_take(self, head))
			pfs_magazine_give_to_word(thread->container, record);
	}
	self->room = 0; /* the old owner may have been about to open it: closed, then */
	self->bypass = 0;
}
