/*
 * ring.h - events of all threads on their way to the file, in one order.
 *
 * A thread draws a number, which is the order of events in the file, and fills the entry of that
 * number; the holder of the drain lock takes entries out, strictly by number. A thread that frees
 * draws before the memory can be handed out again, one that allocates after it got it. So an
 * object's free never comes before its allocation, nor after the next allocation of its address. No
 * thread has a buffer of its own: there is nothing to do when it ends.
 *
 * Invariant: an entry belongs to the thread that drew its number, from the moment tail is
 *            less than RING behind the number until ready is number + 1; then to the drain.
 * Ordering:  [RA1] fill: store, release      <->   [RA2] look: load, acquire
 *            carries: the entry, to the drain
 *            [RA3] taken: store, release     <->   [RA4] room: load, acquire
 *            carries: the entry, back to a thread
 *            [RA5] lock: exchange, acquire   <->   [RA6] unlock: store, release
 *            carries: the journal and the writer, from one drain to the next
 */
#ifndef PFS_RECORDER_RING_H
#define PFS_RECORDER_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PFS_RING_ENTRIES (1u << 15)
#define PFS_RECORDER_LINE 64

struct pfs_ring_entry {
	_Atomic(uint64_t) ready; /* number + 1 once it is filled, [RA1] */
	uint64_t time_ns;
	uint64_t address;
	uint64_t size;
	uint32_t thread;
	bool frees;
};

struct pfs_trace_ring {
	alignas(PFS_RECORDER_LINE) _Atomic(uint64_t) head; /* numbers drawn; any thread */
	alignas(PFS_RECORDER_LINE) _Atomic(uint64_t) tail; /* taken out; the drain, [RA3] */
	alignas(PFS_RECORDER_LINE) _Atomic(bool) locked;   /* any thread, [RA5] [RA6] */
	_Atomic(bool) *recording;  /* NULL, or off for good once it is off; see pfs_ring_begin */
	_Atomic(uint32_t) threads; /* numbers given to threads */
	struct pfs_ring_entry entries[PFS_RING_ENTRIES];
};

/*
 * recording is in a page that the kernel zeroes in a child with a copy of the memory, whichever
 * call made the child: such a child does not record. A child that shares the memory, as after
 * vfork, allocates from its parent's heap, so its calls are recorded.
 */
static inline void pfs_ring_begin(struct pfs_trace_ring *self, _Atomic(bool) *recording)
{
	/* relaxed: an event more or less at either end */
	atomic_store_explicit(recording, true, memory_order_relaxed);
	self->recording = recording;
}

static inline bool pfs_ring_recording(struct pfs_trace_ring *self)
{
	/* relaxed: see pfs_ring_begin */
	return self->recording != NULL &&
	       atomic_load_explicit(self->recording, memory_order_relaxed);
}

static inline void pfs_ring_stop(struct pfs_trace_ring *self)
{
	/* relaxed: see pfs_ring_begin */
	atomic_store_explicit(self->recording, false, memory_order_relaxed);
}

static inline uint32_t pfs_ring_thread(struct pfs_trace_ring *self)
{
	/* relaxed: only a unique number is needed */
	return atomic_fetch_add_explicit(&self->threads, 1, memory_order_relaxed);
}

/* relaxed: additions to one variable are ordered like calls that happen before each other, and the
 * file needs no other order */
static inline uint64_t pfs_ring_draw(struct pfs_trace_ring *self)
{
	return atomic_fetch_add_explicit(&self->head, 1, memory_order_relaxed);
}

static inline uint64_t pfs_ring_drawn(struct pfs_trace_ring *self)
{
	/* relaxed: how far a drain should come */
	return atomic_load_explicit(&self->head, memory_order_relaxed);
}

static inline bool pfs_ring_has_room(struct pfs_trace_ring *self, uint64_t number)
{
	/* [RA4] acquire, pairs with [RA3]: without it the entry could be filled while the drain
	 * still reads its old contents. */
	return number - atomic_load_explicit(&self->tail, memory_order_acquire) < PFS_RING_ENTRIES;
}

static inline struct pfs_ring_entry *pfs_ring_entry(struct pfs_trace_ring *self, uint64_t number)
{
	return &self->entries[number % PFS_RING_ENTRIES];
}

static inline void pfs_ring_fill(struct pfs_ring_entry *entry, uint64_t number)
{
	/* [RA1] release, pairs with [RA2]: without it the drain could read half an entry. */
	atomic_store_explicit(&entry->ready, number + 1, memory_order_release);
}

/* Under the lock: the entry to take out next, or NULL if it is not filled yet. */
static inline struct pfs_ring_entry *pfs_ring_look(struct pfs_trace_ring *self)
{
	/* relaxed: only the holder of the lock writes it */
	uint64_t number = atomic_load_explicit(&self->tail, memory_order_relaxed);
	struct pfs_ring_entry *entry = pfs_ring_entry(self, number);

	/* [RA2] acquire, pairs with [RA1]. */
	return atomic_load_explicit(&entry->ready, memory_order_acquire) == number + 1 ? entry
										       : NULL;
}

/* Under the lock: that entry was taken out. */
static inline void pfs_ring_taken(struct pfs_trace_ring *self)
{
	/* relaxed: only the holder of the lock writes it */
	uint64_t number = atomic_load_explicit(&self->tail, memory_order_relaxed);

	/* [RA3] release, pairs with [RA4]. */
	atomic_store_explicit(&self->tail, number + 1, memory_order_release);
}

static inline uint64_t pfs_ring_taken_count(struct pfs_trace_ring *self)
{
	/* relaxed: a number to compare with */
	return atomic_load_explicit(&self->tail, memory_order_relaxed);
}

static inline bool pfs_ring_try_lock(struct pfs_trace_ring *self)
{
	/* [RA5] acquire, pairs with [RA6]: without it this drain could miss what the last one wrote
	 * into the journal. */
	return !atomic_exchange_explicit(&self->locked, true, memory_order_acquire);
}

static inline void pfs_ring_unlock(struct pfs_trace_ring *self)
{
	/* [RA6] release, pairs with [RA5]. */
	atomic_store_explicit(&self->locked, false, memory_order_release);
}

#endif
