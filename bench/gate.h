/*
 * gate.h - how benchmark threads start and stop together; every atomic of bench/ is here.
 *
 * The gate uses C11 atomics; what workloads share uses containers/atomic.h.
 *
 * Invariant: a thread passes the gate only after all threads arrived and main opened it.
 * Ordering:  [B1] arrive: fetch-add, release   <->   [B2] arrived: load, acquire
 *            carries: what each thread prepared, to main, which reads counts before it opens
 *            [B3] open: store, release         <->   [B4] passing: load, acquire
 *            carries: what main set up for the window
 *            [B5] floor: CAS, acquire         <->   [B6] floor: stores, release
 *            [B7] my turn: load, acquire      <->   [B8] passed: store, release
 *            carries: the object of the turns, from one thread to the next
 *            Started, ended, stopped and struct pfs_mark are relaxed: results go through the pool's
 *            mutex, and the numbers in a mark are only displayed or used as targets.
 * C11 atomics, not Concurrency Kit's: ThreadSanitizer cannot see into the assembly of the latter.
 */
#ifndef PFS_BENCH_GATE_H
#define PFS_BENCH_GATE_H

#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "containers/atomic.h" /* what workloads do is seen by the simulated machine, too */

#define PFS_BENCH_LINE 64

struct pfs_gate {
	alignas(PFS_BENCH_LINE) _Atomic(uint32_t) arrived; /* each thread once, [B1] */
	alignas(PFS_BENCH_LINE) _Atomic(bool) opened;      /* main, [B3] */
	alignas(PFS_BENCH_LINE) _Atomic(uint32_t) started; /* each thread once */
	alignas(PFS_BENCH_LINE) _Atomic(uint32_t) ended;   /* each thread once */
	alignas(PFS_BENCH_LINE) _Atomic(bool) stopped;     /* main */
};

/* A number that one thread updates and others read. */
struct pfs_mark {
	alignas(PFS_BENCH_LINE) _Atomic(uint64_t) value;
};

static inline void pfs_gate_init(struct pfs_gate *self)
{
	atomic_init(&self->arrived, 0);
	atomic_init(&self->opened, false);
	atomic_init(&self->started, 0);
	atomic_init(&self->ended, 0);
	atomic_init(&self->stopped, false);
}

/* One turn of a wait: with more threads than PUs, spinning would keep the awaited thread from
 * running. */
static inline void pfs_gate_relax(bool crowded)
{
	if (crowded)
		sched_yield();
	else
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#else
		atomic_signal_fence(memory_order_seq_cst);
#endif
}

static inline void pfs_gate_pass(struct pfs_gate *self, bool crowded)
{
	/* [B1] release, pairs with [B2]: without it main could read counts from before the thread's
	 * preparation. */
	atomic_fetch_add_explicit(&self->arrived, 1, memory_order_release);
	/* [B4] acquire, pairs with [B3]: without it the window's plan could still be missing. */
	while (!atomic_load_explicit(&self->opened, memory_order_acquire))
		pfs_gate_relax(crowded);
}

static inline uint32_t pfs_gate_arrived(struct pfs_gate *self)
{
	/* [B2] acquire, pairs with [B1]. */
	return atomic_load_explicit(&self->arrived, memory_order_acquire);
}

static inline void pfs_gate_open(struct pfs_gate *self)
{
	/* [B3] release, pairs with [B4]. */
	atomic_store_explicit(&self->opened, true, memory_order_release);
}

/* A thread has done something in the window. */
static inline void pfs_gate_start(struct pfs_gate *self)
{
	/* relaxed: carries nothing, main only counts */
	atomic_fetch_add_explicit(&self->started, 1, memory_order_relaxed);
}

static inline uint32_t pfs_gate_started(struct pfs_gate *self)
{
	/* relaxed: see pfs_gate_start */
	return atomic_load_explicit(&self->started, memory_order_relaxed);
}

/* A thread does nothing more in the window. */
static inline void pfs_gate_end(struct pfs_gate *self)
{
	/* relaxed: see pfs_gate_start */
	atomic_fetch_add_explicit(&self->ended, 1, memory_order_relaxed);
}

static inline uint32_t pfs_gate_ended(struct pfs_gate *self)
{
	/* relaxed: see pfs_gate_start */
	return atomic_load_explicit(&self->ended, memory_order_relaxed);
}

static inline void pfs_gate_stop(struct pfs_gate *self)
{
	/* relaxed: carries nothing, the threads' results go through the pool's mutex */
	atomic_store_explicit(&self->stopped, true, memory_order_relaxed);
}

static inline bool pfs_gate_stopped(struct pfs_gate *self)
{
	/* relaxed: see pfs_gate_stop */
	return atomic_load_explicit(&self->stopped, memory_order_relaxed);
}

static inline void pfs_mark_set(struct pfs_mark *self, uint64_t value)
{
	/* relaxed: a number to look at, it guards nothing */
	pfs_store_relaxed(&self->value, value);
}

static inline uint64_t pfs_mark_get(struct pfs_mark *self)
{
	/* relaxed: see pfs_mark_set */
	return pfs_load_relaxed(&self->value);
}

/* An object that threads use in an order that they know. */
struct pfs_turn {
	_Atomic(uint32_t) now; /* whose turn it is, [B8] */
};

static inline bool pfs_turn_is(struct pfs_turn *self, uint32_t turn)
{
	/* [B7] acquire, pairs with [B8]: without it a thread could see an older state of the object
	 * than the one that it waited for. */
	return pfs_load_acquire(&self->now) == turn;
}

static inline void pfs_turn_pass(struct pfs_turn *self, uint32_t next)
{
	/* [B8] release, pairs with [B7]. */
	pfs_store_release(&self->now, next);
}

/*
 * One CAS and two release stores on one hot line, and nothing else: no load, no record, no bytes.
 * The words are known beforehand, so the CAS never fails.
 */
static inline void pfs_floor_triple(_Atomic(uint32_t) *word)
{
	uint32_t seen = 0;

	/* [B5] acquire, pairs with [B6]: the orders of a record's life, here with itself. */
	(void)pfs_cas_acquire(word, &seen, 1);
	/* [B6] release, pairs with [B5]: publish, then free. */
	pfs_store_release(word, 2);
	pfs_store_release(word, 0); /* [B6] */
}

#endif
