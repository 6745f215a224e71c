#define _GNU_SOURCE
#undef PFS_DELAYS /* its own accesses do not wait */
#include "delays.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "compiler.h"
#include "base/now.h"

/*
 * The parameters. A length is a power of two in nanoseconds, and every power is equally likely: in
 * one test another thread arrives within a microsecond, in the next within a millisecond.
 *
 * RARE_HITS     A pair that was met less often is rare. It waits up to 2 << RARE_POWER.
 * RARE_FIRST    A rare pair waits one time in RARE_FIRST + n, where n is how often it was met. Not
 *               every time, because the threads of a test start together and would wait at the same
 *               place.
 * HOT_POWER     Any other pair waits up to 2 << HOT_POWER.
 * HOT_LEAST     It does so one time in HOT_LEAST << k. The thread's phase is k, below HOT_STEPS:
 * HOT_STEPS     some windows need many waits in a row, others a thread that runs at full speed.
 * PHASE_HITS    A phase lasts this many accesses on average.
 * LOW_POWER     The shortest wait shifts two processors relative to each other.
 * SPIN_POWER    A shorter wait spins; the kernel would need longer to wake the thread.
 * YIELD_ONE_IN  One wait in this many is a yield. If other threads want the processor, it is long.
 * EARN_NS       Each access earns its thread this much waiting, so that tests end. The budget
 *               cannot come from the clock, whose readings do not repeat.
 * CREDIT_NS     A thread saves no more than this, and starts with it.
 * SLEEP_NS      A sleep costs this in addition to its length.
 */
enum {
	RARE_HITS = 64,
	RARE_FIRST = 2,
	RARE_POWER = 20,
	HOT_POWER = 16,
	HOT_LEAST = 16,
	HOT_STEPS = 7,
	PHASE_HITS = 4096,
	LOW_POWER = 6,
	SPIN_POWER = 15,
	YIELD_ONE_IN = 8,
	EARN_NS = 60,
	CREDIT_NS = 4000000,
	SLEEP_NS = 50000
};

#define PAIRS 8192u /* the tree has some 2,000 places */
#define LATEST 6u
#define SECOND_NS UINT64_C(1000000000)

struct own {
	uint64_t random;
	uint64_t digest;
	uint64_t credit_ns;
	uint32_t number;     /* from 1; 0: the thread has not begun */
	uint32_t place_name; /* its last place */
	uint32_t hot_one_in; /* this phase's */
};

struct sleep {
	_Atomic(const struct pfs_delays_place *) place;
	_Atomic(uint64_t) what; /* nanoseconds << 24 | thread */
};

enum { UNKNOWN, OFF, ON };
static _Atomic(uint32_t) is_on;
static _Atomic(uint64_t) seed;
static _Atomic(uint32_t) threads;
static _Atomic(uint32_t) met[PAIRS];
static struct sleep latest[LATEST];
static _Atomic(uint32_t) sleeps;
/* initial-exec: in a preloaded library another model would allocate at the first access. */
static _Thread_local struct own own __attribute__((tls_model("initial-exec")));

