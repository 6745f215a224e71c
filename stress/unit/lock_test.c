/*
 * lock_test.c - every transition of the pfs_lock word, and every misuse of it.
 */
#include <stdlib.h>

#include "containers/pfs_lock.h"
#include "stress/harness/harness.h"

#define ROUNDS 20000u
#define LAST_VERSION 0xFFFFFFFCu

static uint32_t word_of(struct pfs_lock *lock)
{
	return pfs_load_relaxed(&lock->word); /* relaxed: one thread */
}

static void make(struct pfs_lock *lock, uint32_t word)
{
	pfs_store_relaxed(&lock->word, word); /* relaxed: one thread */
}

static uint32_t take_or_fail(struct pfs_lock *lock)
{
	uint32_t dirty = 0;
	PFS_CHECK_IS(pfs_lock_free_to_dirty(lock, &dirty), PFS_TAKE_WON);
	return dirty;
}

static void a_life(const struct pfs_case *at)
{
	struct pfs_lock lock;
	uint32_t dirty = 99;
	(void)at;
	make(&lock, 5 * PFS_VERSION_ONE);
	dirty = take_or_fail(&lock);
	PFS_CHECK_IS(dirty, 5 * PFS_VERSION_ONE + PFS_STATE_DIRTY);
	PFS_CHECK_IS(word_of(&lock), dirty);
	pfs_lock_dirty_to_allocated(&lock, dirty);
	PFS_CHECK_IS(word_of(&lock), 6 * PFS_VERSION_ONE + PFS_STATE_ALLOCATED);
	dirty = pfs_lock_allocated_to_dirty(&lock);
	PFS_CHECK_IS(dirty, 6 * PFS_VERSION_ONE + PFS_STATE_DIRTY);
	PFS_CHECK_IS(word_of(&lock), dirty);
	pfs_lock_dirty_to_allocated(&lock, dirty);
	PFS_CHECK_IS(word_of(&lock), 7 * PFS_VERSION_ONE + PFS_STATE_ALLOCATED);
	pfs_lock_allocated_to_free(&lock);
	PFS_CHECK_IS(word_of(&lock), 7 * PFS_VERSION_ONE);
}

static void abandon_leaves_no_trace(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, 3 * PFS_VERSION_ONE);
	pfs_lock_dirty_to_free(&lock, take_or_fail(&lock));
	PFS_CHECK_IS(word_of(&lock), 3 * PFS_VERSION_ONE);
}

static void take_refuses_what_is_not_free(const struct pfs_case *at)
{
	struct pfs_lock lock;
	uint32_t dirty = 77;
	(void)at;
	make(&lock, 0);
	uint32_t mine = take_or_fail(&lock);
	PFS_CHECK_IS(pfs_lock_free_to_dirty(&lock, &dirty), PFS_TAKE_BUSY);
	pfs_lock_dirty_to_allocated(&lock, mine);
	PFS_CHECK_IS(pfs_lock_free_to_dirty(&lock, &dirty), PFS_TAKE_BUSY);
	PFS_CHECK_IS(dirty, 77);
	PFS_CHECK_IS(word_of(&lock), PFS_VERSION_ONE + PFS_STATE_ALLOCATED);
}

static void a_reader_confirms(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, 0);
	PFS_CHECK(!pfs_lock_confirm(&lock, pfs_lock_glance(&lock))); /* FREE */
	uint32_t dirty = take_or_fail(&lock);
	PFS_CHECK(!pfs_lock_confirm(&lock, pfs_lock_glance(&lock))); /* DIRTY */
	pfs_lock_dirty_to_allocated(&lock, dirty);
	uint32_t glance = pfs_lock_glance(&lock);
	PFS_CHECK(pfs_lock_confirm(&lock, glance));
	dirty = pfs_lock_allocated_to_dirty(&lock);
	PFS_CHECK(!pfs_lock_confirm(&lock, glance));
	pfs_lock_dirty_to_allocated(&lock, dirty);
	PFS_CHECK(!pfs_lock_confirm(&lock, glance)); /* written anew */
	glance = pfs_lock_glance(&lock);
	pfs_lock_allocated_to_free(&lock);
	PFS_CHECK(!pfs_lock_confirm(&lock, glance));
	pfs_lock_dirty_to_allocated(&lock, take_or_fail(&lock));
	PFS_CHECK(!pfs_lock_confirm(&lock, glance)); /* A, B, A again: the next life */
}

