#include "sim/balance.h"

#include "containers/magazine.h"
#include "containers/summary.h"
#include "sim/cases.h"
#include "sim/machine.h"

struct balance {
	struct pfs_container *container;
	uint32_t places[PFS_CASE_RECORDS_MAX]; /* where a record is free, by its index */
};

static void add(struct balance *self, uint32_t page, uint32_t slot)
{
	uint32_t index = page * self->container->config.page_records + slot;
	PFS_MACHINE_CHECK(index < PFS_CASE_RECORDS_MAX, "a free record of index %u", index);
	self->places[index]++;
}

static bool has_bit(_Atomic(uint64_t) *words, uint32_t bit)
{
	return (pfs_load_relaxed(&words[bit / 64]) >> (bit % 64) & 1) != 0; /* relaxed: at rest */
}

static void check_announced(const struct balance *self, struct pfs_occupancy_page *entry)
{
	struct pfs_occupancy *index = self->container->policy;
	bool is_announced = false;
	for (uint32_t node = 0; node < index->node_count; node++)
		is_announced |=
			has_bit(pfs_summary_pages(index, node, false), entry->index) ||
			has_bit(pfs_summary_pages(index, node, true), entry->index);
	PFS_MACHINE_CHECK(is_announced, "page %u has room, and no set of pages shows it",
			  entry->index);
}

/* The set bits of a page, which is NULL if it went. */
static void add_words(struct balance *self, struct pfs_occupancy_page *entry,
		      const struct pfs_page *page)
{
	for (uint32_t i = 0; i < entry->word_count; i++) {
		/* relaxed: at rest. */
		uint32_t bits = (uint32_t)pfs_load_relaxed(&entry->words[i].free);
		PFS_MACHINE_CHECK(bits == 0 || page != NULL,
				  "page %u went, and word %u of it shows free records",
				  entry->index, i);
		for (uint32_t bit = 0; bit < 32; bit++) {
			if ((bits >> bit & 1) != 0)
				add(self, entry->index, i * PFS_WORD_RECORDS + bit);
		}
		if (bits == 0)
			continue;
		PFS_MACHINE_CHECK(has_bit(entry->words_with_room, i),
				  "word %u of page %u has room, and its page does not show it", i,
				  entry->index);
		check_announced(self, entry);
	}
}

static void add_rings(struct balance *self)
{
	/* relaxed: at rest. */
	struct pfs_thread *thread = pfs_load_relaxed(&self->container->threads);
	for (; thread != NULL; thread = thread->next) {
		struct pfs_magazine *ring = thread->policy;
		uint64_t first, last;
		pfs_magazine_content(ring, &first, &last);
		for (uint64_t at = first; at < last; at++) {
			const void *record = pfs_magazine_entry(ring, at);
			add(self, pfs_record_page(record)->index, pfs_record_slot(record));
		}
	}
}

static void compare(const struct balance *self, const struct pfs_page *page)
{
	for (uint32_t slot = 0; slot < page->slot_count; slot++) {
		uint32_t record = page->index * self->container->config.page_records + slot;
		/* relaxed: at rest. */
		uint32_t word = pfs_load_relaxed(&pfs_page_lock(page, slot)->word);
		uint32_t wanted = pfs_word_state(word) == PFS_STATE_FREE;
		PFS_MACHINE_CHECK(self->places[record] >= wanted,
				  "lost: record %u is FREE, and no word and no ring has it",
				  record);
		PFS_MACHINE_CHECK(self->places[record] <= wanted,
				  "record %u is %s, and free in %u words and rings", record,
				  wanted != 0 ? "FREE" : "in use", self->places[record]);
	}
}

void pfs_balance_check(struct pfs_container *container)
{
	struct balance balance = { .container = container };
	const struct pfs_occupancy *index = container->policy;
	if (container->variant->next_used != pfs_occupancy_next_used)
		return;
	if (index->caches == &pfs_magazine_caches)
		add_rings(&balance);
	for (uint32_t page = 0; page < container->page_capacity; page++) {
		struct pfs_occupancy_page *entry = pfs_summary_page_at(container, page);
		if (entry != NULL)
			add_words(&balance, entry, pfs_container_page(container, page));
	}
	for (uint32_t page = 0; page < container->page_capacity; page++) {
		const struct pfs_page *published = pfs_container_page(container, page);
		if (published != NULL)
			compare(&balance, published);
	}
}
