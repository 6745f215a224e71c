/*
 * method_random.c - searches by chance: a walk, sticky or not, with a slow actor; PCT; partial
 * order sampling; and in proportion to the steps that are left.
 */
#include "check/search/method.h"

#define LENGTH_GUESS 200u /* of an execution, for PCT's first one */
#define TURNS 9u

struct randoms {
	struct pfs_random_walk walk;
	struct pfs_pct pct;
	struct pfs_partial_order partial_order;
	struct pfs_weighted weighted;
};

static bool begin(struct pfs_searching *self)
{
	(void)self;
	return true;
}

static uint64_t seed_of(const struct pfs_searching *self, uint64_t n)
{
	return self->options->seed * UINT64_C(1000003) + n;
}

static struct pfs_scheduler *walk(struct pfs_searching *self, uint64_t n, uint32_t stay_percent,
				  uint32_t slow)
{
	struct randoms *own = self->own;
	pfs_random_walk_init(&own->walk, seed_of(self, n), stay_percent, slow);
	return &own->walk.scheduler;
}

static struct pfs_scheduler *plain(struct pfs_searching *self, uint64_t n)
{
	return walk(self, n, 0, PFS_ACTOR_NONE);
}

static struct pfs_scheduler *slow(struct pfs_searching *self, uint64_t n)
{
	return walk(self, n, 0, 0);
}

static struct pfs_scheduler *pct_of(struct pfs_searching *self, uint64_t n, uint32_t depth)
{
	struct randoms *own = self->own;
	pfs_pct_init(&own->pct, seed_of(self, n), depth,
		     self->longest != 0 ? self->longest : LENGTH_GUESS);
	return &own->pct.scheduler;
}

static struct pfs_scheduler *pct(struct pfs_searching *self, uint64_t n)
{
	return pct_of(self, n, 2 + (uint32_t)(n % 3));
}

static struct pfs_scheduler *pos(struct pfs_searching *self, uint64_t n)
{
	struct randoms *own = self->own;
	pfs_partial_order_init(&own->partial_order, seed_of(self, n));
	return &own->partial_order.scheduler;
}

static struct pfs_scheduler *urw(struct pfs_searching *self, uint64_t n)
{
	struct randoms *own = self->own;
	pfs_weighted_init(&own->weighted, seed_of(self, n));
	return &own->weighted.scheduler;
}

/* Stickiness of the first turns, the last of them with a slow actor; then the others. */
static struct pfs_scheduler *rotate(struct pfs_searching *self, uint64_t n)
{
	static const uint32_t stay_percents[] = { 0, 80, 95 };
	uint32_t turn = (uint32_t)(n % TURNS);
	if (turn < 3)
		return walk(self, n, stay_percents[turn], PFS_ACTOR_NONE);
	if (turn == 3)
		return walk(self, n, 0, (uint32_t)(n / TURNS % 3));
	return turn == 7 ? pos(self, n) : turn == 8 ? urw(self, n) : pct_of(self, n, turn - 2);
}

static bool next(struct pfs_searching *self)
{
	(void)self;
	return true;
}

#define RANDOM(method, by)                                     \
	const struct pfs_search_method pfs_method_##method = { \
		.name = #method,                               \
		.bytes = sizeof(struct randoms),                 \
		.is_random = true,                             \
		.takes_endless = true,                         \
		.begin = begin,                                \
		.scheduler = (by),                             \
		.next = next,                                  \
		.split = next,                                 \
	}
RANDOM(random, plain);
RANDOM(pct, pct);
RANDOM(slow, slow);
RANDOM(pos, pos);
RANDOM(urw, urw);
RANDOM(rotate, rotate);
