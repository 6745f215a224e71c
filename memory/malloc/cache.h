/*
 * cache.h - a thread's rings: for each small class a stack of free blocks that its thread uses
 * without a locked instruction, and that others may empty without waiting for it.
 *
 * The owner makes the ring's mark odd, looks at top and at a limit, moves one block, and makes the
 * mark even. The limits are `low`, where the stack is empty, and `high`, where it is full; a taker
 * sets low to the highest address and high to 0, so that the owner's next call goes the slow way:
 * revoking costs the owner no instruction. Then the heavy barrier; then the taker looks at the
 * mark. Even: the owner is not inside, and will find the limits changed when it comes; the blocks
 * are the taker's, and the ring stays REVOKED until its owner makes it usable again. Odd: the
 * owner is inside, and has perhaps looked at the limits before they changed; the taker puts them
 * back, and takes nothing. Nobody waits for an owner; an owner that meets a revocation waits for
 * the taker, who holds the registry.
 *
 * A new ring is REVOKED too, without slots. So the first use, the use after a theft, and a thread
 * that has no cache yet go one way.
 *
 * The mark counts: it grows by two a call. With what was refilled and flushed, and what is there,
 * it tells how many blocks were allocated and how many freed through the ring.
 *
 * Invariants
 *	[R1] top, slots and their content are the owner's while the mark is odd, or the limits are
 *	     not revoked; the taker's from when it saw the mark even, with the limits revoked,
 *	     under the registry's lock, until it lets that go. After that top is meaningless
 *	     until the owner resets it.
 *	[R2] only who holds the registry changes a limit.
 *	[R3] slots[-1] is no block: the ring's lowest place has something below it to compare.
 *
 * Ordering:  [D1] odd: add, then light barrier  <->  [D3] mark: load, acquire, after the barrier
 *            [D2] limits: loads                 <->  [D4] revoke: stores, then heavy barrier
 *            the store-buffering pair: after the barrier the taker sees the odd mark, or the owner
 *            the revoked limits. Without it a block would have two owners.
 *            [D5] even: store, release          <->  [D3] mark: load, acquire
 *            carries: top, slots and the blocks' bytes, to the taker
 *            Back to the owner all of it goes by the registry's lock.
 * Without the kernel's barrier (system call refused) nobody takes from others' rings, and what idle
 * threads cached stays until they end.
 * Progress   the owner's fast calls: wait-free.
 * Source:    magazine.h's revocation, with limits in the place of its control word.
 */
#ifndef PFS_MALLOC_CACHE_H
#define PFS_MALLOC_CACHE_H

#include <stdalign.h>

#include "bin.h"
#include "containers/barrier.h"
#include "containers/compiler.h"

#define PFS_LOW_REVOKED UINT64_MAX
#define PFS_HIGH_REVOKED UINT64_C(0)

struct pfs_ring {
	alignas(PFS_RING_BYTES) _Atomic(uint64_t) mark; /* owner [D1] [D5] */
	_Atomic(uint64_t) top;   /* owner [R1]: where the next block goes */
	_Atomic(uint64_t) low;   /* [R2]: slots, or revoked */
	_Atomic(uint64_t) high;  /* [R2]: behind the last slot, or revoked */
	void **slots;            /* owner; NULL: none [R1] */
	_Atomic(uint64_t) refilled; /* owner: blocks that came from the bin */
	_Atomic(uint64_t) flushed;  /* owner, taker: blocks that went */
	uint32_t seen_mark;      /* tick: the mark's low half at the last one */
	uint16_t capacity;       /* of slots; owner and taker [R1] */
	uint16_t events;         /* owner: refills and flushes since capacity grew */
};

struct pfs_cache {
	struct pfs_ring unusable; /* of what is no slab; never anything but REVOKED */
	struct pfs_ring rings[PFS_SMALL_COUNT];
	struct pfs_arena *arena;  /* owner */
	struct pfs_cache *previous, *next; /* registry */
	uint64_t number;          /* registry: they are listed by it */
	_Atomic(uint32_t) slot_bytes; /* under the registry: of all slots */
	uint32_t slow_calls;      /* owner: since it looked at the clock */
	_Atomic(uint32_t) moving; /* owner: 1 + the class whose ring it refills or flushes, or 0 */
	bool is_enabled;          /* owner: rings are used (opt tcache, thread.tcache.enabled) */
	bool is_explicit;         /* made once: of no thread (explicit.h) */
	_Atomic(uint64_t) direct_mallocs, direct_frees; /* owner: past the rings */
	_Atomic(uint64_t) past_bytes, past_freed_bytes; /* owner: of these, and of large blocks */
};
_Static_assert(offsetof(struct pfs_cache, rings) == PFS_RING_OFFSET(0), "the page map's offsets");

/* The calling thread's; never NULL. At first, and after its end, one that is unusable for all. */
#ifdef PFS_SIM /* of the virtual thread */
struct pfs_cache **pfs_cache_own_place(void);
#define pfs_cache_own (*pfs_cache_own_place())
#else
extern _Thread_local struct pfs_cache *pfs_cache_own
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#endif
extern struct pfs_cache pfs_cache_none __attribute__((visibility("hidden")));
extern struct pfs_cache pfs_cache_ended __attribute__((visibility("hidden")));

static inline struct pfs_ring *pfs_ring_at(struct pfs_cache *self, uint64_t offset)
{
	return (struct pfs_ring *)((char *)self + offset);
}

static inline void pfs_ring_enter(struct pfs_ring *self)
{
	pfs_add_owned(&self->mark, 1); /* [D1] */
	pfs_barrier_light();
}

