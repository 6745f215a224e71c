/*
 * pfs_lock.h - the word that guards a record: 2 bits of state, 30 bits of version.
 *
 * Invariant: FREE -> DIRTY is the only step that threads compete for, one CAS [L1]; every other
 * step is a store by the record's owner. The version grows by one at each publish and is never
 * reset, so a word that has not changed means a record that has not changed.
 *
 * Ordering:  [L1] free_to_dirty: CAS, acquire  <->  [L3] to_free: store, release
 *            carries: the record's bytes, from the last owner to the new one
 *            [L2] dirty_to_allocated: store, release  <->  [L4] glance: load, acquire
 *            carries: the record's bytes, from the owner to readers
 *            [L5] bytes_store: store, release  <->  [L6] bytes_load: load, acquire
 *            carries: the DIRTY word before the bytes, so that a reader of new bytes cannot confirm
 *            the old word
 *            [L7] reopen: store, release  <->  [L4] glance: load, acquire
 *            carries: the record's entry in lives.h, if it has one
 * Wrap:      the version wraps after 2^30 publishes of one record. A reader or weak reference that
 *            misses exactly that many is wrong, as in the Performance Schema.
 * Source:    the transitions of MySQL 8.0's pfs_lock, from the description in Database Kernel
 *            Monthly on PFS memory management; the orders are our own (the original is sequentially
 *            consistent throughout). Byte copies without fences: H. Boehm, Can seqlocks get along
 *            with programming language memory models?, MSPC 2012.
 */
#ifndef PFS_LOCK_H
#define PFS_LOCK_H

#include "atomic.h"
#include "compiler.h"

#define PFS_STATE_FREE 0u
#define PFS_STATE_DIRTY 1u
#define PFS_STATE_ALLOCATED 2u
#define PFS_STATE_MASK 3u
#define PFS_VERSION_MASK 0xFFFFFFFCu
#define PFS_VERSION_ONE 4u

struct pfs_lock {
	_Atomic(uint32_t) word; /* [L1] any thread; all else the record's owner */
};

enum pfs_take {
	PFS_TAKE_BUSY, /* not FREE when it was read */
	PFS_TAKE_LOST, /* FREE, but another thread was faster */
	PFS_TAKE_WON
};

static inline uint32_t pfs_word_state(uint32_t word)
{
	return word & PFS_STATE_MASK;
}

/* Wait-free: one load, at most one CAS, no retry. */
static inline enum pfs_take pfs_lock_free_to_dirty(struct pfs_lock *self, uint32_t *dirty_word)
{
	uint32_t seen = pfs_load_relaxed(&self->word); /* relaxed: a guess, [L1] verifies it */
	if (pfs_word_state(seen) != PFS_STATE_FREE)
		return PFS_TAKE_BUSY;
	uint32_t dirty = seen | PFS_STATE_DIRTY;
	/* [L1] acquire, pairs with [L3]: without it the new owner's first stores could be overtaken
	 * by the last owner's, and the bytes of two lives would mix. */
	if (!pfs_cas_acquire(&self->word, &seen, dirty))
		return PFS_TAKE_LOST;
	*dirty_word = dirty;
	return PFS_TAKE_WON;
}

/* Wait-free: one load (checked), one store computed from the caller's dirty word. */
static inline void pfs_lock_dirty_to_allocated(struct pfs_lock *self, uint32_t dirty_word)
{
	/* relaxed: the owner reads its own last store. */
	uint32_t word = pfs_load_relaxed(&self->word);
	if (!pfs_likely(word == dirty_word))
		pfs_panic("publish", word, dirty_word);
	/* One addition: the version by one, and from DIRTY to ALLOCATED. It uses the caller's word,
	 * not the loaded one, so the check above delays nothing.
	 * [L2] release, pairs with [L4]: without it a reader could see the record ALLOCATED and
	 * read bytes of its last life. */
	pfs_store_release(&self->word,
			  dirty_word + PFS_VERSION_ONE + PFS_STATE_ALLOCATED - PFS_STATE_DIRTY);
}

/* Wait-free. Only the owner of a readable record may call it. */
static inline uint32_t pfs_lock_allocated_to_dirty(struct pfs_lock *self)
{
	/* relaxed: the owner reads its own last store. */
	uint32_t word = pfs_load_relaxed(&self->word);
	if (!pfs_likely(pfs_word_state(word) == PFS_STATE_ALLOCATED))
		pfs_panic("reopen", word, PFS_STATE_ALLOCATED);
	uint32_t dirty = (word & PFS_VERSION_MASK) | PFS_STATE_DIRTY;
	/* [L7] release, pairs with [L4]: the entry of the record's life goes first. [L5] puts this
	 * store before the bytes that follow. */
	pfs_store_release(&self->word, dirty);
	return dirty;
}

/* If fits, the caller's other check, is true. Both failures return false through one exit, so a
 * function with one of them needs no stack. On failure nothing is done and the caller reports. */
static inline bool pfs_lock_allocated_to_free_if(struct pfs_lock *self, bool fits)
{
	/* relaxed: the owner reads its own last store, or one handed over with the record. */
	uint32_t word = pfs_load_relaxed(&self->word);
	if (!pfs_likely(fits && pfs_word_state(word - PFS_STATE_ALLOCATED) == PFS_STATE_FREE))
		return false;
	/* [L3] release, pairs with [L1]: hands the record's bytes to the next owner. */
	pfs_store_release(&self->word, word - PFS_STATE_ALLOCATED);
	return true;
}

static inline void pfs_lock_allocated_to_free(struct pfs_lock *self)
{
	if (!pfs_likely(pfs_lock_allocated_to_free_if(self, true)))
		pfs_panic("free", pfs_load_relaxed(&self->word), /* relaxed: as above */
			  PFS_STATE_ALLOCATED);
}

static inline void pfs_lock_dirty_to_free(struct pfs_lock *self, uint32_t dirty_word)
{
	/* relaxed: the owner reads its own last store. */
	uint32_t word = pfs_load_relaxed(&self->word);
	if (!pfs_likely(word == dirty_word && pfs_word_state(word) == PFS_STATE_DIRTY))
		pfs_panic("abandon", word, dirty_word);
	/* [L3] release, pairs with [L1]: as in allocated_to_free. */
	pfs_store_release(&self->word, dirty_word & PFS_VERSION_MASK);
}

/* The word for a reader, or for a check of the state. */
static inline uint32_t pfs_lock_glance(const struct pfs_lock *self)
{
	/* [L4] acquire, pairs with [L2]: the bytes read next are at least as new as the word. */
	return pfs_load_acquire(&((struct pfs_lock *)(uintptr_t)self)->word);
}

/*
 * The end of an optimistic read. The bytes were read by [L6]: if one of them came from a later
 * life, its [L5] carried that life's DIRTY word here, and the comparison fails. So no fence is
 * needed between the bytes and this load.
 */
static inline bool pfs_lock_confirm(const struct pfs_lock *self, uint32_t glance)
{
	if (pfs_word_state(glance) != PFS_STATE_ALLOCATED)
		return false;
	/* relaxed: coherence with what [L6] acquired is all that is needed, see above. */
	return pfs_load_relaxed(&((struct pfs_lock *)(uintptr_t)self)->word) == glance;
}

#endif
