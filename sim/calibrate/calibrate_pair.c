/*
 * calibrate_pair.c - the costs of lines that move between two threads.
 *
 * The walks: thread 1 prepares 256 lines and thread 0 walks through them. Each line holds the index
 * of the next one. Otherwise several lines would be in transfer at a time, and the measured 7 ns
 * would be a tenth of a single transfer.
 */
#include <math.h>
#include <string.h>

#include "sim/calibrate/calibrate.h"

#define BLOCKS 15u
#define TRIPS 100u         /* of a block of ping-pong, there and back */
#define WINDOW_NS 100000.0 /* of two threads on one line */
#define CHECK_EVERY 32u    /* operations, then a look at the clock */
#define TOGETHER 0.95      /* share of the window in which both must work */
#define GAP_NS 5000.0      /* longer without a look: the thread lost its CPU */

enum walk {
	WALK_LOAD_MODIFIED,
	WALK_CAS_MODIFIED,
	WALK_ADD_MODIFIED,
	WALK_CAS_SHARED,
	WALK_LOAD_BACK,
	WALKS
};

static const struct {
	const char *name, *what;
} walks[WALKS] = {
	{ "load_modified", "load of a line that the other modified" },
	{ "cas_modified", "CAS on a line that the other modified" },
	{ "fetch_add_modified", "fetch-add on a line that the other modified" },
	{ "cas_shared", "CAS on a line that the other modified, then this one read" },
	{ "load_back", "load of a line that this one modified, then the other read: as a hit where "
		       "both keep copies, as load_modified where a read takes the line away" },
};

struct round {
	struct pfs_calibration *calibration;
	struct pfs_pair *pair;
	const char *kind;
	enum walk walk;
	bool cas;                  /* contended by CAS; else by fetch-add */
	uint64_t begin[2], end[2]; /* ticks */
	double operations[2], successes[2], gap_ns[2];
};

const char *pfs_pair_kind_name(enum pfs_pair_kind kind)
{
	static const char *const names[PFS_PAIR_KINDS] = { "smt", "l3", "node", "package",
							   "remote" };
	return names[kind];
}

static void add(struct round *round, const char *name, const char *unit, const char *what,
		double value)
{
	char full[48];
	(void)snprintf(full, sizeof(full), "%s_%s", round->kind, name);
	pfs_series_add(round->calibration, full, unit, what, value);
}

/* 97 and 256 have no common divisor: a ring of all lines, in which neighbours are far apart. */
static uint64_t next_of(uint64_t index)
{
	return (index + 97) % PFS_WALK_LINES;
}

static void prepare(struct pfs_pair *pair)
{
	for (uint64_t i = 0; i < PFS_WALK_LINES; i++)
		pfs_store_relaxed(&pair->lines[i].value, next_of(i)); /* relaxed: meet() orders */
}

static uint64_t walk_loads(struct pfs_pair *pair)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < PFS_WALK_LINES; i++)
		at = pfs_load_relaxed(&pair->lines[at].value); /* relaxed: meet() orders */
	return at;
}

/* Each CAS succeeds, and its success is part of the next address. */
static uint64_t walk_cas(struct pfs_pair *pair)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < PFS_WALK_LINES; i++) {
		uint64_t next = next_of(at), seen = next;
		bool won = pfs_cas_acquire(&pair->lines[at].value, &seen, next | UINT64_C(1) << 32);
		at = (next + !won) % PFS_WALK_LINES;
	}
	return at;
}

static uint64_t walk_adds(struct pfs_pair *pair)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < PFS_WALK_LINES; i++)
		at = (uint32_t)pfs_fetch_add_relaxed(&pair->lines[at].value, UINT64_C(1) << 32);
	return at;
}

static void walk_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	double blocks[PFS_BLOCKS_MAX];
	for (uint32_t i = 0; i < BLOCKS; i++) {
		pfs_pair_meet(round->pair, thread);
		if (thread == (round->walk != WALK_LOAD_BACK))
			prepare(round->pair);
		pfs_pair_meet(round->pair, thread);
		if (round->walk == WALK_CAS_SHARED || round->walk == WALK_LOAD_BACK) {
			if (thread == (round->walk == WALK_LOAD_BACK))
				pfs_keep(walk_loads(round->pair));
			pfs_pair_meet(round->pair, thread);
		}
		if (thread != 0)
			continue;
		uint64_t begin = pfs_clock_ticks(&self->clock);
		if (round->walk == WALK_LOAD_MODIFIED || round->walk == WALK_LOAD_BACK)
			pfs_keep(walk_loads(round->pair));
		else if (round->walk == WALK_ADD_MODIFIED)
			pfs_keep(walk_adds(round->pair));
		else
			pfs_keep(walk_cas(round->pair));
		blocks[i] = pfs_block_ns(self, begin, PFS_WALK_LINES);
	}
	if (thread == 0)
		add(round, walks[round->walk].name, "ns", walks[round->walk].what,
		    pfs_median_of(blocks, BLOCKS));
}

