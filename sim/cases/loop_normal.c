/*
 * loop_normal.c - see loop_normal.h.
 *
 * A number that only grows is expressed by its distance from the newest one. At the end of the
 * set-up each begins at a tag of its own, so that a copy is recognised anywhere, even on a stack.
 * For each kind of number, why two states of equal form have the same future:
 *
 * versions of occupancy words, of nodes of trees, turns of blocks
 *     A copy is compared with its home only for equality, by a CAS; a block's also after one
 *     was added (next_state of depot.c). An old copy never becomes equal again: whatever is
 *     added to a wrong hint is added to its word, too. So a copy is either the newest, with the
 *     bits next to it, or older. A CAS from an older one fails whatever its bits are, and the
 *     only other question is whether a record is free. A block's copy may be one older, because
 *     of that addition.
 * sums of versions and moves in a proof
 *     Prefixes of one sum over all roots, compared only for equality: expressed by the distance
 *     from the current value of the prefix, up to SUM_CAP. ASSUMED: if two sums of one thread
 *     are both that old, it does not matter whether they are equal.
 * positions of rings
 *     Compared for equality, subtracted, and taken modulo the ring's size. Expressed relative
 *     to the begin of the head's lap. A position more than a lap behind the head can never
 *     occur again: expressed modulo the size.
 * sums of positions in a proof
 *     As sums of versions.
 * words of records
 *     Compared with the home for equality. As versions.
 *
 * entries of rings and blocks
 *     Left out are the entries outside of both ends, if no thread works on the ring (both ends
 *     are even and the control word is IDLE), and all entries of an EMPTY block. Their values
 *     are not used: a receiver or a free writes them first. If one were used, its record would
 *     have two owners or two places, whichever record it is.
 *
 * Left out: tallies and other metrics; how often a hint was lost, except what PFS_LOSSES needs;
 * random numbers, which are 0, so that searches begin at the first word.
 */
#include "sim/cases/loop_normal.h"

#include <string.h>

#include "variants/magazine/magazine.h"
#include "sim/seams/probe.h"

#define CAP UINT64_C(2) /* of words of records */
#define SUM_CAP INT64_C(3)

#define PACKED_MOST 256u
#define PACKED_FIRST 0x6000u /* upper 16 bits of what has a version in its upper bits */
#define WORD_FIRST 0x7000u   /* upper 16 bits of words of records */
#define SUMS_FIRST (UINT64_C(1) << 29)
#define FORMS (1u << 18)
#define WINDOW_BITS 16u /* a number may grow by 2 to this */
#define BLOCK_SHIFT 3u
#define FREES_SHIFT 33u
#define RINGS_MOST 8u
#define ROOTS_MOST 16u

/* What a whole word may be, decided by its upper 48 bits. */
enum form {
	FORM_NONE,
	FORM_ENTRY,    /* of a ring */
	FORM_POSITION, /* of a ring: twice an entry, or one more */
	FORM_FREES,    /* sum of the entries at the tails of the first rings */
	FORM_VERSION,  /* of a root, alone */
	FORM_SUM       /* moves, and versions of the first roots */
};

static struct tables {
	struct packed {
		_Atomic(uint64_t) *home;
		uint8_t shift;
		uint8_t old; /* a copy this far behind is old */
	} packed[PACKED_MOST];
	uint32_t packed_count;
	struct {
		uint8_t form, number;
	} forms[2][FORMS]; /* small ones, and sums */
	struct pfs_magazine *rings[RINGS_MOST];
	uint64_t entry_tags[RINGS_MOST];
	uint32_t ring_count;
	_Atomic(uint64_t) *roots[ROOTS_MOST];
	uint32_t root_count;
	_Atomic(uint64_t) *moves;
	_Atomic(uint32_t) *words[PFS_CASE_RECORDS_MAX];
	uint32_t word_count;
	/* Masks of words, by place. */
	struct pfs_hash_table places;
	uint64_t *masks;
	uint32_t mask_room;
	/* The ring or block of each entry, by place. */
	struct entry {
		struct pfs_magazine *ring; /* or NULL */
		struct pfs_block *block;
		uint32_t number; /* in it */
	} * entries;
	uint32_t entry_room;
	/* Of the current state. */
	uint64_t sums[ROOTS_MOST + 1];
	uint64_t frees[RINGS_MOST + 1];
	uint64_t laps[RINGS_MOST]; /* the begin of each head's lap */
} tables;

