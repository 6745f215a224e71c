/*
 * occupancy_pages.c - pages under the words: opened with all their records free, and taken by a
 * reclaim pass bit by bit.
 */
#include "containers/fork.h"
#include "front.h"
#include "proof.h"
#include "seats.h"

static struct pfs_page *spare_of(struct pfs_occupancy *index)
{
	return pfs_load_relaxed(&index->spare); /* relaxed: under `mapping` */
}

static void set_spare(struct pfs_occupancy *index, struct pfs_page *page)
{
	index->spare_is_idle = false;
	pfs_store_relaxed(&index->spare, page); /* relaxed: under `mapping` */
}

void pfs_occupancy_drop_spare(struct pfs_container *self)
{
	struct pfs_page *page = spare_of(self->policy);
	set_spare(self->policy, NULL);
	if (page != NULL)
		pfs_container_unmap(self, page);
}

struct pfs_page *pfs_occupancy_spare(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pfs_occupancy *index = self->policy;
	uint32_t hole = thread->stays ? self->page_capacity : pfs_growth_hole(self);
	thread->growth = hole == self->page_capacity ? PFS_FULL : PFS_OK;
	if (thread->growth == PFS_FULL)
		return NULL;
	pfs_fork_resume(self); /* so that no record is granted to a thread that a fork has ended */
	if (spare_of(index) != NULL && spare_of(index)->index != hole)
		pfs_occupancy_drop_spare(self);
	if (spare_of(index) == NULL)
		set_spare(index, pfs_growth_make(thread, hole));
	if (spare_of(index) != NULL && pfs_occupancy_entry(self, hole) == NULL)
		thread->growth = PFS_NO_MEMORY;
	return thread->growth == PFS_OK ? spare_of(index) : NULL;
}

static void aim_word(struct pfs_occupancy_word *word, struct pfs_page *page)
{
	word->first_record = pfs_page_record(page, word->number * PFS_WORD_RECORDS);
	word->first_lock = (char *)pfs_page_lock(page, word->number * PFS_WORD_RECORDS);
	word->record_stride = (uint32_t)page->record_stride;
	word->lock_stride = (uint32_t)page->word_stride;
}

/* Give the page's records to waiting threads, except the caller's, if it keeps one; the others are
 * free from here on. False: there are none, and no word has been announced since the last page
 * here. */
static bool share_out(struct pfs_occupancy *index, struct pfs_occupancy_page *entry,
		      struct pfs_page *page, bool keeps_one)
{
	bool somebody_waits = keeps_one;
	uint64_t room = 0;
	for (uint32_t i = 0; i < entry->word_count; i++) {
		struct pfs_occupancy_word *word = &entry->words[i];
		uint64_t bits = pfs_occupancy_all_bits(page, i) & ~(uint64_t)(i == 0 && keeps_one);
		aim_word(word, page);
		if (somebody_waits)
			bits = pfs_seats_grant(index->seats, word, (uint32_t)bits);
		somebody_waits = somebody_waits && bits == 0;
		/* [W4] acq_rel, pairs with [W1] and [W5]: first_record and the page's words go
		 * first. Not a store: others may be clearing the path of the last page here, and a
		 * record that was granted may be free again. */
		room |= pfs_fetch_add_acq_rel(&word->free, bits + PFS_WORD_FREES);
		room |= bits;
	}
	return (room & (PFS_WORD_FREES - 1)) != 0;
}

struct pfs_occupancy_page *pfs_occupancy_open(struct pfs_thread *thread, bool keeps_one)
{
	struct pfs_container *self = thread->container;
	struct pfs_occupancy *index = self->policy;
	struct pfs_page *page = spare_of(index);
	struct pfs_occupancy_page *entry = pfs_occupancy_page_at(self, page->index);
	set_spare(index, NULL);
	page->index_words = entry->words;
	pfs_store_relaxed(&entry->node, page->node); /* relaxed: a preference */
	pfs_store_relaxed(&entry->draining, 0);      /* relaxed: a preference */
	pfs_proof_hold(index); /* the container may look full before its last page has a path */
	pfs_growth_publish(self, page);
	/* As a free does, after the bits. The words are not announced one by one: the first free
	 * to each finds its path raised, and announces it. Words that are announced since the
	 * last page here are found through its path, which may be that of another node: raised
	 * here too. */
	if (share_out(index, entry, page, keeps_one)) {
		pfs_room_raise_all(&entry->words_room, entry->word_count);
		pfs_room_raise(pfs_occupancy_room(index, page->node, false), entry->index);
	}
	pfs_proof_release(index);
	return entry;
}

