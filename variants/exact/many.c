/*
 * many.c - see many.h.
 */
#include "many.h"

/* The lowest set bits, at most count. */
static uint32_t lowest_bits(uint32_t set, uint32_t count)
{
	uint32_t bits = 0;
	for (; set != 0 && count != 0; count--) {
		bits |= set & -set;
		set &= set - 1;
	}
	return bits;
}

/* Take from the word of the latest hint by one CAS; 0 as pfs_hints_first. */
static uint32_t take_latest(struct pfs_thread *thread, struct pfs_claim *claims, uint32_t count)
{
	struct pfs_hint *hint = pfs_hints_latest(thread);
	uint32_t taken = 0;
	if (hint == NULL)
		return 0;
	uint32_t bits = lowest_bits((uint32_t)hint->seen, count);
	if (!pfs_occupancy_take_to(thread, hint->word, &hint->seen, hint->seen - bits))
		return 0;
	for (; bits != 0; bits &= bits - 1)
		claims[taken++] = pfs_occupancy_claim(thread, hint->word,
						      (uint32_t)__builtin_ctz(bits));
	return taken;
}

uint32_t pfs_many_allocate(struct pfs_thread *thread, struct pfs_claim *claims, uint32_t count)
{
	pfs_tally_call(thread);
	uint32_t taken = count != 0 ? take_latest(thread, claims, count) : 0;
	while (taken < count) {
		struct pfs_claim claim = pfs_occupancy_search(thread); /* makes the latest hint */
		claims[taken] = claim;
		if (claim.record == NULL)
			break;
		taken++;
		if (taken < count)
			taken += take_latest(thread, &claims[taken], count - taken);
	}
	return taken;
}

void pfs_many_gather(struct pfs_thread *thread, struct pfs_gathered *self, struct pfs_place place)
{
	uint64_t bit;
	struct pfs_occupancy_word *word = pfs_occupancy_word_at(place, &bit);
	uint32_t at = 0;
	if (self->records == PFS_GATHERED_RECORDS)
		pfs_many_end(thread, self);
	self->records++;
	while (at < self->used && self->groups[at].word != word)
		at++;
	if (at == self->used && at < PFS_GATHERED_WORDS) {
		self->used++;
		self->groups[at].bits = 0;
	} else if (at == self->used) {
		at = self->next++ % PFS_GATHERED_WORDS;
		self->records -= (uint32_t)__builtin_popcountll(self->groups[at].bits);
		pfs_hints_give_bits(thread, self->groups[at].word, self->groups[at].bits);
		self->groups[at].bits = 0;
	}
	if (!pfs_likely((self->groups[at].bits & bit) == 0)) /* the only check of records without
							      * words */
		pfs_panic_plain("free: the record is in the batch already");
	self->groups[at].word = word;
	self->groups[at].bits |= bit;
}

void pfs_many_end(struct pfs_thread *thread, struct pfs_gathered *self)
{
	for (uint32_t at = 0; at < self->used; at++)
		pfs_hints_give_bits(thread, self->groups[at].word, self->groups[at].bits);
	self->used = self->records = 0;
}
