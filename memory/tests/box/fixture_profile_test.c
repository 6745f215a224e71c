/*
 * fixture_profile_test.c - the profile of a box that is made by hand.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture_test.h"

void pfs_made_module(struct pfs_made_box *self, uint64_t begin, uint64_t end, uint64_t file_offset,
		     const char *path, uint64_t loaded_ns, uint64_t gone_ns)
{
	struct pfs_box_region *region = pfs_made_region(self, PFS_BOX_MODULES);
	if ((self->modules + 1) * sizeof(struct pfs_box_module) > region->bytes)
		abort();
	struct pfs_box_module *module =
		(struct pfs_box_module *)(void *)(self->base + region->offset) + self->modules++;
	module->begin = begin;
	module->end = end;
	module->file_offset = file_offset;
	module->loaded_realtime_ns = loaded_ns;
	pfs_store_relaxed(&module->gone_realtime_ns, gone_ns); /* relaxed: see below */
	(void)snprintf(module->path, sizeof(module->path), "%s", path);
}

uint32_t pfs_made_stack(struct pfs_made_box *self, const uint64_t *frames, uint32_t depth)
{
	uint32_t reference = pfs_made_record(self, PFS_BOX_STACKS);
	struct pfs_box_stack *record = pfs_made_at(self, PFS_BOX_STACKS, reference);
	record->made_realtime_ns = (uint64_t)time(NULL) * 1000000000u;
	record->depth = depth;
	memcpy(record->frames, frames, depth * sizeof(*frames));
	return pfs_made_publish(self, PFS_BOX_STACKS, reference);
}

struct pfs_box_context *pfs_made_context(struct pfs_made_box *self, uint32_t stack,
					 uint32_t instrument, uint32_t thread, uint32_t *reference)
{
	const struct pfs_box_thread *of = pfs_made_at(self, PFS_BOX_THREADS, thread);
	*reference = pfs_made_record(self, PFS_BOX_CONTEXTS);
	struct pfs_box_context *record = pfs_made_at(self, PFS_BOX_CONTEXTS, *reference);
	record->stack = stack;
	record->instrument = instrument;
	record->thread_id = of->thread_id;
	record->os_tid = of->os_tid;
	(void)snprintf(record->thread_name, sizeof(record->thread_name), "%.15s", of->name);
	if (of->account != 0) {
		const struct pfs_box_account *account = pfs_made_at(self, PFS_BOX_ACCOUNTS,
								    of->account);
		(void)snprintf(record->user_name, sizeof(record->user_name), "%.31s",
			       account->user_name);
		(void)snprintf(record->host_name, sizeof(record->host_name), "%.31s",
			       account->host_name);
	}
	(void)pfs_made_publish(self, PFS_BOX_CONTEXTS, *reference);
	return record;
}

struct pfs_box_sample *pfs_made_block(struct pfs_made_box *self, uint32_t context, uint32_t cell,
				      uint64_t bytes)
{
	uint32_t reference = pfs_made_record(self, PFS_BOX_SAMPLES);
	struct pfs_box_sample *record = pfs_made_at(self, PFS_BOX_SAMPLES, reference);
	record->bytes = bytes;
	record->interval = UINT64_C(1) << self->head->profile_lg;
	record->taken_realtime_ns = (uint64_t)time(NULL) * 1000000000u;
	record->address = 0x10000 + reference * UINT64_C(4096);
	record->context = context;
	record->cell = cell;
	record->level = PFS_CELL_IS_SAMPLE;
	(void)pfs_made_publish(self, PFS_BOX_SAMPLES, reference);
	return record;
}

struct pfs_box_moment *pfs_made_moment(struct pfs_made_box *self, uint64_t realtime_ns,
				       const struct pfs_box_held *stacks, uint32_t count)
{
	/* relaxed: one thread */
	uint64_t number = pfs_load_relaxed(&self->head->moments) + 1;
	char *all = self->base + pfs_made_region(self, PFS_BOX_MOMENTS)->offset;
	struct pfs_box_moment *moment = (struct pfs_box_moment *)(void *)all +
					pfs_moment_place(number);
	memset(moment, 0, sizeof(*moment));
	moment->number = number;
	moment->realtime_ns = realtime_ns;
	moment->count = count;
	memcpy(moment->stacks, stacks, count * sizeof(*stacks));
	pfs_store_release(&self->head->moments, number);
	return moment;
}

void pfs_made_profile(struct pfs_made_box *self, uint32_t thread, uint32_t instrument)
{
	const uint64_t frames[] = { 0x1234, 0x1456, 0x1800 };
	uint32_t ones[2];
	pfs_made_module(self, 0x1000, 0x2000, 0, "/usr/bin/fixture", 1, 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct pfs_box_context *context =
			pfs_made_context(self, pfs_made_stack(self, frames + i, 3 - i), instrument,
					 thread, &ones[i]);
		/* relaxed, here and above: one thread, or before others look. */
		pfs_store_relaxed(&context->samples, 3);                /* relaxed: likewise */
		pfs_store_relaxed(&context->objects_256ths, 100 * 256); /* relaxed: likewise */
		pfs_store_relaxed(&context->bytes, 100000);             /* relaxed: likewise */
		(void)pfs_made_block(self, ones[i], 1, 1000);
		(void)pfs_made_block(self, ones[i], 1, 100000);
	}
	for (uint32_t i = 1; i <= 3; i++) {
		const struct pfs_box_held stacks[] = { { 1, 1, 1000 }, { 2, 2 * i, 2000 * i } };
		(void)pfs_made_moment(self, self->head->start_realtime_ns + i * 60000000000u,
				      stacks, 2);
	}
}
