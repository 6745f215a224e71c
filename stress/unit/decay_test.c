/*
 * decay_test.c - surplus pages go along the curve: the number of pages after each pass, page
 * by page, against the formula of decay.h in floating point.
 */
#include <math.h>

#include "containers/decay.h"
#include "stress/harness/fixture.h"

#define PAGES 100u
#define SLOTS 4u
#define CAPACITY (PAGES * SLOTS)
#define IDLE 2u

static void prepare(struct pfs_fixture *self, const struct pfs_case *at, uint32_t decay_passes)
{
	pfs_fixture_prepare(self, at, PAGES, SLOTS);
	self->config.reclaim = (struct pfs_reclaim_config){ .idle_passes = IDLE,
							    .decay_passes = decay_passes };
}

static void empty_pages(struct pfs_fixture *self, uint32_t begin, uint32_t end)
{
	pfs_fixture_empty(self, begin * SLOTS, end * SLOTS);
}

static uint64_t pass(struct pfs_fixture *self)
{
	(void)pfs_reclaim_pass(self->thread);
	return pfs_fixture_pages(self);
}

/* What of a cohort may stay. */
static double share(double passes, double age)
{
	double x = age / passes;
	return age < passes ? 1 - x * x * x * (x * (6 * x - 15) + 10) : 0;
}

/* Is it the page nearest to the curve? On the edge between two, either. */
static bool is_near(uint64_t count, double wanted)
{
	return fabs((double)count - wanted) < 0.5 + 1e-6;
}

/* Every weight is the formula's, rounded down. Weights fall, from 1 to 0. */
static void weights(const struct pfs_case *at)
{
	const double one = (double)(UINT32_C(1) << PFS_DECAY_BITS);
	(void)at;
	for (uint32_t passes = 1; passes <= PFS_DECAY_PASSES_MAX; passes++) {
		uint32_t before = UINT32_C(1) << PFS_DECAY_BITS;
		PFS_CHECK_IS(pfs_decay_weight(passes, 0), before);
		PFS_CHECK_IS(pfs_decay_weight(passes, passes), 0);
		PFS_CHECK_IS(pfs_decay_weight(passes, passes + 1), 0);
		for (uint32_t age = 0; age < passes; age++) {
			uint32_t weight = pfs_decay_weight(passes, age);
			PFS_CHECK(weight <= before);
			PFS_CHECK(fabs(weight - share(passes, age) * one) < 1.5);
			before = weight;
		}
	}
}

static void along_the_curve(const struct pfs_case *at)
{
	static const uint32_t passes[] = { 1, 2, 7, 20, 64, 1000 };
	for (uint32_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		struct pfs_fixture it;
		uint64_t before = PAGES;
		prepare(&it, at, passes[i]);
		pfs_fixture_set_up(&it);
		pfs_fixture_fill(&it, CAPACITY);
		empty_pages(&it, 0, PAGES);
		for (uint32_t idle = 1; idle < IDLE; idle++)
			PFS_CHECK_IS(pass(&it), PAGES);
		for (uint32_t age = 0; age <= passes[i]; age++) {
			uint64_t now = pass(&it);
			PFS_CHECK(now <= before);
			PFS_CHECK(is_near(now, PAGES * share(passes[i], age)));
			before = now;
		}
		PFS_CHECK_IS(before, 0);
		PFS_CHECK_IS(pfs_counts_of(it.container).reclaimed, PAGES);
		pfs_fixture_tear_down(&it);
	}
}

static void at_once_without_decay(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, 0);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	empty_pages(&it, 0, PAGES);
	PFS_CHECK_IS(pass(&it), PAGES);
	PFS_CHECK_IS(pass(&it), 0);
	pfs_fixture_tear_down(&it);
}

/* Three cohorts, whose curves add up; the oldest pages go first. */
static void new_surplus_comes_on_top(const struct pfs_case *at)
{
	struct pfs_fixture it;
	const uint32_t passes = 20, size[] = { 50, 30, 20 }, begin[] = { 0, 6, 13 };
	prepare(&it, at, passes);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t i = 1; i < IDLE; i++)
		PFS_CHECK_IS(pass(&it), PAGES);
	for (uint32_t turn = 0; turn <= begin[2] + IDLE + passes; turn++) {
		double wanted = 0;
		uint32_t first = 0;
		for (uint32_t i = 0; i < 3; i++) {
			if (turn == begin[i])
				empty_pages(&it, first, first + size[i]);
			first += size[i];
			double age = (double)turn - begin[i] - (IDLE - 1);
			wanted += age < 0 ? size[i] : size[i] * share(passes, age);
		}
		PFS_CHECK(is_near(pass(&it), wanted));
	}
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	pfs_fixture_tear_down(&it);
}