enum pfs_status pfs_occupancy_add_page(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pfs_occupancy *index = self->policy;
	pfs_mutex_lock(&index->mapping);
	if (pfs_occupancy_spare(thread) != NULL) {
		pfs_mutex_lock(&self->growth);
		(void)pfs_occupancy_open(thread, false);
		pfs_mutex_unlock(&self->growth);
	}
	pfs_mutex_unlock(&index->mapping);
	return thread->growth;
}

/*
 * [W3] Own every record of the page: change each word from all free to none, version unchanged. If
 * a word is not all free, the words already taken are freed again.
 */
static bool take_page(struct pfs_container *self, struct pfs_page *page)
{
	struct pfs_occupancy_page *entry = pfs_occupancy_page_of(page);
	uint32_t taken = 0;
	for (; taken < entry->word_count; taken++) {
		struct pfs_occupancy_word *word = &entry->words[taken];
		uint64_t seen = pfs_load_relaxed(&word->free); /* relaxed: [W3] verifies it */
		uint64_t bits = pfs_occupancy_all_bits(page, taken);
		/* [W3] acq_rel, pairs with [W2]: the last owners' accesses to the page come before
		 * it is unmapped; and after [P1], for a thread that finds the word empty. */
		if ((uint32_t)seen != bits || !pfs_cas_acq_rel(&word->free, &seen, seen - bits))
			break;
	}
	if (taken == entry->word_count)
		return true;
	while (taken-- > 0)
		(void)pfs_occupancy_put(self, &entry->words[taken],
					pfs_occupancy_all_bits(page, taken));
	return false;
}

/* The path of a page that went stays raised: a search that comes by clears it. */
static bool retire(struct pfs_container *self, struct pfs_page *page)
{
	pfs_proof_hold(self->policy);
	bool taken = take_page(self, page);
	if (taken)
		pfs_growth_unlink(self, page);
	pfs_proof_release(self->policy);
	return taken;
}

/*
 * Move the page to another tree. It is raised there after it was dropped here: a free that still
 * raises the old path may have found it raised, and a search may have cleared the new one
 * meanwhile. In between the free records of the page have no path; a proof that meets this fails
 * because of the odd count.
 */
static void marked(struct pfs_container *self, struct pfs_page *page)
{
	struct pfs_occupancy *index = self->policy;
	struct pfs_occupancy_page *entry = pfs_occupancy_page_of(page);
	uint32_t draining = pfs_load_relaxed(&page->draining); /* relaxed: the pass's own */
	pfs_mutex_lock(&self->growth);
	pfs_proof_hold(index);
	pfs_store_relaxed(&entry->draining, draining); /* relaxed: a preference */
	pfs_room_drop(pfs_occupancy_room(index, page->node, draining == 0), entry->index,
		      &entry->words_room);
	pfs_room_raise(pfs_occupancy_room(index, page->node, draining != 0), entry->index);
	pfs_proof_release(index);
	pfs_mutex_unlock(&self->growth);
}

/* Records in rings keep their pages: take them back first. */
static void begin(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	if (index->front == NULL)
		return;
	pfs_mutex_lock(&self->growth);
	(void)index->front->take_back(self);
	pfs_mutex_unlock(&self->growth);
}

/* Give back the spare page if the last pass saw it too. While `mapping` is held another thread
 * makes or uses one, and a pass does not wait for it. */
static uint32_t give_reserve(struct pfs_container *self, enum pfs_reclaim_kind kind)
{
	struct pfs_occupancy *index = self->policy;
	uint32_t given = 0;
	if (kind != PFS_RECLAIM_PASS)
		pfs_mutex_lock(&index->mapping);
	else if (!pfs_mutex_try_lock(&index->mapping))
		return 0;
	if (spare_of(index) != NULL && (kind != PFS_RECLAIM_PASS || index->spare_is_idle)) {
		pfs_occupancy_drop_spare(self);
		given = 1;
	}
	index->spare_is_idle = spare_of(index) != NULL;
	pfs_mutex_unlock(&index->mapping);
	return given;
}

uint64_t pfs_occupancy_reserve_bytes(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	uint64_t bytes = 0;
	pfs_mutex_lock(&index->mapping);
	if (spare_of(index) != NULL)
		bytes = pfs_container_resident(self, spare_of(index));
	pfs_mutex_unlock(&index->mapping);
	return bytes;
}

static const struct pfs_reclaim_ops by_occupancy = {
	.begin = begin,
	.retire = retire,
	.marked = marked,
	.give_reserve = give_reserve,
};

uint32_t pfs_occupancy_reclaim(struct pfs_thread *thread, enum pfs_reclaim_kind kind)
{
	return pfs_reclaim_run(thread, kind, &by_occupancy);
}
