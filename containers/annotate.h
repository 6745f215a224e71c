/*
 * annotate.h - what an uninstrumented library tells a program that runs under ThreadSanitizer.
 *
 * ThreadSanitizer sees the program's accesses, and none of the library's. So it does not see that a
 * record's last owner, or the thread that mapped its page, comes before its next owner, and reports
 * a race where there is none. The calls that a program inlines say so themselves (calls.h); the
 * others, and what happens to pages, say it by these. Outside such a program the two functions are
 * missing, and nothing is called. A library that is instrumented itself says nothing: it would hide
 * its own races.
 */
#ifndef PFS_ANNOTATE_H
#define PFS_ANNOTATE_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PFS_INSTRUMENTED 1
#endif
#endif

#if defined(PFS_SIM) || defined(__SANITIZE_THREAD__) || defined(PFS_INSTRUMENTED)
#define pfs_annotate_acquire(record) ((void)(record))
#define pfs_annotate_release(record) ((void)(record))
#else
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

/* What came before the release of a record comes before what follows this. */
static inline void pfs_annotate_acquire(void *record)
{
	if (__tsan_acquire != NULL)
		__tsan_acquire(record);
}

static inline void pfs_annotate_release(void *record)
{
	if (__tsan_release != NULL)
		__tsan_release(record);
}
#endif
#endif
