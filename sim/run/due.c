#include "sim/run/due.h"

#include <stddef.h>

#include "bench/workload.h"
#include "containers/container.h"
#include "containers/variant.h"

struct pfs_due {
	const struct pfs_container *container;
	struct pfs_due_call *calls; /* in progress */
	uint64_t busy;              /* records in use, and allocates under way */
	uint64_t growths;           /* that were judged */
};

static struct pfs_due dues[PFS_CONTAINERS_MAX];
static struct pfs_due_counts counts;

void pfs_due_reset(void)
{
	counts = (struct pfs_due_counts){ 0 };
	for (uint32_t i = 0; i < PFS_CONTAINERS_MAX; i++)
		dues[i] = (struct pfs_due){ .container = NULL };
}

static struct pfs_due *find(const struct pfs_thread *thread)
{
	uint32_t i = 0;
	while (i + 1 < PFS_CONTAINERS_MAX && dues[i].container != NULL &&
	       dues[i].container != thread->container)
		i++;
	dues[i].container = thread->container;
	return &dues[i];
}

void pfs_due_begin(struct pfs_due_call *call, const struct pfs_thread *thread)
{
	struct pfs_due *self = find(thread);
	*call = (struct pfs_due_call){ self, self->calls, self->busy };
	for (struct pfs_due_call *other = call->next; other != NULL; other = other->next) {
		/* busy includes this call, but not yet the one that begins */
		if (self->busy > other->busy_max)
			other->busy_max = self->busy;
	}
	self->calls = call;
	self->busy++;
}

/* Pages added since the last look: the thread that added one is still in its call, or ends now. */
static void judge_growth(struct pfs_due *self)
{
	const struct pfs_container *container = self->container;
	uint64_t growths = PFS_SIM_RAW(&container->growths);
	uint64_t fresh = growths - self->growths, pages = PFS_SIM_RAW(&container->pages);
	uint64_t before = pages > fresh ? pages - fresh : 0, busy = 0;
	self->growths = growths;
	if (fresh == 0)
		return;
	for (const struct pfs_due_call *call = self->calls; call != NULL; call = call->next)
		busy = call->busy_max > busy ? call->busy_max : busy;
	counts.grown_early += busy < before * container->config.page_records;
}

static void judge_refusal(const struct pfs_due *self, const struct pfs_due_call *call)
{
	const struct pfs_config *config = &self->container->config;
	counts.refused_early += call->busy_max < (uint64_t)config->page_max * config->page_records;
}

void pfs_due_end(struct pfs_due_call *call, const struct pfs_thread *thread, const void *record)
{
	struct pfs_due *self = call->container;
	struct pfs_due_call **at = &self->calls;
	judge_growth(self);
	if (record == NULL && pfs_thread_status(thread) == PFS_FULL)
		judge_refusal(self, call);
	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	self->busy -= record == NULL;
}

void pfs_due_freed(const struct pfs_thread *thread)
{
	find(thread)->busy--;
}

struct pfs_due_counts pfs_due_counts(void)
{
	return counts;
}

const struct pfs_container *pfs_due_container(uint32_t index)
{
	return index < PFS_CONTAINERS_MAX ? dues[index].container : NULL;
}
