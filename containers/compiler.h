/*
 * compiler.h - compiler attributes and hints that the kit relies on.
 */
#ifndef PFS_COMPILER_H
#define PFS_COMPILER_H

/* For skeletons, which take a policy's table of hooks: after inlining the table is a constant and
 * the indirect calls are gone. Hooks are plain static inline: always_inline hooks do not build at
 * -Og. */
#define PFS_SKELETON static inline __attribute__((always_inline))
#define PFS_COLD __attribute__((cold, noinline))
#define PFS_SELDOM __attribute__((section(".bss.seldom"))) /* large, and few programs touch it */
#define PFS_NORETURN __attribute__((noreturn))             /* also in C++, for the benchmarks */
#define pfs_likely(condition) __builtin_expect(!!(condition), 1)

/* The compiler must assume that the object at pointer is read and written here. */
#define pfs_keep(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

/* In the build with delays: print the seed before a failure ends the process. */
#ifdef PFS_DELAYS
#include "delays.h"
#define PFS_SAY_SEED() pfs_delays_say()
#else
#define PFS_SAY_SEED() ((void)0)
#endif

/* The records of libpfsmem.so lie in a file. If somebody truncates it, the words are lost, and the
 * call returns (memory/preload/panic.c). */
#ifdef PFS_PANIC_RETURNS
#define PFS_PANIC_ENDS
#else
#define PFS_PANIC_ENDS PFS_NORETURN
#endif

/*
 * pfs_panic - report a bug of this kit or of its caller in one line on stderr, then abort.
 *
 * what names the operation; found and expected are values of the record's pfs_lock word.
 */
PFS_COLD PFS_PANIC_ENDS void pfs_panic(const char *what, unsigned found, unsigned expected);

/* The same without a lock word: what is the whole message. */
PFS_COLD PFS_PANIC_ENDS void pfs_panic_plain(const char *what);

/* For bugs of this kit and of its callers. No side effects. On in every build. */
#define PFS_ASSERT(condition, what)            \
	do {                                   \
		if (!pfs_likely(condition))    \
			pfs_panic_plain(what); \
	} while (0)

#endif
