/*
 * occupancy.h - which records are free: words of 32 bits, and the trees that show which words may
 * have room.
 *
 * A word, alone on its cache line, covers 32 consecutive records of a page: a bit for each free
 * record, a bit ANNOUNCED, and a version that counts frees. Words are made with the first page of
 * an index and live as long as the container, so they may be read without a section; only the
 * records behind them come and go.
 *
 * A word's path leads through the tree of its page, and then, from the page, through the tree of
 * its node. A node has one tree for the pages that are kept and one for those that drain. The roots
 * of all trees tell that no record is free (room.h, proof.c).
 *
 * Invariants
 *	[O1] a record has at most one owner: its bit goes 1 -> 0 only by [W1] (or by a reclaim pass,
 *	     [W3]), and 0 -> 1 only by its owner's [W2] (or by [W4], a new page).
 *	[O2] the owner of a record keeps its page: a pass takes a page only if it took every bit of
 *	     it. So an allocator that won a bit may use the page's memory without a read section.
 *	[O3] the version of a word grows with each 0 -> 1 of its bits and never falls.
 *	[O4] ANNOUNCED is set only on the very value that a free left, after that free raised the
 *	     word's path. Only a thread that clears that path resets it, when no bit is set. So a
 *	     free that finds it set need not look at the path.
 *
 * Ordering:  [W1] take: CAS, acq_rel        <->  [W2] give: fetch-add, acq_rel
 *            carries: the record's bytes, from the last owner to the next
 *            [W1] take                      <->  [W4] word of a new page: fetch-add, acq_rel
 *            carries: first_record and the fields after it, and the page's FREE words
 *            [W1] take                      <->  [W5] second look: CAS, acq_rel
 *            carries: what the taker freed into a ring before, to a proof that finds the word
 *            empty; without rings nothing needs it
 *            [W3] take a whole word: CAS    <->  [W2] give
 *            carries: the last owners' accesses to the page, before it is unlinked
 *            [W5] second look: CAS, acq_rel <->  [W2] give, [W4]
 *            carries: that the path is being cleared; as [T5] of room.h, for words
 *            [W6] announced: CAS, release   <->  [W2] give
 *            carries: that the path was raised, to a free that relies on it
 *            [W9] watch: load, acquire      <->  [W2] give
 *            carries: that the giver shows its free, for the count of needless growths
 *            [W7] words of a page: store, release  <->  [W8] look-up: load, acquire
 *            carries: the words, zeroed and numbered
 * Source:    lazily cleared hints as in Linux lib/sbitmap.c; the protocol is our own.
 */
#ifndef PFS_OCCUPANCY_H
#define PFS_OCCUPANCY_H

#include "containers/reclaim.h"
#include "containers/tally.h"
#include "room.h"

#ifdef PFS_SIM /* fewer in some searches, so that a small page has several words */
uint32_t pfs_sim_word_records(void);
#define PFS_WORD_RECORDS pfs_sim_word_records()
#else
#define PFS_WORD_RECORDS 32u
#endif
#define PFS_WORD_ANNOUNCED (UINT64_C(1) << 32)
#define PFS_WORD_FREES (UINT64_C(1) << 33) /* one more free, in the version */

struct pfs_front;
struct pfs_occupancy_page;
struct pfs_seats;

struct pfs_occupancy_word {
	alignas(PFS_LINE) _Atomic(uint64_t) free; /* any thread */
	char *first_record;                       /* [W4]; for owners of a record of the word */
	char *first_lock;                         /* as first_record */
	uint32_t record_stride;                   /* as first_record */
	uint32_t lock_stride;                     /* as first_record */
	struct pfs_occupancy_page *page;          /* made once, as all below */
	uint32_t number;                          /* index of the word in its page */
};

struct pfs_occupancy_page {
	struct pfs_room words_room;       /* over its words; made once, as all up to index */
	struct pfs_occupancy_word *words; /* [word_count] */
	uint32_t word_count;
	uint32_t index;
	_Atomic(uint32_t) node;     /* of the page that is there at present */
	_Atomic(uint32_t) draining; /* reclaim pass */
};