/* relaxed, all in this file: no thread runs. */
static uint64_t get(_Atomic(uint64_t) *home)
{
	return pfs_load_relaxed(home);
}

/* ---- left out ---- */

static void mask_word(uintptr_t place, uint64_t mask)
{
	uint32_t count = tables.places.count;
	uint32_t number = pfs_table_add(&tables.places, place);
	tables.masks = pfs_widen(tables.masks, &tables.mask_room, number + 1,
				 sizeof(*tables.masks));
	tables.masks[number] = number == count ? mask : tables.masks[number] & mask;
}

/* These bytes. */
static void leave_out(const void *at, size_t bytes)
{
	const char *first = at;
	for (size_t i = 0; i < bytes; i++) {
		uintptr_t place = (uintptr_t)(first + i);
		mask_word(place / 8, ~(UINT64_C(0xFF) << place % 8 * 8));
	}
}

static void leave_out_metrics(struct pfs_case *self)
{
	struct pfs_container *container = self->container;
	struct pfs_occupancy *index = container->policy;
	size_t words = (size_t)self->config.page_max *
		       pfs_ceil_div(self->config.page_records, PFS_WORD_RECORDS);
	leave_out((void *)&container->live, sizeof(container->live));
	leave_out((void *)&container->live_peak, sizeof(container->live_peak));
	leave_out((void *)&container->growths, sizeof(container->growths));
	leave_out((void *)&container->needless_growths, sizeof(container->needless_growths));
	leave_out((void *)&container->reclaimed, sizeof(container->reclaimed));
	leave_out((void *)&container->pages_peak, sizeof(container->pages_peak));
	leave_out(index->watched, words * sizeof(*index->watched));
	if (index->front != NULL) {
		struct pfs_magazines *magazines = pfs_magazines_of(container);
		leave_out((void *)&magazines->stranded_peak, sizeof(magazines->stranded_peak));
	}
}

static void leave_out_thread(struct pfs_case *self, struct pfs_thread *thread)
{
	struct pfs_hints *hints = thread->policy;
	const struct pfs_occupancy *index = self->container->policy;
	struct pfs_magazine *ring = thread->policy;
	memset(hints, 0, sizeof(*hints)); /* no hint is older than the tags */
	thread->random = 0;               /* it stays 0, and draws the first of any number */
	leave_out(&thread->tally, sizeof(thread->tally));
	leave_out(thread->tally.page_stamps, self->config.page_max * sizeof(uint64_t));
	leave_out(thread->tally.slot_stamps, self->config.page_records * sizeof(uint64_t));
	leave_out(thread->tally.free_words, self->config.page_records * sizeof(uint32_t));
	leave_out((void *)&thread->lost, sizeof(thread->lost));
	leave_out((char *)&hints->losses + 1, sizeof(hints->losses) - 1);
	mask_word((uintptr_t)&hints->losses / 8,
		  ~((UINT64_C(0xFF) - (PFS_LOSSES - 1)) << (uintptr_t)&hints->losses % 8 * 8));
	if (index->front == NULL)
		return;
	leave_out(&ring->watched, sizeof(ring->watched));
	leave_out(&ring->gives, sizeof(ring->gives));
}

_Static_assert((PFS_LOSSES & (PFS_LOSSES - 1)) == 0, "the lowest bits decide about losses");

/* ---- entries ---- */

static void note_entry(void *place, struct entry entry)
{
	mask_word((uintptr_t)place / 8, UINT64_MAX);
	uint32_t number = pfs_table_find(&tables.places, (uintptr_t)place / 8);
	tables.entries = pfs_widen(tables.entries, &tables.entry_room, number + 1,
				   sizeof(*tables.entries));
	tables.entries[number] = entry;
}

static bool is_stale(const struct entry *entry)
{
	if (entry->block != NULL)
		return (get(&entry->block->state) & PFS_BLOCK_STATE_MASK) == PFS_BLOCK_EMPTY;
	uint64_t head = get(&entry->ring->head), tail = get(&entry->ring->tail);
	uint64_t after = (entry->number - head / 2) % PFS_MAGAZINE_RECORDS;
	return (head | tail) % 2 == 0 && get(&entry->ring->control) == PFS_CONTROL_IDLE &&
	       after >= tail / 2 - head / 2;
}

