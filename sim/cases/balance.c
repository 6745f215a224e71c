#include "sim/cases/balance.h"

#include "variants/magazine/magazine.h"
#include "sim/cases/cases.h"
#include "check/machine/machine.h"

struct balance {
	struct pfs_container *container;
	const uint32_t *owners;
	uint32_t places[PFS_CASE_RECORDS_MAX]; /* where a record is free, by its index */
};

static void add(struct balance *self, uint32_t page, uint32_t slot)
{
	uint32_t index = page * self->container->config.page_records + slot;
	PFS_MACHINE_CHECK(index < PFS_CASE_RECORDS_MAX, "a free record of index %u", index);
	self->places[index]++;
}

static bool shows_room(const struct pfs_room *room, uint32_t leaf)
{
	bool all = true;
	for (uint32_t level = 0; level < room->depth; level++) {
		/* relaxed: at rest. */
		uint64_t states = pfs_load_relaxed(&room->level[level][leaf / PFS_ROOM_FAN].states);
		all &= (states >> 2 * (leaf % PFS_ROOM_FAN) & PFS_ROOM_STATE) != 0;
		leaf /= PFS_ROOM_FAN;
	}
	return all;
}

static void check_announced(const struct balance *self, struct pfs_occupancy_page *entry,
			    uint32_t number)
{
	struct pfs_occupancy *index = self->container->policy;
	bool is_announced = false;
	PFS_MACHINE_CHECK(shows_room(&entry->words_room, number),
			  "word %u of page %u has room, but its page's tree does not show it",
			  number, entry->index);
	for (uint32_t room = 0; room < index->node_count * 2; room++)
		is_announced |= shows_room(&index->rooms[room], entry->index);
	PFS_MACHINE_CHECK(is_announced, "page %u has room, but no tree of pages shows it",
			  entry->index);
}

/* The set bits of a page, which is NULL if it was given back. */
static void add_words(struct balance *self, struct pfs_occupancy_page *entry,
		      const struct pfs_page *page)
{
	for (uint32_t i = 0; i < entry->word_count; i++) {
		/* relaxed: at rest. */
		uint32_t bits = (uint32_t)pfs_load_relaxed(&entry->words[i].free);
		PFS_MACHINE_CHECK(bits == 0 || page != NULL,
				  "page %u was given back, but its word %u shows free records",
				  entry->index, i);
		for (uint32_t bit = 0; bit < 32; bit++) {
			if ((bits >> bit & 1) != 0)
				add(self, entry->index, i * PFS_WORD_RECORDS + bit);
		}
		if (bits == 0)
			continue;
		check_announced(self, entry, i);
	}
}

/* A ring that holds records is open, and the tree of rings shows the words of all open rings. */
static void check_open(const struct balance *self, const struct pfs_magazine *ring,
		       bool has_records)
{
	struct pfs_rings *rings = pfs_magazines_of(self->container)->rings;
	uint32_t number = ring->place / PFS_RING_WORD_RINGS;
	struct pfs_ring_word *word = pfs_rings_word(rings, number);
	/* relaxed: at rest. */
	uint64_t open = pfs_load_relaxed(&word->open) >> ring->place % PFS_RING_WORD_RINGS & 1;
	PFS_MACHINE_CHECK(open != 0 || !has_records, "ring %u holds records, but is not open",
			  ring->place);
	PFS_MACHINE_CHECK(open == 0 || shows_room(&rings->room, number),
			  "ring %u is open, but the tree of rings does not show it", ring->place);
}

static void add_rings(struct balance *self)
{
	/* relaxed: at rest. */
	struct pfs_thread *thread = pfs_load_relaxed(&self->container->threads);
	for (; thread != NULL; thread = thread->next) {
		struct pfs_magazine *ring = thread->policy;
		uint64_t first, last;
		pfs_magazine_content(ring, &first, &last);
		check_open(self, ring, first < last);
		for (uint64_t at = first; at < last; at++) {
			const void *record = pfs_magazine_entry(ring, at);
			struct pfs_place place = pfs_place_in(self->container, record);
			add(self, place.page->index, place.slot);
		}
	}
}

static void add_blocks(struct balance *self, struct pfs_depot *depot)
{
	for (uint32_t i = 0; i < depot->block_count; i++) {
		struct pfs_block *block = pfs_depot_block(depot, i);
		/* relaxed, all: at rest. */
		uint64_t state = pfs_load_relaxed(&block->state) & PFS_BLOCK_STATE_MASK;
		PFS_MACHINE_CHECK(state == PFS_BLOCK_EMPTY || state == PFS_BLOCK_FULL,
				  "block %u stays in state %llu: no thread can use it again", i,
				  (unsigned long long)state);
		if (state == PFS_BLOCK_EMPTY)
			continue;
		PFS_MACHINE_CHECK(shows_room(&depot->room, i),
				  "block %u has records, but its depot's tree does not show it", i);
		for (uint32_t at = 0; at < PFS_BLOCK_RECORDS; at++) {
			const void *record = pfs_load_relaxed(&block->records[at]); /* relaxed */
			struct pfs_place place = pfs_place_in(self->container, record);
			add(self, place.page->index, place.slot);
		}
	}
}

static uint32_t is_free(const struct balance *self, const struct pfs_page *page, uint32_t slot)
{
	if (page->words == NULL)
		return self->owners[page->index * self->container->config.page_records + slot] == 0;
	/* relaxed: at rest. */
	uint32_t word = pfs_load_relaxed(&pfs_page_lock(page, slot)->word);
	return pfs_word_state(word) == PFS_STATE_FREE;
}

static void compare(const struct balance *self, const struct pfs_page *page)
{
	struct pfs_occupancy_page *entry = pfs_occupancy_page_of(page);
	/* relaxed, both: at rest. */
	PFS_MACHINE_CHECK(pfs_load_relaxed(&entry->draining) ==
				  pfs_load_relaxed(&((struct pfs_page *)(uintptr_t)page)->draining),
			  "page %u has a draining mark that is not its own", page->index);
	for (uint32_t slot = 0; slot < page->slot_count; slot++) {
		uint32_t record = page->index * self->container->config.page_records + slot;
		uint32_t wanted = is_free(self, page, slot);
		PFS_MACHINE_CHECK(self->places[record] >= wanted,
				  "lost: record %u is FREE, but no word, ring or block has it",
				  record);
		PFS_MACHINE_CHECK(self->places[record] <= wanted,
				  "record %u is %s, but free in %u words and rings", record,
				  wanted != 0 ? "FREE" : "in use", self->places[record]);
	}
}

void pfs_balance_check(struct pfs_container *container, const uint32_t *owners)
{
	struct balance balance = { .container = container, .owners = owners };
	const struct pfs_occupancy *index = container->policy;
	if (container->variant->next_used != pfs_occupancy_next_used)
		return;
	if (index->front != NULL)
		add_rings(&balance);
	for (uint32_t i = 0; index->front != NULL && i < index->node_count; i++)
		add_blocks(&balance, &pfs_magazines_of(container)->depots[i]);
	for (uint32_t page = 0; page < container->page_capacity; page++) {
		struct pfs_occupancy_page *entry = pfs_occupancy_page_at(container, page);
		if (entry != NULL)
			add_words(&balance, entry, pfs_container_page(container, page));
	}
	for (uint32_t page = 0; page < container->page_capacity; page++) {
		const struct pfs_page *published = pfs_container_page(container, page);
		if (published != NULL)
			compare(&balance, published);
	}
}
