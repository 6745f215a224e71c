/*
 * cache.h - a thread's rings: for each small class a stack of free blocks that the thread uses
 * without a locked instruction, and that other threads can empty without waiting for it.
 *
 * A ring is two stacks: malloc pops from the front, free pushes to the back, and a malloc that
 * finds the front empty moves the newest blocks of the back there. With a single stack, each malloc
 * would load the word that the preceding free stored. The address of that store depends on a page
 * map lookup, so it is known late: the load would wait for it, or be mispredicted, in every pair.
 *
 * Each stack has a limit: `low` is where the front is empty, `high` where the back is full. The
 * owner writes the end of the stack that it will change into `inside`, compares that end with the
 * limit, and moves one block. Storing the new end also leaves the ring, because `inside` then
 * differs from it.
 *
 * A taker revokes a ring: it sets `low` to the highest address and `high` to 0, so that the owner's
 * next call takes the slow path. This costs the owner no instruction. The taker then executes the
 * heavy barrier and checks whether `inside` is the end of a stack.
 * - If not, the owner is outside and will see the changed limits when it enters. The blocks belong
 *   to the taker, and the ring stays REVOKED until its owner makes it usable again.
 * - If so, the owner may have read the limits before they changed. The taker restores them and
 *   takes nothing.
 * No thread waits for an owner. An owner that meets a revocation waits for the taker, which holds
 * the registry. On its slow paths the owner writes INSIDE before it changes a stack, and OUTSIDE at
 * the end.
 *
 * A new ring is also REVOKED, and has no slots. So the first use, a use after a theft, and a call
 * of a thread without a cache share one path.
 *
 * Calls are not counted. Every other move of blocks is, and the numbers of calls follow: mallocs
 * are the blocks that came to the front and are not there, frees are those that are in the back or
 * left it.
 *
 * Invariants
 * 	[CR1] front, back, slots and their contents belong to the owner while it is inside or the
 * 	     limits are not revoked. They belong to the taker from when it saw the owner outside,
 * 	     with the limits revoked, under the registry's lock, until it releases that lock. It
 * 	     leaves both stacks empty.
 * 	[CR2] only the holder of the registry changes a limit.
 * 	[CR3] the place below the lowest one of the back holds no block, so that free always has
 * 	     a preceding place to compare with.
 * 	[CR4] at each moment a block is at most once below front and back: a moved block leaves
 * 	     one stack before it enters the other. So a fork may stop the owner anywhere: outside
 * 	     of a move from or to the bin the child loses at most the blocks being moved.
 * 	[CR5] the place of [CR3] separates the stacks, and only a slow path, which ends OUTSIDE,
 * 	     moves an end back to where it was: so `inside` equals an end only while the owner is
 * 	     inside.
 *
 * Ordering:  [D1] inside: store, release, then light barrier
 *                                            <->  [D3] inside: load, acquire, after the barrier
 *            [D2] limits: loads              <->  [D4] revoke: stores, then heavy barrier
 *            the store-buffering pair: after the barrier the taker sees the owner inside, or the
 *            owner the revoked limits. Without it a block would have two owners.
 *            [D5] front, back: store, release  <->  [D6] front, back: load, acquire
 *            carries: slots and the blocks' bytes, to the taker. [D1] is a release, so a thread
 *            that sees an entry sees everything done before it. [D6] is an acquire, and the taker
 *            rereads `inside` after it, so if it sees what a slow path did, it also sees that the
 *            owner was inside. All of it returns to the owner through the registry's lock.
 * Without the kernel's barrier (system call refused) no thread takes from another's rings, and what
 * idle threads cache stays until they end.
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
#define PFS_OUTSIDE 1u /* never the end of a stack */
#define PFS_INSIDE 2u

