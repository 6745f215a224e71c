/*
 * calls_with.h - the batches of calls.h, over any table of operations.
 *
 * A file that includes this has its own static const table, so that the compiler removes the
 * pointers. PFS_BATCHES generates the functions that struct pfs_calls needs, PFS_BATCH_CALLS names
 * them.
 */
#ifndef PFS_BENCH_CALLS_WITH_H
#define PFS_BENCH_CALLS_WITH_H

#include "bench/calls.h"
#include "containers/compiler.h"
#include "base/random.h"
#include "containers/variant.h"

static inline void pfs_stamp(void *record, uint64_t salt)
{
	*(uint64_t *)record = (uint64_t)(uintptr_t)record ^ salt;
	pfs_keep(record); /* otherwise malloc and free of unused memory may be removed */
}

static inline bool pfs_stamp_is(const void *record, uint64_t salt)
{
	return *(const uint64_t *)record == ((uint64_t)(uintptr_t)record ^ salt);
}

PFS_SKELETON void *pfs_allocate_stamped_with(struct pfs_thread *thread, uint64_t salt,
					     const struct pfs_variant *ops)
{
	struct pfs_claim claim = ops->allocate(thread);
	if (!pfs_likely(claim.record != NULL))
		return NULL;
	pfs_stamp(claim.record, salt);
	ops->publish(thread, claim);
	return claim.record;
}

PFS_SKELETON uint64_t pfs_pair_with(struct pfs_thread *thread, uint64_t count,
				    const struct pfs_variant *ops)
{
	uint64_t refused = 0;
	for (uint64_t i = 0; i < count; i++) {
		void *record = pfs_allocate_stamped_with(thread, i, ops);
		if (pfs_likely(record != NULL))
			ops->free(thread, record);
		else
			refused++;
	}
	return refused;
}

/* The caller's set shrinks by one if nothing took the freed record's place. */
PFS_SKELETON void pfs_live_free_with(struct pfs_thread *thread, struct pfs_live *live,
				     uint32_t position, const struct pfs_variant *ops)
{
	void *record = live->records[position];
	live->spoiled += !pfs_stamp_is(record, live->salt);
	ops->free(thread, record);
}

PFS_SKELETON uint64_t pfs_churn_with(struct pfs_thread *thread, struct pfs_live *live,
				     uint64_t count, const struct pfs_variant *ops)
{
	uint64_t refused = 0, tried = 0;
	for (; tried < count && live->count != 0; tried++) {
		uint32_t position = pfs_random_below(&live->random, live->count);
		pfs_live_free_with(thread, live, position, ops);
		void *record = pfs_allocate_stamped_with(thread, live->salt, ops);
		if (pfs_likely(record != NULL)) {
			live->records[position] = record;
		} else {
			live->records[position] = live->records[--live->count];
			refused++;
		}
	}
	return tried - refused;
}

PFS_SKELETON uint64_t pfs_fill_with(struct pfs_thread *thread, struct pfs_live *live,
				    uint32_t target, const struct pfs_variant *ops)
{
	while (live->count < target) {
		void *record = pfs_allocate_stamped_with(thread, live->salt, ops);
		if (record == NULL)
			return 1;
		live->records[live->count++] = record;
	}
	return 0;
}

PFS_SKELETON void pfs_drain_with(struct pfs_thread *thread, struct pfs_live *live, uint32_t target,
				 const struct pfs_variant *ops)
{
	while (live->count > target) {
		uint32_t position = pfs_random_below(&live->random, live->count);
		pfs_live_free_with(thread, live, position, ops);
		live->records[position] = live->records[--live->count];
	}
}

#define PFS_BATCHES(table)                                                                      \
	__attribute__((flatten)) /* the policy's functions, though they are large */            \
	static uint64_t                                                                         \
	pair(struct pfs_thread *thread, uint64_t count)                                         \
	{                                                                                       \
		return pfs_pair_with(thread, count, &(table));                                  \
	}                                                                                       \
	__attribute__((flatten)) static uint64_t churn(struct pfs_thread *thread,               \
						       struct pfs_live *live, uint64_t count)   \
	{                                                                                       \
		return pfs_churn_with(thread, live, count, &(table));                           \
	}                                                                                       \
	static uint64_t fill(struct pfs_thread *thread, struct pfs_live *live, uint32_t target) \
	{                                                                                       \
		return pfs_fill_with(thread, live, target, &(table));                           \
	}                                                                                       \
	static void drain(struct pfs_thread *thread, struct pfs_live *live, uint32_t target)    \
	{                                                                                       \
		pfs_drain_with(thread, live, target, &(table));                                 \
	}

/* Of a struct pfs_calls. */
#define PFS_BATCH_CALLS .pair = pair, .churn = churn, .fill = fill, .drain = drain

/* The calls of a program that links the library, in the language that includes this. */
#define PFS_PUBLIC_CALLS(calls)                                    \
	static const struct pfs_variant public_api = {             \
		.allocate = pfs_allocate,                          \
		.publish = pfs_publish,                            \
		.free = pfs_free,                                  \
	};                                                         \
	PFS_BATCHES(public_api)                                    \
	const struct pfs_calls calls = { .allocate = pfs_allocate, \
					 .publish = pfs_publish,   \
					 .free = pfs_free,         \
					 PFS_BATCH_CALLS };

#endif
