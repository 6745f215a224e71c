/*
 * calibrate_core.c - the costs of one thread in its own caches: hits, owned words, pointer chases.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/calibrate/calibrate.h"

#define BLOCKS 25u
#define OPERATIONS 2000u
#define CHASE_STEPS 2000u
#define MEMORY_CAP (UINT64_C(192) << 20)

/* A ring through all lines of a block of memory in random order: each load gives the next address.
 */
struct pfs_chase {
	struct chase_line {
		alignas(PFS_LINE) _Atomic(uint64_t) next;
	} * line;
	uint64_t count;
	uint64_t at;
};

enum { CHASE_L1, CHASE_L2, CHASE_L3, CHASE_MEMORY };

static struct pfs_chase *make_chase(uint64_t bytes)
{
	struct pfs_chase *self = calloc(1, sizeof(*self));
	uint64_t state = 88172645463325252u;
	if (self == NULL)
		return NULL;
	self->count = bytes / PFS_LINE;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	if (memory == MAP_FAILED) {
		free(self);
		return NULL;
	}
	self->line = memory;
	/* Sattolo's shuffle makes one ring of all. */
	for (uint64_t i = 0; i < self->count; i++)
		atomic_init(&self->line[i].next, i);
	for (uint64_t i = self->count - 1; i > 0; i--) {
		state ^= state << 13, state ^= state >> 7, state ^= state << 17;
		uint64_t j = state % i;
		/* relaxed: one thread only, here and below */
		uint64_t kept = pfs_load_relaxed(&self->line[i].next);
		pfs_store_relaxed(&self->line[i].next, pfs_load_relaxed(&self->line[j].next));
		pfs_store_relaxed(&self->line[j].next, kept);
	}
	return self;
}

bool pfs_calibrate_prepare_core(struct pfs_calibration *self)
{
	const double *kib = self->cache_kib;
	uint64_t l2 = kib[1] > 0 ? (uint64_t)(kib[1] * 512) : 0;
	/* Just far more than the L2 holds: other cores also use the L3. */
	uint64_t l3 = (uint64_t)(kib[1] * 3 * 1024);
	uint64_t memory = (uint64_t)(fmax(kib[2], kib[1]) * 1024 * 4);
	if (memory < UINT64_C(32) << 20)
		memory = UINT64_C(32) << 20;
	if (memory > MEMORY_CAP)
		memory = MEMORY_CAP;
	if (l3 > (uint64_t)(kib[2] * 512))
		l3 = 0; /* no size separates it from L2 and memory */
	self->chase[CHASE_L1] = make_chase(kib[0] > 0 ? (uint64_t)(kib[0] * 512) : 16384);
	self->chase[CHASE_L2] = l2 != 0 ? make_chase(l2) : NULL;
	self->chase[CHASE_L3] = l3 != 0 ? make_chase(l3) : NULL;
	self->chase[CHASE_MEMORY] = make_chase(memory);
	return self->chase[CHASE_L1] != NULL;
}

void pfs_calibrate_forget_core(struct pfs_calibration *self)
{
	for (uint32_t i = 0; i < 4; i++) {
		if (self->chase[i] == NULL)
			continue;
		(void)munmap(self->chase[i]->line, self->chase[i]->count * PFS_LINE);
		free(self->chase[i]);
		self->chase[i] = NULL;
	}
}

/* One load from each line, in the order of the addresses: prefetchers run ahead. */
static uint64_t stream(void *context, uint64_t steps)
{
	struct pfs_chase *self = context;
	uint64_t sum = 0;
	if (self->at + steps >= self->count)
		self->at = 0;
	for (uint64_t i = 0; i < steps; i++)
		sum += pfs_load_relaxed(&self->line[self->at + i].next);
	self->at += steps;
	return sum;
}

