/*
 * epoch_ck.h - the same read sections by Concurrency Kit's ck_epoch, as a yardstick.
 *
 * Only ck_epoch_synchronize is used: ck_epoch_poll and callbacks of version 0.7 dispatch too
 * early in three patterns (an unlink by a plain store, a callback that retires, a record used
 * by two threads). synchronize by a thread outside sections, with its own record, after an
 * unlink by exchange, is none of them. It spins until readers have left, so a reclaim pass
 * waits for readers here; with epoch_own.h it does not. And fork waits for a pass: fork inside a
 * read section hangs here if a pass is running.
 *
 * The inside of libck is inline assembly that ThreadSanitizer cannot see: the annotations say
 * what it does. x86-64 only: version 0.7's begin lacks a fence on Arm.
 */
#ifndef PFS_EPOCH_CK_H
#define PFS_EPOCH_CK_H

#include <ck_epoch.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "compiler.h"

#if !defined(__x86_64__)
#error "PFS_EPOCH_CK is for x86-64; build without it"
#endif

#define PFS_EPOCH_KIND "ck"

#if defined(__SANITIZE_THREAD__)
#define PFS_SEEN_BY_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PFS_SEEN_BY_TSAN 1
#endif
#endif

#ifdef PFS_SEEN_BY_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define pfs_tsan_acquire(address) __tsan_acquire(address)
#define pfs_tsan_release(address) __tsan_release(address)
#else
#define pfs_tsan_acquire(address) ((void)(address))
#define pfs_tsan_release(address) ((void)(address))
#endif

struct pfs_epoch {
	ck_epoch_t native;
};

struct pfs_epoch_thread {
	alignas(PFS_LINE) ck_epoch_record_t record; /* registered once, for ever */
	uint32_t depth;                             /* this thread */
};

static inline void pfs_epoch_init(struct pfs_epoch *self)
{
	ck_epoch_init(&self->native);
}

static inline void pfs_epoch_fini(struct pfs_epoch *self)
{
	(void)self;
}

static inline void pfs_epoch_thread_init(struct pfs_epoch *self, struct pfs_epoch_thread *thread)
{
	ck_epoch_register(&self->native, &thread->record, NULL);
	thread->depth = 0;
}

static inline void pfs_epoch_enter(struct pfs_epoch *self, struct pfs_epoch_thread *thread)
{
	if (thread->depth++ != 0)
		return;
	ck_epoch_begin(&thread->record, NULL);
	pfs_tsan_acquire(self);
}

static inline void pfs_epoch_leave(struct pfs_epoch_thread *thread)
{
	PFS_ASSERT(thread->depth != 0, "leave without enter");
	if (--thread->depth != 0)
		return;
	pfs_tsan_release(thread->record.global);
	ck_epoch_end(&thread->record, NULL);
}

/* In the child of a fork: the thread was not copied, so its sections are over. */
static inline void pfs_epoch_thread_end(struct pfs_epoch_thread *thread)
{
	if (thread->depth != 0)
		ck_epoch_end(&thread->record, NULL);
	thread->depth = 0;
}

static inline uint64_t pfs_epoch_advance(struct pfs_epoch *self)
{
	(void)self;
	return 0; /* pfs_epoch_wait does all of it */
}

static inline void pfs_epoch_wait(struct pfs_epoch *self, struct pfs_epoch_thread *thread)
{
	ck_epoch_synchronize(&thread->record);
	pfs_tsan_acquire(self);
}

static inline bool pfs_epoch_thread_passed(struct pfs_epoch_thread *thread, uint64_t tag)
{
	(void)thread, (void)tag;
	return true;
}

#endif
