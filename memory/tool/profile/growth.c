/*
 * growth.c - adds the stacks of each moment up by the lines that hold them.
 */
#include "growth.h"

#include <stdlib.h>
#include <string.h>

static bool has_moment(const struct pfs_growth *self, uint32_t moment)
{
	for (uint32_t i = 0; i < self->moment_count; i++)
		if (self->moments[i] == moment)
			return true;
	return false;
}

static int newest_first(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;
	return (*a < *b) - (*a > *b);
}

static void choose(struct pfs_growth *self, const struct pfs_heap *heap, uint32_t most)
{
	uint64_t oldest = heap->moments[0].when_ns, now = heap->taken_ns;
	uint64_t age = now > oldest ? now - oldest : 0;
	self->moments[self->moment_count++] = 0;
	for (; self->moment_count < most && heap->moment_count > most && age != 0; age /= 4) {
		uint32_t moment = pfs_heap_moment_near(heap, now - age);
		if (!has_moment(self, moment))
			self->moments[self->moment_count++] = moment;
	}
	for (uint32_t i = 1; i < heap->moment_count && heap->moment_count <= most; i++)
		self->moments[self->moment_count++] = i;
	qsort(self->moments, self->moment_count, sizeof(self->moments[0]), newest_first);
}

static void add_up(struct pfs_growth *self, const struct pfs_heap *heap, uint32_t column)
{
	const struct pfs_heap_moment *moment = &heap->moments[self->moments[column]];
	for (uint32_t i = 0; i < self->holders.count; i++)
		self->bytes[(size_t)i * self->moment_count + column] = moment->others != 0 ? -1 : 0;
	for (uint32_t i = 0; i < moment->count; i++) {
		uint32_t holder = self->holders.of_stack[moment->held[i].stack];
		if (holder >= self->holders.count)
			continue;
		double *bytes = &self->bytes[(size_t)holder * self->moment_count + column];
		*bytes = (*bytes > 0 ? *bytes : 0) + moment->held[i].bytes;
	}
}

bool pfs_growth_make(struct pfs_growth *self, struct pfs_heap *heap, const struct pfs_rules *rules,
		     bool by_name, uint32_t moments_most)
{
	const struct pfs_holders_options options = { .by_name = by_name, .by_growth = true };
	memset(self, 0, sizeof(*self));
	if (heap->moment_count == 0)
		return true;
	pfs_heap_since(heap, 0);
	if (heap->failed || !pfs_holders_make(&self->holders, heap, rules, &options))
		return false;
	choose(self, heap, moments_most < PFS_MOMENTS_KEPT ? moments_most : PFS_MOMENTS_KEPT);
	self->bytes = calloc((size_t)self->holders.count * self->moment_count + 1,
			     sizeof(*self->bytes));
	for (uint32_t i = 0; self->bytes != NULL && i < self->moment_count; i++)
		add_up(self, heap, i);
	return self->bytes != NULL;
}

void pfs_growth_drop(struct pfs_growth *self)
{
	pfs_holders_drop(&self->holders);
	free(self->bytes);
	memset(self, 0, sizeof(*self));
}
