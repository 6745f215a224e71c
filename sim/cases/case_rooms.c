/*
 * case_rooms.c - scenarios of the trees that show where room is (variants/exact/room.h). Pages are
 * small and have several words; a node has two children, so that each tree has several levels.
 */
#include "sim/cases/case_kind.h"

/* Every record is in use, and a search that found none has cleared every path. */
static void fill_and_clear(struct pfs_case *self)
{
	pfs_case_keep_all(self);
	pfs_case_attach_extras(self, 2);
	pfs_case_expect_full(self);
}

/* ---- levels, siblings, word: a thread that freed a record may take one ---- */

/* Frees neighbours, whose paths meet. Not the first records: a search from the left would find
 * those without reading the upper levels. */
static void give_and_take_body(struct pfs_case_thread *thread)
{
	struct pfs_case_thread by = pfs_case_by_extra(thread, thread->id);
	uint32_t count = thread->own->kept_count;
	pfs_case_give_kept(thread, (count > 2 ? count / 2 : 0) + thread->id);
	pfs_case_take_one(&by);
	thread->refused += by.refused;
}

/* Of two threads, each has freed a record before it takes one. */
static void give_and_take_finish(struct pfs_case *self)
{
	if (self->thread_count == 2)
		pfs_case_exact_refuses_nobody(self);
}

/* ---- retake: a record is freed, taken and freed again while a search clears its path ---- */

/* Frees both records of the word, then takes one. */
static void give_both_body(struct pfs_case_thread *thread)
{
	struct pfs_case_thread by = pfs_case_by_extra(thread, 0);
	pfs_case_give_range(thread, 0, 2);
	pfs_case_take_one(&by);
}

/* Frees the record that it took after a search that is refused. */
static void retake_body(struct pfs_case_thread *thread)
{
	void *record = pfs_case_take_and_stamp(thread);
	if (record == NULL)
		return;
	pfs_case_take_one(thread);
	pfs_case_give(thread, record);
}

/* ---- clearers, clearpages: two searches clear the path of a free in progress ---- */

/* The paths are still raised: the set-up made the pages and searched no tree. */
static void give_body(struct pfs_case_thread *thread)
{
	pfs_case_give_kept(thread, thread->own->kept_count / 2);
	thread->operations++;
}

/* ---- refuse: no record is free, and no thread frees ---- */

static void refuse_body(struct pfs_case_thread *thread)
{
	PFS_MACHINE_CHECK(pfs_case_take_and_stamp(thread) == NULL,
			  "thread %u got a record that no thread freed", thread->id);
}

/* ---- moves: a page moves to the tree of draining pages ---- */

/* Page 1 drains as soon as its record is FREE. */
static void moves_give_body(struct pfs_case_thread *thread)
{
	pfs_case_give_kept(thread, 1);
	thread->operations++;
}

static void moves_pass_body(struct pfs_case_thread *thread)
{
	(void)pfs_reclaim_pass(thread->handle);
	thread->operations++;
}

/* ---- seats: a page with room for all reuses the index of one of another node ---- */

static void seats_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->word_records = self->thread_count;
	config->page_records = self->thread_count;
	self->machine->setup.node_count = 2;
	self->machine->aside.node = 1; /* threads run on node 0 */
}

/* The page is given back while the tree of the other node announces its word. */
static void seats_fill(struct pfs_case *self)
{
	pfs_case_keep(self, self->thread_count);
	pfs_case_unkeep(self, 0, self->thread_count);
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 0);
	pfs_case_attach_extras(self, self->thread_count);
}

/* Takes a record, frees it, and takes again by a handle that remembers nothing. */
static void seats_body(struct pfs_case_thread *thread)
{
	struct pfs_case_thread by = pfs_case_by_extra(thread, thread->id);
	void *record = pfs_case_take_and_stamp(thread);
	if (record == NULL)
		return;
	pfs_case_give(thread, record);
	pfs_case_take_one(&by);
	thread->refused += by.refused;
}

#define TREES .room_fan = 2, .word_records = 1

/* clang-format off */
const struct pfs_case_kind pfs_cases_rooms[] = {
	{ "levels", "threads free records of neighbouring words, and take again: two levels",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2, { PFS_CASE_PAGES(4, 1, 1), TREES }, NULL,
	  fill_and_clear, { give_and_take_body, give_and_take_body, pfs_case_churn },
	  give_and_take_finish },
	{ "siblings", "the same with neighbouring pages", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2,
	  { PFS_CASE_PAGES(2, 4, 4), TREES }, NULL, fill_and_clear,
	  { give_and_take_body, give_and_take_body, pfs_case_churn }, give_and_take_finish },
	{ "word", "the same with one word", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 2,
	  { PFS_CASE_PAGES(2, 1, 1), .room_fan = 2, .word_records = 2 }, NULL, fill_and_clear,
	  { give_and_take_body, give_and_take_body, pfs_case_churn }, give_and_take_finish },
	{ "retake", "a record is freed, taken and freed again while its path is cleared",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 3,
	  { PFS_CASE_PAGES(2, 1, 1), .room_fan = 2, .word_records = 2 }, NULL, fill_and_clear,
	  { give_both_body, retake_body, pfs_case_churn }, NULL },
	{ "clearers", "two searches clear a word while a record of it is being freed",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 1, 3, { PFS_CASE_PAGES(2, 1, 1), TREES }, NULL,
	  pfs_case_keep_all, { give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "clearpages", "the same with a page, in a tree of two levels",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 1, 3, { PFS_CASE_PAGES(1, 4, 4), TREES }, NULL,
	  pfs_case_keep_all, { give_body, pfs_case_churn, pfs_case_churn }, NULL },
	{ "refuse", "no record is free, and no thread frees: all are refused", PFS_CASE_INDEX, 2, 1,
	  0, { PFS_CASE_PAGES(2, 1, 1), TREES }, NULL, pfs_case_keep_all,
	  { refuse_body, refuse_body, refuse_body }, NULL },
	{ "newpage", "threads add the only page, which has room for all", PFS_CASE_INDEX, 2, 1, 3,
	  { PFS_CASE_PAGES(3, 0, 1), TREES }, NULL, NULL,
	  { pfs_case_take_one, pfs_case_take_one, pfs_case_take_one },
	  pfs_case_exact_refuses_nobody },
	{ "seats", "a page with room for all reuses the index of one of another node",
	  PFS_CASE_RECLAIM, 2, 1, 2, { .most = 1 }, seats_configure, seats_fill,
	  { seats_body, seats_body, seats_body }, pfs_case_exact_refuses_nobody },
	/* marks change, no page goes */
	{ "moves", "a page is marked while its record is freed and another thread wants it",
	  PFS_CASE_RECLAIM | PFS_CASE_TIMED, 3, 1, 3,
	  { PFS_CASE_PAGES(1, 0, 2), TREES, .idle_passes = 100 }, NULL, pfs_case_keep_all,
	  { moves_give_body, moves_pass_body, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
