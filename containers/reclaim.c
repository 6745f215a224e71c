/*
 * reclaim.c - reclaim passes: sparse pages are drained, empty ones are given back.
 *
 * A pass
 *	1. frees the memory of pages in limbo whose readers have left;
 *	2. counts the live records of each page;
 *	3. keeps the fullest pages that hold the live records, plus headroom and spare pages, and
 *	   marks the rest as draining: allocators use them only if no other page has room. So
 *	   records that are spread thin move to the kept pages as they are replaced;
 *	4. finds the surplus: draining pages that were empty for idle_passes passes in a row;
 *	5. gives back surplus pages, the longest idle first, until no more stay than the curve over
 *	   decay_passes allows (decay.h).
 *
 * A pass gives a page back with the same steps that allocators take: it claims each record by the
 * CAS FREE -> DIRTY [L1]. If one is not FREE, the claimed ones are freed again and the page stays.
 * Once all are claimed, nobody can allocate a record of the page: that needs a FREE word, and only
 * the owner leaves DIRTY. The page is unlinked [C4], the clock advanced, and the memory is unmapped
 * when every thread that may have looked the page up has left its section. So no record is ever
 * allocated from a page that is being given back, and allocate and free take no lock.
 *
 * Ordering:  [R1] mark: store, release   <->  [R2] mark: load, acquire
 *            [R3] round: store, release  <->  [R4] round: load, acquire
 *            as in a seqlock whose data are the marks, and the records that a pass holds: see
 *            search() in variants/reclaiming.c and pfs_container_page_add
 *
 * Hysteresis: pages are marked only beyond live records * (1 + headroom) + spare pages, and given
 * back only after idle_passes empty passes, so a load that swings by less than the headroom moves
 * no page. A growth in between changes nothing, because it happens only when draining pages have no
 * free record either. The surplus of a larger swing stays available for the next one, less of it as
 * time passes: a page that is used again is no longer surplus.
 *
 * Limbo is bounded: a page is retired only while pages and limbo together are at most the capacity.
 * A retirement does not change that sum and only growth raises it. So at most page_capacity pages
 * wait, whatever a reader does, and at most twice as many are mapped. While limbo is full, empty
 * pages stay in the container, for its allocators.
 */
#include "reclaim.h"

#include <stdlib.h>

#include "fork.h"
#include "yield.h"

#define PFS_PAGE_ABSENT UINT32_MAX
#define PFS_NOW_TRIES 64 /* looks at readers that are about to leave, with a yield between */

/* Records of a page that keep a pass from retiring it: by the policy's index if it has one, 32
 * records a load. retire can own the records that the index shows free, but not one that a search
 * holds. */
static uint32_t page_live(struct pfs_container *self, const struct pfs_page *page)
{
	if (self->variant->page_live != NULL)
		return self->variant->page_live(self, page->index);
	return pfs_page_live(page);
}

/* Live records of each page, and their sum. Only a pass removes pages, so the pages seen stay. */
static uint64_t count_live(struct pfs_container *self, uint32_t limit)
{
	uint64_t sum = 0;
	for (uint32_t index = 0; index < limit; index++) {
		struct pfs_page *page = pfs_container_page(self, index);
		self->pass_live[index] = PFS_PAGE_ABSENT;
		if (page == NULL)
			continue;
		self->pass_live[index] = page_live(self, page);
		sum += self->pass_live[index];
	}
	return sum;
}

static uint32_t pages_to_keep(const struct pfs_container *self, uint64_t live)
{
	const struct pfs_reclaim_config *reclaim = &self->config.reclaim;
	uint64_t room = live * (100 + (uint64_t)reclaim->headroom_percent) / 100;
	uint64_t records = self->config.page_records;
	uint64_t keep = (room + records - 1) / records + reclaim->spare_pages;
	if (keep < self->config.page_prealloc)
		keep = self->config.page_prealloc;
	return keep < UINT32_MAX ? (uint32_t)keep : UINT32_MAX;
}

static int by_key_falling(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;
	return (a < b) - (a > b);
}

/* Fullest first; of equal pages the lower index first; absent pages last. */
static void rank_pages(struct pfs_container *self, uint32_t limit)
{
	for (uint32_t index = 0; index < limit; index++) {
		uint32_t live = self->pass_live[index];
		uint64_t fullness = live == PFS_PAGE_ABSENT ? 0 : (uint64_t)live + 1;
		self->pass_keys[index] = fullness << 32 | (UINT32_MAX - index);
	}
	qsort(self->pass_keys, limit, sizeof(*self->pass_keys), by_key_falling);
}

static bool is_marked(struct pfs_page *page)
{
	return pfs_load_relaxed(&page->draining) != 0; /* relaxed: written by passes alone */
}

/* Begin or end a change of marks: the round is odd in between. */
static void turn_round(struct pfs_container *self)
{
	/* relaxed: written by passes alone. */
	uint32_t round = pfs_load_relaxed(&self->drain_round);
	/* [R3] release, pairs with [R4]: with an even round come its marks, or newer ones. */
	pfs_store_release(&self->drain_round, round + 1);
}

