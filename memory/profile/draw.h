/*
 * draw.h - the distance to the next sampled byte, and what a sampled block stands for.
 *
 * Gaps are exponential, so they have no memory: a new one may be drawn at any moment that does not
 * depend on the bytes to come, and each byte remains equally likely to be sampled. In whole bytes:
 * P(gap <= n) = 1 - exp(-n / interval), which is the probability that a block of n bytes is
 * sampled.
 */
#ifndef PFS_PROFILE_DRAW_H
#define PFS_PROFILE_DRAW_H

#include <stdint.h>

/* pfs_draw_gap - the number of the next sampled byte, from 1 on. *random: not 0; it is advanced. */
uint64_t pfs_draw_gap(uint64_t *random, uint64_t interval);

/* pfs_draw_chance - 1 - exp(-bytes / interval): the probability that a block of this size is
 * sampled. */
double pfs_draw_chance(uint64_t bytes, uint64_t interval);

/* pfs_draw_round - a nonnegative number, randomly rounded up or down so that sums are unbiased. */
uint64_t pfs_draw_round(uint64_t *random, double number);

/* pfs_draw_log - the natural logarithm of a number above 0, to 4 units in the last place. */
double pfs_draw_log(double number);

#endif