struct pfs_cache_ring {
	alignas(PFS_RING_BYTES) _Atomic(uint64_t) front; /* owner [CR1]: behind the next block */
	_Atomic(uint64_t) low;                           /* [CR2]: slots, or revoked */
	_Atomic(uint64_t) back;      /* owner [CR1]: where the next freed block goes */
	_Atomic(uint64_t) high;      /* [CR2]: behind the last slot, or revoked */
	void **slots;                /* owner [CR1]; NULL: none. Front, the place [CR3], back */
	_Atomic(uint64_t) allocated; /* owner, taker: mallocs plus what is in the front */
	_Atomic(uint64_t) freed;     /* owner, taker: frees minus what is in the back */
	_Atomic(uint32_t) inside;    /* owner [D1]: the end being moved, while it is still there */
	uint16_t capacity;           /* of the back; owner and taker [CR1] */
	uint8_t front_capacity;      /* of the front, likewise */
	uint8_t events : 7;          /* owner: refills and flushes since capacity grew */
	uint8_t is_due : 1;          /* owner and taker [CR1]: see choose.h */
};
_Static_assert(sizeof(struct pfs_cache_ring) == PFS_RING_BYTES, "the page map's offsets");

struct pfs_rack;

struct pfs_cache {
	struct pfs_cache_ring unusable; /* for pointers outside slabs; always REVOKED */
	struct pfs_cache_ring rings[PFS_SMALL_COUNT];
	struct pfs_arena *arena;              /* owner */
	struct pfs_cache *previous, *next;    /* registry */
	/* registry: the ring of its arena's caches; NULL before it is listed */
	struct pfs_cache *previous_here, *next_here;
	uint32_t seen_calls[PFS_SMALL_COUNT]; /* tick, under the registry: calls at the last one */
	_Atomic(uint32_t) slot_bytes;         /* under the registry: of all slots */
	uint32_t slow_calls;                  /* owner: since it last read the clock */
	uint64_t until_guarded, random;       /* owner: see choose.h, like the next two */
	const struct pfs_cache_ring *cut_ring;
	uint8_t cut_left;
	_Atomic(uint32_t) moving; /* owner: 1 + the class whose ring it refills or flushes, or 0 */
	bool is_enabled;          /* owner: rings are used (opt tcache, thread.tcache.enabled) */
	bool is_explicit;         /* set once: belongs to no thread (explicit.h) */
	/* under the registry: how many forks there were when a thread of this process began to use
	 * it [FK1]; read by any thread of an explicit cache [FK2] */
	_Atomic(uint32_t) forks;
	_Atomic(uint64_t) direct_mallocs, direct_frees; /* owner: calls that bypassed the rings */
	/* owner: bytes of those calls and of large blocks */
	_Atomic(uint64_t) past_bytes, past_freed_bytes;
	/* owner, watch.h: of a thread's cache, the one in front of it; of that one, the cache
	 * behind it. Else NULL. */
	struct pfs_cache *front, *behind;
	_Atomic(struct pfs_rack *) rack; /* owner: rack.h; NULL: none yet */
	_Atomic(uint64_t) rack_takes;    /* owner */
	uint32_t rack_bytes_most;        /* owner: grows with requests that it could not serve */
};
_Static_assert(offsetof(struct pfs_cache, rings) == PFS_RING_OFFSET(0), "the page map's offsets");

/* What the fast paths need to know of their thread, in one place, because loading its address
 * costs. */
struct pfs_own {
	struct pfs_cache *cache;
	/* Used only by a library that counts blocks (memory/preload/counted.h). */
	struct pfs_quick *quick;
	struct pfs_counter *counter;
	/* of the part of the page map where most of the thread's blocks are */
	uintptr_t first_page;
	_Atomic(uint64_t) *entries; /* of that part */
	/* Bytes of classes that the thread has allocated and freed, if it is watched (watch.h). */
	uint64_t allocated, freed;
	/* The part of the rings' and the cache's counts that is the accounts' own. */
	uint64_t inner_allocated, inner_freed;
};

