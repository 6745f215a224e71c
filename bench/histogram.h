/*
 * histogram.h - log-linear histogram of latencies: 64 buckets to each power of two.
 *
 * Any 64-bit value is counted, with an error of at most 1/64 of it; the maximum is exact. Follows
 * the idea of HdrHistogram, which Debian has for Go and Java only. One writer each; merge when the
 * writers are done.
 */
#ifndef PFS_BENCH_HISTOGRAM_H
#define PFS_BENCH_HISTOGRAM_H

#include <stdint.h>

#define PFS_HISTOGRAM_BITS 6
#define PFS_HISTOGRAM_BUCKETS ((64 - PFS_HISTOGRAM_BITS + 1) << PFS_HISTOGRAM_BITS)

struct pfs_histogram {
	uint64_t total;
	uint64_t max;
	uint64_t counts[PFS_HISTOGRAM_BUCKETS];
};

void pfs_histogram_init(struct pfs_histogram *self);
void pfs_histogram_merge(struct pfs_histogram *self, const struct pfs_histogram *other);

/* The smallest bucket that at least share (0..1) of the values do not exceed: its highest value, or
 * the maximum if that is less. 0 if nothing was counted. */
uint64_t pfs_histogram_quantile(const struct pfs_histogram *self, double share);

/* Below 64 each value has its bucket; above, the top 7 bits of a value choose it. */
static inline uint32_t pfs_histogram_bucket(uint64_t value)
{
	if (value >> PFS_HISTOGRAM_BITS == 0)
		return (uint32_t)value;
	uint32_t shift = (uint32_t)(63 - __builtin_clzll(value)) - PFS_HISTOGRAM_BITS;

	return (shift << PFS_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

static inline void pfs_histogram_add(struct pfs_histogram *self, uint64_t value)
{
	self->counts[pfs_histogram_bucket(value)]++;
	self->total++;
	if (value > self->max)
		self->max = value;
}

#endif
