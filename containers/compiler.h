/*
 * compiler.h - the few words to the compiler that the kit relies on.
 */
#ifndef PFS_COMPILER_H
#define PFS_COMPILER_H

/* A skeleton takes a policy's table of hooks; inlined, the table is a constant and its
 * pointers are gone. Hooks are plain static inline: always_inline hooks do not build at -Og. */
#define PFS_SKELETON static inline __attribute__((always_inline))
#define PFS_COLD __attribute__((cold, noinline))
#define PFS_SELDOM __attribute__((section(".bss.seldom"))) /* large; few programs touch it */
#define PFS_NORETURN __attribute__((noreturn))             /* C++, too, as benchmarks need it */
#define pfs_likely(condition) __builtin_expect(!!(condition), 1)

/* Let the compiler believe that someone looks at what pointer points to. */
#define pfs_keep(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

/* In the build with delays: the seed, for whoever is about to end the process by a failure. */
#ifdef PFS_DELAYS
#include "delays.h"
#define PFS_SAY_SEED() pfs_delays_say()
#else
#define PFS_SAY_SEED() ((void)0)
#endif

/*
 * pfs_panic - a bug of this kit or of its caller: one line on stderr, then abort.
 *
 * what names the operation, found and expected the states of its pfs_lock word.
 */
PFS_COLD PFS_NORETURN void pfs_panic(const char *what, unsigned found, unsigned expected);

/* The same for what no lock word shows: what says all of it. */
PFS_COLD PFS_NORETURN void pfs_panic_plain(const char *what);

/* For bugs of this kit and of its callers; no side effects; on in every build. */
#define PFS_ASSERT(condition, what)            \
	do {                                   \
		if (!pfs_likely(condition))    \
			pfs_panic_plain(what); \
	} while (0)

#endif
