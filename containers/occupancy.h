/*
 * occupancy.h - which records are free: words of 32 bits, each with a version of its frees.
 *
 * A word, alone on its cache line, stands for 32 consecutive records of a page: the low half
 * has a bit for each free record, the high half counts frees. Words are made with the first
 * page of an index and live as long as the container, so they may be read without a section;
 * only the records behind them come and go.
 *
 * Invariants
 *	[O1] a record has at most one owner: its bit goes 1 -> 0 only by [W1] (or by a reclaim
 *	     pass, [W3]), and 0 -> 1 only by its owner's [W2] (or by [W4], a new page).
 *	[O2] whoever owns a record of a page keeps the page: a pass takes a page only when it
 *	     took every bit of it. So an allocator that won a bit may use the page's memory
 *	     without a read section.
 *	[O3] the version of a word grows with each 0 -> 1 of its bits and never falls.
 *	[O4] the summaries (a bit for each word of a page, a bit for each page of a node) are
 *	     hints: set by the free that gives an empty word room, cleared by searches that
 *	     found nothing. Only time depends on them: while that free, or a search, is
 *	     stopped in the middle, a word with room may be missing, and the proof finds it.
 *
 * No record is free: read all words twice. If every word shows no bit both times, and the sum
 * of the versions is the same, then no bit was set in any word between its two reads [O3], so
 * at the moment between the two rounds no record was free. docs/exact.md has the proof.
 *
 * Ordering:  [W1] take: CAS, acq_rel        <->  [W2] give: fetch-add, seq
 *            carries: the record's bytes, from the last owner to the next
 *            [W1] take                      <->  [W4] word of a new page: store, release
 *            carries: first_record and its like, and the page's FREE words
 *            [W3] take a whole word: CAS    <->  [W2] give
 *            carries: the last owners' accesses to the page, ahead of its end
 *            [W5] proof: load, seq          <->  [W1] [W2]
 *            carries: with a take, the frees that its thread did before
 * Source:    the idea of versioned words and the double collect (Y. Afek et al., Atomic
 *            snapshots of shared memory, JACM 1993); lazily cleared summaries as in Linux
 *            lib/sbitmap.c; the protocol is our own.
 */
#ifndef PFS_OCCUPANCY_H
#define PFS_OCCUPANCY_H

#include "reclaim.h"
#include "tally.h"

#ifdef PFS_SIM /* fewer in some searches, so that a small page has several words */
uint32_t pfs_sim_word_records(void);
#define PFS_WORD_RECORDS pfs_sim_word_records()
#else
#define PFS_WORD_RECORDS 32u
#endif
#define PFS_WORD_FREES (UINT64_C(1) << 32) /* one more free, in the high half */
#define PFS_HINTS 16u
#define PFS_LOSSES 2u /* one lost CAS in so many makes a thread leave a word */

struct pfs_occupancy_page;

struct pfs_occupancy_word {
	alignas(PFS_LINE) _Atomic(uint64_t) free; /* any thread */
	char *first_record;              /* [W4]; for owners of a record of the word */
	char *first_lock;                /* as first_record */
	uint32_t record_stride;          /* as first_record */
	uint32_t lock_stride;            /* as first_record */
	struct pfs_occupancy_page *page; /* made once, as all below */
	_Atomic(uint64_t) *room;         /* where page->words_with_room has this word's bit */
	uint64_t room_bit;
	uint32_t number;                 /* which word of its page */
};

struct pfs_occupancy_page {
	_Atomic(uint64_t) *words_with_room; /* a bit for each word; any thread */
	struct pfs_occupancy_word *words;   /* [word_count], made once */
	uint32_t word_count;                /* made once, as index */
	uint32_t index;
	_Atomic(uint32_t) node;             /* of the page that is there now */
	_Atomic(uint32_t) draining;         /* reclaim pass */
};

/* Free records that threads keep outside the words; all calls under `growth`. */
struct pfs_occupancy_caches {
	/* All of them into the words; how many they were. */
	uint32_t (*take_back)(struct pfs_container *self);
	/* Is every cache empty? *frees grows with each free into a cache. */
	bool (*are_empty)(struct pfs_container *self, uint64_t *frees);
	/* Make every free into a cache that has returned visible to the caller. */
	void (*catch_up)(struct pfs_container *self);
	/* For the count of needless growths: remember, and tell of a record that stayed. */
	void (*watch)(struct pfs_container *self);
	bool (*is_free_since_watch)(struct pfs_container *self);
};

