/*
 * holes.c - see holes.h.
 */
#include "holes.h"

#include <stdlib.h>

static uint32_t words_of(uint32_t bits)
{
	return (bits + 63) / 64;
}

bool pfs_holes_init(struct pfs_holes *self, uint32_t places)
{
	uint32_t bits = places != 0 ? places : 1;
	uint32_t offset[PFS_HOLES_LEVELS];
	uint32_t count = 0;
	self->places = places;
	self->depth = 0;
	do {
		offset[self->depth++] = count;
		count += words_of(bits);
		bits = words_of(bits);
	} while (bits > 1);
	self->words = calloc(count, sizeof(*self->words));
	for (uint32_t i = 0; self->words != NULL && i < self->depth; i++)
		self->level[i] = self->words + offset[i];
	return self->words != NULL;
}

void pfs_holes_fini(struct pfs_holes *self)
{
	free((void *)self->words);
}

/* Down from the top: below a clear bit there is a word with a clear bit. */
uint32_t pfs_holes_find(const struct pfs_holes *self)
{
	uint32_t at = 0;
	for (uint32_t level = self->depth; level-- != 0;) {
		/* [H2] acquire, pairs with [H1]: what is below the bit was opened before. */
		uint64_t clear = ~pfs_load_acquire(&self->level[level][at]);
		if (clear == 0)
			return self->places;
		at = at * 64 + (uint32_t)__builtin_ctzll(clear);
	}
	return at < self->places ? at : self->places;
}

void pfs_holes_fill(struct pfs_holes *self, uint32_t place)
{
	for (uint32_t level = 0; level < self->depth; level++, place /= 64) {
		_Atomic(uint64_t) *word = &self->level[level][place / 64];
		/* relaxed, both: under `growth`, no other thread writes; a reader that finds the
		 * old word finds a hole that was one before it began. */
		uint64_t filled = pfs_load_relaxed(word) | UINT64_C(1) << (place % 64);
		pfs_store_relaxed(word, filled); /* relaxed: see above */
		if (filled != UINT64_MAX)
			return;
	}
}

void pfs_holes_open(struct pfs_holes *self, uint32_t place)
{
	bool was_full = true;
	for (uint32_t level = 0; was_full && level < self->depth; level++, place /= 64) {
		_Atomic(uint64_t) *word = &self->level[level][place / 64];
		uint64_t seen = pfs_load_relaxed(word); /* relaxed: under `growth` */
		was_full = seen == UINT64_MAX;
		/* [H1] release, pairs with [H2]. */
		pfs_store_release(word, seen & ~(UINT64_C(1) << (place % 64)));
	}
}
