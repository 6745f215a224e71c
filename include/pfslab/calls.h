/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h - pfs_allocate, pfs_publish and pfs_free as inline functions; container.h includes it.
 *
 * allocate and free are one indirect call each, through the first words of the handle. publish is a
 * comparison and a store to the record's word, whose offset is in the claim. The same names exist
 * as functions of the library: for compilers without GCC's builtins, with PFS_NO_INLINE, and for
 * pointers to these functions, for example from another language.
 *
 * Do not include this header directly.
 */
#ifndef PFSLAB_CALLS_H
#define PFSLAB_CALLS_H

#include <pfslab/container.h>

#ifdef __cplusplus
extern "C" {
#define PFS_OF_VOID(type, pointer) (static_cast<type>(pointer))
#else
#define PFS_OF_VOID(type, pointer) ((type)(pointer))
#endif

/* The head of every handle; written by attach, and by the policy. */
struct pfs_handle_head {
	struct pfs_claim (*allocate)(struct pfs_thread *thread);
	void (*free)(struct pfs_thread *thread, void *record);
};

/* What publish adds to the claim's word: DIRTY to ALLOCATED, and one to the version. */
#define PFS_PUBLISHED 5u

/*
 * For a program under ThreadSanitizer with a library that is not instrumented: the calls below tell
 * ThreadSanitizer that the free of a record happens before the allocation that returns it again.
 */
#if !defined(PFS_LIBRARY_IS_INSTRUMENTED)
#if defined(__SANITIZE_THREAD__)
#define PFS_UNDER_TSAN_ALONE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PFS_UNDER_TSAN_ALONE 1
#endif
#endif
#endif
#ifdef PFS_UNDER_TSAN_ALONE
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define PFS_TSAN_ACQUIRE(record) __tsan_acquire(record)
#define PFS_TSAN_RELEASE(record) __tsan_release(record)
#else
#define PFS_TSAN_ACQUIRE(record) ((void)(record))
#define PFS_TSAN_RELEASE(record) ((void)(record))
#endif

/* The rest of pfs_publish: records without an offset in the claim, and the report of a wrong
 * claim. */
void pfs_publish_checked(struct pfs_thread *thread, struct pfs_claim claim);

#if defined(__GNUC__) && (defined(__cplusplus) || defined(__GNUC_STDC_INLINE__)) && \
	!defined(PFS_NO_INLINE)
PFS_INLINED struct pfs_claim pfs_allocate(struct pfs_thread *thread)
{
	void *head = thread;
	struct pfs_claim claim =
		PFS_OF_VOID(const struct pfs_handle_head *, head)->allocate(thread);
	PFS_TSAN_ACQUIRE(claim.record);
	return claim;
}

PFS_INLINED void pfs_free(struct pfs_thread *thread, void *record)
{
	void *head = thread;
	PFS_TSAN_RELEASE(record);
	PFS_OF_VOID(const struct pfs_handle_head *, head)->free(thread, record);
}

PFS_INLINED void pfs_publish(struct pfs_thread *thread, struct pfs_claim claim)
{
	void *at = PFS_OF_VOID(char *, claim.record) + claim.word_offset;
	uint32_t *word = PFS_OF_VOID(uint32_t *, at);
	/* As in pfs_lock_dirty_to_allocated: relaxed, the owner reads its own last store; release
	 * is [L2], which puts the bytes before the word. */
	if (__builtin_expect(claim.word_offset != 0, 1) &&
	    __builtin_expect(__atomic_load_n(word, __ATOMIC_RELAXED) == claim.dirty_word, 1))
		__atomic_store_n(word, claim.dirty_word + PFS_PUBLISHED, __ATOMIC_RELEASE);
	else
		pfs_publish_checked(thread, claim);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
