/*
 * image.h - a machine between two steps, as the words in which it differs from where the search
 * began: kept in few bytes, put back, and told from others.
 *
 * What a state is made of, word by word:
 *
 *	each thread   its stack from the stack pointer on, registers included; below it zeroes, so
 *	              that what a call left there tells nothing
 *	memory        the containers' pages, which of them are mapped, and their heap
 *	buffers       with tso, the stores of a thread that wait, in their order
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
 * What is to be left out of a state, and how what only grows is to be told: a position, a turn, a
 * version by its distance to what it can still be compared with.
 *
 * Sound if two states of equal normal forms go on alike: whatever is reached from the one, up to
 * such forms, is reached from the other. Whoever writes one argues that for each kind of number;
 * sim/cases/loop_normal.c has an example.
 */
struct pfs_normal {
	/* Before the words of a state: what they are relative to may be read now. */
	void (*begin)(void *context);
	/* A word of 8 bytes at a place, or a store to that place that waits in a buffer; a word of
	 * a stack, where copies are, is at a place that the scenario does not know. */
	uint64_t (*of)(void *context, const void *place, uint64_t word);
	/* Does its normal form depend on other words, too? */
	bool (*is_relative)(void *context, const void *place, uint64_t word);
};

struct pfs_image_region {
	char *at;
	uint32_t first, words; /* of all words */
	uint32_t live;         /* of them: that were used, so far */
	bool tells;            /* else it is only put back */
	uint32_t thread;       /* whose stack, or PFS_THREAD_NONE */
};

#define PFS_IMAGE_REGIONS_MAX 96u

struct pfs_image {
	struct pfs_machine *machine;
	const struct pfs_scenario *scenario;
	struct pfs_image_region regions[PFS_IMAGE_REGIONS_MAX];
	uint32_t region_count, word_count;
	uint64_t *base;      /* all words as the search began */
	uint64_t *told;      /* their normal forms then */
	bool *relative;      /* those forms depend on others */
	uint32_t *relatives; /* the words for which that is so */
	uint32_t relative_count;
	uint32_t *where; /* [different]: words other than then, ascending */
	uint64_t *what;
	uint32_t different;
	const char *refusal; /* it can't be kept; why */
};

/*
 * pfs_image_begin - the machine is where the search begins.
 *
 * Returns   false, with refusal: no memory, or not for this machine. The machine chooses outside
 *           of threads, and its heap is one of its own (heap.h).
 * Errors    as returned.
 * Progress  wait-free.
 * Order     none.
 */
bool pfs_image_begin(struct pfs_image *self, struct pfs_machine *machine,
		     const struct pfs_scenario *scenario);
void pfs_image_fini(struct pfs_image *self);

/* Now that all threads stand: what is below the stack pointer of one that ran tells nothing. */
void pfs_image_settle(struct pfs_image *self, uint32_t thread);

/* Compares all words with those of the beginning. false, with refusal: it grew out of bounds. */
bool pfs_image_compare(struct pfs_image *self);

/* Of what was compared last; never 0. */
uint64_t pfs_image_hash(const struct pfs_image *self);

/* The same in bytes: at most so many; how many it took. */
size_t pfs_image_bytes_max(const struct pfs_image *self);
size_t pfs_image_encode(const struct pfs_image *self, char *bytes);

/* The machine is as it was encoded. What was compared last must be what it is now. */
void pfs_image_restore(struct pfs_image *self, const char *bytes);

#endif
