/*
 * delays.h - random waits at accesses to shared memory, so that tests hit windows of two
 * instructions.
 *
 * In the preset `delays` each access of atomic.h may wait before it, a store also after it, and so
 * may the locks of mutex.h. A wait spins, yields or sleeps; most accesses do not wait. During a
 * wait other threads meet the state between two instructions.
 *
 * Learning: the process counts how often it met each pair of consecutive places. A rare pair waits
 * often and long, so a rare path through hot code gets its waits, and the places of a slow path are
 * not drowned by those of the fast path. Hot pairs get a share too: their chance changes from phase
 * to phase of a thread, see the parameters in delays.c.
 *
 * Budget: each access earns its thread some time, and a wait spends it. So a test with many
 * accesses is slower by a factor, but ends.
 *
 * Random: PFS_DELAYS_SEED=N, or the time. Thread k draws from a generator of its own, made from
 * seed and k; k numbers the threads by their first access. A thread's random words repeat with the
 * seed. Its decisions also depend on the counts, which other threads change in an order that the
 * machine chooses. So a program of one thread repeats its decisions exactly, and one of many
 * threads only roughly. PFS_DELAYS=0 switches all waits off.
 *
 * Nothing here allocates, locks, or is a cancellation point; errno is kept. So it works in the
 * allocator, in signal handlers, after fork, and before constructors run.
 */
#ifndef PFS_DELAYS_H
#define PFS_DELAYS_H

#include <stdint.h>

/* A line of the source; each expansion of PFS_DELAYS_HERE has a static one. */
struct pfs_delays_place {
	const char *file;
	uint32_t line;
	_Atomic(uint32_t) name; /* from file and line, the same in each process; 0: not yet set */
};

/*
 * pfs_delays_wait - the calling thread reached a place; it may wait.
 *
 * Progress  wait-free except for the wait, which is bounded: see the parameters in delays.c.
 * Order     none; the compiler moves no access across.
 */
void pfs_delays_wait(struct pfs_delays_place *place);

/* Print the seed that repeats a failure, and the places of the latest sleeps, in one line on
 * stderr. */
void pfs_delays_say(void);

/* "; PFS_DELAYS_SEED=N", or "" without waits: for callers that print a line of their own. */
#define PFS_DELAYS_SEED_BYTES 48
const char *pfs_delays_seed(char text[PFS_DELAYS_SEED_BYTES]);

/* All decisions of the calling thread so far, as a hash. For tests. */
uint64_t pfs_delays_digest(void);

#define PFS_DELAYS_HERE()                                                              \
	__extension__({                                                                \
		static struct pfs_delays_place pfs_place_ = { __FILE__, __LINE__, 0 }; \
		pfs_delays_wait(&pfs_place_);                                          \
	})

#endif
