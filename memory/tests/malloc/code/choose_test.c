/*
 * choose_test.c - which mallocs get a guarded block: counts them by place in the program, for many
 * threads, each with draws of its own.
 *
 * usage: malloc_choose_test RATE THREADS MALLOCS
 *
 * Each thread calls malloc MALLOCS times, in patterns of period 1, 2, 3, 64, 65 and 128 of which
 * each position is a place, frees at once or later, and uses one class or several. A place's count
 * must be what a binomial distribution of probability 1 / RATE makes likely: within 6 deviations.
 * A guarded block tells itself by its usable size, which is the requested one.
 * Exit 1: a place is chosen too often or too seldom.
 */
#include <math.h>
#include <pfslab/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PLACES_MOST 128u
#define LATER 100u /* blocks are freed after that many mallocs */
#define DEVIATIONS 6.0

struct pattern {
	const char *name;
	unsigned period, sizes; /* sizes: classes that take turns */
	unsigned later;         /* blocks kept */
};
static const struct pattern patterns[] = {
	{ "one site", 1, 1, 0 },
	{ "two sites in turn", 2, 1, 0 },
	{ "three, kept", 3, 1, LATER },
	{ "every 64th", 64, 1, 0 },
	{ "every 65th, kept", 65, 1, LATER },
	{ "every 128th, two classes", 128, 2, LATER },
	{ "every 64th, four classes", 64, 4, 0 },
};
#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static unsigned long mallocs_each;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long chosen[PATTERNS][PLACES_MOST]; /* under lock */
static unsigned long calls[PATTERNS][PLACES_MOST];  /* under lock */

static void run_pattern(size_t number, unsigned long *found, unsigned long *made)
{
	static const unsigned sizes[] = { 100, 36, 500, 1000 }; /* of no class */
	const struct pattern *pattern = &patterns[number];
	void *kept[LATER] = { NULL };
	for (unsigned long i = 0; i < mallocs_each; i++) {
		unsigned size = sizes[i % pattern->sizes];
		void *block = pfs_malloc(size);
		made[i % pattern->period]++;
		if (pfs_malloc_usable_size(block) == size)
			found[i % pattern->period]++;
		if (pattern->later == 0) {
			pfs_block_free(block);
		} else {
			pfs_block_free(kept[i % LATER]);
			kept[i % LATER] = block;
		}
	}
	for (unsigned i = 0; i < LATER; i++)
		pfs_block_free(kept[i]);
}

static void *body(void *unused)
{
	for (size_t number = 0; number < PATTERNS; number++) {
		unsigned long found[PLACES_MOST] = { 0 }, made[PLACES_MOST] = { 0 };
		run_pattern(number, found, made);
		(void)pthread_mutex_lock(&lock);
		for (unsigned place = 0; place < PLACES_MOST; place++) {
			chosen[number][place] += found[place];
			calls[number][place] += made[place];
		}
		(void)pthread_mutex_unlock(&lock);
	}
	return unused;
}

static int judge(double rate)
{
	int wrong = 0;
	for (size_t number = 0; number < PATTERNS; number++) {
		double worst = 0, all = 0, expected_all = 0;
		for (unsigned place = 0; place < patterns[number].period; place++) {
			double expected = (double)calls[number][place] / rate;
			double spread = sqrt(expected * (1 - 1 / rate));
			double off = ((double)chosen[number][place] - expected) / spread;
			worst = fabs(off) > fabs(worst) ? off : worst;
			all += (double)chosen[number][place];
			expected_all += expected;
		}
		double off_all = (all - expected_all) / sqrt(expected_all * (1 - 1 / rate));
		(void)printf("%-26s %8.0f chosen, %10.1f expected (%+.1f deviations), worst place "
			     "%+.1f\n",
			     patterns[number].name, all, expected_all, off_all, worst);
		wrong |= fabs(worst) > DEVIATIONS || fabs(off_all) > DEVIATIONS;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	double rate = atof(argv[1]);
	char conf[64];
	(void)snprintf(conf, sizeof(conf), "guard_rate:%s", argv[1]);
	if (getenv("PFS_MALLOC_CONF") == NULL && setenv("PFS_MALLOC_CONF", conf, 1) == 0)
		(void)execv("/proc/self/exe", argv);
	unsigned threads = (unsigned)atoi(argv[2]);
	mallocs_each = (unsigned long)atol(argv[3]);
	for (unsigned i = 0; i < threads; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, body, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			return 2;
	}
	return judge(rate);
}