struct pfs_occupancy {
	_Atomic(struct pfs_occupancy_page *) *pages; /* [page_max]; made under `mapping` */
	struct pfs_room *rooms;        /* for each node: of kept pages, then of draining ones */
	void *room_memory;             /* start only: the nodes of all rooms */
	uint32_t node_count;           /* the last one is for memory of no single node */
	const struct pfs_front *front; /* start only: the policy's front, or NULL */
	void *front_state;             /* start only: the front's own */
	struct pfs_seats *seats; /* start only: of threads that wait for a page, see seats.h */
	uint64_t *watched;       /* counting builds: words at the watch; under `growth` */
	/* Odd while a page comes, goes or moves from tree to tree; written under `growth`. */
	alignas(PFS_LINE) _Atomic(uint64_t) moves;
	/* Taken before `growth`: one thread at a time makes a page, and its words. */
	alignas(PFS_LINE) struct pfs_mutex mapping;
	_Atomic(struct pfs_page *) spare; /* made and not published, or NULL; under `mapping` */
	bool spare_is_idle;               /* under `mapping`: the last pass saw it, too */
	alignas(PFS_LINE) _Atomic(uint32_t) is_mapping; /* a hint: `mapping` is held */
};

/* pfs_occupancy_start, stop - the container's words and trees, as the functions of the same names
 * in struct pfs_variant. */
enum pfs_status pfs_occupancy_start(struct pfs_container *self);
void pfs_occupancy_stop(struct pfs_container *self);

/* The words of a page's index, made if there are none yet; NULL: no memory. Under `mapping`. */
struct pfs_occupancy_page *pfs_occupancy_entry(struct pfs_container *self, uint32_t page);

/* Add one page with all its records free; as add_page of struct pfs_variant. */
enum pfs_status pfs_occupancy_add_page(struct pfs_thread *thread);

/*
 * pfs_occupancy_spare, pfs_occupancy_open - the two halves of growth.
 *
 * spare: the page for the lowest hole, made by this call or left over; NULL with thread->growth
 * PFS_FULL or PFS_NO_MEMORY. Under `mapping`; maps memory. open: publish that page, with all its
 * records free and announced. If the caller keeps one record, the first, other records go to
 * threads that wait [Q1]. Under `growth` too.
 */
struct pfs_page *pfs_occupancy_spare(struct pfs_thread *thread);
struct pfs_occupancy_page *pfs_occupancy_open(struct pfs_thread *thread, bool keeps_one);

/* As index_bytes of struct pfs_variant. */
uint64_t pfs_occupancy_index_bytes(struct pfs_container *self);

/* As reserve_bytes of struct pfs_variant. Takes `mapping`. */
uint64_t pfs_occupancy_reserve_bytes(struct pfs_container *self);

/* Under `mapping`: give the spare page back, if there is one. */
void pfs_occupancy_drop_spare(struct pfs_container *self);

/* A reclaim pass that owns a page by its bits; as reclaim of struct pfs_variant. */
uint32_t pfs_occupancy_reclaim(struct pfs_thread *thread, enum pfs_reclaim_kind kind);

/* The first slot from `slot` on whose bit is clear, 64 records a step; UINT32_MAX: none. As
 * next_used of struct pfs_variant. */
uint32_t pfs_occupancy_next_used(struct pfs_container *self, uint32_t page, uint32_t slot);

/* As is_used of struct pfs_variant. */
bool pfs_occupancy_is_used(struct pfs_container *self, uint32_t page, uint32_t slot);

/* As page_live of struct pfs_variant. Records in rings count. */
uint32_t pfs_occupancy_page_live(struct pfs_container *self, uint32_t page);

/* For the count of needless growths, see needless.c; both under `growth`. watch: a thread is about
 * to decide. some_free: is a record free that was free at the watch? */
void pfs_needless_watch(struct pfs_container *self);
int pfs_occupancy_some_free(struct pfs_container *self);

