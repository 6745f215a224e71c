/*
 * case_rooms.c - scenarios of the trees that say where room is (variants/exact/room.h): small pages
 * of several words, and trees of two children a node, so that each has several levels.
 */
#include "sim/cases/case_kind.h"

/* Everything in use, and every path cleared: by a search that found nothing. */
static void fill_and_clear(struct pfs_case *self)
{
	pfs_case_keep_all(self);
	for (uint32_t i = 0; i < 2; i++)
		(void)pfs_case_attach_extra(self);
	if (self->machine->run.end == PFS_END_DONE && pfs_allocate(self->setup).record != NULL)
		pfs_machine_fail("set-up: a record too many");
}

/* ---- levels, siblings, word: who has given a record may take one ---- */

static void configure(struct pfs_case *self, struct pfs_config *config, uint32_t records,
		      uint32_t pages)
{
	self->room_fan = 2;
	self->word_records = 1;
	pfs_case_pages(config, records, pages, pages);
}

static void levels_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 4, 1);
}

static void siblings_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 2, 4);
}

static void word_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 2, 1);
	self->word_records = 2;
}

/* Neighbours, whose paths meet; not the first ones, where a search from the left finds them
 * without asking the upper levels. */
static void give_and_take_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case_thread by = pfs_case_by_extra(thread, thread->id);
	uint32_t count = thread->own->kept_count;
	pfs_case_give_kept(thread, (count > 2 ? count / 2 : 0) + thread->id);
	pfs_case_take_one(&by);
	thread->refused += by.refused;
}

/* With two threads: each has given one when it takes one. */
static void give_and_take_finish(struct pfs_case *self)
{
	if (self->thread_count == 2)
		pfs_case_exact_refuses_nobody(self);
}

/* ---- retake: a record is given, taken, and given again, while a search clears its path ---- */

/* Both records of the word; then it wants one. */
static void give_both_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case_thread by = pfs_case_by_extra(thread, 0);
	pfs_case_give_kept(thread, 0);
	pfs_case_give_kept(thread, 1);
	pfs_case_take_one(&by);
}

/* What it took it gives back after a search that is refused. */
static void retake_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	void *record = pfs_case_take_and_stamp(thread);
	if (record == NULL)
		return;
	pfs_case_take_one(thread);
	pfs_case_give(thread, record);
}

/* ---- clearers: two searches clear a word to which a free is on its way ---- */

/* The paths are still raised, from when the pages came. */
static void clearers_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 2, 1);
}

/* Likewise a page, in a tree of pages of two levels. */
static void clearpages_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 1, 4);
}

static void give_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	pfs_case_give_kept(thread, thread->own->kept_count / 2);
	thread->operations++;
}

/* ---- refuse: nothing is free, and nobody frees ---- */

static void refuse_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	PFS_MACHINE_CHECK(pfs_case_take_and_stamp(thread) == NULL,
			  "thread %u got a record that nobody gave", thread->id);
}

/* ---- newpage: the only page comes ---- */

static void newpage_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 3, 0);
	config->page_max = 1;
}

/* ---- moves: a page moves to the tree of those that drain ---- */

static void moves_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 1, 0);
	config->page_max = 2;
	config->reclaim.idle_passes = 100; /* marks change, no page goes */
}

/* Page 1 drains as soon as its record is FREE. */
static void moves_give_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	pfs_case_give_kept(thread, 1);
	thread->operations++;
}

static void moves_pass_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	(void)pfs_reclaim_pass(thread->handle);
	thread->operations++;
}

/* ---- seats: one page has room for all, and comes where one of another node was ---- */

static void seats_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->word_records = self->thread_count;
	pfs_case_pages(config, self->thread_count, 0, 1);
	self->machine->setup.node_count = 2;
	self->machine->aside.node = 1; /* threads run on node 0 */
}

/* The page goes while its word is announced, in the tree of the other node. */
static void seats_fill(struct pfs_case *self)
{
	void *records[PFS_CASE_THREADS_MAX];
	for (uint32_t i = 0; i < self->thread_count; i++) {
		struct pfs_claim claim = pfs_allocate(self->setup);
		if (claim.record == NULL) {
			pfs_machine_fail("set-up: no record");
			return;
		}
		pfs_publish(self->setup, claim);
		records[i] = claim.record;
	}
	for (uint32_t i = 0; i < self->thread_count; i++)
		pfs_free(self->setup, records[i]);
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 0);
	for (uint32_t i = 0; i < self->thread_count; i++)
		(void)pfs_case_attach_extra(self);
}

/* Takes one, gives it, and takes again by a handle that remembers nothing. */
static void seats_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case_thread by = pfs_case_by_extra(thread, thread->id);
	void *record = pfs_case_take_and_stamp(thread);
	if (record == NULL)
		return;
	pfs_case_give(thread, record);
	pfs_case_take_one(&by);
	thread->refused += by.refused;
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_rooms[] = {
	{ "levels", "threads give records of neighbouring words, and take again: two levels",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, levels_configure, fill_and_clear,
	  { give_and_take_body, give_and_take_body, pfs_case_churn }, give_and_take_finish },
	{ "siblings", "likewise, of neighbouring pages", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2,
	  siblings_configure, fill_and_clear,
	  { give_and_take_body, give_and_take_body, pfs_case_churn }, give_and_take_finish },
	{ "word", "likewise, of one word", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2,
	  word_configure, fill_and_clear,
	  { give_and_take_body, give_and_take_body, pfs_case_churn }, give_and_take_finish },
	{ "retake", "a record is given, taken, and given again; its path is cleared meanwhile",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 3, word_configure, fill_and_clear,
	  { give_both_body, retake_body, pfs_case_churn }, NULL },
	{ "clearers", "two searches clear a word to which a free is on its way",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 1, 3, clearers_configure, pfs_case_keep_all,
	  { give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "clearpages", "likewise, a page to which a free is on its way",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 1, 3, clearpages_configure, pfs_case_keep_all,
	  { give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "refuse", "nothing is free, and nobody frees: all are refused", PFS_CASE_INDEX, 2, 1, 0,
	  clearers_configure, pfs_case_keep_all, { refuse_body, refuse_body, refuse_body }, NULL },
	{ "newpage", "the only page comes, and has room for all", PFS_CASE_INDEX, 2, 1, 3,
	  newpage_configure, NULL, { pfs_case_take_one, pfs_case_take_one, pfs_case_take_one },
	  pfs_case_exact_refuses_nobody },
	{ "seats", "a page with room for all comes where one of another node was", PFS_CASE_RECLAIM,
	  2, 1, 2, seats_configure, seats_fill, { seats_body, seats_body, seats_body },
	  pfs_case_exact_refuses_nobody },
	{ "moves", "a page is marked while its record is given and wanted",
	  PFS_CASE_RECLAIM | PFS_CASE_TIMED, 3, 1, 3, moves_configure, pfs_case_keep_all,
	  { moves_give_body, moves_pass_body, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
