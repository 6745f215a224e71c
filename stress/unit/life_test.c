/*
 * life_test.c - the life of handles and of the background thread: no thread waits for another
 * thread's work, and a refused call changes nothing.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "variants/magazine/magazine.h"
#include "stress/harness/gate.h"
#include "stress/harness/harness.h"

#define GROWN (PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED)

/* A container of pages of 4 records behind a gate, and a handle. */
struct gated {
	struct pfs_test_gate gate;
	struct pfs_container *container;
	struct pfs_thread *thread;
	pthread_t other;
};

static void gated_init(struct gated *self, const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	memset(self, 0, sizeof(*self));
	pfs_test_gate_init(&self->gate);
	config.page_records = 4;
	config.source = &self->gate.source;
	self->container = pfs_case_create(at, &config);
	self->thread = pfs_attach_or_fail(self->container);
}

static void gated_fini(struct gated *self)
{
	PFS_CHECK_IS(pthread_join(self->other, NULL), 0);
	pfs_thread_detach(self->thread);
	pfs_container_destroy(self->container);
}

static void grow(struct gated *self, struct pfs_thread *thread)
{
	uint64_t before = pfs_load_relaxed(&self->container->growths);
	while (pfs_load_relaxed(&self->container->growths) == before)
		(void)pfs_allocate_or_fail(thread);
}

static void *grow_aside(void *opaque)
{
	struct gated *self = opaque;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	grow(self, thread);
	pfs_thread_detach(thread);
	return NULL;
}

/* While a thread maps a page, slowly, others attach, free and detach. */
static void attach_waits_for_no_map(const struct pfs_case *at)
{
	struct gated self;
	gated_init(&self, at);
	struct pfs_thread *going = pfs_attach_or_fail(self.container);
	void *record = pfs_allocate_or_fail(going);
	atomic_store(&self.gate.map_stops, true);
	PFS_CHECK_IS(pthread_create(&self.other, NULL, grow_aside, &self), 0);
	(void)sem_wait(&self.gate.arrived);
	if (strcmp(at->variant->name, "mutex_list") != 0) /* one lock for all */
		pfs_free(going, record);
	pfs_thread_detach(going);
	struct pfs_thread *coming = pfs_attach_or_fail(self.container);
	PFS_CHECK(coming == going);
	pfs_thread_detach(coming);
	(void)sem_post(&self.gate.leave);
	gated_fini(&self);
}

static void *count_aside(void *opaque)
{
	struct gated *self = opaque;
	struct pfs_counts counts = pfs_counts_of(self->container);
	PFS_CHECK(counts.resident_bytes != 0);
	return NULL;
}

/* While a thread asks for the counts, and the system is slow, others add pages. */
static void counts_stop_no_growth(const struct pfs_case *at)
{
	struct gated self;
	gated_init(&self, at);
	(void)pfs_allocate_or_fail(self.thread);
	atomic_store(&self.gate.resident_stops, true);
	PFS_CHECK_IS(pthread_create(&self.other, NULL, count_aside, &self), 0);
	(void)sem_wait(&self.gate.arrived);
	grow(&self, self.thread);
	(void)sem_post(&self.gate.leave);
	gated_fini(&self);
}

#define HANDLES 40000u
#define BLOCK 64u

static uint64_t attach_block_ns(struct pfs_container *container)
{
	struct timespec begin, end;
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint32_t i = 0; i < BLOCK; i++)
		(void)pfs_attach_or_fail(container);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	return (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec -
	       (uint64_t)begin.tv_nsec;
}

/* Compares the fastest of many blocks when few handles are attached and when many are. If attach
 * walked over them, the ratio would be in the hundreds. Policy random_start has small handles. */
static void attach_costs_the_same_with_many(const struct pfs_case *none)
{
	struct pfs_case at = { pfs_variant_find("random_start"), none->layout };
	struct pfs_config config = pfs_case_config(&at);
	struct pfs_container *container = pfs_case_create(&at, &config);
	uint64_t least[2] = { UINT64_MAX, UINT64_MAX };
	for (uint32_t attached = 0; attached < HANDLES; attached += BLOCK) {
		uint64_t ns = attach_block_ns(container);
		uint64_t *which = &least[attached > HANDLES / 2];
		if (ns < *which)
			*which = ns;
	}
	PFS_CHECK(least[1] < 20 * least[0]);
	pfs_container_destroy(container); /* with its handles: their threads use it no more */
}

