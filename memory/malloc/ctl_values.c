/*
 * ctl_values.c - the names of mallctl that are no statistics: constants, options, actions, and
 * questions about a thread or an arena.
 */
#include <errno.h>
#include <pfslab/jemalloc.h>
#include <string.h>

#include "block.h"
#include "ctl.h"
#include "explicit.h"
#include "rings.h"
#include "watch.h"

/* ---- constants and options ---- */

static int give_number(const struct pfs_ctl *ctl, uint64_t value)
{
	/* The first bytes of a shorter number are the low ones. */
	return pfs_ctl_give(ctl, &value, ctl->row->bytes);
}

static int give_text(const struct pfs_ctl *ctl)
{
	const char *text = "";
	switch ((enum pfs_ctl_text)ctl->row->value) {
	case PFS_CTL_VERSION: text = "5.2.1-0-pfsmalloc"; break;
	case PFS_CTL_NO_CONF: break;
	case PFS_CTL_DSS:
	case PFS_CTL_PERCPU: text = "disabled"; break;
	case PFS_CTL_JUNK: text = pfs_conf.junk ? "true" : "false"; break;
	case PFS_CTL_THP: text = pfs_conf.thp == PFS_THP_NEVER ? "never" : "default"; break;
	}
	return pfs_ctl_give(ctl, &text, sizeof(text));
}

static int bin_value(const struct pfs_ctl *ctl)
{
	const struct pfs_class *class = &pfs_classes[ctl->at[0]];
	switch ((enum pfs_ctl_bin)ctl->row->value) {
	case PFS_CTL_BIN_SIZE: return give_number(ctl, class->size_bytes);
	case PFS_CTL_BIN_NREGS: return give_number(ctl, class->regions);
	case PFS_CTL_BIN_SLAB: return give_number(ctl, class->slab_bytes);
	case PFS_CTL_BIN_SHARDS: break;
	}
	return give_number(ctl, 1);
}

/* The large classes: four a doubling, from 4 << 12 on. */
static int lextent_value(const struct pfs_ctl *ctl)
{
	return give_number(ctl, (4 + ctl->at[0] % 4) << (12 + ctl->at[0] / 4));
}

/* ---- decay times ---- */

/* The range that the option accepts. */
static bool is_decay_ms(int64_t decay_ms, enum pfs_extent_kind kind)
{
	int64_t least = kind == PFS_EXTENT_DIRTY ? PFS_DECAY_LOW_WATER : -1;
	return decay_ms >= least && decay_ms <= PFS_DECAY_MS_MAX;
}

/* arena NULL: for arenas created later. A time of 0 also purges what is there now. */
static int decay_time(const struct pfs_ctl *ctl, struct pfs_arena *arena, enum pfs_extent_kind kind)
{
	int64_t before = arena != NULL ? pfs_arena_decay_ms(arena, kind)
				       : pfs_arenas_decay_ms(kind);
	int64_t after = before;
	int error = pfs_ctl_read(ctl, &before, sizeof(before));
	if (error == 0)
		error = pfs_ctl_write(ctl, &after, sizeof(after));
	if (error != 0 || ctl->new_value == NULL)
		return error;
	if (!is_decay_ms(after, kind))
		return EFAULT;
	if (arena == NULL) {
		pfs_arenas_set_decay_ms(kind, after);
		return 0;
	}
	pfs_arena_set_decay_ms(arena, kind, after);
	if (after == 0)
		(void)pfs_tick_purge(arena);
	return 0;
}

/* ---- an arena, or all of them ---- */

static bool is_all(size_t index)
{
	return index == MALLCTL_ARENAS_ALL || index == pfs_arena_count();
}

static void purge(size_t index)
{
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		if (arena->number == index || is_all(index))
			(void)pfs_tick_purge(arena);
}

/* For an action, which neither reads nor writes a value; 0: do it. */
static int refuse_values(const struct pfs_ctl *ctl)
{
	int error = pfs_ctl_refuse_new(ctl);
	return error != 0 ? error : pfs_ctl_refuse_old(ctl);
}

/* Does an arena use sbrk where mmap fails? It may be set, but no memory comes from sbrk: so
 * "primary" is refused, which would ask for it first. */
