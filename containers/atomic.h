/*
 * atomic.h - the only access to shared memory; the order is part of each name.
 *
 * There are three back ends: C11 atomics; the same with random waits (PFS_DELAYS, delays.h); and
 * the deterministic machine in sim/ (PFS_SIM), which sees every access with its place in the
 * source. There are no standalone fences, because ThreadSanitizer does not model them. Where a
 * store must precede a later load, the store is a seq exchange and the load is seq.
 */
#ifndef PFS_ATOMIC_H
#define PFS_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_LINE 64 /* bytes between fields with different writers */

#ifdef PFS_SIM
#include "check/machine/atomic_backend.h"
#else
#include <stdatomic.h>

/* The test build with delays: a wait before each access, and one after each store. */
#ifdef PFS_DELAYS
#include "delays.h"
#define PFS_DELAYED(access) (PFS_DELAYS_HERE(), access)
#define PFS_DELAYED_STORE(access) (PFS_DELAYS_HERE(), access, PFS_DELAYS_HERE())
#else
#define PFS_DELAYED(access) access
#define PFS_DELAYED_STORE(access) access
#endif

#define pfs_load_relaxed(object) PFS_DELAYED(atomic_load_explicit((object), memory_order_relaxed))
#define pfs_load_acquire(object) PFS_DELAYED(atomic_load_explicit((object), memory_order_acquire))
#define pfs_load_seq(object) PFS_DELAYED(atomic_load_explicit((object), memory_order_seq_cst))

#define pfs_store_relaxed(object, value) \
	PFS_DELAYED_STORE(atomic_store_explicit((object), (value), memory_order_relaxed))
#define pfs_store_release(object, value) \
	PFS_DELAYED_STORE(atomic_store_explicit((object), (value), memory_order_release))

/* Strong compare-and-swap. A failure replaces *seen and orders nothing. */
#define PFS_CAS_WITH(object, seen, value, order)                                                \
	PFS_DELAYED(atomic_compare_exchange_strong_explicit((object), (seen), (value), (order), \
							    memory_order_relaxed))
#define pfs_cas_relaxed(object, seen, value) PFS_CAS_WITH(object, seen, value, memory_order_relaxed)
#define pfs_cas_acquire(object, seen, value) PFS_CAS_WITH(object, seen, value, memory_order_acquire)
#define pfs_cas_release(object, seen, value) PFS_CAS_WITH(object, seen, value, memory_order_release)
#define pfs_cas_seq(object, seen, value) PFS_CAS_WITH(object, seen, value, memory_order_seq_cst)
#define pfs_cas_acq_rel(object, seen, value) PFS_CAS_WITH(object, seen, value, memory_order_acq_rel)

#define pfs_exchange_acquire(object, value) \
	PFS_DELAYED(atomic_exchange_explicit((object), (value), memory_order_acquire))
#define pfs_exchange_seq(object, value) \
	PFS_DELAYED(atomic_exchange_explicit((object), (value), memory_order_seq_cst))

#define pfs_fetch_add_relaxed(object, value) \
	PFS_DELAYED(atomic_fetch_add_explicit((object), (value), memory_order_relaxed))
#define pfs_fetch_add_acq_rel(object, value) \
	PFS_DELAYED(atomic_fetch_add_explicit((object), (value), memory_order_acq_rel))
#define pfs_fetch_or_acquire(object, value) \
	PFS_DELAYED(atomic_fetch_or_explicit((object), (value), memory_order_acquire))
#define pfs_fetch_add_seq(object, value) \
	PFS_DELAYED(atomic_fetch_add_explicit((object), (value), memory_order_seq_cst))
#define pfs_fetch_or_seq(object, value) \
	PFS_DELAYED(atomic_fetch_or_explicit((object), (value), memory_order_seq_cst))
#define pfs_fetch_and_seq(object, value) \
	PFS_DELAYED(atomic_fetch_and_explicit((object), (value), memory_order_seq_cst))
#endif

/*
 * For words that one thread writes at a time and others may read. Each is one instruction where the
 * processor has it, because compilers do not fold a relaxed access into the instruction that uses
 * it. The writer calls add and load; any thread may call is_at_most and is_at_least (compare value
 * with the word) and low_half (the word's low 16 bits). All are relaxed; where their order matters
 * a pfs_barrier_light is next to them.
 */
#if defined(PFS_SIM) || defined(PFS_DELAYS) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define pfs_add_owned(object, by) \
	pfs_store_relaxed((object), pfs_load_relaxed(object) + (by))        /* relaxed: see above */
#define pfs_load_owned(object) pfs_load_relaxed(object)                     /* relaxed: see above */
#define pfs_low_half(object) ((uint16_t)pfs_load_relaxed(object))           /* relaxed: see above */
#define pfs_is_at_most(value, object) ((value) <= pfs_load_relaxed(object)) /* relaxed: see above \
									     */
#define pfs_is_at_least(value, object) \
	((value) >= pfs_load_relaxed(object)) /* relaxed: see above */
#else
static inline void pfs_add_owned(_Atomic(uint64_t) *object, uint64_t by)
{
	__asm__("addq %1, %0" : "+m"(*object) : "er"(by) : "cc");
}

/* A plain access: the only writer reads a word that no other thread changes. */
#define pfs_load_owned(object) (*(const uint64_t *)(const void *)(object))

static inline uint64_t pfs_low_half(_Atomic(uint64_t) *object)
{
	uint64_t half;
	__asm__ volatile("movzwl %1, %k0" : "=r"(half) : "m"(*(uint16_t *)(void *)object));
	return half;
}

static inline bool pfs_is_at_most(uint64_t value, _Atomic(uint64_t) *object)
{
	bool is;
	__asm__ volatile("cmpq %2, %1" : "=@ccbe"(is) : "r"(value), "m"(*object));
	return is;
}

static inline bool pfs_is_at_least(uint64_t value, _Atomic(uint64_t) *object)
{
	bool is;
	__asm__ volatile("cmpq %2, %1" : "=@ccae"(is) : "r"(value), "m"(*object));
	return is;
}
#endif

/* Add to a counter that only the calling thread writes: no locked instruction. For metrics. */
#ifdef PFS_SIM
PFS_SIM_UNSEEN static inline void pfs_bump_owned(_Atomic(uint64_t) *counter, uint64_t by)
{
	PFS_SIM_RAW(counter) += by;
}
#else
static inline void pfs_bump_owned(_Atomic(uint64_t) *counter, uint64_t by)
{
	/* relaxed: one writer; readers sum up after the threads are done, or accept an estimate. */
	pfs_store_relaxed(counter, pfs_load_relaxed(counter) + by);
}
#endif

#endif