static void a_refused_pass_empties_no_ring(const struct pfs_case *none)
{
	struct pfs_case at = { pfs_variant_find("magazine"), none->layout };
	struct pfs_config config = pfs_case_config(&at);
	struct pfs_container *container = pfs_case_create(&at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	struct pfs_magazine *ring = thread->policy;
	pfs_free(thread, pfs_allocate_or_fail(thread));
	uint64_t head = pfs_load_relaxed(&ring->head);
	PFS_CHECK(pfs_load_relaxed(&ring->tail) != head);
	pfs_enter(thread);
	PFS_CHECK_IS(pfs_reclaim_pass(thread), 0);
	PFS_CHECK_IS(pfs_reclaim_now(thread), 0);
	pfs_leave(thread);
	PFS_CHECK_IS(pfs_load_relaxed(&ring->control), PFS_CONTROL_IDLE);
	(void)pfs_reclaim_pass(thread);
	PFS_CHECK_IS(pfs_load_relaxed(&ring->control) & PFS_CONTROL_STATE_MASK, PFS_CONTROL_DONE);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

static uint32_t threads_named(const char *name)
{
	char path[64];
	char text[32] = "";
	uint32_t found = 0;
	DIR *tasks = opendir("/proc/self/task");
	PFS_CHECK(tasks != NULL);
	for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
		(void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", task->d_name);
		FILE *file = fopen(path, "r");
		if (file == NULL)
			continue;
		if (fgets(text, sizeof(text), file) != NULL)
			text[strcspn(text, "\n")] = 0;
		found += strcmp(text, name) == 0;
		(void)fclose(file);
	}
	(void)closedir(tasks);
	return found;
}

static void end_wrongly(int signal_number)
{
	(void)signal_number;
	_exit(3);
}

/* A thread that blocks a signal and waits for it gets it, whatever threads the library has. */
static void the_background_thread_takes_no_signal(const struct pfs_case *none)
{
	struct pfs_case at = { pfs_variant_find("exact"), none->layout };
	struct pfs_config config = pfs_case_config(&at);
	struct sigaction action = { .sa_handler = end_wrongly };
	struct timespec second = { .tv_sec = 1 };
	sigset_t mine, before;
	config.reclaim.period_ms = 5;
	PFS_CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
	struct pfs_container *container = pfs_case_create(&at, &config);
	(void)sigemptyset(&mine);
	(void)sigaddset(&mine, SIGUSR1);
	PFS_CHECK_IS(pthread_sigmask(SIG_BLOCK, &mine, &before), 0);
	PFS_CHECK_IS(sigismember(&before, SIGTERM), 0); /* create gave the mask back */
	PFS_CHECK_IS(kill(getpid(), SIGUSR1), 0);
	(void)usleep(50000); /* time for a thread that would take it */
	PFS_CHECK_IS(sigtimedwait(&mine, NULL, &second), SIGUSR1);
	PFS_CHECK_IS(threads_named("pfs-reclaim"), 1);
	pfs_container_destroy(container);
}

/* An unneeded page, which the background thread gives back. */
static void leave_a_page(struct pfs_container *container)
{
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	pfs_free(thread, pfs_allocate_or_fail(thread));
	pfs_thread_detach(thread);
}

static void wait_for_no_page(struct pfs_container *container)
{
	for (uint32_t i = 0; pfs_counts_of(container).pages != 0; i++) {
		PFS_CHECK(i < 10000);
		(void)usleep(1000);
	}
}

/* One background thread for any number of containers. It ends with the last of them, and the next
 * container starts it again. */
static void one_background_thread(const struct pfs_case *none)
{
	enum { CONTAINERS = 40 };
	struct pfs_case at = { pfs_variant_find("exact"), none->layout };
	struct pfs_config config = pfs_case_config(&at);
	struct pfs_container *containers[CONTAINERS];
	config.reclaim.headroom_percent = 0;
	config.reclaim.spare_pages = 0;
	config.reclaim.decay_passes = 0;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < CONTAINERS; i++) {
			config.reclaim.period_ms = 2 + i % 3;
			containers[i] = pfs_case_create(&at, &config);
			leave_a_page(containers[i]);
		}
		for (uint32_t i = 0; i < CONTAINERS; i++)
			wait_for_no_page(containers[i]);
		PFS_CHECK_IS(threads_named("pfs-reclaim"), 1);
		for (uint32_t i = 1; i < CONTAINERS; i++)
			pfs_container_destroy(containers[i]);
		leave_a_page(containers[0]);
		wait_for_no_page(containers[0]);
		pfs_container_destroy(containers[0]);
		for (uint32_t i = 0; threads_named("pfs-reclaim") != 0; i++) {
			PFS_CHECK(i < 10000); /* joined, and not yet out of the list */
			(void)usleep(1000);
		}
	}
}