static int arena_dss(const struct pfs_ctl *ctl, struct pfs_arena *arena)
{
	static const char *const names[] = { "disabled", "secondary" };
	/* relaxed, here and below: a setting. */
	uint32_t is_on = arena != NULL && pfs_load_relaxed(&arena->is_secondary) != 0;
	const char *before = names[is_on], *after = before;
	int error = pfs_ctl_write(ctl, &after, sizeof(after));
	if (error == 0 && strcmp(after, "primary") == 0)
		error = EFAULT;
	else if (error == 0 && strcmp(after, names[0]) != 0 && strcmp(after, names[1]) != 0)
		error = EINVAL;
	if (error != 0)
		return error;
	for (struct pfs_arena *at = arena; ctl->new_value != NULL;) {
		at = arena != NULL ? arena : pfs_arena_next(at);
		if (at != NULL) /* relaxed: see above */
			pfs_store_relaxed(&at->is_secondary, strcmp(after, names[1]) == 0);
		if (at == NULL || arena != NULL)
			break;
	}
	return pfs_ctl_read(ctl, &before, sizeof(before));
}

static int arena_value(const struct pfs_ctl *ctl)
{
	enum pfs_ctl_arena what = (enum pfs_ctl_arena)ctl->row->value;
	size_t index = ctl->at[0];
	struct pfs_arena *arena = is_all(index) ? NULL : pfs_arena_if_any((uint32_t)index);
	bool is_done = what == PFS_CTL_ARENA_PURGE || what == PFS_CTL_ARENA_DECAY ||
		       what == PFS_CTL_ARENA_REFUSED;
	int error = is_done ? refuse_values(ctl) : 0;
	if (error != 0)
		return error;
	switch (what) {
	case PFS_CTL_ARENA_INITIALIZED: return give_number(ctl, arena != NULL || is_all(index));
	case PFS_CTL_ARENA_PURGE: purge(index); return 0;
	case PFS_CTL_ARENA_DECAY: pfs_tick_if_time(); return 0;
	case PFS_CTL_ARENA_REFUSED: return EFAULT;
	case PFS_CTL_ARENA_DSS:
		return arena == NULL && !is_all(index) ? EFAULT : arena_dss(ctl, arena);
	case PFS_CTL_ARENA_DIRTY:
	case PFS_CTL_ARENA_MUZZY: break;
	}
	arena = is_all(index) ? NULL : pfs_arena_at((uint32_t)index);
	if (arena == NULL)
		return EFAULT;
	return decay_time(ctl, arena,
			  what == PFS_CTL_ARENA_DIRTY ? PFS_EXTENT_DIRTY : PFS_EXTENT_MUZZY);
}

/* Did the caller give room for the new number? Reading the name creates the object. */
static int want_old(const struct pfs_ctl *ctl, size_t bytes)
{
	bool is_right = ctl->old_value != NULL && ctl->old_length != NULL &&
			*ctl->old_length == bytes;
	if (!is_right && ctl->old_length != NULL)
		*ctl->old_length = 0;
	return is_right ? 0 : EINVAL;
}

/* A program's own extent hooks are refused: this allocator could not purge their pages. */
static int arena_create(const struct pfs_ctl *ctl)
{
	void *hooks = NULL;
	int error = want_old(ctl, sizeof(uint32_t));
	if (error == 0)
		error = pfs_ctl_write(ctl, &hooks, sizeof(hooks));
	if (error == 0 && hooks != NULL)
		error = EFAULT;
	if (error != 0)
		return error;
	struct pfs_arena *arena = pfs_arena_create();
	return arena != NULL ? pfs_ctl_read(ctl, &arena->number, sizeof(arena->number)) : EAGAIN;
}

/* The arena of a block. */
static int arena_lookup(const struct pfs_ctl *ctl)
{
	void *block = NULL;
	int error = pfs_ctl_write(ctl, &block, sizeof(block));
	if (error != 0)
		return error;
	struct pfs_extent *extent = pfs_map_extent(pfs_map_entry_or_none((uintptr_t)block));
	if (extent == NULL || pfs_extent_kind(extent) < PFS_EXTENT_LARGE)
		return EINVAL;
	const struct pfs_arena *arena = pfs_extent_arena(extent);
	if (arena == NULL) /* freed meanwhile */
		return EINVAL;
	uint32_t number = arena->number;
	return pfs_ctl_read(ctl, &number, sizeof(number));
}

/* ---- the thread, and thread caches ---- */

static int thread_arena(const struct pfs_ctl *ctl)
{
	(void)pfs_arenas_settle();
	uint32_t before = pfs_cache_arena()->number;
	uint32_t after = before;
	int error = pfs_ctl_write(ctl, &after, sizeof(after));
	if (error == 0)
		error = pfs_ctl_read(ctl, &before, sizeof(before));
	if (error != 0 || after == before)
		return error;
	if (after >= pfs_arena_count())
		return EFAULT;
	struct pfs_arena *arena = pfs_arena_at(after);
	if (arena == NULL)
		return EAGAIN;
	pfs_cache_bind(arena);
	return 0;
}

