/*
 * calls.h - how a benchmark calls a policy: single operations, and batches of them.
 *
 * There are three ways. Inlined: the policy's own file is compiled once more together with the
 * batches (calls_inlined.c), so that no call is left in their loops. Public: the batches call
 * pfs_allocate, pfs_publish and pfs_free, as a program that links the library does. Cxx: the same
 * in C++.
 */
#ifndef PFS_BENCH_CALLS_H
#define PFS_BENCH_CALLS_H

#include <stdint.h>

#include <pfslab/container.h>
#include <pfslab/variant.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The live records that one benchmark thread owns. Batches stamp each record with its address xor
 * salt and check the stamp before they free it: a record that two sets own shows as spoiled.
 */
struct pfs_live {
	void **records; /* room for the largest target */
	uint32_t count;
	uint64_t random;  /* xorshift state, not 0 */
	uint64_t salt;    /* differs from that of every other set */
	uint64_t spoiled; /* stamps found changed */
};

struct pfs_calls {
	/* One operation a call. */
	struct pfs_claim (*allocate)(struct pfs_thread *thread);
	void (*publish)(struct pfs_thread *thread, struct pfs_claim claim);
	void (*free)(struct pfs_thread *thread, void *record);

	/*
	 * Batches. Each writes an 8-byte stamp into a record between allocate and publish. pair:
	 * count times allocate, publish, free; returns the number of refusals. churn: count times
	 * free a random record of live and put a new one in its place; returns the number of
	 * replacements. A refusal shrinks live->count; at 0 it ends. fill: allocate until
	 * live->count is target or a refusal; returns the refusals (0 or 1). drain: free random
	 * records until live->count is target.
	 */
	uint64_t (*pair)(struct pfs_thread *thread, uint64_t count);
	uint64_t (*churn)(struct pfs_thread *thread, struct pfs_live *live, uint64_t count);
	uint64_t (*fill)(struct pfs_thread *thread, struct pfs_live *live, uint32_t target);
	void (*drain)(struct pfs_thread *thread, struct pfs_live *live, uint32_t target);
};

enum pfs_api {
	PFS_API_INLINED,
	PFS_API_PUBLIC,
	PFS_API_CXX,
};

/*
 * The calls of a variant in one of the ways. A variant whose records have no word is a library with
 * functions of its own, such as malloc: its calls are these public functions, which no compiler
 * inlines, so all ways are the same. One thread at a time.
 */
const struct pfs_calls *pfs_calls_of(const struct pfs_variant *variant, enum pfs_api api);

/* The result of pfs_calls_of for the public ways, if records have words. */
extern const struct pfs_calls pfs_calls_public, pfs_calls_cxx;

#ifdef __cplusplus
}
#endif

#endif