static uint64_t chase(void *context, uint64_t steps)
{
	struct pfs_chase *self = context;
	uint64_t at = self->at;
	for (uint64_t i = 0; i < steps; i++)
		at = pfs_load_relaxed(&self->line[at].next);
	self->at = at;
	return at;
}

/* Eight independent loads, with independent sums. */
static uint64_t load_many(void *context, uint64_t count)
{
	struct pfs_walk_line *lines = context;
	uint64_t sum[4] = { 0, 0, 0, 0 };
	for (uint64_t i = 0; i < count / 8; i++) {
#pragma GCC unroll 8
		for (uint32_t k = 0; k < 8; k++)
			sum[k % 4] += pfs_load_relaxed(&lines[k].value);
	}
	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* A release store is a plain one on x86, as in free. */
static uint64_t store_many(void *context, uint64_t count)
{
	struct pfs_walk_line *lines = context;
	for (uint64_t i = 0; i < count / 8; i++) {
#pragma GCC unroll 8
		for (uint32_t k = 0; k < 8; k++)
			pfs_store_release(&lines[k].value, i);
	}
	return 0;
}

/* The old value is the next expected one: each CAS succeeds, and waits for the one before. */
static uint64_t cas_many(void *context, uint64_t count)
{
	_Atomic(uint64_t) *words = &((struct pfs_walk_line *)context)->value;
	uint64_t seen = pfs_load_relaxed(words);
	for (uint64_t i = 0; i < count; i++) {
		bool won = pfs_cas_acquire(words, &seen, seen + 1);
		seen += won;
	}
	return seen;
}

static uint64_t load_cas_many(void *context, uint64_t count)
{
	_Atomic(uint64_t) *words = &((struct pfs_walk_line *)context)->value;
	uint64_t won = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t seen = pfs_load_relaxed(words);
		won += pfs_cas_acquire(words, &seen, seen + 1);
	}
	return won;
}

static uint64_t add_many(void *context, uint64_t count)
{
	_Atomic(uint64_t) *words = &((struct pfs_walk_line *)context)->value;
	uint64_t sum = 0;
	for (uint64_t i = 0; i < count; i++)
		sum += pfs_fetch_add_relaxed(words, 1);
	return sum;
}

static uint64_t exchange_many(void *context, uint64_t count)
{
	_Atomic(uint64_t) *words = &((struct pfs_walk_line *)context)->value;
	uint64_t value = 1;
	for (uint64_t i = 0; i < count; i++)
		value = pfs_exchange_seq(words, value) + 1;
	return value;
}

/* Eight loads between fetch-adds, which wait for each other anyway. */
static uint64_t add_load_many(void *context, uint64_t count)
{
	struct pfs_walk_line *lines = context;
	uint64_t sum[4] = { 0, 0, 0, 0 };
	for (uint64_t i = 0; i < count; i++) {
		sum[0] += pfs_fetch_add_relaxed(&lines[8].value, 1);
#pragma GCC unroll 8
		for (uint32_t k = 0; k < 8; k++)
			sum[k % 4] += pfs_load_relaxed(&lines[k].value);
	}
	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Two stores, for which the next fetch-add waits. */
static uint64_t add_store_many(void *context, uint64_t count)
{
	struct pfs_walk_line *lines = context;
	uint64_t sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		sum += pfs_fetch_add_relaxed(&lines[8].value, 1);
		pfs_store_release(&lines[0].value, i);
		pfs_store_release(&lines[1].value, i);
	}
	return sum;
}

/* The cost of a bare loop: additions that wait for each other. */
static uint64_t compute_many(void *context, uint64_t count)
{
	_Atomic(uint64_t) *words = &((struct pfs_walk_line *)context)->value;
	uint64_t value = pfs_load_relaxed(words);
	for (uint64_t i = 0; i < count; i++)
		value = value * 3 + 1; /* lea and add: 2 cycles */
	return value;
}