/* The `keep` fullest pages stay; the others drain. */
static void mark_pages(struct pfs_container *self, uint32_t limit, uint32_t keep,
		       const struct pfs_reclaim_ops *ops)
{
	bool changed = false;
	rank_pages(self, limit);
	for (uint32_t rank = 0; rank < limit; rank++) {
		uint32_t index = UINT32_MAX - (uint32_t)self->pass_keys[rank];
		struct pfs_page *page = pfs_container_page(self, index);
		if (page == NULL || self->pass_live[index] == PFS_PAGE_ABSENT ||
		    is_marked(page) == (rank >= keep))
			continue;
		if (!changed)
			turn_round(self);
		changed = true;
		/* [R1] release, pairs with [R2]: the odd round goes before the mark; without it a
		 * search could take new marks for those of its round and pass a page over. */
		pfs_store_release(&page->draining, rank >= keep);
		if (ops->marked != NULL)
			ops->marked(self, page);
	}
	if (changed)
		turn_round(self);
}

/* Own every record of the page, or none. */
static bool claim_page(struct pfs_page *page)
{
	uint32_t slot = 0;
	uint32_t dirty_word = 0;
	while (slot < page->slot_count &&
	       pfs_lock_free_to_dirty(pfs_page_lock(page, slot), &dirty_word) == PFS_TAKE_WON)
		slot++;
	if (slot == page->slot_count)
		return true;
	while (slot-- > 0) {
		struct pfs_lock *lock = pfs_page_lock(page, slot);
		/* relaxed: the pass owns the record. */
		pfs_lock_dirty_to_free(lock, pfs_load_relaxed(&lock->word));
	}
	return false;
}

/*
 * While a pass holds the records of an empty page, a search may find no record although none is in
 * use. So the round changes, under `growth`. A search that failed for this reason waits for
 * `growth` to add a page and sees that the round changed; it then neither adds a page nor reports
 * full, but searches again.
 */
static bool retire_by_words(struct pfs_container *self, struct pfs_page *page)
{
	turn_round(self);
	bool claimed = claim_page(page);
	if (claimed)
		pfs_growth_unlink(self, page);
	turn_round(self);
	return claimed;
}

const struct pfs_reclaim_ops pfs_reclaim_by_words = { .retire = retire_by_words };

static void to_limbo(struct pfs_container *self, struct pfs_page *page)
{
	page->limbo_next = self->limbo;
	self->limbo = page;
	/* relaxed: a metric, written by the pass alone. */
	pfs_store_relaxed(&self->limbo_count, pfs_load_relaxed(&self->limbo_count) + 1);
}

static void age_page(struct pfs_container *self, struct pfs_page *page, bool idle)
{
	uint32_t surplus_at = self->config.reclaim.idle_passes;
	if (idle) {
		page->idle_passes++;
		if (page->idle_passes == surplus_at)
			pfs_decay_enter(&self->decay);
		return;
	}
	if (page->idle_passes >= surplus_at)
		pfs_decay_leave(&self->decay, page->idle_passes - surplus_at + 1);
	page->idle_passes = 0;
}

static bool is_surplus(struct pfs_container *self, const struct pfs_page *page,
		       enum pfs_reclaim_kind kind)
{
	switch (kind) {
	case PFS_RECLAIM_TRIM: return self->pass_live[page->index] == 0;
	case PFS_RECLAIM_NOW: return page->idle_passes >= 1;
	default: return page->idle_passes >= self->config.reclaim.idle_passes;
	}
}

/* Write surplus pages to pass_keys, the longest idle first, of equal ones the higher index first,
 * because rank_pages keeps the lower; returns how many. */
static uint32_t find_surplus(struct pfs_container *self, uint32_t limit, enum pfs_reclaim_kind kind)
{
	uint32_t count = 0;
	pfs_decay_turn(&self->decay);
	for (uint32_t index = 0; index < limit; index++) {
		if (self->pass_live[index] == PFS_PAGE_ABSENT)
			continue;
		struct pfs_page *page = pfs_container_page(self, index);
		age_page(self, page, self->pass_live[index] == 0 && is_marked(page));
		if (is_surplus(self, page, kind))
			self->pass_keys[count++] = (uint64_t)page->idle_passes << 32 | index;
	}
	qsort(self->pass_keys, count, sizeof(*self->pass_keys), by_key_falling);
	return count;
}

static bool retire_page(struct pfs_container *self, struct pfs_page *page,
			const struct pfs_reclaim_ops *ops)
{
	pfs_mutex_lock(&self->growth);
	/* relaxed, both: limbo is the pass's own, and pages change under `growth`. */
	uint32_t limbo = pfs_load_relaxed(&self->limbo_count);
	uint32_t pages = pfs_load_relaxed(&self->pages); /* relaxed: see above */
	bool retired = pages + limbo <= self->page_capacity && ops->retire(self, page);
	pfs_mutex_unlock(&self->growth);
	return retired;
}

/* Give back surplus pages until `stay` are left. A page that cannot be retired is in use again, or
 * its last free is still under way: a later pass tries again. */