/*
 * pfs_occupancy_announce - after a free that found its word not announced: raise its path, and set
 * ANNOUNCED if the word still holds what the free left.
 *
 * Returns   what the word holds, as far as the caller knows.
 * Errors    none.
 * Progress  wait-free: pfs_room_raise for each tree, and one CAS.
 * Order     [T1] [T2], release [W6].
 */
PFS_COLD uint64_t pfs_occupancy_announce(struct pfs_container *self,
					 struct pfs_occupancy_word *word, uint64_t left);

/* A search found the word empty: clear its path, unless a free comes in between. */
PFS_COLD void pfs_occupancy_clear(struct pfs_occupancy_word *word);

/* The same for a page of a tree, all of whose words are cleared. */
PFS_COLD void pfs_occupancy_clear_page(const struct pfs_room *room,
				       struct pfs_occupancy_page *entry);

static inline uint32_t pfs_ceil_div(uint32_t value, uint32_t unit)
{
	return value / unit + (value % unit != 0);
}

static inline struct pfs_occupancy_page *pfs_occupancy_page_at(struct pfs_container *self,
							       uint32_t page)
{
	struct pfs_occupancy *index = self->policy;
	/* [W8] acquire, pairs with [W7]: the entry's words are there. */
	return pfs_load_acquire(&index->pages[page]);
}

/* The words of a published page. */
static inline struct pfs_occupancy_page *pfs_occupancy_page_of(const struct pfs_page *page)
{
	struct pfs_occupancy_word *words = page->index_words;
	return words[0].page;
}

/* The tree of a node's pages: of those that drain, or of the others. */
static inline const struct pfs_room *pfs_occupancy_room(const struct pfs_occupancy *index,
							uint32_t node, bool draining)
{
	uint32_t last = index->node_count - 1;
	return &index->rooms[(node < last ? node : last) * 2 + draining];
}

/* The bits of a word's records: all of them, or fewer in the last word of a page. */
static inline uint64_t pfs_occupancy_all_bits(const struct pfs_page *page, uint32_t number)
{
	uint32_t first = number * PFS_WORD_RECORDS;
	uint32_t left = page->slot_count > first ? page->slot_count - first : 0;
	return (UINT64_C(1) << (left < PFS_WORD_RECORDS ? left : PFS_WORD_RECORDS)) - 1;
}

/* Claim a free record that belongs to the caller: make it DIRTY. */
static inline struct pfs_claim pfs_occupancy_claim_record(struct pfs_thread *thread, void *record,
							  struct pfs_lock *lock)
{
	/* relaxed: what made the record the caller's ordered it. */
	uint32_t seen = pfs_load_relaxed(&lock->word);
	if (!pfs_likely(pfs_word_state(seen) == PFS_STATE_FREE))
		pfs_panic("allocate by a free bit", seen, PFS_STATE_FREE);
	/* relaxed: owned; publish releases. [L5] puts it before bytes that readers may copy. */
	pfs_store_relaxed(&lock->word, seen | PFS_STATE_DIRTY);
	pfs_tally_won_record(thread, record);
	return pfs_claim_of(record, lock, seen | PFS_STATE_DIRTY);
}

/* The same for records without words: the owner of the bit owns the record. */
static inline struct pfs_claim pfs_occupancy_claim_bare(struct pfs_thread *thread, void *record)
{
	pfs_tally_won_record(thread, record);
	return (struct pfs_claim){ .record = record };
}

/* The record of a bit that belongs to the caller. If its word is not FREE, that is a bug. */
static inline struct pfs_claim pfs_occupancy_claim(struct pfs_thread *thread,
						   struct pfs_occupancy_word *word, uint32_t bit)
{
	/* In 32 bits, which a page's offsets fit: one sign extension less. The address is computed
	 * between this CAS and the add of the free, so every cycle of it counts for each pair. */
	void *record = word->first_record + bit * word->record_stride;
	char *lock = word->first_lock + bit * word->lock_stride;
	if (!pfs_likely(word->first_lock != NULL))
		return pfs_occupancy_claim_bare(thread, record);
	if (record == NULL) /* so that callers do not test a claim that was just won */
		__builtin_unreachable();
	return pfs_occupancy_claim_record(thread, record, (struct pfs_lock *)(void *)lock);
}