static inline void pfs_ring_leave(struct pfs_ring *self)
{
	pfs_barrier_light();
#if defined(__SANITIZE_THREAD__) || defined(PFS_SIM) || !defined(__x86_64__)
	/* [D5] release, pairs with [D3]; relaxed: the load is of its own store. */
	pfs_store_release(&self->mark, pfs_load_relaxed(&self->mark) + 1);
#else
	pfs_add_owned(&self->mark, 1); /* [D5]: every store of this processor is a release */
#endif
}

/* Leave a ring that was entered for nothing: no call counts. */
static inline void pfs_ring_cancel(struct pfs_ring *self)
{
	/* [D5] release, pairs with [D3]; relaxed: the load is of its own store. */
	pfs_store_release(&self->mark, pfs_load_relaxed(&self->mark) - 1);
}

/* The latest block, with the ring entered and left; false: entered, and it has none, or is
 * revoked. */
static inline bool pfs_ring_pop(struct pfs_ring *self, void **block)
{
	pfs_ring_enter(self);
	uint64_t top = pfs_load_relaxed(&self->top); /* relaxed: [R1] */
	if (!pfs_likely(!pfs_is_at_most(top, &self->low))) /* [D2] */
		return false;
	*block = ((void **)top)[-1]; /* NOLINT: addresses are numbers here */
	pfs_add_owned(&self->top, -(uint64_t)sizeof(void *));
	pfs_ring_leave(self);
	return true;
}

/* False: the ring is entered, and it is full or revoked, or the block is on top already. */
static inline bool pfs_ring_push(struct pfs_ring *self, void *block)
{
	pfs_ring_enter(self);
	uint64_t top = pfs_load_relaxed(&self->top); /* relaxed: [R1] */
	if (!pfs_likely(!pfs_is_at_least(top, &self->high))) /* [D2] */
		return false;
	void **slot = (void **)top; /* NOLINT: addresses are numbers here */
	if (!pfs_likely(slot[-1] != block)) /* [R3] */
		return false;
	*slot = block;
	pfs_add_owned(&self->top, sizeof(void *));
	pfs_ring_leave(self);
	return true;
}

/*
 * pfs_cache_refill - the slow way of a malloc of a small class: the ring is entered.
 *
 * Returns   a block, or NULL: no memory. The ring is left.
 * Progress  blocking: pfs_bin_take, the registry if it was revoked.
 */
PFS_COLD void *pfs_cache_refill(uint32_t class);

/* The same past the ring, which is not entered. */
void *pfs_cache_take_one(uint32_t class);

/* The slow way of a free of a block of a slab: the ring is entered; it is left. */
PFS_COLD void pfs_cache_overflow(void *block, uint32_t class, const char *call);

/*
 * pfs_caches_take_back - a bin has no free region: take from the rings of its class, of all
 * threads but the caller's, if they hold a slab's worth (strict: any). Under `growing`.
 *
 * Returns   true: there is a region in the words now. is_held: they held as much, and fewer came.
 * Progress  blocking: the registry, one heavy barrier; waits for no owner.
 */
bool pfs_caches_take_back(struct pfs_bin *bin, bool *is_held);

/* A tick: empty the rings that were not used since the last one; all: every one. How many blocks
 * went. */
uint64_t pfs_caches_tick(bool all);

/* The calling thread's rings into the words. */
void pfs_cache_flush(void);

/* Bind the calling thread to an arena; its rings are flushed first. */
void pfs_cache_bind(struct pfs_arena *arena);
struct pfs_arena *pfs_cache_arena(void);

/* Turn the calling thread's rings on or off; what it was. */
bool pfs_cache_enable(bool enabled);

/* The calling thread's cache, attached if it can be. */
struct pfs_cache *pfs_cache_attached(void);

/* Bytes that the calling thread allocated, or freed, not by its rings. */
static inline void pfs_cache_note_new(struct pfs_cache *self, uint64_t bytes)
{
	pfs_bump_owned(&self->past_bytes, bytes);
}

static inline void pfs_cache_note_freed(struct pfs_cache *self, uint64_t bytes)
{
	pfs_bump_owned(&self->past_freed_bytes, bytes);
}

/* Bytes that the calling thread has allocated and freed, ever, by the classes of the blocks. */
struct pfs_cache_bytes {
	uint64_t allocated, freed;
};
struct pfs_cache_bytes pfs_cache_own_bytes(void);

/* A cache that no thread has, of the calling thread's arena; NULL: no memory. Destroy: what it
 * holds goes into the words. */
struct pfs_cache *pfs_cache_create(void);
void pfs_cache_destroy(struct pfs_cache *cache);

/* The thread ends: flush, and unlist. What it frees and allocates from now on passes the rings. */
void pfs_cache_end(void *cache);

/* The program ends: all rings into the words. Threads may still run. */
void pfs_caches_end(void);

/* Blocks in rings now, those allocated and freed through rings so far, by class, of all threads. */
struct pfs_cache_counts {
	uint64_t blocks[PFS_SMALL_COUNT];
	uint64_t mallocs[PFS_SMALL_COUNT];
	uint64_t frees[PFS_SMALL_COUNT];
	uint64_t direct_mallocs, direct_frees; /* past the rings */
	uint64_t threads;
	uint64_t slot_bytes;
};
void pfs_caches_count(struct pfs_cache_counts *counts);

/* Bytes in the rings of an arena's threads; blocks of other arenas, too. */
uint64_t pfs_caches_held_bytes(const struct pfs_arena *arena);

void pfs_caches_start(void);

/* Around fork. child: the rings of the threads that are not there any more go into the words. */
void pfs_caches_lock(void);
void pfs_caches_unlock(void);
void pfs_caches_child(void);

/* Has any thread a cache of its own? Under the lock of them. */
bool pfs_caches_any(void);

#endif
