/*
 * rings.c - see rings.h.
 */
#include "rings.h"

#include <stdlib.h>
#include <string.h>

#include "containers/lines.h"

struct pfs_rings *pfs_rings_new(void)
{
	struct pfs_rings *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return NULL;
	struct pfs_room_node *nodes = pfs_lines_new(pfs_room_node_count(PFS_RING_WORDS),
						    &self->nodes);
	if (nodes == NULL) {
		free(self);
		return NULL;
	}
	pfs_room_init(&self->room, PFS_RING_WORDS, nodes);
	return self;
}

void pfs_rings_free(struct pfs_rings *self)
{
	struct pfs_ring_word *word;
	if (self == NULL)
		return;
	for (uint32_t i = 0; (word = pfs_rings_word(self, i)) != NULL; i++)
		free(word);
	free(self->nodes);
	free(self);
}

static bool make_word(struct pfs_rings *self, uint32_t number)
{
	struct pfs_ring_word *word = aligned_alloc(_Alignof(struct pfs_ring_word), sizeof(*word));
	if (word == NULL)
		return false;
	memset((void *)word, 0, sizeof(*word));
	pfs_store_release(&self->words[number], word); /* [RG7] release, pairs with [RG8] */
	return true;
}

uint32_t pfs_rings_assign(struct pfs_rings *self, struct pfs_magazine *ring)
{
	uint32_t place = self->used;
	if (place == PFS_RING_WORDS * PFS_RING_WORD_RINGS)
		return PFS_RING_NONE;
	if (place % PFS_RING_WORD_RINGS == 0 && !make_word(self, place / PFS_RING_WORD_RINGS))
		return PFS_RING_NONE;
	self->used++;
	struct pfs_ring_word *word = pfs_rings_word(self, place / PFS_RING_WORD_RINGS);
	word->rings[place % PFS_RING_WORD_RINGS] = ring;
	return place;
}

static uint64_t bit_of(uint32_t place)
{
	return UINT64_C(1) << (place % PFS_RING_WORD_RINGS);
}

void pfs_rings_open(struct pfs_rings *self, uint32_t place)
{
	struct pfs_ring_word *word = pfs_rings_word(self, place / PFS_RING_WORD_RINGS);
	/* [RG3] seq, pairs with [RG4] and [RG5]: if the path is being cleared, the raise sees
	 * it. */
	(void)pfs_fetch_or_seq(&word->open, bit_of(place));
	pfs_room_raise(&self->room, place / PFS_RING_WORD_RINGS);
}

void pfs_rings_close(struct pfs_rings *self, uint32_t place)
{
	struct pfs_ring_word *word = pfs_rings_word(self, place / PFS_RING_WORD_RINGS);
	/* [RG6] seq, pairs with [RG4]; release would do: its records are in the words. */
	(void)pfs_fetch_and_seq(&word->open, ~bit_of(place));
}

static void clear_word(struct pfs_rings *self, uint32_t number)
{
	_Atomic(uint64_t) *open = &pfs_rings_word(self, number)->open;
	uint64_t held = 0;
	if (!pfs_room_clear_begin(&self->room, number, &held))
		return;
	uint64_t seen = pfs_load_relaxed(open); /* relaxed: [RG4] verifies it */
	/* [RG4] acq_rel, pairs with [RG3] and [RG6]: an owner that opens its ring later sees that
	 * the path is being cleared. */
	if (seen == 0 && pfs_cas_acq_rel(open, &seen, seen))
		pfs_room_clear_end(&self->room, number, held);
}

void pfs_rings_clear(struct pfs_rings *self)
{
	uint32_t number = pfs_room_next(&self->room, 0);
	for (; number != PFS_ROOM_NONE; number = pfs_room_next(&self->room, number + 1)) {
		/* relaxed: [RG4] verifies it. */
		if (pfs_load_relaxed(&pfs_rings_word(self, number)->open) == 0)
			clear_word(self, number);
	}
}
