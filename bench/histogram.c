/*
 * histogram.c - merge and quantiles, see histogram.h.
 */
#include "histogram.h"

#include <string.h>

void pfs_histogram_init(struct pfs_histogram *self)
{
	memset(self, 0, sizeof(*self));
}

void pfs_histogram_merge(struct pfs_histogram *self, const struct pfs_histogram *other)
{
	for (uint32_t i = 0; i < PFS_HISTOGRAM_BUCKETS; i++)
		self->counts[i] += other->counts[i];
	self->total += other->total;
	if (other->max > self->max)
		self->max = other->max;
}

/* The highest value that pfs_histogram_bucket maps to this bucket. */
static uint64_t bucket_top(uint32_t bucket)
{
	if (bucket >> PFS_HISTOGRAM_BITS == 0)
		return bucket;
	uint32_t shift = (bucket >> PFS_HISTOGRAM_BITS) - 1;
	uint64_t low = (uint64_t)bucket - ((uint64_t)shift << PFS_HISTOGRAM_BITS);

	return (low << shift) + ((UINT64_C(1) << shift) - 1);
}

uint64_t pfs_histogram_quantile(const struct pfs_histogram *self, double share)
{
	double wanted = share * (double)self->total;
	uint64_t seen = 0;

	if (self->total == 0)
		return 0;
	for (uint32_t i = 0; i < PFS_HISTOGRAM_BUCKETS; i++) {
		seen += self->counts[i];
		if (self->counts[i] == 0 || (double)seen < wanted)
			continue;
		return bucket_top(i) < self->max ? bucket_top(i) : self->max;
	}
	return self->max;
}
