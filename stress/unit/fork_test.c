/*
 * fork_test.c - a child of fork uses its parent's containers, whatever the parent's other threads
 * were doing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "containers/container.h"
#include "stress/unit/forking.h"
#include "stress/harness/gate.h"

#define ALL (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_BOUNDED)
#define GROWN (ALL | PFS_TRAIT_GROW)
#define FORKS 12u
#define HELD 64u /* records of a thread of the crowd at most */

/* ---- while others do all they can ---- */

static void churn_once(struct scene *self, struct pfs_thread *thread, uint32_t turn)
{
	void *records[HELD];
	uint32_t count = 0;
	for (; count < HELD; count++) {
		struct pfs_claim claim = pfs_allocate(thread);
		if (claim.record == NULL)
			break;
		pfs_publish(thread, claim);
		records[count] = claim.record;
	}
	pfs_enter(thread);
	(void)pfs_lookup(thread, turn % (PAGES * PAGE_RECORDS));
	pfs_leave(thread);
	while (count-- != 0)
		pfs_free(thread, records[count]);
	if (turn % 4 == 0)
		(void)pfs_reclaim_now(thread);
	if (turn % 8 == 0)
		(void)pfs_counts_of(self->container);
}

static void *churn(void *opaque)
{
	struct scene *self = opaque;
	for (uint32_t turn = 0; !atomic_load(&self->stop); turn++) {
		struct pfs_thread *thread = pfs_attach_or_fail(self->container);
		churn_once(self, thread, turn);
		pfs_thread_detach(thread);
	}
	return NULL;
}

static void attach_and_use(void *context, uint32_t index)
{
	struct scene *self = context;
	(void)index;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	churn_once(self, thread, 0);
	pfs_thread_detach(thread);
}

static void use_all(void *context)
{
	struct scene *self = context;
	uint32_t traits = self->at->variant->traits;
	churn_once(self, self->thread, 0);
	if (MAY_START_THREADS)
		pfs_run_threads(2, attach_and_use, self);
	(void)pfs_reclaim_pass(self->thread);
	(void)take_all(self->thread);
	if ((traits & PFS_TRAIT_EXACT) != 0) /* one of each thread that is not here */
		PFS_CHECK(count_lost(self->thread) <= CROWD);
	(void)pfs_counts_of(self->container);
	pfs_thread_detach(self->thread);
	pfs_container_destroy(self->container);
}

__attribute__((unused)) static void others_do_all_they_can(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	config.reclaim.idle_passes = 1;
	if (MAY_START_THREADS && (at->variant->traits & PFS_TRAIT_RECLAIM) != 0)
		config.reclaim.period_ms = 1;
	scene_init(&self, at, &config);
	for (uint32_t i = 0; i < CROWD; i++)
		PFS_CHECK_IS(pthread_create(&self.native[i], NULL, churn, &self), 0);
	for (uint32_t i = 0; i < FORKS; i++)
		in_child(use_all, &self);
	atomic_store(&self.stop, true);
	for (uint32_t i = 0; i < CROWD; i++)
		PFS_CHECK_IS(pthread_join(self.native[i], NULL), 0);
	scene_fini(&self);
}

/* ---- while another maps a page ---- */

struct mapping {
	struct scene scene;
	struct pfs_test_gate gate;
};

static void *map_slowly(void *opaque)
{
	struct mapping *self = opaque;
	struct pfs_thread *thread = pfs_attach_or_fail(self->scene.container);
	for (uint32_t i = 0; i <= PAGE_RECORDS; i++)
		(void)pfs_allocate_or_fail(thread);
	pfs_thread_detach(thread);
	return NULL;
}

static void *open_later(void *opaque)
{
	struct mapping *self = opaque;
	(void)usleep(100000);
	(void)sem_post(&self->gate.leave);
	return NULL;
}

static void mapping_init(struct mapping *self, const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	pfs_test_gate_init(&self->gate);
	config.source = &self->gate.source;
	scene_init(&self->scene, at, &config);
	(void)pfs_allocate_or_fail(self->scene.thread);
	atomic_store(&self->gate.map_stops, true);
	PFS_CHECK_IS(pthread_create(&self->scene.native[0], NULL, map_slowly, self), 0);
	(void)sem_wait(&self->gate.arrived);
}

static void grow(void *context)
{
	struct scene *self = context;
	PFS_CHECK(take_all(self->thread) > PAGE_RECORDS);
}

static void another_maps_a_page(const struct pfs_case *at)
{
	struct mapping self;
	mapping_init(&self, at);
	PFS_CHECK_IS(pthread_create(&self.scene.native[1], NULL, open_later, &self), 0);
	in_child(grow, &self.scene);
	PFS_CHECK_IS(pthread_join(self.scene.native[1], NULL), 0);
	PFS_CHECK_IS(pthread_join(self.scene.native[0], NULL), 0);
	scene_fini(&self.scene);
}

