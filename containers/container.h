/*
 * container.h - a container: a directory of pages; only adding a page takes a lock.
 *
 * Invariants
 *	[I1] directory[i] is NULL or a page with index i. It becomes a page under `growth`, and NULL
 *	     again only in a reclaim pass, also under `growth`.
 *	[I2] every page is at an index below page_limit, which is read before the directory.
 *	[I3] a page leaves the directory only after the reclaim pass owns each of its records
 *	     (DIRTY). Its memory is given back only after every thread that may have looked it up
 *	     before has left its section (epoch.h). So no record is ever allocated from a page that
 *	     is being given back; docs/explanation/reclaiming.md has the proof.
 *	[I4] the versions of a page at a reused index start above those of the old page.
 *
 * Ordering:  [C1] directory look-up: load, seq    <->  [C2] publish a page: store, release
 *            carries: the page's fields and its FREE words
 *            [C3] page_limit: load, acquire       <->  [C2] and the limit's own store, release
 *            [C1] also pairs with [C4] unlink: exchange, seq; see the proof in epoch.h
 *            [C7] growths: store, release     <->  [C8] growths: load, acquire
 *            carries: page_limit, so that a search that counted a page also tried it
 *            [C9] pages: store, release       <->  [P4] count of them: load, acquire
 *            carries: that a page comes or goes, to a proof that no record is free
 *            [C5] list of threads: load, seq  <->  [C6] push: exchange, seq
 *            carries: the handle's fields. Both are seq because of what a new handle does next: a
 *            thread that walks the list and misses the handle read the list before the push, so it
 *            also acted before that handle's first look-up [C1], and before its ring was filled
 * Source:    PFS_buffer_scalable_container of MySQL 8.0, as described in Database Kernel Monthly;
 *            holes in the directory, versions and reclaim are our own.
 */
#ifndef PFS_CONTAINER_H
#define PFS_CONTAINER_H

#include <stdalign.h>

#include "counts.h"
#include "decay.h"
#include "epoch.h"
#include "holes.h"
#include "mutex.h"
#include "page.h"
#include "variant.h"

struct pfs_reclaimer;

struct pfs_enlisted;

/*
 * The first line is all that most calls load of a handle. It has copies of the variant's fields
 * that they need, because the variant is three loads away.
 *
 * A load waits for a recent store if the low 12 bits of their addresses are equal (4 KiB aliasing).
 * Every call stores to the state word of a record, and records have all addresses. So the fields
 * that the next call waits for are at offsets that no state word has, modulo the size of a header.
 * The pointers to functions may be at any offset, because the processor continues with its
 * prediction.
 */
struct pfs_thread {
	/* Written by this thread only, unless a comment says otherwise. */
	struct pfs_handle_head head; /* the variant's; written by attach and by the policy */
	void *policy;                /* the variant's state for a thread */
	enum pfs_status status;      /* of the last refused allocation */
	uint32_t home_page;          /* hint: where this thread last succeeded */
	uint64_t random;             /* never 0 */
	enum pfs_status growth;      /* result of the last attempt to add a page */
	uint32_t traits;             /* the variant's; attach only */
	struct pfs_container *container;
	bool stays;                    /* this call may not add a page */
	uint32_t node;                 /* where it ran when it attached, or migrated */
	struct pfs_epoch_thread epoch; /* its own line */
	alignas(PFS_LINE) struct pfs_tally tally;
	_Atomic(uint64_t) lost;       /* this thread; read by counts */
	struct pfs_thread *next;      /* attach: never changed once listed */
	struct pfs_thread *next_idle; /* under `roster`: detached handles, the last on top */
	bool attached;                /* under `roster` */
	uint32_t seat;                /* the policy's: where it waits for a page; 0: none */
	bool left_behind;             /* under `roster`: detached by a fork, not by its owner */
	/* Set for handles of pfs_thread_current (current.c): called before a detach by hand. */
	void (*forget)(struct pfs_thread *self);
	uint64_t owner; /* under `roster`: by pfs_fork_self(); 0: the library */
};

