/*
 * variant.h - a container bound to one policy, as benchmarks and tests see it.
 *
 * The table is for the edge: one indirect call for each operation in tests, one for each
 * batch in benchmarks. Inside a variant's own file no call is indirect;
 * scripts/check_codegen.py reads the disassembly and fails the build if one is left.
 */
#ifndef PFSLAB_VARIANT_H
#define PFSLAB_VARIANT_H

#include <stddef.h>
#include <stdint.h>

#include <pfslab/container.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a variant can do; a test or a workload asks for what it needs. */
enum pfs_trait {
	PFS_TRAIT_WORDS = 1 << 0,   /* records have a pfs_lock word: versions, optimistic reads */
	PFS_TRAIT_INDEX = 1 << 1,   /* pfs_index, pfs_lookup, pfs_owns, walks */
	PFS_TRAIT_GROW = 1 << 2,    /* pages are added on demand, not all made by create */
	PFS_TRAIT_RECLAIM = 1 << 3, /* pages are given back */
	PFS_TRAIT_STRICT = 1 << 4,  /* a search tries every page and record once: no skips */
	PFS_TRAIT_EXACT = 1 << 5,   /* grows only at a moment with no free record */
	PFS_TRAIT_BOUNDED = 1 << 6, /* honours page_max and counts what it refuses as lost */
	PFS_TRAIT_C11 = 1 << 7      /* every shared access is C11: TSan and the simulator see it */
};

/*
 * The live records that one benchmark thread owns. Batches stamp each record with its
 * address xor salt and check the stamp before they free it: a record that two sets own shows
 * as spoiled.
 */
struct pfs_live {
	void **records;   /* room for the largest target */
	uint32_t count;
	uint64_t random;  /* xorshift state, not 0 */
	uint64_t salt;    /* differs from that of every other set */
	uint64_t spoiled; /* stamps found changed */
};

struct pfs_variant {
	const char *name;
	const char *summary; /* one line for --list_policies */
	uint32_t traits;

	/* Set-up; pfs_container_create and pfs_thread_attach call them. */
	enum pfs_status (*start)(struct pfs_container *container);
	void (*stop)(struct pfs_container *container);
	enum pfs_status (*thread_start)(struct pfs_thread *thread);
	void (*thread_stop)(struct pfs_thread *thread);

	/* One operation a call. */
	struct pfs_claim (*allocate)(struct pfs_thread *thread);
	void (*publish)(struct pfs_thread *thread, struct pfs_claim claim);
	void (*abandon)(struct pfs_thread *thread, struct pfs_claim claim);
	void (*free)(struct pfs_thread *thread, void *record);

	/*
	 * Batches, with everything inlined. Each writes an 8-byte stamp into a record between
	 * allocate and publish. pair: count times allocate, publish, free; returns how many
	 * were refused. churn: count times free a random record of live and put a new one in
	 * its place; returns how many it replaced. A refusal shrinks live->count; at 0 it ends.
	 * fill: allocate until live->count is target or a refusal; returns the refusals (0 or
	 * 1). drain: free random records until live->count is target.
	 */
	uint64_t (*pair)(struct pfs_thread *thread, uint64_t count);
	uint64_t (*churn)(struct pfs_thread *thread, struct pfs_live *live, uint64_t count);
	uint64_t (*fill)(struct pfs_thread *thread, struct pfs_live *live, uint32_t target);
	void (*drain)(struct pfs_thread *thread, struct pfs_live *live, uint32_t target);

	/* Optional: add one page, needed or not, for page_prealloc. NULL: the container does. */
	enum pfs_status (*add_page)(struct pfs_thread *thread);

	/*
	 * Optional, asked with the growth lock held when a page is added: is a record free by
	 * the variant's own index? NULL: the records' words tell.
	 */
	int (*some_free)(struct pfs_container *container);

	/*
	 * Optional, asked with the growth lock held by counting builds: how many free records
	 * may the attached thread with the fewest of its own not allocate, because they lie
	 * with others; now, and at most so far. NULL: none, ever.
	 */
	void (*stranded)(struct pfs_container *container, uint64_t *now, uint64_t *peak);

	/*
	 * Optional, for walks: the first slot at or after one, of a page, whose record may be
	 * in use; UINT32_MAX if there is none. What is free all the while may be skipped, what
	 * is live all the while must not be.
	 */
	uint32_t (*next_used)(struct pfs_container *container, uint32_t page, uint32_t slot);

	/* Optional: give pages back; NULL where PFS_TRAIT_RECLAIM is missing. */
	uint32_t (*reclaim)(struct pfs_thread *thread, int now);
};

/*
 * pfs_variant_find - the variant of that name, or NULL. pfs_variant_at - the one at a
 * position, or NULL past the end; the order is that of variants/variants.def.
 *
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
const struct pfs_variant *pfs_variant_find(const char *name);
const struct pfs_variant *pfs_variant_at(size_t position);

#ifdef __cplusplus
}
#endif
#endif