/* posix_spawn copies nothing, and waits for nobody. */
static void spawn_waits_for_no_map(const struct pfs_case *at)
{
	static char *const arguments[] = { (char *)(uintptr_t) "true", NULL };
	struct mapping self;
	pid_t child;
	int status = 1;
	mapping_init(&self, at);
	PFS_CHECK_IS(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
	PFS_CHECK_IS(waitpid(child, &status, 0), child);
	PFS_CHECK_IS(status, 0);
	(void)sem_post(&self.gate.leave);
	PFS_CHECK_IS(pthread_join(self.scene.native[0], NULL), 0);
	scene_fini(&self.scene);
}

/* ---- what threads leave behind ---- */

static void enter_and_stay(struct scene *self)
{
	pfs_enter(self->other);
	pfs_enter(self->other);
}

static void leave_section(struct scene *self)
{
	pfs_leave(self->other);
	pfs_leave(self->other);
}

static void fill_empty_reclaim(void *context)
{
	struct scene *self = context;
	void *records[4 * PAGE_RECORDS];
	for (uint32_t i = 0; i < 4 * PAGE_RECORDS; i++)
		records[i] = pfs_allocate_or_fail(self->thread);
	for (uint32_t i = 0; i < 4 * PAGE_RECORDS; i++)
		pfs_free(self->thread, records[i]);
	PFS_CHECK(pfs_reclaim_now(self->thread) + pfs_reclaim_now(self->thread) >= 2);
	PFS_CHECK_IS(pfs_counts_of(self->container).pages_waiting, 0);
}

static void a_reader_that_is_gone_keeps_no_page(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	scene_init(&self, at, &config);
	other_begin(&self, enter_and_stay);
	in_child(fill_empty_reclaim, &self);
	leave_section(&self);
	other_end(&self);
	pfs_thread_detach(self.other);
	scene_fini(&self);
}

/* The forking thread is in a section; a child's thread reclaims; the section holds. */
static void look_and_leave(void *context)
{
	struct scene *self = context;
	uint64_t index = pfs_index(self->thread, self->record);
	if (MAY_START_THREADS)
		pfs_run_threads(1, attach_and_use, self);
	PFS_CHECK(pfs_lookup(self->thread, index) == self->record);
	pfs_leave(self->thread);
	fill_empty_reclaim(self);
}

static void the_section_of_the_forking_thread_goes_on(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	scene_init(&self, at, &config);
	self.record = pfs_allocate_or_fail(self.thread);
	pfs_enter(self.thread);
	in_child(look_and_leave, &self);
	pfs_leave(self.thread);
	scene_fini(&self);
}

static void nothing(struct scene *self)
{
	(void)self;
}

static void attach_again(void *context)
{
	struct scene *self = context;
	struct pfs_thread *again = pfs_attach_or_fail(self->container);
	PFS_CHECK(again == self->other);
	PFS_CHECK(pfs_attach_or_fail(self->container) != self->thread);
	PFS_CHECK_IS(self->container->thread_count, 3);
	pfs_thread_detach(again);
}

/* A child that tidies up for all threads of its parent: no bug. */
static void tidy_up(void *context)
{
	struct scene *self = context;
	pfs_thread_detach(self->other);
	pfs_thread_detach(self->thread);
	pfs_container_destroy(self->container);
}

static void handles_of_threads_that_are_gone(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	scene_init(&self, at, &config);
	other_begin(&self, nothing);
	in_child(attach_again, &self);
	in_child(tidy_up, &self);
	other_end(&self);
	pfs_thread_detach(self.other);
	scene_fini(&self);
}

/* Handles by pfs_thread_current, too. */
static void have_own(struct scene *self)
{
	pfs_thread_detach(self->other);
	PFS_CHECK_IS(pfs_thread_current(self->container, &self->other), PFS_OK);
}

static void own_handles_of_threads_that_are_gone(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	scene_init(&self, at, &config);
	other_begin(&self, have_own);
	in_child(attach_again, &self);
	in_child(tidy_up, &self);
	other_end(&self);
	scene_fini(&self);
}

static void use_adopted(void *context)
{
	struct scene *self = context;
	PFS_CHECK(pfs_attach_or_fail(self->container) != self->other);
	(void)pfs_allocate_or_fail(self->other);
	pfs_thread_detach(self->other);
	pfs_thread_detach(self->thread);
	pfs_container_destroy(self->container);
}

static void an_adopted_handle_goes_on(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	scene_init(&self, at, &config);
	other_begin(&self, nothing);
	pfs_thread_adopt(self.other);
	in_child(use_adopted, &self);
	other_end(&self);
	pfs_thread_detach(self.other);
	scene_fini(&self);
}

static void use_in_grandchild(void *context)
{
	struct scene *self = context;
	in_child(attach_again, self); /* forks before anything was done here */
	(void)pfs_allocate_or_fail(self->thread);
	in_child(use_all, self);
	attach_again(self);
}

static void a_child_forks(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	scene_init(&self, at, &config);
	other_begin(&self, nothing);
	in_child(use_in_grandchild, &self);
	other_end(&self);
	pfs_thread_detach(self.other);
	scene_fini(&self);
}

/* ---- the background thread ---- */

static void destroy_at_once(void *context)
{
	struct scene *self = context;
	pfs_thread_detach(self->thread);
	pfs_container_destroy(self->container);
}

/* The background pass goes on in the child. The calls that start it are one of three. */
static void wait_for_pages_to_go(struct scene *self)
{
	uint32_t looks = 1000;
	while (pfs_counts_of(self->container).reclaimed < 2 && looks-- != 0)
		(void)usleep(10000);
	PFS_CHECK(pfs_counts_of(self->container).reclaimed >= 2);
}

static void grow_and_wait(void *context)
{
	struct scene *self = context;
	void *records[8 * PAGE_RECORDS];
	for (uint32_t i = 0; i < 8 * PAGE_RECORDS; i++)
		records[i] = pfs_allocate_or_fail(self->thread);
	for (uint32_t i = 0; i < 8 * PAGE_RECORDS; i++)
		pfs_free(self->thread, records[i]);
	wait_for_pages_to_go(self);
	destroy_at_once(self);
}

__attribute__((unused)) static void the_background_thread_goes_on(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct scene self;
	config.reclaim.period_ms = 2;
	config.reclaim.idle_passes = 1;
	config.reclaim.decay_passes = 0;
	scene_init(&self, at, &config);
	in_child(destroy_at_once, &self);
	in_child(grow_and_wait, &self);
	scene_fini(&self);
}

#define MANY 200u

/* Fork takes the same number of locks for many containers as for one: ThreadSanitizer allows 64 at
 * a time. Not with mutex_list, where fork takes a lock of each container. */
static void many_containers_fork(const struct pfs_case *at)
{
	struct pfs_container *containers[MANY];
	struct pfs_config config = pfs_case_config(at);
	int status = 1;
	config.page_max = 2;
	for (uint32_t i = 0; i < MANY; i++)
		containers[i] = pfs_case_create(at, &config);
	pid_t child = fork();
	if (child == 0) {
		struct pfs_thread *thread = pfs_attach_or_fail(containers[MANY - 1]);
		pfs_free(thread, pfs_allocate_or_fail(thread));
		_exit(0);
	}
	PFS_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	for (uint32_t i = 0; i < MANY; i++)
		pfs_container_destroy(containers[i]);
}

/* clang-format off */
static const struct pfs_test tests[] = {
	{ .name = "many containers fork",
	  .run = many_containers_fork,
	  .each = true,
	  .traits = PFS_TRAIT_WORDS | PFS_TRAIT_RECLAIM },
#if MAY_ALLOCATE_ALL_THE_WHILE
	{ .name = "others do all they can",
	  .run = others_do_all_they_can,
	  .each = true,
	  .traits = ALL,
	  .threads = true },
#endif
	{ .name = "another maps a page",
	  .run = another_maps_a_page,
	  .each = true,
	  .traits = GROWN,
	  .threads = true },
	{ .name = "spawn waits for no map",
	  .run = spawn_waits_for_no_map,
	  .each = true,
	  .traits = GROWN,
	  .threads = true },
	{ .name = "a reader that is gone keeps no page",
	  .run = a_reader_that_is_gone_keeps_no_page,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM,
	  .threads = true },
	{ .name = "the section of the forking thread goes on",
	  .run = the_section_of_the_forking_thread_goes_on,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM,
	  .threads = true },
	{ .name = "handles of threads that are gone",
	  .run = handles_of_threads_that_are_gone,
	  .each = true,
	  .threads = true },
	{ .name = "own handles of threads that are gone",
	  .run = own_handles_of_threads_that_are_gone,
	  .each = true,
	  .threads = true },
	{ .name = "an adopted handle goes on",
	  .run = an_adopted_handle_goes_on,
	  .each = true,
	  .threads = true },
	{ .name = "a child forks", .run = a_child_forks, .each = true, .traits = ALL,
	  .threads = true },
#if MAY_START_THREADS && MAY_ALLOCATE_ALL_THE_WHILE
	{ .name = "the background thread goes on",
	  .run = the_background_thread_goes_on,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM,
	  .threads = true },
#endif
};
/* clang-format on */

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