struct pfs_container {
	/* Written by create only. */
	const struct pfs_variant *variant;
	struct pfs_config config;
	struct pfs_page_shape shape;
	const struct pfs_memory_source *source;
	_Atomic(struct pfs_page *) *directory; /* [page_max]; [I1] */
	uint32_t *version_bases;               /* [page_max]; under `growth`; [I4] */
	uint32_t page_capacity;                /* most pages */
	uint32_t last_page_records;            /* records of page page_capacity - 1 */
	uint32_t partition;                    /* number in a partitioned container; else 0 */
	void *policy;                          /* the variant's own state */
	struct pfs_epoch epoch;
	/* Read by all threads, written when a page comes or goes. */
	alignas(PFS_LINE) _Atomic(uint32_t) page_limit; /* [I2] */
	_Atomic(uint32_t) drain_round;                  /* changes when the draining marks do */
	alignas(PFS_LINE) _Atomic(uint64_t) live;       /* counting builds: records in use */
	_Atomic(uint64_t) live_peak;
	/* Under `growth`; the counters are read without it. */
	alignas(PFS_LINE) struct pfs_mutex growth;
	_Atomic(uint64_t) growths;
	_Atomic(uint64_t) needless_growths;
	_Atomic(uint64_t) reclaimed;
	_Atomic(uint32_t) pages;
	_Atomic(uint32_t) pages_peak;
	struct pfs_holes holes; /* of the directory */
	/* Under `passing`: one reclaim pass at a time. */
	struct pfs_mutex passing;
	struct pfs_page *limbo; /* unlinked, waiting for readers */
	_Atomic(uint32_t) limbo_count;
	uint32_t *pass_live;             /* [page_max] live records of each page */
	uint64_t *pass_keys;             /* [page_max] pages by fullness, or by idleness */
	struct pfs_decay decay;          /* of surplus pages */
	struct pfs_reclaimer *reclaimer; /* background thread or NULL */
	/* Under `keeping`: see kept.h. */
	struct pfs_mutex keeping;
	struct pfs_page *kept;      /* given back, with their addresses; first in, first out */
	struct pfs_page **kept_end; /* the link of the last one */
	/* Under `roster`. */
	struct pfs_mutex roster;
	_Atomic(struct pfs_thread *) threads; /* [C5] [C6]; handles live as long as the container */
	struct pfs_thread *idle;              /* detached: used again by the next attach */
	struct pfs_thread *unlisted;          /* handles that a variant could not start */
	uint32_t thread_count;
	/* For fork.h. */
	struct pfs_container *older_ungated; /* under the lock of the list */
	uint64_t number;                     /* create only: unique in the process */
	struct pfs_mutex *policy_lock;       /* start only: a lock that is not gated, or NULL */
	struct pfs_enlisted *enlisted;       /* create only: says whether it is destroyed */
	_Atomic(uint64_t) generation;        /* forks that it has seen; under `roster` */
	_Atomic(uint32_t) lacks_background;  /* the child of a fork could not start its passes */
};

static inline uint32_t pfs_container_page_limit(struct pfs_container *self)
{
	/* [C3] acquire, pairs with [C2]: the pages below the limit are in the directory. */
	return pfs_load_acquire(&self->page_limit);
}

/* What a search saw of the pages before it read page_limit. If it finds nothing and the same values
 * hold under `growth`, it tried every page, and no pass held records from it. */
struct pfs_growth_seen {
	uint64_t growths;
	uint32_t drain_round;
};

static inline struct pfs_growth_seen pfs_container_growth_seen(struct pfs_container *self)
{
	struct pfs_growth_seen seen;
	/* [C8] acquire, pairs with [C7]: without it a search could miss the page that it counted,
	 * and add another one. */
	seen.growths = pfs_load_acquire(&self->growths);
	/* [R4] acquire, pairs with [R3]: a pass that held records before is over. */
	seen.drain_round = pfs_load_acquire(&self->drain_round);
	return seen;
}

/* The page at an index below page_limit; NULL: there is none any more. */
static inline struct pfs_page *pfs_container_page(struct pfs_container *self, uint32_t index)
{
	/* [C1] seq, pairs with [C2]: without acquire the page's fields may still be zero; and
	 * with [C4]: the section's start must not be overtaken, see epoch.h. */
	return pfs_load_seq(&self->directory[index]);
}

/* True if this pointer, which may have any value, points into the directory. */
static inline bool pfs_container_has_place(const struct pfs_container *self, const void *owner)
{
	size_t distance = (uintptr_t)owner - (uintptr_t)self->directory;
	return distance < self->page_capacity * sizeof(*self->directory);
}

/*
 * The page of this container that contains the byte at a pointer, which may have any value; or
 * NULL. Inside a read section, or for a record that the caller owns. Wait-free: three loads.
 */