/* ---- tags ---- */

static void set_form(uint64_t value, enum form form, uint32_t number)
{
	uint64_t key = value >> WINDOW_BITS;
	uint32_t side = key >= SUMS_FIRST;
	key -= side != 0 ? SUMS_FIRST : 0;
	PFS_MACHINE_CHECK(key < FORMS && tables.forms[side][key].form == FORM_NONE,
			  "set-up: two kinds of numbers have the same tag");
	tables.forms[side][key].form = (uint8_t)form;
	tables.forms[side][key].number = (uint8_t)number;
}

static uint64_t tag_packed(_Atomic(uint64_t) *home, uint8_t shift)
{
	uint32_t number = tables.packed_count++;
	PFS_MACHINE_CHECK(number < PACKED_MOST, "set-up: too many versions");
	tables.packed[number] = (struct packed){ home, shift, shift == BLOCK_SHIFT ? 2 : 1 };
	uint64_t tag = PACKED_FIRST + number;
	pfs_store_relaxed(home, (get(home) & UINT64_MAX >> 16) | tag << 48);
	return tag;
}

static void tag_room(const struct pfs_room *room, bool is_root)
{
	for (uint32_t level = 0; level < room->depth; level++) {
		uint32_t width = (room->width[level] + PFS_ROOM_FAN - 1) / PFS_ROOM_FAN;
		for (uint32_t node = 0; node < width; node++) {
			_Atomic(uint64_t) *states = &room->level[level][node].states;
			uint64_t tag = tag_packed(states, 32);
			if (!is_root || level + 1 != room->depth)
				continue;
			set_form(tag << 16, FORM_VERSION, tables.root_count);
			tables.roots[tables.root_count++] = states;
		}
	}
}

/* In the order in which proof.c looks at the roots. */
static void tag_trees(struct pfs_case *self)
{
	struct pfs_occupancy *index = self->container->policy;
	uint64_t sum = SUMS_FIRST << WINDOW_BITS;
	for (uint32_t i = 0; i < index->node_count * 2; i++)
		tag_room(&index->rooms[i], true);
	for (uint32_t i = 0; index->front != NULL && i < index->node_count; i++) {
		struct pfs_depot *depot = &pfs_magazines_of(self->container)->depots[i];
		if (depot->block_count != 0)
			tag_room(&depot->room, true);
		for (uint32_t block = 0; block < depot->block_count; block++) {
			struct pfs_block *at = pfs_depot_block(depot, block);
			(void)tag_packed(&at->state, BLOCK_SHIFT);
			leave_out(&at->watched, sizeof(at->watched));
			for (uint32_t entry = 0; entry < PFS_BLOCK_RECORDS; entry++)
				note_entry(&at->records[entry], (struct entry){ NULL, at, entry });
		}
	}
	if (index->front != NULL)
		tag_room(&pfs_magazines_of(self->container)->rings->room, true);
	tables.moves = &index->moves;
	pfs_store_relaxed(&index->moves, sum);
	set_form(sum, FORM_SUM, 0);
	for (uint32_t i = 0; i < tables.root_count; i++) {
		sum += get(tables.roots[i]) >> 32;
		set_form(sum, FORM_SUM, i + 1);
	}
}

static void tag_pages(struct pfs_case *self)
{
	for (uint32_t page = 0; page < self->config.page_max; page++) {
		struct pfs_occupancy_page *entry = pfs_occupancy_entry(self->container, page);
		PFS_MACHINE_CHECK(entry != NULL, "set-up: no memory");
		tag_room(&entry->words_room, false);
		for (uint32_t i = 0; i < entry->word_count; i++)
			(void)tag_packed(&entry->words[i].free, FREES_SHIFT);
	}
}

static void tag_words(struct pfs_case *self)
{
	struct pfs_container *container = self->container;
	for (uint32_t page = 0; page < self->config.page_max; page++) {
		struct pfs_page *there = pfs_container_page(container, page);
		for (uint32_t slot = 0; there != NULL && slot < there->slot_count; slot++) {
			if (there->words == NULL)
				continue;
			_Atomic(uint32_t) *word = &pfs_page_lock(there, slot)->word;
			uint32_t tag = WORD_FIRST + tables.word_count;
			pfs_store_relaxed(word, (pfs_load_relaxed(word) & 0xFFFF) | tag << 16);
			tables.words[tables.word_count++] = word;
		}
	}
}

