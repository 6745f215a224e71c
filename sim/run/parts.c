#include "sim/run/parts.h"

#include "containers/container.h"
#include "sim/run/due.h"

static struct pfs_parts parts;
static uint64_t allocations;  /* in the window */
static uint64_t part_size;    /* allocations */
static uint64_t part_end;     /* allocations at which the current part ends */
static uint64_t skips_before; /* the window */

static uint64_t skips_of(const struct pfs_container *container)
{
	uint64_t skips = 0;
	for (struct pfs_thread *thread = PFS_SIM_RAW(&container->threads); thread != NULL;
	     thread = thread->next)
		skips += PFS_SIM_RAW(&thread->tally.events[PFS_EVENT_RECORD_SKIPS]);
	return skips;
}

static struct pfs_part state(void)
{
	struct pfs_part sum = { .allocations = allocations };
	const struct pfs_container *container = pfs_due_container(0);
	for (uint32_t i = 1; container != NULL; container = pfs_due_container(i++)) {
		sum.pages += PFS_SIM_RAW(&container->pages);
		sum.record_skips += skips_of(container);
	}
	return sum;
}

void pfs_parts_begin(void)
{
	parts.count = 0;
	allocations = 0;
	part_size = part_end = 1;
	skips_before = state().record_skips;
}

/* Two neighbours become one part. */
static void fold(void)
{
	parts.count /= 2;
	for (uint32_t i = 0; i < parts.count; i++)
		parts.list[i] = parts.list[2 * i + 1];
	part_size *= 2;
}

void pfs_parts_allocated(uint64_t now_ns)
{
	if (++allocations < part_end)
		return;
	struct pfs_part part = state();
	/* A thread may be ahead of the others by less than a transfer (timed.h). */
	uint64_t last_ns = parts.count != 0 ? parts.list[parts.count - 1].ns : 0;
	part.ns = now_ns > last_ns ? now_ns : last_ns;
	part.record_skips -= skips_before;
	parts.list[parts.count++] = part;
	if (parts.count == PFS_PARTS_MAX)
		fold();
	part_end = allocations + part_size;
}

const struct pfs_parts *pfs_parts(void)
{
	return &parts;
}