/* Pages with room: one set of bits for each node and for pages to drain; see summary.h. */
struct pfs_occupancy {
	_Atomic(struct pfs_occupancy_page *) *pages; /* [page_max]; made under `growth` */
	_Atomic(uint64_t) *pages_with_room;
	struct pfs_page *spare;  /* made and not published, or NULL; under `growth` */
	uint32_t set_words;      /* 64-bit words of one set of pages_with_room */
	uint32_t node_count;     /* the last one is for memory of no single node */
	const struct pfs_occupancy_caches *caches; /* start only; NULL: none */
	uint64_t *watched;       /* counting builds: words at the watch; under `growth` */
	_Atomic(uint64_t) stranded_peak; /* counting builds: records in caches of others */
};

/* A word that a thread used lately, and what it held then: a CAS from memory of its own does
 * not wait for a load of the word behind the locked instruction before it. */
struct pfs_occupancy_hint {
	struct pfs_occupancy_word *word;
	uint64_t seen;
};

struct pfs_occupancy_thread {
	struct pfs_occupancy_hint latest;
	struct pfs_occupancy_hint older[PFS_HINTS]; /* the latest at `top` */
	uint32_t top;
	uint32_t losses; /* of the CAS of the latest hint */
};

/* pfs_occupancy_start, stop - the container's index; thread_start, stop - a thread's hints.
 * As the functions of the same names in struct pfs_variant. */
enum pfs_status pfs_occupancy_start(struct pfs_container *self);
void pfs_occupancy_stop(struct pfs_container *self);
enum pfs_status pfs_occupancy_thread_start(struct pfs_thread *thread);
void pfs_occupancy_thread_stop(struct pfs_thread *thread);

/* Send a new thread to a random page, so that threads do not meet at the start. */
void pfs_occupancy_scatter(struct pfs_thread *thread);

/*
 * pfs_occupancy_search - take a record by hints and summaries; if none is found, prove that
 * there is none, and add a page.
 *
 * Returns   a claim; or none, with thread->status saying why: PFS_FULL only if at a moment of
 *           the call no record of any page was free and no page could be added.
 * Errors    PFS_FULL, PFS_NO_MEMORY.
 * Progress  lock-free while a record is found; the proof and the growth take `growth`. Of two
 *           failed rounds in a row at least one is another thread's completed operation:
 *           docs/exact.md.
 * Order     acquire [W1].
 * Cost      with a hint that holds, one line; else the summaries: pages / 64 loads, two more
 *           lines and the word; the proof: two loads a word, once for each page added.
 */
PFS_COLD struct pfs_claim pfs_occupancy_search(struct pfs_thread *thread);

/*
 * pfs_proof_or_growth - under `growth`: prove that no record is free, then add a page.
 *
 * Returns   what came of it; *claim with CLAIM, *word with ROOM; thread->growth with REFUSED.
 * Errors    as returned.
 * Progress  blocking: takes `growth`, and maps memory under it.
 * Order     [W5]; see the head of this file.
 * Cost      two loads a word; with caches, one heavy barrier if one of them holds records.
 */
enum pfs_proof {
	PFS_PROOF_CLAIM,   /* a page was added, the claim is its first record */
	PFS_PROOF_ROOM,    /* there is a word with room */
	PFS_PROOF_AGAIN,   /* a record was freed meanwhile: search again */
	PFS_PROOF_REFUSED  /* none is free, and no page can be added */
};
PFS_COLD enum pfs_proof pfs_proof_or_growth(struct pfs_thread *thread, struct pfs_claim *claim,
					    struct pfs_occupancy_word **word);

/* Add one page with all its records free; as add_page of struct pfs_variant. */
enum pfs_status pfs_occupancy_add_page(struct pfs_thread *thread);

/* A reclaim pass that owns a page by its bits; as reclaim of struct pfs_variant. */
uint32_t pfs_occupancy_reclaim(struct pfs_thread *thread, enum pfs_reclaim_kind kind);

/* The first slot at or after one whose bit is clear, 64 records a step; UINT32_MAX: none. As
 * next_used of struct pfs_variant. */
uint32_t pfs_occupancy_next_used(struct pfs_container *self, uint32_t page, uint32_t slot);

