/*
 * annotate.h - annotations for a program under ThreadSanitizer whose library is not instrumented.
 *
 * ThreadSanitizer sees the program's accesses but none of the library's. Without annotations it
 * cannot know that a record's last owner, or the thread that mapped its page, comes before the next
 * owner, and it reports a false race. The calls that a program inlines annotate in calls.h; the
 * other calls, and the page code, use the functions below. Without ThreadSanitizer its two
 * functions are absent and nothing is called. An instrumented library annotates nothing, because
 * that would hide its own races.
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

/* What precedes the release of a record happens before what follows this call. */
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