static void ping_pong_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	_Atomic(uint64_t) *word = &round->pair->word;
	double blocks[PFS_BLOCKS_MAX];
	uint64_t turn = 0;
	pfs_store_relaxed(word, 0); /* relaxed: meet() orders */
	for (uint32_t i = 0; i < BLOCKS; i++) {
		pfs_pair_meet(round->pair, thread);
		uint64_t begin = pfs_clock_ticks(&self->clock);
		for (uint32_t trip = 0; trip < TRIPS; trip++, turn += 2) {
			/* relaxed: the value is the message, here and below */
			while (thread == 1 && pfs_load_relaxed(word) != turn + 1)
				;
			pfs_store_relaxed(word, turn + 1 + thread);
			while (thread == 0 && pfs_load_relaxed(word) != turn + 2)
				;
		}
		blocks[i] = pfs_block_ns(self, begin, 2.0 * TRIPS);
	}
	if (thread == 0)
		add(round, "ping_pong", "ns", "one way of a word that each stores in turn",
		    pfs_median_of(blocks, BLOCKS));
}

/* For a window, both use one line as fast as they can. A thread that lost its CPU shows a gap. */
static void contend_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	_Atomic(uint64_t) *word = &round->pair->word;
	uint64_t operations = 0, successes = 0;
	double spent = 0, gap = 0, now;
	const bool cas = round->cas;
	pfs_pair_meet(round->pair, thread);
	uint64_t begin = pfs_clock_ticks(&self->clock);
	do {
		for (uint32_t i = 0; i < CHECK_EVERY; i++) {
			/* relaxed: an unused number */
			if (!cas) {
				pfs_keep(pfs_fetch_add_relaxed(word, 1));
				continue;
			}
			uint64_t seen = pfs_load_relaxed(word);
			successes += pfs_cas_acquire(word, &seen, seen + 1);
		}
		operations += CHECK_EVERY;
		now = pfs_ns_since(self, begin);
		gap = fmax(gap, now - spent);
		spent = now;
	} while (spent < WINDOW_NS);
	round->begin[thread] = begin;
	round->end[thread] = pfs_clock_ticks(&self->clock);
	round->operations[thread] = (double)operations;
	round->successes[thread] = (double)successes;
	round->gap_ns[thread] = gap;
}

/* Computes without memory, alone and with the other thread. Siblings of a core slow each other
 * down, even if a hypervisor shows them as cores. Four chains keep the units busy. */
static void compute_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	double times[2][BLOCKS];
	for (uint32_t i = 0; i < 2 * BLOCKS; i++) {
		uint64_t a = i, b = i + 1, c = i + 2, d = i + 3;
		pfs_pair_meet(round->pair, thread);
		if (thread == 1 && i % 2 == 0)
			continue;
		uint64_t begin = pfs_clock_ticks(&self->clock);
		for (uint32_t k = 0; k < 4000; k++) {
			a = a * 5 + 1, b = b * 5 + 1, c = c * 5 + 1, d = d * 5 + 1;
			__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		}
		times[i % 2][i / 2] = pfs_ns_since(self, begin);
	}
	if (thread == 0)
		add(round, "slowdown", "ratio",
		    "time of the same computing beside the other over "
		    "alone; well above 1: they share a core",
		    pfs_median_of(times[1], BLOCKS) / pfs_median_of(times[0], BLOCKS));
}

/* Both windows must nearly coincide; otherwise a thread worked alone for a part of its window. */
static double window_of(const struct round *round)
{
	const uint64_t *begin = round->begin, *end = round->end;
	uint64_t from = begin[0] < begin[1] ? begin[0] : begin[1];
	uint64_t both = begin[0] < begin[1] ? begin[1] : begin[0];
	uint64_t until = end[0] < end[1] ? end[0] : end[1];
	uint64_t to = end[0] < end[1] ? end[1] : end[0];
	bool together = until > both && (double)(until - both) > TOGETHER * (double)(to - from);
	if (!together || round->gap_ns[0] > GAP_NS || round->gap_ns[1] > GAP_NS)
		return NAN;
	return (double)(to - from) * round->calibration->clock.ns_per_tick;
}

static void keep_contended(struct round *round)
{
	double window = window_of(round);
	double operations = round->operations[0] + round->operations[1];
	double successes = round->successes[0] + round->successes[1];
	if (!round->cas) {
		add(round, "fetch_add_two", "ns",
		    "two threads, fetch-add on one line: window over "
		    "operations of both",
		    window / operations);
		return;
	}
	add(round, "load_cas_two", "ns",
	    "two threads, load and CAS on one line: window over "
	    "successes of both",
	    window / successes);
	add(round, "load_cas_two_success", "share", "successes over attempts of the same",
	    isnan(window) ? NAN : successes / operations);
}

void pfs_calibrate_pair(struct pfs_calibration *self, struct pfs_pair *pair,
			enum pfs_pair_kind kind)
{
	struct round round = { .calibration = self,
			       .pair = pair,
			       .kind = pfs_pair_kind_name(kind) };
	for (enum walk walk = 0; walk < WALKS; walk++) {
		round.walk = walk;
		pfs_pool_each(pair->pool, walk_job, &round);
	}
	pfs_pool_each(pair->pool, ping_pong_job, &round);
	for (uint32_t i = 0; i < 6; i++) { /* 3 of each kind: many are rejected on a busy machine */
		round.cas = i % 2 != 0;
		pfs_pool_each(pair->pool, contend_job, &round);
		keep_contended(&round);
	}
	pfs_pool_each(pair->pool, compute_job, &round);
}
