/*
 * cache.h - a thread's rings: for each small class a stack of free blocks that its thread uses
 * without a locked instruction, and that others may empty without waiting for it.
 *
 * A ring is two stacks: malloc pops from the front, free pushes to the back, and a malloc that
 * finds the front empty moves the newest of the back there. With one stack for both the next
 * malloc's load is of the word that the last free stored, at an address that the processor knows
 * late, by the page map; it waits, or guesses wrong, in each pair.
 *
 * The owner writes the end of the stack that it is about to change into `inside`, looks at that
 * stack's limit, moves one block, and with the stack's new end it has left: that is what tells, for
 * the two differ now. The limits are `low`, where the front is empty, and `high`, where the back is
 * full; a taker sets low to the highest address and high to 0, so that the owner's next call goes
 * the slow way: revoking costs the owner no instruction. Then the heavy barrier; then the taker
 * looks whether `inside` is the end of a stack. It is not: the owner is not inside, and will find
 * the limits changed when it comes; the blocks are the taker's, and the ring stays REVOKED until
 * its owner makes it usable again. It is: the owner has perhaps looked at the limits before they
 * changed; the taker puts them back, and takes nothing. Nobody waits for an owner; an owner that
 * meets a revocation waits for the taker, who holds the registry. In its slow ways the owner writes
 * INSIDE before it changes a stack, and OUTSIDE at the end.
 *
 * A new ring is REVOKED too, without slots. So the first use, the use after a theft, and a thread
 * that has no cache yet go one way.
 *
 * What moves otherwise than by malloc and free is counted, so that calls need not be: a malloc is a
 * block that came to the front and is not there, a free is one that is in the back or left it.
 *
 * Invariants
 *	[CR1] front, back, slots and their content are the owner's while it is inside, or the
 *	     limits are not revoked; the taker's from when it saw the owner outside, with the
 *	     limits revoked, under the registry's lock, until it lets that go. It leaves both
 *	     stacks empty.
 *	[CR2] only who holds the registry changes a limit.
 *	[CR3] below the lowest place of the back stands no block: something to compare with.
 *	[CR4] at each moment a block is once or not at all below front and back: what is moved is
 *	     taken from one before it is in the other. So a child of fork may stop the owner
 *	     anywhere; outside of a move from or to the bin it loses at most what was on its way.
 *
 *	[CR5] the stacks do not touch [CR3], and nothing moves an end to where it was but a slow
 *	     way, which ends OUTSIDE: so `inside` is an end only while the owner is inside.
 *
 * Ordering:  [D1] inside: store, release, then light barrier
 *                                            <->  [D3] inside: load, acquire, after the barrier
 *            [D2] limits: loads              <->  [D4] revoke: stores, then heavy barrier
 *            the store-buffering pair: after the barrier the taker sees the owner inside, or the
 *            owner the revoked limits. Without it a block would have two owners.
 *            [D5] front, back: store, release  <->  [D6] front, back: load, acquire
 *            carries: slots and the blocks' bytes, to the taker. And as [D1] is a release, who sees
 *            an entry sees what was done before it; as [D6] is an acquire, and the taker looks at
 *            inside once more after it, who sees what a slow way did sees that it was inside.
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
#define PFS_OUTSIDE 1u /* no end of a stack */
#define PFS_INSIDE 2u

struct pfs_cache_ring {
	alignas(PFS_RING_BYTES) _Atomic(uint64_t) front; /* owner [CR1]: behind the next block */
	_Atomic(uint64_t) low;                           /* [CR2]: slots, or revoked */
	_Atomic(uint64_t) back;      /* owner [CR1]: where the next block goes */
	_Atomic(uint64_t) high;      /* [CR2]: behind the last slot, or revoked */
	void **slots;                /* owner; NULL: none [CR1]. Front, [CR3], back */
	_Atomic(uint64_t) allocated; /* owner, taker: mallocs, and what is in the front */
	_Atomic(uint64_t) freed;     /* owner, taker: frees, but what is in the back */
	_Atomic(uint32_t) inside;    /* owner [D1]: the end that it moves, if that is there yet */
	uint16_t capacity;           /* of the back; owner and taker [CR1] */
	uint8_t front_capacity;      /* the same */
	uint8_t events;              /* owner: refills and flushes since capacity grew */
};
_Static_assert(sizeof(struct pfs_cache_ring) == PFS_RING_BYTES, "the page map's offsets");

struct pfs_cache {
	struct pfs_cache_ring unusable; /* of what is no slab; never anything but REVOKED */
	struct pfs_cache_ring rings[PFS_SMALL_COUNT];
	struct pfs_arena *arena;              /* owner */
	struct pfs_cache *previous, *next;    /* registry */
	uint32_t seen_calls[PFS_SMALL_COUNT]; /* tick, under the registry: at the last one */
	_Atomic(uint32_t) slot_bytes;         /* under the registry: of all slots */
	uint32_t slow_calls;                  /* owner: since it looked at the clock */
	_Atomic(uint32_t) moving; /* owner: 1 + the class whose ring it refills or flushes, or 0 */
	bool is_enabled;          /* owner: rings are used (opt tcache, thread.tcache.enabled) */
	bool is_explicit;         /* made once: of no thread (explicit.h) */
	_Atomic(uint64_t) direct_mallocs, direct_frees; /* owner: past the rings */
	_Atomic(uint64_t) past_bytes, past_freed_bytes; /* owner: of these, and of large blocks */
};
_Static_assert(offsetof(struct pfs_cache, rings) == PFS_RING_OFFSET(0), "the page map's offsets");

