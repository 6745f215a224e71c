/*
 * timed_engine.h - internals of the machine in virtual time; for timed*.c only.
 *
 * Invariant: while a thread runs, heap[0] is one of its keys, not later than its clock, and all
 * other keys in the heap are at least heap[0]. A thread is in the heap if it runs on its PU and
 * does not wait for a line, or if it wakes at a known time. Clocks are picoseconds.
 */
#ifndef PFS_SIM_TIMED_ENGINE_H
#define PFS_SIM_TIMED_ENGINE_H

#include "check/machine/machine.h"
#include "sim/timed/timed.h"
#include "sim/timed/timed_lines.h"

#define PFS_TIMED_PS UINT64_C(1000) /* in a nanosecond */
#define PFS_TIMED_ID_BITS 10u       /* 1,024 threads */
#define PFS_TIMED_NEVER UINT64_MAX
#define PFS_TIMED_NOBODY UINT16_MAX /* no thread */

enum pfs_timed_state {
	PFS_TIMED_RUNS,   /* on its PU; it may wait for a line */
	PFS_TIMED_QUEUED, /* for its PU */
	PFS_TIMED_WAKES,  /* at its clock, in the heap */
	PFS_TIMED_SLEEPS, /* until a mutex is unlocked */
	PFS_TIMED_ENDED
};

struct pfs_timed_thread {
	_Alignas(64) uint64_t clock;
	uint64_t alarm; /* check debt and time slice when the clock is past it */
	uint64_t drain; /* when its stores are all in its cache */
	uint64_t debt;  /* interrupts that it has not paid for */
	uint64_t interrupted;
	uint64_t waits;   /* in the kernel, for acknowledgements, until then */
	uint64_t asked;   /* when it requested the line for which it waits */
	uint64_t latency; /* of its last transfer */
	struct pfs_vthread *own;
	const void *mutex;   /* while it sleeps */
	uint64_t last_miss;  /* tag; with streak: how many misses were on lines in a row */
	uint64_t watch_line; /* tag of its last load that missed, while watch != 0 */
	uint32_t watch;      /* 1 + habit of that load's place */
	uint32_t streak;
	uint16_t core, node, l3, pu;
	uint16_t next; /* in the queue of its PU, its mutex, or of a line */
	uint16_t bypassed;
	uint8_t state; /* enum pfs_timed_state */
	bool wants_exclusive;
	bool peeks;      /* it fetches to read, even if exclusively */
	bool by_sibling; /* woken since the line came to its core */
	void *argument;
};

struct pfs_timed_pu {
	uint64_t slice_end;
	uint64_t handled;     /* when its last interrupt is over */
	uint16_t current;     /* thread, or PFS_TIMED_NOBODY */
	uint16_t first, last; /* queue of threads */
	uint16_t threads;     /* that belong to it */
};

/* Costs in picoseconds, and what follows from the topology. */
struct pfs_timed_prices {
	uint64_t load, store, rmw, plain, l2, smt, l3_hit, read_gap;
	uint64_t futex_sleep, futex_wake, wake, context_switch, slice, yield;
	uint64_t barrier, barrier_cpu, ipi, interrupt, map, unmap, fault;
	uint64_t jitter_q32;  /* share of 2^32 */
	uint64_t request_q16; /* share of 2^16 */
	uint64_t hold, late;  /* least time that others wait for a new owner; most */
	uint64_t upgrade_q16, late_q32;
	uint64_t stream_q16;
	uint64_t ahead; /* no request reaches a holder sooner than this after it was made */
	uint32_t bypass_max;
	bool read_takes;
	uint32_t l1_lines, l2_lines, l3_lines;
	uint32_t *transfer;    /* [l3_count * l3_count] */
	uint32_t *memory;      /* [node_count * node_count] */
	uint16_t *place_of_l3; /* [l3_count], node, or package if that is smaller */
	uint16_t *package_of_l3;
};

/* What each load's place in the source was followed by: a write to the same line, or not. */
struct pfs_timed_habit {
	const struct pfs_sim_place *place;
	uint32_t count; /* 0..3; from 2 on a write is expected */
};
#define PFS_TIMED_HABITS 1024u

struct pfs_timed {
	struct pfs_machine *machine;
	/* Operations that are no accesses: pfs_timed_kernel, which itself accesses memory. */
	uint64_t (*kernel)(struct pfs_timed *self, struct pfs_timed_thread *thread,
			   const struct pfs_sim_operation *operation);
	struct pfs_timed_thread *threads;
	uint64_t *heap; /* keys: clock, then thread; two sentinels after the last */
	uint32_t heap_count;
	uint32_t alive;
	uint32_t sleeping; /* on mutexes */
	uint64_t next_tick;
	uint64_t random;
	struct pfs_timed_prices prices;
	struct pfs_cache_lines lines;
	struct pfs_timed_stats stats; /* queue_ns in picoseconds */
	struct pfs_timed_pu *pus;
	uint16_t *l3_of_core;
	struct pfs_timed_plan plan;
	void (*body)(void *argument);
	struct pfs_timed_habit habits[PFS_TIMED_HABITS];
};

