#include "sim/run/timed_calls.h"

#include "bench/calls_with.h"
#include "sim/run/due.h"
#include "sim/run/parts.h"
#include "check/machine/operation.h"
#include "sim/timed/timed.h"

static const struct pfs_variant *inner;
static struct pfs_histogram histogram;
static bool recording;

/* The simulator's own code, which costs nothing: not instrumented. */
#define PFS_UNSEEN __attribute__((noinline, no_sanitize("thread")))

PFS_UNSEEN static struct pfs_claim allocate(struct pfs_thread *thread)
{
	uint64_t begin_ns = pfs_timed_now_ns();
	struct pfs_due_call due;
	pfs_due_begin(&due, thread);
	struct pfs_claim claim = inner->allocate(thread);
	pfs_due_end(&due, thread, claim.record);
	if (!recording)
		return claim;
	pfs_sim_quiet(); /* or all threads would pay for the histogram's lines */
	uint64_t end_ns = pfs_timed_now_ns();
	pfs_histogram_add(&histogram, end_ns - begin_ns);
	if (claim.record != NULL)
		pfs_parts_allocated(end_ns);
	pfs_sim_loud();
	return claim;
}

PFS_UNSEEN static void publish(struct pfs_thread *thread, struct pfs_claim claim)
{
	inner->publish(thread, claim);
}

PFS_UNSEEN static void free_record(struct pfs_thread *thread, void *record)
{
	inner->free(thread, record);
	pfs_due_freed(thread);
}

static const struct pfs_variant timed = {
	.allocate = allocate,
	.publish = publish,
	.free = free_record,
};
PFS_BATCHES(timed)

static const struct pfs_calls timed_calls = {
	.allocate = allocate, .publish = publish, .free = free_record, PFS_BATCH_CALLS
};

const struct pfs_calls *pfs_timed_calls(const struct pfs_variant *variant)
{
	inner = variant;
	pfs_due_reset();
	return &timed_calls;
}

void pfs_timed_calls_record(bool on)
{
	recording = on;
	if (on)
		pfs_parts_begin();
}

const struct pfs_histogram *pfs_timed_calls_histogram(void)
{
	return &histogram;
}