static void the_version_wraps(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, LAST_VERSION);
	uint32_t dirty = take_or_fail(&lock);
	PFS_CHECK_IS(dirty, LAST_VERSION | PFS_STATE_DIRTY);
	pfs_lock_dirty_to_allocated(&lock, dirty);
	PFS_CHECK_IS(word_of(&lock), PFS_STATE_ALLOCATED); /* version 0 */
	pfs_lock_allocated_to_free(&lock);
	PFS_CHECK_IS(word_of(&lock), 0);
	make(&lock, LAST_VERSION | PFS_STATE_ALLOCATED);
	uint32_t glance = pfs_lock_glance(&lock);
	PFS_CHECK(pfs_lock_confirm(&lock, glance));
	dirty = pfs_lock_allocated_to_dirty(&lock);
	PFS_CHECK_IS(dirty, LAST_VERSION | PFS_STATE_DIRTY);
	pfs_lock_dirty_to_allocated(&lock, dirty);
	PFS_CHECK(!pfs_lock_confirm(&lock, glance));
}

/* Many threads take one word; the data that it guards is counted without atomics. */
struct contest {
	struct pfs_lock lock;
	uint64_t guarded;
	uint64_t wins[4];
};

static void compete(void *context, uint32_t index)
{
	struct contest *self = context;
	uint32_t dirty = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		if (pfs_lock_free_to_dirty(&self->lock, &dirty) != PFS_TAKE_WON)
			continue;
		self->guarded++;
		self->wins[index]++;
		if (round % 2 == 0) {
			pfs_lock_dirty_to_free(&self->lock, dirty);
			continue;
		}
		pfs_lock_dirty_to_allocated(&self->lock, dirty);
		self->guarded++;
		self->wins[index]++;
		pfs_lock_allocated_to_free(&self->lock);
	}
}

static void one_taker_wins(const struct pfs_case *at)
{
	static struct contest contest;
	uint64_t wins = 0;
	(void)at;
	pfs_run_threads(4, compete, &contest);
	for (uint32_t i = 0; i < 4; i++)
		wins += contest.wins[i];
	PFS_CHECK(wins > 0); /* how many depends on the schedule: a loser does not try again */
	PFS_CHECK_IS(contest.guarded, wins);
	PFS_CHECK_IS(pfs_word_state(word_of(&contest.lock)), PFS_STATE_FREE);
}

static void free_twice(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, PFS_STATE_ALLOCATED);
	pfs_lock_allocated_to_free(&lock);
	pfs_lock_allocated_to_free(&lock);
}

static void free_of_dirty(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, PFS_STATE_DIRTY);
	pfs_lock_allocated_to_free(&lock);
}

static void publish_twice(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, 0);
	uint32_t dirty = take_or_fail(&lock);
	pfs_lock_dirty_to_allocated(&lock, dirty);
	pfs_lock_dirty_to_allocated(&lock, dirty);
}

static void publish_of_an_older_claim(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, 0);
	uint32_t stale = take_or_fail(&lock);
	pfs_lock_dirty_to_allocated(&lock, stale);
	(void)pfs_lock_allocated_to_dirty(&lock);
	pfs_lock_dirty_to_allocated(&lock, stale);
}

static void reopen_of_free(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, 0);
	(void)pfs_lock_allocated_to_dirty(&lock);
}

static void abandon_of_allocated(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, PFS_STATE_ALLOCATED);
	pfs_lock_dirty_to_free(&lock, PFS_STATE_ALLOCATED);
}

static void abandon_of_an_older_claim(const struct pfs_case *at)
{
	struct pfs_lock lock;
	(void)at;
	make(&lock, 4 * PFS_VERSION_ONE + PFS_STATE_DIRTY);
	pfs_lock_dirty_to_free(&lock, 3 * PFS_VERSION_ONE + PFS_STATE_DIRTY);
}

static const struct pfs_test tests[] = {
	{ .name = "lock: a life", .run = a_life },
	{ .name = "lock: abandon leaves no trace", .run = abandon_leaves_no_trace },
	{ .name = "lock: take refuses what is not FREE", .run = take_refuses_what_is_not_free },
	{ .name = "lock: a reader confirms", .run = a_reader_confirms },
	{ .name = "lock: the version wraps", .run = the_version_wraps },
	{ .name = "lock: one taker wins", .run = one_taker_wins, .threads = true },
	{ .name = "lock: free twice", .run = free_twice, .dies_with = "pfslab: free: " },
	{ .name = "lock: free of DIRTY", .run = free_of_dirty, .dies_with = "pfslab: free: " },
	{ .name = "lock: publish twice", .run = publish_twice, .dies_with = "pfslab: publish: " },
	{ .name = "lock: publish of an older claim",
	  .run = publish_of_an_older_claim,
	  .dies_with = "pfslab: publish: " },
	{ .name = "lock: reopen of FREE", .run = reopen_of_free, .dies_with = "pfslab: reopen: " },
	{ .name = "lock: abandon of ALLOCATED",
	  .run = abandon_of_allocated,
	  .dies_with = "pfslab: abandon: " },
	{ .name = "lock: abandon of an older claim",
	  .run = abandon_of_an_older_claim,
	  .dies_with = "pfslab: abandon: " },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