static void retire_surplus(struct pfs_container *self, uint32_t count, uint64_t stay,
			   const struct pfs_reclaim_ops *ops)
{
	struct pfs_page *before = self->limbo;
	uint32_t left = count;
	for (uint32_t rank = 0; rank < count && left > stay; rank++) {
		uint32_t index = (uint32_t)self->pass_keys[rank];
		struct pfs_page *page = pfs_container_page(self, index);
		if (!retire_page(self, page, ops))
			continue;
		to_limbo(self, page);
		left--;
	}
	if (self->limbo == before)
		return;
	uint64_t tag = pfs_epoch_advance(&self->epoch);
	for (struct pfs_page *page = self->limbo; page != before; page = page->limbo_next)
		page->limbo_tag = tag;
}

/* Pages that could not be retired start to be idle anew: none is surplus at this point. */
static void forget_surplus(struct pfs_container *self, uint32_t limit)
{
	pfs_decay_clear(&self->decay);
	for (uint32_t index = 0; index < limit; index++) {
		struct pfs_page *page = pfs_container_page(self, index);
		if (page != NULL)
			page->idle_passes = 0;
	}
}

/* The least time that any thread shows, by one look at each; valid for all tags taken before. */
static uint64_t oldest_shown(struct pfs_container *self)
{
	uint64_t oldest = PFS_EPOCH_NEVER;
	/* [C5] seq, pairs with [C6]: every handle that was listed is seen, complete. For one that
	 * is not, [C4] < [C5] < [C6] < [C1] in the total order of seq operations: its look-up sees
	 * the unlink, as in case 3 of the proof in epoch.h. */
	struct pfs_thread *thread = pfs_load_seq(&self->threads);
	for (; thread != NULL; thread = thread->next) {
		uint64_t shown = pfs_epoch_shown(&thread->epoch);
		oldest = shown < oldest ? shown : oldest;
	}
	return oldest;
}

/* Unmap the pages in limbo that no reader can see; tags decrease along the list. */
static uint32_t unmap_passed(struct pfs_container *self)
{
	struct pfs_page **link = &self->limbo;
	uint64_t oldest = *link != NULL ? oldest_shown(self) : 0;
	uint32_t unmapped = 0;
	while (*link != NULL && (*link)->limbo_tag > oldest)
		link = &(*link)->limbo_next;
	struct pfs_page *page = *link;
	*link = NULL;
	while (page != NULL) {
		struct pfs_page *next = page->limbo_next;
		pfs_container_unmap(self, page);
		unmapped++;
		page = next;
	}
	/* relaxed: metrics, written by the pass alone. */
	pfs_store_relaxed(&self->limbo_count, pfs_load_relaxed(&self->limbo_count) - unmapped);
	pfs_bump_owned(&self->reclaimed, unmapped);
	return unmapped;
}

static uint32_t pass(struct pfs_container *self, enum pfs_reclaim_kind kind,
		     const struct pfs_reclaim_ops *ops)
{
	bool now = kind != PFS_RECLAIM_PASS;
	if (ops->begin != NULL)
		ops->begin(self);
	uint32_t unmapped = unmap_passed(self);
	uint32_t limit = pfs_container_page_limit(self);
	uint64_t live = count_live(self, limit);
	mark_pages(self, limit, pages_to_keep(self, live), ops);
	uint32_t surplus = find_surplus(self, limit, kind);
	retire_surplus(self, surplus, now ? 0 : pfs_decay_limit(&self->decay), ops);
	if (now)
		forget_surplus(self, limit);
	unmapped += unmap_passed(self);
	if (ops->give_reserve != NULL)
		unmapped += ops->give_reserve(self, kind);
	return unmapped;
}

/* Wait for readers that are about to leave: look at them repeatedly, with a yield and without a
 * lock between. So counts and fork, which take `passing`, wait for no reader. */
static uint32_t wait_for_readers(struct pfs_container *self)
{
	uint32_t unmapped = 0;
	bool is_over = false;
	for (uint32_t try = 0; !is_over && try < PFS_NOW_TRIES; try++) {
		pfs_yield();
		pfs_mutex_lock(&self->passing);
		unmapped += unmap_passed(self);
		is_over = self->limbo == NULL;
		pfs_mutex_unlock(&self->passing);
	}
	return unmapped;
}

uint32_t pfs_reclaim_run(struct pfs_thread *thread, enum pfs_reclaim_kind kind,
			 const struct pfs_reclaim_ops *ops)
{
	struct pfs_container *self = thread->container;
	bool now = kind != PFS_RECLAIM_PASS;
	pfs_fork_resume(self);
	if (thread->epoch.depth != 0)
		return 0; /* the pages it unlinked would wait for its own section */
	if (now)
		pfs_mutex_lock(&self->passing);
	else if (!pfs_mutex_try_lock(&self->passing))
		return 0; /* the pass that is running does the same */
	uint32_t unmapped = pass(self, kind, ops);
	bool is_over = self->limbo == NULL;
	pfs_mutex_unlock(&self->passing);
	return now && !is_over ? unmapped + wait_for_readers(self) : unmapped;
}