static const struct {
	const char *name, *what;
	uint64_t (*many)(void *lines, uint64_t count);
} loops[] = {
	{ "load_parallel", "loads from L1 that do not wait for each other", load_many },
	{ "store_owned", "release stores to owned lines", store_many },
	{ "cas_owned", "CAS on an owned line, the expected value known", cas_many },
	{ "load_cas_owned", "load, then CAS, on an owned line", load_cas_many },
	{ "fetch_add_owned", "fetch-add on an owned line", add_many },
	{ "exchange_owned", "exchange on an owned line", exchange_many },
	{ "fetch_add_and_loads", "a fetch-add and 8 loads from L1", add_load_many },
	{ "fetch_add_and_stores", "a fetch-add and 2 stores", add_store_many },
	{ "compute", "a multiply-add by 3 that waits for the one before: no memory", compute_many },
};

static const struct {
	const char *name, *what;
} chases[4] = {
	{ "chase_l1", "a load whose address is the result of the one before, in L1" },
	{ "chase_l2", "the same over half the L2" },
	{ "chase_l3", "the same over three times the L2" },
	{ "chase_memory", "the same over more than all caches hold" },
};

struct round {
	struct pfs_calibration *calibration;
	struct pfs_pair *pair;
};

/* Four chases at a time, from distant places: independent misses. */
static uint64_t chase_four(void *context, uint64_t steps)
{
	struct pfs_chase *self = context;
	uint64_t at[4] = { 0, self->count / 4, self->count / 2, self->count / 4 * 3 };
	for (uint64_t i = 0; i < steps / 4; i++) {
#pragma GCC unroll 4
		for (uint32_t k = 0; k < 4; k++)
			at[k] = pfs_load_relaxed(&self->line[at[k]].next);
	}
	return at[0] + at[1] + at[2] + at[3];
}

/* Adds the median time of an operation in blocks of `count` operations. */
static void measure(struct pfs_calibration *self, const char *name, const char *what,
		    uint64_t (*block)(void *context, uint64_t count), void *context, uint64_t count)
{
	double blocks[BLOCKS];
	for (uint32_t i = 0; i < BLOCKS; i++) {
		uint64_t begin = pfs_clock_ticks(&self->clock);
		pfs_keep(block(context, count));
		blocks[i] = pfs_block_ns(self, begin, (double)count);
	}
	pfs_series_add(self, name, "ns", what, pfs_median_of(blocks, BLOCKS));
}

static void measure_job(void *context, uint32_t thread)
{
	struct round *round = context;
	struct pfs_calibration *self = round->calibration;
	struct pfs_chase *memory = self->chase[CHASE_MEMORY], *l2 = self->chase[CHASE_L2];
	if (thread != 0)
		return;
	for (size_t k = 0; k < sizeof(loops) / sizeof(loops[0]); k++)
		measure(self, loops[k].name, loops[k].what, loops[k].many, round->pair->lines,
			OPERATIONS);
	for (uint32_t k = 0; k < 4; k++) {
		if (self->chase[k] == NULL)
			continue;
		if (k != CHASE_MEMORY) /* others may have used the cache meanwhile */
			pfs_keep(chase(self->chase[k], self->chase[k]->count));
		measure(self, chases[k].name, chases[k].what, chase, self->chase[k],
			k == CHASE_MEMORY ? CHASE_STEPS / 10 : CHASE_STEPS);
	}
	if (memory != NULL)
		measure(self, "stream_memory", "lines of the same, one after the other", stream,
			memory, CHASE_STEPS);
	if (l2 == NULL)
		return;
	pfs_keep(chase(l2, l2->count));
	measure(self, "parallel_l2", "a load of four chases at once over half the L2", chase_four,
		l2, 4 * CHASE_STEPS);
}

void pfs_calibrate_core(struct pfs_calibration *self, struct pfs_pair *pair)
{
	struct round round = { self, pair };
	pfs_pool_each(pair->pool, measure_job, &round);
}