static uint64_t mix(uint64_t word)
{
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

/* splitmix64 (Steele, Lea and Flood, 2014) */
static uint64_t draw(struct own *self)
{
	self->random += UINT64_C(0x9e3779b97f4a7c15);
	return mix(self->random);
}

/* Until the C library has set up its environment there are no waits and no seed. */
static PFS_COLD bool settle(void)
{
	extern char **environ;
	if (environ == NULL)
		return false;
	const char *wish = secure_getenv("PFS_DELAYS");
	const char *text = secure_getenv("PFS_DELAYS_SEED");
	uint64_t none = 0;
	uint64_t chosen = text != NULL
				  ? strtoull(text, NULL, 10)
				  : mix(pfs_now_ns(CLOCK_MONOTONIC) ^ (uint64_t)getpid() << 40) %
					    1000000000;
	/* relaxed: one word; the first thread's value stays */
	(void)pfs_cas_relaxed(&seed, &none, chosen + 1);
	bool off = wish != NULL && strcmp(wish, "0") == 0;
	/* relaxed: every thread stores the same */
	pfs_store_relaxed(&is_on, off ? OFF : ON);
	return !off;
}

/* A uniform number in 0 .. one_in - 1, from 16 bits of a random word. */
static uint32_t below(uint64_t random, uint32_t at, uint32_t one_in)
{
	return (uint32_t)(random >> at & 0xffff) * one_in >> 16;
}

static uint32_t phase_of(uint64_t random)
{
	return (uint32_t)HOT_LEAST << below(random, 32, HOT_STEPS);
}

static PFS_COLD void begin(struct own *self)
{
	/* relaxed: the numbers only have to differ */
	self->number = pfs_fetch_add_relaxed(&threads, 1) + 1;
	/* relaxed: written by settle, in this thread or an earlier one */
	self->random = mix(pfs_load_relaxed(&seed) ^ (uint64_t)self->number << 32);
	self->credit_ns = CREDIT_NS;
	self->hot_one_in = phase_of(draw(self));
}

/* The same in each process and build folder: from the last two parts of the path, and the line. */
static PFS_COLD uint32_t name_of(struct pfs_delays_place *place)
{
	uint32_t slashes = 0;
	uint32_t name = place->line * 0x9e3779b1u;
	for (const char *at = place->file + strlen(place->file); at > place->file; at--) {
		slashes += at[-1] == '/';
		if (slashes == 2)
			break;
		name = (name ^ (unsigned char)at[-1]) * 0x01000193u;
	}
	name += name == 0;
	pfs_store_relaxed(&place->name, name); /* relaxed: each thread computes the same */
	return name;
}

/* How often this pair was met; count this time. Counting stops at RARE_HITS. */
static uint32_t meet(uint32_t from, uint32_t to)
{
	uint32_t pair = (from * 0x85ebca6bu ^ to) * 0xc2b2ae35u;
	_Atomic(uint32_t) *count = &met[(pair ^ pair >> 16) % PAIRS];
	uint32_t seen = pfs_load_relaxed(count); /* relaxed: a guess, a lost count does no harm */
	if (seen < RARE_HITS)
		pfs_store_relaxed(count, seen + 1); /* relaxed: see above */
	return seen;
}

/* 0, or the power of the length of the wait; seen is how often the pair was met. */
static uint32_t decide(struct own *self, uint32_t seen, uint64_t random)
{
	bool rare = seen < RARE_HITS;
	uint32_t one_in = self->hot_one_in;
	if (below(random, 48, PHASE_HITS) == 0)
		self->hot_one_in = phase_of(random);
	if (rare && seen + RARE_FIRST < one_in)
		one_in = seen + RARE_FIRST;
	self->credit_ns += self->credit_ns < CREDIT_NS ? EARN_NS : 0;
	if (below(random, 0, one_in) != 0)
		return 0;
	uint32_t most = rare ? RARE_POWER : HOT_POWER;
	return LOW_POWER + below(random, 16, most - LOW_POWER + 1);
}

static void spin(uint64_t wait_ns)
{
	uint64_t end = pfs_now_ns(CLOCK_MONOTONIC) + wait_ns;
	while (pfs_now_ns(CLOCK_MONOTONIC) < end)
		;
}

static void sleep_for(const struct own *self, const struct pfs_delays_place *place,
		      uint64_t wait_ns)
{
	/* relaxed, all three: for the report of a failed test */
	struct sleep *at = &latest[pfs_fetch_add_relaxed(&sleeps, 1) % LATEST];
	pfs_store_relaxed(&at->place, place);
	pfs_store_relaxed(&at->what, wait_ns << 24 | (self->number & 0xffffff));
	struct timespec wait = { 0, (long)wait_ns };
	/* Not nanosleep, which is a cancellation point. */
	(void)syscall(SYS_nanosleep, &wait, NULL);
}

static PFS_COLD void act(struct own *self, const struct pfs_delays_place *place, uint32_t power)
{
	int kept = errno;
	uint64_t random = draw(self);
	uint64_t wait_ns = (UINT64_C(1) << power) + random % (UINT64_C(1) << power);
	uint64_t cost_ns = wait_ns + (power < SPIN_POWER ? 0 : SLEEP_NS);
	self->digest = mix(self->digest ^ wait_ns);
	if (below(random, 48, YIELD_ONE_IN) == 0 || cost_ns > self->credit_ns) {
		(void)sched_yield();
	} else {
		self->credit_ns -= cost_ns;
		if (power < SPIN_POWER)
			spin(wait_ns);
		else
			sleep_for(self, place, wait_ns);
	}
	errno = kept;
}

void pfs_delays_wait(struct pfs_delays_place *place)
{
	struct own *self = &own;
	uint32_t state = pfs_load_relaxed(&is_on); /* relaxed: see settle */
	if (state != ON && (state == OFF || !settle()))
		return;
	if (self->number == 0)
		begin(self);
	uint32_t name = pfs_load_relaxed(&place->name); /* relaxed: see name_of */
	if (name == 0)
		name = name_of(place);
	uint64_t random = draw(self);
	uint32_t seen = meet(self->place_name, name);
	self->place_name = name;
	uint32_t power = decide(self, seen, random);
	if (power != 0)
		act(self, place, power);
}

uint64_t pfs_delays_digest(void)
{
	return own.digest;
}

const char *pfs_delays_seed(char text[PFS_DELAYS_SEED_BYTES])
{
	uint64_t chosen = pfs_load_relaxed(&seed); /* relaxed: settle wrote it long ago */
	text[0] = '\0';
	if (pfs_load_relaxed(&is_on) == ON) /* relaxed: see above */
		(void)snprintf(text, PFS_DELAYS_SEED_BYTES, "; PFS_DELAYS_SEED=%llu",
			       (unsigned long long)(chosen - 1));
	return text;
}

void pfs_delays_say(void)
{
	char seed_text[PFS_DELAYS_SEED_BYTES], text[600];
	if (pfs_delays_seed(seed_text)[0] == '\0')
		return;
	size_t used = (size_t)snprintf(text, sizeof(text), "delays%s", seed_text);
	/* relaxed, all: a report */
	uint32_t count = pfs_load_relaxed(&sleeps);
	for (uint32_t i = 0; i < LATEST && i < count; i++) {
		struct sleep *at = &latest[(count - 1 - i) % LATEST];
		/* relaxed, both: a report */
		const struct pfs_delays_place *place = pfs_load_relaxed(&at->place);
		uint64_t what = pfs_load_relaxed(&at->what);
		if (place == NULL || used >= sizeof(text) - 1)
			break;
		const char *name = strrchr(place->file, '/');
		used += (size_t)snprintf(
			&text[used], sizeof(text) - used, "%s thread %u %llu us at %s:%u",
			i == 0 ? "; latest sleeps:" : ",", (unsigned)(what & 0xffffff),
			(unsigned long long)(what >> 24) / 1000,
			name != NULL ? name + 1 : place->file, place->line);
	}
	used = used < sizeof(text) - 1 ? used : sizeof(text) - 2;
	text[used++] = '\n';
	if (write(STDERR_FILENO, text, used) < 0)
		return;
}
