#include "ranges.h"

#include <string.h>

uint32_t pfs_ranges_find(const struct pfs_ranges *self, uintptr_t address)
{
	uint32_t low = 0, high = self->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->range[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void count_sums(struct pfs_ranges *self, const struct pfs_range *ranges, uint32_t count,
		       uint64_t sign)
{
	for (uint32_t i = 0; self->sums != NULL && i < count; i++) {
		self->sums[ranges[i].whose].ranges += sign;
		self->sums[ranges[i].whose].bytes += sign * (ranges[i].end - ranges[i].begin);
	}
}

/* Replaces `gone` ranges from `first` on by `come` others; false: no room. */
static bool replace(struct pfs_ranges *self, uint32_t first, uint32_t gone,
		    const struct pfs_range *others, uint32_t come)
{
	if (self->count - gone + come > self->max)
		return false;
	count_sums(self, &self->range[first], gone, UINT64_MAX);
	count_sums(self, others, come, 1);
	memmove(&self->range[first + come], &self->range[first + gone],
		(self->count - first - gone) * sizeof(*self->range));
	for (uint32_t i = 0; i < come; i++)
		self->range[first + i] = others[i];
	self->count = self->count - gone + come;
	return true;
}

/* The overlapping ranges are consecutive; parts of the first and the last may remain. */
void pfs_ranges_cut(struct pfs_ranges *self, uintptr_t begin, uintptr_t end)
{
	struct pfs_range left[2];
	uint32_t first = pfs_ranges_find(self, begin), last = first, count = 0;
	while (last < self->count && self->range[last].begin < end)
		last++;
	if (last == first || begin >= end)
		return;
	if (self->range[first].begin < begin)
		left[count++] = (struct pfs_range){ self->range[first].begin, begin,
						    self->range[first].whose };
	if (self->range[last - 1].end > end)
		left[count++] = (struct pfs_range){ end, self->range[last - 1].end,
						    self->range[last - 1].whose };
	if (replace(self, first, last - first, left, count))
		return;
	self->lost++; /* one range became two: drop the upper one */
	(void)replace(self, first, last - first, left, 1);
}

static bool is_joined(const struct pfs_ranges *self, uint32_t lower, uint32_t whose,
		      uintptr_t border)
{
	if (lower >= self->count || self->range[lower].whose != whose)
		return false;
	return self->range[lower].end == border || self->range[lower].begin == border;
}

void pfs_ranges_add(struct pfs_ranges *self, uintptr_t begin, uintptr_t end, uint32_t whose)
{
	struct pfs_range fresh = { begin, end, whose };
	if (begin >= end)
		return;
	pfs_ranges_cut(self, begin, end);
	uint32_t first = pfs_ranges_find(self, begin), gone = 0;
	if (is_joined(self, first, whose, end)) {
		fresh.end = self->range[first].end;
		gone = 1;
	}
	if (first > 0 && is_joined(self, first - 1, whose, begin)) {
		fresh.begin = self->range[--first].begin;
		gone++;
	}
	if (!replace(self, first, gone, &fresh, 1))
		self->lost++;
}
