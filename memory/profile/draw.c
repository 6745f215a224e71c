/*
 * draw.c - random gaps and probabilities, without the mathematical library, because this is linked
 * into a library that is loaded into every program.
 */
#include "draw.h"

#include <string.h>

#include "base/random.h"

#define MANTISSA_BITS 52u
#define EXPONENT_BIAS 1023
#define LN_2 0.69314718055994530942
#define SQRT_2 1.41421356237309504880
#define GAP_MOST 0x1p63

/* number = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m - 1) / (m + 1)), a series
 * whose terms fall by more than 33 each. */
double pfs_draw_log(double number)
{
	uint64_t bits;
	memcpy(&bits, &number, sizeof(bits));
	int exponent = (int)(bits >> MANTISSA_BITS) - EXPONENT_BIAS;
	bits = (bits & ((UINT64_C(1) << MANTISSA_BITS) - 1)) | (uint64_t)EXPONENT_BIAS
								       << MANTISSA_BITS;
	double mantissa;
	memcpy(&mantissa, &bits, sizeof(mantissa));
	if (mantissa >= SQRT_2) {
		mantissa /= 2;
		exponent++;
	}
	static const double terms[] = { 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
					1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1 };
	double s = (mantissa - 1) / (mantissa + 1), square = s * s, sum = 0;
	for (unsigned i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		sum = sum * square + terms[i];
	return 2 * s * sum + exponent * LN_2;
}

/* From a uniform number in (0, 1]. */
uint64_t pfs_draw_gap(uint64_t *random, uint64_t interval)
{
	double uniform = (double)((pfs_random_next(random) >> 11) + 1) * 0x1p-53;
	double gap = -pfs_draw_log(uniform) * (double)interval;
	return gap < GAP_MOST ? (uint64_t)gap + 1 : (uint64_t)GAP_MOST;
}

/* p(2x) = p(x) (2 - p(x)): x is halved until the series is short enough to be exact in all digits.
 * */
double pfs_draw_chance(uint64_t bytes, uint64_t interval)
{
	double x = (double)bytes / (double)interval;
	int halves = 0;
	if (x > 64)
		return 1;
	for (; x > 0.5; halves++)
		x /= 2;
	double sum = 1;
	/* Of most blocks x is so small that fewer terms are exact: x^7 / 8! is below 2^-53. */
	for (int term = x < 0x1p-6 ? 7 : 16; term >= 2; term--)
		sum = 1 - x / term * sum;
	double chance = x * sum;
	while (halves-- > 0)
		chance *= 2 - chance;
	return chance;
}

uint64_t pfs_draw_round(uint64_t *random, double number)
{
	if (number >= GAP_MOST)
		return (uint64_t)GAP_MOST;
	uint64_t whole = (uint64_t)number;
	double uniform = (double)(pfs_random_next(random) >> 11) * 0x1p-53;
	return whole + (uniform < number - (double)whole);
}
