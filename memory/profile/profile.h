/*
 * profile.h - the sampling heap profile, on the side of the program: which blocks are sampled, and
 * what is recorded of them. memory/box/profile.h says where that is stored.
 *
 * Sampling is by cell: `sample_at` is the value of the cell's alloc_bytes at the next sampled byte.
 * So counting a block costs one more comparison, and only the cell's owner draws. Gaps have no
 * memory (draw.h): it makes no difference that each cell has its own, and a new one may be drawn
 * whenever the control area has changed.
 *
 * Invariants
 * 	[YP1] a sample's record is ALLOCATED from before its block's tag names it until the block
 * 	      is freed. The thread that frees the block gives it back exactly once, because the
 * 	      thread that reads the tag clears it.
 * 	[YP2] the sums of a context whose thread_id is not 0 are written by its thread only.
 * 	[YP3] no thread is between pfs_gate_enter and leave while a fork copies the box.
 * Ordering:  [SP1] finished: CAS, release  <->  [SP2] finished: exchange, seq
 *            carries: `next` of each sample that waits to be given back
 */
#ifndef PFS_PROFILE_H
#define PFS_PROFILE_H

#include "gate.h"
#include "intern.h"
#include "memory/accounts/books.h"
#include "memory/box/profile.h"
#include "modules.h"
#include "stack.h"

#define PFS_PROFILE_LG_MOST 62u

/* The files that a stack's addresses were of. files: as pfs_modules_see returns it, set before the
 * stack is published; epoch: of the modules, when that was last checked. */
struct pfs_stack_files {
	uint32_t files;
	_Atomic(uint32_t) epoch;
};

/* Belongs to a process's books, where NULL means no profile. */
struct pfs_profile {
	struct pfs_books *books;
	struct pfs_sample_gate gate;
	_Atomic(uint32_t) finished; /* the first sample that waits to be given back; 0: none */
	_Atomic(uint32_t) samples_used;
	_Atomic(uint32_t) own_contexts; /* contexts that belong to a thread */
	uint32_t own_contexts_most;
	uint32_t samples_max;
	int32_t used_step;
	uint32_t lg_more; /* at the last tick */
	uint32_t stacks_max;
	uint64_t moment_ns; /* when the last moment was kept */
	struct pfs_intern stacks, contexts;
	struct pfs_stack_files *stack_files; /* [stacks_max + 1], by reference */
	uint32_t *taken_after; /* [samples_max + 1], by reference: `resets` when it was taken */
	uint32_t resets;       /* changes while the gate is closed */
	void *tables;
	size_t table_bytes;
	struct pfs_modules modules;
	_Atomic(uint32_t) forgotten; /* the modules' epoch when stacks were last forgotten */
};

/* pfs_profile_open - for books whose box has the profile's regions and whose shelves exist; false:
 * no memory. pfs_profile_close: NULL is allowed. */
bool pfs_profile_open(struct pfs_books *books, const struct pfs_memory_config *config);
void pfs_profile_close(struct pfs_profile *self);

/*
 * pfs_sample_due - a block was just debited to the calling thread's cell: is it sampled? Draws a
 * new gap when one is due.
 *
 * Returns   the logarithm of the mean gap that selected it; 0: it is not sampled.
 * Progress  wait-free.
 */
uint32_t pfs_sample_due(struct pfs_memory_thread *thread, struct pfs_cell *cell, uint64_t bytes);

/* A block to be sampled. */
struct pfs_sample_block {
	const struct pfs_cell *cell;
	uint64_t bytes;
	uint32_t lg; /* as pfs_sample_due returned */
	const void *address;
};

/*
 * pfs_sample_take - sample a block of the calling thread.
 *
 * Returns   the sample, which the block's note must name; NULL: no room, counted as lost.
 * Progress  blocking at a thread's first sample, where pages are added, and while a fork copies the
 *           box; otherwise lock-free.
 */
struct pfs_box_sample *pfs_sample_take(struct pfs_memory_thread *thread,
				       const struct pfs_sample_block *block,
				       const struct pfs_stack_from *from);

/*
 * pfs_sample_give - a sampled block is freed.
 *
 * thread: the calling thread's life; NULL: the record stays until the next sample or tick.
 * Returns   the cell that the block is counted in; it is not credited yet.
 * Progress  lock-free, except while a fork copies the box.
 */
struct pfs_cell *pfs_sample_give(struct pfs_books *books, struct pfs_memory_thread *thread,
				 struct pfs_box_sample *sample);

/* The sample with a reference. */
struct pfs_box_sample *pfs_sample_at(const struct pfs_books *books, uint32_t reference);

/* The sample that a note names; NULL: it names a cell. */
static inline struct pfs_box_sample *pfs_sample_of(struct pfs_cell *named)
{
	return pfs_likely(named->level != PFS_CELL_IS_SAMPLE)
		       ? NULL
		       : (struct pfs_box_sample *)(void *)named; /* NOLINT: a record of the box */
}

/* pfs_profile_reset - forget, for dumps by the program itself, all samples taken so far. Under the
 * desk. What readers of the box see stays. */
void pfs_profile_reset(struct pfs_profile *self);

/* Was a live sample taken since the last reset? While the gate is closed. */
static inline bool pfs_sample_is_new(const struct pfs_profile *self,
				     const struct pfs_box_sample *sample)
{
	return self->taken_after[sample->reference] == self->resets;
}

/* A thread's life ends; called by the thread that ends it. */
void pfs_profile_thread_end(struct pfs_memory_thread *thread);

/* A file of the program was closed. NULL is allowed. Wait-free. */
void pfs_profile_closed(struct pfs_books *books);

/* Under the desk. */
void pfs_profile_tick(struct pfs_books *books);

#endif
