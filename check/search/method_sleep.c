/*
 * method_sleep.c - every class of schedules once, by sleep sets; up to so many preemptions; and
 * every schedule.
 */
#include "check/search/explore.h"
#include "check/search/method.h"

static bool begin_with(struct pfs_searching *self, uint32_t preemption_max, bool naive)
{
	struct pfs_explore *explore = self->own;
	pfs_explore_init(explore, preemption_max);
	explore->append_only = self->options->append_only;
	explore->naive = naive;
	return pfs_explore_take(explore, self->part);
}

static bool begin_sleep(struct pfs_searching *self)
{
	self->machine->setup.loops_end = true;
	return begin_with(self, PFS_PREEMPTIONS_ANY, false);
}

static bool begin_bounded(struct pfs_searching *self)
{
	return begin_with(self, self->options->preemption_max, false);
}

static bool begin_naive(struct pfs_searching *self)
{
	return begin_with(self, PFS_PREEMPTIONS_ANY, true);
}

static struct pfs_scheduler *scheduler(struct pfs_searching *self, uint64_t n)
{
	struct pfs_explore *explore = self->own;
	(void)n;
	return &explore->scheduler;
}

/* Whether the search has left something out so far. */
static void judge(struct pfs_searching *self)
{
	const struct pfs_explore *explore = self->own;
	self->result->bounded = explore->bounded;
	self->result->left_out = explore->left_out | (explore->no_memory ? PFS_LEFT_MEMORY : 0);
	self->result->complete = self->result->incomplete == 0 && self->result->left_out == 0;
}

static bool next(struct pfs_searching *self)
{
	struct pfs_explore *explore = self->own;
	/* Before the first execution the machine's end is another part's. */
	self->result->redundant += self->result->executions != 0 &&
				   (explore->redundant || self->machine->run.end == PFS_END_KNOWN);
	if (pfs_explore_next(explore))
		return true;
	judge(self);
	return false;
}

static bool split(struct pfs_searching *self)
{
	bool is_split = pfs_explore_split(self->own, self->rest);
	if (is_split)
		judge(self);
	return is_split;
}

static void end(struct pfs_searching *self)
{
	self->machine->setup.loops_end = false;
	pfs_explore_fini(self->own);
}

#define SLEEP(method)                                          \
	const struct pfs_search_method pfs_method_##method = { \
		.name = #method,                               \
		.bytes = sizeof(struct pfs_explore),           \
		.begin = begin_##method,                       \
		.scheduler = scheduler,                        \
		.next = next,                                  \
		.split = split,                                \
		.end = end,                                    \
	}
SLEEP(sleep);
SLEEP(bounded);
SLEEP(naive);
