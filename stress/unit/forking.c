#include "stress/unit/forking.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if PFS_UNDER_TSAN
/* The threads of the parent were not joined, and never will be here. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "report_thread_leaks=0";
}
#endif

/* Run body in a child; it must return. _exit: the parent's other threads left memory that the child
 * cannot free. */
void in_child(void (*body)(void *context), void *context)
{
	int status = 0;
	pid_t child = fork();
	PFS_CHECK(child >= 0);
	if (child == 0) {
		(void)alarm(PFS_TEST_SECONDS - 5);
		body(context);
		_exit(0);
	}
	PFS_CHECK_IS(waitpid(child, &status, 0), child);
	PFS_CHECK_IS(status, 0);
}

void scene_init(struct scene *self, const struct pfs_case *at, struct pfs_config *config)
{
	memset(self, 0, sizeof(*self));
	self->at = at;
	config->page_records = PAGE_RECORDS;
	config->page_max = PAGES;
	self->container = pfs_case_create(at, config);
	self->thread = pfs_attach_or_fail(self->container);
	PFS_CHECK_IS(pthread_barrier_init(&self->met, NULL, 2), 0);
}

void scene_fini(struct scene *self)
{
	pfs_thread_detach(self->thread);
	pfs_container_destroy(self->container);
}

static void *run_other(void *opaque)
{
	struct scene *self = opaque;
	self->other = pfs_attach_or_fail(self->container);
	self->other_body(self);
	(void)pthread_barrier_wait(&self->met);
	(void)pthread_barrier_wait(&self->met);
	return NULL;
}

/* A thread runs body and waits; so much for the fork. */
void other_begin(struct scene *self, void (*body)(struct scene *self))
{
	self->other_body = body;
	PFS_CHECK_IS(pthread_create(&self->native[0], NULL, run_other, self), 0);
	(void)pthread_barrier_wait(&self->met);
}

void other_end(struct scene *self)
{
	(void)pthread_barrier_wait(&self->met);
	PFS_CHECK_IS(pthread_join(self->native[0], NULL), 0);
}

/* All that can be had; how many. */
uint32_t take_all(struct pfs_thread *thread)
{
	uint32_t count = 0;
	while (pfs_allocate(thread).record != NULL)
		count++;
	return count;
}

/* Records that are free by their words, but that no allocation found. */
uint32_t count_lost(struct pfs_thread *thread)
{
	uint32_t count = 0;
	struct pfs_walk walk;
	pfs_walk_begin(&walk, thread, PFS_WALK_ALL);
	while (pfs_walk_next(&walk) != NULL)
		count += walk.glance.word % 4 == 0; /* FREE, at any version */
	pfs_walk_end(&walk);
	return count;
}