/* For the count of needless growths, see needless.c; both under `growth`. watch: a thread is
 * about to decide. some_free: was a record free since then? */
void pfs_needless_watch(struct pfs_container *self);
int pfs_occupancy_some_free(struct pfs_container *self);

/* Announce in the summaries that the word has room. */
void pfs_occupancy_announce(struct pfs_container *self, struct pfs_occupancy_word *word);

/* Remember a word of another node, unless the thread's own shows room. */
PFS_COLD void pfs_occupancy_remember_far(struct pfs_thread *thread,
					 struct pfs_occupancy_word *word, uint64_t seen);

/* A free record that is the caller's, now DIRTY. */
static inline struct pfs_claim pfs_occupancy_claim_record(struct pfs_thread *thread,
							  void *record, struct pfs_lock *lock)
{
	/* relaxed: what made the record the caller's ordered it. */
	uint32_t seen = pfs_load_relaxed(&lock->word);
	if (!pfs_likely(pfs_word_state(seen) == PFS_STATE_FREE))
		pfs_panic("allocate by a free bit", seen, PFS_STATE_FREE);
	/* relaxed: owned; publish releases. [L5] puts it before bytes that readers may copy. */
	pfs_store_relaxed(&lock->word, seen | PFS_STATE_DIRTY);
	pfs_tally_won_record(thread, record);
	return (struct pfs_claim){ record, seen | PFS_STATE_DIRTY };
}

/* The record of a bit that is the caller's: its word is FREE, or it is a bug. */
static inline struct pfs_claim pfs_occupancy_claim(struct pfs_thread *thread,
						   struct pfs_occupancy_word *word, uint32_t bit)
{
	/* In 32 bits, which a page's offsets fit: a sign extension less. The address stands
	 * between this CAS and the free's add, so every cycle of it is one of a pair. */
	void *record = word->first_record + bit * word->record_stride;
	char *lock = word->first_lock + bit * word->lock_stride;
	if (record == NULL) /* spares callers the test of a claim that was just won */
		__builtin_unreachable();
	return pfs_occupancy_claim_record(thread, record, (struct pfs_lock *)(void *)lock);
}

static inline void pfs_occupancy_remember(struct pfs_thread *thread,
					  struct pfs_occupancy_word *word, uint64_t seen)
{
	struct pfs_occupancy_thread *own = thread->policy;
	if (own->latest.word != word) {
		own->top = (own->top + 1) % PFS_HINTS;
		own->older[own->top] = own->latest;
	}
	own->latest = (struct pfs_occupancy_hint){ word, seen };
}

/* Has the word room? *held is what is remembered of it, and is read anew if that shows none. */
static inline bool pfs_occupancy_look(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				      uint64_t *held)
{
	pfs_count(thread, PFS_EVENT_PROBES, 1);
	if ((uint32_t)*held == 0)
		*held = pfs_load_relaxed(&word->free); /* relaxed: a guess, [W1] verifies it */
	return (uint32_t)*held != 0;
}

/*
 * Take the lowest free record of a word that held *held; *held becomes what it holds now.
 * Wait-free. None: another thread took or freed a record of this word.
 */
static inline struct pfs_claim pfs_occupancy_try(struct pfs_thread *thread,
						 struct pfs_occupancy_word *word,
						 uint64_t *held)
{
	uint64_t seen = *held;
	uint32_t bit = (uint32_t)__builtin_ctz((uint32_t)seen);
	*held = seen & (seen - 1);
	/* [W1] acq_rel, pairs with [W2], [W4] and [W5]: without acquire the record's bytes of
	 * its last life could arrive late; release is for [W5]. The version in the comparison
	 * excludes a page that was taken and made again in between. */
	if (pfs_likely(pfs_cas_acq_rel(&word->free, &seen, *held)))
		return pfs_occupancy_claim(thread, word, bit);
	pfs_count(thread, PFS_EVENT_CAS_FAILURES, 1);
	*held = seen;
	return pfs_claim_none();
}

/* The same until the word is empty. Lock-free: others took or freed records of this word. */
static inline struct pfs_claim pfs_occupancy_take(struct pfs_thread *thread,
						  struct pfs_occupancy_word *word,
						  uint64_t *held)
{
	struct pfs_claim claim = pfs_claim_none();
	bool has_room = pfs_occupancy_look(thread, word, held);
	while (claim.record == NULL && has_room) {
		claim = pfs_occupancy_try(thread, word, held);
		has_room = (uint32_t)*held != 0;
	}
	return claim;
}