/* The cache that the calling thread's fast paths use; never NULL. Before the first call, and after
 * the thread's end, it is one whose rings are all unusable; so it is in a thread that is watched,
 * in front of its own. */
#ifdef PFS_SIM /* of the virtual thread */
struct pfs_cache **pfs_cache_own_place(void);
#define pfs_cache_own (*pfs_cache_own_place())
#else
extern _Thread_local struct pfs_own pfs_own
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#define pfs_cache_own (pfs_own.cache)
#endif
/* The calling thread's own cache, for slow paths. */
static inline struct pfs_cache *pfs_cache_mine(void)
{
	struct pfs_cache *cache = pfs_cache_own;
	return pfs_likely(cache->behind == NULL) ? cache : cache->behind;
}

extern struct pfs_cache pfs_cache_none __attribute__((visibility("hidden")));
extern struct pfs_cache pfs_cache_ended __attribute__((visibility("hidden")));

static inline struct pfs_cache_ring *pfs_ring_at(struct pfs_cache *self, uint64_t offset)
{
	return (struct pfs_cache_ring *)((char *)self + offset);
}

/* Before a change of the stack that ends there. The low half is enough: a stack is short. */
static inline void pfs_ring_enter(struct pfs_cache_ring *self, uint64_t end)
{
	/* [D1] release, pairs with [D3]: see the head of this file. */
	pfs_store_release(&self->inside, (uint32_t)end);
	pfs_barrier_light();
}

/* hold begins a slow path: the owner is inside, whatever it changes. leave ends it. */
static inline void pfs_ring_hold(struct pfs_cache_ring *self)
{
	pfs_ring_enter(self, PFS_INSIDE);
}

static inline void pfs_ring_leave(struct pfs_cache_ring *self)
{
	pfs_ring_enter(self, PFS_OUTSIDE);
}

/* Move a stack's end, by which the owner also leaves. */
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

/* Pop the front's latest block; the ring is entered and left. False: the ring is entered, and the
 * front is empty or the ring revoked. */
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

/* Push a block. False: the ring is entered, and its back is full, it is revoked, or the block
 * already is the latest one there. */
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
 * pfs_cache_fill - a malloc of a small class found its ring's front empty: move the newest blocks
 * of the back there. offset: of the ring.
 *
 * Returns   a block, and the ring is left; NULL: it is still entered, and the back has few or none.
 * Progress  wait-free.
 */
void *pfs_cache_fill(uint64_t offset);

/*
 * pfs_cache_refill - the slow path after that, with the ring entered.
 *
 * Returns   a block, or NULL: no memory. The ring is left.
 * Progress  blocking: pfs_bin_take, the registry if it was revoked.
 */
PFS_COLD void *pfs_cache_refill(uint32_t class);

/* A block that bypasses the ring, which is not entered. */
void *pfs_cache_take_one(uint32_t class);

/* The slow path of a free of a block of a slab: the ring is entered, and is left at the end. */
PFS_COLD void pfs_cache_overflow(void *block, uint32_t class, const char *call);

/*
 * pfs_caches_take_back - a bin has no free region: take blocks from the rings of its class, of all
 * threads but the caller, if they hold a slab's worth (option strict: any). Under `growing`.
 *
 * Returns   true: some region came to the words. is_held: they held as many, and fewer came.
 * Progress  blocking: the registry, one heavy barrier; waits for no owner.
 */
bool pfs_caches_take_back(struct pfs_bin *bin, bool *is_held);

/* A tick: empty the rings that were not used since the last one; all: every ring. Returns how many
 * blocks went to the words. */
uint64_t pfs_caches_tick(bool all);

/* A part of it, with a bounded number of caches and blocks: the first, or the next one. False: it
 * was the last. */
struct pfs_caches_ticked {
	uint64_t taken; /* blocks that went to the words */
	bool is_in_use; /* some ring was used since the last tick */
};
bool pfs_caches_tick_some(bool all, bool is_first, struct pfs_caches_ticked *ticked);