static int tcache_enabled(const struct pfs_ctl *ctl)
{
	bool before = pfs_cache_attached()->is_enabled;
	bool after = before;
	int error = pfs_ctl_write(ctl, &after, sizeof(after));
	if (error == 0 && after != before)
		(void)pfs_cache_enable(after);
	return error != 0 ? error : pfs_ctl_read(ctl, &before, sizeof(before));
}

static int tcache_flush(const struct pfs_ctl *ctl)
{
	int error = refuse_values(ctl);
	if (error == 0 && !pfs_cache_attached()->is_enabled)
		error = EFAULT;
	if (error == 0)
		pfs_cache_flush();
	return error;
}

static int idle(const struct pfs_ctl *ctl)
{
	int error = refuse_values(ctl);
	if (error == 0)
		pfs_cache_flush();
	return error;
}

static int explicit_create(const struct pfs_ctl *ctl)
{
	int error = pfs_ctl_refuse_new(ctl);
	if (error == 0)
		error = want_old(ctl, sizeof(uint32_t));
	if (error != 0)
		return error;
	uint32_t number = pfs_explicit_create();
	return number < PFS_EXPLICIT_MAX ? pfs_ctl_read(ctl, &number, sizeof(number)) : EFAULT;
}

static int explicit_end(const struct pfs_ctl *ctl, bool (*end)(uint32_t number))
{
	uint32_t number = UINT32_MAX;
	int error = pfs_ctl_refuse_old(ctl);
	if (error == 0)
		error = ctl->new_value == NULL ? EINVAL
					       : pfs_ctl_write(ctl, &number, sizeof(number));
	if (error != 0)
		return error;
	return end(number) ? 0 : EFAULT;
}

/* ---- the heap profile of a library that has one ---- */

#define LG_SAMPLE_MOST 62u

static int prof_active(const struct pfs_ctl *ctl)
{
	bool before = pfs_ctl_counting.profile_is_active();
	bool after = before;
	int error = pfs_ctl_write(ctl, &after, sizeof(after));
	if (error == 0 && after != before)
		pfs_ctl_counting.profile_activate(after);
	return error != 0 ? error : pfs_ctl_read(ctl, &before, sizeof(before));
}

static int prof_dump(const struct pfs_ctl *ctl)
{
	const char *path = NULL;
	int error = pfs_ctl_refuse_old(ctl);
	if (error == 0)
		error = pfs_ctl_write(ctl, &path, sizeof(path));
	return error != 0 ? error : pfs_ctl_counting.profile_dump(path);
}

/* As in jemalloc, a number beyond the range is its end. */
static int prof_reset(const struct pfs_ctl *ctl, uint32_t lg_before)
{
	size_t lg = lg_before;
	int error = pfs_ctl_refuse_old(ctl);
	if (error == 0)
		error = pfs_ctl_write(ctl, &lg, sizeof(lg));
	if (error != 0)
		return error;
	lg = lg < 1 ? 1 : lg > LG_SAMPLE_MOST ? LG_SAMPLE_MOST : lg;
	return pfs_ctl_counting.profile_restart((uint32_t)lg);
}

static int prof_value(const struct pfs_ctl *ctl)
{
	uint32_t lg = &pfs_ctl_counting != NULL ? pfs_ctl_counting.profile_lg() : 0;
	if ((enum pfs_ctl_do)ctl->row->value == PFS_CTL_PROF)
		return give_number(ctl, lg != 0);
	if (lg == 0)
		return ENOENT;
	switch ((enum pfs_ctl_do)ctl->row->value) {
	case PFS_CTL_PROF_LG: return give_number(ctl, lg);
	case PFS_CTL_PROF_ACTIVE: return prof_active(ctl);
	case PFS_CTL_PROF_DUMP: return prof_dump(ctl);
	case PFS_CTL_PROF_RESET: return prof_reset(ctl, lg);
	default: return ENOENT;
	}
}

/* ---- the rest ---- */

static int epoch(const struct pfs_ctl *ctl)
{
	uint64_t number = 0;
	int error = pfs_ctl_write(ctl, &number, sizeof(number));
	if (error == 0 && ctl->new_value != NULL)
		error = pfs_ctl_refresh(&number);
	else if (error == 0)
		number = pfs_ctl_epoch();
	return error != 0 ? error : pfs_ctl_read(ctl, &number, sizeof(number));
}

static int background(const struct pfs_ctl *ctl)
{
	bool before = pfs_tick_has_thread();
	bool after = before;
	int error = pfs_ctl_write(ctl, &after, sizeof(after));
	if (error == 0)
		error = pfs_ctl_read(ctl, &before, sizeof(before));
	if (error == 0 && ctl->new_value != NULL)
		pfs_tick_set_thread(after);
	return error;
}