/*
 * Surplus pages are used again in the middle of the curve. They leave it, while the others follow
 * theirs. When they are empty again, they start a new curve.
 */
static void used_again_is_surplus_no_more(const struct pfs_case *at)
{
	struct pfs_fixture it;
	const uint32_t passes = 40, middle = 20, used = 30, later = 5;
	uint64_t left = PAGES;
	prepare(&it, at, passes);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	empty_pages(&it, 0, PAGES);
	for (uint32_t i = 0; i < IDLE + middle; i++)
		left = pass(&it);
	PFS_CHECK_IS(left, PAGES / 2);
	pfs_fixture_fill(&it, used * SLOTS);
	/* No page is added while there are surplus ones. */
	PFS_CHECK_IS(pfs_fixture_pages(&it), left);
	uint64_t surplus = left - used;
	for (uint32_t age = middle + 1; age <= passes + 1; age++) {
		if (age == passes - later)
			empty_pages(&it, 0, PAGES);
		/* 70 left in the cohort, some of them given back before */
		double wanted = (PAGES - used) * share(passes, age);
		if ((double)surplus > wanted)
			surplus = (uint64_t)floor(wanted + 0.5);
		PFS_CHECK(is_near(pass(&it), used + (double)surplus));
	}
	PFS_CHECK_IS(pfs_fixture_pages(&it), used);
	for (uint32_t age = later + 1; age <= passes; age++)
		PFS_CHECK(is_near(pass(&it), used * share(passes, age)));
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	pfs_fixture_tear_down(&it);
}

/* The curve ends at what is kept in any case. */
static void ends_at(const struct pfs_case *at, const struct pfs_reclaim_config *reclaim,
		    uint32_t prealloc, uint32_t live_pages, uint32_t kept)
{
	struct pfs_fixture it;
	prepare(&it, at, reclaim->decay_passes);
	it.config.reclaim = *reclaim;
	it.config.page_prealloc = prealloc;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	empty_pages(&it, live_pages, PAGES);
	for (uint32_t idle = 1; idle < reclaim->idle_passes; idle++)
		PFS_CHECK_IS(pass(&it), PAGES);
	for (uint32_t age = 0; age <= reclaim->decay_passes; age++)
		PFS_CHECK(is_near(pass(&it),
				  kept + (PAGES - kept) * share(reclaim->decay_passes, age)));
	for (uint32_t i = 0; i < 5; i++)
		PFS_CHECK_IS(pass(&it), kept);
	empty_pages(&it, 0, live_pages);
	pfs_fixture_tear_down(&it);
}

static void what_is_kept_stays(const struct pfs_case *at)
{
	struct pfs_reclaim_config reclaim = { .idle_passes = 3, .decay_passes = 10 };
	ends_at(at, &reclaim, 0, 10, 10);
	ends_at(at, &reclaim, 25, 0, 25);
	reclaim.spare_pages = 7;
	ends_at(at, &reclaim, 0, 10, 17);
	reclaim.headroom_percent = 50;
	ends_at(at, &reclaim, 0, 10, 22);
	ends_at(at, &reclaim, 25, 10, 25);
}

/* now gives all of it back, and the next surplus has a curve of its own. */
static void now_does_not_wait(const struct pfs_case *at)
{
	struct pfs_fixture it;
	const uint32_t passes = 16;
	prepare(&it, at, passes);
	pfs_fixture_set_up(&it);
	for (uint32_t turn = 0; turn < 2; turn++) {
		pfs_fixture_fill(&it, CAPACITY);
		empty_pages(&it, 0, PAGES);
		for (uint32_t i = 1; i < IDLE; i++)
			PFS_CHECK_IS(pass(&it), PAGES);
		for (uint32_t age = 0; age <= passes / 2; age++)
			PFS_CHECK(is_near(pass(&it), PAGES * share(passes, age)));
		(void)pfs_reclaim_now(it.thread);
		PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	}
	pfs_fixture_tear_down(&it);
}

#define GIVES(title, function)                                                                \
	{                                                                                     \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_RECLAIM \
	}

static const struct pfs_test tests[] = {
	{ .name = "decay: weights", .run = weights },
	GIVES("decay: along the curve", along_the_curve),
	GIVES("decay: at once without", at_once_without_decay),
	GIVES("decay: new surplus comes on top", new_surplus_comes_on_top),
	GIVES("decay: used again is surplus no more", used_again_is_surplus_no_more),
	GIVES("decay: what is kept stays", what_is_kept_stays),
	GIVES("decay: now does not wait", now_does_not_wait),
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
