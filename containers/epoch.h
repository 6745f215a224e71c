/*
 * epoch.h - read sections: an unlinked page keeps its memory until its readers have left.
 *
 * There is a clock, and for each thread the time at which it entered its section.
 *
 * Invariant: a thread inside a section shows a time that was the clock's when it entered, or
 * earlier; a thread outside shows 0. A page that was unlinked before the clock was advanced to tag
 * may be seen only by threads that show a time which is neither 0 nor >= tag.
 *
 * Ordering:  [E1] enter: clock load, acquire   <->  [E4] advance: fetch-add, seq
 *            [E2] enter: shown, exchange, seq  <->  [E5] look: shown load, seq
 *            [E3] leave: shown, store, release <->  [E5]
 *            and around them, in the directory of pages: the unlink is an exchange [C4] and the
 *            look-up a load [C1], both seq.
 *
 * Proof. Let a reader R look a page up inside its section and get it. Let a look at all threads
 * that began after the page's tag was taken find no time below that tag. [E5] read R's shown word.
 * (1) It read what [E2] of this section wrote, and that is >= tag: then R's [E1] read the clock at
 *     or after [E4], so the unlink happens before R's look-up: R got no page.
 * (2) It read 0 from [E3] of this section, or anything later: R's reads happen before the memory is
 *     given back.
 * (3) It read something earlier than [E2] of this section: in the total order of seq operations
 *     [C4] < [E5] < [E2] < [C1], so R's look-up sees the unlink: R got no page.
 * Without seq on [E2] and [C1] case 3 fails: R's shown time may still be in its store buffer when R
 * reads the directory (the store-buffering litmus test).
 *
 * Progress:  enter, leave, advance: wait-free. A look never waits: one load a thread. A reader that
 *            stays inside delays the return of memory, but no thread.
 * Source:    K. Fraser, Practical lock-freedom, 2004, section 5.2.3, reduced to one waiting list
 *            whose tags are compared, as in quiescent-state schemes.
 */
#ifndef PFS_EPOCH_H
#define PFS_EPOCH_H

#include <stdalign.h>

#include "atomic.h"
#include "compiler.h"

struct pfs_epoch {
	alignas(PFS_LINE) _Atomic(uint64_t) clock; /* [E4], by the thread in a reclaim pass */
};

struct pfs_epoch_thread {
	alignas(PFS_LINE) _Atomic(uint64_t) shown; /* this thread */
	uint32_t depth;                            /* this thread */
};

static inline void pfs_epoch_init(struct pfs_epoch *self)
{
	pfs_store_relaxed(&self->clock, 1); /* relaxed: before any thread attaches */
}

static inline void pfs_epoch_thread_init(struct pfs_epoch_thread *thread)
{
	pfs_store_relaxed(&thread->shown, 0); /* relaxed: published with the handle */
	thread->depth = 0;
}

static inline void pfs_epoch_enter(struct pfs_epoch *self, struct pfs_epoch_thread *thread)
{
	if (thread->depth++ != 0)
		return;
	/* [E1] acquire, pairs with [E4]: with the new time comes the unlink before it. */
	uint64_t now = pfs_load_acquire(&self->clock);
	/* [E2] seq, pairs with [E5]: the look-up that follows must not overtake it. */
	(void)pfs_exchange_seq(&thread->shown, now);
}

static inline void pfs_epoch_leave(struct pfs_epoch_thread *thread)
{
	PFS_ASSERT(thread->depth != 0, "leave without enter");
	if (--thread->depth != 0)
		return;
	/* [E3] release, pairs with [E5]: the section's reads come before the unmap. */
	pfs_store_release(&thread->shown, 0);
}

/* In the child of a fork: the thread was not copied, so its sections are over. */
static inline void pfs_epoch_thread_end(struct pfs_epoch_thread *thread)
{
	thread->depth = 0;
	pfs_store_relaxed(&thread->shown, 0); /* relaxed: no thread reads in such a section */
}

/* Call after the unlinks [C4]; the result is the tag of the unlinked pages. */
static inline uint64_t pfs_epoch_advance(struct pfs_epoch *self)
{
	/* [E4] seq, pairs with [E1]: publishes the unlinks with the new time. */
	return pfs_fetch_add_seq(&self->clock, 1) + 1;
}

/*
 * The time that a thread shows; PFS_EPOCH_NEVER outside of sections. The memory of a page may be
 * given back if its tag is at most the least of all threads' times. One look serves every tag that
 * was taken before it.
 */
#define PFS_EPOCH_NEVER UINT64_MAX
static inline uint64_t pfs_epoch_shown(struct pfs_epoch_thread *thread)
{
	/* [E5] seq, pairs with [E2] and [E3]: see the proof. */
	uint64_t shown = pfs_load_seq(&thread->shown);
	return shown != 0 ? shown : PFS_EPOCH_NEVER;
}

#endif