/* There is at most one thread. */
static int background_max(const struct pfs_ctl *ctl)
{
	size_t before = 1;
	size_t after = before;
	int error = pfs_ctl_write(ctl, &after, sizeof(after));
	if (error == 0 && after != before)
		error = EINVAL;
	return error != 0 ? error : pfs_ctl_read(ctl, &before, sizeof(before));
}

static int narenas(const struct pfs_ctl *ctl, bool by_default)
{
	uint32_t settled = pfs_arenas_settle();
	return give_number(ctl, by_default ? settled : pfs_arena_count());
}

static int thread_bytes(const struct pfs_ctl *ctl)
{
	enum pfs_ctl_do what = (enum pfs_ctl_do)ctl->row->value;
	bool is_freed = what == PFS_CTL_DEALLOCATED || what == PFS_CTL_DEALLOCATED_AT;
	if (what == PFS_CTL_ALLOCATED_AT || what == PFS_CTL_DEALLOCATED_AT) {
		uint64_t *counter = is_freed ? &pfs_own.freed : &pfs_own.allocated;
		return pfs_watch() ? pfs_ctl_give(ctl, &counter, sizeof(counter)) : EAGAIN;
	}
	struct pfs_cache_bytes bytes = pfs_cache_own_bytes();
	return give_number(ctl, is_freed ? bytes.freed : bytes.allocated);
}

static int do_thread(const struct pfs_ctl *ctl)
{
	switch ((enum pfs_ctl_do)ctl->row->value) {
	case PFS_CTL_THREAD_ARENA: return thread_arena(ctl);
	case PFS_CTL_ALLOCATED:
	case PFS_CTL_DEALLOCATED:
	case PFS_CTL_ALLOCATED_AT:
	case PFS_CTL_DEALLOCATED_AT: return thread_bytes(ctl);
	case PFS_CTL_TCACHE_ENABLED: return tcache_enabled(ctl);
	case PFS_CTL_TCACHE_FLUSH: return tcache_flush(ctl);
	case PFS_CTL_IDLE: return idle(ctl);
	case PFS_CTL_EXPLICIT_CREATE: return explicit_create(ctl);
	case PFS_CTL_EXPLICIT_FLUSH: return explicit_end(ctl, pfs_explicit_flush);
	case PFS_CTL_EXPLICIT_DESTROY: return explicit_end(ctl, pfs_explicit_destroy);
	default: return prof_value(ctl);
	}
}

static int do_value(const struct pfs_ctl *ctl)
{
	switch ((enum pfs_ctl_do)ctl->row->value) {
	case PFS_CTL_EPOCH: return epoch(ctl);
	case PFS_CTL_BACKGROUND: return background(ctl);
	case PFS_CTL_BACKGROUND_MAX: return background_max(ctl);
	case PFS_CTL_NARENAS: return narenas(ctl, false);
	case PFS_CTL_NARENAS_OPT: return narenas(ctl, true);
	case PFS_CTL_CREATE: return arena_create(ctl);
	case PFS_CTL_LOOKUP: return arena_lookup(ctl);
	case PFS_CTL_DIRTY_DECAY: return decay_time(ctl, NULL, PFS_EXTENT_DIRTY);
	case PFS_CTL_MUZZY_DECAY: return decay_time(ctl, NULL, PFS_EXTENT_MUZZY);
	default: return do_thread(ctl);
	}
}

int pfs_ctl_value(const struct pfs_ctl *ctl)
{
	const struct pfs_ctl_row *row = ctl->row;
	switch ((enum pfs_ctl_group)row->group) {
	case PFS_CTL_CONST: return give_number(ctl, row->value);
	case PFS_CTL_CONF:
		return pfs_ctl_give(ctl, (const char *)&pfs_conf + row->value, row->bytes);
	case PFS_CTL_TEXT: return give_text(ctl);
	case PFS_CTL_DO: return do_value(ctl);
	case PFS_CTL_BIN: return bin_value(ctl);
	case PFS_CTL_LEXTENT: return lextent_value(ctl);
	case PFS_CTL_ARENA: return arena_value(ctl);
	default: return ENOENT;
	}
}

bool pfs_ctl_has_index(const struct pfs_ctl_row *row, uint32_t place, size_t index)
{
	switch ((enum pfs_ctl_group)row->group) {
	case PFS_CTL_BIN: return index < PFS_SMALL_COUNT;
	case PFS_CTL_LEXTENT: return index < PFS_CTL_LEXTENTS;
	case PFS_CTL_ARENA:
		(void)pfs_arenas_settle();
		return index < pfs_arena_count() || is_all(index);
	default: /* statistics: an arena's index, then a bin's */
		return place == 0 ? pfs_ctl_stat_has_arena(index) : index < PFS_SMALL_COUNT;
	}
}
