/*
 * pass_test.c - a pass meets another pass, pages that were made but are not needed, and blocks of
 * records whose node is unknown.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "variants/exact/occupancy.h"
#include "stress/harness/fixture.h"

#define PAGES 12u
#define SLOTS 32u
#define CAPACITY (PAGES * SLOTS)
#define WAIT_TRIES 5000u /* of a millisecond */

static void prepare(struct pfs_fixture *self, const struct pfs_case *at)
{
	pfs_fixture_prepare(self, at, PAGES, SLOTS);
	self->config.reclaim.headroom_percent = 0;
	self->config.reclaim.spare_pages = 0;
	self->config.reclaim.decay_passes = 0;
}

/* A source whose unmap waits, so that a pass can be met while it runs. */
struct slow {
	struct pfs_fixture it;
	void (*unmap)(void *context, void *memory, size_t size_bytes);
	struct pfs_memory_source source;
	_Atomic(uint32_t) inside; /* a thread is in unmap */
	_Atomic(uint32_t) go_on;  /* it may leave */
	_Atomic(uint32_t) given;  /* by the second thread */
};

static void slow_unmap(void *context, void *memory, size_t size_bytes)
{
	struct slow *self = context;
	atomic_store(&self->inside, 1);
	for (uint32_t try = 0; try < WAIT_TRIES && atomic_load(&self->go_on) == 0; try++)
		(void)usleep(1000);
	self->unmap(&self->it.source, memory, size_bytes);
}

static void *slow_map(void *context, size_t size_bytes, enum pfs_memory memory,
		      uint32_t node_wanted, uint32_t *node_got)
{
	struct slow *self = context;
	const struct pfs_memory_source *from = &self->it.source.source;
	return from->map(from->context, size_bytes, memory, node_wanted, node_got);
}

static void *run_now(void *opaque)
{
	struct slow *self = opaque;
	struct pfs_thread *thread = pfs_attach_or_fail(self->it.container);
	(void)pfs_reclaim_now(thread);
	pfs_thread_detach(thread);
	return NULL;
}

static void *run_trim(void *opaque)
{
	struct slow *self = opaque;
	struct pfs_thread *thread = pfs_attach_or_fail(self->it.container);
	atomic_store(&self->given, pfs_reclaim_trim(thread));
	pfs_thread_detach(thread);
	return NULL;
}

/* A trim during a pass waits for it, and gives back what the pass left. */
static void trim_waits_for_a_pass(const struct pfs_case *at)
{
	static struct slow self;
	pthread_t first, second;
	prepare(&self.it, at);
	self.it.config.reclaim.spare_pages = 2; /* now leaves these */
	self.unmap = self.it.source.source.unmap;
	self.source = self.it.source.source;
	self.source.map = slow_map;
	self.source.unmap = slow_unmap;
	self.source.context = &self;
	self.it.config.source = &self.source;
	pfs_fixture_set_up(&self.it);
	pfs_fixture_fill(&self.it, CAPACITY);
	pfs_fixture_empty(&self.it, 0, CAPACITY);
	PFS_CHECK(pthread_create(&first, NULL, run_now, &self) == 0);
	for (uint32_t try = 0; try < WAIT_TRIES && atomic_load(&self.inside) == 0; try++)
		(void)usleep(1000);
	PFS_CHECK_IS(atomic_load(&self.inside), 1);
	PFS_CHECK_IS(pfs_reclaim_pass(self.it.thread), 0); /* a pass leaves it to that one */
	PFS_CHECK(pthread_create(&second, NULL, run_trim, &self) == 0);
	(void)usleep(50000); /* time to answer wrongly */
	atomic_store(&self.go_on, 1);
	PFS_CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, NULL) == 0);
	PFS_CHECK_IS(atomic_load(&self.given), 2);
	PFS_CHECK_IS(pfs_fixture_pages(&self.it), 0);
	pfs_fixture_tear_down(&self.it);
}

/* A page that was made for growth and is not needed is counted, and passes give it back: the
 * second one that finds it, or the first one that gives back everything. */
static void a_spare_page_goes(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	pfs_fixture_set_up(&it);
	struct pfs_occupancy *index = it.container->policy;
	for (uint32_t round = 0; round < 2; round++) {
		pfs_mutex_lock(&index->mapping);
		PFS_CHECK(pfs_occupancy_spare(it.thread) != NULL);
		pfs_mutex_unlock(&index->mapping);
		PFS_CHECK_IS(pfs_counts_of(it.container).resident_bytes,
			     it.container->shape.block_bytes);
		if (round == 0) {
			PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 0);
			PFS_CHECK_IS(pfs_reclaim_pass(it.thread), 1);
		} else {
			PFS_CHECK_IS(pfs_reclaim_now(it.thread), 1);
		}
		PFS_CHECK_IS(pfs_counts_of(it.container).resident_bytes, 0);
		PFS_CHECK_IS(pfs_test_source_out(&it.source), 0);
	}
	pfs_fixture_tear_down(&it);
}

/* If the system does not report the node, records are in blocks of no node. */
static void the_node_is_not_known(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at);
	pfs_fixture_set_up(&it);
	it.thread->node = PFS_NODE_MIXED;
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_empty(&it, 0, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_now(it.thread), PAGES);
	pfs_fixture_tear_down(&it);
}

static const struct pfs_test tests[] = {
	{ .name = "trim waits for a pass",
	  .run = trim_waits_for_a_pass,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM,
	  .threads = true },
	{ .name = "a spare page goes",
	  .run = a_spare_page_goes,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM | PFS_TRAIT_EXACT },
	{ .name = "the node is not known",
	  .run = the_node_is_not_known,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