static inline uint64_t pfs_timed_key(uint64_t clock, uint32_t id)
{
	return clock << PFS_TIMED_ID_BITS | id;
}

static inline uint32_t pfs_timed_id(const struct pfs_timed *self,
				    const struct pfs_timed_thread *thread)
{
	return (uint32_t)(thread - self->threads);
}

static inline uint32_t pfs_timed_random(struct pfs_timed *self)
{
	uint64_t x = self->random; /* xorshift64* */
	x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
	self->random = x;
	return (uint32_t)((x * UINT64_C(0x2545F4914F6CDD1D)) >> 32);
}

/* A latency that varies by the share `jitter`. */
static inline uint64_t pfs_timed_vary(struct pfs_timed *self, uint64_t latency)
{
	uint64_t spread = latency * self->prices.jitter_q32 >> 32;
	return latency - spread + (2 * spread * pfs_timed_random(self) >> 32);
}

/* timed_prices.c: the table of costs for a topology. False: no memory. */
bool pfs_timed_price(struct pfs_timed_prices *prices, const struct pfs_timed_plan *plan);

/* timed_sched.c: which thread runs. */
void pfs_timed_push(struct pfs_timed *self, uint64_t key);
/* The thread lets all earlier ones run first. */
void pfs_timed_yield_root(struct pfs_timed *self, struct pfs_timed_thread *thread);
/* The thread leaves the heap, and continues when another puts it back; for lines. */
void pfs_timed_park(struct pfs_timed *self, struct pfs_timed_thread *thread);
/* The thread leaves its PU to the next one, in the given state. */
void pfs_timed_block(struct pfs_timed *self, struct pfs_timed_thread *thread,
		     enum pfs_timed_state state);
void pfs_timed_wake(struct pfs_timed *self, struct pfs_timed_thread *thread, uint64_t when);
/* Pay debts, and give the PU away if the time slice is over. */
void pfs_timed_alarm(struct pfs_timed *self, struct pfs_timed_thread *thread);
/* At the start of a run: all threads at time 0. */
void pfs_timed_begin(struct pfs_timed *self);
/* The thread has come to its end: does not return. */
void pfs_timed_finish(struct pfs_timed *self, struct pfs_timed_thread *thread);

/* timed_kernel.c: all kinds of operations that are no accesses; returns what was seen. */
uint64_t pfs_timed_kernel(struct pfs_timed *self, struct pfs_timed_thread *thread,
			  const struct pfs_sim_operation *operation);

/* The running thread mapped memory. */
void pfs_timed_mapped(void *context, uint32_t os_page_count);

/* timed_access.c: a line that is not in the core's cache. True: the thread's clock is that at which
 * it has the line, no earlier thread is left to run, and the line stays for use_ps. False: a
 * sibling's request brought the line to the core; look again. */
bool pfs_timed_fetch(struct pfs_timed *self, struct pfs_timed_thread *thread, struct pfs_line *line,
		     bool exclusive, uint64_t use_ps);
/* For a store, which does not wait for its line. False: others compete for it; fetch. */
bool pfs_timed_fetch_behind(struct pfs_timed *self, struct pfs_timed_thread *thread,
			    struct pfs_line *line);

/* timed_engine.c: the hooks of the machine. */
uint64_t pfs_timed_execute(struct pfs_machine *machine, const struct pfs_sim_operation *operation);
void pfs_timed_plain(struct pfs_machine *machine, const struct pfs_plain *access);
/* The thread's turn, and its line for a read-modify-write; adds cost_ps to the clock. */
void pfs_timed_own(struct pfs_timed *self, struct pfs_timed_thread *thread, void *address,
		   uint64_t cost_ps);

/* Until no other thread is earlier; the access is under way and cannot be preempted. */
static inline void pfs_timed_let_earlier(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	uint64_t key = pfs_timed_key(thread->clock, pfs_timed_id(self, thread));
	uint64_t next = self->heap[1] < self->heap[2] ? self->heap[1] : self->heap[2];
	if (key <= next && thread->clock < self->next_tick)
		return;
	pfs_timed_yield_root(self, thread);
}

/*
 * May the thread use a line that it holds, and that no other has requested, before its turn? Later
 * requests of others are made at `next` or later, and reach the holder not before next + ahead:
 * until then each of its accesses would be a hit, and before theirs. This is exact, except for the
 * first access of a sibling, which needs no request; lines that siblings share are not used ahead.
 */
static inline bool pfs_timed_may_go_ahead(const struct pfs_timed *self,
					  const struct pfs_timed_thread *thread)
{
	uint64_t next = self->heap[1] < self->heap[2] ? self->heap[1] : self->heap[2];
	return thread->clock < thread->alarm && thread->clock < self->next_tick &&
	       thread->clock <= (next >> PFS_TIMED_ID_BITS) + self->prices.ahead;
}

/* Until no other thread is earlier, no time slice is over, and no tick is due. */
static inline void pfs_timed_wait_turn(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	if (__builtin_expect(thread->clock >= thread->alarm, 0))
		pfs_timed_alarm(self, thread);
	pfs_timed_let_earlier(self, thread);
}

#endif