/* In the order of the list, in which proof.c adds them up. */
static void tag_rings(struct pfs_case *self)
{
	static const uint32_t tags[RINGS_MOST] = { 0x2001, 0x2107, 0x221D, 0x2345,
						   0x2483, 0x25D1, 0x2735, 0x28B3 };
	uint64_t frees = 0;
	struct pfs_thread *thread = pfs_load_relaxed(&self->container->threads);
	for (; thread != NULL; thread = thread->next) {
		uint32_t number = tables.ring_count++;
		PFS_MACHINE_CHECK(number < RINGS_MOST, "set-up: too many rings");
		struct pfs_magazine *ring = thread->policy;
		uint64_t base = (uint64_t)tags[number] << WINDOW_BITS;
		pfs_store_relaxed(&ring->head, get(&ring->head) + 2 * base);
		pfs_store_relaxed(&ring->tail, get(&ring->tail) + 2 * base);
		tables.rings[number] = ring;
		tables.entry_tags[number] = tags[number];
		for (uint32_t entry = 0; entry < PFS_MAGAZINE_RECORDS; entry++)
			note_entry(&ring->records[entry], (struct entry){ ring, NULL, entry });
		frees += base;
		set_form(base, FORM_ENTRY, number);
		set_form(2 * base, FORM_POSITION, number);
		if (number != 0)
			set_form(frees, FORM_FREES, number + 1);
	}
}

void pfs_loop_normal_begin(struct pfs_case *self)
{
	const struct pfs_occupancy *index = self->container->policy;
	tables.packed_count = tables.ring_count = tables.root_count = tables.word_count = 0;
	memset(tables.forms, 0, sizeof(tables.forms));
	pfs_table_clear(&tables.places);
	if (tables.entry_room != 0)
		memset(tables.entries, 0, tables.entry_room * sizeof(*tables.entries));
	leave_out_metrics(self);
	struct pfs_thread *thread = pfs_load_relaxed(&self->container->threads);
	for (; thread != NULL; thread = thread->next)
		leave_out_thread(self, thread);
	tag_trees(self);
	tag_pages(self);
	tag_words(self);
	if (index->front != NULL)
		tag_rings(self);
}

/* ---- forms ---- */

static void begin(void *context)
{
	(void)context;
	tables.sums[0] = get(tables.moves);
	for (uint32_t i = 0; i < tables.root_count; i++)
		tables.sums[i + 1] = tables.sums[i] + (get(tables.roots[i]) >> 32);
	for (uint32_t i = 0; i < tables.ring_count; i++) {
		uint64_t head = get(&tables.rings[i]->head) / 2;
		tables.frees[i + 1] = tables.frees[i] + get(&tables.rings[i]->tail) / 2;
		tables.laps[i] = head - head % PFS_MAGAZINE_RECORDS;
	}
}

static const struct packed *packed_of(uint64_t word)
{
	uint64_t number = (word >> 48) - PACKED_FIRST;
	return number < tables.packed_count ? &tables.packed[number] : NULL;
}

/* Within one version, a word of occupancy.h only loses bits: a copy with a lost bit is old. */
static bool lost_bits(const struct packed *packed, uint64_t word, uint64_t behind)
{
	return packed->shift == FREES_SHIFT && behind == 0 &&
	       ((uint32_t)word & ~(uint32_t)get(packed->home)) != 0;
}

static uint64_t tell_packed(const struct packed *packed, uint64_t word)
{
	uint64_t behind = (get(packed->home) >> packed->shift) - (word >> packed->shift);
	uint64_t low = word & ((UINT64_C(1) << packed->shift) - 1);
	if (behind >> 63 != 0) /* newer than its home: no copy is */
		return word;
	if (behind >= packed->old || lost_bits(packed, word, behind))
		return (word >> 48) << 48 | UINT64_C(3) << 40 | ((uint32_t)low != 0);
	return (word >> 48) << 48 | behind << 40 | low;
}