/* Move all blocks of the calling thread's rings to the words. */
void pfs_cache_flush(void);

/* Bind the calling thread to an arena, after a flush of its rings. */
void pfs_cache_bind(struct pfs_arena *arena);
struct pfs_arena *pfs_cache_arena(void);

/* Turn the calling thread's rings on or off. Returns the previous setting. */
bool pfs_cache_enable(bool enabled);

/* At the end of a slow free, with no lock held: a tick's step if one is due; and fork handlers once
 * much memory is free, also in a program of one thread, so that its forks do not copy the page
 * tables of that. */
void pfs_cache_after_free(struct pfs_cache *cache);

/* The calling thread's cache, created if possible. */
struct pfs_cache *pfs_cache_attached(void);

/* Add to a counter of the calling thread's cache. Threads without one of their own share theirs. */
static inline void pfs_cache_bump(struct pfs_cache *self, _Atomic(uint64_t) *counter, uint64_t by)
{
	if (pfs_likely(self->arena != NULL))
		pfs_bump_owned(counter, by);
	else
		(void)pfs_fetch_add_relaxed(counter, by); /* relaxed: a count */
}

/* Advance what the program watches: not for a cache that only lends its rings. */
static inline void pfs_cache_tell(const struct pfs_cache *self, uint64_t bytes, uint64_t freed)
{
#ifdef PFS_SIM
	(void)self, (void)bytes, (void)freed;
#else
	pfs_own.allocated += self->is_explicit ? 0 : bytes;
	pfs_own.freed += self->is_explicit ? 0 : freed;
#endif
}

/* Note bytes that the calling thread allocated or freed without its rings. */
static inline void pfs_cache_note_new(struct pfs_cache *self, uint64_t bytes)
{
	pfs_cache_bump(self, &self->past_bytes, bytes);
	pfs_cache_tell(self, bytes, 0);
}

static inline void pfs_cache_note_freed(struct pfs_cache *self, uint64_t bytes)
{
	pfs_cache_bump(self, &self->past_freed_bytes, bytes);
	pfs_cache_tell(self, 0, bytes);
}

/* create: a cache that belongs to no thread, bound to the calling thread's arena; NULL: no memory.
 * destroy: its blocks go to the words. */
struct pfs_cache *pfs_cache_create(void);
void pfs_cache_destroy(struct pfs_cache *cache);

/* The thread ends: flush its rings and unlist its cache. Later calls of the thread bypass rings. */
void pfs_cache_end(void *cache);

/* The program ends: all rings are flushed. Other threads may still run. */
void pfs_caches_end(void);

/* By class and over all threads: blocks in rings now, and those allocated and freed through rings
 * so far. */
struct pfs_cache_counts {
	uint64_t blocks[PFS_SMALL_COUNT];
	uint64_t mallocs[PFS_SMALL_COUNT];
	uint64_t frees[PFS_SMALL_COUNT];
	uint64_t direct_mallocs, direct_frees; /* bypassed the rings */
	uint64_t rack_takes;                  /* mallocs from racks */
	uint64_t rack_blocks, rack_bytes;    /* on racks now */
	uint64_t threads;
	uint64_t slot_bytes;
};
void pfs_caches_count(struct pfs_cache_counts *counts);

/* Bytes in the rings of an arena's threads, including blocks of other arenas. */
uint64_t pfs_caches_held_bytes(const struct pfs_arena *arena);

void pfs_caches_start(void);

/* Around fork. child: what threads of the parent cached is freed later, when the child needs it, a
 * bounded part at a time. Takes no longer with more of those threads. */
void pfs_caches_lock(void);
void pfs_caches_unlock(void);
void pfs_caches_child(void);

/* How many threads of this process have a cache. */
uint32_t pfs_caches_threads(void);

#endif
