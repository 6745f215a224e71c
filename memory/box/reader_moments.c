/*
 * reader_moments.c - read the history of stacks: the moments that are whole, in their order.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "reader_inside.h"
#include "reader_profile.h"

/* Is it one that was kept at that place? */
static bool is_there(const struct pfs_box_moment *moment, uint32_t place, uint64_t last)
{
	return moment->number >= 1 && moment->number <= last &&
	       pfs_moment_place(moment->number) == place && moment->count <= PFS_MOMENT_STACKS;
}

/* Was the place written while it was read, or is it being written? first: the moment after the last
 * one before the read; last: the one after the last one behind it. */
static bool is_torn(uint32_t place, uint64_t first, uint64_t last)
{
	if (first == 0 || last < first || last - first >= PFS_MOMENTS_KEPT)
		return true;
	for (uint64_t n = first; n <= last; n++)
		if (pfs_moment_place(n) == place)
			return true;
	return false;
}

static bool take(struct pfs_seen_moment *to, const struct pfs_box_moment *from)
{
	*to = (struct pfs_seen_moment){
		.number = from->number,
		.realtime_ns = from->realtime_ns,
		.no_stack_bytes = from->no_stack_bytes,
		.others_bytes = from->others_bytes,
		.others_most = from->others_most,
		.others = from->others,
		.count = from->count,
		.stacks = malloc((from->count + 1) * sizeof(*to->stacks)),
	};
	for (uint32_t i = 0; to->stacks != NULL && i < from->count; i++)
		to->stacks[i] = (struct pfs_seen_held){ from->stacks[i].stack,
							from->stacks[i].blocks,
							from->stacks[i].bytes };
	return to->stacks != NULL;
}

static int oldest_first(const void *one, const void *other)
{
	const struct pfs_seen_moment *a = one, *b = other;
	return (a->number > b->number) - (a->number < b->number);
}

bool pfs_take_moments(const struct pfs_reader *reader, struct pfs_seen_moment *moments,
		      uint32_t *count)
{
	struct pfs_box_head *head = pfs_reader_head(reader);
	uint64_t room = reader->regions[PFS_BOX_MOMENTS].bytes / sizeof(struct pfs_box_moment);
	/* [PM2] acquire, pairs with [PM1]: see there. */
	uint64_t last = pfs_load_acquire(&head->moments);
	*count = 0;
	if (last == 0 || room < PFS_MOMENTS_KEPT)
		return true;
	struct pfs_box_moment *moment = malloc(sizeof(*moment));
	bool fine = moment != NULL;
	for (uint32_t place = 0; fine && place < PFS_MOMENTS_KEPT; place++) {
		pfs_reader_array(reader, PFS_BOX_MOMENTS, place * sizeof(*moment), moment,
				 sizeof(*moment));
		/* [PM2] acquire: a place that was being overwritten shows that here, by [L5]. */
		uint64_t now = pfs_load_acquire(&head->moments);
		if (!is_there(moment, place, last) || is_torn(place, last + 1, now + 1))
			continue;
		fine = take(&moments[*count], moment);
		*count += fine;
	}
	free(moment);
	qsort(moments, *count, sizeof(*moments), oldest_first);
	return fine;
}