/* The position of an entry in its ring, relative to the head's lap. */
static uint64_t tell_entry(uint32_t ring, uint64_t entry)
{
	uint64_t records = PFS_MAGAZINE_RECORDS, lap = tables.laps[ring];
	if (entry + records < lap)
		return entry % records;
	return entry - lap + 3 * records;
}

static int64_t capped(int64_t distance)
{
	return distance > SUM_CAP ? SUM_CAP : distance < -SUM_CAP ? -SUM_CAP : distance;
}

static uint64_t tell_sum(uint64_t now, uint64_t sum)
{
	return (uint64_t)(capped((int64_t)(now - sum)) + SUM_CAP);
}

static uint64_t tell_form(enum form form, uint32_t number, uint64_t word)
{
	uint64_t told = (uint64_t)form << 56 | (uint64_t)number << 48;
	switch (form) {
	case FORM_ENTRY: return told | tell_entry(number, word);
	case FORM_POSITION: return told | tell_entry(number, word / 2) << 1 | word % 2;
	case FORM_FREES: return told | tell_sum(tables.frees[number], word);
	case FORM_VERSION: return told | tell_sum(get(tables.roots[number]) >> 32, word);
	default: return told | tell_sum(tables.sums[number], word) << 1 | (number == 0) * word % 2;
	}
}

/* {state, from, to} of magazine.c, if from and to are of one ring. */
static bool is_control(uint64_t word, uint32_t *ring)
{
	uint64_t from = word >> 2 & 0x7FFFFFFF, to = word >> 33;
	for (*ring = 0; *ring < tables.ring_count; ++*ring) {
		if (from >> WINDOW_BITS == tables.entry_tags[*ring] &&
		    to >> WINDOW_BITS == tables.entry_tags[*ring])
			return true;
	}
	return false;
}

static uint64_t tell_control(uint32_t ring, uint64_t word)
{
	return UINT64_C(0xC0) << 56 | (uint64_t)ring << 48 |
	       tell_entry(ring, word >> 2 & 0x7FFFFFFF) << 24 | tell_entry(ring, word >> 33) << 2 |
	       (word & 3);
}

/* A word of a record, in 32 bits. */
static uint32_t tell_half(uint32_t half)
{
	uint32_t number = (half >> 16) - WORD_FIRST;
	if (number >= tables.word_count)
		return half;
	uint32_t behind = pfs_load_relaxed(tables.words[number]) / 4 - half / 4;
	return (half >> 16) << 16 | (behind < CAP ? behind : (uint32_t)CAP) << 2 | half % 4;
}

static bool is_pointer(uint64_t word)
{
	return word >> 32 >= 0x5500 && word >> 32 <= 0x7FFF;
}

static uint64_t tell(uint64_t word)
{
	uint32_t ring;
	if (word >> WINDOW_BITS == 0 || is_pointer(word))
		return word;
	const struct packed *packed = packed_of(word);
	if (packed != NULL)
		return tell_packed(packed, word);
	uint64_t key = word >> WINDOW_BITS;
	uint32_t side = key >= SUMS_FIRST;
	key -= side != 0 ? SUMS_FIRST : 0;
	if (key < FORMS && tables.forms[side][key].form != FORM_NONE)
		return tell_form((enum form)tables.forms[side][key].form,
				 tables.forms[side][key].number, word);
	if (is_control(word, &ring))
		return tell_control(ring, word);
	return (uint64_t)tell_half((uint32_t)(word >> 32)) << 32 | tell_half((uint32_t)word);
}

static bool is_entry(uint32_t number)
{
	return number < tables.entry_room && /* so NONE is not */
	       (tables.entries[number].ring != NULL || tables.entries[number].block != NULL);
}

static uint64_t of(void *context, const void *place, uint64_t word)
{
	(void)context;
	uint32_t number = pfs_table_find(&tables.places, (uintptr_t)place / 8);
	if (number != PFS_TABLE_NONE)
		word &= tables.masks[number];
	if (is_entry(number) && is_stale(&tables.entries[number]))
		word = 0;
	return tell(word);
}

/* Does the word have a tag, or is it an entry? */
static bool is_relative(void *context, const void *place, uint64_t word)
{
	uint32_t number = pfs_table_find(&tables.places, (uintptr_t)place / 8);
	return is_entry(number) || (number == PFS_TABLE_NONE && of(context, place, word) != word);
}

const struct pfs_normal pfs_loop_normal = { begin, of, is_relative };
