/*
 * histogram_test.c - the buckets against sorted values, and at their edges.
 */
#include "histogram.h"

#include <stdio.h>
#include <stdlib.h>

static struct pfs_histogram one, two;
static int failures;

static void expect(int held, const char *what, uint64_t value)
{
	if (held)
		return;
	failures++;
	fprintf(stderr, "histogram_test: failed: %s (%llu)\n", what, (unsigned long long)value);
}

static int compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Buckets are in order, have no gap, and stay inside the array. */
static void check_edges(void)
{
	for (uint32_t bit = 0; bit < 64; bit++) {
		uint64_t value = UINT64_C(1) << bit;
		uint32_t below = pfs_histogram_bucket(value - 1);

		expect(pfs_histogram_bucket(value) == below + 1, "next bucket", value);
	}
	expect(pfs_histogram_bucket(UINT64_MAX) == PFS_HISTOGRAM_BUCKETS - 1, "last bucket", 0);
}

static void check_quantiles(void)
{
	enum { COUNT = 20000 };
	static uint64_t values[COUNT];
	static const double shares[] = { 0.001, 0.5, 0.9, 0.99, 0.999, 1.0 };
	uint64_t random = 88172645463325252u;

	pfs_histogram_init(&one);
	pfs_histogram_init(&two);
	expect(pfs_histogram_quantile(&one, 0.5) == 0, "empty", 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		values[i] = random >> (random & 63);
		pfs_histogram_add(i & 1 ? &one : &two, values[i]);
	}
	pfs_histogram_merge(&one, &two);
	qsort(values, COUNT, sizeof(values[0]), compare_u64);
	expect(one.total == COUNT, "total", one.total);
	expect(one.max == values[COUNT - 1], "maximum", one.max);
	for (uint32_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		uint64_t exact = values[(uint32_t)(shares[i] * COUNT + 0.5) - 1];
		uint64_t got = pfs_histogram_quantile(&one, shares[i]);

		expect(got >= exact && got - exact <= exact / 64, "quantile", exact);
	}
	expect(pfs_histogram_quantile(&one, 1.0) == one.max, "the last is the maximum", one.max);
}

int main(void)
{
	check_edges();
	check_quantiles();
	return failures == 0 ? 0 : 1;
}