/* Has the word room? *held is its remembered value, and is read again if that shows none. */
static inline bool pfs_occupancy_look(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				      uint64_t *held)
{
	pfs_count(thread, PFS_EVENT_PROBES, 1);
	if ((uint32_t)*held == 0)
		*held = pfs_load_relaxed(&word->free); /* relaxed: a guess, [W1] verifies it */
	return (uint32_t)*held != 0;
}

/*
 * Take free records of a word that held *held, so that it holds `left`: all of them or none. *held
 * becomes what the word holds then. The word stays announced, even if nothing is left: a search
 * clears it, if one comes by. Wait-free. False: another thread took or freed a record of this word.
 */
static inline bool pfs_occupancy_take_to(struct pfs_thread *thread, struct pfs_occupancy_word *word,
					 uint64_t *held, uint64_t left)
{
	uint64_t seen = *held;
	*held = left;
	/* [W1] acq_rel, pairs with [W2] and [W4]: without it the bytes of the record's last life
	 * could arrive late; and with [W5]. The version in the comparison excludes a page that was
	 * taken and made again in between. */
	if (pfs_likely(pfs_cas_acq_rel(&word->free, &seen, left)))
		return true;
	pfs_count(thread, PFS_EVENT_CAS_FAILURES, 1);
	*held = seen;
	return false;
}

/* Take the lowest one; none as above. */
static inline struct pfs_claim pfs_occupancy_try(struct pfs_thread *thread,
						 struct pfs_occupancy_word *word, uint64_t *held)
{
	uint32_t bit = (uint32_t)__builtin_ctz((uint32_t)*held);
	if (pfs_likely(pfs_occupancy_take_to(thread, word, held, *held & (*held - 1))))
		return pfs_occupancy_claim(thread, word, bit);
	return pfs_claim_none();
}

/* Take one of them, until the word is empty. Lock-free: others took or freed records of this
 * word. */
static inline struct pfs_claim pfs_occupancy_take(struct pfs_thread *thread,
						  struct pfs_occupancy_word *word, uint64_t *held)
{
	struct pfs_claim claim = pfs_claim_none();
	bool has_room = pfs_occupancy_look(thread, word, held);
	while (claim.record == NULL && has_room) {
		claim = pfs_occupancy_try(thread, word, held);
		has_room = (uint32_t)*held != 0;
	}
	return claim;
}

/*
 * Set the bits of free records; returns what the word held before. Their pfs_locks must be FREE
 * already, and the caller announces the word if it was not announced.
 */
static inline uint64_t pfs_occupancy_set(struct pfs_occupancy_word *word, uint64_t bits)
{
	/* [W2] acq_rel, pairs with [W1], [W3], [W5], [W6] and [W9]: hands the records on; and this
	 * thread knows if another one has begun to clear the word's path, or has raised it. From
	 * here on the page may go [O2]. */
	uint64_t before = pfs_fetch_add_acq_rel(&word->free, bits + PFS_WORD_FREES);
	if (!pfs_likely((before & bits) == 0))
		pfs_panic_plain("free: the record's bit was set, it is free already");
	return before;
}

/* The same, announced; returns what the word holds, as far as the caller knows. */
static inline uint64_t pfs_occupancy_put(struct pfs_container *self,
					 struct pfs_occupancy_word *word, uint64_t bits)
{
	uint64_t before = pfs_occupancy_set(word, bits);
	uint64_t left = before + bits + PFS_WORD_FREES;
	if (pfs_likely((before & PFS_WORD_ANNOUNCED) != 0))
		return left;
	return pfs_occupancy_announce(self, word, left);
}

/* The word of a record, and its bit there. */
static inline struct pfs_occupancy_word *pfs_occupancy_word_at(struct pfs_place place,
							       uint64_t *bit)
{
	struct pfs_occupancy_word *words = place.page->index_words;
	*bit = UINT32_C(1) << (place.slot % PFS_WORD_RECORDS);
	return &words[place.slot / PFS_WORD_RECORDS];
}

#endif
