/*
 * image.h - a machine between two steps, as the words in which it differs from the start of the
 * search: kept in few bytes, restored, and told from others.
 *
 * A state consists of these words:
 *
 *	each thread   its stack from the stack pointer on, registers included; zeroes below it, so
 *	              that the remains of a call make no difference
 *	memory        the containers' pages, which of them are mapped, and their heap
 *	buffers       with tso, the waiting stores of a thread, in their order
 *	checks        what pfs_scenario's `keep` puts, each time the same places
 *
 * Two states are one if the normal forms of their words are the same. A word is its own normal form
 * unless the scenario says otherwise: see struct pfs_normal.
 */
#ifndef PFS_SIM_IMAGE_H
#define PFS_SIM_IMAGE_H

#include "check/machine/machine.h"

struct pfs_scenario;

/*
 * What to leave out of a state, and how to tell a number that only grows: a position, a turn or a
 * version by its distance to what it can still be compared with.
 *
 * Sound if two states with equal normal forms behave alike: whatever is reached from the one is
 * reached from the other, up to such forms. The author argues this for each kind of number;
 * sim/cases/loop_normal.c has an example.
 */
struct pfs_normal {
	/* Before the words of a state: read what they are relative to. */
	void (*begin)(void *context);
	/* The normal form of a word of 8 bytes at a place, or of a store to that place that waits
	 * in a buffer. A word of a stack, which may hold copies, is at a place that the scenario
	 * does not know. */
	uint64_t (*of)(void *context, const void *place, uint64_t word);
	/* Does its normal form also depend on other words? */
	bool (*is_relative)(void *context, const void *place, uint64_t word);
};

struct pfs_image_region {
	char *at;
	uint32_t first, words; /* of all words */
	uint32_t live;         /* of them: used so far */
	bool tells;            /* otherwise it is only restored */
	uint32_t thread;       /* whose stack, or PFS_THREAD_NONE */
};

#define PFS_IMAGE_REGIONS_MAX 96u

struct pfs_image {
	struct pfs_machine *machine;
	const struct pfs_scenario *scenario;
	struct pfs_image_region regions[PFS_IMAGE_REGIONS_MAX];
	uint32_t region_count, word_count;
	uint64_t *base;      /* all words at the start of the search */
	uint64_t *told;      /* their normal forms then */
	bool *relative;      /* those forms depend on others */
	uint32_t *relatives; /* the words for which that is so */
	uint32_t relative_count;
	uint32_t *where; /* [different]: words that differ from then, ascending */
	uint64_t *what;
	uint32_t different;
	const char *refusal; /* why it cannot be kept */
};

/*
 * pfs_image_begin - the machine is at the start of the search.
 *
 * Returns   false, with refusal: no memory, or not for this machine. The machine must choose
 *           outside of threads, and have a heap of its own (heap.h).
 * Errors    as returned.
 * Progress  wait-free.
 * Order     none.
 */
bool pfs_image_begin(struct pfs_image *self, struct pfs_machine *machine,
		     const struct pfs_scenario *scenario);
void pfs_image_fini(struct pfs_image *self);

/* When all threads are at a step: what is below the stack pointer of one that ran makes no
 * difference. */
void pfs_image_settle(struct pfs_image *self, uint32_t thread);

/* Compare all words with those of the start. false, with refusal: it grew out of bounds. */
bool pfs_image_compare(struct pfs_image *self);

/* Of the words compared last; never 0. */
uint64_t pfs_image_hash(const struct pfs_image *self);

/* The same as bytes: at most how many; returns how many it took. */
size_t pfs_image_bytes_max(const struct pfs_image *self);
size_t pfs_image_encode(const struct pfs_image *self, char *bytes);

/* Restore the encoded machine. What was compared last must be its present state. */
void pfs_image_restore(struct pfs_image *self, const char *bytes);

#endif
