/*
 * slabs.c - the slabs of a bin: finding room, taking blocks, making and ending slabs.
 */
#include "bin.h"

#include <string.h>

#include "arena.h"
#include "conf.h"
#include "containers/compiler.h"
#include "die.h"
#include "extents.h"
#include "map.h"

static struct pfs_base_pool word_pools[PFS_SLAB_LINES_MOST + 1]; /* by lines of words */
static struct pfs_base_pool group_pool;
static struct pfs_base_pool tag_pools[PFS_SMALL_COUNT];

void pfs_bin_init(struct pfs_bin *self, struct pfs_arena *arena, uint32_t class)
{
	memset((void *)self, 0, sizeof(*self));
	pfs_mutex_init(&self->lock);
	pfs_mutex_init(&self->growing);
	self->arena = arena;
	self->class = class;
	self->groups = &self->first_group;
	self->group_capacity = 1;
}

/* ---- where there is room ---- */

/* The lowest group of a bit that may have room; NULL: none. */
static struct pfs_group *group_of_bit(struct pfs_bin *self, uint32_t bit)
{
	for (uint32_t at = bit; at < self->group_count; at += PFS_BIN_BITS) {
		/* relaxed: a hint; a caller that relies on NULL goes through [K4]. */
		if (pfs_load_relaxed(&self->groups[at]->room) != 0)
			return self->groups[at];
	}
	return NULL;
}

/* No group of the bit has room: clear it, then look at all of them again. */
static void clear_bit(struct pfs_bin *self, uint32_t bit)
{
	(void)pfs_fetch_and_seq(&self->room, ~(UINT64_C(1) << bit)); /* [K3] seq, with [K2] [K5] */
	for (uint32_t at = bit; at < self->group_count; at += PFS_BIN_BITS) {
		/* [K4] seq, pairs with [K5]. */
		if (pfs_load_seq(&self->groups[at]->room) != 0)
			(void)pfs_fetch_or_seq(&self->room, UINT64_C(1) << bit); /* [K5] seq */
	}
}

/* A low group with room; NULL: none, and no bit is set. */
static struct pfs_group *group_with_room(struct pfs_bin *self)
{
	/* [K4] seq, pairs with [K5]: sees all that was given before this call. */
	uint64_t room = pfs_load_seq(&self->room);
	while (room != 0) {
		uint32_t bit = (uint32_t)__builtin_ctzll(room);
		struct pfs_group *group = group_of_bit(self, bit);
		if (group != NULL)
			return group;
		clear_bit(self, bit);
		room = pfs_load_seq(&self->room); /* [K4] seq, as above */
	}
	return NULL;
}