/* ---- pfs_thread_current ---- */

struct coming {
	struct pfs_container *container;
	pthread_key_t late; /* its destructor runs after the library's */
};

static struct pfs_thread *current_or_fail(struct pfs_container *container)
{
	struct pfs_thread *thread = NULL;
	PFS_CHECK_IS(pfs_thread_current(container, &thread), PFS_OK);
	return thread;
}

static void use_current(struct pfs_container *container)
{
	struct pfs_thread *thread = current_or_fail(container);
	PFS_CHECK(current_or_fail(container) == thread);
	pfs_free(thread, pfs_allocate_or_fail(thread));
}

static void use_late(void *container)
{
	use_current(container);
}

static void come_and_end(void *context, uint32_t index)
{
	struct coming *self = context;
	use_current(self->container);
	if (index % 2 == 0)
		PFS_CHECK_IS(pthread_setspecific(self->late, self->container), 0);
}

static void threads_that_end_leave_their_handles(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct coming self = { .container = pfs_case_create(at, &config) };
	use_current(self.container); /* the library's key is made first */
	PFS_CHECK_IS(pthread_key_create(&self.late, use_late), 0);
	for (uint32_t round = 0; round < 20; round++)
		pfs_run_threads(4, come_and_end, &self);
	PFS_CHECK(self.container->thread_count <= 5);
	struct pfs_thread *thread = pfs_load_relaxed(&self.container->threads);
	for (; thread != NULL; thread = thread->next)
		PFS_CHECK(!thread->attached || thread == current_or_fail(self.container));
	thread = current_or_fail(self.container);
	pfs_thread_detach(thread);
	PFS_CHECK(current_or_fail(self.container) == thread);
	pfs_container_destroy(self.container); /* the handle goes with it */
}

/* A thread outlives its containers, several of which may have had the same address. */
static void outlive(void *context, uint32_t index)
{
	const struct pfs_case *at = context;
	struct pfs_config config = pfs_case_config(at);
	(void)index;
	for (uint32_t i = 0; i < 100; i++) {
		struct pfs_container *container = pfs_case_create(at, &config);
		use_current(container);
		if (i % 2 == 0)
			pfs_thread_detach(current_or_fail(container));
		pfs_container_destroy(container);
	}
}

static void threads_outlive_containers(const struct pfs_case *at)
{
	struct pfs_case own = *at;
	pfs_run_threads(3, outlive, &own);
}

static void detach_aside(void *context, uint32_t index)
{
	(void)index;
	pfs_thread_detach(context);
}

static void detach_of_anothers_own(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_container *container = pfs_case_create(at, &config);
	pfs_run_threads(1, detach_aside, current_or_fail(container));
}

static const struct pfs_test tests[] = {
	{ .name = "attach and detach wait for no map",
	  .run = attach_waits_for_no_map,
	  .each = true,
	  .traits = GROWN,
	  .threads = true },
	{ .name = "counts stop no growth",
	  .run = counts_stop_no_growth,
	  .each = true,
	  .traits = GROWN,
	  .threads = true },
	{ .name = "threads that end leave their handles",
	  .run = threads_that_end_leave_their_handles,
	  .each = true,
	  .threads = true },
	{ .name = "threads outlive containers",
	  .run = threads_outlive_containers,
	  .each = true,
	  .threads = true },
	{ .name = "detach of another's own",
	  .run = detach_of_anothers_own,
	  .dies_with = "pfslab: detach of another thread's own handle: a bug of the caller" },
	{ .name = "attach costs the same with many", .run = attach_costs_the_same_with_many },
	{ .name = "a refused pass empties no ring", .run = a_refused_pass_empties_no_ring },
	{ .name = "the background thread takes no signal",
	  .run = the_background_thread_takes_no_signal },
	{ .name = "one background thread for all", .run = one_background_thread, .threads = true },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
