/*
 * estimate_test.c - estimates of all blocks from samples, many times over. The true bytes and
 * objects of five stacks with mixed sizes lie in the 95 % interval as often as they should, and the
 * mean is right. The logarithm and the probabilities are compared with the mathematical library's.
 *
 * Source of the mixes: if sums are weighted only after they are added up, the objects of three of
 * them are wrong by a factor of 10 to 90.
 *
 * usage: sampling_estimate [SEEDS]
 *        sampling_estimate errors [SEEDS]   the errors of estimates by the number of samples,
 *                                           compared with the theory; a line of JSON
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "memory/profile/draw.h"

#define INTERVAL (UINT64_C(1) << 19)
#define PARTS 4u
#define Z_95 1.959964
#define MEAN_ERROR_MOST 0.005
#define HELD_LEAST 0.93
#define HELD_MOST 0.97

/* `count` blocks of each size, one size after the other, repeated for `rounds`. */
static const struct mix {
	const char *name;
	struct {
		uint64_t bytes, count;
	} parts[PARTS];
	uint64_t rounds;
} mixes[] = {
	{ "64", { { 64, 100 } }, 20000 },
	{ "99 % 64, 1 % 64K", { { 64, 99 }, { 65536, 1 } }, 15000 },
	{ "90 % 64, 10 % 1M", { { 64, 90 }, { 1048576, 10 } }, 12000 },
	{ "1K, 64K, 512K", { { 1024, 8 }, { 65536, 8 }, { 524288, 8 } }, 10000 },
	{ "64, 1K, 64K, 1M", { { 64, 60 }, { 1024, 30 }, { 65536, 9 }, { 1048576, 1 } }, 20000 },
};
#define MIXES (sizeof(mixes) / sizeof(mixes[0]))

struct sums {
	uint64_t objects_256ths, bytes; /* as stored in a context */
	double objects_variance, bytes_variance;
};

/* One run over a mix, as a cell and its samples do it. Blocks far from the next sampled byte are
 * skipped in one step. */
static void run(const struct mix *mix, const double *chances, uint64_t seed, struct sums *sums)
{
	uint64_t random = pfs_random_seed(seed, 1), now = 0, round_bytes = 0;
	uint64_t sample_at = pfs_draw_gap(&random, INTERVAL);
	*sums = (struct sums){ 0, 0, 0, 0 };
	for (uint32_t part = 0; part < PARTS; part++)
		round_bytes += mix->parts[part].bytes * mix->parts[part].count;
	for (uint64_t round = 0; round < mix->rounds; round++) {
		if (sample_at > now + round_bytes) {
			now += round_bytes;
			continue;
		}
		for (uint32_t part = 0; part < PARTS && mix->parts[part].count != 0; part++) {
			uint64_t bytes = mix->parts[part].bytes;
			double chance = chances[part];
			uint64_t left = mix->parts[part].count;
			while (left != 0) {
				uint64_t passed = (sample_at - now - 1) / bytes;
				if (passed >= left) {
					now += left * bytes;
					break;
				}
				left -= passed + 1;
				now += (passed + 1) * bytes;
				sample_at = now + pfs_draw_gap(&random, INTERVAL);
				sums->objects_256ths += pfs_draw_round(&random, 256 / chance);
				sums->bytes += pfs_draw_round(&random, (double)bytes / chance);
				double variance = (1 - chance) / (chance * chance);
				sums->objects_variance += variance;
				sums->bytes_variance += variance * (double)bytes * (double)bytes;
			}
		}
	}
}

/* Over all seeds. */
struct judgement {
	double error; /* the sum of relative errors */
	uint32_t held;
};

static void judge(struct judgement *judgement, double estimate, double variance, double truth)
{
	judgement->error += (estimate - truth) / truth;
	judgement->held += fabs(estimate - truth) <= Z_95 * sqrt(variance);
}

static bool is_fine(const struct mix *mix, const char *what, const struct judgement *judgement,
		    uint32_t seeds)
{
	double error = judgement->error / seeds, held = (double)judgement->held / seeds;
	bool fine = fabs(error) < MEAN_ERROR_MOST && held >= HELD_LEAST && held <= HELD_MOST;
	(void)printf("%-18s %-8s mean error %+.3f %%, in the interval %.1f %%%s\n", mix->name, what,
		     100 * error, 100 * held, fine ? "" : ": FAILED");
	return fine;
}

static bool estimate(const struct mix *mix, uint32_t seeds)
{
	struct judgement of_objects = { 0, 0 }, of_bytes = { 0, 0 };
	double objects = 0, bytes = 0, chances[PARTS] = { 0 };
	for (uint32_t part = 0; part < PARTS; part++) {
		double count = (double)(mix->parts[part].count * mix->rounds);
		objects += count;
		bytes += count * (double)mix->parts[part].bytes;
		chances[part] = pfs_draw_chance(mix->parts[part].bytes, INTERVAL);
	}
	for (uint32_t seed = 1; seed <= seeds; seed++) {
		struct sums sums;
		run(mix, chances, seed, &sums);
		judge(&of_objects, (double)sums.objects_256ths / 256, sums.objects_variance,
		      objects);
		judge(&of_bytes, (double)sums.bytes, sums.bytes_variance, bytes);
	}
	bool fine = is_fine(mix, "objects", &of_objects, seeds);
	return is_fine(mix, "bytes", &of_bytes, seeds) && fine;
}

