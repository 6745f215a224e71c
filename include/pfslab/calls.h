/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h - pfs_allocate, pfs_publish and pfs_free, inlined: container.h includes it.
 *
 * allocate and free jump straight to the policy by the first words of the handle; publish is a
 * comparison and a store on the record's word, which the claim finds. With a compiler that
 * is not GCC's kind, or with PFS_NO_INLINE, or by a pointer to one of them (from another
 * language, say), the same names are plain functions of the library.
 *
 * Nothing here is for use by itself.
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

/* The head of every handle; written by attach only. */
struct pfs_handle_head {
	struct pfs_claim (*allocate)(struct pfs_thread *thread);
	void (*free)(struct pfs_thread *thread, void *record);
};

/* DIRTY -> ALLOCATED and the version by one: what publish adds to a claim's word. */
#define PFS_PUBLISHED 5u

/*
 * A program under ThreadSanitizer, with a library that is not: the calls below say what the library
 * does. To free a record comes before the allocation that hands it out again.
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

/* What is left of pfs_publish: policies without words, and the report of a wrong claim. */
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
	/* As pfs_lock_dirty_to_allocated, which says why: relaxed, the owner reads its own last
	 * store; release for [L2], the bytes go before the word. */
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
