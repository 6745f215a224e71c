/*
 * fork_ring_test.c - fork while another thread is in the middle of a call, or waits for a page. The
 * child has that thread's ring or seat, but not the thread.
 */
#include "variants/magazine/magazine.h"
#include "variants/exact/seats.h"
#include "stress/unit/forking.h"

#define RING 10u

static void fill_ring(struct scene *self)
{
	void *records[RING];
	for (uint32_t i = 0; i < RING; i++)
		records[i] = pfs_allocate_or_fail(self->other);
	for (uint32_t i = 0; i < RING; i++)
		pfs_free(self->other, records[i]);
}

/* One record is on its way: a proof does not wait for it, and a new owner may find it. */
static void take_around(struct scene *self, uint32_t found)
{
	uint32_t all = PAGES * PAGE_RECORDS;
	PFS_CHECK_IS(take_all(self->thread), all - 1);
	PFS_CHECK_IS(count_lost(self->thread), 1);
	struct pfs_thread *again = pfs_attach_or_fail(self->container);
	PFS_CHECK(again == self->other);
	PFS_CHECK_IS(take_all(again), found);
	PFS_CHECK_IS(count_lost(self->thread), 1 - found);
}

static void take_first(void *context)
{
	take_around(context, 1);
}

static void lose_one(void *context)
{
	take_around(context, 0);
}

/* The new owner is there before anybody took the ring back. */
static void attach_first(void *context)
{
	struct scene *self = context;
	struct pfs_thread *again = pfs_attach_or_fail(self->container);
	PFS_CHECK(again == self->other);
	PFS_CHECK_IS(take_all(self->thread), PAGES * PAGE_RECORDS);
	PFS_CHECK_IS(count_lost(self->thread), 0);
}

static void owners_stop_in_the_middle(const struct pfs_case *none)
{
	struct pfs_case at = { pfs_variant_find("magazine"), none->layout };
	for (int fences = 0; fences < 2; fences++) {
		struct pfs_config config = pfs_case_config(&at);
		struct scene self;
		config.owner_fences = fences != 0;
		config.page_prealloc = PAGES; /* growth would repair the ring first */
		scene_init(&self, &at, &config);
		other_begin(&self, fill_ring);
		struct pfs_magazine *ring = self.other->policy;
		(void)pfs_fetch_add_seq(&ring->head, 1); /* pfs_magazine_take, at [G1] */
		in_child(take_first, &self);
		in_child(attach_first, &self);
		pfs_store_relaxed(&ring->head, pfs_load_relaxed(&ring->head) - 1);
		/* pfs_magazine_give, at [G1]: the word is FREE, the entry is not written. */
		void *record = pfs_allocate_or_fail(self.thread);
		struct pfs_lock *lock = pfs_record_lock(record);
		uint32_t word = pfs_load_relaxed(&lock->word);
		pfs_lock_allocated_to_free(lock);
		(void)pfs_fetch_add_seq(&ring->tail, 1);
		in_child(lose_one, &self);
		pfs_store_relaxed(&ring->tail, pfs_load_relaxed(&ring->tail) - 1);
		pfs_store_relaxed(&lock->word, word);
		other_end(&self);
		pfs_thread_detach(self.other);
		scene_fini(&self);
	}
}

static void sit(struct scene *self)
{
	pfs_seats_sit(self->other);
}

/* All but the parent's, so many. */
static void take_others(void *context)
{
	struct scene *self = context;
	uint32_t taken = self->record != NULL ? 1 : 0;
	PFS_CHECK_IS(take_all(self->thread), PAGES * PAGE_RECORDS - taken);
	PFS_CHECK_IS(count_lost(self->thread), 0);
}

static void waiters_are_gone(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	struct pfs_claim claim;
	config.page_prealloc = 0;
	scene_init(&self, at, &config);
	other_begin(&self, sit);
	in_child(take_others, &self); /* the seat must get no record any more */
	self.record = pfs_allocate_or_fail(self.thread);
	PFS_CHECK((pfs_seats_look(self.other) & PFS_SEAT_GRANTED) != 0);
	in_child(take_others, &self);
	PFS_CHECK(pfs_seats_leave(self.other, false, &claim));
	pfs_abandon(self.other, claim);
	pfs_free(self.thread, self.record);
	other_end(&self);
	pfs_thread_detach(self.other);
	scene_fini(&self);
}

/* clang-format off */
static const struct pfs_test tests[] = {
	{ .name = "owners stop in the middle", .run = owners_stop_in_the_middle },
	{ .name = "waiters for a page are gone", .run = waiters_are_gone, .each = true,
	  .traits = PFS_TRAIT_EXACT | PFS_TRAIT_INDEX | PFS_TRAIT_RECLAIM },
};
/* clang-format on */

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