static bool check_functions(void)
{
	double log_worst = 0, chance_worst = 0;
	uint64_t random = 1;
	for (int i = 0; i < 1000000; i++) {
		double number = ldexp((double)((pfs_random_next(&random) >> 11) + 1), -53);
		double want = log(number), have = pfs_draw_log(number);
		double error = want != 0 ? fabs((have - want) / want) : fabs(have);
		log_worst = error > log_worst ? error : log_worst;
		uint64_t bytes = pfs_random_next(&random) >> (pfs_random_next(&random) % 64);
		unsigned lg = (unsigned)(pfs_random_next(&random) % 62) + 1;
		want = -expm1(-ldexp((double)bytes, -(int)lg));
		have = pfs_draw_chance(bytes, UINT64_C(1) << lg);
		error = bytes != 0 ? fabs((have - want) / want) : fabs(have);
		chance_worst = error > chance_worst ? error : chance_worst;
	}
	bool fine = log_worst < 1e-15 && chance_worst < 1e-14;
	(void)printf("logarithm %.1e, chance %.1e relative error at most%s\n", log_worst,
		     chance_worst, fine ? "" : ": FAILED");
	return fine;
}

/* Gaps of all means: the fraction that is at most the mean. */
static bool check_gaps(void)
{
	bool fine = true;
	for (unsigned lg = 1; lg <= 62; lg++) {
		uint64_t random = lg, interval = UINT64_C(1) << lg;
		uint32_t below = 0, count = 20000;
		for (uint32_t i = 0; i < count; i++)
			below += pfs_draw_gap(&random, interval) <= interval;
		double want = 1 - exp(-1), have = (double)below / count;
		if (fabs(have - want) > 4 * sqrt(want * (1 - want) / count)) {
			(void)printf("FAILED: of gaps with a mean of 2^%u are %.4f at most that, "
				     "not %.4f\n",
				     lg, have, want);
			fine = false;
		}
	}
	return fine;
}

/* ---- errors by the number of samples ---- */

/* For a mix that is long enough for an expected number of samples: the root mean square of the
 * relative error of its bytes, and its theoretical value. */
static void print_error(const struct mix *mix, uint32_t expected, uint32_t seeds)
{
	double chances[PARTS] = { 0 }, samples = 0, variance = 0, bytes = 0, squares = 0;
	struct mix longer = *mix;
	for (uint32_t part = 0; part < PARTS; part++) {
		double count = (double)mix->parts[part].count;
		double size = (double)mix->parts[part].bytes;
		if (mix->parts[part].count == 0)
			continue;
		chances[part] = pfs_draw_chance(mix->parts[part].bytes, INTERVAL);
		samples += count * chances[part];
		bytes += count * size;
		variance += count * size * size * (1 - chances[part]) / chances[part];
	}
	longer.rounds = (uint64_t)ceil(expected / samples);
	double rounds = (double)longer.rounds;
	for (uint32_t seed = 1; seed <= seeds; seed++) {
		struct sums sums;
		run(&longer, chances, seed, &sums);
		double error = (double)sums.bytes / (bytes * rounds) - 1;
		squares += error * error;
	}
	(void)printf("{\"mix\": \"%s\", \"samples\": %.1f, \"error\": %.6f, "
		     "\"theory\": %.6f}",
		     mix->name, samples * rounds, sqrt(squares / seeds),
		     sqrt(variance / rounds) / bytes);
}

static int print_errors(uint32_t seeds)
{
	static const uint32_t samples[] = { 3, 10, 30, 100, 300, 1000, 3000, 10000 };
	(void)printf("{\"seeds\": %" PRIu32 ", \"errors\": [", seeds);
	for (size_t i = 0; i < MIXES; i++) {
		for (size_t k = 0; k < sizeof(samples) / sizeof(samples[0]); k++) {
			(void)printf("%s", i + k == 0 ? "" : ",\n");
			print_error(&mixes[i], samples[k], seeds);
		}
	}
	(void)printf("]}\n");
	return 0;
}

int main(int argc, char **argv)
{
	bool of_errors = argc > 1 && strcmp(argv[1], "errors") == 0;
	const char *word = argc > 1 + of_errors ? argv[1 + of_errors] : "1000";
	uint32_t seeds = (uint32_t)strtoul(word, NULL, 10);
	if (seeds == 0) {
		(void)fprintf(stderr, "sampling_estimate: '%s': a number of seeds, from 1 on\n",
			      word);
		return 2;
	}
	if (of_errors)
		return print_errors(seeds);
	bool fine = check_functions();
	fine = check_gaps() && fine;
	for (size_t i = 0; i < MIXES; i++)
		fine = estimate(&mixes[i], seeds) && fine;
	return fine ? 0 : 1;
}