static inline struct pfs_page *pfs_container_page_with(struct pfs_container *self,
						       const void *pointer)
{
	void *owner = pfs_page_map_find(pointer);
	if (!pfs_likely(pfs_container_has_place(self, owner)))
		return NULL;
	/* [C1] seq, pairs with [C2] and [C4]: as in pfs_container_page. */
	struct pfs_page *page = pfs_load_seq((_Atomic(struct pfs_page *) *)owner);
	/* Another page may have come to this place of the directory since the entry was read. */
	bool has = page != NULL && (uintptr_t)pointer - (uintptr_t)pfs_page_granules(page) <
					   self->shape.granules_bytes;
	return pfs_likely(has) ? page : NULL;
}

/* Records of a page that are in use: by their words, or by the policy's index. */
static inline uint32_t pfs_container_page_live(struct pfs_container *self,
					       const struct pfs_page *page)
{
	if (page->words != NULL)
		return pfs_page_live(page);
	return self->variant->page_live(self, page->index);
}

/*
 * pfs_container_page_at - the page at an index; made and published if there is none.
 *
 * Returns   the page, or NULL with thread->growth saying why.
 * Errors    PFS_NO_MEMORY; PFS_FULL if the call may not grow. The container is unchanged.
 * Progress  blocking: takes `growth`, and maps memory under it.
 * Order     release [C2].
 */
PFS_COLD struct pfs_page *pfs_container_page_at(struct pfs_thread *thread, uint32_t index);

/*
 * pfs_container_page_add - publish one more page at the lowest index without one.
 *
 * Returns   the page; NULL with thread->growth PFS_OK if a page was published, or a pass held
 *           records, since `seen`: search again; NULL with PFS_FULL or PFS_NO_MEMORY.
 * Errors    as returned; the container is unchanged.
 * Progress  blocking: takes `growth`, and maps memory under it.
 * Order     release [C2].
 */
PFS_COLD struct pfs_page *pfs_container_page_add(struct pfs_thread *thread,
						 struct pfs_growth_seen seen);

/*
 * The steps of growth, for policies that separate them; all under `growth`.
 *
 * hole: the lowest index without a page, page_capacity if there is none. May be called without the
 * lock by a thread that keeps others from adding pages; it may then miss a hole that was just made.
 * make: map and lay out the page of an index, not yet visible; also without the lock; NULL with
 * thread->growth PFS_NO_MEMORY. publish: make it visible [C2]. unlink: remove a page from the
 * directory, all of whose records the caller owns [C4]; the next growth may use the index, and its
 * versions continue [I4].
 */
uint32_t pfs_growth_hole(struct pfs_container *self);
PFS_COLD struct pfs_page *pfs_growth_make(struct pfs_thread *thread, uint32_t index);
PFS_COLD void pfs_growth_publish(struct pfs_container *self, struct pfs_page *page);
PFS_COLD void pfs_growth_unlink(struct pfs_container *self, struct pfs_page *page);

/* Resident bytes of a page. The page must stay meanwhile. */
uint64_t pfs_container_resident(struct pfs_container *self, struct pfs_page *page);

/* Give back the memory of a page that is unlinked or was never published. */
PFS_COLD void pfs_container_unmap(struct pfs_container *self, struct pfs_page *page);

/* Count a refused allocation and remember why; returns the claim without a record. */
PFS_COLD struct pfs_claim pfs_container_refuse(struct pfs_thread *thread, enum pfs_status status);

/* pfs_thread_attach and pfs_thread_detach without the work for forks and for pfs_thread_current. */
enum pfs_status pfs_handle_attach(struct pfs_container *container, struct pfs_thread **thread);
void pfs_handle_detach(struct pfs_thread *thread);

/* Free all handles; called by destroy, which runs alone. */
void pfs_threads_destroy(struct pfs_container *self);

/* Called by destroy, which runs alone: detach the handles of pfs_thread_current. */
void pfs_threads_end(struct pfs_container *self);

/* Under `roster`, in the child of a fork: detach the handles of all threads except the forking
 * one. */
void pfs_threads_leave(struct pfs_container *self, uint64_t forker);

static inline struct pfs_claim pfs_claim_none(void)
{
	return (struct pfs_claim){ .record = NULL };
}

static inline struct pfs_claim pfs_claim_of(void *record, const struct pfs_lock *lock,
					    uint32_t dirty_word)
{
	return (struct pfs_claim){ record, dirty_word,
				   (int32_t)((const char *)lock - (const char *)record) };
}

#endif
