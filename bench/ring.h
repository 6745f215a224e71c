/*
 * ring.h - Concurrency Kit's ring with one producer and one consumer, behind functions.
 *
 * ThreadSanitizer cannot see into the ring's assembly: it would report a race on its buffer and
 * miss the order that it provides. So ring.c is built without it, and the functions here annotate
 * that order: what was done before a push happens before what is done after its pop.
 */
#ifndef PFS_BENCH_RING_H
#define PFS_BENCH_RING_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_RING_ROOM 1023 /* of 1024 entries Concurrency Kit uses all but one */

struct pfs_ring;

/* An array of empty rings, for free(); NULL without memory. */
struct pfs_ring *pfs_rings_create(uint32_t count);
struct pfs_ring *pfs_rings_at(struct pfs_ring *rings, uint32_t index);

/* How many entries are free, how many taken; the other side may be changing it. */
uint32_t pfs_ring_room(struct pfs_ring *self);
uint32_t pfs_ring_count(struct pfs_ring *self);

bool pfs_ring_push_unseen(struct pfs_ring *self, void *record);
bool pfs_ring_pop_unseen(struct pfs_ring *self, void **record);

#if defined(PFS_SIM) /* sim/run/ring_backend.c, which the machine sees */
#elif defined(__SANITIZE_THREAD__)
#define PFS_RING_SEEN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PFS_RING_SEEN 1
#endif
#endif
#ifdef PFS_RING_SEEN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#else
static inline void __tsan_acquire(void *address)
{
	(void)address;
}
static inline void __tsan_release(void *address)
{
	(void)address;
}
#endif

/* False if the ring is full. */
static inline bool pfs_ring_push(struct pfs_ring *self, void *record)
{
	__tsan_release(self);
	return pfs_ring_push_unseen(self, record);
}

/* False if it is empty. */
static inline bool pfs_ring_pop(struct pfs_ring *self, void **record)
{
	bool popped = pfs_ring_pop_unseen(self, record);

	__tsan_acquire(self);
	return popped;
}

#endif
