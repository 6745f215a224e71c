/*
 * delays.h - waits at accesses to shared memory, so that windows of two instructions are met.
 *
 * In the preset `delays` each access of atomic.h may wait before it, a store also after it, and so
 * may the locks of mutex.h. A wait spins, yields or sleeps, or mostly there is no wait. Meanwhile
 * other threads meet the state between two instructions.
 *
 * Learning: the process counts how often it met each pair of places, one right after the other.
 * A rare pair waits often and long. So a rare way through hot code gets its waits, too, and the
 * places of a slow path are not drowned by those of the fast path. Hot pairs get a share as well:
 * the chance changes from phase to phase of a thread, see the parameters in delays.c.
 *
 * Budget: each access earns its thread some time, and a wait spends it. So a test with many
 * accesses is slower by a factor, and ends.
 *
 * Random: PFS_DELAYS_SEED=N, or the time. Thread k draws from a generator of its own, made from
 * seed and k; k numbers the threads by their first access. A thread's random words repeat with
 * the seed. Its decisions also depend on the counts, which other threads change, and which of
 * them comes first is the machine's choice. So a program of one thread repeats its decisions
 * exactly, and one of many threads only roughly. PFS_DELAYS=0 switches all waits off.
 *
 * Nothing here allocates, locks, or is a point of cancellation; errno is kept. So it works in
 * the allocator, in signal handlers, after fork, and before constructors run.
 */
#ifndef PFS_DELAYS_H
#define PFS_DELAYS_H

#include <stdint.h>

/* A line of the source; its words are static, one for each expansion of PFS_DELAYS_HERE. */
struct pfs_delays_place {
	const char *file;
	uint32_t line;
	_Atomic(uint32_t) name; /* from file and line, the same in each process; 0: not yet */
};

/*
 * pfs_delays_wait - the calling thread is at a place; it waits, or mostly it does not.
 *
 * Progress  wait-free but for the wait, which is bounded: see the parameters in delays.c.
 * Order     none; the compiler moves no access across.
 */
void pfs_delays_wait(struct pfs_delays_place *place);

/* One line on stderr: the seed that repeats a failure, and where the latest sleeps were. */
void pfs_delays_say(void);

/* "; PFS_DELAYS_SEED=N", or nothing where there are no waits. For those who have a line already. */
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
