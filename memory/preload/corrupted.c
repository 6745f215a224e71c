/*
 * corrupted.c - records memory corruption in the box, when the allocator is about to end the
 * program, or the program is about to die. It runs in a signal handler or anywhere inside malloc,
 * so it takes no lock and only stores into the box.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "counter.h"
#include "memory/malloc/corruption.h"
#include "memory/profile/modules.h"

_Static_assert((int)PFS_BOX_OVERFLOW == PFS_CORRUPTION_OVERFLOW &&
		       (int)PFS_BOX_UNDERFLOW == PFS_CORRUPTION_UNDERFLOW &&
		       (int)PFS_BOX_USE_AFTER_FREE == PFS_CORRUPTION_USE_AFTER_FREE &&
		       (int)PFS_BOX_DOUBLE_FREE == PFS_CORRUPTION_DOUBLE_FREE &&
		       (int)PFS_BOX_INVALID_POINTER == PFS_CORRUPTION_INVALID_POINTER,
	       "one number each");
_Static_assert(PFS_BOX_TRACE_FRAMES == PFS_TRACE_FRAMES, "whole stacks");

static struct pfs_box_corruption *record_of(struct pfs_box *box)
{
	struct pfs_box_region *region = pfs_box_region_of(box, PFS_BOX_CORRUPTION);
	if (region == NULL || pfs_box_is_cut(box) ||
	    !pfs_box_populate(box, region->offset, region->bytes))
		return NULL;
	/* NOLINTNEXTLINE: a record of the box */
	return (struct pfs_box_corruption *)(void *)(box->base + region->offset);
}

/* The file that an address is of, among the first ones of the record; added if there is room. */
static void see_module(const struct pfs_box *box, struct pfs_box_corruption *record,
		       uint64_t address)
{
	uint32_t at = 0;
	for (; at < PFS_BOX_TRACE_MODULES && record->modules[at].end != 0; at++)
		if (address - record->modules[at].begin <
		    record->modules[at].end - record->modules[at].begin)
			return;
	if (at < PFS_BOX_TRACE_MODULES && !pfs_module_of(box, address, &record->modules[at]))
		record->modules[at].end = 0;
}

static void put_trace(const struct pfs_box *box, struct pfs_box_corruption *record,
		      enum pfs_box_trace_of of, const struct pfs_trace *from)
{
	struct pfs_box_trace *trace = &record->traces[of];
	if (from == NULL || from->thread_id == 0)
		return;
	trace->os_tid = from->thread_id;
	trace->is_cut = from->is_cut;
	memcpy(trace->thread, from->thread, sizeof(trace->thread));
	for (uint32_t i = 0; i < from->depth && i < PFS_BOX_TRACE_FRAMES; i++) {
		trace->frames[i] = from->frames[i];
		see_module(box, record, from->frames[i] - 1);
	}
	trace->depth = from->depth;
}

static bool is_our_box(void)
{
	return pfs_program_is_on() && pfs_program.books->box.head->pid == (uint32_t)getpid();
}

void pfs_corruption_noted(const struct pfs_corruption *corruption)
{
	struct pfs_box_corruption *record = is_our_box() ? record_of(&pfs_program.books->box)
							 : NULL;
	if (record == NULL)
		return;
	struct pfs_box *box = &pfs_program.books->box;
	const struct pfs_guard_found *found = &corruption->found;
	record->kind = corruption->kind;
	record->access = corruption->access;
	record->realtime_ns = pfs_box_now_ns();
	record->address = corruption->address;
	record->block = found->block;
	record->block_bytes = found->size_bytes;
	if (corruption->call != NULL)
		strncpy(record->call, corruption->call, sizeof(record->call) - 1);
	put_trace(box, record, PFS_BOX_TRACE_HERE, &corruption->here);
	put_trace(box, record, PFS_BOX_TRACE_ALLOCATED, found->allocated);
	if (found->is_freed)
		put_trace(box, record, PFS_BOX_TRACE_FREED, found->freed);
	box->head->corrupted_bytes = found->size_bytes;
	/* [J9] release, pairs with [J10]: without it a reader could find an unfinished record. */
	pfs_store_release(&box->head->corruption, corruption->kind);
}
