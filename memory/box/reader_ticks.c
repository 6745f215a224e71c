/*
 * reader_ticks.c - read the ring of ticks, the libraries that map memory, the mapped files, and how
 * many stacks the profile took.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "memory/box/profile.h"
#include "reader_inside.h"

/* ---- ticks and modules ---- */

static uint64_t ticks_kept(const struct pfs_reader *reader)
{
	uint64_t room = reader->regions[PFS_BOX_TICKS].bytes / sizeof(struct pfs_box_tick);
	return room < PFS_BOX_TICKS_KEPT ? 0 : PFS_BOX_TICKS_KEPT;
}

/* Reads tick n; false: the entry has another tick. */
static bool read_tick(const struct pfs_reader *reader, uint64_t n, struct pfs_box_tick *tick)
{
	pfs_reader_array(reader, PFS_BOX_TICKS, (n - 1) % PFS_BOX_TICKS_KEPT * sizeof(*tick), tick,
			 sizeof(*tick));
	for (uint32_t i = 0; i < PFS_BOX_TICK_ARENAS; i++)
		pfs_take_text(tick->arenas[i].pool, tick->arenas[i].pool, PFS_BOX_POOL_BYTES);
	return tick->number == n;
}

/* Reads the last ticks, without the oldest of the ring, which the next tick overwrites, and without
 * those that were overwritten during the read. */
bool pfs_take_ticks(const struct pfs_reader *reader, struct pfs_snapshot *snapshot, bool all)
{
	struct pfs_box_head *head = pfs_reader_head(reader);
	uint64_t last = pfs_load_acquire(&head->ticks); /* [RB1] acquire */
	uint64_t kept = ticks_kept(reader);
	if (last == 0 || kept == 0)
		return true;
	uint64_t first = !all ? last : last < kept ? 1 : last - kept + 2;
	struct pfs_box_tick *ticks = calloc(last - first + 1, sizeof(*ticks));
	if (ticks == NULL)
		return false;
	uint32_t count = 0;
	for (uint64_t n = first; n <= last; n++)
		count += read_tick(reader, n, &ticks[count]);
	uint64_t now = pfs_load_acquire(&head->ticks); /* [RB1] acquire */
	uint32_t gone = 0;
	while (gone < count && now - ticks[gone].number >= kept - 1)
		gone++;
	memmove(ticks, ticks + gone, (count - gone) * sizeof(*ticks));
	count -= gone;
	snapshot->has_own = count != 0 && ticks[count - 1].number == last;
	if (snapshot->has_own) {
		snapshot->own = ticks[count - 1].own;
		memcpy(snapshot->arenas, ticks[count - 1].arenas, sizeof(snapshot->arenas));
		snapshot->own_realtime_ns = ticks[count - 1].realtime_ns;
	} else if (reader->is_copy)
		pfs_snapshot_damage(snapshot, "tick %llu is missing", (unsigned long long)last);
	if (!all) {
		free(ticks);
		return true;
	}
	snapshot->ticks = ticks;
	snapshot->tick_count = count;
	return true;
}

/* The libraries that map memory; the first entry without a name is the end. */
bool pfs_take_mappers(const struct pfs_reader *reader, struct pfs_snapshot *snapshot)
{
	uint64_t room = reader->regions[PFS_BOX_MAPPERS].bytes / sizeof(struct pfs_box_mapper);
	if (room > PFS_BOX_MAPPERS_MAX)
		room = PFS_BOX_MAPPERS_MAX;
	snapshot->mappers = calloc(PFS_BOX_MAPPERS_MAX, sizeof(*snapshot->mappers));
	if (snapshot->mappers == NULL)
		return false;
	for (uint64_t i = 0; i < room; i++) {
		struct pfs_box_mapper *one = &snapshot->mappers[i];
		pfs_reader_array(reader, PFS_BOX_MAPPERS, i * sizeof(*one), one, sizeof(*one));
		if (one->name[0] == '\0')
			break;
		pfs_take_text(one->name, one->name, sizeof(one->name));
		snapshot->mapper_count++;
	}
	return true;
}

/* In the order of loading; the first entry without an end address is the end. */
bool pfs_take_modules(const struct pfs_reader *reader, struct pfs_snapshot *snapshot)
{
	uint64_t room = reader->regions[PFS_BOX_MODULES].bytes / sizeof(struct pfs_box_module);
	struct pfs_box_module module;
	for (uint64_t i = 0; i < room && snapshot->module_count < UINT16_MAX; i++) {
		pfs_reader_array(reader, PFS_BOX_MODULES, i * sizeof(module), &module,
				 sizeof(module));
		if (module.end == 0)
			break;
		struct pfs_box_module *more =
			realloc(snapshot->modules, (snapshot->module_count + 1) * sizeof(module));
		if (more == NULL)
			return false;
		snapshot->modules = more;
		if (module.build_id_bytes > sizeof(module.build_id))
			module.build_id_bytes = 0;
		pfs_take_text(module.path, module.path, sizeof(module.path));
		more[snapshot->module_count++] = module;
	}
	return true;
}

void pfs_take_stacks(const struct pfs_reader *reader, struct pfs_snapshot *snapshot)
{
	uint64_t records = pfs_reader_records(reader, PFS_BOX_CONTEXTS);
	struct pfs_box_context context;
	for (uint64_t i = 0; i < records; i++) {
		bool missed = false;
		uint32_t word;
		if (!pfs_reader_copy(reader, PFS_BOX_CONTEXTS, i, &context, &word, &missed))
			continue;
		uint64_t samples = pfs_load_relaxed(&context.samples); /* relaxed: a private copy */
		uint32_t unwound = pfs_load_relaxed(&context.unwound); /* relaxed: likewise */
		snapshot->stacks_taken += samples;
		snapshot->stacks_walked += samples > unwound ? samples - unwound : 0;
	}
}