/* What the quick ways know of their thread, in one place, for its address is loaded. */
struct pfs_own {
	struct pfs_cache *cache;
	/* Of who counts blocks (memory/preload/counted.h); nobody else looks at these. */
	struct pfs_counter *counter;
	uintptr_t first_page; /* of the part of the page map where the thread's blocks mostly are */
	_Atomic(uint64_t) *entries; /* of that part */
	uint32_t reference;         /* of its life */
	uint32_t last_tag;
	struct pfs_cell *last_cell;
};

/* The calling thread's; never NULL. At first, and after its end, one that is unusable for all. */
#ifdef PFS_SIM /* of the virtual thread */
struct pfs_cache **pfs_cache_own_place(void);
#define pfs_cache_own (*pfs_cache_own_place())
#else
extern _Thread_local struct pfs_own pfs_own
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#define pfs_cache_own (pfs_own.cache)
#endif
extern struct pfs_cache pfs_cache_none __attribute__((visibility("hidden")));
extern struct pfs_cache pfs_cache_ended __attribute__((visibility("hidden")));

static inline struct pfs_cache_ring *pfs_ring_at(struct pfs_cache *self, uint64_t offset)
{
	return (struct pfs_cache_ring *)((char *)self + offset);
}

/* Ahead of a change of the stack that ends there. Its low half will do: a stack is short. */
static inline void pfs_ring_enter(struct pfs_cache_ring *self, uint64_t end)
{
	/* [D1] release, pairs with [D3]: see the head of this file. */
	pfs_store_release(&self->inside, (uint32_t)end);
	pfs_barrier_light();
}

/* A slow way begins: whatever it changes, the owner is inside; and it ends. */
static inline void pfs_ring_hold(struct pfs_cache_ring *self)
{
	pfs_ring_enter(self, PFS_INSIDE);
}

static inline void pfs_ring_leave(struct pfs_cache_ring *self)
{
	pfs_ring_enter(self, PFS_OUTSIDE);
}

/* A stack's end moves, and the owner has left. */
static inline void pfs_ring_move_end(_Atomic(uint64_t) *end, uint64_t by)
{
	pfs_barrier_light();
#if defined(__SANITIZE_THREAD__) || defined(PFS_SIM) || !defined(__x86_64__)
	/* [D5] release, pairs with [D6]; relaxed: the load is of its own store. */
	pfs_store_release(end, pfs_load_relaxed(end) + by);
#else
	pfs_add_owned(end, by); /* [D5]: every store of this processor is a release */
#endif
}

/* The front's latest block, with the ring entered and left; false: entered, and the front has
 * none, or the ring is revoked. */
static inline bool pfs_ring_pop(struct pfs_cache_ring *self, void **block)
{
	uint64_t front = pfs_load_relaxed(&self->front); /* relaxed: [CR1] */
	pfs_ring_enter(self, front);
	if (!pfs_likely(!pfs_is_at_most(front, &self->low))) /* [D2] */
		return false;
	*block = ((void **)front)[-1]; /* NOLINT: addresses are numbers here */
	pfs_ring_move_end(&self->front, -(uint64_t)sizeof(void *));
	return true;
}

/* False: the ring is entered, and its back is full, or it is revoked, or the block is the latest
 * there already. */
static inline bool pfs_ring_push(struct pfs_cache_ring *self, void *block)
{
	uint64_t back = pfs_load_relaxed(&self->back); /* relaxed: [CR1] */
	pfs_ring_enter(self, back);
	if (!pfs_likely(!pfs_is_at_least(back, &self->high))) /* [D2] */
		return false;
	void **slot = (void **)back;        /* NOLINT: addresses are numbers here */
	if (!pfs_likely(slot[-1] != block)) /* [CR3] */
		return false;
	*slot = block;
	pfs_ring_move_end(&self->back, sizeof(void *));
	return true;
}

/*
 * pfs_cache_fill - a malloc of a small class found its ring's front empty: the newest of the back
 * go there. offset: of the ring.
 *
 * Returns   a block, and the ring is left; NULL: it is still entered, the back has few, or none.
 * Progress  wait-free.
 */
void *pfs_cache_fill(uint64_t offset);

/*
 * pfs_cache_refill - the slow way of a malloc of a small class behind that: the ring is entered.
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

/* Around fork. child: what threads that are not there any more cached is freed when the child needs
 * it. */
void pfs_caches_lock(void);
void pfs_caches_unlock(void);
void pfs_caches_child(void);

/* Has any thread a cache of its own? Under the lock of them. */
bool pfs_caches_any(void);

#endif