static inline bool pfs_occupancy_drains(struct pfs_occupancy_page *page)
{
	return pfs_load_relaxed(&page->draining) != 0; /* relaxed: a preference */
}

static inline bool pfs_occupancy_is_near(struct pfs_thread *thread,
					 struct pfs_occupancy_page *page)
{
	uint32_t node = pfs_load_relaxed(&page->node); /* relaxed: a preference */
	return node == thread->node || node == PFS_NODE_MIXED;
}

/* Hints never lead to pages that drain. */
static inline void pfs_occupancy_remember_kept(struct pfs_thread *thread,
					       struct pfs_occupancy_word *word, uint64_t seen)
{
	if (!pfs_occupancy_drains(word->page))
		pfs_occupancy_remember(thread, word, seen);
}

/*
 * The hot half of allocate: the word that this thread used last, by one CAS. If that fails,
 * others use the word too, and the search decides whether to leave it.
 */
static inline struct pfs_claim pfs_occupancy_first(struct pfs_thread *thread)
{
	struct pfs_occupancy_thread *own = thread->policy;
	struct pfs_occupancy_hint *hint = &own->latest;
	/* A page may have begun to drain since its word became the hint. */
	if (!pfs_likely(hint->word != NULL && !pfs_occupancy_drains(hint->word->page)))
		return pfs_claim_none();
	if (!pfs_likely(pfs_occupancy_look(thread, hint->word, &hint->seen)))
		return pfs_claim_none();
	return pfs_occupancy_try(thread, hint->word, &hint->seen);
}

static inline bool pfs_occupancy_is_announced(struct pfs_occupancy_word *word)
{
	/* [W6] seq, pairs with [W9]: after the bit was set in the word; see summary.h. */
	return (pfs_load_seq(word->room) & word->room_bit) != 0;
}

/*
 * Set a record's bit; what the word held before. The record's pfs_lock must be FREE already,
 * and the caller tells of the room.
 */
static inline uint64_t pfs_occupancy_set(struct pfs_occupancy_word *word, uint64_t bit)
{
	/* [W2] seq, pairs with [W1], [W3] and [W5]: hands the record on, and publishes the free
	 * with whatever this thread does next. From here on the page may go [O2]. */
	uint64_t before = pfs_fetch_add_seq(&word->free, bit + PFS_WORD_FREES);
	if (!pfs_likely((before & bit) == 0))
		pfs_panic_plain("free: the record's bit was set, it is free already");
	return before;
}

/* After a bit was set: let searches find the word. */
static inline void pfs_occupancy_tell(struct pfs_container *self,
				      struct pfs_occupancy_word *word)
{
	if (!pfs_likely(pfs_occupancy_is_announced(word)))
		pfs_occupancy_announce(self, word);
}

/* Free a record to its word, and remember the word. */
static inline void pfs_occupancy_give(struct pfs_thread *thread, void *record)
{
	struct pfs_occupancy_thread *own = thread->policy;
	struct pfs_occupancy_word *words = pfs_record_page(record)->index_words;
	uint32_t slot = pfs_record_slot(record);
	struct pfs_occupancy_word *word = &words[slot / PFS_WORD_RECORDS];
	uint64_t bit = UINT32_C(1) << (slot % PFS_WORD_RECORDS);

	uint64_t before = pfs_occupancy_set(word, bit);
	bool is_latest = own->latest.word == word;
	if (is_latest) /* right if nobody else used it meanwhile */
		own->latest.seen += bit + PFS_WORD_FREES;
	/* Room in the word already: who made it tells, or did. Asked only here, because where
	 * threads free at random there is no telling, and the branch costs more than the look. */
	if (pfs_likely(is_latest && (uint32_t)before != 0))
		return;
	pfs_occupancy_tell(thread->container, word);
	if (is_latest)
		return;
	if (pfs_likely(pfs_occupancy_is_near(thread, word->page)))
		pfs_occupancy_remember_kept(thread, word, before + bit + PFS_WORD_FREES);
	else /* the last call: nothing has to be kept over it */
		pfs_occupancy_remember_far(thread, word, before + bit + PFS_WORD_FREES);
}

#endif