static uint64_t valid_words(const struct pfs_extent *slab)
{
	uint32_t count = pfs_slab_word_count(slab);
	return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

struct pfs_extent *pfs_bin_slab_with_room(struct pfs_bin *self)
{
	struct pfs_group *group = group_with_room(self);
	while (group != NULL) {
		/* relaxed: a hint; [K4] follows where it is cleared. */
		uint64_t room = pfs_load_relaxed(&group->room);
		uint64_t bit = room & -room;
		struct pfs_extent *slab = room != 0 ? group->slabs[__builtin_ctzll(room)] : NULL;
		/* relaxed: as above. */
		uint64_t words = slab != NULL ? pfs_load_relaxed(&slab->summary) : 0;
		if (slab != NULL && (words & valid_words(slab)) != 0)
			return slab;
		if (slab != NULL)
			pfs_hint_clear(&group->room, bit, &slab->summary, valid_words(slab));
		else if (room != 0)
			(void)pfs_fetch_and_seq(&group->room, ~bit); /* [K3] seq: no slab */
		group = group_with_room(self);
	}
	return NULL;
}

/* ---- take ---- */

/* Take up to count free regions of a word, from slots[count - 1] downwards. Returns how many are
 * missing. */
static uint32_t take_of_word(struct pfs_extent *slab, uint32_t word, void **slots, uint32_t count)
{
	_Atomic(uint64_t) *bits = &slab->words[word];
	uint64_t seen = pfs_load_relaxed(bits); /* relaxed: a guess, only more bits can come */
	uint64_t left = seen;
	uintptr_t base = slab->base + (uintptr_t)word * PFS_WORD_REGIONS * slab->block_bytes;
	for (; left != 0 && count != 0; left &= left - 1) {
		uintptr_t offset = (uintptr_t)__builtin_ctzll(left) * slab->block_bytes;
		slots[--count] = (void *)(base + offset); /* NOLINT: addresses are numbers here */
	}
	uint64_t take = seen ^ left;
	/* [K6] seq, pairs with [K1]. Only the holder of the lock takes, so all of `take` is still
	 * set, and a subtraction clears it. */
	uint64_t before = take != 0 ? pfs_fetch_add_seq(bits, -take) : 0;
	if (before == take)
		pfs_hint_clear(&slab->summary, UINT64_C(1) << word, bits, UINT64_MAX);
	return count;
}

uint32_t pfs_slab_take(struct pfs_extent *slab, void **slots, uint32_t count)
{
	/* relaxed: hints; a bit missed here is found at the next look. */
	uint64_t room = pfs_load_relaxed(&slab->summary) & valid_words(slab);
	for (; room != 0 && count != 0; room &= room - 1)
		count = take_of_word(slab, (uint32_t)__builtin_ctzll(room), slots, count);
	return count;
}

/* ---- slabs come and go ---- */

static bool more_groups(struct pfs_bin *self)
{
	if (self->group_count == self->group_capacity) {
		uint32_t capacity = self->group_capacity == 1 ? 8 : self->group_capacity * 2;
		/* The old array is lost: at most 8 bytes for each slab. */
		struct pfs_base_pool none = { NULL };
		struct pfs_group **groups = pfs_base_new(&none, capacity * sizeof(*groups));
		if (groups == NULL)
			return false;
		memcpy(groups, self->groups, self->group_count * sizeof(*groups));
		self->groups = groups;
		self->group_capacity = capacity;
	}
	size_t slabs_bytes = pfs_group_slabs(self->group_count) * sizeof(struct pfs_extent *);
	struct pfs_group *group = pfs_base_new(&group_pool,
					       offsetof(struct pfs_group, slabs) + slabs_bytes);
	if (group == NULL)
		return false;
	group->bin = self;
	group->number = self->group_count;
	self->groups[self->group_count++] = group;
	return true;
}

/* The lowest group with a free place for a slab; NULL: no memory. Under lock. */
static struct pfs_group *group_with_hole(struct pfs_bin *self)
{
	while (self->group_with_hole < self->group_count) {
		struct pfs_group *group = self->groups[self->group_with_hole];
		if (group->used != pfs_group_all(group))
			return group;
		self->group_with_hole++;
	}
	return more_groups(self) ? self->groups[self->group_count - 1] : NULL;
}

static uint32_t word_lines(const struct pfs_extent *slab)
{
	return (pfs_slab_word_count(slab) * (uint32_t)sizeof(uint64_t) + PFS_LINE - 1) / PFS_LINE;
}

static bool slab_words(struct pfs_extent *slab)
{
	uint32_t count = pfs_slab_word_count(slab);
	uint32_t lines = word_lines(slab);
	slab->words = slab->few_words;
	if (count > PFS_SLAB_WORDS_INLINE)
		slab->words = pfs_base_new(&word_pools[lines], lines * PFS_LINE);
	if (slab->words == NULL)
		return false;
	for (uint32_t word = 0; word < count; word++)
		/* relaxed: not published yet; [K5] and the bin's lock carry it. */
		pfs_store_relaxed(&slab->words[word], pfs_slab_all_bits(slab, word));
	return true;
}

static bool slab_tags(struct pfs_extent *slab, uint32_t class)
{
	if (!pfs_conf.tags)
		return true;
	size_t bytes = slab->regions * sizeof(*slab->tags);
	slab->tags = pfs_base_new(&tag_pools[class], bytes);
	if (slab->tags != NULL)
		memset(slab->tags, 0, bytes);
	return slab->tags != NULL;
}

static void slab_forget(struct pfs_extent *slab, uint32_t class)
{
	if (slab->words != slab->few_words && slab->words != NULL)
		pfs_base_free(&word_pools[word_lines(slab)], (void *)slab->words);
	if (slab->tags != NULL)
		pfs_base_free(&tag_pools[class], slab->tags);
	slab->tags = NULL;
}

struct pfs_extent *pfs_slab_new(struct pfs_bin *self)
{
	const struct pfs_class *class = &pfs_classes[self->class];
	struct pfs_extents *extents = &self->arena->extents;
	struct pfs_extent *slab = pfs_extents_take(extents, class->slab_bytes, PFS_OS_PAGE);
	if (slab == NULL)
		return NULL;
	slab->block_bytes = class->size_bytes;
	slab->reciprocal = class->reciprocal;
	pfs_slab_set_regions(slab, class->regions);
	slab->class = (uint8_t)self->class;
	slab->words = NULL;
	if (!slab_words(slab) || !slab_tags(slab, self->class)) {
		slab_forget(slab, self->class);
		pfs_extents_give(extents, slab, PFS_EXTENT_DIRTY);
		return NULL;
	}
	/* relaxed: [K5] and the bin's lock carry it. */
	pfs_store_relaxed(&slab->summary, valid_words(slab));
	pfs_extent_set_kind(slab, PFS_EXTENT_SLAB);
	pfs_map_set_all(slab->base, slab->size_bytes, slab, PFS_RING_OFFSET(self->class));
	return slab;
}

bool pfs_slab_insert(struct pfs_bin *self, struct pfs_extent *slab)
{
	struct pfs_group *group = group_with_hole(self);
	if (group == NULL)
		return false;
	uint32_t slot = (uint32_t)__builtin_ctzll(~group->used);
	group->used |= UINT64_C(1) << slot;
	group->slabs[slot] = slab;
	slab->group = group;
	slab->slot = (uint8_t)slot;
	self->slabs_made++;
	if (++self->slab_count > self->slab_peak)
		self->slab_peak = self->slab_count;
	(void)pfs_fetch_or_seq(&group->room, UINT64_C(1) << slot); /* [K5] seq, pairs with [K3] */
	(void)pfs_fetch_or_seq(&self->room, pfs_group_bit(group)); /* [K5] seq, as above */
	return true;
}

void pfs_slab_end(struct pfs_extent *slab)
{
	slab_forget(slab, slab->class);
	pfs_map_set_all(slab->base, slab->size_bytes, NULL, 0);
	pfs_map_set_ends(slab->base, slab->size_bytes, slab);
	pfs_extents_give(&pfs_extent_arena(slab)->extents, slab, PFS_EXTENT_DIRTY);
}

void pfs_slab_remove(struct pfs_bin *self, struct pfs_extent *slab)
{
	struct pfs_group *group = slab->group;
	uint64_t bit = UINT64_C(1) << slab->slot;
	group->slabs[slab->slot] = NULL;
	group->used &= ~bit;
	if (group->number < self->group_with_hole)
		self->group_with_hole = group->number;
	(void)pfs_fetch_and_seq(&group->room, ~bit); /* [K3] seq: no slab */
	self->slab_count--;
	self->slabs_ended++;
}

void pfs_bin_settle(struct pfs_bin *self, struct pfs_group *group, uint32_t slot)
{
	pfs_mutex_lock(&self->lock);
	struct pfs_extent *slab = group->slabs[slot];
	struct pfs_extent *end = NULL;
	if (slab != NULL && slab != self->spare && pfs_words_are_full(pfs_slab_words(slab))) {
		end = self->spare;
		if (end == NULL || slab->base < end->base)
			self->spare = slab;
		else
			end = slab;
		self->spare_is_idle = false;
	}
	if (end != NULL)
		pfs_slab_remove(self, end);
	pfs_mutex_unlock(&self->lock);
	if (end != NULL)
		pfs_slab_end(end);
}
