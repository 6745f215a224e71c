/*
 * decay.c - see decay.h.
 */
#include "decay.h"

#include <stdlib.h>
#include <string.h>

/*
 * With r = passes - age and d = passes, h is S(r / d), because S(1 - x) = 1 - S(x):
 *
 *	r^3 (6 r^2 - 15 r d + 10 d^2) / d^5
 *
 * Neither product exceeds 10^15, and the quotient is computed bit by bit, so only what lies below
 * the last bit is lost.
 */
uint32_t pfs_decay_weight(uint32_t passes, uint32_t age)
{
	uint64_t d = passes;
	uint64_t r = age < passes ? passes - age : 0;
	uint64_t divisor = d * d * d * d * d;
	uint64_t rest = r * r * r * (6 * r * r + 10 * d * d - 15 * r * d);
	uint32_t weight = 0;
	if (r == 0)
		return 0;
	for (uint32_t bit = 0; bit <= PFS_DECAY_BITS; bit++) {
		weight <<= 1;
		if (rest >= divisor) {
			rest -= divisor;
			weight |= 1;
		}
		rest <<= 1;
	}
	return weight;
}

bool pfs_decay_init(struct pfs_decay *self, uint32_t passes)
{
	*self = (struct pfs_decay){ .passes = passes };
	if (passes == 0)
		return true;
	self->weights = calloc(passes, sizeof(*self->weights));
	self->cohorts = calloc(passes, sizeof(*self->cohorts));
	if (self->weights == NULL || self->cohorts == NULL)
		return false;
	for (uint32_t age = 0; age < passes; age++)
		self->weights[age] = pfs_decay_weight(passes, age);
	return true;
}

void pfs_decay_fini(struct pfs_decay *self)
{
	free(self->weights);
	free(self->cohorts);
}

static uint32_t *cohort_at(const struct pfs_decay *self, uint32_t age)
{
	uint32_t place = self->newest + age;
	return &self->cohorts[place < self->passes ? place : place - self->passes];
}

void pfs_decay_turn(struct pfs_decay *self)
{
	if (self->passes == 0)
		return;
	/* The new cohort replaces the oldest one. */
	self->newest = (self->newest != 0 ? self->newest : self->passes) - 1;
	self->cohorts[self->newest] = 0;
}

void pfs_decay_enter(struct pfs_decay *self)
{
	if (self->passes != 0)
		(*cohort_at(self, 0))++;
}

void pfs_decay_leave(struct pfs_decay *self, uint32_t age)
{
	if (age < self->passes)
		(*cohort_at(self, age))--;
}

uint64_t pfs_decay_limit(const struct pfs_decay *self)
{
	/* At most 2^20 pages in each of 1000 cohorts: below 2^60. */
	uint64_t sum = UINT64_C(1) << (PFS_DECAY_BITS - 1); /* half a page, for rounding */
	for (uint32_t age = 0; age < self->passes; age++)
		sum += (uint64_t)*cohort_at(self, age) * self->weights[age];
	return sum >> PFS_DECAY_BITS;
}

void pfs_decay_clear(struct pfs_decay *self)
{
	if (self->passes != 0)
		memset(self->cohorts, 0, self->passes * sizeof(*self->cohorts));
}
