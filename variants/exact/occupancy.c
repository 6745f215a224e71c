/*
 * occupancy.c - the words and trees of a container: the memory of a page's words, announcing and
 * clearing, and walks over the words.
 */
#include "occupancy.h"

#include <stdlib.h>
#include <string.h>

#include "containers/lines.h"
#include "front.h"

static struct pfs_occupancy_page *entry_new(struct pfs_container *self, uint32_t page)
{
	struct pfs_occupancy *index = self->policy;
	uint32_t words = pfs_ceil_div(self->config.page_records, PFS_WORD_RECORDS);
	uint32_t nodes = pfs_room_node_count(words);
	size_t head = pfs_lines_of(sizeof(struct pfs_occupancy_page));
	size_t bytes = (head + nodes + words) * PFS_LINE;
	_Static_assert(sizeof(struct pfs_occupancy_word) == PFS_LINE &&
			       sizeof(struct pfs_room_node) == PFS_LINE,
		       "a line each");
	struct pfs_occupancy_page *entry = aligned_alloc(PFS_LINE, bytes);
	if (entry == NULL)
		return NULL;
	memset((void *)entry, 0, bytes);
	struct pfs_room_node *first = (void *)((char *)entry + head * PFS_LINE);
	pfs_room_init(&entry->words_room, words, first);
	entry->words = (void *)(first + nodes);
	entry->word_count = words;
	entry->index = page;
	for (uint32_t i = 0; i < words; i++) {
		entry->words[i].page = entry;
		entry->words[i].number = i;
	}
	/* [W7] release, pairs with [W8]: the words are complete. */
	pfs_store_release(&index->pages[page], entry);
	return entry;
}

struct pfs_occupancy_page *pfs_occupancy_entry(struct pfs_container *self, uint32_t page)
{
	struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page);
	return entry != NULL ? entry : entry_new(self, page);
}

uint64_t pfs_occupancy_announce(struct pfs_container *self, struct pfs_occupancy_word *word,
				uint64_t left)
{
	struct pfs_occupancy_page *entry = word->page;
	uint64_t seen = left;
	/* relaxed, both: if the page moves to another tree meanwhile, either it is raised there
	 * after this free changed the page's own tree, or this raise finds that its old path was
	 * dropped [T9]. */
	uint32_t node = pfs_load_relaxed(&entry->node);
	bool draining = pfs_load_relaxed(&entry->draining) != 0; /* relaxed: as above */
	pfs_room_raise(&entry->words_room, word->number);
	pfs_room_raise(pfs_occupancy_room(self->policy, node, draining), entry->index);
	/* [W6] release, pairs with [W2]: the path was raised. The CAS succeeds only on the very
	 * value that the free left: if the word had been cleared since, ANNOUNCED would refer to a
	 * path that is not raised any more [O4]. */
	if (pfs_cas_release(&word->free, &seen, left | PFS_WORD_ANNOUNCED))
		return left | PFS_WORD_ANNOUNCED;
	return seen;
}

void pfs_occupancy_clear(struct pfs_occupancy_word *word)
{
	const struct pfs_room *room = &word->page->words_room;
	uint64_t held = 0;
	if (!pfs_room_clear_begin(room, word->number, &held))
		return;
	uint64_t seen = pfs_load_relaxed(&word->free); /* relaxed: [W5] verifies it */
	/* [W5] acq_rel, pairs with [W2]: a later free finds its word not announced, and sees that
	 * the path is being cleared. Needed also if the value does not change. */
	if ((uint32_t)seen == 0 && pfs_cas_acq_rel(&word->free, &seen, seen & ~PFS_WORD_ANNOUNCED))
		pfs_room_clear_end(room, word->number, held);
}

void pfs_occupancy_clear_page(const struct pfs_room *room, struct pfs_occupancy_page *entry)
{
	_Atomic(uint64_t) *root = pfs_room_root(&entry->words_room);
	uint64_t held = 0;
	if (!pfs_room_clear_begin(room, entry->index, &held))
		return;
	uint64_t seen = pfs_load_relaxed(root); /* relaxed: [T5] verifies it */
	/* [T5] acq_rel, pairs with [T2]: as in room.c, from the page's tree to the tree of
	 * pages. */
	if (pfs_room_is_empty(seen) && pfs_cas_acq_rel(root, &seen, seen))
		pfs_room_clear_end(room, entry->index, held);
}

/* The clear bits of two neighbouring words: records that may be in use. */
static uint64_t used_bits(struct pfs_occupancy_page *entry, uint32_t number)
{
	/* relaxed, both: the bit of a record that is live throughout is clear in every value that
	 * this may return; the optimistic protocol then reads the record's word. */
	uint64_t all = (UINT64_C(1) << PFS_WORD_RECORDS) - 1;
	uint64_t used = ~pfs_load_relaxed(&entry->words[number].free) & all;
	if (number + 1 < entry->word_count) /* relaxed: as above */
		used |= (~pfs_load_relaxed(&entry->words[number + 1].free) & all)
			<< PFS_WORD_RECORDS;
	return used;
}

uint32_t pfs_occupancy_page_live(struct pfs_container *self, uint32_t page)
{
	struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page);
	const struct pfs_page *there = pfs_container_page(self, page);
	uint32_t live = there != NULL ? there->slot_count : 0;
	for (uint32_t i = 0; live != 0 && i < entry->word_count; i++) {
		/* relaxed: states to count and to decide by; nothing is read through them. */
		uint64_t word = pfs_load_relaxed(&entry->words[i].free);
		live -= (uint32_t)__builtin_popcount((uint32_t)word);
	}
	return live;
}

bool pfs_occupancy_is_used(struct pfs_container *self, uint32_t page, uint32_t slot)
{
	struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page);
	if (entry == NULL)
		return false;
	/* relaxed: as used_bits. */
	uint64_t word = pfs_load_relaxed(&entry->words[slot / PFS_WORD_RECORDS].free);
	return (word >> slot % PFS_WORD_RECORDS & 1) == 0;
}

uint32_t pfs_occupancy_next_used(struct pfs_container *self, uint32_t page, uint32_t slot)
{
	struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page);
	if (entry == NULL)
		return UINT32_MAX;
	uint32_t number = slot / PFS_WORD_RECORDS;
	uint64_t mask = UINT64_MAX << (slot % PFS_WORD_RECORDS);
	for (; number < entry->word_count; number += 2, mask = UINT64_MAX) {
		uint64_t used = used_bits(entry, number) & mask;
		if (used != 0)
			return number * PFS_WORD_RECORDS + (uint32_t)__builtin_ctzll(used);
	}
	return UINT32_MAX;
}

/* The words of a page stay when it goes, for the next page of the same index. */
uint64_t pfs_occupancy_index_bytes(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	uint32_t limit = pfs_container_page_limit(self);
	uint64_t nodes = pfs_room_node_count(limit != 0 ? limit : 1);
	uint64_t sum = (uint64_t)limit * sizeof(*index->pages) +
		       nodes * index->node_count * 2 * sizeof(struct pfs_room_node);
	/* relaxed: a metric. */
	if (pfs_load_relaxed(&index->spare) != NULL)
		sum += self->shape.block_bytes;
	if (index->front != NULL)
		sum += index->front->bytes(self);
	for (uint32_t page = 0; page < self->page_capacity; page++) {
		const struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page);
		if (entry != NULL)
			sum += sizeof(*entry) + entry->word_count * sizeof(*entry->words) +
			       pfs_room_node_count(entry->word_count) *
				       sizeof(struct pfs_room_node);
	}
	return sum;
}
